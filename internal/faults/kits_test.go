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
		name: "kit-lets-a-blocked-pass-begin", file: "flow/flowtest/invariants.go",
		old:  `if p.State != flow.StateBlocked || p.Point == flow.PointPostCheck {`,
		new:  `if p.State == flow.StateBlocked || p.Point == flow.PointPostCheck {`,
		test: "flow/flowtest.TestInvariantsNoticeFaults/AppliedThoughBlocked", why: "a flow that applies what is blocked passes its test",
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
