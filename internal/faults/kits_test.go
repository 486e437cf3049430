package faults

var kitFaults = []fault{
	{
		name: "kit-forgets-typed-nil", file: "checks/checkstest/variants.go",
		old:  `is("with an owner that is a nil pointer", Ready(ref, reflect.Zero(v.Type()).Interface()))`,
		new:  `_ = ref`,
		test: "checks/checkstest.TestFaults/TypedNilOwner", why: "the kit passes a check that panics for an owner that is a nil pointer",
	},
	{
		name: "kit-forgets-what-changed", file: "checks/checkstest/examine.go",
		old:  `	e.find(ReadOnly, v, "\n  changes:\n    "+strings.ReplaceAll(diff, "\n", "\n    "), "it changed %s", first)`,
		new:  `	_ = first`,
		test: "checks/checkstest.TestFaults/SetsDefault", why: "the kit passes a check that changes the resource",
	},
	{
		name: "kit-misses-the-law", file: "chain/chaintest/check.go",
		old:  `if v.law == l && k.holds(l, v.link) && !k.excused(l, v.link) {`,
		new:  `if v.law == l && l != NextOnce && k.holds(l, v.link) && !k.excused(l, v.link) {`,
		test: "chain/chaintest.TestLawsNoticeFaults/CallsTwice", why: "the kit passes a link that calls next twice",
	},
	{
		name: "kit-compares-the-listing-only", file: "chain/chaintest/order.go",
		old:  `runs(t, "Order", c)`,
		new:  `_ = runs[Req, Res]`,
		test: "chain/chaintest.TestOrder/Strays", why: "a chain may run in another order than it lists",
	},
	{
		name: "kit-misses-other-words", file: "checks/checkstest/parts.go",
		old:  `o.Applied == p.Applied && reflect.DeepEqual(o.Vocabulary, p.Vocabulary) && reflect.DeepEqual(o.Errors, p.Errors) &&`,
		new:  `o.Applied == p.Applied && reflect.DeepEqual(o.Errors, p.Errors) &&`,
		test: "checks/checkstest.TestFaults/OtherWords", why: "the kit passes a link that hands on another vocabulary",
	},
	{
		name: "kit-tries-before-apply-only", file: "checks/checkstest/variants.go",
		old:  `add(Decides, "after Apply", func(p parts) { p.owner.Applied = true })`,
		new:  `_ = Decides`,
		test: "checks/checkstest.TestFaults/AppliedPanics", why: "the kit passes a check that panics after Apply",
	},
	{
		name: "kit-hides-the-point", file: "checks/checkstest/show.go",
		old:  `line("Applied", v.Applied)`,
		new:  `_ = v.Applied`,
		test: "checks/checkstest.TestShow/Whole", why: "a failure does not show that the request guards Ready",
	},
	{
		name: "kit-lists-checks-only", file: "checks/checkstest/order.go",
		old:  `		chaintest.ComposedBy(chaintest.Composer[R, checks.Result]{Compose: checks.Compose[R]}))`,
		new:  `		)`,
		test: "checks/checkstest.TestOrder/Checks", why: "the order of a chain of checks is tested up to its first check only",
	},
	{
		name: "kit-misses-a-link-that-never-runs", file: "chain/chaintest/order.go",
		old:  `if r.run(t, "Runs", 100) && r.most < len(names) {`,
		new:  `if !r.run(t, "Runs", 100) && r.most < len(names) {`,
		test: "checks/checkstest.TestOrder/Blocked", why: "the order of links that never run passes its test",
	},
	{
		name: "kit-misses-an-order-that-strays", file: "chain/chaintest/order.go",
		old:  `if !inOrder || reached && len(entered) < len(expected) {`,
		new:  `if !inOrder {`,
		test: "checks/checkstest.TestOrder/Strays", why: "a chain of checks runs other links than it lists, and passes its test",
	},
	{
		name: "kit-runs-checks-without-compose", file: "chain/chaintest/order.go",
		old:  `checkOf(c.Links()); check != ""`,
		new:  `checkOf(c.Links()[:0]); check != ""`,
		test: "chain/chaintest.TestOrder/Check", why: "a test of the order of checks sees the first check only, and passes",
	},
	{
		name: "kit-lets-a-blocked-pass-begin", file: "flow/flowtest/invariants.go",
		old:  `if p.State != flow.StateBlocked || p.Point == flow.PointPostCheck {`,
		new:  `if p.State == flow.StateBlocked || p.Point == flow.PointPostCheck {`,
		test: "flow/flowtest.TestInvariantsNoticeFaults/AppliedThoughBlocked", why: "a flow that applies what is blocked passes its test",
	},
	{
		name: "kit-accepts-a-forgotten-next", file: "checks/checkstest/laws.go",
		old:  `Refuses: []error{checks.ErrNoDecision, checks.ErrEndNotReached},`,
		new:  `Refuses: []error{checks.ErrNoDecision},`,
		test: "checks/checkstest.TestLaws/Forgets", why: "the kit does not name the link that drops the checks after it for some requests",
	},
	{
		name: "kit-excuses-a-forgotten-next", file: "checks/checkstest/examine.go",
		old:  `e.never(HandsOn, v, a, `,
		new:  `broken(HandsOn, `,
		test: "checks/checkstest.TestForgetsIsNotExcused", why: "an excuse for a link that calls next twice covers one that forgets next",
	},
	{
		name: "kit-dumps-private-fields", file: "internal/snapshot/print.go",
		old:  `!p.public || t.Field(i).IsExported()`,
		new:  `p.public || t.Field(i).IsExported()`,
		test: "chain/chaintest.TestLawsPrint/Request", why: "a failure prints fields that its reader can neither read nor set, or secrets",
	},
	{
		name: "kit-prints-fields-of-results", file: "chain/chaintest/kit.go",
		old: `	case fmt.Stringer:
		return v.String()
`,
		new:  ``,
		test: "chain/chaintest.TestLawsPrint/String", why: "a failure does not say what was decided",
	},
	{
		name: "kit-makes-other-outcomes", file: "flow/flowtest/outcome.go",
		old:  `case len(o.WaitingFor) > 0:`,
		new:  `case o.Err == nil:`,
		test: "flow/flowtest.TestOutcome/FailedWhole", why: "the test of an engine asks for refs beside an error and gets none",
	},
	{
		name: "kit-makes-impossible-outcomes", file: "flow/flowtest/outcome.go",
		old:  `case len(points) > 0 && !slices.Contains(points, o.Point):`,
		new:  `case len(points) > 1 && points[0] == "":`,
		test: "flow/flowtest.TestOutcomeRefuses/BlockAtGet", why: "the test of an engine gets another outcome than it asks for, without a word",
	},
	{
		name: "kit-ends-an-operation-by-an-error", file: "flow/flowtest/stage.go",
		old:  `over := err == nil && p.IsDone() || failed || errs.Ended(err)`,
		new:  `over := err != nil || p.IsDone() || failed || errs.Ended(err)`,
		test: "flow/flowtest.TestInvariantsNoticeFaults/BegunAnewAfterAnError", why: "a flow that starts a second operation after a failed poll passes its test",
	},
	{
		name: "kit-forgets-options", file: "flow/flowtest/world.go",
		old:  `append(slices.Clone(w.Options),`,
		new:  `append(slices.Clone(w.Options[:0]),`,
		test: "flow/flowtest.TestOptions/RetryAfterDate", why: "a world cannot read the errors of its cloud, and its delays are lost",
	},
	{
		name: "kit-forgets-the-backoff", file: "flow/flowtest/outcome.go",
		old:  `append([]flow.Option{flow.WithoutBackoff()}, opts...)...`,
		new:  `append(opts[:len(opts):len(opts)], flow.WithoutBackoff())...`,
		test: "flow/flowtest.TestOutcomeOptions", why: "an outcome does not have the delay of the back-off that it was made with",
	},
	{
		name: "kit-blames-its-own-goroutine", file: "chain/chaintest/kit.go",
		old: `	defer pprof.SetGoroutineLabels(context.Background())
	fn()`,
		new:  `	fn()`,
		test: "chain/chaintest.TestOwnGoroutineIsNotLeft", why: "on a busy machine the kit says that a correct link leaves a goroutine behind",
	},
	{
		name: "kit-blames-its-own-check", file: "checks/checkstest/watch.go",
		old: `	defer pprof.SetGoroutineLabels(context.Background())
`,
		new:  ``,
		test: "checks/checkstest.TestOwnGoroutineIsNotLeft", why: "on a busy machine the kit says that a correct check leaves a goroutine behind",
	},
	{
		name: "kit-waits-by-the-clock", file: "internal/patience/patience.go",
		old:  `step, seen := max(d/steps, 1), int64(0)`,
		new:  `step, seen := d, int64(0)`,
		test: "internal/patience.TestWaitCountsSteps/InTime", why: "a busy machine makes a correct link miss a limit of the kits",
	},
	{
		name: "kit-forgets-fields", file: "internal/snapshot/take.go",
		old: `for i := range n.kids {
			n.kids[i] = t.take(v.Field(i), depth)`,
		new: `for i := range n.kids {
			n.kids[i] = t.take(v.Field(0), depth)`,
		test: "internal/snapshot.TestDiff", why: "a change of any field but the first goes unnoticed",
	},
}
