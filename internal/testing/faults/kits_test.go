package faults

var kitFaults = []fault{
	{
		name: "kit-forgets-an-owner-that-is-not-set", in: "checks/checkstest",
		old:  `is("with an owner that no reference names yet", NotSet(cmp.Or(ref.Kind, "Owner")))`,
		new:  `_ = cmp.Or("", NotSet("").Ref.Kind)`,
		test: "checks/checkstest.TestVariants/Root", why: "the kit passes a check that panics for an owner that no reference names yet",
	},
	{
		name: "kit-forgets-typed-nil", in: "checks/checkstest",
		old:  `is("with an owner that is a nil pointer", Ready(ref, reflect.Zero(v.Type()).Interface()))`,
		new:  `_ = ref`,
		test: "checks/checkstest.TestFaults/TypedNilOwner", why: "the kit passes a check that panics for an owner that is a nil pointer",
	},
	{
		name: "kit-forgets-what-changed", in: "checks/checkstest",
		old:  `	e.find(ReadOnly, v, "\n  changes:\n    "+strings.ReplaceAll(diff, "\n", "\n    "), "it changed %s", first)`,
		new:  `	_ = first`,
		test: "checks/checkstest.TestFaults/SetsDefault", why: "the kit passes a check that changes the resource",
	},
	{
		name: "kit-misses-the-law", in: "chain/chaintest",
		old:  `if k.looks(v.law) && (only == 0`,
		new:  `if v.law != NextOnce && k.looks(v.law) && (only == 0`,
		test: "chain/chaintest.TestLawsNoticeFaults/CallsTwice", why: "the kit passes a link that calls next twice",
	},
	{
		name: "kit-compares-the-listing-only", in: "chain/chaintest",
		old:  `if !broken && len(links) > 0 {`,
		new:  `if broken && len(links) > 0 {`,
		test: "chain/chaintest.TestOrder/Strays", why: "a chain may run in another order than it lists",
	},
	{
		name: "kit-misses-other-words", in: "checks/checkstest",
		old:  `o.Applied == p.Applied && reflect.DeepEqual(o.Vocabulary, p.Vocabulary) && reflect.DeepEqual(o.Errors, p.Errors) &&`,
		new:  `o.Applied == p.Applied && reflect.DeepEqual(o.Errors, p.Errors) &&`,
		test: "checks/checkstest.TestFaults/OtherWords", why: "the kit passes a link that hands on another vocabulary",
	},
	{
		name: "kit-tries-before-apply-only", in: "checks/checkstest",
		old:  `add(Decides, "after Apply", func(p parts) { p.owner.Applied = true })`,
		new:  `_ = Decides`,
		test: "checks/checkstest.TestFaults/AppliedPanics", why: "the kit passes a check that panics after Apply",
	},
	{
		name: "kit-hides-the-point", in: "checks/checkstest",
		old:  `line("Applied", v.Applied)`,
		new:  `_ = v.Applied`,
		test: "checks/checkstest.TestShow/Whole", why: "a failure does not show that the request guards Ready",
	},
	{
		name: "kit-lists-checks-only", in: "checks/checkstest",
		old:  `		chaintest.WithComposer(chaintest.Composer[R, checks.Result]{Compose: checks.Compose[R], View: func(req R) any { return viewOf(req) }}))`,
		new:  `		)`,
		test: "checks/checkstest.TestOrder/Checks", why: "the order of a chain of checks is tested up to its first check only",
	},
	{
		name: "kit-misses-a-link-that-never-runs", in: "chain/chaintest",
		old:  `case missing && given:`,
		new:  `case missing && given && stuck:`,
		test: "checks/checkstest.TestOrder/Blocked", why: "the order of links that never run passes its test",
	},
	{
		name: "kit-misses-an-order-that-strays", in: "chain/chaintest",
		old:  `if !inOrder || reached && len(entered) < len(expected) {`,
		new:  `if !inOrder {`,
		test: "checks/checkstest.TestOrder/Strays", why: "a chain of checks runs other links than it lists, and passes its test",
	},
	{
		name: "kit-runs-checks-without-compose", in: "chain/chaintest",
		old:  `checkOf(c.Links()); check != ""`,
		new:  `checkOf(c.Links()[:0]); check != ""`,
		test: "chain/chaintest.TestOrder/Check", why: "a test of the order of checks sees the first check only, and passes",
	},
	{
		name: "kit-draws-no-requests", in: "chain/chaintest",
		old:  `req := r.requests.Draw(rt, "request")`,
		new:  `req := r.requests.Example(r.calls % 5)`,
		test: "chain/chaintest.TestOrderedCalls/Rare", why: "a chain may run in another order for one request of ten",
	},
	{
		name: "kit-passes-rules-about-absent-links", in: "chain/chaintest",
		old:  `if i < 0 && slices.Contains(optional, name) {`,
		new:  `if i < 0 {`,
		test: "chain/chaintest.TestOrder/AbsentOuter", why: "a test of the order passes when the chain loses a link",
	},
	{
		name: "kit-skips-rules-with-optional-links", in: "chain/chaintest",
		old: `names, at = append(names, name), append(at, i)`,
		new: `if !slices.Contains(optional, name) {
			names, at = append(names, name), append(at, i)
		}`,
		test: "chain/chaintest.TestOrder/OptionalIs", why: "an optional link may stand anywhere when the chain has it",
	},
	{
		name: "kit-never-calls-at-the-same-time", in: "chain/chaintest",
		old:  `draws%crowds != 1`,
		new:  `draws%crowds != crowds`,
		test: "chain/chaintest.TestLawsNoticeFaults/SharesTheRequest", why: "the kit passes a link that shares a request between calls",
	},
	{
		name: "kit-never-looks-for-goroutines", in: "chain/chaintest",
		old:  `range leftBehind(k.label, k.moment())`,
		new:  `range leftBehind("none", k.moment())`,
		test: "chain/chaintest.TestLawsNoticeFaults/LeavesAGoroutine", why: "the kit passes a link that leaves goroutines behind",
	},
	{
		name: "kit-lets-a-blocked-pass-begin", in: "flow/flowtest",
		old:  `stopped := p.State == flow.StateBlocked || p.State == flow.StateIgnored ||`,
		new:  `stopped := false &&`,
		test: "flow/flowtest.TestInvariantsNoticeFaults/AppliedThoughBlocked", why: "a flow that applies what is blocked passes its test",
	},
	{
		name: "kit-accepts-a-forgotten-next", in: "checks/checkstest",
		old:  `Refuses: []error{checks.ErrNoDecision, checks.ErrEndNotReached},`,
		new:  `Refuses: []error{checks.ErrNoDecision},`,
		test: "checks/checkstest.TestLaws/Forgets", why: "the kit does not name the link that drops the checks after it for some requests",
	},
	{
		name: "kit-excuses-a-forgotten-next", in: "checks/checkstest",
		old:  `e.findAlways(HandsOn, v, a, `,
		new:  `broken(HandsOn, `,
		test: "checks/checkstest.TestForgetsIsNotExcused", why: "an excuse for a link that calls next twice covers one that forgets next",
	},
	{
		name: "kit-dumps-private-fields", in: "internal/testing/snapshot",
		old:  `!p.public || t.Field(i).IsExported()`,
		new:  `p.public || t.Field(i).IsExported()`,
		test: "chain/chaintest.TestLawsPrint/Request", why: "a failure prints fields that its reader can neither read nor set, or secrets",
	},
	{
		name: "kit-prints-fields-of-results", in: "chain/chaintest",
		old: `	case fmt.Stringer:
		return v.String()
`,
		new:  ``,
		test: "chain/chaintest.TestLawsPrint/String", why: "a failure does not say what was decided",
	},
	{
		name: "kit-makes-other-outcomes", in: "flow/flowtest",
		old:  `case len(o.WaitingFor) > 0:`,
		new:  `case o.Err == nil:`,
		test: "flow/flowtest.TestOutcome/FailedWhole", why: "the test of an engine asks for refs beside an error and gets none",
	},
	{
		name: "kit-makes-impossible-outcomes", in: "flow/flowtest",
		old:  `case len(points) > 0 && !slices.Contains(points, o.Point):`,
		new:  `case len(points) > 1 && points[0] == "":`,
		test: "flow/flowtest.TestOutcomeRefuses/BlockAtGet", why: "the test of an engine gets another outcome than it asks for, without a word",
	},
	{
		name: "kit-ends-an-operation-by-an-error", in: "flow/flowtest",
		old:  `over := err == nil && p.IsDone() || failed || errs.Ended(err)`,
		new:  `over := err != nil || p.IsDone() || failed || errs.Ended(err)`,
		test: "flow/flowtest.TestInvariantsNoticeFaults/BegunAnewAfterAnError", why: "a flow that starts a second operation after a failed poll passes its test",
	},
	{
		name: "kit-wakes-the-finished", in: "flow/flowtest",
		old:  `r.out.WaitsForSelf() && !r.last.Final`,
		new:  `true`,
		test: "flow/flowtest.TestDecided/Denied", why: "a test does not see that a final outcome stays",
	},
	{
		name: "kit-wakes-nobody", in: "flow/flowtest",
		old:  `slices.ContainsFunc(r.last.WaitingFor,`,
		new:  `slices.ContainsFunc(r.last.WaitingFor[:0],`,
		test: "flow/flowtest.TestEngine/Wake", why: "a resource in virtual time sleeps although its awaited object changed",
	},
	{
		name: "kit-reconciles-before-events", in: "flow/flowtest",
		old:  `if o.at < at || !event && o.at == at {`,
		new:  `if o.at < at {`,
		test: "flow/flowtest.TestEngine/Same", why: "a pass does not see what happened at its time",
	},
	{
		name: "kit-turns-time-back", in: "flow/flowtest",
		old:  `return max(at, e.Elapsed()), event, step`,
		new:  `return at, event, step`,
		test: "flow/flowtest.TestEngine/Late", why: "time goes back, and back-off and delays are computed wrongly",
	},
	{
		name: "kit-hides-a-message", in: "flow/flowtest",
		old:  `before.pass.what() == p.what() && before.pass.Ready.Message == p.Ready.Message`,
		new:  `before.pass.Ready.Status == p.Ready.Status`,
		test: "flow/flowtest.TestStory/Messages", why: "a story does not say why a resource is blocked",
	},
	{
		name: "kit-forgets-options", in: "flow/flowtest",
		old:  `append(slices.Clone(w.Options),`,
		new:  `append(slices.Clone(w.Options[:0]),`,
		test: "flow/flowtest.TestOptions/RetryAfterDate", why: "a world cannot read the errors of its cloud, and its delays are lost",
	},
	{
		name: "kit-forgets-the-backoff", in: "flow/flowtest",
		old:  `append([]flow.Option{flow.WithoutBackoff()}, opts...)...`,
		new:  `append(opts[:len(opts):len(opts)], flow.WithoutBackoff())...`,
		test: "flow/flowtest.TestOutcomeOptions", why: "an outcome does not have the delay of the back-off that it was made with",
	},
	{
		name: "kit-blames-its-own-goroutine", in: "chain/chaintest",
		old: `	defer pprof.SetGoroutineLabels(context.Background())
	fn()`,
		new:  `	fn()`,
		test: "chain/chaintest.TestOwnGoroutineIsNotLeft", why: "on a busy machine the kit says that a correct link leaves a goroutine behind",
	},
	{
		name: "kit-blames-its-own-check", in: "checks/checkstest",
		old: `	defer pprof.SetGoroutineLabels(context.Background())
`,
		new:  ``,
		test: "checks/checkstest.TestOwnGoroutineIsNotLeft", why: "on a busy machine the kit says that a correct check leaves a goroutine behind",
	},
	{
		name: "kit-waits-by-the-clock", in: "internal/testing/patience",
		old:  `step, seen := max(d/steps, 1), int64(0)`,
		new:  `step, seen := d, int64(0)`,
		test: "internal/testing/patience.TestWaitCountsSteps/InTime", why: "a busy machine makes a correct link miss a limit of the kits",
	},
	{
		name: "kit-forgets-fields", in: "internal/testing/snapshot",
		old: `for i := range n.kids {
			n.kids[i] = t.take(v.Field(i), depth)`,
		new: `for i := range n.kids {
			n.kids[i] = t.take(v.Field(0), depth)`,
		test: "internal/testing/snapshot.TestDiff", why: "a change of any field but the first goes unnoticed",
	},
}
