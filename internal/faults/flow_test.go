package faults

var flowFaults = []fault{
	{
		name: "pre-check-before-owner-check", file: "flow/pass.go",
		old: `	if !s.ownerCheck(ctx) {
		return s.stop
	}
	seen, ok := s.get(ctx)
	if !ok {
		return s.stop
	}
	if !s.check(ctx, PointPreCheck, p.preCheck) {
		return s.stop
	}
`,
		new: `	seen, ok := s.get(ctx)
	if !ok {
		return s.stop
	}
	if !s.check(ctx, PointPreCheck, p.preCheck) {
		return s.stop
	}
	if !s.ownerCheck(ctx) {
		return s.stop
	}
`,
		test: "flow.TestOrder/Apply", why: "the cloud is asked for resources whose owner is not there",
	},
	{
		name: "owner-block-dropped", file: "flow/pass.go",
		old: `	if !s.ownerCheck(ctx) {
		return s.stop
	}
`,
		new: `	s.ownerCheck(ctx)
`,
		test: "flow.TestBlock/OwnerCheck", why: "one caller forgets that an owner can block",
	},
	{
		name: "postponed-goes-on", file: "flow/pass.go",
		old:  `case res.Proceeds():`,
		new:  `case !res.IsZero():`,
		test: "flow.TestNothingPassesByMistake/Block/PostCheck", why: "what was postponed ends as ready",
	},
	{
		name: "applied-though-in-sync", file: "flow/pass.go",
		old:  `if !(seen.Exists && seen.InSync) && !s.apply(`,
		new:  `if (seen.Exists || true) && !s.apply(`,
		test: "flow.TestBlockedPostCheckDoesNotApplyAgain", why: "a post check that blocks applies again each time",
	},
	{
		name: "in-sync-though-absent", file: "flow/pass.go",
		old:  `!(seen.Exists && seen.InSync)`,
		new:  `!seen.InSync`,
		test: "flow.TestOrder/InSyncWithoutExists", why: "what is not there is never created",
	},
	{
		name: "post-check-skipped", file: "flow/pass.go",
		old:  `if !s.check(ctx, PointPostCheck, s.p.postCheck) {`,
		new:  `if false {`,
		test: "flow.TestOrder/Apply", why: "ready is said before it is",
	},
	{
		name: "owner-check-while-polling", file: "flow/pass.go",
		old: `	if op := s.kept; op.token != "" && !op.deletes {
`,
		new: `	if op := s.kept; op.token != "" && !op.deletes {
		if !s.ownerCheck(ctx) {
			return s.stop
		}
`,
		test: "flow.TestLongRunning/Polled/keeps=false", why: "an operation under way is not followed while its owner is busy with it",
	},
	{
		name: "new-spec-not-applied-after-the-old", file: "flow/pass.go",
		old:  `if op.generation == s.generation() {`,
		new:  `if true {`,
		test: "flow.TestLongRunning/OlderGeneration/keeps=false", why: "a change of the spec during an operation is lost",
	},
	{
		name: "delete-without-delete-check", file: "flow/pass.go",
		old:  `if op.token == "" && !s.check(ctx, PointDeleteCheck, s.p.deleteCheck) {`,
		new:  `if false {`,
		test: "flow.TestNothingPassesByMistake/Zero/DeleteCheck", why: "what is still in use is deleted",
	},
	{
		name: "gone-without-delete", file: "flow/pass.go",
		old: `	if !s.operate(ctx, PointDelete, s.p.remove, op) {
		return s.stop
	}
`,
		new:  ``,
		test: "flow.TestOrder/Delete", why: "what is paid for stays in the cloud, and nobody knows of it",
	},
	{
		name: "apply-token-used-to-delete", file: "flow/pass.go",
		old: `	if !op.deletes {
		op =`,
		new: `	if op.token == "" {
		op =`,
		test: "flow.TestDelete/ApplyTokenDropped", why: "the end of a PUT is taken for the end of the DELETE",
	},
	{
		name: "delete-waits-for-a-change", file: "flow/pass.go",
		old:  `if deleting && c.Retry() == classify.OnChange {`,
		new:  `if deleting && false {`,
		test: "flow.TestErrorsOnDeleteAreNeverOnChange/Delete", why: "a deletion is given up: nobody is going to change the spec",
	},
	{
		name: "token-not-kept", file: "flow/pass.go",
		old:  `if (*c != s.kept || s.unsaved) && (`,
		new:  `if false && (`,
		test: "flow.TestLongRunning/Polled/keeps=false", why: "the operation is started again in each pass",
	},
	{
		name: "operation-though-canceled", file: "flow/pass.go",
		old: `	if err := ctx.Err(); err != nil {
		return s.failed(point`,
		new: `	if err := ctx.Err(); false {
		return s.failed(point`,
		test: "flow.TestCanceled/BeforeApply", why: "operations are begun while the program shuts down",
	},
	{
		name: "empty-key-applies", file: "flow/pass.go",
		old:  `if key == "" {`,
		new:  `if false {`,
		test: "flow.TestEmptyKey", why: "one resource is polled with the token of another",
	},
	{
		name: "exists-not-told", file: "flow/pass.go",
		old:  `s.req.Exists = seen.Exists`,
		new:  `_ = seen.Exists`,
		test: "flow.TestExists/Exists", why: "checks of the resource's state let everything pass",
	},
	{
		name: "owner-error-ignored", file: "flow/pass.go",
		old:  `return s.failed(PointOwner, nil, checks.Result{}, err)`,
		new:  `return true`,
		test: "flow.TestErrors/Owner", why: "an owner that could not be asked for counts as none",
	},
	{
		name: "retry-after-not-handed-on", file: "flow/pass.go",
		old:  `severity: c.Severity(), after: c.After(),`,
		new:  `severity: c.Severity(),`,
		test: "flow.TestErrors/Apply", why: "a service that throttles is asked again too soon",
	},
	{
		name: "message-changes-each-pass", file: "flow/pass.go",
		old:  `message: "the operation goes on in the cloud",`,
		new:  `message: "the operation goes on in the cloud, asked at " + s.r.opt.now().String(),`,
		test: "flow.TestConditionsAreStable", why: "the status is written in each pass, which wakes the next",
	},
	{
		name: "stalled-although-retried", file: "flow/condition.go",
		old:  `d.retry == classify.OnChange`,
		new:  `d.retry >= classify.Slow`,
		test: "flow.TestOutcomes/FailedSlow", why: "tools give up on what mends itself",
	},
	{
		name: "blocked-is-written-as-ready", file: "flow/condition.go",
		old: `	case StateReady:
`,
		new: `	case StateReady, StateBlocked:
`,
		test: "flow.TestOutcomes/BlockedSlow", why: "what was postponed is written as ready",
	},
	{
		name: "canceled-is-written", file: "flow/condition.go",
		old:  `case StateGone, StateCanceled, StateUnknown:`,
		new:  `case StateGone, StateUnknown:`,
		test: "flow.TestOutcomes/Canceled", why: "each shutdown makes every resource look broken",
	},
	{
		name: "waiting-for-nothing", file: "flow/outcome.go",
		old:  `after: res.After(), refs: res.WaitingFor(),`,
		new:  `after: res.After(),`,
		test: "flow.TestExplain/Blocked", why: "a change of what is waited for wakes nobody",
	},
	{
		name: "on-change-is-for-ever", file: "flow/outcome.go",
		old: `	case o.State() == StateGone || o.State() == StateCanceled:
		return 0, false
	case o.delay`,
		new: `	case o.State() == StateGone || o.State() == StateCanceled || o.Retry() == classify.OnChange:
		return 0, false
	case o.delay`,
		test: "flow.TestOutcomes/BlockedOnChange", why: "fatal means stuck for ever",
	},
	{
		name: "block-described-as-success", file: "flow/outcome.go",
		old:  `return "block", d.reason`,
		new:  `return chain.VerdictProceed, d.reason`,
		test: "flow.TestObserver/Stopped", why: "a log line says succeeded for a block",
	},
	{
		name: "one-counter-for-all-classes", file: "flow/backoff.go",
		old:  `return countFast, true`,
		new:  `return countSlow, true`,
		test: "flow.TestBackoff/Own", why: "many slow failures delay the first fast one",
	},
	{
		name: "slow-waits-an-hour", file: "flow/backoff.go",
		old: `case o.Retry() == classify.VerySlow:
		return b.atResync(random)`,
		new: `case o.Retry() >= classify.Slow:
		return b.atResync(random)`,
		test: "flow.TestBackoff/Slow", why: "what is retryable waits an hour",
	},
	{
		name: "zero-delay", file: "flow/backoff.go",
		old:  `const shortest, longest = time.Millisecond,`,
		new:  `const shortest, longest = time.Duration(0),`,
		test: "flow.TestBackoffSettings/Shortest", why: "a delay of zero is lost, or loops",
	},
	{
		name: "delay-not-doubled", file: "flow/backoff.go",
		old: `		d *= 2
`,
		new: `		d += 0
`,
		test: "flow.TestBackoff/Fast", why: "what keeps failing is asked every second",
	},
	{
		name: "count-kept-over-a-change-of-the-spec", file: "flow/backoff.go",
		old:  `if f.generation != generation || now.Sub(f.seen) > 2*b.resync {`,
		new:  `if now.Sub(f.seen) > 2*b.resync {`,
		test: "flow.TestBackoff/AfterSpec", why: "a spec that was mended waits for what the old one did",
	},
	{
		name: "count-kept-after-ready", file: "flow/backoff.go",
		old: `	case StateReady:
		delete(b.entries, key)
`,
		new: `	case StateReady:
`,
		test: "flow.TestBackoff/AfterReady", why: "the first failure after a year waits as long as the last of the year before",
	},
	{
		name: "token-dropped-when-offline", file: "flow/token.go",
		old:  `err != nil && !goesOn(err):`,
		new:  `err != nil:`,
		test: "flow.TestErrorsWhilePolling/DNS", why: "a second operation is started beside the one that goes on",
	},
	{
		name: "operation-started-twice", file: "flow/token.go",
		old:  `if req.Token != call.token {`,
		new:  `if false {`,
		test: "flow.TestTokensAndLinks/Twice/inner=false", why: "a link that calls next again starts a second operation",
	},
	{
		name: "token-lost-at-shutdown", file: "flow/token.go",
		old:  `return r.ops.SetToken(context.WithoutCancel(ctx), resource`,
		new:  `return r.ops.SetToken(ctx, resource`,
		test: "flow.TestTokenIsKeptWhenCanceled", why: "after a restart the operation is started again",
	},
	{
		name: "delete-token-taken-for-an-apply", file: "flow/token.go",
		old:  `return deletePrefix + u.token`,
		new:  `return u.token`,
		test: "flow.TestDelete/Polled", why: "a deletion that was taken back is polled as if it were a PUT",
	},
	{
		name: "foreign-outcome-passes", file: "flow/guard.go",
		old:  `case o.o != n.outcome:`,
		new:  `case false:`,
		test: "flow.TestPass/Remembered", why: "a link on Pass that remembers an outcome answers for a pass that never was",
	},
	{
		name: "zero-progress-is-done", file: "flow/guard.go",
		old: `		err = refused(at, ErrNoProgress)
`,
		new: `		p = Done()
`,
		test: "flow.TestFaultyProgress/Zero", why: "an operation that forgot to say how far it is counts as done",
	},
	{
		name: "done-although-under-way", file: "flow/guard.go",
		old:  `case p.IsDone() && n.op.token != "":`,
		new:  `case false:`,
		test: "flow.TestTokensAndLinks/SaysDone/inner=false", why: "a link calls done what goes on in the cloud",
	},
	{
		name: "negative-delay-of-an-operation", file: "flow/progress.go",
		old:  `after: max(after, 0)`,
		new:  `after: after`,
		test: "flow.TestProgress", why: "a negative interval loses the requeue",
	},
	{
		name: "keep-last-forgets-since", file: "flow/explain.go",
		old:  `e.Since = old.Since`,
		new:  `_ = old.Since`,
		test: "flow.TestSince", why: "a resource that was blocked for a week looks as if it were since just now",
	},
	{
		name: "since-kept-though-it-moved", file: "flow/explain.go",
		old:  `old.Link == e.Link && old.Reason == e.Reason {`,
		new:  `true {`,
		test: "flow.TestSince", why: "a new blocker is said to have been there all along",
	},
	{
		name: "extend-drops-a-point", file: "flow/extensions.go",
		old:  `joined(PointDeleteCheck, e.DeleteCheck, o.DeleteCheck)`,
		new:  `e.DeleteCheck`,
		test: "flow.TestExtend", why: "what one kind needs besides the common is dropped",
	},
	{
		name: "observer-can-break-a-pass", file: "flow/watch.go",
		old: `	if inner = s.o.Enter(ctx, link); inner == nil || passOf(inner) != p {
`,
		new: `	if inner = s.o.Enter(ctx, link); inner == nil {
`,
		test: "flow.TestRudeObservers/ForeignContext", why: "an observer that replaces the context ends every pass",
	},
	{
		name: "extended-by-itself", file: "flow/extensions.go",
		old:  `if a.Overlaps(b) {`,
		new:  `if false {`,
		test: "flow.TestConvertPanics/Itself", why: "every check of a base runs twice",
	},
	{
		name: "second-registration-wins", file: "flow/registry.go",
		old:  `if before, ok := r.kinds[kind]; ok {`,
		new:  `if before, ok := r.kinds[kind]; ok && false {`,
		test: "flow.TestRegisterPanics/Twice", why: "the checks of a kind are replaced, and nobody is told",
	},
	{
		name: "misfit-registered", file: "flow/registry.go",
		old:  `	return engine.Kind() == reflect.Interface && of.Implements(engine)`,
		new:  `	return true`,
		test: "flow.TestRegisterPanics/Type", why: "extensions that can never run are found at the first resource, not at set-up",
	},
	{
		name: "unknown-kind-takes-anothers", file: "flow/registry.go",
		old: `	if !ok {`,
		new: `	for _, other := range r.kinds {
		known, ok = other, true
	}
	if !ok {`,
		test: "flow.TestRegistry/Unknown", why: "a kind without extensions is not reconciled",
	},
	{
		name: "token-lost-in-a-runner", file: "flow/narrow.go",
		old:  `w.OwnerRequest, w.Exists, w.Token, w.Resource = req.OwnerRequest, req.Exists, req.Token, o`,
		new:  `w.OwnerRequest, w.Exists, w.Resource = req.OwnerRequest, req.Exists, o`,
		test: "flow.TestRunnerHandsOnEverything", why: "under a registry operations are started again in each pass",
	},
	{
		name: "owner-of-a-link-lost-in-a-runner", file: "flow/narrow.go",
		old:  `w.OwnerRequest, w.Exists, w.Token, w.Resource = req.OwnerRequest, req.Exists, req.Token, o`,
		new:  `w.Exists, w.Token, w.Resource = req.Exists, req.Token, o`,
		test: "flow.TestRunnerHandsOnEverything", why: "under a registry operations do not see what links changed",
	},
	{
		name: "resource-of-get-lost-in-a-runner", file: "flow/narrow.go",
		old: `		req.Resource = t
`,
		new: `		_ = t
`,
		test: "flow.TestRunnerHandsOnEverything", why: "checks see the resource as it was before the GET",
	},
	{
		name: "request-lost-behind-a-runner", file: "flow/narrow.go",
		old: `		req.OwnerRequest, req.Exists = w.OwnerRequest, w.Exists
`,
		new:  ``,
		test: "flow.TestRunnerTakesBackTheRequest", why: "under a registry one operation does not see what another has found out",
	},
	{
		name: "decorations-lost-in-silence", file: "flow/extensions.go",
		old:  `	if c.Decorated() {`,
		new:  `	if c.Decorated() && false {`,
		test: "flow.TestConvertPanics/Decorated", why: "what is around a chain to keep work from getting through is dropped",
	},
	{
		name: "misfits-not-kept", file: "flow/narrow.go",
		old: `		misfits.kept = r.kept
`,
		new:  ``,
		test: "flow.TestMisfits/Another", why: "why a resource of the wrong type fails cannot be asked",
	},
	{
		name: "misfits-not-classified", file: "flow/narrow.go",
		old:  `Extensions[O]{Classify: ext.Classify}`,
		new:  `Extensions[O]{}`,
		test: "flow.TestMisfits/Another", why: "the rules of the kind do not hold for all of its errors",
	},
	{
		name: "convert-drops-a-point", file: "flow/convert.go",
		old: `		DeleteCheck: checks.Convert(ext.DeleteCheck, convert),
`,
		new:  ``,
		test: "flow.TestConvert/Delete", why: "a new version of a kind is deleted without being asked",
	},
	{
		name: "convert-drops-rules", file: "flow/convert.go",
		old: `		Classify:    ext.Classify,
`,
		new:  ``,
		test: "flow.TestConvert/APIVersion", why: "a new version of a kind loses its rules for errors",
	},
	{
		name: "convert-drops-links-in-silence", file: "flow/convert.go",
		old:  `if acting.n > 0 {`,
		new:  `if acting.n < 0 {`,
		test: "flow.TestConvertPanics/Apply", why: "a new version of a kind loses what was around its operations, and nobody is told",
	},
}
