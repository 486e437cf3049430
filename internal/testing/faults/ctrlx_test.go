package faults

var ctrlxFaults = []fault{
	{
		name: "changes-while-reading-ignored", in: "ctrlx/internal/index",
		old:  `e.run != absent && (e.run != known || e.open > 0 || e.runAs != digest)`,
		new:  `e.run == known && e.open == 0 && e.runAs != digest`,
		test: "ctrlx/internal/index.TestEveryOrder", why: "a change between registering and reading wakes nobody, and a resource waits for ever",
	},
	{
		name: "wait-drops-what-it-keeps", in: "ctrlx/internal/index",
		old:  `		e.keep(known, e.runAs)`,
		new:  `		e.endRun()`,
		test: "ctrlx/internal/index.TestEveryOrder", why: "a blocked resource waits for nothing, and is never woken",
	},
	{
		name: "digest-without-the-status", in: "ctrlx/internal/digest",
		old:  `			h = parts[i].plan.add(h, f)`,
		new:  `			_ = parts[i].plan`,
		test: "ctrlx/internal/digest.TestStatusLeaves", why: "an owner that becomes ready looks as before",
	},
	{
		name: "live-read-not-marked", in: "ctrlx",
		old:  `	e.behind.mark(id, live)`,
		new:  `	_ = live`,
		test: "ctrlx.TestPoll/DeadWatch", why: "who is woken by a live read looks into the cache, which has what was before, and waits on",
	},
	{
		name: "own-write-not-remembered", in: "ctrlx",
		old:  `	r.own.mark(id, version)`,
		new:  `	r.own.mark(id, "1")`,
		test: "ctrlx.TestReadsOwnWrites/Behind", why: "a pass does not see the token that the one before has kept, and begins a second operation",
	},
	{
		name: "any-deletion-believed", in: "ctrlx",
		old:  `(l.version == "" || !older(version, l.version))`,
		new:  `(deleted || l.version == "" || !older(version, l.version))`,
		test: "ctrlx.TestReadsOwnWrites/Earlier", why: "an object that was made anew is seen as it was before its last change",
	},
	{
		name: "put-off-for-ever", in: "ctrlx",
		old:  `	delete(w.putOff, name)`,
		new:  `	_ = name`,
		test: "ctrlx.TestWakeAtMost/Begun", why: "who was woken once in a herd is never woken again",
	},
	{
		name: "retriable-lost-in-a-join", in: "ctrlx",
		old:  `			whole = f.Joined`,
		new:  `			whole = f.Err`,
		test: "ctrlx.TestRetriable/JoinedFinal", why: "an error that says when to come back waits for a change of the spec",
	},
	{
		name: "timeout-late", in: "ctrlx",
		old:  `		c.over = c.due <= 0`,
		new:  `		c.over = c.due < 0`,
		test: "ctrlx.TestTimeout/Boundary", why: "what comes back when the time is over finds that it is not, and is not told of",
	},
	{
		name: "secret-makes-resource-absent", in: "ctrlx",
		old:  `		f.NotFound = false`,
		new:  `		_ = f`,
		test: "ctrlx.TestNotFoundOfAnotherObject/Default", why: "a Secret that a live read does not find makes the resource absent, and a PUT follows",
	},
	{
		name: "kind-not-served-means-absent", in: "ctrlx",
		old:  `named && !hasInner(f, causeUnexpected) &&`,
		new:  `named &&`,
		test: "ctrlx.TestErrors/NotServed", why: "while an aggregated API is down its objects count as deleted",
	},
	{
		name: "field-conflict-retried-fast", in: "ctrlx",
		old:  `		f.Transient = !hasInner(f, causeFieldManager)`,
		new:  `		f.Transient = true`,
		test: "ctrlx.TestErrors/FieldManager", why: "a conflict with another field manager counts as one that a retry mends",
	},
	{
		name: "guards-work-on-what-is-gone", in: "ctrlx",
		old:  `		ok = err == nil`,
		new:  `		ok = ignoreGone(err) == nil`,
		test: "ctrlx.TestGuardsGone", why: "an object that was deleted while its checks were asked is made in the cloud",
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
		test: "ctrlx.TestGuardsFailClosed/NotServed", why: "while an API is down, an owner counts as gone, and a deletion goes on",
	},
	{
		name: "registered-kind-forgotten", in: "ctrlx",
		old:  `func(name string) bool { return given[name] })`,
		new:  `func(name string) bool { return true })`,
		test: "ctrlx.TestSetupAllRefuses/Missing", why: "a kind that was registered and not given is never reconciled, and no error says so",
	},
	{
		name: "ignored-object-written", in: "ctrlx",
		old:  `	if out.KeepsStatus() { end = s.base()`,
		new:  `	if out.State() == flow.StateCanceled { end = s.base()`,
		test: "ctrlx.TestIgnored/PreCheck", why: "the object of another controller loses that controller's conditions",
	},
	{
		name: "finalizer-before-the-checks", in: "ctrlx",
		old:  `req.Deleting || !seen.InSync || seen.Presence != checks.Present`,
		new:  `req.Deleting`,
		test: "ctrlx.TestIgnored/PreCheck", why: "an object that a check ignores gets a finalizer, and hangs when it is deleted",
	},
	{
		name: "adopted-without-a-finalizer", in: "ctrlx.inSync",
		old:  `		return do(ctx, req.Resource)`,
		new:  `		return nil`,
		test: "ctrlx.TestFinalizerMoment/Adopted", why: "an object that was found in the cloud is deleted, and its resource stays there",
	},
	{
		name: "put-without-a-finalizer", in: "ctrlx",
		old:  `		return &finalizerError{fmt.Errorf("ctrlx: %s: the finalizer: %w", r.name, err)}`,
		new:  `		return nil`,
		test: "ctrlx.TestVanishesBeforeApply/Gone", why: "a PUT makes a resource for an object that is gone",
	},
	{
		name: "finalizer-loses-the-status", in: "ctrlx",
		old: `	at := obj.DeepCopyObject().(T)
	controllerutil.AddFinalizer(at, r.opt.finalizer)
	if err := r.patchMetadata(ctx, obj, at, client.MergeFromWithOptions(obj, client.MergeFromWithOptimisticLock{}));`,
		new: `	at := obj.DeepCopyObject().(T)
	controllerutil.AddFinalizer(obj, r.opt.finalizer)
	if err := r.patchMetadata(ctx, obj, obj, client.MergeFromWithOptions(at, client.MergeFromWithOptimisticLock{}));`,
		test: "ctrlx.TestFinalizerMoment/Adopted", why: "what Get has found out is lost with the write of the finalizer",
	},
	{
		name: "finished-reconciled-after-a-restart", in: "ctrlx",
		old:  `r.conditions.finished(obj) ||`,
		new:  ``,
		test: "ctrlx.TestFinished/Complete", why: "each restart makes every backup again",
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
		test: "ctrlx.TestReleased", why: "an operator looks for the reason why a resource is still in the cloud, and finds none",
	},
	{
		name: "change-while-passing-missed", in: "ctrlx",
		old:  `cached, fromCache...) == nil && r.selves.changed(cached)`,
		new:  `cached, fromCache...) != nil`,
		test: "ctrlx.TestWaitsForSelf/During", why: "the approval comes while a pass is under way, and the object waits for it for ever",
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
		test: "ctrlx.TestHookPlaces/InSync", why: "a pre-reconcile hook does not run in each pass any more",
	},
	{
		name: "awaited-error-not-registered", in: "ctrlx.pass.wait",
		old: `	refs := out.WaitingFor()`,
		new: `	var refs []checks.Ref
	if out.State() == flow.StateBlocked {
		refs = out.WaitingFor()
	}`,
		test: "ctrlx.TestAwaitedByOperations/Error", why: "a PUT that needs a subnet is retried after half an hour, although the subnet exists",
	},
	{
		name: "ignored-and-never-woken", in: "ctrlx",
		old:  `out.State() == flow.StateIgnored && len(out.WaitingFor()) > 0 && !p.watched`,
		new:  `out.IsZero()`,
		test: "ctrlx.TestIgnoredWaits", why: "an instance never learns that it is responsible, because no event can tell it",
	},
	{
		name: "passes-not-observed", in: "ctrlx",
		old: `,
		flow.WithObserver(r.observer))`,
		new:  `)`,
		test: "ctrlx.TestTelemetry/Fails", why: "a failing check leaves no line in the log of an operator that sets nothing up",
	},
	{
		name: "telemetry-not-off", in: "ctrlx",
		old: `	if t.off {
		return nil
	}
`,
		new:  ``,
		test: "ctrlx.TestTelemetry/Off", why: "WithoutTelemetry does nothing",
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
		test: "ctrlx.TestTelemetry/Blocks", why: "a thousand waiting objects log a line each whenever their owner changes",
	},
	{
		name: "block-of-another-link-not-logged", in: "ctrlx",
		old:  `	return block{out.Reason(), out.Point(), out.Link()}`,
		new:  `	return block{reason: out.Reason()}`,
		test: "ctrlx.TestTelemetry/Moves", why: "the log shows the wrong check for an object that waits for another one by now",
	},
	{
		name: "conflict-logged-as-error", in: "ctrlx",
		old:  `return ok && (quiet(out) || repeated(ctx, out))`,
		new:  `return ok && repeated(ctx, out)`,
		test: "ctrlx.TestTelemetryReturned", why: "each conflict of a busy object raises an alert",
	},
	{
		name: "returned-error-logged-twice", in: "ctrlx.Reconciler.repeated",
		old:  `ok := errors.AsType[*finalizerError](out.Err()); ok {`,
		new:  `ok := errors.AsType[*finalizerError](out.Err()); ok && out.IsZero() {`,
		test: "ctrlx.TestTelemetryReturned", why: "one refused write is two errors in the log",
	},
	{
		name: "repeated-block-of-guards-logged", in: "ctrlx",
		old:  `(out.KeepsStatus() || conditions.show(obj, out))`,
		new:  `(out.KeepsStatus() || conditions.show(obj, out) && false)`,
		test: "ctrlx.TestTelemetryOfGuards", why: "each requeue of a blocked object logs a line",
	},
}
