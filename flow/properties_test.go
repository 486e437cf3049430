package flow_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

// The tests of this file run random programs: the behaviour of each link and
// each operation in several passes over one resource. The model in
// model_test.go is the oracle.

// act is the behaviour of a link or an operation in one call.
type act string

const (
	passOn  act = "pass on"
	block   act = "block"
	skip    act = "skip"
	fail    act = "fail"
	panics  act = "panic"
	forget  act = "forget next" // and return proceed
	zero    act = "zero result"
	cancels act = "cancel the pass" // and call next
	after   act = "fail after next"

	restores act = "restore the request after next"
	copies   act = "pass a copy of the request to next"

	ignore  act = "ignore"
	finish  act = "finish"
	release act = "release"

	absent    act = "absent"
	exists    act = "exists"
	inSync    act = "in sync"
	atOnce    act = "done at once"
	begin     act = "begin"
	goOn      act = "stay in progress"
	end       act = "end"
	refuse    act = "refuse"    // the operation fails
	offline   act = "offline"   // the state of the operation is unknown
	tells     act = "tell"      // an error together with the token
	tokenless act = "tokenless" // in progress, without a token
	odd       act = "odd"       // done, together with an error
)

var (
	checkActs = []act{block, skip, fail, panics, forget, zero, cancels, ignore, finish, release}
	aroundOps = []act{fail, panics, cancels, after}
	aroundGet = append(slices.Clone(aroundOps), restores, copies)
	inPlace   = append(slices.Clone(aroundGet), skip, forget) // skip and forget do not call the operation
	getActs   = []act{absent, absent, exists, exists, exists, inSync, inSync, fail, panics}
	againActs = []act{absent, exists, exists, exists, inSync, inSync, inSync, fail, panics}
	startActs = []act{atOnce, atOnce, begin, begin, begin, begin, refuse, panics, zero, tokenless}
	pollActs  = []act{goOn, goOn, end, end, refuse, offline, panics, zero, tells, tokenless, odd}
	ownerActs = []act{passOn, passOn, passOn, passOn, passOn, passOn, passOn, passOn, passOn, fail, panics}
)

// order is the order of the points. "Get again" is Get after Apply.
var order = []string{
	"Pass", "EntryCheck", "Owner", "OwnerCheck", "GetCheck", "Get", "get", "PreCheck", "Apply", "apply", "Get again", "get again", "PostCheck",
	"DeleteCheck", "Delete", "delete",
}

// linked holds the possible acts of the links of each point.
var linked = map[string][]act{
	"Pass": aroundOps, "EntryCheck": checkActs, "OwnerCheck": checkActs, "GetCheck": checkActs, "Get": aroundGet, "PreCheck": checkActs, "Apply": inPlace,
	"PostCheck": checkActs, "DeleteCheck": checkActs, "Delete": inPlace,
}

// program holds the acts of one pass.
type program struct {
	links             map[string][]act
	owner, get, again act // again: Get after Apply
	start, poll       act // of Apply and Delete
	deleting, changed bool
}

func drawProgram(t *rapid.T, counts map[string]int, deleting bool) program {
	p := program{
		links: map[string][]act{}, deleting: deleting,
		owner:   rapid.SampledFrom(ownerActs).Draw(t, "owner"),
		get:     rapid.SampledFrom(getActs).Draw(t, "get"),
		again:   rapid.SampledFrom(againActs).Draw(t, "get again"),
		start:   rapid.SampledFrom(startActs).Draw(t, "start"),
		poll:    rapid.SampledFrom(pollActs).Draw(t, "poll"),
		changed: rapid.IntRange(0, 5).Draw(t, "spec") == 5,
	}
	for _, point := range order {
		for i := range counts[point] {
			// Most links call next, so that most passes reach the later points.
			a := passOn
			if rapid.IntRange(0, 9).Draw(t, "odd") == 9 {
				a = rapid.SampledFrom(linked[point]).Draw(t, fmt.Sprintf("%s %d", point, i))
			}
			p.links[point] = append(p.links[point], a)
		}
	}
	return p
}

// event is a call of a link (n counts from 0) or of an operation (n is -1).
type event struct {
	point string
	n     int
	act   act
	token string
}

// world is the resource, its cloud, and the program of the running pass. It
// records the calls.
type world struct {
	program
	generation int64
	cancel     context.CancelFunc
	events     []event
	faults     []string // calls that a cloud must not get

	running map[string]string // the operation under way, by point
	tokens  int
}

// does records a call and returns its act.
func (w *world) does(point string, n int, a act) act {
	w.events = append(w.events, event{point: point, n: n, act: a})
	if a == panics {
		panic(fmt.Sprintf("%s %d", point, n))
	}
	if a == cancels {
		w.cancel()
	}
	return a
}

var errLink, errTerminal = errors.New("the link fails"), flow.Failed(response(http.StatusConflict, "Refused"))

func (w *world) link(point string, n int) act {
	return w.does(point, n, w.links[strings.TrimSuffix(point, " again")][n])
}

// check returns the result of link n of a point.
func (w *world) check(point string, n int, next func() (checks.Result, error)) (checks.Result, error) {
	switch w.link(point, n) {
	case block:
		return checks.Block("Blocked", "not yet"), nil
	case skip:
		return checks.Skip("not needed"), nil
	case fail:
		return checks.Result{}, errLink
	case forget:
		return checks.Proceed(), nil
	case zero:
		return checks.Result{}, nil
	case ignore:
		return checks.Ignore("not mine"), nil
	case finish:
		return checks.Finished("Complete", "all is done"), nil
	case release:
		if w.deleting { // the flow forgets the operation, even if a link on Pass then fails the pass
			delete(w.running, "delete")
		}
		return checks.Release("retained"), nil
	}
	return next()
}

// operation is Apply or Delete.
func (w *world) operation(point, token string) (flow.Progress, error) {
	a := w.start
	if token != "" {
		a = w.poll
	}
	w.events = append(w.events, event{point, -1, a, token})
	running := w.running[point]
	switch {
	case token == "" && running != "":
		w.faults = append(w.faults, fmt.Sprintf("%s: a second operation is started while %s is under way", point, running))
	case token != running:
		w.faults = append(w.faults, fmt.Sprintf("%s: polled with %s, under way is %q", point, token, running))
	}
	if point == "apply" && w.deleting {
		w.faults = append(w.faults, "applied while being deleted")
	}
	if token == "" && a == begin {
		w.tokens++
		prefix := []string{"", "delete:", "apply:", "link:"}[w.tokens%4] // the prefixes of stored tokens
		w.running[point] = fmt.Sprintf("%s%s-%d", prefix, point, w.tokens)
	}
	switch a {
	case begin, goOn:
		return flow.InProgress(w.running[point], time.Second), nil
	case atOnce, end:
		delete(w.running, point)
		return flow.Done(), nil
	case refuse:
		delete(w.running, point)
		return flow.Progress{}, errTerminal
	case offline:
		return flow.Progress{}, response(http.StatusServiceUnavailable, "")
	case tells:
		return flow.InProgress(w.running[point], 0), errTerminal
	case tokenless:
		return flow.InProgress("", 0), nil
	case odd:
		return flow.Done(), response(http.StatusServiceUnavailable, "")
	case panics:
		panic(point)
	}
	return flow.Progress{}, nil // zero
}

func (w *world) operations(keep bool) flow.Operations[*world] { return operationsFor[*world](w, keep) }

// operationsFor returns the operations on w for resources of type T.
func operationsFor[T any](w *world, keep bool) flow.Operations[T] {
	ops := flow.Operations[T]{
		Key: func(T) string { return "one" },
		Owner: func(context.Context, T) (checks.Object, error) {
			if w.does("Owner", -1, w.owner) == fail {
				return checks.Object{}, errLink
			}
			return checks.Object{Ref: checks.Ref{Name: "owner"}, Value: w}, nil
		},
		Get: func(_ context.Context, req *flow.Request[T]) (flow.Observation, error) {
			point, a := "get", w.get
			if req.Applied {
				point, a = "get again", w.again
			}
			switch w.does(point, -1, a) {
			case exists:
				return flow.Observation{Presence: checks.Present}, nil
			case inSync:
				return flow.Observation{Presence: checks.Present, InSync: true}, nil
			case fail:
				return flow.Observation{}, errLink
			}
			return flow.Observation{Presence: checks.Absent}, nil
		},
		Apply: func(_ context.Context, req *flow.Request[T]) (flow.Progress, error) {
			return w.operation("apply", req.Token)
		},
		Delete: func(_ context.Context, req *flow.Request[T]) (flow.Progress, error) {
			return w.operation("delete", req.Token)
		},
		Deleting:   func(T) bool { return w.deleting },
		Generation: func(T) int64 { return w.generation },
	}
	if keep {
		var kept string
		var of int64
		ops.Token = func(T) (string, int64) { return kept, of }
		ops.SetToken = func(ctx context.Context, _ T, token string, generation int64) error {
			kept, of = token, generation
			return ctx.Err()
		}
	}
	return ops
}

func (w *world) extensions(counts map[string]int) flow.Extensions[*world] {
	return flow.Extensions[*world]{
		Pass:        chain.New(around[*world, flow.Outcome](w, "Pass", counts)...),
		EntryCheck:  chain.New(guards[*checks.Request[*world]](w, "EntryCheck", counts)...),
		OwnerCheck:  chain.New(guards[*checks.OwnerRequest](w, "OwnerCheck", counts)...),
		Get:         chain.New(around[*flow.Request[*world], flow.Observation](w, "Get", counts)...),
		GetCheck:    chain.New(guards[*checks.Request[*world]](w, "GetCheck", counts)...),
		PreCheck:    chain.New(guards[*checks.Request[*world]](w, "PreCheck", counts)...),
		Apply:       chain.New(around[*flow.Request[*world], flow.Progress](w, "Apply", counts)...),
		PostCheck:   chain.New(guards[*checks.Request[*world]](w, "PostCheck", counts)...),
		DeleteCheck: chain.New(guards[*checks.Request[*world]](w, "DeleteCheck", counts)...),
		Delete:      chain.New(around[*flow.Request[*world], flow.Progress](w, "Delete", counts)...),
	}
}

func guards[R any](w *world, point string, counts map[string]int) (links []chain.Middleware[R, checks.Result]) {
	for n := range counts[point] {
		links = append(links, chain.Named(fmt.Sprintf("%s%d", point, n), func(next chain.Handler[R, checks.Result]) chain.Handler[R, checks.Result] {
			return func(ctx context.Context, req R) (checks.Result, error) {
				return w.check(point, n, func() (checks.Result, error) { return next(ctx, req) })
			}
		}))
	}
	return links
}

func around[Req, Res any](w *world, point string, counts map[string]int) (links []chain.Middleware[Req, Res]) {
	for n := range counts[point] {
		links = append(links, chain.Named(fmt.Sprintf("%s%d", point, n), func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
			return func(ctx context.Context, req Req) (res Res, err error) {
				at := point
				r, _ := any(req).(*flow.Request[*world])
				if r != nil && r.Applied {
					at += " again"
				}
				a := w.link(at, n)
				switch a {
				case fail:
					return res, errLink
				case skip:
					return any(flow.Skip("not needed")).(Res), nil
				case forget:
					return any(flow.Done()).(Res), nil
				case restores:
					saved := *r
					defer func() { *r = saved }()
				case copies:
					c := *r
					req = any(&c).(Req)
				}
				res, err = next(ctx, req)
				if a == after && err == nil {
					return res, errLink
				}
				return res, err
			}
		}))
	}
	return links
}

// seen is the record of a pass.
type seen struct {
	result
	events []event
	faults []string
}

// result is the outcome of a pass.
type result struct {
	state flow.State
	point string
	again bool // with a delay
}

func resultOf(out flow.Outcome) result {
	delay, again := out.Again()
	if again != (delay > 0) {
		panic(fmt.Sprintf("%s: again %t after %s", out, again, delay))
	}
	return result{out.State(), out.Point(), again}
}

// subject makes a function that runs passes over a world: the flow, or a model
// of it.
type subject func(w *world, counts map[string]int, keep bool) func(context.Context) result

// theFlow is the subject that runs the flow of this package.
func theFlow(opts ...flow.Option) subject {
	return func(w *world, counts map[string]int, keep bool) func(context.Context) result {
		r := flow.New("thing", w.operations(keep), w.extensions(counts), append([]flow.Option{flow.WithBackoff(plain())}, opts...)...)
		return func(ctx context.Context) result {
			return resultOf(r.Reconcile(ctx, w))
		}
	}
}

// run takes one resource through the passes of programs.
func run(s subject, programs []program, counts map[string]int, keep bool) (passes []seen) {
	w := &world{running: map[string]string{}, generation: 1}
	reconcile := s(w, counts, keep)
	for _, p := range programs {
		w.program, w.events, w.faults = p, nil, nil
		if p.changed {
			w.generation++
		}
		if p.deleting {
			delete(w.running, "apply") // a deletion does not wait for it
		}
		ctx, cancel := context.WithCancel(context.Background())
		w.cancel = cancel
		r := reconcile(ctx)
		cancel()
		passes = append(passes, seen{r, w.events, w.faults})
		if r.state == flow.StateGone {
			break
		}
	}
	return passes
}

func drawRun(t *rapid.T) (programs []program, counts map[string]int, keep bool) {
	counts = map[string]int{}
	for _, point := range order {
		if linked[point] != nil {
			counts[point] = rapid.IntRange(0, 2).Draw(t, "links of "+point)
		}
	}
	n := rapid.IntRange(1, 8).Draw(t, "passes")
	deletion := rapid.IntRange(0, 12).Draw(t, "deletion at")
	for i := range n {
		programs = append(programs, drawProgram(t, counts, i >= deletion))
	}
	return programs, counts, rapid.Bool().Draw(t, "tokens kept with the resource")
}

// Explanations, observers and the place of the tokens do not change a pass.
func TestObservingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		programs, counts, keep := drawRun(t)
		plain := run(theFlow(), programs, counts, keep)
		for name, s := range map[string]subject{
			"stored":   theFlow(flow.WithExplanations(2)),
			"observed": theFlow(flow.WithObserver(&recorder{}), flow.WithObserver(&recorder{off: true}), flow.WithExplanations(1)),
			"broken":   theFlow(flow.WithObserver(&brokenObserver{at: "thing", enter: func(context.Context) context.Context { panic("observer") }})),
			"spans":    theFlow(flow.WithObserver(telemetry(nil, otelx.WithLinkSpans()))),
		} {
			if diff := cmp.Diff(plain, run(s, programs, counts, keep), seenComparer); diff != "" {
				t.Fatalf("%s differs (-plain +%s):\n%s", name, name, diff)
			}
		}
		if diff := cmp.Diff(plain, run(theFlow(), programs, counts, !keep), seenComparer); diff != "" {
			t.Fatalf("tokens in memory and with the resource differ:\n%s", diff)
		}
	})
}

// telemetry is an observer of package otelx whose records are not read.
func telemetry(drop func(string) bool, opts ...otelx.Option) chain.Observer {
	r := &otelfake.Recorder{Drop: drop}
	return otelx.New(append([]otelx.Option{otelx.WithTracerProvider(r), otelx.WithMeterProvider(&otelfake.Meters{R: r})}, opts...)...)
}

var seenComparer = cmp.AllowUnexported(seen{}, result{}, event{})
