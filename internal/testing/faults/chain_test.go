package faults

var chainFaults = []fault{
	{
		name: "order-reversed", in: "chain",
		old:  `for i, e := range slices.Backward(c.links) {`,
		new:  `for i, e := range slices.All(c.links) {`,
		test: "chain.TestHooks/FinallyTwice", why: "the first link runs as the innermost",
	},
	{
		name: "append-aliases", in: "chain",
		old:  `c.links = slices.Concat(c.links, entries("Append", links))`,
		new:  `c.links = append(c.links, entries("Append", links)...)`,
		test: "chain.TestSharedChains/Append", why: "two chains that extend the same chain overwrite each other's links",
	},
	{
		name: "extend-aliases", in: "chain",
		old: `	c.links = slices.Concat(parts...)
`,
		new: `	for _, part := range parts[1:] {
		c.links = append(c.links, part...)
	}
`,
		test: "chain.TestSharedChains/Extend", why: "two chains that extend the same chain overwrite each other's links",
	},
	{
		name: "edit-changes-the-original", in: "chain",
		old:  `slices.Concat(c.links[:at+from], added, c.links[at+to:])`,
		new:  `slices.Replace(c.links, at+from, at+to, added...)`,
		test: "chain.TestSharedChains/Replace", why: "an edit of a chain for one kind changes the chain of all kinds",
	},
	{
		name: "extend-drops-links", in: "chain",
		old:  `for _, o := range others {`,
		new:  `for _, o := range others[:min(len(others), 1)] {`,
		test: "chain.TestString/Extended", why: "a nested chain loses links",
	},
	{
		name: "at-changes-the-original", in: "chain",
		old:  `c.links = slices.Clone(c.links)`,
		new:  ``,
		test: "chain.TestAt/Before", why: "At renames the links of the original chain",
	},
	{
		name: "nil-handler-passes", in: "chain",
		old:  `if h = layers.open(e)(h); h == nil {`,
		new:  `if h = layers.open(e)(h); h == nil && false {`,
		test: "chain.TestSetUpPanics/NilHandler", why: "a link that returns no handler fails at the first request, not at set-up",
	},
	{
		name: "before-refuses-in-vain", in: "chain",
		old:  `if err := fn(ctx, req); err != nil {`,
		new:  `if err := fn(ctx, req); err != nil && false {`,
		test: "chain.TestHooks/BeforeRefuses", why: "the inner links run although Before returned an error",
	},
	{
		name: "after-runs-on-error", in: "chain",
		old:  `if err == nil {`,
		new:  `if true {`,
		test: "chain.TestHooks/AfterError", why: "After runs after a failure, and its error hides the first one",
	},
	{
		name: "finally-skipped-on-panic", in: "chain",
		old:  `end.Err = &PanicError{Value: end.Panic, Stack: stack.Panic()}`,
		new:  `return`,
		test: "chain.TestHooks/FinallyPanic", why: "Finally does not release a lock after a panic",
	},
	{
		name: "finally-swallows-panic", in: "internal/run",
		old:  `panic(end.Panic)`,
		new:  `err = nil`,
		test: "chain.TestHooks/FinallyPanic", why: "a panic becomes the zero result",
	},
	{
		name: "recover-loses-the-error", in: "chain",
		old:  `err, _ := e.Value.(error)`,
		new:  `var err error`,
		test: "chain.TestRecover/PanicError", why: "errors.Is does not find the error that was the value of a panic",
	},
	{
		name: "deadline-without-a-name", in: "chain",
		old:  `err = &DeadlineError{Link: name, After: d, Err: err}`,
		new:  `_ = name`,
		test: "chain.TestDeadline/OutOfTime", why: "the error does not name the deadline that expired",
	},
	{
		name: "deadline-blamed-for-others", in: "chain",
		old:  `context.Cause(ctx) == error(cause) && `,
		new:  ``,
		test: "chain.TestDeadline/Callers", why: "the error names a link although the caller's deadline expired",
	},
	{
		name: "observer-misses-panics", in: "internal/run",
		old: `ended(end)
		if end.Panic != nil {`,
		new: `if end.Panic == nil {
			ended(end)
		} else {`,
		test: "chain.TestExit/Panic", why: "the span of a link that panicked is never ended",
	},
	{
		name: "verdict-is-always-proceed", in: "chain",
		old:  `verdict, reason = d.Describe()`,
		new:  `_, reason = d.Describe()`,
		test: "chain.TestVerdict/Decided", why: "a log line reports a block as a proceed",
	},
	{
		name: "second-observer-replaces-the-first", in: "chain",
		old:  `c.layers = append(slices.Clip(c.layers), l)`,
		new:  `c.layers = append(slices.Clip(c.layers[:0]), l)`,
		test: "chain.TestObserversOfNestedChains", why: "a second observer replaces the first one",
	},
	{
		name: "note-reaches-the-last-listener-only", in: "chain",
		old:  `outer, ok := ctx.Value(noteKey{}).(func(string)); ok {`,
		new:  `outer, ok := ctx.Value(noteKey{}).(func(string)); ok && outer == nil {`,
		test: "chain.TestNote/Two", why: "only the last of two observers gets a note",
	},
	{
		name: "names-lost", in: "chain",
		old:  `return &Link{Name: answer.Name, Source: answer.Source, Tag: answer.Tag}`,
		new:  `return &Link{Name: "chain.Named", Source: answer.Source, Tag: answer.Tag}`,
		test: "chain.TestLinks/Named", why: "links lose their names, so a chain cannot be edited by name",
	},
	{
		name: "insert-after-inserts-before", in: "chain",
		old:  `c.edit("InsertAfter", name, 1, 1, links)`,
		new:  `c.edit("InsertAfter", name, 0, 0, links)`,
		test: "chain.TestEdit/InsertAfter", why: "InsertAfter inserts a link before the named one",
	},
	{
		name: "edit-takes-one-of-two", in: "chain",
		old:  `if found != 1 {`,
		new:  `if found == 0 {`,
		test: "chain.TestEdit/Double", why: "an edit changes the last of two links with the same name, without an error",
	},
	{
		name: "when-inverted", in: "chain",
		old:  `if predicate(ctx, req) {`,
		new:  `if !predicate(ctx, req) {`,
		test: "chain.TestWhen/Holds", why: "a link of When runs for the wrong requests",
	},
	{
		name: "map-loses-names", in: "chain",
		old:  `links[i] = entry[Req2, Res2]{link: link, meta: meta, id: e.id}`,
		new:  `links[i] = entry[Req2, Res2]{link: link, meta: describe(link), id: e.id}`,
		test: "chain.TestMap", why: "converted checks lose their names",
	},
	{
		name: "overlaps-never", in: "chain",
		old:  `		if in[e.id] {`,
		new:  `		if in[e.id] && false {`,
		test: "chain.TestOverlaps/Itself", why: "a base that is extended by itself is not refused",
	},
	{
		name: "disabled-observer-is-told", in: "chain",
		old:  `ok && !s.on[n]`,
		new:  `ok && len(s.on) == 0`,
		test: "chain.TestLaws/Telemetry", why: "a disabled observer is called",
	},
	{
		name: "span-does-not-reach-the-link", in: "chain.notifying",
		old:  `inner = &call{ctx, s}`,
		new:  `inner = &call{outer, s}`,
		test: "chain.TestLaws/Telemetry", why: "the spans of inner links have the wrong parent",
	},
	{
		name: "then-composes-in-each-call", in: "chain",
		old:  `	return c.observed(end)`,
		new:  `	return func(ctx context.Context, req Req) (Res, error) { return c.observed(end)(ctx, req) }`,
		test: "chain.TestLaws/ThenIsPure", why: "each call composes the chain again, and constructors of links lose their state",
	},
	{
		name: "chain-swallows-panics", in: "chain",
		old: `	return c.observed(end)`,
		new: `	h := c.observed(end)
	return func(ctx context.Context, req Req) (res Res, err error) {
		defer func() { _ = recover() }()
		return h(ctx, req)
	}`,
		test: "chain.TestLaws/Oracle", why: "the caller gets no error although the work was not done",
	},
	{
		name: "extend-drops-the-last-link", in: "chain",
		old:  `parts = append(parts, o.links)`,
		new:  `parts = append(parts, o.links[:max(len(o.links)-1, 0)])`,
		test: "chain.TestLaws/History", why: "a nested chain loses a check",
	},
	{
		name: "when-drops-links", in: "chain.When",
		old:  `entries("When", links)`,
		new:  `entries("When", links[:1])`,
		test: "chain.TestWhenLaws", why: "the second check of When never runs",
	},
	{
		name: "when-hides-its-links", in: "chain.layers.open",
		old:  `return inside(e.meta, layers[Req, Res]{s.inside, s.inside, s.observers})`,
		new:  `return e.link`,
		test: "chain.TestWhenLaws", why: "no observer sees which link within When blocks",
	},
	{
		name: "decorations-around-links-within", in: "chain.Chain.Decorate",
		old:  `layer[Req, Res]{decorate: decorate}`,
		new:  `layer[Req, Res]{decorate: decorate, inWhen: true}`,
		test: "chain.TestWhenDescribes", why: "a decoration is applied to the links within a link, too",
	},
	{
		name: "disabled-observer-sees-links-within", in: "chain.innerObserver.Enabled",
		old:  `return c.on[o.n]`,
		new:  `return c.on != nil`,
		test: "checks.TestObservedInside", why: "an observer that does not listen is called",
	},
	{
		name: "raw-link-in-when-counts-as-a-check", in: "internal/linktag.Join",
		old:  `its.Raw = its.Raw || !ok`,
		new:  `_ = ok`,
		test: "checks.TestWhenFacts/Raw", why: "a link that wraps next gets a next that does nothing",
	},
	{
		name: "links-within-when-unguarded", in: "chain.Chain.Observe",
		old:  `layer[Req, Res]{decorate.(wrap[Req, Res]), inside, true}`,
		new:  `layer[Req, Res]{decorate.(wrap[Req, Res]), inside, false}`,
		test: "flow.TestTraceOfInnerLinks/When", why: "no trace shows which link within When blocks",
	},
	{
		name: "links-within-checks-unseen", in: "flow",
		old:  `innerObserver{all})`,
		new:  `nil)`,
		test: "flow.TestTraceOfInnerLinks/OnOwner", why: "no trace shows which owner check blocks",
	},
}
