package chain_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"pgregory.net/rapid"
)

// The laws are about every link that a user may write, so the tests describe
// links as data. A program is a list of steps, and each step can be made into a
// link. The function run is the oracle: it calls a program by recursion and
// composes nothing. A chain is right if it does the same as run.

type (
	handler = chain.Handler[request, string]
	link    = chain.Middleware[request, string]
	links   = chain.Chain[request, string]
)

// request is the request of these tests.
type request struct {
	call *call  // the trace; each call has its own
	note string // links may append to it before they call next
}

// call is the trace of one call.
type call struct {
	events    []string
	reentered bool
}

func (c *call) log(parts ...string) { c.events = append(c.events, strings.Join(parts, "")) }

// op is the behaviour of a link.
type op string

const (
	pass        op = "pass"        // calls next
	mark        op = "mark"        // changes the result
	note        op = "note"        // changes the request
	put         op = "put"         // puts a value into the context
	cancel      op = "cancel"      // passes on a canceled context
	detach      op = "detach"      // passes on an unrelated context
	twice       op = "twice"       // calls next twice
	rescue      op = "rescue"      // turns a panic of the inner links into an error
	stop        op = "stop"        // returns a result without calling next
	fail        op = "fail"        // returns a result and an error without calling next
	panicBefore op = "panicBefore" // panics instead of calling next
	panicAfter  op = "panicAfter"  // panics after next returned
	goexit      op = "goexit"      // ends its goroutine
	reenter     op = "reenter"     // calls the handler that again returns, once, then next
)

var (
	// passing lists links that call next once.
	passing = []op{pass, mark, note, put}
	// anything lists all links except reenter. Passing links occur twice, so
	// that more programs reach their end.
	anything = slices.Concat(passing, passing, []op{twice, twice, cancel, detach, rescue, stop, fail, panicBefore, panicAfter, goexit})
	// ends lists the behaviours of an end.
	ends = []op{stop, stop, fail, panicBefore, goexit}
)

// failure is an error or a panic value, compared by its text.
type failure string

func (f failure) Error() string { return string(f) }

// rescued is the error of rescue.
type rescued struct {
	By    string
	Value any
}

func (r rescued) Error() string { return fmt.Sprintf("%s rescued %v", r.By, r.Value) }
func (r rescued) Unwrap() error { err, _ := r.Value.(error); return err }

// step is one link as data.
type step struct {
	id     string
	op     op
	again  func() handler // for reenter
	point  string         // the point of the link in a chain
	serial int            // differs for each link of a history
}

// do runs the step around next and logs its begin and its end. Links and the
// oracle both call it.
func (s step) do(ctx context.Context, req request, next handler) (res string, err error) {
	req.call.log(s.id, "> ", view(ctx))
	end := unwinding
	defer func() { req.call.log(s.id, "< ", end) }()
	res, err = s.act(ctx, req, next)
	end = left(res, err)
	return res, err
}

func (s step) act(ctx context.Context, req request, next handler) (res string, err error) {
	switch s.op {
	case note:
		req.note += s.id
	case put:
		ctx = context.WithValue(ctx, pathKey{}, path(ctx)+s.id)
	case cancel:
		var stop context.CancelCauseFunc
		ctx, stop = context.WithCancelCause(ctx)
		stop(failure("canceled by " + s.id))
	case detach:
		ctx = background(req.call)
	case twice:
		_, _ = next(ctx, req)
	case rescue:
		defer func() {
			if v := recover(); v != nil {
				res, err = "", rescued{s.id, v}
			}
		}()
	case stop:
		return s.id + "(" + req.note + ")", nil
	case fail:
		return s.id + "(" + req.note + ")", failure(s.id + " failed")
	case panicBefore:
		panic(failure(s.id + " panicked"))
	case goexit:
		runtime.Goexit()
	case reenter:
		if !req.call.reentered {
			req.call.reentered = true
			_, _ = s.again()(ctx, req)
		}
	}
	res, err = next(ctx, req)
	switch s.op {
	case mark:
		res += s.id
	case panicAfter:
		panic(failure(s.id + " panicked"))
	}
	return res, err
}

// raw returns the step as a link without a given name.
func (s step) raw() link {
	return func(next handler) handler {
		return func(ctx context.Context, req request) (string, error) { return s.do(ctx, req, next) }
	}
}

// named returns the step as a link with the name of the step.
func (s step) named() link { return chain.Named(s.id, s.raw()) }

// end returns the step as the end of a chain.
func (s step) end() handler { return s.raw()(nil) }

// named makes the links of a program.
func named(program []step) []link {
	out := make([]link, len(program))
	for i, s := range program {
		out[i] = s.named()
	}
	return out
}

// run is the oracle: it calls the program by recursion and composes nothing.
func run(program []step, end step) handler {
	return func(ctx context.Context, req request) (string, error) {
		if len(program) == 0 {
			return end.do(ctx, req, nil)
		}
		return program[0].do(ctx, req, run(program[1:], end))
	}
}

// The context of a call holds the call, for observers, and the path: the
// identifiers that the links put there.
type (
	callKey struct{}
	pathKey struct{}
)

func background(c *call) context.Context {
	return context.WithValue(context.Background(), callKey{}, c)
}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

func path(ctx context.Context) string { s, _ := ctx.Value(pathKey{}).(string); return s }

// view prints all that a link can see of its context.
func view(ctx context.Context) string {
	if cause := context.Cause(ctx); cause != nil {
		return path(ctx) + ", " + cause.Error()
	}
	return path(ctx)
}

// unwinding describes the end of a link that panicked or ended its goroutine.
const unwinding = "unwinding"

// left describes the end of a link that returned.
func left(res string, err error) string {
	if err != nil {
		return res + ", " + err.Error()
	}
	return res
}

// outcome is the trace and the end of a call.
type outcome struct {
	Events []string
	Result string
	Err    error
	Panic  any
	Goexit bool
}

// play calls a handler in a new goroutine, which the handler may end.
func play(h handler) outcome {
	var out outcome
	c := &call{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		returned := false
		defer func() {
			out.Panic = recover()
			out.Goexit = !returned && out.Panic == nil
		}()
		out.Result, out.Err = h(background(c), request{call: c})
		returned = true
	}()
	<-done
	out.Events = c.events
	return out
}

// trace returns the events of a call that returns.
func trace(h handler) []string {
	c := &call{}
	_, _ = h(background(c), request{call: c})
	return c.events
}

// mustBehave fails the test unless handler got does the same as handler want.
func mustBehave(t *rapid.T, law string, want, got handler) {
	t.Helper()
	if diff := cmp.Diff(play(want), play(got), sameError); diff != "" {
		t.Fatalf("%s: -want, +got:\n%s", law, diff)
	}
}

// sameError compares errors by ==, because the chain must return the same error
// and not only an equal text.
var sameError = cmp.Comparer(func(a, b error) bool { return a == b })

// draw draws a program of up to 7 links with behaviours from ops. Their names
// start with prefix.
func draw(t *rapid.T, prefix string, ops []op) []step {
	drawn := rapid.SliceOfN(rapid.SampledFrom(ops), 0, 7).Draw(t, prefix)
	program := make([]step, len(drawn))
	for i, op := range drawn {
		program[i] = step{id: fmt.Sprint(prefix, i), op: op}
	}
	return program
}

// drawEnd draws the end of a chain.
func drawEnd(t *rapid.T, id string) step {
	return step{id: id, op: rapid.SampledFrom(ends).Draw(t, id)}
}
