package faults

var whyFaults = []fault{
	{
		name: "each-operation-causes-the-next", in: "ctrlx.pass.missed",
		old:  `slices.ContainsFunc(p.from.Read, func(s readObject) bool { return s.ref() == f.Ref && s.Digest != d })`,
		new:  `!slices.ContainsFunc(p.from.Read, func(s readObject) bool { return s.ref() == f.Ref && s.Digest == d })`,
		test: "ctrlx.TestOperationCausesNoOther/PostCheckStored", why: "a resource that reads an object after an operation began sends PUTs for ever",
	},
	{
		name: "failed-get-follows-nothing", in: "flow.Reconciler.run",
		old: `	if !s.get(ctx) {
		s.followLeftOut(ctx, r.followsOf.pre)
`,
		new: `	if !s.get(ctx) {
`,
		test: "flow.TestFollowing/GetFails", why: "a resource whose Get fails because of a wrong Secret does not notice the corrected one",
	},
	{
		name: "cycle-is-no-cause", in: "flow/why.Graph.ownCause",
		old:  `len(members) > 1`,
		new:  `len(members) > 1 && false`,
		test: "flow/why.TestCause", why: "objects that wait for each other have no root cause",
	},
	{
		name: "operation-before-missing-object", in: "flow/why.Graph.compareSeverity",
		old:  `x.State.Compare(y.State)`,
		new:  `y.State.Compare(x.State)`,
		test: "flow/why.TestCause", why: "the root cause of a resource is an operation that ends by itself, and not the missing object",
	},
	{
		name: "cloud-id-makes-a-second-object", in: "flow/why.key",
		old:  `ref.ID = ""`,
		new:  `_ = ref.ID`,
		test: "flow/why.TestNew/ID", why: "an object that is named with and without its cloud ID is reported twice",
	},
	{
		name: "document-of-any-size", in: "flow/why.Graph.addObjects",
		old:  `len(d.Objects) == maxObjects`,
		new:  `false`,
		test: "flow/why.TestDocumentBounds", why: "the answer of an endpoint grows with the number of the causes",
	},
	{
		name: "tree-with-raw-texts", in: "flow/why.tree.add",
		old:  `text.Line(line, maxLine)`,
		new:  `line`,
		test: "flow/why.TestTreeHostile", why: "a long name fills the terminal",
	},
	{
		name: "page-with-raw-texts", in: "flow/why.safePass",
		old:  `text.Line(*part, maxLine)`,
		new:  `*part`,
		test: "flow/why.TestPageHostile", why: "the error of a cloud brings control characters onto a page",
	},
	{
		name: "other-version-read", in: "flow/why.Read",
		old:  `d.Version != Version`,
		new:  `false`,
		test: "flow/why.TestRead/Later", why: "a program reads a document whose fields have another meaning",
	},
	{
		name: "age-lost-by-a-restart", in: "ctrlx.Reconciler.sinceOf",
		old:  `return c.LastTransitionTime.Time`,
		new:  `return now`,
		test: "ctrlx.TestWhySince/Same", why: "after a restart of the operator no alert says that a resource is stuck for hours",
	},
	{
		name: "newest-resource-is-the-oldest", in: "ctrlx.verdicts.oldest",
		old:  `r.since < at`,
		new:  `r.since > at`,
		test: "ctrlx.TestOldest", why: "a new resource hides one that is stuck for hours",
	},
	{
		name: "claimants-are-a-cycle", in: "ctrlx/internal/index.Index.search",
		old:  `!start.awaits(e.to)`,
		new:  `true`,
		test: "ctrlx/internal/index.TestCycleThroughSets/Competes", why: "three objects that claim one name are reported as a dependency cycle, although the first of them proceeds",
	},
	{
		name: "followed-objects-are-awaited", in: "ctrlx/internal/index.Index.Waits",
		old:  `e.mode&awaits != 0`,
		new:  `true`,
		test: "ctrlx/internal/index.TestWaits", why: "the report says that a blocked resource waits for an object that does not block it",
	},
}
