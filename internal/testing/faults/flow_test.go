package faults

import "strings"

var flowFaults = append(otherClouds(), []fault{
	{
		name: "resource-in-sync-follows-nothing", in: "flow.Reconciler.run",
		old: `	if s.inSync {
		s.followLeftOut(ctx, r.followsOf.pre)
`,
		new: `	if s.inSync {
`,
		test: "flow.TestFollowing/InSync", why: "a Ready resource is not reconciled after its Secret is rotated",
	},
	{
		name: "poll-follows-nothing", in: "flow.Reconciler.run",
		old:  `s.followLeftOut(ctx, r.followsOf.owner, r.followsOf.pre)`,
		new:  `_ = r.followsOf`,
		test: "flow.TestFollowing/Poll", why: "a resource that becomes Ready after a long operation does not follow its Secret",
	},
	{
		name: "final-outcome-follows", in: "flow.Outcome.following",
		old:  ` || o.Final() {`,
		new:  ` {`,
		test: "flow.TestFollowing/Never", why: "a resource that only its spec can continue is reconciled again",
	},
	{
		name: "replaced-outcome-follows-nothing", in: "flow.Reconciler.pass",
		old:  `out = out.following(inner.get().follows)`,
		new:  `_ = inner.get()`,
		test: "flow.TestFollowing/Around", why: "a resource whose pass a link ends is not woken by its Secret",
	},
	{
		name: "shared-outcome-follows", in: "flow.Outcome.following",
		old: `	d := *o.get()
	d.follows = refs
	o.o = &d
`,
		new: `	d := o.get()
	d.follows = refs
	o.o = d
`,
		test: "flow.TestFollowing/Ready_is_shared", why: "every Ready resource follows the Secret of one of them",
	},
	{
		name: "owner-of-an-unresolved-set-goes-unchecked", in: "flow.checkOwner",
		old:  `return oneOwner(ctx, req)`,
		new:  `return res, err`,
		test: "flow.TestOwnerFrom/NoneUnchecked", why: "a resource is created without its owner, like a root resource",
	},
	{
		name: "forget-keeps-the-time-out", in: "flow.Reconciler.Forget",
		old:  `	r.waits.Delete(key)`,
		new:  `	_ = key`,
		test: "flow.TestForget", why: "a user asks for a retry of a resource that timed out, and it times out at once",
	},
	{
		name: "point-of-a-joined-failure-lost", in: "classify.Compose",
		old:  `cause.Joined, cause.Point = f.Err, f.Point`,
		new:  `cause.Joined = f.Err`,
		test: "flow.TestFailurePoint/Apply", why: "a rule about Apply does not see the causes of a joined error",
	},
	{
		name: "pre-check-before-owner-check", in: "flow",
		old: `	if !s.ownerCheck(ctx) {
		return s.stop
	}
	if !s.get(ctx) {
		s.followLeftOut(ctx, r.followsOf.pre) // a corrected Secret may be the remedy
		return s.stop
	}
	if s.inSync {
		s.followLeftOut(ctx, r.followsOf.pre)
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
		test: "flow.TestOrder/Apply", why: "the flow calls the cloud for resources without an owner",
	},
	{
		name: "owner-block-dropped", in: "flow",
		old: `	if !s.ownerCheck(ctx) {
		return s.stop
	}
`,
		new: `	s.ownerCheck(ctx)
`,
		test: "flow.TestBlock/OwnerCheck", why: "one caller ignores the block of an owner",
	},
	{
		name: "postponed-goes-on", in: "flow",
		old:  `case res.Proceeds():`,
		new:  `case !res.IsZero():`,
		test: "flow.TestEveryPointFailsClosed/Block/PostCheck", why: "a postponed resource becomes Ready",
	},
	{
		name: "applied-though-in-sync", in: "flow",
		old:  `if s.inSync {`,
		new:  `if false {`,
		test: "flow.TestBlockedPostCheckDoesNotApplyAgain", why: "a blocking post check applies again in each pass",
	},
	{
		name: "no-get-after-apply", in: "flow.sequence.ready",
		old:  `!s.inSync && !s.getAgain(ctx)`,
		new:  `false`,
		test: "flow.TestGetAfterApply/Polled", why: "PostCheck sees the status from before Apply, and the resource becomes Ready too early",
	},
	{
		name: "absent-after-apply", in: "flow.sequence.getAgain",
		old:  `s.req.Presence == checks.Absent && `,
		new:  `false && `,
		test: "flow.TestGetAfterApply/Absent", why: "a resource that is not in the cloud becomes Ready",
	},
	{
		name: "finished-task-not-found", in: "flow.sequence.getAgain",
		old:  ` || s.final.IsFinished()`,
		new:  ``,
		test: "flow.TestGetAfterApply/AbsentFinished", why: "a complete task that the service removes runs again and again",
	},
	{
		name: "replaced-get-contradicts-apply", in: "flow.sequence.get",
		old:  `seen.Skip != "" || `,
		new:  ``,
		test: "flow.TestGetAfterApply/Remembered", why: "a remembered answer from before Apply blocks Ready",
	},
	{
		name: "no-entry-check", in: "flow",
		old: `	if !s.check(ctx, PointEntryCheck, p.entryCheck) {
		return s.stop
	}
`,
		new:  ``,
		test: "flow.TestDecisions/Ignore", why: "the flow reconciles the resource of another controller",
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
		test: "flow.TestEntryCheckBeforeOwner", why: "an unreadable owner hides the block of a check on Pass",
	},
	{
		name: "ignored-gets-conditions", in: "flow",
		old:  `keepsStatus: res.KeepsStatus(),`,
		new:  ``,
		test: "flow.TestDecisions/Ignore", why: "the resource of another controller gets conditions",
	},
	{
		name: "ignored-after-apply", in: "flow",
		old:  `return point == PointPostCheck`,
		new:  `return false`,
		test: "flow.TestMisplaced/IgnoreAfterApply", why: "the flow ignores a resource that it created",
	},
	{
		name: "released-though-not-deleted", in: "flow",
		old: `		return !s.req.Deleting
`,
		new: `		return false
`,
		test: "flow.TestMisplaced/ReleaseNotDeleted", why: "the flow releases a resource that no user deletes",
	},
	{
		name: "release-keeps-the-token", in: "flow",
		old: `		return s.released(ctx)
`,
		new: `		return false
`,
		test: "flow.TestDecisionsDropStoredState", why: "a new resource with the same name polls the operation of the old one",
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
		test: "flow.TestDecisionsDropStoredState", why: "a time-out replaces the reason of a final failure",
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
		test: "flow.TestDecisionLimits", why: "an operation under way is never polled again",
	},
	{
		name: "final-but-not-stored", in: "flow",
		old:  `return d.keepsStatus && !o.Final() ||`,
		new:  `return d.keepsStatus ||`,
		test: "flow.TestDecisionLimits", why: "a restart retries a final failure",
	},
	{
		name: "time-out-not-written", in: "flow",
		old:  `o.err, o.keepsStatus = join(ErrNotReadyInTime, o.err), false`,
		new:  `o.err = join(ErrNotReadyInTime, o.err)`,
		test: "flow.TestDecisionLimits", why: "a time-out is not reported if the block keeps the status",
	},
	{
		name: "never-while-deleting", in: "flow",
		old:  `if s.req.Deleting && res.Retry() == classify.Never {`,
		new:  `if false {`,
		test: "flow.TestDecisions/NeverWhileDeleting", why: "a deletion is given up",
	},
	{
		name: "in-sync-though-absent", in: "flow",
		old:  `o.InSync && o.Presence == checks.Present`,
		new:  `o.InSync`,
		test: "flow.TestOrder/InSyncButNotPresent", why: "an absent resource is never created",
	},
	{
		name: "post-check-skipped", in: "flow",
		old:  `if !s.check(ctx, PointPostCheck, s.p.postCheck) {`,
		new:  `if false {`,
		test: "flow.TestOrder/Apply", why: "a resource becomes Ready although its post check blocks",
	},
	{
		name: "owner-check-while-polling", in: "flow",
		old: `	if op := s.stored; op.token != "" && !op.deletes {
`,
		new: `	if op := s.stored; op.token != "" && !op.deletes {
		if !s.ownerCheck(ctx) {
			return s.stop
		}
`,
		test: "flow.TestLongRunning/Polled/stores=false", why: "an operation is not polled while its owner is busy with it",
	},
	{
		name: "new-spec-not-applied-after-the-old", in: "flow",
		old:  `if op.generation == s.generation() {`,
		new:  `if true {`,
		test: "flow.TestLongRunning/OlderGeneration/stores=false", why: "a change of the spec during an operation is not applied",
	},
	{
		name: "delete-without-delete-check", in: "flow",
		old:  `} else if !s.deleteCheck(ctx) {`,
		new:  `} else if false {`,
		test: "flow.TestEveryPointFailsClosed/Zero/DeleteCheck", why: "a resource that is in use is deleted",
	},
	{
		name: "get-before-owner-only-delete-checks", in: "flow",
		old:  `!tag.OwnerOnly {`,
		new:  `true || !tag.OwnerOnly {`,
		test: "flow.TestGetBeforeDeleteCheck/OwnerOnly", why: "a deletion calls the service of a stopped owner and fails",
	},
	{
		name: "group-of-checks-hides-the-resource", in: "internal/linktag",
		old:  `c.OwnerOnly && o.OwnerOnly`,
		new:  `c.OwnerOnly || o.OwnerOnly`,
		test: "flow.TestGetBeforeDeleteCheck/AllBoth", why: "a check of the resource's state runs without a Get",
	},
	{
		name: "deletion-checked-unseen", in: "flow",
		old:  `if s.r.deleteGets && !s.get(ctx) {`,
		new:  `if false {`,
		test: "flow.TestGetBeforeDeleteCheck/Seen", why: "checks of a deletion run on a resource that was not read",
	},
	{
		name: "error-of-a-check-taken-for-a-block", in: "flow",
		old: `			s.stop.o.setCheckFailed()
`,
		new:  ``,
		test: "flow.TestErrorsOfChecks/Plain/PreCheck", why: "a condition does not name the check that returned an error",
	},
	{
		name: "code-of-a-check-not-shown", in: "flow",
		old:  `	if o.code == "" {`,
		new:  `	if true {`,
		test: "flow.TestErrorsOfChecks/Code/OwnerCheck", why: "the reason of the condition is not the code of the service",
	},
	{
		name: "api-version-of-the-reconciler-only", in: "flow",
		old:  `if r.ops.APIVersion != nil {`,
		new:  `if false {`,
		test: "flow.TestAPIVersionOfResources", why: "rules for one API version match resources of another",
	},
	{
		name: "gone-without-delete", in: "flow",
		old: `	if !s.operate(ctx, PointDelete, s.p.remove, op) {
		return s.stop
	}
`,
		new:  ``,
		test: "flow.TestOrder/Delete", why: "a resource without a Delete is reported as gone and stays in the cloud",
	},
	{
		name: "apply-token-used-to-delete", in: "flow",
		old: `	if !op.deletes {
		op =`,
		new: `	if op.token == "" {
		op =`,
		test: "flow.TestDelete/ApplyTokenDropped", why: "the end of a PUT is treated as the end of the DELETE",
	},
	{
		name: "delete-waits-for-a-change", in: "flow",
		old:  `if deleting && c.Retry() >= classify.OnChange {`,
		new:  `if deleting && false {`,
		test: "flow.TestErrorsOnDeleteAreNeverOnChange/Delete", why: "a deletion waits for a change of the spec",
	},
	{
		name: "token-not-kept", in: "flow",
		old:  `if op == s.stored && !s.unsaved ||`,
		new:  `if true ||`,
		test: "flow.TestLongRunning/Polled/stores=false", why: "each pass starts the operation again",
	},
	{
		name: "operation-though-canceled", in: "flow",
		old: `	if err := ctx.Err(); err != nil {
		return s.failed(point`,
		new: `	if err := ctx.Err(); false {
		return s.failed(point`,
		test: "flow.TestCanceled/BeforeApply", why: "operations start while the program shuts down",
	},
	{
		name: "empty-key-applies", in: "flow",
		old:  `if key == "" {`,
		new:  `if false {`,
		test: "flow.TestEmptyKey", why: "a resource is polled with the token of another",
	},
	{
		name: "exists-not-told", in: "flow",
		old:  `s.inSync, s.req.Presence = seen.inSync(), seen.Presence`,
		new:  `s.inSync, s.req.Presence = seen.inSync(), checks.Absent`,
		test: "flow.TestPresence/Present", why: "checks of the resource's state always proceed",
	},
	{
		name: "owner-error-ignored", in: "flow",
		old:  `return s.failed(PointOwner, nil, err)`,
		new:  `return true`,
		test: "flow.TestErrors/Owner", why: "an owner that could not be read is treated as unset",
	},
	{
		name: "retry-after-not-handed-on", in: "flow",
		old:  `severity: c.Severity(), after: c.After(),`,
		new:  `severity: c.Severity(),`,
		test: "flow.TestErrors/Apply", why: "a throttling service is called again too early",
	},
	{
		name: "message-changes-each-pass", in: "flow",
		old:  `message: "the operation is under way in the cloud",`,
		new:  `message: "the operation is under way in the cloud, asked at " + s.r.opt.now().String(),`,
		test: "flow.TestConditionsAreStable", why: "each pass writes the status, which causes the next pass",
	},
	{
		name: "stalled-although-retried", in: "flow.Outcome.Conditions",
		old:  `d.retry == classify.OnChange`,
		new:  `d.retry >= classify.Slow`,
		test: "flow.TestOutcomes/FailedSlow", why: "the condition Stalled is set although the failure is retried",
	},
	{
		name: "blocked-is-written-as-ready", in: "flow.Outcome.Conditions",
		old:  `case d.state == StateReady:`,
		new:  `case d.state == StateReady, d.state == StateBlocked:`,
		test: "flow.TestOutcomes/BlockedSlow", why: "a blocked resource is written as Ready",
	},
	{
		name: "canceled-is-written", in: "flow",
		old:  `return d.keepsStatus && !o.Final() || d.state == StateCanceled`,
		new:  `return d.keepsStatus && !o.Final()`,
		test: "flow.TestOutcomes/Canceled", why: "each shutdown writes a failure to every resource",
	},
	{
		name: "waiting-for-nothing", in: "flow",
		old:  `after: res.After(), refs: res.WaitingFor(),`,
		new:  `after: res.After(),`,
		test: "flow.TestExplain/Blocked", why: "a change of an awaited object wakes no waiter",
	},
	{
		name: "on-change-is-for-ever", in: "flow",
		old:  `return o.Retry() == classify.Never`,
		new:  `return o.Retry() >= classify.OnChange`,
		test: "flow.TestOutcomes/BlockedOnChange", why: "a fatal error is never retried",
	},
	{
		name: "block-described-as-success", in: "flow",
		old:  `return chain.VerdictBlock, d.reason`,
		new:  `return chain.VerdictProceed, d.reason`,
		test: "flow.TestObserver/Stopped", why: "a log line reports a block as a success",
	},
	{
		name: "one-counter-for-all-classes", in: "flow",
		old:  `retry, counter = classify.Fast, countFast`,
		new:  `retry, counter = classify.Fast, countSlow`,
		test: "flow.TestBackoff/Own", why: "many slow failures delay the first fast retry",
	},
	{
		name: "slow-waits-an-hour", in: "flow",
		old: `case o.Retry() == classify.VerySlow:
		return b.atResync()`,
		new: `case o.Retry() >= classify.Slow:
		return b.atResync()`,
		test: "flow.TestBackoff/Slow", why: "a slow retry waits an hour",
	},
	{
		name: "zero-delay", in: "flow",
		old:  `max(shortest, min(floor,`,
		new:  `max(0, min(floor,`,
		test: "flow.TestBackoffSettings/Shortest", why: "a delay of zero loses the requeue or loops",
	},
	{
		name: "delay-not-doubled", in: "flow",
		old: `		d *= 2
`,
		new: `		d += 0
`,
		test: "flow.TestBackoff/Fast", why: "a failing resource is retried every second",
	},
	{
		name: "count-kept-over-a-change-of-the-spec", in: "flow",
		old:  `if f.generation != generation || b.unused(f, now) {`,
		new:  `if b.unused(f, now) {`,
		test: "flow.TestBackoff/AfterSpec", why: "a corrected spec waits for the back-off of the old spec",
	},
	{
		name: "count-kept-after-ready", in: "flow",
		old:  `if (ends && o.State() != StateCanceled || o.State() == StateReady) && b.failures.Len() > 0 {`,
		new:  `if ends && o.State() != StateCanceled && b.failures.Len() > 0 {`,
		test: "flow.TestBackoff/AfterReady", why: "the first failure of a Ready resource waits as long as its last failure before",
	},
	{
		name: "no-backoff-by-default", in: "flow",
		old:  `if r.opt.backoff == nil && !r.opt.stateless {`,
		new:  `if false {`,
		test: "flow.TestDefaultBackoff", why: "a failing resource is retried every second for ever",
	},
	{
		name: "tiny-delay-of-a-server", in: "flow",
		old:  `return max(o.After(), b.least)`,
		new:  `return o.After()`,
		test: "flow.TestGivenDelays/Tiny/Block", why: "a service that requests a millisecond causes a busy loop",
	},
	{
		name: "first-delay-shortened", in: "flow",
		old:  `if d-spread < b.least {`,
		new:  `if false {`,
		test: "flow.TestBackoffJitter", why: "jitter makes a delay shorter than the floor",
	},
	{
		name: "delay-of-centuries", in: "flow",
		old:  `o.Retry() == classify.OnChange, o.After() > b.resync:`,
		new:  `o.Retry() == classify.OnChange:`,
		test: "flow.TestGivenDelays/Never/InProgress", why: "a wrong delay stops the reconciliation of a resource for ever",
	},
	{
		name: "clock-panics", in: "flow",
		old: `		if recover() != nil {
			t = time.Now()
		}
`,
		new:  ``,
		test: "flow.TestBackoffFunctions/Panics", why: "a panic of the clock ends the program",
	},
	{
		name: "negative-delay-not-shown", in: "flow",
		old:  `if after := res.get().after; after < 0 {`,
		new:  `if after := res.get().after; after < 0 && false {`,
		test: "flow.TestTrace/NegativePoll", why: "a negative delay is dropped without a fault",
	},
	{
		name: "fault-of-classifying-not-shown", in: "flow",
		old:  `if fault := res.Fault(); fault != nil {`,
		new:  `if fault := res.Fault(); false {`,
		test: "flow.TestTrace/NegativeRule", why: "no trace shows the fault of a rule",
	},
	{
		name: "negative-delay-of-a-rule-dropped", in: "classify",
		old:  `if after < 0 && d.fault == nil {`,
		new:  `if false {`,
		test: "flow.TestTrace/NegativeRule", why: "a negative delay is dropped without a fault",
	},
	{
		name: "never-times-out", in: "flow",
		old:  `limit - now.Sub(since); o.due <= 0 {`,
		new:  `limit - now.Sub(since); false {`,
		test: "flow.TestReadyTimeoutADay", why: "a resource that cannot become ready is reconciled hundreds of times a day",
	},
	{
		name: "time-out-over-a-change-of-the-spec", in: "flow",
		old:  `w.since.IsZero() || w.generation != generation ||`,
		new:  `w.since.IsZero() ||`,
		test: "flow.TestReadyTimeout/Spec", why: "a corrected spec times out at once",
	},
	{
		name: "time-out-kept-after-ready", in: "flow",
		old: `				r.waits.Delete(r.key(resource))
`,
		new:  ``,
		test: "flow.TestReadyTimeout/Ready", why: "the first block of a Ready resource times out at once",
	},
	{
		name: "time-out-of-a-deletion", in: "flow",
		old:  `case deleting || out.State() == StateReady`,
		new:  `case deleting && false || out.State() == StateReady`,
		test: "flow.TestReadyTimeout/Deleted", why: "a slow deletion is given up",
	},
	{
		name: "time-outs-not-forgotten", in: "flow",
		old:  `return n > manyKeys && now.Sub(w.seen).Abs() > keep }`,
		new:  `return n > manyKeys && now.Sub(w.seen).Abs() > 1000*keep }`,
		test: "flow.TestReadyTimeoutDropsKeys", why: "memory grows with each key that was ever used",
	},
	{
		name: "token-dropped-when-offline", in: "flow",
		old:  `case hasFailedError(err) || req.Errors.Ended(err):`,
		new:  `case err != nil:`,
		test: "flow.TestErrorsWhilePolling/Network/Apply", why: "a failed poll starts a second operation",
	},
	{
		name: "failed-operation-polled-for-ever", in: "flow",
		old:  `case hasFailedError(err) || req.Errors.Ended(err):`,
		new:  `case req.Errors.Ended(err):`,
		test: "flow.TestTokensAndLinks/HidesFailed/inner=false", why: "an operation that failed is never started again",
	},
	{
		name: "ended-operation-polled-for-ever", in: "flow",
		old:  `case hasFailedError(err) || req.Errors.Ended(err):`,
		new:  `case hasFailedError(err):`,
		test: "flow.TestErrorsWhilePolling/Ended/Delete", why: "the flow polls an operation for ever although the reader reports that it ended",
	},
	{
		name: "link-says-failed-and-in-progress", in: "flow",
		old:  ` && !p.inProgress() && hasFailedError(err):`,
		new:  ` && hasFailedError(err):`,
		test: "flow.TestTokensAndLinks/FailedWithInProgress/inner=false", why: "an error of a link drops the token of an operation under way",
	},
	{
		name: "link-cannot-say-failed", in: "flow",
		old:  `n.report != reportedUnderWay && !p.inProgress() && hasFailedError(err):`,
		new:  `false:`,
		test: "flow.TestTokensAndLinks/ReturnsFailed/inner=false", why: "operations that fail without flow.Failed are polled for ever",
	},
	{
		name: "running-operation-said-to-have-failed", in: "flow",
		old:  `n.report != reportedUnderWay && !p.inProgress() && hasFailedError(err):`,
		new:  `hasFailedError(err):`,
		test: "flow.TestTokensAndLinks/ReturnsFailedUnderWay/inner=false", why: "a link drops the token of an operation under way",
	},
	{
		name: "token-lost-when-the-goroutine-ends", in: "flow.sequence.operate",
		old: `	defer s.save(ctx, key)
`,
		new:  ``,
		test: "flow.TestGoexitKeepsTheToken/Link", why: "the operation is started again after runtime.Goexit",
	},
	{
		name: "token-lost-when-keeping-it-ends-the-goroutine", in: "flow",
		old: `	} else {
		r.tokens.Put(`,
		new: `	} else if r.ops.SetToken == nil {
		r.tokens.Put(`,
		test: "flow.TestGoexitKeepsTheToken/SetToken", why: "a Goexit while the token is stored is treated as success",
	},
	{
		name: "secret-token-in-a-condition", in: "flow",
		old:  `if strings.Contains(token, "//") || !plainToken.MatchString(token) {`,
		new:  `if !plainToken.MatchString(token) {`,
		test: "flow.TestTokenInMessage/Host", why: "a condition shows a URL with a signature",
	},
	{
		name: "unbounded-text-of-a-poll", in: "flow",
		old:  `" cannot be polled: " + text.Line(o.message, text.Quote)`,
		new:  `" cannot be polled: " + o.message`,
		test: "flow.TestErrorsWhilePolling/Long/Apply", why: "the error page of a service fills the status and cuts off the advice",
	},
	{
		name: "operation-started-twice", in: "flow",
		old:  `if req.Token != token {`,
		new:  `if false {`,
		test: "flow.TestTokensAndLinks/Twice/inner=false", why: "a link that calls next twice starts a second operation",
	},
	{
		name: "token-lost-at-shutdown", in: "flow",
		old:  `r.ops.SetToken(context.WithoutCancel(ctx), resource`,
		new:  `r.ops.SetToken(ctx, resource`,
		test: "flow.TestTokenIsStoredWhenCanceled", why: "the operation is started again after a restart",
	},
	{
		name: "link-cannot-end-its-operation", in: "flow",
		old:  `case p.IsDone() && n.op.token != "" && !(n.linkOnly() && p.Skipped()):`,
		new:  `case p.IsDone() && n.op.token != "":`,
		test: "flow.TestTokensAndLinks/OwnEnds/inner=false", why: "a resource whose link runs its own operation never becomes Ready",
	},
	{
		name: "delete-token-taken-for-an-apply", in: "flow",
		old:  `token = deletePrefix + token`,
		new:  `_ = token`,
		test: "flow.TestDelete/Polled", why: "the token of a DELETE is polled as a PUT",
	},
	{
		name: "foreign-outcome-passes", in: "flow",
		old:  `case o.o != passOf(ctx).outcome:`,
		new:  `case false:`,
		test: "flow.TestPass/Remembered", why: "a link on Pass returns the outcome of another pass",
	},
	{
		name: "zero-progress-is-done", in: "flow",
		old:  `return nil, refused(at, ErrNoProgress)`,
		new:  `return nil, nil`,
		test: "flow.TestFaultyProgress/Zero", why: "an operation that returns the zero Progress is treated as done",
	},
	{
		name: "done-although-under-way", in: "flow",
		old:  `case p.IsDone() && n.op.token != "" && !(n.linkOnly() && p.Skipped()):`,
		new:  `case false:`,
		test: "flow.TestTokensAndLinks/ReturnsDone/inner=false", why: "a link reports an operation under way as done",
	},
	{
		name: "done-without-the-operation", in: "flow",
		old:  `case p.IsDone() && n.report != reportedDone && !p.Skipped():`,
		new:  `case false:`,
		test: "flow.TestSkipAndDone/DoneWithoutNext/Apply", why: "a link that forgets next makes a resource Ready that was never applied",
	},
	{
		name: "skip-ends-what-is-under-way", in: "flow",
		old:  `case p.IsDone() && n.op.token != "" && !(n.linkOnly() && p.Skipped()):`,
		new:  `case p.IsDone() && !p.Skipped() && n.op.token != "":`,
		test: "flow.TestSkipAndDone/SkipUnderWay/Apply", why: "a skip reports an operation under way as done",
	},
	{
		name: "in-sync-unseen", in: "flow",
		old:  `case o.inSync() && !n.seen:`,
		new:  `case false:`,
		test: "flow.TestGetLinks/InSyncWithoutGet", why: "a link on Get that forgets next makes a resource Ready that was never read",
	},
	{
		name: "negative-delay-of-an-operation", in: "flow",
		old:  `return max(p.get().after, 0)`,
		new:  `return p.get().after`,
		test: "flow.TestProgress", why: "a negative delay loses the requeue",
	},
	{
		name: "keep-last-forgets-since", in: "flow",
		old:  `e.Since = old.Since`,
		new:  `_ = old.Since`,
		test: "flow.TestSince", why: "the explanation of a block starts again in each pass",
	},
	{
		name: "since-kept-though-it-moved", in: "flow",
		old:  `old.Link == e.Link && old.Reason == e.Reason`,
		new:  `true`,
		test: "flow.TestSince", why: "the explanation of a new block has the start of the old one",
	},
	{
		name: "used-key-dropped-first", in: "internal/keyed",
		old: `	m.order.MoveToBack(e)
`,
		new:  ``,
		test: "internal/keyed.TestMap", why: "a resource that is reconciled often loses its explanation to an unused one",
	},
	{
		name: "key-kept-without-a-limit", in: "internal/keyed",
		old: `		m.remove(oldest)
`,
		new: `		break
`,
		test: "internal/keyed.TestMap", why: "memory grows with each key that a check, a back-off or a trace used",
	},
	{
		name: "extend-drops-a-point", in: "flow",
		old:  `joined(PointDeleteCheck, e.DeleteCheck, o.DeleteCheck)`,
		new:  `e.DeleteCheck`,
		test: "flow.TestExtend", why: "Extend drops the links of one extension point",
	},
	{
		name: "observer-can-break-a-pass", in: "flow",
		old:  `if inner = o.Enter(ctx, link); inner == nil || passOf(inner) != p {`,
		new:  `if inner = o.Enter(ctx, link); inner == nil {`,
		test: "flow.TestBrokenObservers/ForeignContext", why: "an observer that replaces the context ends every pass",
	},
	{
		name: "extended-by-itself", in: "flow",
		old:  `if a.Overlaps(b) {`,
		new:  `if false {`,
		test: "flow.TestConvertPanics/Itself", why: "the set-up accepts a base that is extended by itself, whose checks run twice",
	},
	{
		name: "second-registration-wins", in: "flow",
		old:  `if before, ok := r.kinds[folded]; ok {`,
		new:  `if before, ok := r.kinds[folded]; ok && false {`,
		test: "flow.TestRegisterPanics/Twice", why: "a second registration replaces the checks of a kind, without an error",
	},
	{
		name: "misfit-registered", in: "flow",
		old:  `return of.Implements(engine)`,
		new:  `return true`,
		test: "flow.TestRegisterPanics/Type", why: "extensions that can never run are reported at the first resource, not at set-up",
	},
	{
		name: "misspelt-kind-runs-unguarded", in: "flow",
		old: `	case ok && known.kind != kind:
`,
		new: `	case ok && known.kind != kind && false:
`,
		test: "flow.TestForRefuses/Case", why: "a kind in another case runs without its guards",
	},
	{
		name: "unexported-methods-of-two-packages-conflict", in: "flow",
		old:  `ok && m.PkgPath == other.PkgPath && m.Type != other.Type`,
		new:  `ok && (m.PkgPath != other.PkgPath || m.Type != other.Type)`,
		test: "flow.TestRegisterUnexportedMethods", why: "Register refuses an interface that the resources of the engine implement",
	},
	{
		name: "nested-pass-changes-verdicts", in: "flow",
		old: `		if p.on[last] {
`,
		new: `		p.passed.Within(ctx)
		if p.on[last] {
`,
		test: "flow.TestNestedPassKeepsVerdicts", why: "the trace of a link shows what a link of another pass did",
	},
	{
		name: "block-drops-the-token", in: "flow",
		old:  `	if res.Released() {`,
		new:  `	if true {`,
		test: "flow.TestDecisionsAndTokens/Block", why: "an operation under way is started a second time",
	},
	{
		name: "strict-registry-lets-unknown-kinds-run", in: "flow",
		old:  `case !ok && r.Strict:`,
		new:  `case !ok && r.Strict && false:`,
		test: "flow.TestForRefuses/UnknownStrict", why: "an unregistered kind runs without guards",
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
		old:  `engine.OwnerRequest, engine.Presence, engine.Token, engine.Resource = req.OwnerRequest, req.Presence, req.Token, o`,
		new:  `engine.OwnerRequest, engine.Presence, engine.Resource = req.OwnerRequest, req.Presence, o`,
		test: "flow.TestRunnerPassesEverything", why: "a Runner starts the operation again in each pass",
	},
	{
		name: "owner-of-a-link-lost-in-a-runner", in: "flow",
		old:  `engine.OwnerRequest, engine.Presence, engine.Token, engine.Resource = req.OwnerRequest, req.Presence, req.Token, o`,
		new:  `engine.Presence, engine.Token, engine.Resource = req.Presence, req.Token, o`,
		test: "flow.TestRunnerPassesEverything", why: "the operations of a Runner do not see changes by links",
	},
	{
		name: "resource-of-get-lost-in-a-runner", in: "flow",
		old: `		req.Resource = t
`,
		new: `		_ = t
`,
		test: "flow.TestRunnerPassesEverything", why: "checks see the resource as it was before Get",
	},
	{
		name: "request-lost-behind-a-runner", in: "flow",
		old: `		req.OwnerRequest, req.Presence = engine.OwnerRequest, engine.Presence
`,
		new:  ``,
		test: "flow.TestRunnerCopiesTheRequestBack", why: "one operation of a Runner does not see the changes of another",
	},
	{
		name: "decorations-lost-in-silence", in: "flow",
		old:  `	if c.Decorated() {`,
		new:  `	if c.Decorated() && false {`,
		test: "flow.TestConvertPanics/Decorated", why: "Register drops the decorations of a chain, without an error",
	},
	{
		name: "misfits-not-kept", in: "flow",
		old: `		mistyped.explanations = r.explanations
`,
		new:  ``,
		test: "flow.TestWrongType/Another", why: "Explain does not show why a resource of the wrong type fails",
	},
	{
		name: "misfits-not-classified", in: "flow",
		old:  `Extensions[O]{Classify: ext.Classify}`,
		new:  `Extensions[O]{}`,
		test: "flow.TestWrongType/Another", why: "the rules of the kind do not classify all of its errors",
	},
	{
		name: "convert-drops-a-point", in: "flow",
		old: `		DeleteCheck: checks.Convert(ext.DeleteCheck, convert),
`,
		new:  ``,
		test: "flow.TestConvert/Delete", why: "a converted version of a kind loses its delete checks",
	},
	{
		name: "convert-drops-rules", in: "flow",
		old: `		Classify:    ext.Classify,
`,
		new:  ``,
		test: "flow.TestConvert/APIVersion", why: "a converted version of a kind loses its rules for errors",
	},
	{
		name: "convert-drops-links-in-silence", in: "flow",
		old:  `if c.Len() > 0 {`,
		new:  `if c.Len() < 0 {`,
		test: "flow.TestConvertPanics/Apply", why: "a converted version of a kind loses the links around its operations, without an error",
	},
	{
		name: "keys-in-use-swept", in: "flow.Backoff.count",
		old:  `return n > manyKeys && b.unused(f, now)`,
		new:  `return n > manyKeys`,
		test: "flow.TestBackoffSweep/InUse", why: "the back-off does not grow with many resources",
	},
	{
		name: "few-keys-swept", in: "flow.Backoff.count",
		old:  `return n > manyKeys && b.unused(f, now)`,
		new:  `return n > 1 && b.unused(f, now)`,
		test: "flow.TestBackoffSweep/Unused", why: "each pass searches for unused keys",
	},
	{
		name: "keys-never-swept", in: "flow.Backoff.count",
		old:  `return n > manyKeys && b.unused(f, now)`,
		new:  `return false`,
		test: "flow.TestBackoffSweep/Unused", why: "memory grows with each resource that ever existed",
	},
	{
		name: "keys-of-the-future-kept", in: "flow.Backoff.unused",
		old:  `now.Sub(f.seen).Abs() >`,
		new:  `now.Sub(f.seen) >`,
		test: "flow.TestBackoffSweep/YearsBack", why: "unused keys are kept for years after the clock is set back",
	},
	{
		name: "wait-from-the-future", in: "flow.Reconciler.notReadySince",
		old:  `|| w.since.After(now)`,
		new:  ``,
		test: "flow.TestReadyTimeout/FarBack", why: "the time-out comes years late after the clock is set back",
	},
	{
		name: "state-since-after-the-pass", in: "flow.Reconciler.storeExplanation",
		old:  `same && !old.Since.Round(0).After(e.At)`,
		new:  `same`,
		test: "flow.TestSinceIsNotAfterThePass", why: "the explanation shows a state that begins in the future",
	},
	{
		name: "negative-elapsed", in: "flow.tracer.Exit",
		old:  `max(now.Sub(in.at), 0)`,
		new:  `now.Sub(in.at)`,
		test: "flow.TestElapsed", why: "a step has a negative duration if the clock is set back",
	},
}...)

// otherClouds are the fault that an error of polling ends the operation, for
// the errors of each SDK.
func otherClouds() (faults []fault) {
	for _, sdk := range []string{"smithy", "gRPC", "googleapi", "kubernetes", "plain"} {
		for _, point := range []string{"Apply", "Delete"} {
			faults = append(faults, fault{
				name: strings.ToLower("second-operation-" + sdk + "-" + point), in: "flow",
				old:  `case hasFailedError(err) || req.Errors.Ended(err):`,
				new:  `case err != nil:`,
				test: "flow/flowtest.TestOneOperationOnAnyCloud/" + sdk + "/" + point, why: "an error of this SDK starts a second operation",
			})
		}
	}
	return faults
}
