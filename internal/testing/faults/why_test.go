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
	{
		name: "root-cause-stays-behind", in: "ctrlx.Reconciler.rootChanged",
		old:  `p.rootChanged`,
		new:  `false`,
		test: "ctrlx.TestRootCause", why: "a far waiter names a missing object for an hour after the object was created and failed",
	},
	{
		name: "root-cause-with-each-state", in: "ctrlx/internal/engine.Engine.rootOf",
		old:  `state = why.Blocked`,
		new:  `_ = why.Blocked`,
		test: "ctrlx.TestRootCauseWrites/Reason", why: "each change of the state of a resource writes the status of its 10,000 waiters",
	},
	{
		name: "root-cause-of-a-restart", in: "ctrlx/internal/engine.Pass.setRoot",
		old:  `w.RootUnknown = !w.RootChanged`,
		new:  `w.RootUnknown = false`,
		test: "ctrlx.TestRootCauseWrites/Restart", why: "after a restart of the operator each waiter writes its status twice",
	},
	{
		name: "root-cause-that-waits", in: "ctrlx/internal/engine.Pass.setRoot",
		old:  `!f.sure`,
		new:  `false`,
		test: "ctrlx.TestRootCauseRestart/Slow", why: "after a restart of the operator a message names a resource that itself waits as the root cause",
	},
	{
		name: "root-cause-without-a-wake-up", in: "ctrlx.Reconciler.record",
		old:  `last == verdict{} && v != last && !p.rootUnknown`,
		new:  `false`,
		test: "ctrlx.TestRootCauseRestart/Slow", why: "after a restart of the operator new waiters never learn the root cause",
	},
	{
		name: "final-root-cause-is-unknown", in: "ctrlx.reporter.Decided",
		old:  `r.conditions.finished(obj)`,
		new:  `false`,
		test: "ctrlx.TestRootCauseRestart/Final", why: "no message names a resource that failed for good as the root cause",
	},
	{
		name: "prefix-of-a-name-counts", in: "ctrlx/internal/engine.names",
		old:  `!endsInName(in[:start]) && !startsInName(strings.TrimLeft(in[end:], "."))`,
		new:  `start <= end`,
		test: "ctrlx.TestRootCauseMessage/OtherName", why: "the message of a waiter of cluster c names c-2 and not the root cause",
	},
	{
		name: "event-without-its-root-cause", in: "ctrlx.shortNote",
		old:  `i >= 0 && len(note)-i <= maxNote-len(end)`,
		new:  `false`,
		test: "ctrlx.TestRootCauseMessage/Long", why: "the note of an event is cut before the root cause",
	},
	{
		name: "ready-passes-are-recorded", in: "ctrlx.Reconciler.record",
		old:  `v != (verdict{}) || last != v`,
		new:  `true`,
		test: "ctrlx.TestLastPasses/Ready", why: "passes that change nothing displace the ones that failed",
	},
	{
		name: "passes-of-all-objects", in: "ctrlx.history.add",
		old:  `len(h.of) < maxHistories`,
		new:  `true`,
		test: "ctrlx.TestLastPassesBounded", why: "the memory of the last passes grows with the number of the objects",
	},
	{
		name: "span-of-another-writer", in: "ctrlx/internal/engine.Spans.changed",
		old:  `old.GetGeneration() == now.GetGeneration()`,
		new:  `true`,
		test: "ctrlx/internal/engine.TestSpans/User", why: "the trace says that a pass woke a waiter, and a user did",
	},
	{
		name: "span-of-an-earlier-pass", in: "ctrlx/internal/engine.Spans.Begin",
		old:  `passSpan{cause: p.next}`,
		new:  `passSpan{cause: p.next, pass: p.pass, open: true}`,
		test: "ctrlx/internal/engine.TestSpans/Unrecorded", why: "a pass links to a pass that did not write the change",
	},
	{
		name: "woken-by-nothing", in: "ctrlx/internal/engine.Engine.wakeFor",
		old:  `e.Spans.woken(w.Waiter, w.By)`,
		new:  `_ = w.By`,
		test: "ctrlx.TestSpanLinks", why: "a trace ends at the first object of a chain",
	},
}
