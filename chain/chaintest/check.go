package chaintest

import (
	"cmp"
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
	"github.com/windlass-go/windlass/internal/run"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

// finding is a broken law with a call that shows it.
type finding struct {
	violation
	program string
	actual  []event
}

// property makes the calls for one draw of rapid. It returns the first broken
// law that it finds, or nil.
type property func(*rapid.T) *finding

// tries reports whether the kit still tests law: it was not reported, and rapid
// does not search the smallest call for another law.
func (k *kit[Req, Res]) tries(law Law) bool {
	return !k.broken[law] && (k.shrinking == 0 || k.shrinking == law)
}

// calls is the property of the laws that one call can break, and of those that
// compare two calls of the same program. Each draw tests all of them.
func (k *kit[Req, Res]) calls() (property, error) {
	h, comp, err := k.compose(k.chain)
	if err != nil {
		return nil, err
	}
	observed, seen := h, comp
	if !k.broken[OwnEnd] {
		if observed, seen, err = k.compose(k.chain.Observe(passive{})); err != nil {
			return nil, err
		}
	}
	limit := k.moment()
	return func(t *rapid.T) *finding {
		p := k.draw(t)
		labeled := func(hist *history) { hist.label = k.label + newLabel() } // equal calls have equal contexts
		first := k.play(h, comp, p, func(hist *history) { labeled(hist); k.watchAll(hist, &limit) })
		if f := k.violationOf(0, p, first); f != nil || k.stuck != "" {
			return f
		}
		if k.tries(Repeatable) { // a link that acts may let only the second call pass
			again := k.play(h, comp, p, labeled)
			if !k.hasExcuse(Request) && !k.broken[Request] {
				f := k.compare(Repeatable, p, first, again, "the second of two equal calls ran differently")
				if f != nil || k.stuck != "" {
					return f
				}
			}
		}
		if k.tries(Observing) && k.steady() && seen != comp {
			return k.compare(Observing, p, first, k.play(observed, seen, p, labeled), "the same call ran differently when the chain was observed")
		}
		return nil
	}, nil
}

// watchAll configures hist for the laws that the kit still tests.
func (k *kit[Req, Res]) watchAll(hist *history, limit *time.Duration) {
	hist.follows = k.tries(Nested)
	hist.keep = k.keepsResult && k.tries(Result)
	if k.tries(GivesBack) {
		hist.held = k.held
	}
	if k.tries(Context) {
		hist.end.patience = limit
	}
	if k.composer != nil {
		hist.refuses = k.composer.Refuses
	}
	if k.tries(Request) {
		hist.view = func() any { return hist.req }
		if k.composer != nil && k.composer.View != nil {
			hist.view = func() any { return k.composer.View(hist.req.(Req)) }
		}
		pic := snapshot.Of(hist.view())
		hist.pic = &pic
	}
}

// violationOf returns the first violation in a call that is neither excused nor
// reported. It checks the law only, or all laws if only is 0.
func (k *kit[Req, Res]) violationOf(only Law, p program[Req, Res], c *call) *finding {
	if k.stuck != "" {
		return nil
	}
	found := c.history.close()
	if only == 0 {
		k.closed = append(k.closed, closed{c.history, len(found), k.describe(p)})
	}
	slices.SortStableFunc(found, func(a, b violation) int { return cmp.Compare(a.law, b.law) })
	for _, v := range found {
		if k.tries(v.law) && (only == 0 || v.law == only) && k.holds(v.law, v.link) && !k.excused(v.law, v.link) {
			return &finding{v, k.describe(p), c.history.trace()}
		}
	}
	return nil
}

// holds reports whether a law applies to a link at all.
func (k *kit[Req, Res]) holds(l Law, link string) bool {
	return l != Result || len(k.keeps) == 0 || slices.Contains(k.keeps, link)
}

// closed is the history of a call that returned, with the number of violations
// found until then.
type closed struct {
	history *history
	found   int
	program string
}

// late returns a finding if a link called next after its call returned.
func (k *kit[Req, Res]) late() *finding {
	time.Sleep(time.Millisecond) // in a bubble of testing/synctest, all of them have called next after this
	for _, c := range k.closed {
		for _, v := range c.history.late(c.found) {
			if v.law == Nested && !k.excused(Nested, v.link) {
				return &finding{v, c.program, c.history.trace()}
			}
		}
	}
	return nil
}

// composing tests the law Composing.
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
				why: fmt.Sprintf("the number held was %d before composing and %d afterwards", before, after)}}, nil
		}
	}
	return nil, nil
}

// ownEnd is the property of the law OwnEnd. It composes the chain twice, and
// also two chains derived from it. Each draw calls one of the handlers.
func (k *kit[Req, Res]) ownEnd() (property, error) {
	if !k.tries(OwnEnd) {
		return nil, nil
	}
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
	which := rapid.IntRange(0, len(all)-1)
	return func(t *rapid.T) *finding {
		p, m := k.draw(t), all[which.Draw(t, "handler")]
		return k.violationOf(OwnEnd, p, k.play(m.h, m.comp, p, nil))
	}, nil
}

// appended returns the chain with one more link, which only calls next.
func (k *kit[Req, Res]) appended(name string) chain.Chain[Req, Res] {
	return k.chain.Append(chain.Named(name, func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] { return next }))
}

// steady reports whether two equal calls should run the same links.
func (k *kit[Req, Res]) steady() bool {
	return !k.hasExcuse(Request) && !k.hasExcuse(Repeatable) && !k.broken[Request] && !k.broken[Repeatable]
}

// compare returns a finding if the traces of two calls differ.
func (k *kit[Req, Res]) compare(l Law, p program[Req, Res], want, got *call, why string) *finding {
	if k.stuck != "" || l != Repeatable && !k.steady() {
		return nil
	}
	expected, actual := want.history.trace(), got.history.trace()
	if slices.Equal(expected, actual) || k.excused(l, "") {
		return nil
	}
	v := violation{law: l, link: controlAt(expected, actual), at: -1, why: why, path: lines(expected)}
	return &finding{v, k.describe(p), actual}
}

// controlAt returns the link that ran when two traces began to differ.
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

// passive is an observer that does what an observer may do: it adds a value and
// a note function to the context.
type passive struct{}

type passiveKey struct{}

func (passive) Enabled(context.Context) bool { return true }
func (passive) Enter(ctx context.Context, _ *chain.Link) context.Context {
	return run.WithNotes(context.WithValue(ctx, passiveKey{}, true), func(string) {})
}
func (passive) Exit(context.Context, *chain.Link, chain.Exit) {}

// left checks once for goroutines of all calls so far that still run. A check
// reads the stacks of all goroutines, which is too slow after each call.
func (k *kit[Req, Res]) left() *finding {
	for _, l := range leftovers(k.label, k.moment()) {
		if !k.excused(Goroutines, l.link) {
			return &finding{violation: l.violation()}
		}
	}
	return nil
}

// goroutines is the property of the law Goroutines. It checks after each call.
func (k *kit[Req, Res]) goroutines() (property, error) {
	if !k.tries(Goroutines) {
		return nil, nil
	}
	h, comp, err := k.compose(k.chain)
	if err != nil {
		return nil, err
	}
	limit := k.moment()
	return func(t *rapid.T) *finding {
		p := k.draw(t)
		c := k.play(h, comp, p, func(hist *history) { hist.label = newLabel() })
		if k.stuck != "" {
			return nil
		}
		for _, l := range leftovers(c.history.label, limit) {
			limit = impatient
			if !k.excused(Goroutines, l.link) {
				return &finding{l.violation(), k.describe(p), c.history.trace()}
			}
		}
		return nil
	}, nil
}

// every is the interval of draws that test Concurrent. Such a draw makes 4
// calls on average, so the law gets as many calls as the others.
const every = 4

// concurrent is the property of the law Concurrent. It makes some calls one by
// one, and then the same calls at the same time.
func (k *kit[Req, Res]) concurrent() (property, error) {
	if !k.tries(Concurrent) || k.broken[Context] { // the context identifies the call
		return nil, nil
	}
	h, comp, err := k.compose(k.chain)
	if err != nil {
		return nil, err
	}
	draws := 0
	return func(t *rapid.T) *finding {
		if draws++; k.shrinking == 0 && draws%every != 1 {
			return nil
		}
		programs := make([]program[Req, Res], rapid.IntRange(2, 6).Draw(t, "calls"))
		for i := range programs {
			programs[i] = k.draw(t)
		}
		solo := make([]*call, len(programs))
		for i, p := range programs {
			if solo[i] = k.play(h, comp, p, func(hist *history) { hist.match, hist.follows = true, true }); k.stuck != "" {
				return nil
			}
		}
		together := k.together(h, comp, programs, solo)
		if k.stuck != "" {
			return nil
		}
		for i, c := range together {
			if f := k.mixed(programs[i], solo[i], c); f != nil {
				return f
			}
		}
		return nil
	}, nil
}

// together makes calls at the same time. Their ends wait briefly for each
// other, so that the calls overlap.
func (k *kit[Req, Res]) together(
	h chain.Handler[Req, Res], comp *composition, programs []program[Req, Res], solo []*call,
) []*call {
	var at atomic.Int32
	meet := func() {
		at.Add(1)
		for i := 0; i < 50 && int(at.Load()) < len(programs); i++ {
			runtime.Gosched() // 50 times at most, because a link may admit only one call at a time
		}
	}
	calls := make([]*call, len(programs))
	gate := make(chan struct{})
	var done sync.WaitGroup
	for i, p := range programs {
		var run func()
		calls[i], run = k.ready(h, comp, p, func(hist *history) {
			hist.match, hist.follows, hist.solo, hist.end.meet = true, true, solo[i].history.matched(), meet
			hist.alone = !slices.ContainsFunc(solo[i].history.close(), func(v violation) bool { return v.law == Nested })
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
			if c.history.control() != "" {
				k.markStuck(c.history, programs[i])
				k.stuck = strings.Replace(k.stuck, "a call", fmt.Sprintf("one of %d calls at the same time", len(calls)), 1)
			}
		}
	}
	return calls
}

// mixed returns a finding if a call got data of another call.
func (k *kit[Req, Res]) mixed(p program[Req, Res], solo, c *call) *finding {
	for _, v := range c.history.close() {
		if v.law != Concurrent {
			continue
		}
		if k.excused(Concurrent, v.link) || k.excused(Concurrent, "") {
			return nil
		}
		v.path = lines(solo.history.trace())
		return &finding{v, k.describe(p), c.history.trace()}
	}
	return k.compare(Concurrent, p, solo, c, "the same call ran differently at the same time as other calls")
}

func lines(trace []event) []string {
	out := make([]string, len(trace))
	for i, e := range trace {
		out[i] = e.String()
	}
	return out
}
