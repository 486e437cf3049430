package faults

var chainFaults = []fault{
	{
		name: "order-reversed", file: "chain/chain.go",
		old:  `for i, e := range slices.Backward(c.links) {`,
		new:  `for i, e := range slices.All(c.links) {`,
		test: "chain.TestHooks/FinallyTwice", why: "the first link is the innermost",
	},
	{
		name: "append-aliases", file: "chain/chain.go",
		old:  `c.links = slices.Concat(c.links, entries("Append", links))`,
		new:  `c.links = append(c.links, entries("Append", links)...)`,
		test: "chain.TestSharedChains/Append", why: "chains that were made of the same one overwrite each other's links",
	},
	{
		name: "extend-aliases", file: "chain/chain.go",
		old: `	c.links = slices.Concat(parts...)
`,
		new: `	for _, part := range parts[1:] {
		c.links = append(c.links, part...)
	}
`,
		test: "chain.TestSharedChains/Extend", why: "chains that were made of the same one overwrite each other's links",
	},
	{
		name: "edit-changes-the-original", file: "chain/edit.go",
		old:  `slices.Concat(c.links[:at+from], added, c.links[at+to:])`,
		new:  `slices.Replace(c.links, at+from, at+to, added...)`,
		test: "chain.TestSharedChains/Replace", why: "who edits a chain for one kind edits it for all",
	},
	{
		name: "extend-drops-links", file: "chain/chain.go",
		old:  `for _, o := range others {`,
		new:  `for _, o := range others[:min(len(others), 1)] {`,
		test: "chain.TestString/Extended", why: "nested chains lose links",
	},
	{
		name: "at-changes-the-original", file: "chain/chain.go",
		old:  `c.links = slices.Clone(c.links)`,
		new:  ``,
		test: "chain.TestAt/Before", why: "naming the point of a chain renames the links of the chain it was made of",
	},
	{
		name: "nil-handler-passes", file: "chain/chain.go",
		old:  `if h = e.link(h); h == nil {`,
		new:  `if h = e.link(h); h == nil && false {`,
		test: "chain.TestSetUpPanics/NilHandler", why: "a link that makes no handler fails at the first request, far from the mistake",
	},
	{
		name: "before-refuses-in-vain", file: "chain/hooks.go",
		old:  `if err := fn(ctx, req); err != nil {`,
		new:  `if err := fn(ctx, req); err != nil && false {`,
		test: "chain.TestHooks/BeforeRefuses", why: "what comes before says no, and the rest runs",
	},
	{
		name: "after-runs-on-error", file: "chain/hooks.go",
		old:  `if err == nil {`,
		new:  `if true {`,
		test: "chain.TestHooks/AfterError", why: "what is for success runs after a failure, and its error hides the first",
	},
	{
		name: "finally-skipped-on-panic", file: "chain/hooks.go",
		old:  `fn(ctx, req, zero, &PanicError{Value: v, Stack: stack.Panic()})`,
		new:  `_ = &PanicError{Value: v, Stack: stack.Panic()}`,
		test: "chain.TestHooks/FinallyPanic", why: "a lock is not given back after a panic",
	},
	{
		name: "finally-swallows-panic", file: "chain/hooks.go",
		old: `		panic(v)
`,
		new: `		err = nil
`,
		test: "chain.TestHooks/FinallyPanic", why: "a panic is taken for the zero result",
	},
	{
		name: "recover-loses-the-error", file: "chain/recover.go",
		old:  `err, _ := e.Value.(error)`,
		new:  `var err error`,
		test: "chain.TestRecover/PanicError", why: "errors.Is does not find what was given to panic",
	},
	{
		name: "deadline-without-a-name", file: "chain/deadline.go",
		old:  `err = &DeadlineError{Link: name, After: d, Err: err}`,
		new:  `_ = name`,
		test: "chain.TestDeadline/OutOfTime", why: "nobody knows whose time ran out",
	},
	{
		name: "deadline-blamed-for-others", file: "chain/deadline.go",
		old:  `context.Cause(ctx) == error(cause) && `,
		new:  ``,
		test: "chain.TestDeadline/Callers", why: "a deadline of the caller's is blamed on a link",
	},
	{
		name: "observer-misses-panics", file: "chain/observe.go",
		old: `	o.Exit(ctx, link, exit)
	if panicked != nil {
`,
		new: `	if panicked == nil {
		o.Exit(ctx, link, exit)
	} else {
`,
		test: "chain.TestExit/Panic", why: "the span of what panicked is never ended",
	},
	{
		name: "verdict-is-always-proceed", file: "chain/observe.go",
		old:  `verdict, reason = d.Describe(link)`,
		new:  `_, reason = d.Describe(link)`,
		test: "chain.TestVerdict/Decided", why: "a log line says that it went on where it was blocked",
	},
	{
		name: "second-observer-replaces-the-first", file: "chain/observe.go",
		old:  `c.layers = append(slices.Clip(c.layers), l)`,
		new:  `c.layers = append(slices.Clip(c.layers[:0]), l)`,
		test: "chain.TestObserversOfNestedChains", why: "who adds an observer silences the others",
	},
	{
		name: "note-reaches-the-last-listener-only", file: "chain/note.go",
		old:  `outer, ok := ctx.Value(noteKey{}).(func(string)); ok {`,
		new:  `outer, ok := ctx.Value(noteKey{}).(func(string)); ok && outer == nil {`,
		test: "chain.TestNote/Two", why: "a remark is lost where two listen",
	},
	{
		name: "names-lost", file: "chain/link.go",
		old:  `return &Link{Name: answer.Name, Source: answer.Source, Tag: answer.Tag}`,
		new:  `return &Link{Name: "chain.Named", Source: answer.Source, Tag: answer.Tag}`,
		test: "chain.TestNameOf/Named", why: "links cannot be told apart, nor edited by name",
	},
	{
		name: "insert-after-inserts-before", file: "chain/edit.go",
		old:  `c.edit("InsertAfter", name, 1, 1, links)`,
		new:  `c.edit("InsertAfter", name, 0, 0, links)`,
		test: "chain.TestEdit/InsertAfter", why: "a link stands on the wrong side of the one it was to follow",
	},
	{
		name: "edit-takes-one-of-two", file: "chain/edit.go",
		old:  `if found != 1 {`,
		new:  `if found == 0 {`,
		test: "chain.TestEdit/Double", why: "of two links of one name the last is edited, and nobody is told",
	},
	{
		name: "when-inverted", file: "chain/when.go",
		old:  `if predicate(ctx, req) {`,
		new:  `if !predicate(ctx, req) {`,
		test: "chain.TestWhen/Holds", why: "a link runs for the requests that it is not for",
	},
	{
		name: "map-loses-names", file: "chain/map.go",
		old:  `links[i] = entry[Req2, Res2]{link: link, meta: e.meta, id: e.id}`,
		new:  `links[i] = entry[Req2, Res2]{link: link, meta: describe(link), id: e.id}`,
		test: "chain.TestMap", why: "converted checks cannot be told apart",
	},
	{
		name: "overlaps-never", file: "chain/map.go",
		old:  `		if in[e.id] {`,
		new:  `		if in[e.id] && false {`,
		test: "chain.TestOverlaps/Itself", why: "extensions that are extended by themselves are not noticed",
	},
}
