package faults

var ctrlxFaults = []fault{
	{
		name: "changes-while-reading-ignored", in: "ctrlx/internal/index",
		old:  `e.run != absent && (e.run != known || e.open > 0 || e.runAs != digest)`,
		new:  `e.run == known && e.open == 0 && e.runAs != digest`,
		test: "ctrlx/internal/index.TestEveryOrder", why: "a change between registering and reading wakes no waiter, and a resource waits for ever",
	},
	{
		name: "wait-drops-what-it-keeps", in: "ctrlx/internal/index",
		old:  `		e.keep(known, e.runAs)`,
		new:  `		e.endRun()`,
		test: "ctrlx/internal/index.TestEveryOrder", why: "a blocked resource loses its awaited objects and is never woken",
	},
	{
		name: "digest-without-the-status", in: "ctrlx/internal/digest",
		old:  `			h = parts[i].plan.add(h, f)`,
		new:  `			_ = parts[i].plan`,
		test: "ctrlx/internal/digest.TestStatusLeaves", why: "the digest of an owner does not change when it becomes ready",
	},
	{
		name: "live-read-not-marked", in: "ctrlx",
		old:  `	e.behind.mark(id, live)`,
		new:  `	_ = live`,
		test: "ctrlx.TestPoll/DeadWatch", why: "a waiter that a live read woke reads the stale cache and waits again",
	},
	{
		name: "own-write-not-remembered", in: "ctrlx",
		old:  `	r.own.mark(id, version)`,
		new:  `	r.own.mark(id, "1")`,
		test: "ctrlx.TestReadsOwnWrites/Behind", why: "a pass does not see the token of the previous pass and starts a second operation",
	},
	{
		name: "any-deletion-believed", in: "ctrlx",
		old:  `(l.version == "" || !older(version, l.version))`,
		new:  `(deleted || l.version == "" || !older(version, l.version))`,
		test: "ctrlx.TestReadsOwnWrites/Earlier", why: "a pass reads a stale copy of an object that was created again",
	},
	{
		name: "put-off-for-ever", in: "ctrlx",
		old:  `	delete(w.putOff, name)`,
		new:  `	_ = name`,
		test: "ctrlx.TestWakeAtMost/Begun", why: "a waiter whose wake-up was delayed once is never woken again",
	},
	{
		name: "retriable-lost-in-a-join", in: "ctrlx",
		old:  `			whole = f.Joined`,
		new:  `			whole = f.Err`,
		test: "ctrlx.TestRetriable/JoinedFinal", why: "the delay of a joined error is ignored, and the resource waits for a change of the spec",
	},
	{
		name: "timeout-late", in: "ctrlx",
		old:  `		c.over = c.due <= 0`,
		new:  `		c.over = c.due < 0`,
		test: "ctrlx.TestTimeout/Boundary", why: "the requeue at the time-out comes too early, and the time-out is not reported",
	},
	{
		name: "secret-makes-resource-absent", in: "ctrlx",
		old:  `		f.NotFound = false`,
		new:  `		_ = f`,
		test: "ctrlx.TestNotFoundOfAnotherObject/Default", why: "a Secret that a live read does not find makes the resource absent, and Apply runs",
	},
	{
		name: "kind-not-served-means-absent", in: "ctrlx",
		old:  `named && !hasInner(f, causeUnexpected) &&`,
		new:  `named &&`,
		test: "ctrlx.TestErrors/NotServed", why: "objects of an aggregated API are treated as deleted while the API is down",
	},
	{
		name: "field-conflict-retried-fast", in: "ctrlx",
		old:  `		f.Transient = !hasInner(f, causeFieldManager)`,
		new:  `		f.Transient = true`,
		test: "ctrlx.TestErrors/FieldManager", why: "a conflict with another field manager is retried fast",
	},
	{
		name: "vanished-object-forgotten", in: "ctrlx",
		old:  `		r.orphans.put(req.NamespacedName, obj) return r.deleteOrphan(ctx, req)`,
		new:  `		return result, ignoreGone(err)`,
		test: "ctrlx.TestVanished/Status", why: "an object vanishes while Apply is called, and its resource stays in the cloud",
	},
	{
		name: "vanished-between-passes", in: "ctrlx",
		old:  `	case p.applied && (p.finalizing || held) && (err != nil || !p.exists):`,
		new:  `	case p.applied && held && (err != nil || !p.exists):`,
		test: "ctrlx.TestVanished/Unwritten", why: "an object vanishes while its status cannot be written, and its resource stays in the cloud",
	},
	{
		name: "deletion-of-vanished-object-not-polled", in: "ctrlx",
		old:  `	if p != nil && p.orphan {`,
		new:  `	if p != nil && p.orphan && token == "" {`,
		test: "ctrlx.TestVanished/LongDeletion", why: "the token of the deletion is lost, and each pass starts another deletion",
	},
	{
		name: "vanished-object-retried-for-ever", in: "ctrlx",
		old:  `	inTime := left > 0 &&`,
		new:  `	inTime := true ||`,
		test: "ctrlx.TestVanished/Failed", why: "a resource that cannot be deleted is never reported",
	},
	{
		name: "vanished-object-unreported", in: "ctrlx",
		old:  `		r.reportOrphan(ctx, obj, errStopped)`,
		new:  `		_ = obj`,
		test: "ctrlx.TestVanishedManagerStops", why: "a manager stops while it deletes an orphaned resource, and the resource is never reported",
	},
	{
		name: "resource-of-new-object-deleted", in: "ctrlx.Reconciler.deleteOrphan",
		old:  `	err := r.engine.live.Get(ctx, req.NamespacedName, now)`,
		new:  `	var err error = apierrors.NewNotFound(r.gvk.GroupVersion().WithResource("").GroupResource(), req.Name)`,
		test: "ctrlx.TestVanishedMadeAnew/Stays", why: "an object vanishes, and the resource of the new object of its name is deleted",
	},
	{
		name: "vanished-if-not-served", in: "ctrlx",
		old:  `	case !kubernetes.NotFound(err): // the kind`,
		new:  `	case !apierrors.IsNotFound(err): // the kind`,
		test: "ctrlx.TestVanishedMadeAnew/NotServed", why: "the resource of an object is deleted because its API is down",
	},
	{
		name: "adopted-resource-deleted-later", in: "ctrlx",
		old:  `o.obj.GetUID() == obj.GetUID() || controllerutil.ContainsFinalizer(obj, r.opt.finalizer)`,
		new:  `o.obj.GetUID() == obj.GetUID()`,
		test: "ctrlx.TestVanishedMadeAnew/Stays", why: "the resource of an earlier object is deleted again after the new object",
	},
	{
		name: "vanished-although-nothing-was-applied", in: "ctrlx",
		old:  `if err == nil || progress.Token() != "" {`,
		new:  `if true {`,
		test: "ctrlx.TestVanishedInLink/Refuses", why: "a link refuses the resource of another person, and Delete is called for it",
	},
	{
		name: "guards-work-on-what-is-gone", in: "ctrlx",
		old:  `		ok = err == nil`,
		new:  `		ok = ignoreGone(err) == nil`,
		test: "ctrlx.TestGuardsGone", why: "Apply runs for an object that was deleted while its checks ran",
	},
	{
		name: "guards-take-anothers-conditions-back", in: "ctrlx",
		old:  `i := slices.IndexFunc(all, func(c metav1.Condition) bool { return c.Type != "Ready" && c.Reason == ReasonChecks })`,
		new:  `i := slices.IndexFunc(all, func(c metav1.Condition) bool { return c.Type != "Ready" })`,
		test: "ctrlx.TestGuardsProceed/Mine", why: "the reconciler and its guards overwrite each other's conditions in every pass",
	},
	{
		name: "resolver-takes-unserved-as-absent", in: "ctrlx",
		old:  `		case kubernetes.NotFound(err):`,
		new:  `		case client.IgnoreNotFound(err) == nil && err != nil:`,
		test: "ctrlx.TestGuardsFailClosed/NotServed", why: "an owner is treated as deleted while its API is down, and a deletion proceeds",
	},
	{
		name: "registered-kind-forgotten", in: "ctrlx",
		old:  `func(name string) bool { return given[name] })`,
		new:  `func(name string) bool { return true })`,
		test: "ctrlx.TestSetupAllRefuses/Missing", why: "a registered kind is never reconciled, without an error",
	},
	{
		name: "ignored-object-written", in: "ctrlx",
		old:  `	if out.KeepsStatus() { end = s.base()`,
		new:  `	if out.State() == flow.StateCanceled { end = s.base()`,
		test: "ctrlx.TestIgnored/PreCheck", why: "an object of another controller loses that controller's conditions",
	},
	{
		name: "finalizer-before-the-checks", in: "ctrlx",
		old:  `req.Deleting || !seen.InSync || seen.Presence != checks.Present`,
		new:  `req.Deleting`,
		test: "ctrlx.TestIgnored/PreCheck", why: "an object that a check ignores gets a finalizer, and its deletion hangs",
	},
	{
		name: "adopted-without-a-finalizer", in: "ctrlx.inSync",
		old:  `		return do(ctx, req.Resource)`,
		new:  `		return nil`,
		test: "ctrlx.TestFinalizerMoment/Adopted", why: "the deletion of an adopted object leaves its resource in the cloud",
	},
	{
		name: "put-without-a-finalizer", in: "ctrlx",
		old:  `		return &finalizerError{fmt.Errorf("ctrlx: %s: the finalizer: %w", r.name, err)}`,
		new:  `		return nil`,
		test: "ctrlx.TestVanishesBeforeApply/Gone", why: "Apply creates a resource for an object that was deleted",
	},
	{
		name: "finalizer-loses-the-status", in: "ctrlx",
		old: `	at := obj.DeepCopyObject().(T)
	controllerutil.AddFinalizer(at, r.opt.finalizer)
	if err := r.patchMetadata(ctx, obj, at, client.MergeFromWithOptions(obj, client.MergeFromWithOptimisticLock{}));`,
		new: `	at := obj.DeepCopyObject().(T)
	controllerutil.AddFinalizer(obj, r.opt.finalizer)
	if err := r.patchMetadata(ctx, obj, obj, client.MergeFromWithOptions(at, client.MergeFromWithOptimisticLock{}));`,
		test: "ctrlx.TestFinalizerMoment/Adopted", why: "the write of the finalizer discards the status that Get set",
	},
	{
		name: "finished-reconciled-after-a-restart", in: "ctrlx",
		old:  `r.conditions.finished(obj) ||`,
		new:  ``,
		test: "ctrlx.TestFinished/Complete", why: "each restart reconciles every finished object again",
	},
	{
		name: "finished-for-ever", in: "ctrlx",
		old:  `is.ObservedGeneration == obj.GetGeneration() &&`,
		new:  ``,
		test: "ctrlx.TestFinished/Complete", why: "a new spec of a finished object is never applied",
	},
	{
		name: "release-not-told", in: "ctrlx",
		old:  `removed && why != ""`,
		new:  `removed && why == ""`,
		test: "ctrlx.TestReleased", why: "no event reports why a released resource is still in the cloud",
	},
	{
		name: "change-while-passing-missed", in: "ctrlx",
		old:  `cached, fromCache...) == nil && r.selves.changed(cached)`,
		new:  `cached, fromCache...) != nil`,
		test: "ctrlx.TestWaitsForSelf/During", why: "an approval during a pass does not wake the object, which waits for ever",
	},
	{
		name: "own-status-not-awaited", in: "ctrlx",
		old:  `predicate.Or(asked, r.selves.events())`,
		new:  `predicate.Or(asked)`,
		test: "ctrlx.TestWaitsForSelf/Self", why: "an approval does not wake the object that waits for it",
	},
	{
		name: "waiting-for-itself-is-a-cycle", in: "ctrlx",
		old:  `		if id == p.self {`,
		new:  `		if id == p.self && p.onSelf {`,
		test: "ctrlx.TestWaitsForSelf/Ref", why: "the condition reports a dependency cycle of one object",
	},
	{
		name: "guards-delete-what-is-released", in: "ctrlx",
		old:  `	case s == flow.StateGone && out.Point() != "":`,
		new:  `	case s == flow.StateGone && out.Point() == flow.PointPass:`,
		test: "ctrlx.TestGuardsDecided/Release", why: "a resource with the policy Retain is deleted in the cloud",
	},
	{
		name: "hooks-left-out-in-sync", in: "ctrlx",
		old:  `		ext.Get = ext.Get.Prepend(innermostFirst(h.inSync)...)`,
		new:  `		_ = h.inSync`,
		test: "ctrlx.TestHookPlaces/InSync", why: "a pre-reconcile hook does not run in every pass",
	},
	{
		name: "awaited-error-not-registered", in: "ctrlx.pass.wait",
		old: `	refs := out.WaitingFor()`,
		new: `	var refs []checks.Ref
	if out.State() == flow.StateBlocked {
		refs = out.WaitingFor()
	}`,
		test: "ctrlx.TestAwaitedByOperations/Error", why: "an error with a missing subnet waits half an hour although the subnet exists",
	},
	{
		name: "ignored-and-never-woken", in: "ctrlx",
		old:  `out.State() == flow.StateIgnored && len(out.WaitingFor()) > 0 && !p.watched`,
		new:  `out.IsZero()`,
		test: "ctrlx.TestIgnoredWaits", why: "no event wakes an instance that becomes responsible for an object",
	},
	{
		name: "passes-not-observed", in: "ctrlx",
		old: `,
		flow.WithObserver(r.observer))`,
		new:  `)`,
		test: "ctrlx.TestTelemetry/Fails", why: "the default set-up logs no line for a failing check",
	},
	{
		name: "telemetry-not-off", in: "ctrlx",
		old: `	if t.off {
		return nil
	}
`,
		new:  ``,
		test: "ctrlx.TestTelemetry/Off", why: "WithoutTelemetry has no effect",
	},
	{
		name: "error-text-missing", in: "ctrlx",
		old:  `otelx.WithErrorText(maxErrorText), `,
		new:  ``,
		test: "ctrlx.TestTelemetry/Fails", why: "the line of a failed pass does not show the error",
	},
	{
		name: "repeated-block-logged", in: "ctrlx",
		old:  `	return p != nil && p.e.blocked.is(`,
		new:  `	return p == nil && p.e.blocked.is(`,
		test: "ctrlx.TestTelemetry/Blocks", why: "each of a thousand waiting objects logs a line whenever its owner changes",
	},
	{
		name: "block-of-another-link-not-logged", in: "ctrlx",
		old:  `	return block{out.Reason(), out.Point(), out.Link()}`,
		new:  `	return block{reason: out.Reason()}`,
		test: "ctrlx.TestTelemetry/Moves", why: "the log shows an earlier blocking check instead of the present one",
	},
	{
		name: "conflict-logged-as-error", in: "ctrlx",
		old:  `return ok && (quiet(out) || repeated(ctx, out))`,
		new:  `return ok && repeated(ctx, out)`,
		test: "ctrlx.TestTelemetryReturned", why: "each conflict of a busy object is logged as an error",
	},
	{
		name: "returned-error-logged-twice", in: "ctrlx.Reconciler.repeated",
		old:  `ok := errors.AsType[*finalizerError](out.Err()); ok {`,
		new:  `ok := errors.AsType[*finalizerError](out.Err()); ok && out.IsZero() {`,
		test: "ctrlx.TestTelemetryReturned", why: "one refused write is logged as two errors",
	},
	{
		name: "repeated-block-of-guards-logged", in: "ctrlx",
		old:  `(out.KeepsStatus() || conditions.show(obj, out))`,
		new:  `(out.KeepsStatus() || conditions.show(obj, out) && false)`,
		test: "ctrlx.TestTelemetryOfGuards", why: "each requeue of a blocked object logs a line",
	},
	{
		name: "observed-generation-not-written", in: "ctrlx",
		old:  `		v.SetInt(generation)`,
		new:  `		_ = v`,
		test: "ctrlx.TestKstatusOnTheServer", why: "kstatus reports a ready object as InProgress for ever",
	},
	{
		name: "suspended-object-stalled", in: "ctrlx",
		old:  `			all[i].Status = "False"`,
		new:  `			_ = i`,
		test: "ctrlx.TestKstatus", why: "kstatus reports a suspended object as Failed",
	},
	{
		name: "guards-keep-observed-generation", in: "ctrlx",
		old:  `g.write(ctx, obj, all, true)`,
		new:  `g.write(ctx, obj, all, false)`,
		test: "ctrlx.TestObservedGenerationOfGuards", why: "kstatus reports an object with guards as InProgress for ever",
	},
	{
		name: "copied-operation-polled", in: "ctrlx",
		old:  `op.UID != obj.GetUID() || op.Kind != kind.String()`,
		new:  `op.Kind != kind.String()`,
		test: "ctrlx.TestStoredOperation/OtherUID", why: "a copied object polls the operation of the original, and is Ready although nothing was created",
	},
	{
		name: "unsigned-operation-polled", in: "ctrlx",
		old:  `if !s.signed(op) {`,
		new:  `if len(op.Signature) > 0 && !s.signed(op) {`,
		test: "ctrlx.TestStoredOperation/Unsigned", why: "a token that a user wrote decides where the operator sends its credentials",
	},
	{
		name: "annotated-operation-polled", in: "ctrlx",
		old:  `if !s.annotation {`,
		new:  `if s.annotation {`,
		test: "ctrlx.TestStoredOperation/Annotation", why: "each user who may edit an object decides where the operator sends its credentials",
	},
	{
		name: "operation-lost-by-a-conflict", in: "ctrlx.Reconciler.setToken",
		old:  `if !apierrors.IsConflict(err) {`,
		new:  `if err != nil {`,
		test: "ctrlx.TestOperationStoredDespiteConflict", why: "a conflict keeps the token in memory, and a restart starts the operation again",
	},
	{
		name: "kind-in-lower-case", in: "ctrlx.kindsOf",
		old:  `kinds[gk] = k`,
		new:  `kinds[schema.GroupKind{Group: gk.Group, Kind: strings.ToLower(gk.Kind)}], kinds[gk] = k, k`,
		test: "ctrlx.TestInexactKind/LowerCase", why: "an owner reference in lower case starts an informer that never syncs, and a controller that is added later ends the manager",
	},
	{
		name: "discovery-for-each-missing-kind", in: "ctrlx",
		old:  `if time.Since(c.ended) < discoveryGap {`,
		new:  `if true { return true`,
		test: "ctrlx.TestMissingKinds", why: "each reference to a missing kind costs requests",
	},
	{
		name: "any-kind-watched", in: "ctrlx",
		old:  `if !e.mayWatch(gk) {`,
		new:  `if false {`,
		test: "ctrlx.TestWatchedKinds/BuiltIn", why: "a user who names a Secret as the owner makes the operator hold all Secrets in memory",
	},
	{
		name: "installed-kind-wakes-none", in: "ctrlx",
		old:  `c.listed(added)`,
		new:  `_ = added`,
		test: "ctrlx.TestInstalledLater/Namespaced", why: "an object that waits for a missing kind is not woken once the kind is installed",
	},
}
