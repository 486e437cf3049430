package checkstest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/snapshot"
)

// exam is the examination of a chain with one request that was drawn, and with what is made of it. The chain is composed anew for
// each, so that what a link remembers there does not keep rapid from finding the smallest request.
//
// All of it runs in one goroutine that is watched, and what is found is reported by the one that rapid runs in.
type exam[R any] struct {
	*settings
	ctx    context.Context // of all calls, with a label
	watch  watch
	behind behind[R]
	h      handler[R]
	at     atomic.Pointer[variant[R]] // what is being asked about
	over   chan struct{}              // closed in the end
	found  *finding[R]
}

// finding is a rule that is broken. what is the same for the same draws, as rapid needs that to find the smallest ones; details,
// with addresses in them, need not be.
type finding[R any] struct {
	rule          Rule
	v             variant[R]
	what, details string
}

// examine fails the test if a chain breaks a rule with a request, or with one that is made of it: t if a smaller request may be
// looked for, and outer if that would take too long.
func examine[R any](t *rapid.T, outer rapid.TB, links chain.Chain[R, checks.Result], s *settings, herd *herd, req R) {
	t.Helper()
	outer.Helper()
	e := &exam[R]{settings: s, ctx: herd.ctx, watch: watch{within: s.within}, over: make(chan struct{})}
	defer close(e.over)
	drawn := variant[R]{rule: Decides, req: req}
	forms := some(t, variants(req))
	e.h = compose(links.Append(chain.Named("behind", e.behind.link)), s)
	if why := e.h.broken.fault(s.within); why != "" {
		stuck(outer, links, s, Decides, drawn, "when it is composed "+why, "")
		return
	}
	end := e.watch.do(e.ctx, func() {
		e.all(drawn)
		for _, v := range forms {
			if e.found == nil {
				e.calls(v)
			}
		}
	})
	if end.how == panicked { // links cannot, by way of Compose
		panic(fmt.Sprintf("checkstest: a fault of the kit: %v\n%s", end.value, end.stack))
	}
	if why := end.fault(s.within); why != "" {
		v := e.at.Load()
		stuck(outer, links, s, v.rule, *v, v.with(why), "")
		return
	}
	if f := e.found; f != nil {
		t.Logf("%s%s", f.v, f.details)
		t.Fatalf("%s", complaint(links, f.rule, f.what))
	}
	if herd.grown() {
		leaves(outer, links, s, herd, req)
	}
}

// leaves holds a link to EndsAll.
func leaves[R any](outer rapid.TB, links chain.Chain[R, checks.Result], s *settings, herd *herd, req R) {
	if !s.asks(EndsAll) {
		return
	}
	outer.Helper()
	if stack := herd.left(s.within); stack != "" {
		what := fmt.Sprintf("a goroutine that it started is still running %s after the answer", s.within)
		stuck(outer, links, s, EndsAll, variant[R]{req: req}, what, "\n  it is at\n"+stack)
	}
}

// stuck fails the test at once, with the request as it is.
func stuck[R any](outer rapid.TB, links chain.Chain[R, checks.Result], s *settings, rule Rule, v variant[R], what, details string) {
	if s.asks(rule) {
		outer.Helper()
		outer.Fatalf("%s\n%s%s", complaint(links, rule, what), v, details)
	}
}

func complaint[R any](links chain.Chain[R, checks.Result], rule Rule, what string) string {
	return fmt.Sprintf("checkstest: %s breaks %s (%s): %s", links, rule, rules[rule].says, what)
}

// find notes the first rule that is broken.
func (e *exam[R]) find(rule Rule, v variant[R], details, format string, args ...any) {
	if e.found == nil && e.asks(rule) {
		e.found = &finding[R]{rule, v, fmt.Sprintf(format, args...), details}
	}
}

// never notes a rule that is broken, and from which nothing is excused.
func (e *exam[R]) never(rule Rule, v variant[R], a answer, what string) {
	if e.found == nil {
		e.found = &finding[R]{rule, v, what, "\n  it answered\n    " + a.String()}
	}
}

// all tries everything with a request that was drawn.
func (e *exam[R]) all(v variant[R]) {
	alone := e.calls(v)
	for range 3 { // for what is left to chance, as the order of a map
		if e.found == nil {
			e.again(v, alone)
		}
	}
	if e.found == nil && e.asks(Cancels) {
		e.canceled(v, alone)
	}
	if e.found == nil && e.asks(Concurrent) {
		e.crowd(v, alone)
	}
}

// calls asks about a request several times, one after the other, and gives the first answer.
func (e *exam[R]) calls(v variant[R]) answer {
	before := snapshot.Of(v.req)
	first := e.ask(v, v.req, goOn)
	if diff := before.Diff(v.req); diff != "" {
		e.changed(v, diff)
	}
	if first.proceeds() {
		for _, says := range []said{sayBlock, saySkip, sayFail} {
			e.ask(v, v.req, says)
		}
	}
	e.again(v, first)
	if e.asks(SameAnswer) { // a gate may note in the object what it has begun
		if again := e.ask(v, twin(v.req), goOn); !again.same(first) {
			e.find(SameAnswer, v, differ(first, again), "the answer is another one for equal objects that lie elsewhere: "+
				"does it print a pointer, where it means what is there?")
		}
	}
	if diff := before.Diff(v.req); diff != "" {
		e.changed(v, diff)
	}
	return first
}

// again asks about the same once more.
func (e *exam[R]) again(v variant[R], first answer) {
	if again := e.ask(v, v.req, goOn); !again.same(first) {
		e.find(SameAnswer, v, differ(first, again), "the answer to the same request is another one when it is asked again")
	}
}

// steady tells whether a link that answered otherwise somewhere else does not do so anyway: then that is what is wrong with it.
func (e *exam[R]) steady(v variant[R], first answer) bool {
	if !e.asks(SameAnswer) {
		return false
	}
	for range 50 {
		if e.found == nil {
			e.again(v, first)
		}
	}
	return e.found == nil
}

func differ(first, again answer) string {
	return fmt.Sprintf("\n  at first it answered\n    %s\n  and then\n    %s", first, again)
}

func (e *exam[R]) changed(v variant[R], diff string) {
	first, _, _ := strings.Cut(diff, "\n")
	v.what = strings.TrimPrefix(v.what+", as it was changed", ", ")
	e.find(ReadOnly, v, "\n  changes:\n    "+strings.ReplaceAll(diff, "\n", "\n    "), "it changed %s", first)
}

// ask asks about a request, and judges the answer by itself.
func (e *exam[R]) ask(v variant[R], req R, says said) answer {
	return e.askIn(e.ctx, v, req, says, v.rule)
}

// askIn asks with a context. returns is the rule that is broken if there is no answer.
func (e *exam[R]) askIn(ctx context.Context, v variant[R], req R, says said, returns Rule) answer {
	e.begin(v, returns)
	e.behind.begin(says, req)
	a := e.h.ask(ctx, req)
	a.handed, a.other = e.behind.end()
	e.judge(v, a, says)
	return a
}

// begin begins to ask about something.
func (e *exam[R]) begin(v variant[R], returns Rule) {
	v.rule = returns
	e.at.Store(&v)
	e.watch.step()
}

// judge holds a link to the rules that can be seen in a single answer.
func (e *exam[R]) judge(v variant[R], a answer, says said) {
	broken := func(rule Rule, format string, args ...any) {
		e.find(rule, v, "\n  it answered\n    "+a.String(), format, args...)
	}
	if why := a.ending.fault(e.within); why != "" {
		broken(v.rule, "%s", v.with(why))
		return
	}
	switch forgot := errors.Is(a.err, checks.ErrEndNotReached); {
	case errors.Is(a.err, checks.ErrNoDecision):
		broken(v.rule, "%s", v.with("it returns the zero Result"))
	case errors.Is(a.err, checks.ErrForeignRequest), errors.Is(a.err, checks.ErrNilRequest):
		broken(HandsOn, "it hands on a request that is nil, or that it made itself")
	case a.other:
		broken(HandsOn, "it hands on a copy of the request that says something else")
	case a.handed > 1:
		broken(HandsOn, "it calls the links behind it %d times", a.handed)
	case a.handed == 0 && forgot:
		e.never(HandsOn, v, a, "it says proceed and does not call the links behind it")
	case a.handed == 1 && !says.in(a) && says.words == goOn.words:
		broken(Stops, "it does not let the work go on, and the links behind it were called")
	case a.handed == 1 && !says.in(a):
		broken(PassesOut, "a link behind it %s, and that does not come out", says.words)
	}
	if a.handed == 0 && a.err == nil && a.res.Blocked() {
		if what := unexplained(a.res); what != "" {
			broken(Explains, "%s", what)
		}
	}
}

// unexplained says what a block lacks; "" if it has all.
func unexplained(res checks.Result) string {
	switch reason, message := res.Reason(), res.Message(); {
	case reason == checks.ReasonInvalid:
		return message
	case reason[0] < 'A' || reason[0] > 'Z':
		return fmt.Sprintf("the reason %q does not begin with a capital letter", reason)
	case strings.TrimSpace(message) == "", message == reason:
		return fmt.Sprintf("the block for %s has no message: say what is waited for", reason)
	}
	return ""
}

// canceled holds a link to Cancels: with a context that is canceled, and one that is canceled while it asks the resolver.
func (e *exam[R]) canceled(v variant[R], alone answer) {
	done, cancel := context.WithCancel(e.ctx)
	cancel()
	e.interrupted(v, alone, done, "with a context that is canceled", func(ask checks.Resolver) checks.Resolver {
		return func(ctx context.Context, ref checks.Ref) (checks.Object, error) {
			if err := ctx.Err(); err != nil {
				return checks.Object{}, err
			}
			return ask(ctx, ref)
		}
	})
	running, cancel := context.WithCancel(e.ctx)
	defer cancel()
	e.interrupted(v, alone, running, "with a context that is canceled while it asks the resolver", func(checks.Resolver) checks.Resolver {
		return func(ctx context.Context, _ checks.Ref) (checks.Object, error) {
			cancel()
			select {
			case <-ctx.Done():
				return checks.Object{}, ctx.Err()
			case <-e.over:
				return checks.Object{}, errResolver
			}
		}
	})
}

// interrupted asks with a context, and a resolver that heeds it.
func (e *exam[R]) interrupted(given variant[R], alone answer, ctx context.Context, what string,
	heed func(checks.Resolver) checks.Resolver) {

	v := variant[R]{what, given.rule, copied(given.req)}
	if o := mustPartsOf(v.req).owner; o.Resolver != nil {
		o.Resolver = heed(o.Resolver)
	}
	a := e.askIn(ctx, v, v.req, goOn, Cancels)
	switch {
	case a.same(alone), errors.Is(a.err, context.Canceled), !e.steady(given, alone):
	case a.proceeds():
		e.find(Cancels, v, differ(alone, a), "%s it proceeds, which it does not otherwise", what)
	default:
		e.find(Cancels, v, differ(alone, a), "%s it answers neither as it does otherwise nor with the context's error", what)
	}
}

// many is how many goroutines ask at once.
const many = 8

// crowd holds a link to Concurrent.
func (e *exam[R]) crowd(given variant[R], alone answer) {
	v := variant[R]{fmt.Sprintf("asked about by %d at once", many), given.rule, given.req}
	e.begin(v, Concurrent)
	before := snapshot.Of(v.req)
	var any R
	e.behind.begin(goOn, any)
	var wait sync.WaitGroup
	start := make(chan struct{})
	answers := make([]answer, many)
	for i := range answers {
		req := copied(v.req)
		if !e.asks(ReadOnly) {
			req = twin(v.req) // two must not change the same
		}
		wait.Go(func() {
			answers[i].ending.how = exited
			<-start
			labeled(e.ctx, func() { answers[i] = e.h.ask(e.ctx, req) }, func() {})
		})
	}
	close(start)
	wait.Wait()
	handed, _ := e.behind.end()
	for _, a := range answers {
		if (!a.same(alone) || a.ending.how != alone.ending.how) && e.steady(given, alone) {
			e.find(Concurrent, v, differ(alone, a), "asked by %d at once, it answers otherwise than alone", many)
		}
	}
	if handed != many*alone.handed && e.steady(given, alone) {
		e.find(Concurrent, v, "", "asked by %d at once, it called the links behind it %d times", many, handed)
	}
	if diff := before.Diff(v.req); diff != "" {
		e.changed(v, diff)
	}
}
