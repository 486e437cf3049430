package faults

var kitFaults = []fault{
	{
		name: "kit-forgets-an-owner-that-is-not-set", in: "checks/checkstest",
		old:  `is("with an owner that no reference names yet", NotSet(cmp.Or(ref.Kind, "Owner")))`,
		new:  `_ = cmp.Or("", NotSet("").Ref.Kind)`,
		test: "checks/checkstest.TestVariants/Root", why: "the kit accepts a check that panics for an unset owner",
	},
	{
		name: "kit-forgets-typed-nil", in: "checks/checkstest",
		old:  `is("with an owner that is a nil pointer", Ready(ref, reflect.Zero(v.Type()).Interface()))`,
		new:  `_ = ref`,
		test: "checks/checkstest.TestFaults/TypedNilOwner", why: "the kit accepts a check that panics for an owner that is a nil pointer",
	},
	{
		name: "kit-forgets-what-changed", in: "checks/checkstest",
		old:  `	e.find(ReadOnly, v, "\n  changes:\n    "+strings.ReplaceAll(diff, "\n", "\n    "), "it changed %s", first)`,
		new:  `	_ = first`,
		test: "checks/checkstest.TestFaults/SetsDefault", why: "the kit accepts a check that changes the resource",
	},
	{
		name: "kit-misses-the-law", in: "chain/chaintest",
		old:  `if k.tries(v.law) && (only == 0`,
		new:  `if v.law != NextOnce && k.tries(v.law) && (only == 0`,
		test: "chain/chaintest.TestLawsNoticeFaults/CallsTwice", why: "the kit accepts a link that calls next twice",
	},
	{
		name: "kit-compares-the-listing-only", in: "chain/chaintest",
		old:  `if !broken && len(links) > 0 {`,
		new:  `if broken && len(links) > 0 {`,
		test: "chain/chaintest.TestOrder/Strays", why: "the kit accepts a chain that runs in another order than it lists",
	},
	{
		name: "kit-misses-other-words", in: "checks/checkstest",
		old:  `o.Applied == p.Applied && reflect.DeepEqual(o.Vocabulary, p.Vocabulary) && reflect.DeepEqual(o.Errors, p.Errors) &&`,
		new:  `o.Applied == p.Applied && reflect.DeepEqual(o.Errors, p.Errors) &&`,
		test: "checks/checkstest.TestFaults/OtherWords", why: "the kit accepts a link that passes other words for states to next",
	},
	{
		name: "kit-tries-before-apply-only", in: "checks/checkstest",
		old:  `add(Decides, "after Apply", func(p parts) { p.owner.Applied = true })`,
		new:  `_ = Decides`,
		test: "checks/checkstest.TestFaults/AppliedPanics", why: "the kit accepts a check that panics after Apply",
	},
	{
		name: "kit-hides-the-point", in: "checks/checkstest",
		old:  `line("Applied", v.Applied)`,
		new:  `_ = v.Applied`,
		test: "checks/checkstest.TestShow/Whole", why: "a failure does not show that the request is one of PostCheck",
	},
	{
		name: "kit-lists-checks-only", in: "checks/checkstest",
		old:  `		chaintest.WithComposer(chaintest.Composer[R, checks.Result]{Compose: checks.Compose[R], View: func(req R) any { return viewOf(req) }}))`,
		new:  `		)`,
		test: "checks/checkstest.TestOrder/Checks", why: "the kit tests the order of a chain only up to its first check",
	},
	{
		name: "kit-misses-a-link-that-never-runs", in: "chain/chaintest",
		old:  `case missing && given:`,
		new:  `case missing && given && stuck:`,
		test: "checks/checkstest.TestOrder/Blocked", why: "the kit accepts an order of links that never run",
	},
	{
		name: "kit-misses-an-order-that-strays", in: "chain/chaintest",
		old:  `if !inOrder || reached && len(entered) < len(expected) {`,
		new:  `if !inOrder {`,
		test: "checks/checkstest.TestOrder/Strays", why: "the kit accepts a chain of checks that runs other links than it lists",
	},
	{
		name: "kit-runs-checks-without-compose", in: "chain/chaintest",
		old:  `checkOf(c.Links()); check != ""`,
		new:  `checkOf(c.Links()[:0]); check != ""`,
		test: "chain/chaintest.TestOrder/Check", why: "the kit tests only the first check of a chain",
	},
	{
		name: "kit-draws-no-requests", in: "chain/chaintest",
		old:  `req := r.requests.Draw(rt, "request")`,
		new:  `req := r.requests.Example(r.calls % 5)`,
		test: "chain/chaintest.TestOrderedCalls/Rare", why: "the kit accepts a chain that runs in another order for some requests",
	},
	{
		name: "kit-passes-rules-about-absent-links", in: "chain/chaintest",
		old:  `if i < 0 && slices.Contains(optional, name) {`,
		new:  `if i < 0 {`,
		test: "chain/chaintest.TestOrder/AbsentOuter", why: "the kit accepts a chain that lacks a required link",
	},
	{
		name: "kit-skips-rules-with-optional-links", in: "chain/chaintest",
		old: `names, at = append(names, name), append(at, i)`,
		new: `if !slices.Contains(optional, name) {
			names, at = append(names, name), append(at, i)
		}`,
		test: "chain/chaintest.TestOrder/OptionalIs", why: "the kit accepts an optional link at any place",
	},
	{
		name: "kit-never-calls-at-the-same-time", in: "chain/chaintest",
		old:  `draws%every != 1`,
		new:  `draws%every != every`,
		test: "chain/chaintest.TestLawsNoticeFaults/SharesTheRequest", why: "the kit accepts a link that shares a request between calls",
	},
	{
		name: "kit-never-looks-for-goroutines", in: "chain/chaintest",
		old:  `range leftovers(k.label, k.moment())`,
		new:  `range leftovers("none", k.moment())`,
		test: "chain/chaintest.TestLawsNoticeFaults/LeavesAGoroutine", why: "the kit accepts a link that leaks goroutines",
	},
	{
		name: "kit-lets-a-blocked-pass-begin", in: "flow/flowtest",
		old:  `stopped := p.State == flow.StateBlocked || p.State == flow.StateIgnored ||`,
		new:  `stopped := false &&`,
		test: "flow/flowtest.TestInvariantsNoticeFaults/AppliedThoughBlocked", why: "the kit accepts a flow that applies a blocked resource",
	},
	{
		name: "kit-accepts-a-forgotten-next", in: "checks/checkstest",
		old:  `Refuses: []error{checks.ErrNoDecision, checks.ErrEndNotReached},`,
		new:  `Refuses: []error{checks.ErrNoDecision},`,
		test: "checks/checkstest.TestLaws/Forgets", why: "the kit does not name the link that skips the inner checks for some requests",
	},
	{
		name: "kit-excuses-a-forgotten-next", in: "checks/checkstest",
		old:  `e.findAlways(HandsOn, v, a, `,
		new:  `broken(HandsOn, `,
		test: "checks/checkstest.TestForgetsIsNotExcused", why: "the exception for a link that calls next twice also permits a forgotten next",
	},
	{
		name: "kit-dumps-private-fields", in: "internal/testing/snapshot",
		old:  `!p.public || t.Field(i).IsExported()`,
		new:  `p.public || t.Field(i).IsExported()`,
		test: "chain/chaintest.TestLawsPrint/Request", why: "a failure prints private fields, which may be secret",
	},
	{
		name: "kit-prints-fields-of-results", in: "chain/chaintest",
		old: `	case fmt.Stringer:
		return v.String()
`,
		new:  ``,
		test: "chain/chaintest.TestLawsPrint/String", why: "a failure does not show the verdict",
	},
	{
		name: "kit-makes-other-outcomes", in: "flow/flowtest",
		old:  `case len(o.WaitingFor) > 0:`,
		new:  `case o.Err == nil:`,
		test: "flow/flowtest.TestOutcome/FailedWhole", why: "the kit drops the refs of an error",
	},
	{
		name: "kit-makes-impossible-outcomes", in: "flow/flowtest",
		old:  `case len(points) > 0 && !slices.Contains(points, o.Point):`,
		new:  `case len(points) > 1 && points[0] == "":`,
		test: "flow/flowtest.TestOutcomeRefuses/BlockAtGet", why: "the kit makes another outcome than the test requests, without an error",
	},
	{
		name: "kit-ends-an-operation-by-an-error", in: "flow/flowtest",
		old:  `over := err == nil && p.IsDone() || failed || errs.Ended(err)`,
		new:  `over := err != nil || p.IsDone() || failed || errs.Ended(err)`,
		test: "flow/flowtest.TestInvariantsNoticeFaults/BegunAnewAfterAnError", why: "the kit accepts a flow that starts a second operation after a failed poll",
	},
	{
		name: "kit-wakes-the-finished", in: "flow/flowtest",
		old:  `r.out.WaitsForSelf() && !r.last.Final`,
		new:  `true`,
		test: "flow/flowtest.TestDecided/Denied", why: "the kit wakes a resource with a final outcome",
	},
	{
		name: "kit-wakes-no-followers", in: "flow/flowtest",
		old:  ` || slices.ContainsFunc(r.last.Following, changed)`,
		new:  ``,
		test: "flow/flowtest.TestSets/FollowsObject", why: "the kit does not show that a rotated Secret starts a pass",
	},
	{
		name: "kit-wakes-only-for-whole-sets", in: "flow/flowtest",
		old:  `refs: []checks.Ref{q.Ref(), names.Ref()}`,
		new:  `refs: []checks.Ref{q.Ref(), q.Ref()}`,
		test: "flow/flowtest.TestSets/WaitsForSet", why: "the kit does not wake a deletion that waits for its last user",
	},
	{
		name: "kit-never-cancels-a-lister", in: "checks/checkstest",
		old:  `if list := o.Lister; list != nil {`,
		new:  `if list := o.Lister; list != nil && false {`,
		test: "checks/checkstest.TestFaults/OtherContextOfLister", why: "the kit accepts a check that lists without its context",
	},
	{
		name: "kit-wakes-nobody", in: "flow/flowtest",
		old:  `slices.ContainsFunc(r.last.WaitingFor,`,
		new:  `slices.ContainsFunc(r.last.WaitingFor[:0],`,
		test: "flow/flowtest.TestEngine/Wake", why: "the kit does not wake a resource when its awaited object changes",
	},
	{
		name: "kit-reconciles-before-events", in: "flow/flowtest",
		old:  `if o.at < at || !event && o.at == at {`,
		new:  `if o.at < at {`,
		test: "flow/flowtest.TestEngine/Same", why: "a pass does not see the events of its time",
	},
	{
		name: "kit-turns-time-back", in: "flow/flowtest",
		old:  `return max(at, e.Elapsed()), event, step`,
		new:  `return at, event, step`,
		test: "flow/flowtest.TestEngine/Late", why: "the virtual clock goes back, and delays are wrong",
	},
	{
		name: "kit-hides-a-message", in: "flow/flowtest",
		old:  `before.pass.what() == p.what() && before.pass.Ready.Message == p.Ready.Message`,
		new:  `before.pass.Ready.Status == p.Ready.Status`,
		test: "flow/flowtest.TestStory/Messages", why: "the printed passes do not show why a resource is blocked",
	},
	{
		name: "kit-forgets-options", in: "flow/flowtest",
		old:  `append(slices.Clone(w.Options),`,
		new:  `append(slices.Clone(w.Options[:0]),`,
		test: "flow/flowtest.TestOptions/RetryAfterDate", why: "the kit ignores the reader of errors, and the delays of the cloud are lost",
	},
	{
		name: "kit-forgets-the-backoff", in: "flow/flowtest",
		old:  `append([]flow.Option{flow.WithoutBackoff()}, opts...)...`,
		new:  `append(opts[:len(opts):len(opts)], flow.WithoutBackoff())...`,
		test: "flow/flowtest.TestOutcomeOptions", why: "an outcome has no delay although the kit was given a back-off",
	},
	{
		name: "kit-blames-its-own-goroutine", in: "chain/chaintest",
		old: `	defer pprof.SetGoroutineLabels(context.Background())
	fn()`,
		new:  `	fn()`,
		test: "chain/chaintest.TestOwnGoroutineIsNotLeft", why: "the kit reports a leaked goroutine for a correct link on a busy machine",
	},
	{
		name: "kit-blames-its-own-check", in: "checks/checkstest",
		old: `	defer pprof.SetGoroutineLabels(context.Background())
`,
		new:  ``,
		test: "checks/checkstest.TestOwnGoroutineIsNotLeft", why: "the kit reports a leaked goroutine for a correct check on a busy machine",
	},
	{
		name: "kit-waits-by-the-clock", in: "internal/testing/patience",
		old:  `step, seen := max(d/steps, 1), int64(0)`,
		new:  `step, seen := d, int64(0)`,
		test: "internal/testing/patience.TestWaitCountsSteps/InTime", why: "the kit reports a time-out for a correct link on a busy machine",
	},
	{
		name: "kit-forgets-fields", in: "internal/testing/snapshot",
		old: `for i := range n.children {
			n.children[i] = t.take(v.Field(i), depth)`,
		new: `for i := range n.children {
			n.children[i] = t.take(v.Field(0), depth)`,
		test: "internal/testing/snapshot.TestDiff", why: "the kit does not notice a change of any field after the first",
	},
}
