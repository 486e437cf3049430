package faults

var ctrlxFaults = []fault{
	{
		name: "changes-while-reading-ignored", file: "ctrlx/internal/index/graph.go",
		old:  `e.run != absent && (e.run != known || e.open > 0 || e.runAs != digest)`,
		new:  `e.run == known && e.open == 0 && e.runAs != digest`,
		test: "ctrlx/internal/index.TestEveryOrder", why: "a change between registering and reading wakes nobody, and a resource waits for ever",
	},
	{
		name: "wait-drops-what-it-keeps", file: "ctrlx/internal/index/pass.go",
		old:  `		e.keep(known, e.runAs)`,
		new:  `		e.endRun()`,
		test: "ctrlx/internal/index.TestEveryOrder", why: "a blocked resource waits for nothing, and is never woken",
	},
	{
		name: "digest-without-the-status", file: "ctrlx/internal/digest/object.go",
		old:  `			h = parts[i].plan.add(h, f)`,
		new:  `			_ = parts[i].plan`,
		test: "ctrlx/internal/digest.TestStatusLeaves", why: "an owner that becomes ready looks as before",
	},
}
