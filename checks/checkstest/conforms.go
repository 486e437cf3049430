package checkstest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/testing/patience"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

// The names of the rules. doc.go explains them.
const (
	decides    = "Decides"
	nilFields  = "NilFields"
	handsOn    = "HandsOn"
	sameAnswer = "SameAnswer"
	explains   = "Explains"
)

var rules = map[string]string{
	decides:    "it decides in time, whatever the owner is",
	nilFields:  "it decides if a field is not set",
	handsOn:    "it passes on the request as it got it, and calls the inner links before it proceeds",
	sameAnswer: "it gives the same answer to the same request, and changes nothing",
	explains:   "a block has a reason in CamelCase, and a message",
}

// conforms draws requests and fails the test if a chain breaks a rule with one of
// them, or with a variant of one. After a time-out it shows the request of that
// call, because each smaller one would take as long.
func conforms[R any](t rapid.TB, links chain.Chain[R, checks.Result], requests *rapid.Generator[R], s *settings) {
	t.Helper()
	s.gate = strings.Contains(links.String(), "Gate(")
	sub(t, "Conforms", func(outer rapid.TB) {
		outer.Helper()
		if outer.Failed() { // rapid would panic
			outer.Logf("checkstest: %s: the rules were not tried, because the test has already failed", links)
			return
		}
		rapid.Check(outer, func(t *rapid.T) {
			e := &examination[R]{settings: s}
			f := e.examine(t, links, draw(t, "Laws", links, requests))
			if f == nil {
				return
			}
			text := fmt.Sprintf("checkstest: %s breaks %s (%s): %s", links, f.rule, rules[f.rule], f.what)
			if f.slow {
				outer.Fatalf("%s\n%s", text, f.details)
			}
			t.Log(f.details)
			t.Fatalf("%s", text)
		})
	})
}

// draw draws a request.
func draw[R any](t *rapid.T, by string, links chain.Chain[R, checks.Result], requests *rapid.Generator[R]) R {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		of := reflect.TypeOf(p)
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if strings.HasPrefix(of.PkgPath(), "pgregory.net/rapid") { // rapid ends a draw by its own panics
			panic(p)
		}
		t.Fatalf("checkstest: %s: %s: the generator of requests panics: %v", by, links, p)
	}()
	req := rapid.Custom(func(t *rapid.T) drawn[R] { return drawn[R]{requests.Draw(t, "request")} }).Draw(t, "request").req
	if isNil(req) {
		t.Fatalf("checkstest: %s: %s: the generator made a request that is nil", by, links)
	}
	return req
}

// drawn is a request that rapid prints without unexported fields.
type drawn[R any] struct{ req R }

// GoString returns the request in one line.
func (d drawn[R]) GoString() string {
	if isNil(d.req) {
		return "nil"
	}
	return viewOf(d.req).String()
}

// examination tries the rules with one drawn request and its variants. It
// composes the chain again for each request, so that rapid can find the
// smallest one although a link keeps state.
type examination[R any] struct {
	*settings
	inner inner[R]
	call  chain.Handler[R, checks.Result]
	steps atomic.Int64               // the number of calls; the time-out is for each
	at    atomic.Pointer[variant[R]] // the request of the call under way
	found *finding
}

// finding is a broken rule. what is equal for equal draws, because rapid needs
// that to find the smallest request. details may contain addresses.
type finding struct {
	rule, what, details string
	slow                bool // a smaller request would take too long
}

// maxVariants limits the number of variants tried for each request.
const maxVariants = 100

// examine returns the first broken rule.
func (e *examination[R]) examine(t *rapid.T, links chain.Chain[R, checks.Result], req R) *finding {
	given := variant[R]{rule: decides, req: req}
	if end := patience.Run(within, nil, func() { e.call = checks.Compose(links.Append(chain.Named("inner", e.inner.link))) }); end.Fault(within) != "" {
		return &finding{decides, "when it is composed " + end.Fault(within), given.String(), true}
	}
	all := variants(req)
	if more := len(all) - maxVariants; more > 0 {
		from := rapid.IntRange(0, more).Draw(t, "first variant")
		all = all[from : from+maxVariants]
	}
	end := patience.Run(within, &e.steps, func() {
		first := e.calls(given)
		for range 3 { // for random answers, such as the order of a map
			e.again(given, first)
		}
		for _, v := range all {
			if e.found == nil {
				e.calls(v)
			}
		}
	})
	if end.Panic != nil { // Compose recovers the panics of links
		panic(fmt.Sprintf("checkstest: a defect of checkstest: %v\n%s", end.Panic, end.Stack))
	}
	if why := end.Fault(within); why != "" {
		v := e.at.Load()
		return &finding{v.rule, v.with(why), v.String(), true}
	}
	return e.found
}

// find records the first broken rule.
func (e *examination[R]) find(rule string, v variant[R], details, format string, args ...any) {
	if e.found == nil && e.tries(rule) {
		e.found = &finding{rule: rule, what: fmt.Sprintf(format, args...), details: v.String() + details}
	}
}

// calls makes several calls with a request, one after the other, and returns
// the first answer.
func (e *examination[R]) calls(v variant[R]) answer {
	before := snapshot.Of(v.req)
	changed := func() {
		if diff := before.Diff(v.req); diff != "" {
			first, _, _ := strings.Cut(diff, "\n")
			e.find(sameAnswer, v, "\n  changes:\n    "+strings.ReplaceAll(diff, "\n", "\n    "), "it changed %s", first)
		}
	}
	first := e.ask(v, v.req)
	changed()
	e.again(v, first)
	if e.tries(sameAnswer) { // a gate may record its start in the object
		if again := e.ask(v, equalCopy(v.req)); !again.same(first) {
			e.find(sameAnswer, v, again.after(first), "the answer to equal objects in other places of memory differs: "+
				"does it print a pointer instead of a value?")
		}
	}
	changed()
	return first
}

// again repeats a call.
func (e *examination[R]) again(v variant[R], first answer) {
	if e.found != nil {
		return
	}
	if again := e.ask(v, v.req); !again.same(first) {
		e.find(sameAnswer, v, again.after(first), "the second answer to the same request differs")
	}
}

// ask makes one call, and tries the rules that a single answer can break. It
// cancels the context after the answer, like an engine after a pass.
func (e *examination[R]) ask(v variant[R], req R) (a answer) {
	e.at.Store(&v)
	e.steps.Add(1)
	e.inner.given, e.inner.called, e.inner.other = req, false, false
	a = ask(e.call, req)
	broken := func(rule string, what string) { e.find(rule, v, "\n  it answered\n    "+a.String(), "%s", what) }
	if why := faultOf(a.err); why != "" {
		broken(v.rule, v.with(why))
		return a
	}
	switch {
	case errors.Is(a.err, checks.ErrNoDecision):
		broken(v.rule, v.with("it returns the zero Result"))
	case errors.Is(a.err, checks.ErrForeignRequest), errors.Is(a.err, checks.ErrNilRequest):
		broken(handsOn, "it passes on a nil request, or a request that it made")
	case e.inner.other:
		broken(handsOn, "it passes on a changed copy of the request")
	case errors.Is(a.err, checks.ErrEndNotReached):
		broken(handsOn, "it proceeds and does not call the inner links")
	}
	if !e.inner.called && a.err == nil && a.res.Blocked() {
		switch reason, message := a.res.Reason(), a.res.Message(); {
		case reason == checks.ReasonInvalid:
			broken(explains, message)
		case reason[0] < 'A' || reason[0] > 'Z':
			broken(explains, fmt.Sprintf("the reason %q does not begin with a capital letter", reason))
		case strings.TrimSpace(message) == "", message == reason:
			broken(explains, fmt.Sprintf("the block for %s has no message: name the awaited object", reason))
		}
	}
	return a
}

// ask calls a chain once.
func ask[R any](call chain.Handler[R, checks.Result], req R) (a answer) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a.res, a.err = call(ctx, req)
	return a
}

// answer is the answer of a chain.
type answer struct {
	res checks.Result
	err error
}

// faultOf returns the fault of a link whose panic checks.Compose turned into an
// error, or "".
func faultOf(err error) string {
	if p, ok := errors.AsType[*chain.PanicError](err); ok {
		return fmt.Sprintf("it panics: %v", p.Value)
	}
	return ""
}

// String returns the answer in one line. The Error method of an error may
// panic.
func (a answer) String() string {
	if a.err != nil {
		return fmt.Sprint("error: ", fmt.Sprint(a.err))
	}
	return a.res.String()
}

func (a answer) same(o answer) bool {
	return a.res.Equal(o.res) && (a.err == nil) == (o.err == nil) && a.String() == o.String()
}

func (a answer) after(first answer) string {
	return fmt.Sprintf("\n  at first it answered\n    %s\n  and then\n    %s", first, a)
}

// inner is the link after the tested links. It notices a request that is not the
// given one. The law Nested requires that the links call it in their goroutine.
type inner[R any] struct {
	given         R
	called, other bool
}

func (b *inner[R]) link(next chain.Handler[R, checks.Result]) chain.Handler[R, checks.Result] {
	return func(ctx context.Context, req R) (checks.Result, error) {
		b.called = true
		b.other = b.other || any(req) != any(b.given) && !unchanged(b.given, req)
		return next(ctx, req)
	}
}
