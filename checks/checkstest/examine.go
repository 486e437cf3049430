package checkstest

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

// examination tries the rules with one drawn request and its variants. It
// composes the chain again for each request, so that rapid can find the
// smallest one although a link keeps state.
//
// It runs in one watched goroutine. The goroutine of rapid reports the finding.
type examination[R any] struct {
	*settings
	watch   watch
	inner   inner[R]
	h       handler[R]
	at      atomic.Pointer[variant[R]] // the request of the call under way
	finding *finding[R]
}

// finding is a broken rule. what is equal for equal draws, because rapid needs
// that to find the smallest request. details may contain addresses.
type finding[R any] struct {
	rule          Rule
	v             variant[R]
	what, details string
}

// examine fails the test if a chain breaks a rule with a request or a variant
// of it. It fails t if rapid may search for a smaller request, and outer if
// that would take too long.
func examine[R any](t *rapid.T, outer rapid.TB, links chain.Chain[R, checks.Result], s *settings, req R) {
	t.Helper()
	outer.Helper()
	e := &examination[R]{settings: s, watch: watch{within: s.within}}
	drawn := variant[R]{rule: Decides, req: req}
	forms := some(t, variants(req))
	e.h = compose(links.Append(chain.Named("inner", e.inner.link)), s)
	if why := e.h.broken.fault(s.within); why != "" {
		failNow(outer, links, s, Decides, drawn, "when it is composed "+why, "")
		return
	}
	end := e.watch.do(func() {
		e.all(drawn)
		for _, v := range forms {
			if e.finding == nil {
				e.calls(v)
			}
		}
	})
	if end.how == panicked { // Compose recovers the panics of links
		panic(fmt.Sprintf("checkstest: a defect of checkstest: %v\n%s", end.value, end.stack))
	}
	if why := end.fault(s.within); why != "" {
		v := e.at.Load()
		failNow(outer, links, s, v.rule, *v, v.with(why), "")
		return
	}
	if f := e.finding; f != nil {
		t.Logf("%s%s", f.v, f.details)
		t.Fatalf("%s", complaint(links, f.rule, f.what))
	}
}

// failNow fails the test without a search for a smaller request.
func failNow[R any](outer rapid.TB, links chain.Chain[R, checks.Result], s *settings, rule Rule, v variant[R], what, details string) {
	if s.tries(rule) {
		outer.Helper()
		outer.Fatalf("%s\n%s%s", complaint(links, rule, what), v, details)
	}
}

func complaint[R any](links chain.Chain[R, checks.Result], rule Rule, what string) string {
	return fmt.Sprintf("checkstest: %s breaks %s (%s): %s", links, rule, rules[rule].text, what)
}

// find records the first broken rule.
func (e *examination[R]) find(rule Rule, v variant[R], details, format string, args ...any) {
	if e.finding == nil && e.tries(rule) {
		e.finding = &finding[R]{rule, v, fmt.Sprintf(format, args...), details}
	}
}

// findAlways records a broken rule that has no excuse.
func (e *examination[R]) findAlways(rule Rule, v variant[R], a answer, what string) {
	if e.finding == nil {
		e.finding = &finding[R]{rule, v, what, "\n  it answered\n    " + a.String()}
	}
}

// all tries all rules with a drawn request.
func (e *examination[R]) all(v variant[R]) {
	alone := e.calls(v)
	for range 3 { // for random answers, such as the order of a map
		if e.finding == nil {
			e.again(v, alone)
		}
	}
}

// calls makes several calls with a request, one after the other, and returns
// the first answer.
func (e *examination[R]) calls(v variant[R]) answer {
	before := snapshot.Of(v.req)
	first := e.ask(v, v.req, innerProceeds)
	if diff := before.Diff(v.req); diff != "" {
		e.changed(v, diff)
	}
	if first.proceeds() {
		for _, inner := range []innerAnswer{innerBlocks, innerSkips, innerFails} {
			e.ask(v, v.req, inner)
		}
	}
	e.again(v, first)
	if e.tries(SameAnswer) { // a gate may record its start in the object
		if again := e.ask(v, equalCopy(v.req), innerProceeds); !again.same(first) {
			e.find(SameAnswer, v, differ(first, again), "the answer to equal objects in other places of memory differs: "+
				"does it print a pointer instead of a value?")
		}
	}
	if diff := before.Diff(v.req); diff != "" {
		e.changed(v, diff)
	}
	return first
}

// again repeats a call.
func (e *examination[R]) again(v variant[R], first answer) {
	if again := e.ask(v, v.req, innerProceeds); !again.same(first) {
		e.find(SameAnswer, v, differ(first, again), "the second answer to the same request differs")
	}
}

func differ(first, again answer) string {
	return fmt.Sprintf("\n  at first it answered\n    %s\n  and then\n    %s", first, again)
}

func (e *examination[R]) changed(v variant[R], diff string) {
	first, _, _ := strings.Cut(diff, "\n")
	v.what = strings.TrimPrefix(v.what+", as it was changed", ", ")
	e.find(SameAnswer, v, "\n  changes:\n    "+strings.ReplaceAll(diff, "\n", "\n    "), "it changed %s", first)
}

// ask makes one call and verifies its answer. inner is the answer of the inner
// links.
func (e *examination[R]) ask(v variant[R], req R, inner innerAnswer) answer {
	e.at.Store(&v)
	e.watch.step()
	e.inner.begin(inner, req)
	a := e.h.ask(req)
	a.called, a.other = e.inner.end()
	e.verify(v, a, inner)
	return a
}

// verify tries the rules that a single answer can break.
func (e *examination[R]) verify(v variant[R], a answer, inner innerAnswer) {
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
		broken(HandsOn, "it passes on a nil request, or a request that it made")
	case a.other:
		broken(HandsOn, "it passes on a changed copy of the request")
	case a.called > 1:
		broken(HandsOn, "it calls the inner links %d times", a.called)
	case a.called == 0 && forgot:
		e.findAlways(HandsOn, v, a, "it proceeds and does not call the inner links")
	case a.called == 1 && !inner.in(a) && inner.verb == innerProceeds.verb:
		broken(HandsOn, "it does not proceed, but it called the inner links")
	case a.called == 1 && !inner.in(a):
		broken(HandsOn, "an inner link %s, but the check does not return that", inner.verb)
	}
	if a.called == 0 && a.err == nil && a.res.Blocked() {
		if what := unexplained(a.res); what != "" {
			broken(Explains, "%s", what)
		}
	}
}

// unexplained returns the fault of the reason or message of a block, or "" if
// there is none.
func unexplained(res checks.Result) string {
	switch reason, message := res.Reason(), res.Message(); {
	case reason == checks.ReasonInvalid:
		return message
	case reason[0] < 'A' || reason[0] > 'Z':
		return fmt.Sprintf("the reason %q does not begin with a capital letter", reason)
	case strings.TrimSpace(message) == "", message == reason:
		return fmt.Sprintf("the block for %s has no message: name the awaited object", reason)
	}
	return ""
}
