package faults

import "strings"

var flowFaults = append(otherClouds(), []fault{
	{
		name: "pre-check-before-owner-check", in: "flow",
		old: `	if !s.ownerCheck(ctx) {
		return s.stop
	}
	if !s.get(ctx) {
		return s.stop
	}
	if s.inSync {
		return s.ready(ctx)
	}
	if !s.check(ctx, PointPreCheck, p.preCheck) {
		return s.stop
	}
`,
		new: `	if !s.get(ctx) {
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
		name: "owner-block-dropped", in: "flow",
		old: `	if !s.ownerCheck(ctx) {
		return s.stop
	}
`,
		new: `	s.ownerCheck(ctx)
`,
		test: "flow.TestBlock/OwnerCheck", why: "one caller forgets that an owner can block",
	},
	{
		name: "postponed-goes-on", in: "flow",
		old:  `case res.Proceeds():`,
		new:  `case !res.IsZero():`,
		test: "flow.TestNothingPassesByMistake/Block/PostCheck", why: "what was postponed ends as ready",
	},
	{
		name: "applied-though-in-sync", in: "flow",
		old:  `if s.inSync {`,
		new:  `if false {`,
		test: "flow.TestBlockedPostCheckDoesNotApplyAgain", why: "a post check that blocks applies again each time",
	},
	{
		name: "no-entry-check", in: "flow",
		old: `	if !s.check(ctx, PointEntryCheck, p.entryCheck) {
		return s.stop
	}
`,
		new:  ``,
		test: "flow.TestDecided/Ignore", why: "the resource of another controller is reconciled",
	},
	{
		name: "owner-hides-the-entry-check", in: "flow",
		old: `	if !s.check(ctx, PointEntryCheck, p.entryCheck) {
		return s.stop
	}
	if !s.owner(ctx) {
		return s.stop
	}
`,
		new: `	if !s.owner(ctx) {
		return s.stop
	}
	if !s.check(ctx, PointEntryCheck, p.entryCheck) {
		return s.stop
	}
`,
		test: "flow.TestEntryCheckBeforeOwner", why: "an unreadable owner hides that a request was denied",
	},
	{
		name: "ignored-gets-conditions", in: "flow",
		old:  `keepsStatus: res.KeepsStatus(),`,
		new:  ``,
		test: "flow.TestDecided/Ignore", why: "the resource of another controller gets our condition",
	},
	{
		name: "ignored-after-apply", in: "flow",
		old:  `return point == PointPostCheck`,
		new:  `return false`,
		test: "flow.TestMisplaced/IgnoreAfterApply", why: "a resource that was created here is forgotten",
	},
	{
		name: "released-though-not-deleted", in: "flow",
		old: `		return !s.req.Deleting
`,
		new: `		return false
`,
		test: "flow.TestMisplaced/ReleaseOfALiving", why: "a resource that no user deletes is forgotten",
	},
	{
		name: "release-keeps-the-token", in: "flow",
		old: `		return s.released(ctx)
`,
		new: `		return false
`,
		test: "flow.TestDecidedEndsWhatWasKept", why: "a resource made anew under the name polls the operation of the old one",
	},
	{
		name: "old-operation-finishes-the-new-spec", in: "flow",
		old:  `s.final = checks.Result{} // of an older spec`,
		new:  ``,
		test: "flow.TestFinishedOperation", why: "a new spec is never applied",
	},
	{
		name: "final-times-out", in: "flow",
		old:  ` || out.Final():`,
		new:  `:`,
		test: "flow.TestDecidedEndsWhatWasKept", why: "the reason of a final failure is lost",
	},
	{
		name: "errors-await-nothing", in: "flow",
		old:  `refs: awaited(f.err),`,
		new:  ``,
		test: "flow.TestAwaited/Error", why: "a PUT that needs a missing object waits for the back-off",
	},
	{
		name: "final-though-under-way", in: "flow",
		old:  `if n.op.token != "" && s.stop.Retry() == classify.Never {`,
		new:  `if false {`,
		test: "flow.TestDecidedLimits", why: "an operation under way is never polled again",
	},
	{
		name: "final-but-not-stored", in: "flow",
		old:  `return d.keepsStatus && !o.Final() ||`,
		new:  `return d.keepsStatus ||`,
		test: "flow.TestDecidedLimits", why: "after a restart a final failure is retried",
	},
	{
		name: "time-out-not-written", in: "flow",
		old:  `o.err, o.keepsStatus = join(ErrNotReadyInTime, o.err), false`,
		new:  `o.err = join(ErrNotReadyInTime, o.err)`,
		test: "flow.TestDecidedLimits", why: "a resource whose block is kept quiet never reports that it is late",
	},
	{
		name: "never-while-deleting", in: "flow",
		old:  `if s.req.Deleting && res.Retry() == classify.Never {`,
		new:  `if false {`,
		test: "flow.TestDecided/NeverWhileDeleting", why: "a deletion is given up",
	},
	{
		name: "in-sync-though-absent", in: "flow",
		old:  `o.InSync && o.Presence == checks.Present`,
		new:  `o.InSync`,
		test: "flow.TestOrder/InSyncButNotPresent", why: "what is not there is never created",
	},
	{
		name: "post-check-skipped", in: "flow",
		old:  `if !s.check(ctx, PointPostCheck, s.p.postCheck) {`,
		new:  `if false {`,
		test: "flow.TestOrder/Apply", why: "ready is said before it is",
	},
	{
		name: "owner-check-while-polling", in: "flow",
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
		name: "new-spec-not-applied-after-the-old", in: "flow",
		old:  `if op.generation == s.generation() {`,
		new:  `if true {`,
		test: "flow.TestLongRunning/OlderGeneration/keeps=false", why: "a change of the spec during an operation is lost",
	},
	{
		name: "delete-without-delete-check", in: "flow",
		old:  `if op.token == "" && !s.deleteCheck(ctx) {`,
		new:  `if false {`,
		test: "flow.TestNothingPassesByMistake/Zero/DeleteCheck", why: "what is still in use is deleted",
	},
	{
		name: "get-before-owner-only-delete-checks", in: "flow",
		old:  `!tag.OwnerOnly {`,
		new:  `true || !tag.OwnerOnly {`,
		test: "flow.TestGetBeforeDeleteCheck/OwnerOnly", why: "a deletion asks a stopped owner about the resource, and fails",
	},
	{
		name: "group-of-checks-hides-the-resource", in: "internal/linktag",
		old:  `c.OwnerOnly && o.OwnerOnly`,
		new:  `c.OwnerOnly || o.OwnerOnly`,
		test: "flow.TestGetBeforeDeleteCheck/AllBoth", why: "a check of the resource's state is asked without a GET",
	},
	{
		name: "deletion-checked-unseen", in: "flow",
		old:  `if s.r.deleteGets && !s.get(ctx) {`,
		new:  `if false {`,
		test: "flow.TestGetBeforeDeleteCheck/Seen", why: "checks of a deletion decide about a resource that nothing has read",
	},
	{
		name: "error-of-a-check-taken-for-a-block", in: "flow",
		old: `			s.stop.o.uncheckable()
`,
		new:  ``,
		test: "flow.TestErrorsOfChecks/Plain/PreCheck", why: "a condition does not say which check could not decide",
	},
	{
		name: "code-of-a-check-not-shown", in: "flow",
		old:  `	if o.code == "" {`,
		new:  `	if true {`,
		test: "flow.TestErrorsOfChecks/Code/OwnerCheck", why: "what the service said is not the reason of the condition",
	},
	{
		name: "api-version-of-the-reconciler-only", in: "flow",
		old:  `if r.ops.APIVersion != nil {`,
		new:  `if false {`,
		test: "flow.TestAPIVersionOfResources", why: "rules for one version of an API decide about resources of another",
	},
	{
		name: "gone-without-delete", in: "flow",
		old: `	if !s.operate(ctx, PointDelete, s.p.remove, op) {
		return s.stop
	}
`,
		new:  ``,
		test: "flow.TestOrder/Delete", why: "what is paid for stays in the cloud, and nobody knows of it",
	},
	{
		name: "apply-token-used-to-delete", in: "flow",
		old: `	if !op.deletes {
		op =`,
		new: `	if op.token == "" {
		op =`,
		test: "flow.TestDelete/ApplyTokenDropped", why: "the end of a PUT is taken for the end of the DELETE",
	},
	{
		name: "delete-waits-for-a-change", in: "flow",
		old:  `if deleting && c.Retry() >= classify.OnChange {`,
		new:  `if deleting && false {`,
		test: "flow.TestErrorsOnDeleteAreNeverOnChange/Delete", why: "a deletion is given up: nobody is going to change the spec",
	},
	{
		name: "token-not-kept", in: "flow",
		old:  `if op == s.kept && !s.unsaved ||`,
		new:  `if true ||`,
		test: "flow.TestLongRunning/Polled/keeps=false", why: "the operation is started again in each pass",
	},
	{
		name: "operation-though-canceled", in: "flow",
		old: `	if err := ctx.Err(); err != nil {
		return s.failed(point`,
		new: `	if err := ctx.Err(); false {
		return s.failed(point`,
		test: "flow.TestCanceled/BeforeApply", why: "operations are begun while the program shuts down",
	},
	{
		name: "empty-key-applies", in: "flow",
		old:  `if key == "" {`,
		new:  `if false {`,
		test: "flow.TestEmptyKey", why: "one resource is polled with the token of another",
	},
	{
		name: "exists-not-told", in: "flow",
		old:  `s.inSync, s.req.Presence = seen.inSync(), seen.Presence`,
		new:  `s.inSync, s.req.Presence = seen.inSync(), checks.Absent`,
		test: "flow.TestPresence/Present", why: "checks of the resource's state let everything pass",
	},
	{
		name: "owner-error-ignored", in: "flow",
		old:  `return s.failed(PointOwner, nil, err)`,
		new:  `return true`,
		test: "flow.TestErrors/Owner", why: "an owner that could not be asked for counts as none",
	},
	{
		name: "retry-after-not-handed-on", in: "flow",
		old:  `severity: c.Severity(), after: c.After(),`,
		new:  `severity: c.Severity(),`,
		test: "flow.TestErrors/Apply", why: "a service that throttles is asked again too soon",
	},
	{
		name: "message-changes-each-pass", in: "flow",
		old:  `message: "the operation is under way in the cloud",`,
		new:  `message: "the operation is under way in the cloud, asked at " + s.r.opt.now().String(),`,
		test: "flow.TestConditionsAreStable", why: "the status is written in each pass, which wakes the next",
	},
	{
		name: "stalled-although-retried", in: "flow.Outcome.Conditions",
		old:  `d.retry == classify.OnChange`,
		new:  `d.retry >= classify.Slow`,
		test: "flow.TestOutcomes/FailedSlow", why: "tools give up on what mends itself",
	},
	{
		name: "blocked-is-written-as-ready", in: "flow.Outcome.Conditions",
		old:  `case d.state == StateReady:`,
		new:  `case d.state == StateReady, d.state == StateBlocked:`,
		test: "flow.TestOutcomes/BlockedSlow", why: "what was postponed is written as ready",
	},
	{
		name: "canceled-is-written", in: "flow",
		old:  `return d.keepsStatus && !o.Final() || d.state == StateCanceled`,
		new:  `return d.keepsStatus && !o.Final()`,
		test: "flow.TestOutcomes/Canceled", why: "each shutdown makes every resource look broken",
	},
	{
		name: "waiting-for-nothing", in: "flow",
		old:  `after: res.After(), refs: res.WaitingFor(),`,
		new:  `after: res.After(),`,
		test: "flow.TestExplain/Blocked", why: "a change of what is waited for wakes nobody",
	},
	{
		name: "on-change-is-for-ever", in: "flow",
		old:  `return o.Retry() == classify.Never`,
		new:  `return o.Retry() >= classify.OnChange`,
		test: "flow.TestOutcomes/BlockedOnChange", why: "fatal means stuck for ever",
	},
	{
		name: "block-described-as-success", in: "flow",
		old:  `return chain.VerdictBlock, d.reason`,
		new:  `return chain.VerdictProceed, d.reason`,
		test: "flow.TestObserver/Stopped", why: "a log line says succeeded for a block",
	},
	{
		name: "one-counter-for-all-classes", in: "flow",
		old:  `retry, counter = classify.Fast, countFast`,
		new:  `retry, counter = classify.Fast, countSlow`,
		test: "flow.TestBackoff/Own", why: "many slow failures delay the first fast one",
	},
	{
		name: "slow-waits-an-hour", in: "flow",
		old: `case o.Retry() == classify.VerySlow:
		return b.atResync()`,
		new: `case o.Retry() >= classify.Slow:
		return b.atResync()`,
		test: "flow.TestBackoff/Slow", why: "what is retryable waits an hour",
	},
	{
		name: "zero-delay", in: "flow",
		old:  `const shortest, longest = time.Millisecond,`,
		new:  `const shortest, longest = time.Duration(0),`,
		test: "flow.TestBackoffSettings/Shortest", why: "a delay of zero is lost, or loops",
	},
	{
		name: "delay-not-doubled", in: "flow",
		old: `		d *= 2
`,
		new: `		d += 0
`,
		test: "flow.TestBackoff/Fast", why: "what keeps failing is asked every second",
	},
	{
		name: "count-kept-over-a-change-of-the-spec", in: "flow",
		old:  `if f.generation != generation || b.unused(f, now) {`,
		new:  `if b.unused(f, now) {`,
		test: "flow.TestBackoff/AfterSpec", why: "a spec that was mended waits for what the old one did",
	},
	{
		name: "count-kept-after-ready", in: "flow",
		old:  `if (ends && o.State() != StateCanceled || o.State() == StateReady) && b.failures.Len() > 0 {`,
		new:  `if ends && o.State() != StateCanceled && b.failures.Len() > 0 {`,
		test: "flow.TestBackoff/AfterReady", why: "the first failure after a year waits as long as the last of the year before",
	},
	{
		name: "no-backoff-by-default", in: "flow",
		old:  `if r.opt.backoff == nil && !r.opt.stateless {`,
		new:  `if false {`,
		test: "flow.TestDefaultBackoff", why: "what keeps failing is retried every second for ever",
	},
	{
		name: "tiny-delay-of-a-server", in: "flow",
		old:  `return max(o.After(), b.least)`,
		new:  `return o.After()`,
		test: "flow.TestDelaysGiven/Tiny/Block", why: "Retry-After-Ms: 1 makes a busy loop",
	},
	{
		name: "first-delay-shortened", in: "flow",
		old:  `if d-spread < b.least {`,
		new:  `if false {`,
		test: "flow.TestBackoffJitter", why: "a delay is below the floor",
	},
	{
		name: "delay-of-centuries", in: "flow",
		old:  `o.Retry() == classify.OnChange, o.After() > b.resync:`,
		new:  `o.Retry() == classify.OnChange:`,
		test: "flow.TestDelaysGiven/Never/InProgress", why: "a mistake in a delay is a resource that is never seen again",
	},
	{
		name: "clock-panics", in: "flow",
		old: `		if recover() != nil {
			t = time.Now()
		}
`,
		new:  ``,
		test: "flow.TestBackoffFunctions/Panics", why: "a panic leaves Reconcile",
	},
	{
		name: "negative-delay-not-shown", in: "flow",
		old:  `if after := res.get().after; after < 0 {`,
		new:  `if after := res.get().after; after < 0 && false {`,
		test: "flow.TestTrace/NegativePoll", why: "a delay that is computed wrongly is dropped in silence",
	},
	{
		name: "fault-of-classifying-not-shown", in: "flow",
		old:  `if fault := res.Fault(); fault != nil {`,
		new:  `if fault := res.Fault(); false {`,
		test: "flow.TestTrace/NegativeRule", why: "what went wrong in a rule is in no trace",
	},
	{
		name: "negative-delay-of-a-rule-dropped", in: "classify",
		old:  `if after < 0 && d.fault == nil {`,
		new:  `if false {`,
		test: "flow.TestTrace/NegativeRule", why: "a delay that is computed wrongly is dropped in silence",
	},
	{
		name: "never-times-out", in: "flow",
		old:  `limit - now.Sub(since); o.due <= 0 {`,
		new:  `limit - now.Sub(since); false {`,
		test: "flow.TestReadyWithinADay", why: "a resource that can never be ready takes hundreds of passes a day",
	},
	{
		name: "time-out-over-a-change-of-the-spec", in: "flow",
		old:  `w.since.IsZero() || w.generation != generation ||`,
		new:  `w.since.IsZero() ||`,
		test: "flow.TestReadyWithin/Spec", why: "a spec that was mended is stalled at once",
	},
	{
		name: "time-out-kept-after-ready", in: "flow",
		old: `				r.waits.Delete(r.key(resource))
`,
		new:  ``,
		test: "flow.TestReadyWithin/Ready", why: "the first block after a year is a time-out",
	},
	{
		name: "time-out-of-a-deletion", in: "flow",
		old:  `case deleting || out.State() == StateReady`,
		new:  `case deleting && false || out.State() == StateReady`,
		test: "flow.TestReadyWithin/Deleted", why: "a deletion that takes long is given up",
	},
	{
		name: "time-outs-not-forgotten", in: "flow",
		old:  `return n > manyKeys && now.Sub(w.seen).Abs() > keep }`,
		new:  `return n > manyKeys && now.Sub(w.seen).Abs() > 1000*keep }`,
		test: "flow.TestReadyWithinForgets", why: "memory grows with all keys that ever were",
	},
	{
		name: "token-dropped-when-offline", in: "flow",
		old:  `case saysFailed(err) || req.Errors.Ended(err):`,
		new:  `case err != nil:`,
		test: "flow.TestErrorsWhilePolling/Network/Apply", why: "a second operation is started beside the one that goes on",
	},
	{
		name: "failed-operation-polled-for-ever", in: "flow",
		old:  `case saysFailed(err) || req.Errors.Ended(err):`,
		new:  `case req.Errors.Ended(err):`,
		test: "flow.TestTokensAndLinks/HidesFailed/inner=false", why: "an operation that failed is never started again",
	},
	{
		name: "ended-operation-polled-for-ever", in: "flow",
		old:  `case saysFailed(err) || req.Errors.Ended(err):`,
		new:  `case saysFailed(err):`,
		test: "flow.TestErrorsWhilePolling/Ended/Delete", why: "what a reader knows of the service is not used",
	},
	{
		name: "link-says-failed-and-in-progress", in: "flow",
		old:  ` && !p.inProgress() && saysFailed(err):`,
		new:  ` && saysFailed(err):`,
		test: "flow.TestTokensAndLinks/FailedBesideInProgress/inner=false", why: "a link that has not found out makes the flow forget an operation",
	},
	{
		name: "link-cannot-say-failed", in: "flow",
		old:  `n.said != saidUnderWay && !p.inProgress() && saysFailed(err):`,
		new:  `false:`,
		test: "flow.TestTokensAndLinks/SaysFailed/inner=false", why: "operations of another module that never say flow.Failed are polled for ever",
	},
	{
		name: "running-operation-said-to-have-failed", in: "flow",
		old:  `n.said != saidUnderWay && !p.inProgress() && saysFailed(err):`,
		new:  `saysFailed(err):`,
		test: "flow.TestTokensAndLinks/SaysFailedUnderWay/inner=false", why: "a link makes the flow forget an operation that goes on",
	},
	{
		name: "token-lost-when-the-goroutine-ends", in: "flow.step.operate",
		old: `	defer s.save(ctx, key)
`,
		new:  ``,
		test: "flow.TestGoexitKeepsTheToken/Link", why: "after a Goexit the operation is started again",
	},
	{
		name: "token-lost-when-keeping-it-ends-the-goroutine", in: "flow",
		old: `	} else {
		r.tokens.Put(`,
		new: `	} else if r.ops.SetToken == nil {
		r.tokens.Put(`,
		test: "flow.TestGoexitKeepsTheToken/SetToken", why: "a Goexit while the token is stored counts as success",
	},
	{
		name: "secret-token-in-a-condition", in: "flow",
		old:  `if strings.Contains(token, "//") || !plainToken.MatchString(token) {`,
		new:  `if !plainToken.MatchString(token) {`,
		test: "flow.TestTokenInMessage/Host", why: "an address that holds a signature is written to a condition",
	},
	{
		name: "unbounded-text-of-a-poll", in: "flow",
		old:  `" cannot be polled: " + text.Line(o.message, text.Quote)`,
		new:  `" cannot be polled: " + o.message`,
		test: "flow.TestErrorsWhilePolling/Long/Apply", why: "a service fills the status with its error page, and the advice is cut off",
	},
	{
		name: "operation-started-twice", in: "flow",
		old:  `if req.Token != token {`,
		new:  `if false {`,
		test: "flow.TestTokensAndLinks/Twice/inner=false", why: "a link that calls next again starts a second operation",
	},
	{
		name: "token-lost-at-shutdown", in: "flow",
		old:  `r.ops.SetToken(context.WithoutCancel(ctx), resource`,
		new:  `r.ops.SetToken(ctx, resource`,
		test: "flow.TestTokenIsKeptWhenCanceled", why: "after a restart the operation is started again",
	},
	{
		name: "link-cannot-end-its-operation", in: "flow",
		old:  `case p.IsDone() && n.op.token != "" && !(n.linkOnly() && p.Skipped()):`,
		new:  `case p.IsDone() && n.op.token != "":`,
		test: "flow.TestTokensAndLinks/OwnEnds/inner=false", why: "a link that runs an operation of its own never gets its resource ready",
	},
	{
		name: "delete-token-taken-for-an-apply", in: "flow",
		old:  `token = deletePrefix + token`,
		new:  `_ = token`,
		test: "flow.TestDelete/Polled", why: "a deletion that was taken back is polled as if it were a PUT",
	},
	{
		name: "foreign-outcome-passes", in: "flow",
		old:  `case o.o != passOf(ctx).outcome:`,
		new:  `case false:`,
		test: "flow.TestPass/Remembered", why: "a link on Pass that remembers an outcome answers for a pass that never was",
	},
	{
		name: "zero-progress-is-done", in: "flow",
		old:  `return nil, refused(at, ErrNoProgress)`,
		new:  `return nil, nil`,
		test: "flow.TestFaultyProgress/Zero", why: "an operation that forgot to say how far it is counts as done",
	},
	{
		name: "done-although-under-way", in: "flow",
		old:  `case p.IsDone() && n.op.token != "" && !(n.linkOnly() && p.Skipped()):`,
		new:  `case false:`,
		test: "flow.TestTokensAndLinks/SaysDone/inner=false", why: "a link calls done what goes on in the cloud",
	},
	{
		name: "done-without-the-operation", in: "flow",
		old:  `case p.IsDone() && n.said != saidDone && !p.Skipped():`,
		new:  `case false:`,
		test: "flow.TestSkipAndDone/DoneWithoutNext/Apply", why: "a link that forgets next makes a resource ready that was never applied",
	},
	{
		name: "skip-ends-what-is-under-way", in: "flow",
		old:  `case p.IsDone() && n.op.token != "" && !(n.linkOnly() && p.Skipped()):`,
		new:  `case p.IsDone() && !p.Skipped() && n.op.token != "":`,
		test: "flow.TestSkipAndDone/SkipUnderWay/Apply", why: "an operation under way is said to be done",
	},
	{
		name: "in-sync-unseen", in: "flow",
		old:  `case at != onion.End && o.inSync() && !n.seen:`,
		new:  `case false:`,
		test: "flow.TestGetLinks/InSyncUnasked", why: "a link on Get that forgets next makes a resource ready that was never read",
	},
	{
		name: "negative-delay-of-an-operation", in: "flow",
		old:  `return max(p.get().after, 0)`,
		new:  `return p.get().after`,
		test: "flow.TestProgress", why: "a negative interval loses the requeue",
	},
	{
		name: "keep-last-forgets-since", in: "flow",
		old:  `e.Since = old.Since`,
		new:  `_ = old.Since`,
		test: "flow.TestSince", why: "a resource that was blocked for a week looks as if it were since just now",
	},
	{
		name: "since-kept-though-it-moved", in: "flow",
		old:  `old.Link == e.Link && old.Reason == e.Reason`,
		new:  `true`,
		test: "flow.TestSince", why: "a new blocker is said to have been there all along",
	},
	{
		name: "used-key-dropped-first", in: "internal/keyed",
		old: `	m.order.MoveToBack(e)
`,
		new:  ``,
		test: "internal/keyed.TestMap", why: "a resource that is reconciled all the time loses its explanation to one of long ago",
	},
	{
		name: "key-kept-without-a-limit", in: "internal/keyed",
		old: `		m.remove(oldest)
`,
		new: `		break
`,
		test: "internal/keyed.TestMap", why: "memory grows with every key that a check, a back-off or a trace has seen",
	},
	{
		name: "extend-drops-a-point", in: "flow",
		old:  `joined(PointDeleteCheck, e.DeleteCheck, o.DeleteCheck)`,
		new:  `e.DeleteCheck`,
		test: "flow.TestExtend", why: "what one kind needs besides the common is dropped",
	},
	{
		name: "observer-can-break-a-pass", in: "flow",
		old:  `if inner = o.Enter(ctx, link); inner == nil || passOf(inner) != p {`,
		new:  `if inner = o.Enter(ctx, link); inner == nil {`,
		test: "flow.TestRudeObservers/ForeignContext", why: "an observer that replaces the context ends every pass",
	},
	{
		name: "extended-by-itself", in: "flow",
		old:  `if a.Overlaps(b) {`,
		new:  `if false {`,
		test: "flow.TestConvertPanics/Itself", why: "every check of a base runs twice",
	},
	{
		name: "second-registration-wins", in: "flow",
		old:  `if before, ok := r.kinds[folded]; ok {`,
		new:  `if before, ok := r.kinds[folded]; ok && false {`,
		test: "flow.TestRegisterPanics/Twice", why: "the checks of a kind are replaced, and nobody is told",
	},
	{
		name: "misfit-registered", in: "flow",
		old:  `return of.Implements(engine)`,
		new:  `return true`,
		test: "flow.TestRegisterPanics/Type", why: "extensions that can never run are found at the first resource, not at set-up",
	},
	{
		name: "misspelt-kind-runs-unguarded", in: "flow",
		old: `	case ok && known.kind != kind:
`,
		new: `	case ok && known.kind != kind && false:
`,
		test: "flow.TestForRefuses/Case", why: "a kind in small letters runs without its guards",
	},
	{
		name: "strict-registry-lets-unknown-kinds-run", in: "flow",
		old:  `case !ok && r.Strict:`,
		new:  `case !ok && r.Strict && false:`,
		test: "flow.TestForRefuses/UnknownStrict", why: "a kind that was forgotten runs without guards",
	},
	{
		name: "unknown-kind-takes-anothers", in: "flow",
		old: `	if known.new == nil {
		return New(`,
		new: `	for _, other := range r.kinds {
		known = other
	}
	if known.new == nil {
		return New(`,
		test: "flow.TestRegistry/Unknown", why: "a kind without extensions is not reconciled",
	},
	{
		name: "token-lost-in-a-runner", in: "flow",
		old:  `w.OwnerRequest, w.Presence, w.Token, w.Resource = req.OwnerRequest, req.Presence, req.Token, o`,
		new:  `w.OwnerRequest, w.Presence, w.Resource = req.OwnerRequest, req.Presence, o`,
		test: "flow.TestRunnerHandsOnEverything", why: "under a registry operations are started again in each pass",
	},
	{
		name: "owner-of-a-link-lost-in-a-runner", in: "flow",
		old:  `w.OwnerRequest, w.Presence, w.Token, w.Resource = req.OwnerRequest, req.Presence, req.Token, o`,
		new:  `w.Presence, w.Token, w.Resource = req.Presence, req.Token, o`,
		test: "flow.TestRunnerHandsOnEverything", why: "under a registry operations do not see what links changed",
	},
	{
		name: "resource-of-get-lost-in-a-runner", in: "flow",
		old: `		req.Resource = t
`,
		new: `		_ = t
`,
		test: "flow.TestRunnerHandsOnEverything", why: "checks see the resource as it was before the GET",
	},
	{
		name: "request-lost-behind-a-runner", in: "flow",
		old: `		req.OwnerRequest, req.Presence = w.OwnerRequest, w.Presence
`,
		new:  ``,
		test: "flow.TestRunnerTakesBackTheRequest", why: "under a registry one operation does not see what another has found out",
	},
	{
		name: "decorations-lost-in-silence", in: "flow",
		old:  `	if c.Decorated() {`,
		new:  `	if c.Decorated() && false {`,
		test: "flow.TestConvertPanics/Decorated", why: "what is around a chain to keep work from getting through is dropped",
	},
	{
		name: "misfits-not-kept", in: "flow",
		old: `		misfits.kept = r.kept
`,
		new:  ``,
		test: "flow.TestMisfits/Another", why: "why a resource of the wrong type fails cannot be asked",
	},
	{
		name: "misfits-not-classified", in: "flow",
		old:  `Extensions[O]{Classify: ext.Classify}`,
		new:  `Extensions[O]{}`,
		test: "flow.TestMisfits/Another", why: "the rules of the kind do not hold for all of its errors",
	},
	{
		name: "convert-drops-a-point", in: "flow",
		old: `		DeleteCheck: checks.Convert(ext.DeleteCheck, convert),
`,
		new:  ``,
		test: "flow.TestConvert/Delete", why: "a new version of a kind is deleted without being asked",
	},
	{
		name: "convert-drops-rules", in: "flow",
		old: `		Classify:    ext.Classify,
`,
		new:  ``,
		test: "flow.TestConvert/APIVersion", why: "a new version of a kind loses its rules for errors",
	},
	{
		name: "convert-drops-links-in-silence", in: "flow",
		old:  `if c.Len() > 0 {`,
		new:  `if c.Len() < 0 {`,
		test: "flow.TestConvertPanics/Apply", why: "a new version of a kind loses what was around its operations, and nobody is told",
	},
	{
		name: "keys-in-use-swept", in: "flow.Backoff.count",
		old:  `return n > manyKeys && b.unused(f, now)`,
		new:  `return n > manyKeys`,
		test: "flow.TestBackoffSweep/InUse", why: "with many resources the delays do not grow",
	},
	{
		name: "few-keys-swept", in: "flow.Backoff.count",
		old:  `return n > manyKeys && b.unused(f, now)`,
		new:  `return n > 1 && b.unused(f, now)`,
		test: "flow.TestBackoffSweep/Unused", why: "each pass looks for keys to drop",
	},
	{
		name: "keys-never-swept", in: "flow.Backoff.count",
		old:  `return n > manyKeys && b.unused(f, now)`,
		new:  `return false`,
		test: "flow.TestBackoffSweep/Unused", why: "the memory grows with each resource that ever was",
	},
	{
		name: "keys-of-the-future-kept", in: "flow.Backoff.unused",
		old:  `now.Sub(f.seen).Abs() >`,
		new:  `now.Sub(f.seen) >`,
		test: "flow.TestBackoffSweep/YearsBack", why: "after a clock went back by years no key is dropped for years",
	},
	{
		name: "wait-from-the-future", in: "flow.Reconciler.waitsSince",
		old:  `|| w.since.After(now)`,
		new:  ``,
		test: "flow.TestReadyWithin/FarBack", why: "after a clock went back by years a resource has years to become Ready",
	},
	{
		name: "state-since-after-the-pass", in: "flow.Reconciler.keepLast",
		old:  `same && !old.Since.Round(0).After(e.At)`,
		new:  `same`,
		test: "flow.TestSinceIsNotAfterThePass", why: "people read that a state begins in the future",
	},
	{
		name: "negative-elapsed", in: "flow.tracer.Exit",
		old:  `max(now.Sub(in.at), 0)`,
		new:  `now.Sub(in.at)`,
		test: "flow.TestElapsed", why: "a step takes less than no time if the clock goes back",
	},
}...)

// otherClouds are the fault that an error of polling ends the operation, for the errors of each SDK.
func otherClouds() (faults []fault) {
	for _, sdk := range []string{"smithy", "gRPC", "googleapi", "kubernetes", "plain"} {
		for _, point := range []string{"Apply", "Delete"} {
			faults = append(faults, fault{
				name: strings.ToLower("second-operation-" + sdk + "-" + point), in: "flow",
				old:  `case saysFailed(err) || req.Errors.Ended(err):`,
				new:  `case err != nil:`,
				test: "flow/flowtest.TestOneOperationOnAnyCloud/" + sdk + "/" + point, why: "an error of this SDK starts a second operation",
			})
		}
	}
	return faults
}
