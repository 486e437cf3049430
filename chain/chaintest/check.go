package chaintest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/snapshot"
)

// finding is a law that was found to be broken, by a program.
type finding struct {
	violation
	program string
	actual  []event
}

// property tries a law with one program drawn at random. It is nil if the law has nothing to be tried with.
type property func(*rapid.T) *finding

// property makes the property of a law. An error tells that the chain cannot be composed.
func (k *kit[Req, Res]) property(l Law) (property, error) {
	switch l {
	case OwnEnd:
		return k.ownEnd()
	case Repeatable:
		return k.repeatable()
	case Concurrent:
		return k.concurrent()
	case Goroutines:
		return k.goroutines()
	case Observing:
		return k.observing()
	case GivesBack:
		if k.held == nil {
			return nil, nil
		}
		return k.single(l, func(tp *tape) { tp.held = k.held })
	case Request:
		return k.single(l, func(tp *tape) {
			tp.view = func() any { return tp.req }
			if k.composer != nil && k.composer.View != nil {
				tp.view = func() any { return k.composer.View(tp.req.(Req)) }
			}
			pic := snapshot.Of(tp.view())
			tp.pic = &pic
		})
	case Result:
		if !k.keepsResult {
			return nil, nil
		}
		return k.single(l, func(tp *tape) { tp.keep = true })
	case Context:
		limit := k.moment()
		return k.single(l, func(tp *tape) { tp.end.patience = &limit })
	case Accepted:
		if k.composer == nil || len(k.composer.Refuses) == 0 {
			return nil, nil
		}
		return k.single(l, func(tp *tape) { tp.refuses = k.composer.Refuses })
	case Nested:
		return k.single(l, func(tp *tape) { tp.follows = true })
	case NextOnce, NoPanic, Errors, Panics:
		return k.single(l, nil)
	}
	return nil, nil
}

// single tries laws that a single call can break.
func (k *kit[Req, Res]) single(l Law, with func(*tape)) (property, error) {
	h, comp, err := k.compose(k.chain)
	if err != nil {
		return nil, err
	}
	return func(t *rapid.T) *finding {
		p := k.draw(t)
		return k.judge(l, p, k.play(h, comp, p, with))
	}, nil
}

// judge looks for a violation of a law that is not excused.
func (k *kit[Req, Res]) judge(l Law, p program[Req, Res], c *call) *finding {
	if k.stuck != "" {
		return nil
	}
	found := c.tape.close()
	if l == Nested {
		k.closed = append(k.closed, closed{c.tape, len(found), k.describe(p)})
	}
	for _, v := range found {
		if v.law == l && k.holds(l, v.link) && !k.excused(l, v.link) {
			k.broken[l] = true
			return &finding{v, k.describe(p), c.tape.trace()}
		}
	}
	return nil
}

// holds tells whether a link is held to a law at all.
func (k *kit[Req, Res]) holds(l Law, link string) bool {
	return l != Result || len(k.keeps) == 0 || slices.Contains(k.keeps, link)
}

// closed is the tape of a call that is over, with the number of violations found until then.
type closed struct {
	tape    *tape
	found   int
	program string
}

// late looks for links that called next after their call was over.
func (k *kit[Req, Res]) late() *finding {
	time.Sleep(time.Millisecond) // in a bubble of testing/synctest until all of them have
	for _, c := range k.closed {
		for _, v := range c.tape.late(c.found) {
			if v.law == Nested && !k.excused(Nested, v.link) {
				return &finding{v, c.program, c.tape.trace()}
			}
		}
	}
	return nil
}

// composing tries the law of that name.
func (k *kit[Req, Res]) composing() (*finding, error) {
	before := 0
	if k.held != nil {
		before = k.held()
	}
	_, comp, err := k.compose(k.chain)
	comp.mu.Lock()
	defer comp.mu.Unlock()
	for _, link := range comp.early {
		if !k.excused(Composing, link) {
			v := violation{law: Composing, link: link, at: -1, why: "it called next while the chain was composed"}
			return &finding{violation: v}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if k.held != nil {
		if after := k.held(); after != before && !k.excused(Composing, "") {
			return &finding{violation: violation{law: Composing, at: -1,
				why: fmt.Sprintf("%d was held before composing, %d afterwards", before, after)}}, nil
		}
	}
	return nil, nil
}

// ownEnd calls several handlers made of one chain, and of siblings that were made of it, in turn.
func (k *kit[Req, Res]) ownEnd() (property, error) {
	type made struct {
		h    chain.Handler[Req, Res]
		comp *composition
	}
	var all []made
	for _, c := range []chain.Chain[Req, Res]{k.chain, k.chain, k.appended("first"), k.appended("second")} {
		h, comp, err := k.compose(c)
		if err != nil {
			return nil, err
		}
		all = append(all, made{h, comp})
	}
	return func(t *rapid.T) *finding {
		p := k.draw(t)
		for _, m := range slices.Concat(all, all[:1]) {
			if f := k.judge(OwnEnd, p, k.play(m.h, m.comp, p, nil)); f != nil || k.stuck != "" {
				return f
			}
		}
		return nil
	}, nil
}

// appended is the chain with a link behind it that does nothing.
func (k *kit[Req, Res]) appended(name string) chain.Chain[Req, Res] {
	return k.chain.Append(chain.Named(name, func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] { return next }))
}

// steady tells whether two calls with the same request can be expected to go the same way.
func (k *kit[Req, Res]) steady() bool {
	return !k.forgiven(Request) && !k.forgiven(Repeatable) && !k.broken[Request] && !k.broken[Repeatable]
}

// compare makes a finding of two calls that went different ways.
func (k *kit[Req, Res]) compare(l Law, p program[Req, Res], want, got *call, why string) *finding {
	if k.stuck != "" || l != Repeatable && !k.steady() {
		return nil
	}
	expected, actual := want.tape.trace(), got.tape.trace()
	if slices.Equal(expected, actual) || k.excused(l, "") {
		return nil
	}
	v := violation{law: l, link: controlAt(expected, actual), at: -1, why: why, path: lines(expected)}
	return &finding{v, k.describe(p), actual}
}

// controlAt is the link that had control when two traces parted.
func controlAt(a, b []event) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	switch {
	case i == 0:
		return ""
	case a[i-1].verdict == "":
		return a[i-1].name
	}
	for j := i - 2; j >= 0; j-- {
		if a[j].verdict == "" && a[j].depth == a[i-1].depth-1 {
			return a[j].name
		}
	}
	return ""
}

func (k *kit[Req, Res]) repeatable() (property, error) {
	if k.forgiven(Request) || k.broken[Request] {
		return nil, nil // the second request is another one
	}
	h, comp, err := k.compose(k.chain)
	if err != nil {
		return nil, err
	}
	return func(t *rapid.T) *finding {
		p := k.draw(t)
		first := k.play(h, comp, p, nil)
		if k.stuck != "" {
			return nil
		}
		return k.compare(Repeatable, p, first, k.play(h, comp, p, nil), "the same call, made again, went another way")
	}, nil
}

func (k *kit[Req, Res]) observing() (property, error) {
	h, comp, err := k.compose(k.chain)
	if err != nil {
		return nil, err
	}
	observed, seen, err := k.compose(k.chain.Observe(onlooker{}))
	if err != nil {
		return nil, err
	}
	return func(t *rapid.T) *finding {
		p := k.draw(t)
		bare := k.play(h, comp, p, nil)
		if k.stuck != "" {
			return nil
		}
		return k.compare(Observing, p, bare, k.play(observed, seen, p, nil), "observed, the same call went another way")
	}, nil
}

// onlooker is an observer that does what every observer may: it puts something into the context, and listens to notes.
type onlooker struct{}

type onlookerKey struct{}

func (onlooker) Enabled(context.Context) bool { return true }
func (onlooker) Enter(ctx context.Context, _ *chain.Link) context.Context {
	return chain.WithNotes(context.WithValue(ctx, onlookerKey{}, true), func(string) {})
}
func (onlooker) Exit(context.Context, *chain.Link, chain.Exit) {}

func (k *kit[Req, Res]) goroutines() (property, error) {
	h, comp, err := k.compose(k.chain)
	if err != nil {
		return nil, err
	}
	limit := k.moment()
	return func(t *rapid.T) *finding {
		p := k.draw(t)
		c := k.play(h, comp, p, func(tp *tape) { tp.label = newLabel() })
		if k.stuck != "" {
			return nil
		}
		for _, left := range leftBehind(c.tape.label, limit) {
			limit = impatient
			if !k.excused(Goroutines, left.link) {
				why := "a goroutine that it started is left behind, in\n" + indent(left.stack, "    ")
				v := violation{law: Goroutines, link: left.link, at: -1, why: why}
				return &finding{v, k.describe(p), c.tape.trace()}
			}
		}
		return nil
	}, nil
}

// concurrent makes some calls one by one, and then all at the same time.
func (k *kit[Req, Res]) concurrent() (property, error) {
	h, comp, err := k.compose(k.chain)
	if err != nil {
		return nil, err
	}
	return func(t *rapid.T) *finding {
		programs := make([]program[Req, Res], rapid.IntRange(2, 6).Draw(t, "calls"))
		for i := range programs {
			programs[i] = k.draw(t)
		}
		solo := make([]*call, len(programs))
		for i, p := range programs {
			if solo[i] = k.play(h, comp, p, func(tp *tape) { tp.match, tp.follows = true, true }); k.stuck != "" {
				return nil
			}
		}
		together := k.together(h, comp, programs, solo)
		if k.stuck != "" {
			return nil
		}
		for i, c := range together {
			if f := k.crossed(programs[i], solo[i], c); f != nil {
				return f
			}
		}
		return nil
	}, nil
}

// together makes calls at the same time. Ends wait for each other a little, so that calls overlap.
func (k *kit[Req, Res]) together(
	h chain.Handler[Req, Res], comp *composition, programs []program[Req, Res], solo []*call,
) []*call {
	var at atomic.Int32
	meet := func() {
		at.Add(1)
		for i := 0; i < 50 && int(at.Load()) < len(programs); i++ {
			runtime.Gosched() // and no longer: a link may let only one call in at a time
		}
	}
	calls := make([]*call, len(programs))
	gate := make(chan struct{})
	var done sync.WaitGroup
	for i, p := range programs {
		var run func()
		calls[i], run = k.ready(h, comp, p, func(tp *tape) {
			tp.match, tp.follows, tp.solo, tp.end.meet = true, true, solo[i].tape.matched(), meet
			tp.alone = !slices.ContainsFunc(solo[i].tape.close(), func(v violation) bool { return v.law == Nested })
		})
		done.Go(func() {
			<-gate
			run()
		})
	}
	if !within(k.within, func() {
		close(gate)
		done.Wait()
	}) {
		for i, c := range calls {
			if c.tape.control() != "" {
				k.stick(c.tape, programs[i])
				k.stuck = strings.Replace(k.stuck, "a call", fmt.Sprintf("of %d calls at the same time one", len(calls)), 1)
			}
		}
	}
	return calls
}

// crossed looks for what a call has got from others.
func (k *kit[Req, Res]) crossed(p program[Req, Res], solo, c *call) *finding {
	found := c.tape.close()
	say := func(v violation) *finding {
		if k.excused(Concurrent, v.link) || k.excused(Concurrent, "") {
			return nil
		}
		v.path = lines(solo.tape.trace())
		return &finding{v, k.describe(p), c.tape.trace()}
	}
	for _, v := range found {
		if v.law == Concurrent {
			return say(v)
		}
	}
	return k.compare(Concurrent, p, solo, c, "among others, the same call went another way than alone")
}

func lines(trace []event) []string {
	out := make([]string, len(trace))
	for i, e := range trace {
		out[i] = e.String()
	}
	return out
}
