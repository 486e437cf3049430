package chain_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/falsify"
	"pgregory.net/rapid"
)

// A law that no implementation breaks proves nothing. Here are implementations with one fault each, most of them found
// in libraries that people use, and for each the laws that notice it.

// toy is a small implementation of chains.
type toy struct {
	links []link
	memo  *memo // for faults
}

type memo struct {
	end     handler
	handler handler
	nested  bool
}

func newToy(links []link) toy { return toy{links, &memo{}} }

// sound is a toy without a fault. Its Then can be given its parts: how links are composed around an end.
func sound() algebra[toy] {
	return algebra[toy]{
		New:    func(links ...link) toy { return newToy(slices.Clone(links)) },
		Append: func(c toy, links ...link) toy { return newToy(slices.Concat(c.links, links)) },
		Extend: func(c toy, others ...toy) toy {
			for _, o := range others {
				c.links = slices.Concat(c.links, o.links)
			}
			return newToy(c.links)
		},
		Then: func(c toy, end handler) handler { return compose(c.links, end) },
	}
}

func compose(links []link, end handler) handler {
	for _, l := range slices.Backward(links) {
		end = l(end)
	}
	return end
}

// A fault is put into a sound toy by replacing one operation.
var faults = map[string]struct {
	reason  string
	inject  func(*algebra[toy])
	noticed []string
}{
	"None": {
		reason: "laws that a sound implementation breaks would be no laws",
		inject: func(*algebra[toy]) {},
	},
	"NewKeepsSlice": {
		reason:  "New that does not copy lets its caller change the chain, as in go-kit",
		inject:  func(a *algebra[toy]) { a.New = func(links ...link) toy { return newToy(links) } },
		noticed: []string{"Immutability"},
	},
	"AppendAliases": {
		reason: "append writes into spare capacity that a sibling uses too, as with chi's slices",
		inject: func(a *algebra[toy]) {
			a.Append = func(c toy, links ...link) toy { return newToy(append(c.links, links...)) }
		},
		noticed: []string{"Immutability"},
	},
	"NestedForgets": {
		reason: "a chain of chains that drops what follows runs fewer checks than it lists, as in controller-idioms",
		inject: func(a *algebra[toy]) {
			extend, add := a.Extend, a.Append
			a.Extend = func(c toy, others ...toy) toy {
				c = extend(c, others...)
				c.memo.nested = len(others) > 0
				return c
			}
			a.Append = func(c toy, links ...link) toy {
				if c.memo != nil && c.memo.nested {
					return c
				}
				return add(c, links...)
			}
		},
		noticed: []string{"Associativity", "Immutability"},
	},
	"EndIsStored": {
		reason: "an end kept in the chain is that of the latest Then for all handlers, as in smithy-go",
		inject: func(a *algebra[toy]) {
			a.Then = func(c toy, end handler) handler {
				if c.memo == nil {
					return end
				}
				c.memo.end = end
				return compose(c.links, func(ctx context.Context, req request) (string, error) { return c.memo.end(ctx, req) })
			}
		},
		noticed: []string{"ThenIsPure", "Reentrancy"},
	},
	"HandlerIsStored": {
		reason: "a Then that hands out what it composed first ignores its end, as a middleware that returns the same pointer does",
		inject: func(a *algebra[toy]) {
			a.Then = func(c toy, end handler) handler {
				if c.memo == nil {
					return end
				}
				if c.memo.handler == nil {
					c.memo.handler = compose(c.links, end)
				}
				return c.memo.handler
			}
		},
		noticed: []string{"ThenIsPure", "Reentrancy"},
	},
	"ThenReverses": {
		reason: "a Then that reverses its slice in place is right every other time, as in smithy-typescript",
		inject: func(a *algebra[toy]) {
			a.Then = func(c toy, end handler) handler {
				slices.Reverse(c.links)
				for _, l := range c.links {
					end = l(end)
				}
				return end
			}
		},
		noticed: []string{"Immutability", "ThenIsPure", "Reentrancy"},
	},
	"InnermostFirst": {
		reason: "a Then that goes forward makes the last link the outermost",
		inject: func(a *algebra[toy]) {
			a.Then = func(c toy, end handler) handler {
				for _, l := range c.links {
					end = l(end)
				}
				return end
			}
		},
		noticed: []string{"Oracle", "Identity", "Associativity", "ShortCircuit", "NextIsAValue", "Panics", "Context"},
	},
	"OneCursor": {
		reason: "an index for each call makes a link that retries skip all behind it, as once in grpc-go",
		inject: func(a *algebra[toy]) {
			a.Then = func(c toy, end handler) handler {
				return func(ctx context.Context, req request) (string, error) {
					at := 0
					var next handler
					next = func(ctx context.Context, req request) (string, error) {
						if at == len(c.links) {
							return end(ctx, req)
						}
						at++
						return c.links[at-1](next)(ctx, req)
					}
					return next(ctx, req)
				}
			}
		},
		noticed: []string{"Oracle", "NextIsAValue"},
	},
	"ContextIsLost": {
		reason: "links that all get the context of the call cannot put anything into it",
		inject: func(a *algebra[toy]) {
			a.Then = func(c toy, end handler) handler {
				return func(ctx context.Context, req request) (string, error) {
					h := end
					for _, l := range slices.Backward(c.links) {
						next := h
						h = l(func(_ context.Context, req request) (string, error) { return next(ctx, req) })
					}
					return h(ctx, req)
				}
			}
		},
		noticed: []string{"Oracle", "Context"},
	},
	"PanicIsSwallowed": {
		reason: "a chain that recovers by itself hides from its caller that the work was not done",
		inject: func(a *algebra[toy]) {
			a.Then = func(c toy, end handler) handler {
				h := compose(c.links, end)
				return func(ctx context.Context, req request) (res string, err error) {
					defer func() { _ = recover() }()
					return h(ctx, req)
				}
			}
		},
		noticed: []string{"Oracle", "Panics"},
	},
	"ErrorIsReplaced": {
		reason: "an error that is not the one the link returned cannot be tested for",
		inject: func(a *algebra[toy]) {
			a.Then = func(c toy, end handler) handler {
				h := compose(c.links, end)
				return func(ctx context.Context, req request) (string, error) {
					res, err := h(ctx, req)
					if err != nil {
						err = errors.New(err.Error())
					}
					return res, err
				}
			}
		},
		noticed: []string{"Oracle", "ShortCircuit", "Panics"},
	},
}

func TestLawsNoticeFaults(t *testing.T) {
	for name, tc := range faults {
		t.Run(name, func(t *testing.T) {
			a := sound()
			tc.inject(&a)
			mustNotice(t, a, tc.reason, tc.noticed)
		})
	}
}

// What a toy does not have, observers and names, is tried with faults in the real chain.
var realFaults = map[string]struct {
	reason  string
	inject  func(*algebra[links])
	noticed []string
}{
	"None": {
		reason: "the chain of this package keeps all laws",
		inject: func(*algebra[links]) {},
	},
	"ExitIsNotDeferred": {
		reason:  "an observer that is not told of the end of a link that panics never ends its span",
		inject:  observing(func(o chain.Observer) chain.Observer { return noPanics{o} }),
		noticed: []string{"Telemetry"},
	},
	"ObserverIsNotAsked": {
		reason:  "an observer that is disabled must not be told of links",
		inject:  observing(func(o chain.Observer) chain.Observer { return alwaysOn{o} }),
		noticed: []string{"Immutability", "Telemetry"},
	},
	"SpanDoesNotReachLink": {
		reason:  "a span that its link does not see cannot be the parent of those behind it",
		inject:  observing(func(o chain.Observer) chain.Observer { return sameContext{o} }),
		noticed: []string{"Telemetry"},
	},
	"EnteredTwice": {
		reason:  "a link that is entered once has one span",
		inject:  observing(func(o chain.Observer) chain.Observer { return twiceEntered{o} }),
		noticed: []string{"Immutability", "Telemetry"},
	},
	"ObservedSwallowsPanic": {
		reason: "telemetry changes nothing, least of all whether there was a panic",
		inject: func(a *algebra[links]) {
			a.Observe = func(c links, o chain.Observer) links {
				return c.Observe(o).Decorate(func(_ *chain.Link, h handler) handler {
					return func(ctx context.Context, req request) (string, error) {
						defer func() { _ = recover() }()
						return h(ctx, req)
					}
				})
			}
		},
		noticed: []string{"Telemetry"},
	},
	"OnlyLastObserver": {
		reason: "observing twice means both",
		inject: func(a *algebra[links]) {
			a.Observe = func(c links, o chain.Observer) links { return links{}.Extend(c).Observe(o) }
		},
		noticed: []string{"Immutability", "Telemetry"},
	},
	"NamesAreSorted": {
		reason: "the order of names is the order of entry",
		inject: func(a *algebra[links]) {
			a.Links = func(c links) []chain.Link {
				list := c.Links()
				slices.Reverse(list)
				return list
			}
		},
		noticed: []string{"Names"},
	},
	"InsertsOnWrongSide": {
		reason:  "what is inserted before a link guards it, and behind it does not",
		inject:  func(a *algebra[links]) { a.InsertBefore = links.InsertAfter },
		noticed: []string{"Immutability", "Names"},
	},
	"EditsAnyway": {
		reason: "a name that occurs twice says nothing about which link is meant",
		inject: func(a *algebra[links]) {
			a.Without = func(c links, name string) (links, error) {
				got, err := c.Without(name)
				if err == nil {
					return got, nil
				}
				return c, nil
			}
		},
		noticed: []string{"Immutability", "Names"},
	},
}

// observing puts a fault between the real chain and its observers.
func observing(faulty func(chain.Observer) chain.Observer) func(*algebra[links]) {
	return func(a *algebra[links]) {
		a.Observe = func(c links, o chain.Observer) links { return c.Observe(faulty(o)) }
	}
}

type noPanics struct{ chain.Observer }

func (o noPanics) Exit(ctx context.Context, l *chain.Link, e chain.Exit) {
	if e.Panic == nil {
		o.Observer.Exit(ctx, l, e)
	}
}

type alwaysOn struct{ chain.Observer }

func (o alwaysOn) Enabled(ctx context.Context) bool { _ = o.Observer.Enabled(ctx); return true }

type sameContext struct{ chain.Observer }

func (o sameContext) Enter(ctx context.Context, l *chain.Link) context.Context {
	_ = o.Observer.Enter(ctx, l)
	return ctx
}

type twiceEntered struct{ chain.Observer }

func (o twiceEntered) Enter(ctx context.Context, l *chain.Link) context.Context {
	return o.Observer.Enter(o.Observer.Enter(ctx, l), l)
}

func TestLawsNoticeFaultsOfTheRealChain(t *testing.T) {
	for name, tc := range realFaults {
		t.Run(name, func(t *testing.T) {
			a := windlass
			tc.inject(&a)
			mustNotice(t, a, tc.reason, tc.noticed)
		})
	}
}

// mustNotice fails the test if one of the laws that must notice something wrong with a does not. The oracle must notice
// it if it is among them and only then: most of what is wrong with chains is not seen in a single call of a single one.
// With none given, no law may notice anything.
func mustNotice[C any](t *testing.T, a algebra[C], reason string, noticed []string) {
	t.Helper()
	for _, l := range laws[C]() {
		want := slices.Contains(noticed, l.name)
		if !want && len(noticed) > 0 && l.name != "Oracle" {
			continue
		}
		if got := falsify.Found(t, 0, func(t *rapid.T) { l.holds(t, a) }); got != want {
			t.Errorf("%s: law %s notices it: want %t, got %t", reason, l.name, want, got)
		}
	}
}
