package checkstest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
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
	handsOn:    "if it proceeds, it passes on the request once, and returns the answer of the inner links",
	sameAnswer: "it gives the same answer to the same request, and changes nothing",
	explains:   "a block has a reason in CamelCase, and a message",
}

// Conforms draws requests and fails the test if a link or a chain breaks a rule
// with one of them, or with a variant of one. The message names the rule and
// the link and shows the smallest request. After a time-out it shows the
// request of that call, because each smaller one would take as long. If t is a
// *testing.T, Conforms runs a subtest.
//
// The generator need only make ordinary requests, whose owner exists and whose
// resource is filled in. Conforms does not change them. [WithExcuse] excuses a
// link from a rule. These fail the test: a nil link, a nil generator, a
// generator that panics, and a nil request.
//
// A panic in a goroutine that a link started ends the program. Conforms cannot
// prevent that.
func Conforms[R any, L Links[R]](t rapid.TB, link L, requests *rapid.Generator[R], opts ...Option) {
	t.Helper()
	s := configure(t, "Conforms", opts)
	conforms(t, "Conforms", linksOf(t, "Conforms", link, requests), requests, s)
}

// conforms tries the rules on a chain. by is the function that the user called.
func conforms[R any](t rapid.TB, by string, links chain.Chain[R, checks.Result], requests *rapid.Generator[R], s *settings) {
	t.Helper()
	s.gate = strings.Contains(links.String(), "Gate(")
	sub(t, "Conforms", func(outer rapid.TB) {
		outer.Helper()
		if outer.Failed() { // rapid would panic
			outer.Logf("checkstest: %s: %s: the rules were not tried, because the test has already failed", by, links)
			return
		}
		rapid.Check(outer, func(t *rapid.T) {
			e := &examination[R]{settings: s}
			f := e.examine(t, links, draw(t, by, links, requests))
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
	if end := patience.Run(e.within, nil, func() { e.call = checks.Compose(links.Append(chain.Named("inner", e.inner.link))) }); end.Fault(e.within) != "" {
		return &finding{decides, "when it is composed " + end.Fault(e.within), given.String(), true}
	}
	all := variants(req)
	if more := len(all) - maxVariants; more > 0 {
		from := rapid.IntRange(0, more).Draw(t, "first variant")
		all = all[from : from+maxVariants]
	}
	end := patience.Run(e.within, &e.steps, func() {
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
	if why := end.Fault(e.within); why != "" {
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
	first := e.ask(v, v.req, innerProceeds)
	changed()
	if first.err == nil && first.res.Proceeds() && !first.res.Skipped() {
		for _, inner := range []innerAnswer{innerBlocks, innerSkips, innerFails} {
			e.ask(v, v.req, inner)
		}
	}
	e.again(v, first)
	if e.tries(sameAnswer) { // a gate may record its start in the object
		if again := e.ask(v, equalCopy(v.req), innerProceeds); !again.same(first) {
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
	if again := e.ask(v, v.req, innerProceeds); !again.same(first) {
		e.find(sameAnswer, v, again.after(first), "the second answer to the same request differs")
	}
}

// ask makes one call, and tries the rules that a single answer can break. It
// cancels the context after the answer, like an engine after a pass. inner is
// the answer of the inner links.
func (e *examination[R]) ask(v variant[R], req R, inner innerAnswer) (a answer) {
	e.at.Store(&v)
	e.steps.Add(1)
	e.inner.begin(inner, req)
	a = ask(e.call, req)
	called, other := e.inner.end()
	broken := func(rule string, what string) { e.find(rule, v, "\n  it answered\n    "+a.String(), "%s", what) }
	if why := faultOf(a.err); why != "" {
		broken(v.rule, v.with(why))
		return a
	}
	switch forgot := errors.Is(a.err, checks.ErrEndNotReached); {
	case errors.Is(a.err, checks.ErrNoDecision):
		broken(v.rule, v.with("it returns the zero Result"))
	case errors.Is(a.err, checks.ErrForeignRequest), errors.Is(a.err, checks.ErrNilRequest):
		broken(handsOn, "it passes on a nil request, or a request that it made")
	case other:
		broken(handsOn, "it passes on a changed copy of the request")
	case called > 1:
		broken(handsOn, fmt.Sprintf("it calls the inner links %d times", called))
	case called == 0 && forgot: // no excuse covers this
		excused := e.excused
		e.excused = nil
		broken(handsOn, "it proceeds and does not call the inner links")
		e.excused = excused
	case called == 1 && !inner.in(a) && inner.verb == innerProceeds.verb:
		broken(handsOn, "it does not proceed, but it called the inner links")
	case called == 1 && !inner.in(a):
		broken(handsOn, "an inner link "+inner.verb+", but the check does not return that")
	}
	if called == 0 && a.err == nil && a.res.Blocked() {
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

// inner is the link after the tested links. It returns a given answer and
// records its requests.
type inner[R any] struct {
	mu     sync.Mutex
	answer innerAnswer
	given  R // the expected request
	called int
	other  bool
}

// innerAnswer is an answer of the inner links.
type innerAnswer struct {
	verb string
	answer
}

var (
	innerProceeds = innerAnswer{"proceeds", answer{res: checks.Proceed()}}
	innerBlocks   = innerAnswer{"blocks", answer{res: checks.Block("InnerBlocks", "an inner link blocks", checks.WithRetry(classify.VerySlow),
		checks.WithAfter(7*time.Second), checks.WithWaitingFor(checks.Ref{Kind: "Inner", Name: "a"}, checks.Ref{Kind: "Inner", Name: "b"}))}}
	innerSkips = innerAnswer{"skips", answer{res: checks.Skip("an inner link skips")}}
	innerFails = innerAnswer{"fails", answer{err: errors.New("an inner link fails")}}
)

// in reports whether an answer is the answer of the inner links.
func (s innerAnswer) in(a answer) bool {
	if s.err != nil {
		return errors.Is(a.err, s.err)
	}
	return a.err == nil && a.res.Equal(s.res)
}

// begin sets the answer to the next calls.
func (b *inner[R]) begin(answer innerAnswer, given R) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer, b.given, b.called, b.other = answer, given, 0, false
}

// end returns the number of calls since begin, and whether one had another
// request.
func (b *inner[R]) end() (called int, other bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.called, b.other
}

func (b *inner[R]) link(next chain.Handler[R, checks.Result]) chain.Handler[R, checks.Result] {
	return func(ctx context.Context, req R) (checks.Result, error) {
		b.mu.Lock()
		b.called++
		b.other = b.other || any(req) != any(b.given) && !unchanged(b.given, req)
		answer := b.answer
		b.mu.Unlock()
		if answer.verb != innerProceeds.verb {
			return answer.res, answer.err
		}
		return next(ctx, req)
	}
}
