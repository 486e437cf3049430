package chain_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"pgregory.net/rapid"
)

// The laws of composition, as properties over programs drawn at random. They are stated over an algebra, the operations
// of an implementation, so that they can also be held against implementations with known faults: faults_test.go shows
// that each law notices what it says it would.
//
// In the equations a = b means that handlers a and b do the same: the same events in the same order, the same view of
// the context, the same result, error (by ==) and panic value.

// algebra is an implementation of chains of type C. What is nil it does not have.
type algebra[C any] struct {
	New    func(...link) C
	Append func(C, ...link) C
	Extend func(C, ...C) C
	Then   func(C, handler) handler

	At           func(C, string) C
	Decorate     func(C, func(*chain.Link, handler) handler) C
	Observe      func(C, chain.Observer) C
	Composes     int // how often Then composes; 0: once
	Links        func(C) []chain.Link
	InsertBefore func(C, string, ...link) (C, error)
	InsertAfter  func(C, string, ...link) (C, error)
	Replace      func(C, string, ...link) (C, error)
	Without      func(C, string) (C, error)
}

// windlass is the implementation that this package is about.
var windlass = algebra[links]{
	New:          chain.New[request, string],
	Append:       links.Append,
	Extend:       links.Extend,
	Then:         links.Then,
	At:           links.At,
	Decorate:     links.Decorate,
	Observe:      links.Observe,
	Links:        links.Links,
	InsertBefore: links.InsertBefore,
	InsertAfter:  links.InsertAfter,
	Replace:      links.Replace,
	Without:      links.Without,
}

// law is a law of composition; it fails the test if the algebra breaks it.
type law[C any] struct {
	name  string
	holds func(*rapid.T, algebra[C])
}

func laws[C any]() []law[C] {
	return []law[C]{
		{"Oracle", oracle[C]},
		{"Identity", identity[C]},
		{"Associativity", associativity[C]},
		{"Immutability", immutability[C]},
		{"ThenIsPure", thenIsPure[C]},
		{"Reentrancy", reentrancy[C]},
		{"Concurrency", concurrency[C]},
		{"ShortCircuit", shortCircuit[C]},
		{"NextIsAValue", nextIsAValue[C]},
		{"Panics", panics[C]},
		{"Context", contexts[C]},
		{"Telemetry", telemetry[C]},
		{"Names", names[C]},
	}
}

func TestLaws(t *testing.T) {
	for _, l := range laws[links]() {
		t.Run(l.name, rapid.MakeCheck(func(t *rapid.T) { l.holds(t, windlass) }))
	}
}

// oracle: what the links do is what the nested functions would do.
//
//	New(m1, ..., mn).Then(h) = m1(...mn(h))
//
// Order, short circuit, results, errors, panics and contexts in one. A chain in the wrong order would break it, and one
// that puts something of its own between the links.
func oracle[C any](t *rapid.T, a algebra[C]) {
	program, end := draw(t, "a", anything), drawEnd(t, "end")
	ms := named(program)
	if rapid.Bool().Draw(t, "raw") {
		for i, s := range program {
			ms[i] = s.raw()
		}
	}
	mustBehave(t, "New(m...).Then(h) = m1(...mn(h))", run(program, end), a.Then(a.New(ms...), end.end()))
}

// identity: no links change nothing, wherever they are added.
//
//	New().Then(h) = C{}.Then(h) = h
//	c.Append() = c.Extend() = c.Extend(New()) = New().Extend(c) = C{}.Extend(c) = c
//	New(a..., func(next) { return next }, b...) = New(a..., b...)
//
// A chain that does something between links would break the last one, such as to look at the context there.
func identity[C any](t *rapid.T, a algebra[C]) {
	program, end := draw(t, "a", anything), drawEnd(t, "end")
	h, c := end.end(), a.New(named(program)...)
	var zero C
	mustBehave(t, "New().Then(h) = h", run(nil, end), a.Then(a.New(), h))
	mustBehave(t, "C{}.Then(h) = h", run(nil, end), a.Then(zero, h))
	for equation, same := range map[string]C{
		"c.Append() = c":      a.Append(c),
		"c.Extend() = c":      a.Extend(c),
		"c.Extend(New()) = c": a.Extend(c, a.New(), zero),
		"New().Extend(c) = c": a.Extend(a.New(), c),
		"C{}.Extend(c) = c":   a.Extend(zero, c),
		"C{}.Append(m) = c":   a.Append(zero, named(program)...),
	} {
		mustBehave(t, equation, run(program, end), a.Then(same, h))
	}
	at := rapid.IntRange(0, len(program)).Draw(t, "noop at")
	noop := func(next handler) handler { return next }
	mustBehave(t, "New(a..., noop, b...) = New(a..., b...)",
		run(program, end), a.Then(a.New(slices.Insert(named(program), at, link(noop))...), h))
}

// associativity: links may be put together in any grouping.
//
//	New(a..., b..., c...) = New(a...).Append(b...).Append(c...)
//	                      = New(a...).Extend(New(b...), New(c...))
//	                      = New(a...).Extend(New(b...).Extend(New(c...)))
//	                      = New(a...).Extend(New(b...)).Append(c...)
//	                      = New(New(a..., b...).Then, c...)
//	New(a...).Then(New(b...).Then(h)) = New(a..., b...).Then(h)
//
// A chain that, once nested, forgets what follows would break it.
func associativity[C any](t *rapid.T, a algebra[C]) {
	pa, pb, pc := draw(t, "a", anything), draw(t, "b", passing), draw(t, "c", anything)
	ma, mb, mc := named(pa), named(pb), named(pc)
	end := drawEnd(t, "end")
	h, want := end.end(), run(slices.Concat(pa, pb, pc), end)
	nested := func(c C) link { return func(next handler) handler { return a.Then(c, next) } }

	mustBehave(t, "New(a..., b..., c...)", want, a.Then(a.New(slices.Concat(ma, mb, mc)...), h))
	mustBehave(t, "New(a...).Append(b...).Append(c...)", want, a.Then(a.Append(a.Append(a.New(ma...), mb...), mc...), h))
	mustBehave(t, "New(a...).Extend(New(b...), New(c...))", want, a.Then(a.Extend(a.New(ma...), a.New(mb...), a.New(mc...)), h))
	mustBehave(t, "New(a...).Extend(New(b...).Extend(New(c...)))", want,
		a.Then(a.Extend(a.New(ma...), a.Extend(a.New(mb...), a.New(mc...))), h))
	mustBehave(t, "New(a...).Extend(New(b...)).Append(c...)", want, a.Then(a.Append(a.Extend(a.New(ma...), a.New(mb...)), mc...), h))
	mustBehave(t, "New(New(a..., b...).Then, c...)", want,
		a.Then(a.New(slices.Insert(mc, 0, nested(a.New(slices.Concat(ma, mb)...)))...), h))
	mustBehave(t, "New(a..., b...).Then(New(c...).Then(h))", want, a.Then(a.New(slices.Concat(ma, mb)...), a.Then(a.New(mc...), h)))
}

// immutability: no operation changes what another one was given or gave before.
//
//	after any history, each chain ever made = New(its links...)
//
// A chain that keeps its caller's slice would break it, or one that appends to a shared one: a sibling's link runs
// instead of its own, and only where there happens to be spare capacity. So this is a state machine, in which callers
// overwrite their slices too.
func immutability[C any](t *rapid.T, a algebra[C]) {
	m := &history[C]{algebra: a}
	actions := map[string]func(*rapid.T){
		"":          m.check,
		"New":       m.new,
		"Append":    m.append,
		"Siblings":  m.siblings,
		"Extend":    m.extend,
		"Then":      m.then,
		"Overwrite": m.overwrite,
	}
	if a.At != nil {
		actions["At"] = m.at
	}
	if a.Decorate != nil {
		actions["Decorate"] = m.decorate
	}
	if a.Observe != nil {
		actions["Observe"] = m.observe
	}
	if a.InsertBefore != nil {
		actions["Edit"] = m.edit
	}
	m.new(t) // so that every action has something to act on
	t.Repeat(actions)
}

// history is what was made so far. Every link passes: which ones run, and in which order, is all that matters here.
type history[C any] struct {
	algebra[C]
	chains   []version[C]
	handlers []composed
	slices   [][]link // callers' slices, up to their capacity
	steps    int
}

// version is a chain, and what it should be: its links, and the layers around each of them.
type version[C any] struct {
	chain  C
	links  []step
	layers []string
	events []string // those of a call
}

// composed is a handler, and the events of a call of it.
type composed struct {
	handler handler
	events  []string
}

var stopped = step{id: "end", op: stop}

// layered is a program with layers around each of its links: a decoration and an observer look like a link.
func layered(program []step, layers []string) []step {
	var out []step
	for _, s := range program {
		for _, l := range layers {
			out = append(out, step{id: l + "(" + s.id + ")", op: pass})
		}
		out = append(out, s)
	}
	return out
}

func (m *history[C]) check(t *rapid.T) {
	for _, c := range m.chains {
		if got := trace(m.Then(c.chain, stopped.end())); !slices.Equal(got, c.events) {
			t.Fatalf("a chain does what it did: -want, +got:\n%s", cmp.Diff(c.events, got))
		}
	}
	for _, h := range m.handlers {
		if got := trace(h.handler); !slices.Equal(got, h.events) {
			t.Fatalf("a handler does what it did: -want, +got:\n%s", cmp.Diff(h.events, got))
		}
	}
}

// add keeps a chain. Of many, an older one is forgotten, which keeps the check short.
func (m *history[C]) add(t *rapid.T, c version[C]) {
	if len(m.chains) >= 6 {
		i := rapid.IntRange(0, len(m.chains)-1).Draw(t, "forget")
		m.chains = slices.Delete(m.chains, i, i+1)
	}
	c.events = trace(run(layered(c.links, c.layers), stopped))
	m.chains = append(m.chains, c)
}

func (m *history[C]) pick(t *rapid.T) version[C] {
	return rapid.SampledFrom(m.chains).Draw(t, "chain")
}

// given makes links for a caller to give, in a slice with spare capacity. Of all names some occur more than once.
func (m *history[C]) given(t *rapid.T) ([]step, []link) {
	n := rapid.IntRange(0, 3).Draw(t, "links")
	program := make([]step, n)
	for i := range program {
		program[i] = step{id: fmt.Sprint("m", m.steps%20), op: pass}
		m.steps++
	}
	ms := slices.Grow(named(program), rapid.IntRange(0, 3).Draw(t, "spare"))
	m.slices = append(m.slices, ms[:cap(ms)])
	return program, ms
}

func (m *history[C]) new(t *rapid.T) {
	program, ms := m.given(t)
	m.add(t, version[C]{chain: m.New(ms...), links: program})
}

func (m *history[C]) append(t *rapid.T) {
	c := m.pick(t)
	program, ms := m.given(t)
	c.chain, c.links = m.Append(c.chain, ms...), slices.Concat(c.links, program)
	m.add(t, c)
}

// siblings appends to one chain twice, which is what spare capacity does not survive.
func (m *history[C]) siblings(t *rapid.T) {
	c := m.pick(t)
	for range 2 {
		program, ms := m.given(t)
		m.add(t, version[C]{chain: m.Append(c.chain, ms...), links: slices.Concat(c.links, program), layers: c.layers})
	}
}

func (m *history[C]) extend(t *rapid.T) {
	c := m.pick(t)
	var others []C
	for range rapid.IntRange(0, 2).Draw(t, "others") {
		o := m.pick(t)
		others = append(others, o.chain)
		c.links = slices.Concat(c.links, o.links)
	}
	c.chain = m.Extend(c.chain, others...)
	if len(c.links) <= 12 {
		m.add(t, c)
	}
}

func (m *history[C]) then(t *rapid.T) {
	c := m.pick(t)
	if len(m.handlers) < 4 {
		m.handlers = append(m.handlers, composed{m.Then(c.chain, stopped.end()), c.events})
	}
}

func (m *history[C]) overwrite(t *rapid.T) {
	for i, s := 0, rapid.SampledFrom(m.slices).Draw(t, "slice"); i < len(s); i++ {
		s[i] = step{id: "intruder", op: pass}.named()
	}
}

func (m *history[C]) at(t *rapid.T) {
	c := m.pick(t)
	c.chain = m.At(c.chain, "Apply")
	m.add(t, c)
}

func (m *history[C]) decorate(t *rapid.T) {
	c := m.pick(t)
	if len(c.layers) == 5 {
		t.Skip("layers enough")
	}
	id := fmt.Sprint("d", len(c.layers))
	c.layers = append(slices.Clip(c.layers), id)
	c.chain = m.Decorate(c.chain, func(l *chain.Link, h handler) handler {
		return step{id: id + "(" + l.Name + ")", op: pass}.raw()(h)
	})
	m.add(t, c)
}

func (m *history[C]) observe(t *rapid.T) {
	c := m.pick(t)
	if len(c.layers) == 5 {
		t.Skip("layers enough")
	}
	o := &watcher{id: fmt.Sprint("o", len(c.layers)), on: rapid.Bool().Draw(t, "enabled")}
	if o.on {
		c.layers = append(slices.Clip(c.layers), o.id)
	}
	c.chain = m.Observe(c.chain, o)
	m.add(t, c)
}

func (m *history[C]) edit(t *rapid.T) {
	c := m.pick(t)
	e := drawEdit(t, m.algebra, c.links, m.given)
	got, err := e.apply(c.chain)
	e.check(t, err)
	c.chain, c.links = got, e.want
	m.add(t, c)
}

// thenIsPure: Then may be called any number of times, in any order, with any ends.
//
//	h1, ..., hk = c.Then(e1), ..., c.Then(ek), and no hi depends on another
//	a constructor runs once for each Then, and no link runs before its handler is called
//
// A chain that stores its end would break it, one that remembers what it composed, or one that composes in each call.
func thenIsPure[C any](t *rapid.T, a algebra[C]) {
	program := draw(t, "a", anything)
	constructed, called := make([]int, len(program)), 0
	ms := make([]link, len(program))
	for i, s := range program {
		ms[i] = func(next handler) handler {
			constructed[i]++
			h := s.raw()(next)
			return func(ctx context.Context, req request) (string, error) {
				called++
				return h(ctx, req)
			}
		}
	}
	runs := func(n int) []int { return slices.Repeat([]int{n}, len(program)) }

	c := a.New(ms...)
	if diff := cmp.Diff(runs(0), constructed); diff != "" {
		t.Fatalf("New runs no constructor: -want, +got:\n%s", diff)
	}
	var ends []step
	var hs []handler
	for i := range rapid.IntRange(1, 3).Draw(t, "ends") {
		ends = append(ends, drawEnd(t, fmt.Sprint("end", i)))
		hs = append(hs, a.Then(c, ends[i].end()))
	}
	each := max(a.Composes, 1)
	if diff := cmp.Diff(runs(len(hs)*each), constructed); diff != "" {
		t.Fatalf("each Then runs each constructor once: -want, +got:\n%s", diff)
	}
	if called != 0 {
		t.Fatalf("Then calls no link, but %d were", called)
	}
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(hs)-1), 1, 4).Draw(t, "calls") {
		mustBehave(t, fmt.Sprintf("handler %d of c has its own end", i), run(program, ends[i]), hs[i])
	}
	if diff := cmp.Diff(runs(len(hs)*each), constructed); diff != "" {
		t.Fatalf("a call runs no constructor: -want, +got:\n%s", diff)
	}
}

// reentrancy: a link may compose its own chain with another end and call it, from inside of a call.
//
//	the inner call ends in its own end, and the outer call in its own
//
// A chain that keeps its end, or how far a call is, in itself would break it.
func reentrancy[C any](t *rapid.T, a algebra[C]) {
	program, outer, inner := draw(t, "a", anything), drawEnd(t, "outer"), drawEnd(t, "inner")
	at := rapid.IntRange(0, len(program)).Draw(t, "reenter at")
	program = slices.Insert(program, at, step{id: "again", op: reenter})

	var c C
	real := slices.Clone(program)
	real[at].again = func() handler { return a.Then(c, inner.end()) }
	program[at].again = func() handler { return run(program, inner) }
	c = a.New(named(real)...)
	mustBehave(t, "a chain called from its own link", run(program, outer), a.Then(c, outer.end()))
}

// concurrency: calls at the same time know nothing of each other.
//
//	each of n calls at once, of one handler and of several compositions = that call alone
//
// A chain that is changed by a call would break it; under the race detector even where nobody sees the change.
func concurrency[C any](t *rapid.T, a algebra[C]) {
	program := draw(t, "a", anything)
	ends := []step{drawEnd(t, "end0"), drawEnd(t, "end1")}
	c := a.New(named(program)...)
	shared := []handler{a.Then(c, ends[0].end()), a.Then(c, ends[1].end())}

	const n = 8
	got := make([]outcome, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			h := shared[i%2]
			if i%4 < 2 {
				h = a.Then(c, ends[i%2].end())
			}
			got[i] = play(h)
		})
	}
	all.Wait()
	for i := range n {
		if diff := cmp.Diff(play(run(program, ends[i%2])), got[i], sameError); diff != "" {
			t.Fatalf("call %d of %d at once: -want, +got:\n%s", i, n, diff)
		}
	}
}

// shortCircuit: a link that does not call next ends the way in, and all links in front of it see the way out.
//
//	New(a..., stop, b...).Then(h) enters a and stop, never b or h; leaves stop, then a in reverse; returns what stop did
//
// A chain that calls its end in any case would break it.
func shortCircuit[C any](t *rapid.T, a algebra[C]) {
	front, behind, end := draw(t, "a", []op{pass, note, put}), draw(t, "b", anything), drawEnd(t, "end")
	s := step{id: "stop", op: rapid.SampledFrom([]op{stop, fail}).Draw(t, "stop")}
	got := play(a.Then(a.New(named(slices.Concat(front, []step{s}, behind))...), end.end()))

	var entered, exited []string
	for _, s := range append(front, s) {
		entered = append(entered, s.id)
		exited = slices.Insert(exited, 0, s.id)
	}
	if diff := cmp.Diff(entered, got.entered(), equateEmpty); diff != "" {
		t.Fatalf("a and the link that stops are entered: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(exited, got.exited(), equateEmpty); diff != "" {
		t.Fatalf("all that are entered are left: -want, +got:\n%s", diff)
	}
	var err error
	if s.op == fail {
		err = failure("stop failed")
	}
	if !strings.HasPrefix(got.Result, "stop(") || got.Err != err {
		t.Fatalf("the result and the error arrive unchanged: got %q, %v", got.Result, got.Err)
	}
}

// nextIsAValue: next may be called as often as a link likes, and each time runs all links behind it.
//
//	New(a..., twice, b...).Then(h) runs b and h twice, in the same way
//
// A chain with one cursor for each call would break it, as links that retry found out.
func nextIsAValue[C any](t *rapid.T, a algebra[C]) {
	front, behind := draw(t, "a", passing), draw(t, "b", passing)
	program := slices.Concat(front, []step{{id: "retry", op: twice}}, behind)
	got := play(a.Then(a.New(named(program)...), stopped.end()))

	var once []string
	for _, s := range append(behind, stopped) {
		once = append(once, s.id)
	}
	var want []string
	for _, s := range front {
		want = append(want, s.id)
	}
	want = append(want, "retry")
	want = append(want, slices.Concat(once, once)...)
	if diff := cmp.Diff(want, got.entered()); diff != "" {
		t.Fatalf("the links behind one that calls next twice run twice: -want, +got:\n%s", diff)
	}
}

// panics: a panic passes through the chain as it is, unless a link rescues it.
//
//	New(a..., panic v, b...).Then(h) panics with v; deferred parts of a run, the innermost first
//	New(a..., rescue, b..., panic v).Then(h) returns the rescuer's error; errors.Is(err, v) if v is an error
//
// A chain that recovers by itself would break it.
func panics[C any](t *rapid.T, a algebra[C]) {
	front, between, behind := draw(t, "a", []op{pass, note, put}), draw(t, "b", passing), draw(t, "c", passing)
	faulty := step{id: "faulty", op: rapid.SampledFrom([]op{panicBefore, panicAfter}).Draw(t, "faulty")}
	value := failure("faulty panicked")

	got := play(a.Then(a.New(named(slices.Concat(front, between, []step{faulty}, behind))...), stopped.end()))
	if got.Panic != value {
		t.Fatalf("the panic reaches the caller: want %v, got %v", value, got.Panic)
	}
	reverse := got.entered()
	slices.Reverse(reverse)
	if diff := cmp.Diff(reverse, got.exited()); diff != "" {
		t.Fatalf("what is deferred runs, the innermost first: -want, +got:\n%s", diff)
	}

	rescuer := step{id: "rescuer", op: rescue}
	program := slices.Concat(front, []step{rescuer}, between, []step{faulty}, behind)
	got = play(a.Then(a.New(named(program)...), stopped.end()))
	if got.Panic != nil || got.Err != (rescued{"rescuer", value}) || !errors.Is(got.Err, value) {
		t.Fatalf("a rescued panic is the rescuer's error: got panic %v, error %v", got.Panic, got.Err)
	}
}

// contexts: what a link puts into the context is seen by all links behind it, and by none in front of it.
//
//	New(a..., put x, b...).Then(h): b and h see x, a does not
//	New(a...).Then(h), where all of a pass: h gets the very context of the call
//
// A chain that hands every link the context of the call would break the first, one that adds values of its own the second.
func contexts[C any](t *rapid.T, a algebra[C]) {
	front, behind := draw(t, "a", []op{pass, mark, note}), draw(t, "b", []op{pass, mark, note})
	how := rapid.SampledFrom([]op{put, cancel}).Draw(t, "x")
	program := slices.Concat(front, []step{{id: "x", op: how}}, behind)
	got := play(a.Then(a.New(named(program)...), stopped.end()))

	seen := map[op]string{put: "x", cancel: ", canceled by x"}[how]
	var want []string
	for _, s := range front {
		want = append(want, s.id+"> ")
	}
	want = append(want, "x> ")
	for _, s := range append(behind, stopped) {
		want = append(want, s.id+"> "+seen)
	}
	if diff := cmp.Diff(want, got.Events[:min(len(want), len(got.Events))]); diff != "" {
		t.Fatalf("the context as each link sees it: -want, +got:\n%s", diff)
	}

	ctx := context.WithValue(t.Context(), pathKey{}, "given")
	end := func(got context.Context, _ request) (string, error) {
		if got != ctx {
			t.Fatalf("the end got another context than the call: %v", got)
		}
		return "", nil
	}
	_, _ = a.Then(a.New(named(front)...), end)(ctx, request{call: &call{}})
}

// telemetry: observers change nothing, and see everything.
//
//	c.Observe(o).Then(h) = c.Then(h), whatever the links do, for any number of observers, each enabled or not
//	an enabled observer sees each link entered, then left, once; it is nested around the link as a link would be
//	a disabled one is only asked
//
// An observer that is not told of the end of a link that panics would break it, one that is told of links while it is
// disabled, or one whose context does not reach the link.
func telemetry[C any](t *rapid.T, a algebra[C]) {
	if a.Observe == nil {
		return
	}
	program, end := draw(t, "a", anything), drawEnd(t, "end")
	bare := a.New(named(program)...)
	var all []*watcher
	var layers []string
	observed := bare
	for i := range rapid.IntRange(0, 3).Draw(t, "observers") {
		o := &watcher{id: fmt.Sprint("o", i), on: rapid.Bool().Draw(t, "enabled")}
		all = append(all, o)
		if o.on {
			layers = append(layers, o.id)
		}
		observed = a.Observe(observed, o)
	}

	h := a.Then(observed, end.end())
	got := play(h)
	if diff := cmp.Diff(play(run(layered(program, layers), end)), got, sameError); diff != "" {
		t.Fatalf("an observer sees what a link in its place would: -want, +got:\n%s", diff)
	}
	got.Events = slices.DeleteFunc(got.Events, func(event string) bool { return strings.Contains(event, "(a") && event[0] == 'o' })
	if diff := cmp.Diff(play(a.Then(bare, end.end())), got, sameError); diff != "" {
		t.Fatalf("c.Observe(o) = c: -want, +got:\n%s", diff)
	}
	detached := slices.ContainsFunc(program, func(s step) bool { return s.op == detach })
	for _, o := range all {
		if o.wrong != "" {
			t.Fatalf("observer %s: %s", o.id, o.wrong)
		}
		if len(o.open) > 0 {
			t.Fatalf("observer %s was never told the end of %v", o.id, o.open)
		}
		if o.asked != 1 && len(program) > 0 && !detached {
			t.Fatalf("observer %s was asked %d times whether it is enabled, want once a call", o.id, o.asked)
		}
	}
}

// watcher is an observer that writes into the trace of the call, just as a link in its place would.
type watcher struct {
	id    string
	on    bool
	asked int
	open  []*span // entered and not yet left
	wrong string  // the first thing that is not as it should be
}

// span is what a watcher puts into the context of a link.
type span struct{ link *chain.Link }

func (o *watcher) Enabled(context.Context) bool { o.asked++; return o.on }

func (o *watcher) Enter(ctx context.Context, l *chain.Link) context.Context {
	callOf(ctx).log(o.id, "(", l.Name, ")> ", view(ctx))
	// A link that detached itself left the outer span behind; any other must be inside of the one entered last.
	if outer, ok := ctx.Value(o).(*span); ok && (len(o.open) == 0 || outer != o.open[len(o.open)-1]) {
		o.fault("%s is entered in the context of %s, which is not the link around it", l.Name, outer.link.Name)
	}
	s := &span{l}
	o.open = append(o.open, s)
	return context.WithValue(ctx, o, s)
}

func (o *watcher) Exit(ctx context.Context, l *chain.Link, e chain.Exit) {
	how := unwinding
	if e.Panic == nil && !errors.Is(e.Err, chain.ErrGoexit) {
		how = left(e.Result.(string), e.Err)
	}
	callOf(ctx).log(o.id, "(", l.Name, ")< ", how)
	s, _ := ctx.Value(o).(*span)
	if n := len(o.open); n == 0 || s != o.open[n-1] || s.link != l {
		o.fault("%s is left, but not with the context of its entry, or out of turn", l.Name)
	} else {
		o.open = o.open[:n-1]
	}
}

func (o *watcher) fault(format string, args ...any) {
	if o.wrong == "" {
		o.wrong = fmt.Sprintf(format, args...)
	}
}

// names: names follow the links.
//
//	Names(New(a..., b...)) = Names(New(a...)) + Names(New(b...)) = Names(New(a...).Append(b...)) = Names(New(a...).Extend(New(b...)))
//	the order of names is the order in which links are entered
//	Names(c.InsertBefore(n, m...)) is Names(c) with the names of m in front of n; all editing does to links what it does to names
//
// A list that is kept apart from the links would break it.
func names[C any](t *rapid.T, a algebra[C]) {
	if a.Links == nil {
		return
	}
	pa, pb := draw(t, "a", passing), draw(t, "b", passing)
	ma, mb := named(pa), named(pb)
	both := a.New(slices.Concat(ma, mb)...)
	want := slices.Concat(namesOf(a, a.New(ma...)), namesOf(a, a.New(mb...)))
	for how, c := range map[string]C{
		"New(a..., b...)":              both,
		"New(a...).Append(b...)":       a.Append(a.New(ma...), mb...),
		"New(a...).Extend(New(b...))":  a.Extend(a.New(ma...), a.New(mb...)),
		"New(a..., b...).At(p)":        a.At(both, "p"),
		"New(a..., b...).Observe(o)":   a.Observe(both, &watcher{}),
		"New(a..., b...).Decorate(id)": a.Decorate(both, func(_ *chain.Link, h handler) handler { return h }),
	} {
		if diff := cmp.Diff(want, namesOf(a, c), equateEmpty); diff != "" {
			t.Fatalf("names of %s: -want, +got:\n%s", how, diff)
		}
	}
	if diff := cmp.Diff(append(want, "end"), play(a.Then(both, stopped.end())).entered()); diff != "" {
		t.Fatalf("the order of names is the order of entry: -want, +got:\n%s", diff)
	}

	e := drawEdit(t, a, slices.Concat(pa, pb), func(t *rapid.T) ([]step, []link) {
		added := draw(t, "n", passing)
		return added, named(added)
	})
	edited, err := e.apply(both)
	e.check(t, err)
	mustBehave(t, "the edited chain does what its names say", run(e.want, stopped), a.Then(edited, stopped.end()))
	want = nil
	for _, s := range e.want {
		want = append(want, s.id)
	}
	if diff := cmp.Diff(want, namesOf(a, edited), equateEmpty); diff != "" {
		t.Fatalf("names of the edited chain: -want, +got:\n%s", diff)
	}
}

func namesOf[C any](a algebra[C], c C) []string {
	var names []string
	for _, l := range a.Links(c) {
		names = append(names, l.Name)
	}
	return names
}

// edit is one change of a chain by name, and what should come of it.
type edit[C any] struct {
	op    string
	name  string
	found int // how often the chain has the name
	want  []step
	apply func(C) (C, error)
}

// drawEdit draws a change of a chain with the links of program, by a name that it may have once, more often, or not at all.
func drawEdit[C any](t *rapid.T, a algebra[C], program []step, given func(*rapid.T) ([]step, []link)) edit[C] {
	choice := []string{"nobody"}
	for _, s := range program {
		choice = append(choice, s.id)
	}
	e := edit[C]{
		op:   rapid.SampledFrom([]string{"InsertBefore", "InsertAfter", "Replace", "Without"}).Draw(t, "edit"),
		name: rapid.SampledFrom(choice).Draw(t, "name"),
		want: program,
	}
	at := 0
	for i, s := range program {
		if s.id == e.name {
			e.found, at = e.found+1, i
		}
	}
	added, ms := given(t)
	from, to := at, at+1 // what the added links replace
	switch e.op {
	case "InsertBefore":
		to = at
		e.apply = func(c C) (C, error) { return a.InsertBefore(c, e.name, ms...) }
	case "InsertAfter":
		from = at + 1
		e.apply = func(c C) (C, error) { return a.InsertAfter(c, e.name, ms...) }
	case "Replace":
		e.apply = func(c C) (C, error) { return a.Replace(c, e.name, ms...) }
	case "Without":
		added = nil
		e.apply = func(c C) (C, error) { return a.Without(c, e.name) }
	}
	if e.found == 1 {
		e.want = slices.Concat(program[:from], added, program[to:])
	}
	return e
}

// check holds the error of an edit against what it should be.
func (e edit[C]) check(t *rapid.T, err error) {
	if e.found == 1 {
		if err != nil {
			t.Fatalf("%s(%q): %v", e.op, e.name, err)
		}
		return
	}
	var named *chain.NameError
	if !errors.As(err, &named) || named.Op != e.op || named.Name != e.name || named.Found != e.found {
		t.Fatalf("%s(%q) where %d links have that name: want a NameError, got %v", e.op, e.name, e.found, err)
	}
}

// entered lists the links that were entered, exited those that were left, each in the order in which it happened.
func (o outcome) entered() []string { return o.ids("> ") }
func (o outcome) exited() []string  { return o.ids("< ") }

func (o outcome) ids(sign string) []string {
	var ids []string
	for _, event := range o.Events {
		if id, _, ok := strings.Cut(event, sign); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// equateEmpty has nil and empty slices compared as equal.
var equateEmpty = cmp.FilterValues(func(a, b []string) bool { return len(a) == 0 && len(b) == 0 }, cmp.Comparer(func(a, b []string) bool { return true }))
