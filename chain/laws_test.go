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
	"github.com/windlass-go/windlass/internal/onion"
	calls "github.com/windlass-go/windlass/internal/run"
	"github.com/windlass-go/windlass/internal/testing/draws"
	"pgregory.net/rapid"
)

// The laws of composition, as properties of random programs. Package chaintest
// tests links and assumes that chains work; these laws test chains.
//
// In the equations, a = b means that handlers a and b have the same events in
// the same order, the same view of the context, the same result, error (by ==)
// and panic value.

// TestOracle: links do what nested functions do, however the chain was made.
//
//	New(m1, ..., mn).Then(h) = m1(...mn(h))
//	New().Then(h) = C{}.Then(h) = h
//	New(a..., b..., c...) = New(a...).Append(b...).Append(c...)
//	                      = New(c...).Prepend(b...).Prepend(a...)
//	                      = New(a...).Extend(New(b...), New(), New(c...))
//	                      = C{}.Extend(New(a...).Extend(New(b...).Extend(New(c...))))
//	                      = New(New(a..., b...).Then, c...)
//	                      = New(a..., func(next) { return next }, b..., c...)
//	New(m...).Cut(n) = New(m[:n]...), New(m[n:]...)
//	New(a..., b...).Then(New(c...).Then(h)) = New(a..., b..., c...).Then(h)
//
// One of the links may compose the whole chain around another end, and call it.
//
// These mistakes break the law: a wrong order, code between the links, one
// cursor for all calls, a stored end, a lost context, a recovered panic, a
// replaced error, and a lost link of a nested chain.
func TestOracle(t *testing.T) { draws.Times(t, 4); rapid.Check(t, oracle) }

func oracle(t *rapid.T) {
	pa, pb, pc := draw(t, "a", anything), draw(t, "b", passing), draw(t, "c", anything)
	end, inner := drawEnd(t, "end"), drawEnd(t, "inner")
	all := slices.Concat(pa, pb, pc)
	mustBehave(t, "New().Then(h)", run(nil, end), chain.New[request, string]().Then(end.end()))
	mustBehave(t, "C{}.Then(h)", run(nil, end), links{}.Then(end.end()))

	real := slices.Clone(all)
	if len(all) > 0 && rapid.Bool().Draw(t, "reenters") {
		i := rapid.IntRange(0, len(all)-1).Draw(t, "reenter at")
		again := step{id: all[i].id, op: reenter}
		all[i], real[i] = again, again
		all[i].again = func() handler { return run(all, inner) }
		real[i].again = func() handler { return chain.New(named(real)...).Then(inner.end()) }
	}
	ms := named(real)
	if rapid.Bool().Draw(t, "raw") {
		for i, s := range real {
			ms[i] = s.raw()
		}
	}
	ma, mb, mc := ms[:len(pa)], ms[len(pa):len(pa)+len(pb)], ms[len(pa)+len(pb):]
	ab, c := chain.New(ms[:len(pa)+len(pb)]...), chain.New(mc...)
	outer, inside := chain.New(ms...).Cut(len(pa))
	noop := func(next handler) handler { return next }
	h, want := end.end(), run(all, end)
	for equation, got := range map[string]handler{
		"New(m...)":                              chain.New(ms...).Then(h),
		"New(a...).Append(b...).Append(c...)":    chain.New(ma...).Append(mb...).Append(mc...).Then(h),
		"New(c...).Prepend(b...).Prepend(a...)":  c.Prepend(mb...).Prepend(ma...).Then(h),
		"New(a...).Extend(New(b...), New(c...))": chain.New(ma...).Extend(chain.New(mb...), links{}, c).Then(h),
		"C{}.Extend(New(a...).Extend(...))":      links{}.Extend(chain.New(ma...).Extend(chain.New(mb...).Extend(c))).Then(h),
		"New(New(a..., b...).Then, c...)":        chain.New(ab.Then).Append(mc...).Then(h),
		"New(a..., noop, b..., c...)":            chain.New(ma...).Append(noop).Append(mb...).Append(mc...).Then(h),
		"New(a..., b...).Then(New(c...).Then)":   ab.Then(c.Then(h)),
		"New(m...).Cut(n)":                       outer.Then(inside.Then(h)),
	} {
		mustBehave(t, equation, want, got)
	}
}

// TestHistory: no operation changes its arguments, or the result of another
// operation. It is a state machine in which callers also overwrite their
// slices.
//
//	after any history, each chain ever made = New(its links...), by its points, its names and its calls
//	two chains overlap = one link of both is the same
//
// These mistakes break the law: a chain that stores the slice of its caller, a
// chain that appends to a shared slice with spare capacity, and a list of names
// that is separate from the links.
func TestHistory(t *testing.T) { draws.Times(t, 4); rapid.Check(t, newHistory) }

func newHistory(t *rapid.T) {
	m := &history{}
	m.new(t) // so that every action has a chain to act on
	t.Repeat(map[string]func(*rapid.T){
		"": m.check, "New": m.new, "Append": m.append, "Siblings": m.siblings, "Extend": m.extend, "Cut": m.cut, "Then": m.compose,
		"Overwrite": m.overwrite, "At": m.at, "Map": m.mapped, "Decorate": m.decorate, "Observe": m.observe, "Edit": m.edit,
	})
}

// history holds the chains and handlers made so far. Every link only calls
// next, because only the order of the links matters here.
type history struct {
	chains   []version
	handlers []composed
	slices   [][]link // callers' slices, up to their capacity
	steps    int
}

// version is a chain with its expected links, and the expected layers around
// each of them.
type version struct {
	chain  links
	links  []step
	layers []string
	events []string // the expected events of a call
}

// composed is a handler with the expected events of a call.
type composed struct {
	handler handler
	events  []string
}

var stopped = step{id: "end", op: stop}

// layered returns the program with layers around each link. The trace shows a
// decoration or an observer as a link.
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

func (m *history) check(t *rapid.T) {
	for _, c := range m.chains {
		var names, got []string
		for _, s := range c.links {
			names = append(names, s.point+"/"+s.id)
		}
		for _, l := range c.chain.Links() {
			got = append(got, l.Point+"/"+l.Name)
		}
		if !slices.Equal(names, got) || c.chain.Len() != len(got) {
			t.Fatalf("the points and names listed by a chain: -want, +got:\n%s", cmp.Diff(names, got))
		}
		for _, o := range m.chains {
			want := slices.ContainsFunc(c.links, func(s step) bool {
				return slices.ContainsFunc(o.links, func(l step) bool { return l.serial == s.serial })
			})
			if got := c.chain.Overlaps(o.chain); got != want {
				t.Fatalf("Overlaps of %s and %s: got %t", c.chain, o.chain, got)
			}
		}
		if got := trace(c.chain.Then(stopped.end())); !slices.Equal(got, c.events) {
			t.Fatalf("a later operation changed a chain: -want, +got:\n%s", cmp.Diff(c.events, got))
		}
	}
	for _, h := range m.handlers {
		if got := trace(h.handler); !slices.Equal(got, h.events) {
			t.Fatalf("a later operation changed a handler: -want, +got:\n%s", cmp.Diff(h.events, got))
		}
	}
}

// add stores a chain. It drops another one if there are many, so that the check
// stays short.
func (m *history) add(t *rapid.T, c version) {
	if len(m.chains) >= 6 {
		i := rapid.IntRange(0, len(m.chains)-1).Draw(t, "drop")
		m.chains = slices.Delete(m.chains, i, i+1)
	}
	c.events = trace(run(layered(c.links, c.layers), stopped))
	m.chains = append(m.chains, c)
}

func (m *history) pick(t *rapid.T) version {
	return rapid.SampledFrom(m.chains).Draw(t, "chain")
}

// given makes links in a slice with spare capacity. Some names occur more than
// once.
func (m *history) given(t *rapid.T) ([]step, []link) {
	n := rapid.IntRange(0, 3).Draw(t, "links")
	program := make([]step, n)
	for i := range program {
		program[i] = step{id: fmt.Sprint("m", m.steps%20), op: pass, serial: m.steps}
		m.steps++
	}
	ms := slices.Grow(named(program), rapid.IntRange(0, 3).Draw(t, "spare"))
	m.slices = append(m.slices, ms[:cap(ms)])
	return program, ms
}

func (m *history) new(t *rapid.T) {
	program, ms := m.given(t)
	m.add(t, version{chain: chain.New(ms...), links: program})
}

func (m *history) append(t *rapid.T) {
	c := m.pick(t)
	program, ms := m.given(t)
	c.chain, c.links = c.chain.Append(ms...), slices.Concat(c.links, program)
	m.add(t, c)
}

// siblings appends to one chain twice. Shared capacity would show.
func (m *history) siblings(t *rapid.T) {
	c := m.pick(t)
	for range 2 {
		program, ms := m.given(t)
		m.add(t, version{chain: c.chain.Append(ms...), links: slices.Concat(c.links, program), layers: c.layers})
	}
}

func (m *history) extend(t *rapid.T) {
	c := m.pick(t)
	var others []links
	for range rapid.IntRange(0, 2).Draw(t, "others") {
		o := m.pick(t)
		others = append(others, o.chain)
		c.links = slices.Concat(c.links, o.links)
	}
	c.chain = c.chain.Extend(others...)
	if len(c.links) <= 12 {
		m.add(t, c)
	}
}

func (m *history) cut(t *rapid.T) {
	c := m.pick(t)
	n := rapid.IntRange(0, c.chain.Len()).Draw(t, "outer links")
	outer, inner := c.chain.Cut(n)
	m.add(t, version{chain: outer, links: c.links[:n:n], layers: c.layers})
	m.add(t, version{chain: inner, links: c.links[n:], layers: c.layers})
}

func (m *history) compose(t *rapid.T) {
	c := m.pick(t)
	if len(m.handlers) < 4 {
		m.handlers = append(m.handlers, composed{c.chain.Then(stopped.end()), c.events})
	}
}

func (m *history) overwrite(t *rapid.T) {
	for i, s := 0, rapid.SampledFrom(m.slices).Draw(t, "slice"); i < len(s); i++ {
		s[i] = step{id: "overwritten", op: pass}.named()
	}
}

func (m *history) at(t *rapid.T) {
	c, point := m.pick(t), rapid.SampledFrom([]string{"Apply", "Get"}).Draw(t, "point")
	c.chain, c.links = c.chain.At(point), slices.Clone(c.links)
	for i := range c.links {
		c.links[i].point = point
	}
	m.add(t, c)
}

func (m *history) mapped(t *rapid.T) {
	c := m.pick(t)
	c.chain, c.layers = chain.Map(c.chain, func(l link) link { return l }), nil
	m.add(t, c)
}

func (m *history) decorate(t *rapid.T) {
	c := m.pick(t)
	if len(c.layers) == 5 {
		t.Skip("the chain has enough layers")
	}
	id := fmt.Sprint("d", len(c.layers))
	c.layers = append(slices.Clip(c.layers), id)
	c.chain = onion.Decorate(c.chain, func(l *chain.Link, h handler) handler {
		return step{id: id + "(" + l.Name + ")", op: pass}.raw()(h)
	}, nil)
	m.add(t, c)
}

func (m *history) observe(t *rapid.T) {
	c := m.pick(t)
	if len(c.layers) == 5 {
		t.Skip("the chain has enough layers")
	}
	o := &tracer{id: fmt.Sprint("o", len(c.layers)), on: rapid.Bool().Draw(t, "enabled")}
	if o.on {
		c.layers = append(slices.Clip(c.layers), o.id)
	}
	c.chain = c.chain.Observe(o).Observe(nil)
	m.add(t, c)
}

func (m *history) edit(t *rapid.T) {
	c := m.pick(t)
	e := drawEdit(t, c.links, m.given)
	got, err := e.apply(c.chain)
	e.check(t, err)
	c.chain, c.links = got, e.want
	m.add(t, c)
}

// TestConcurrency: calls at the same time are independent.
//
//	each of n calls at once, of one handler and of several compositions = that call alone
//
// A chain that a call changes breaks the law. The race detector reports the
// change even if no result shows it.
func TestConcurrency(t *testing.T) { rapid.Check(t, concurrency) }

func concurrency(t *rapid.T) {
	program := draw(t, "a", anything)
	ends := []step{drawEnd(t, "end0"), drawEnd(t, "end1")}
	c := chain.New(named(program)...)
	shared := []handler{c.Then(ends[0].end()), c.Then(ends[1].end())}

	const n = 8
	got := make([]outcome, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			h := shared[i%2]
			if i%4 < 2 {
				h = c.Then(ends[i%2].end())
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

// TestTelemetry: an observer sees every link and changes nothing.
//
//	c.Observe(o).Then(h) = c.Then(h), whatever the links do, for any number of observers, each enabled or not
//	an enabled observer sees each link entered once and left once, and is nested as a link around it would be
//	of a disabled observer only Enabled is called
func TestTelemetry(t *testing.T) { draws.Times(t, 4); rapid.Check(t, telemetry) }

func telemetry(t *rapid.T) {
	program, end := draw(t, "a", anything), drawEnd(t, "end")
	bare := chain.New(named(program)...)
	var all []*tracer
	var layers []string
	observed := bare
	detached := slices.ContainsFunc(program, func(s step) bool { return s.op == detach })
	for i := range rapid.IntRange(0, 3).Draw(t, "observers") {
		o := &tracer{id: fmt.Sprint("o", i), attached: !detached, on: rapid.Bool().Draw(t, "enabled")}
		all = append(all, o)
		if o.on {
			layers = append(layers, o.id)
		}
		observed = observed.Observe(o)
	}

	got := play(observed.Then(end.end()))
	if diff := cmp.Diff(play(run(layered(program, layers), end)), got, sameError); diff != "" {
		t.Fatalf("an observer must see what a link in its place would see: -want, +got:\n%s", diff)
	}
	got.Events = slices.DeleteFunc(got.Events, func(event string) bool { return strings.Contains(event, "(a") && event[0] == 'o' })
	if diff := cmp.Diff(play(bare.Then(end.end())), got, sameError); diff != "" {
		t.Fatalf("c.Observe(o) = c: -want, +got:\n%s", diff)
	}
	for _, o := range all {
		if o.wrong != "" {
			t.Fatalf("observer %s: %s", o.id, o.wrong)
		}
		if len(o.open) > 0 {
			t.Fatalf("observer %s got no Exit for %v", o.id, o.open)
		}
		if o.asked != 1 && len(program) > 0 && !detached {
			t.Fatalf("Enabled of observer %s was called %d times, want once for the call", o.id, o.asked)
		}
	}
}

// tracer is an observer that writes into the trace of the call, as a link in
// its place would.
type tracer struct {
	id       string
	on       bool
	attached bool // no link passes on an unrelated context
	asked    int
	open     []*span // entered and not yet left
	wrong    string  // the first fault
}

// span is the value that a tracer puts into the context of a link.
type span struct{ link *chain.Link }

func (o *tracer) Enabled(context.Context) bool { o.asked++; return o.on }

func (o *tracer) Enter(ctx context.Context, l *chain.Link) context.Context {
	callOf(ctx).log(o.id, "(", l.Name, ")> ", view(ctx))
	// A detached link has no outer span. The outer span of any other link is
	// the one entered last.
	switch outer, ok := ctx.Value(o).(*span); {
	case ok && (len(o.open) == 0 || outer != o.open[len(o.open)-1]):
		o.fault("%s is entered in the context of %s, which is not its outer link", l.Name, outer.link.Name)
	case !ok && len(o.open) > 0 && o.attached:
		o.fault("%s is entered without the span of its outer link", l.Name)
	}
	s := &span{l}
	o.open = append(o.open, s)
	return context.WithValue(ctx, o, s)
}

func (o *tracer) Exit(ctx context.Context, l *chain.Link, e chain.Exit) {
	how := unwinding
	if e.Panic == nil && !errors.Is(e.Err, calls.ErrGoexit) {
		how = left(e.Result.(string), e.Err)
	}
	callOf(ctx).log(o.id, "(", l.Name, ")< ", how)
	s, _ := ctx.Value(o).(*span)
	if n := len(o.open); n == 0 || s != o.open[n-1] || s.link != l {
		o.fault("%s is left with another context than that of its Enter, or in the wrong order", l.Name)
	} else {
		o.open = o.open[:n-1]
	}
}

func (o *tracer) fault(format string, args ...any) {
	if o.wrong == "" {
		o.wrong = fmt.Sprintf(format, args...)
	}
}

// edit is one change of a chain by name, with its result.
type edit struct {
	op    string
	name  string
	found int // how often the chain has the name
	want  []step
	apply func(links) (links, error)
}

// drawEdit draws a change of a chain with the links of program. The chain may
// have the name once, more often, or not at all.
func drawEdit(t *rapid.T, program []step, given func(*rapid.T) ([]step, []link)) edit {
	choice := []string{"absent"}
	for _, s := range program {
		choice = append(choice, s.id)
	}
	e := edit{
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
		e.apply = func(c links) (links, error) { return c.InsertBefore(e.name, ms...) }
	case "InsertAfter":
		from = at + 1
		e.apply = func(c links) (links, error) { return c.InsertAfter(e.name, ms...) }
	case "Replace":
		e.apply = func(c links) (links, error) { return c.Replace(e.name, ms...) }
	case "Without":
		added = nil
		e.apply = func(c links) (links, error) { return c.Without(e.name) }
	}
	if e.found == 1 {
		e.want = slices.Concat(program[:from], added, program[to:])
	}
	return e
}

// check compares the error of an edit with the expected one.
func (e edit) check(t *rapid.T, err error) {
	if e.found == 1 {
		if err != nil {
			t.Fatalf("%s(%q): %v", e.op, e.name, err)
		}
		return
	}
	listed := "(empty)"
	for i, s := range e.want {
		if listed += " -> " + s.id; i == 0 {
			listed = s.id
		}
	}
	text := fmt.Sprintf("chain: %s: no link is named %q in %s", e.op, e.name, listed)
	if e.found > 1 {
		text = fmt.Sprintf("chain: %s: %d links are named %q in %s: give each a name of its own with chain.Named", e.op, e.found, e.name, listed)
	}
	if err == nil || err.Error() != text {
		t.Fatalf("%s(%q): got %v, want the error %s", e.op, e.name, err, text)
	}
}
