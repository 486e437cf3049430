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
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

// The tests of this file run random programs: the behaviour of each link and
// each operation in several passes over one resource. The model below is the oracle.

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
	empties  act = "empty the request after next"
	another  act = "pass another resource to next"
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
	finishes  act = "end for good"
	refuse    act = "refuse"    // the operation fails
	offline   act = "offline"   // the state of the operation is unknown
	tells     act = "tell"      // an error together with the token
	tokenless act = "tokenless" // in progress, without a token
	odd       act = "odd"       // done, together with an error
)

var (
	checkActs = []act{block, skip, fail, panics, forget, zero, cancels, ignore, finish, release}
	aroundOps = []act{fail, panics, cancels, after}
	aroundGet = append(slices.Clone(aroundOps), restores, empties, another, copies)
	inPlace   = append(slices.Clone(aroundGet), skip, forget) // skip and forget do not call the operation
	getActs   = []act{absent, absent, exists, exists, exists, inSync, inSync, fail, panics}
	againActs = []act{absent, exists, exists, exists, inSync, inSync, inSync, fail, panics}
	startActs = []act{atOnce, atOnce, begin, begin, begin, begin, finishes, refuse, panics, zero, tokenless}
	pollActs  = []act{goOn, goOn, end, end, finishes, refuse, offline, panics, zero, tells, tokenless, odd}
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
	case finishes:
		delete(w.running, point)
		return flow.Finished("Complete", "all is done"), nil
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
		ops.SetToken = func(ctx context.Context, t T, token string, generation int64) error {
			if with, ok := any(t).(*world); ok && with != w {
				w.faults = append(w.faults, "the token is stored with another resource")
			}
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
				case empties:
					defer func() { *r = flow.Request[*world]{}; r.Resource = w }()
				case another:
					r.Resource = &world{}
					defer func() { r.Resource = w }()
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
		for name, s := range map[string]subject{
			"stored":   theFlow(flow.WithExplanations(2)),
			"observed": theFlow(flow.WithObserver(&recorder{}), flow.WithObserver(&recorder{off: true}), flow.WithExplanations(1)),
			"broken":   theFlow(flow.WithObserver(&brokenObserver{at: "> thing", breaks: func(context.Context) context.Context { panic("observer") }})),
			"spans":    theFlow(flow.WithObserver(telemetry(nil, otelx.WithLinkSpans()))),
		} {
			mustRunAlike(t, name, theFlow(), s, programs, counts, keep)
		}
		if diff := cmp.Diff(run(theFlow(), programs, counts, keep), run(theFlow(), programs, counts, !keep), seenComparer); diff != "" {
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

// mustRunAlike fails unless both subjects make the same calls with the same
// results.
func mustRunAlike(t *rapid.T, what string, want, got subject, programs []program, counts map[string]int, keep bool) {
	if diff := cmp.Diff(run(want, programs, counts, keep), run(got, programs, counts, keep), seenComparer); diff != "" {
		t.Fatalf("%s: -want, +got:\n%s", what, diff)
	}
}

// model is the flow on one page. It calls the links and the operations of a
// world as the flow must call them.
type model struct {
	*world
	counts     map[string]int
	token      string // of the operation under way
	generation int64  // of the spec that it applies
	deletes    bool
	skipped    bool // a link left out the operation of this pass
	finished   bool // the operation of this pass ended for good
	checked    bool // GetCheck has run in this pass
}

func theModel(w *world, counts map[string]int, _ bool) func(context.Context) result {
	return (&model{world: w, counts: counts}).pass
}

// stop is the end of a pass. The zero stop means that the pass proceeds.
type stop struct {
	state flow.State
	point string
}

func failedAt(point string) stop { return stop{flow.StateFailed, strings.TrimSuffix(point, " again")} }

func (m *model) pass(ctx context.Context) result {
	s := m.around("Pass", func() stop { return m.run(ctx) })
	switch s.state {
	case flow.StateUnknown:
		return result{flow.StateReady, "", true}
	case flow.StateGone, flow.StateCanceled, flow.StateIgnored, flow.StateFinished:
		return result{s.state, s.point, false}
	}
	return result{s.state, s.point, true}
}

func (m *model) run(ctx context.Context) stop {
	m.checked, m.finished = false, false
	if s := m.check("EntryCheck"); s.state != 0 {
		return s
	}
	if s := m.try("Owner", func() stop {
		if m.does("Owner", -1, m.owner) == fail {
			return failedAt("Owner")
		}
		return stop{}
	}); s.state != 0 {
		return s
	}
	if m.deleting {
		return m.remove(ctx)
	}
	if m.token != "" { // the operation of an earlier pass
		if s := m.operate(ctx, "Apply"); s.state != 0 {
			return s
		}
		if m.generation == m.world.generation {
			return m.applied(ctx)
		}
		m.finished = false // it was for an older spec
	}
	if s := m.check("OwnerCheck"); s.state != 0 {
		return s
	}
	if s := m.check("GetCheck"); s.state != 0 {
		return s
	}
	m.checked = true
	s, got := m.look(ctx, "Get")
	if s.state != 0 {
		return s
	}
	if got == inSync {
		return m.check("PostCheck")
	}
	if s := m.check("PreCheck"); s.state != 0 {
		return s
	}
	m.generation = m.world.generation
	if s := m.operate(ctx, "Apply"); s.state != 0 {
		return s
	}
	return m.applied(ctx)
}

// applied completes a pass in which Apply is done.
func (m *model) applied(ctx context.Context) stop {
	if m.counts["PostCheck"] > 0 && !m.finished {
		if !m.checked { // a poll left it out
			if s := m.check("GetCheck"); s.state != 0 {
				return s
			}
		}
		s, got := m.look(ctx, "Get again")
		if s.state != 0 {
			return s
		}
		if got == absent && !m.skipped {
			return stop{flow.StateBlocked, "PostCheck"}
		}
	}
	s := m.check("PostCheck")
	if s.state == 0 && m.finished {
		return stop{flow.StateFinished, "Apply"}
	}
	return s
}

func (m *model) remove(ctx context.Context) stop {
	if !m.deletes { // a deletion does not wait for Apply
		m.token = ""
	}
	if m.token == "" {
		m.check("GetCheck") // only for its slots
		if m.counts["DeleteCheck"] > 0 {
			if s, _ := m.look(ctx, "Get"); s.state != 0 {
				return s
			}
		}
		if s := m.check("DeleteCheck"); s.state != 0 {
			return s
		}
	}
	m.deletes = true
	if s := m.operate(ctx, "Delete"); s.state != 0 {
		return s
	}
	return stop{flow.StateGone, ""}
}

// look calls Get. point is "Get" or "Get again".
func (m *model) look(ctx context.Context, point string) (s stop, got act) {
	if ctx.Err() != nil {
		return stop{flow.StateCanceled, "Get"}, got
	}
	a := m.get
	if point == "Get again" {
		a = m.again
	}
	s = m.around(point, func() stop {
		if got = m.does(strings.ToLower(point), -1, a); got == fail {
			return failedAt(point)
		}
		return stop{}
	})
	return s, got
}

// operate starts or polls Apply or Delete.
func (m *model) operate(ctx context.Context, point string) stop {
	if ctx.Err() != nil {
		return stop{flow.StateCanceled, point}
	}
	m.skipped, m.finished = false, false
	return m.around(point, func() stop {
		p, err := m.operation(strings.ToLower(point), m.token)
		verdict, _ := p.Describe()
		m.finished = verdict == "finish"
		switch {
		case p.Token() != "":
			m.token = p.Token()
		case err == errTerminal, err == nil && p.IsDone():
			m.token = ""
		}
		switch {
		case err != nil, p.Token() == "" && !p.IsDone():
			return failedAt(point)
		case p.IsDone():
			return stop{}
		case m.deleting:
			return stop{flow.StateDeleting, point}
		}
		return stop{flow.StateInProgress, point}
	})
}

// check runs the links of a point of checks.
func (m *model) check(point string) stop {
	for n := range m.counts[point] {
		a := act(panics)
		m.try(point, func() stop { a = m.link(point, n); return stop{} })
		switch {
		case a == passOn, a == cancels:
		case a == skip:
			return stop{}
		case a == block:
			return stop{flow.StateBlocked, point}
		case a == ignore && point != "PostCheck":
			return stop{flow.StateIgnored, point}
		case a == finish && !m.deleting:
			return stop{flow.StateFinished, point}
		case a == release && m.deleting:
			m.token = ""
			delete(m.running, "delete")
			return stop{flow.StateGone, point}
		default:
			return failedAt(point)
		}
	}
	return stop{}
}

// around runs the links of a point around an operation, or around the pass.
func (m *model) around(point string, inner func() stop) stop {
	call := inner
	for n := m.counts[strings.TrimSuffix(point, " again")] - 1; n >= 0; n-- {
		next := call
		call = func() stop {
			a := m.link(point, n)
			switch {
			case a == fail, a == forget, a == skip && m.token != "":
				return failedAt(point)
			case a == skip:
				m.skipped = true
				return stop{}
			}
			s := next()
			if a == after && (point == "Pass" || s.state != flow.StateFailed) {
				return failedAt(point)
			}
			return s
		}
	}
	return m.try(point, call)
}

// try turns a panic into a failure.
func (m *model) try(point string, f func() stop) (s stop) {
	defer func() {
		if recover() != nil {
			s = failedAt(point)
		}
	}()
	return f()
}

// The flow does what the model does: the same calls in the same order, with the
// same tokens, and the same outcome. Neither of them starts a second operation.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 3 {
			programs, counts, keep := drawRun(t)
			want, got := run(theModel, programs, counts, keep), run(theFlow(), programs, counts, keep)
			if diff := cmp.Diff(want, got, seenComparer); diff != "" {
				t.Fatalf("-model, +flow:\n%s", diff)
			}
			for _, s := range got {
				if s.faults != nil {
					t.Fatalf("%v: %v", s.faults, s.events)
				}
			}
		}
	})
}

// verdicts holds the fields of an outcome that an engine reads.
type verdicts struct {
	State        flow.State
	Point, Link  string
	Reason       string
	Message      string
	Conditions   string
	Again        time.Duration // 0: no pass follows
	KeepsStatus  bool
	Final        bool
	WaitsForSelf bool
	WaitingFor   []checks.Ref
	Generation   int64
}

func verdictsOf(out flow.Outcome) verdicts {
	v := verdicts{
		State: out.State(), Point: out.Point(), Link: out.Link(), Reason: out.Reason(), Message: out.Message(),
		KeepsStatus: out.KeepsStatus(), Final: out.Final(), WaitsForSelf: out.WaitsForSelf(), WaitingFor: out.WaitingFor(), Generation: out.Generation(),
	}
	for _, c := range out.Conditions() {
		v.Conditions += fmt.Sprintf("%s=%s ", c.Type, c.Status)
	}
	v.Again, _ = out.Again()
	return v
}

// deciding are extensions with a link that returns res. A check of checks.Check
// would not finish a deletion.
func deciding(point string, res checks.Result) ext {
	c := chain.New(link("decides", instead[*checks.Request[*pool]](res, nil)))
	return map[string]ext{
		flow.PointPass:       {Pass: on("decides", instead[*pool](flow.Stop(res), nil))},
		flow.PointOwnerCheck: {OwnerCheck: chain.New(link("decides", instead[*checks.OwnerRequest](res, nil)))},
		flow.PointEntryCheck: {EntryCheck: c}, flow.PointPreCheck: {PreCheck: c}, flow.PointPostCheck: {PostCheck: c}, flow.PointDeleteCheck: {DeleteCheck: c},
	}[point]
}

// Each decision that ends a pass without an error or a plain block. The outcome
// has the reason, the message and the awaited objects of the decision.
func TestDecisions(t *testing.T) {
	never := checks.WithRetry(classify.Never)
	const final, retried = "Ready=False Stalled=True Finished=True ", "Ready=False Stalled=True "
	cases := map[string]struct {
		reason   string
		point    string
		res      checks.Result
		deleting bool
		want     verdicts
	}{
		"Ignore": {"the resource of another controller gets no call and no condition", flow.PointEntryCheck,
			checks.Ignore("the issuer is of another group"), false, verdicts{State: flow.StateIgnored, KeepsStatus: true}},
		"IgnoreForNow": {"an instance that may become responsible waits for an object, and is requeued", flow.PointOwnerCheck,
			checks.Ignore("the cluster is a replica", checks.WithWaitingFor(fleet), checks.WithAfter(time.Minute)), false,
			verdicts{State: flow.StateIgnored, Again: time.Minute, KeepsStatus: true, WaitingFor: []checks.Ref{fleet}}},
		"StopForNow": {"a link on Pass leaves the resource to another instance, with all that Ignore was given", flow.PointPass,
			checks.Ignore("the shard is another one", checks.WithAfter(1), checks.WithWaitingFor(fleet), checks.WithWaitingForSelf()), false,
			verdicts{State: flow.StateIgnored, Again: time.Second, KeepsStatus: true, WaitingFor: []checks.Ref{fleet}, WaitsForSelf: true}},
		"Finished": {"a finished resource is Ready until its spec changes", flow.PointPreCheck, checks.Finished("Complete", "the backup is complete"), false,
			verdicts{State: flow.StateFinished, Conditions: "Ready=True Finished=True ", Final: true}},
		"FailedFinally": {"a denied request is not retried", flow.PointEntryCheck, checks.Block("Denied", "the approver denied the request", never), false,
			verdicts{State: flow.StateBlocked, Conditions: final, Final: true}},
		"NeverWhileDeleting": {"no user changes the spec of a resource that is being deleted, so it is retried at the resync", flow.PointDeleteCheck,
			checks.Block("InUse", "still in use", never), true, verdicts{State: flow.StateBlocked, Conditions: retried, Again: time.Hour}},
		"StopWhileDeleting": {"a link on Pass ends no deletion for good either", flow.PointPass,
			checks.Block("Locked", "held for good", never), true, verdicts{State: flow.StateBlocked, Conditions: retried, Again: time.Hour}},
		"Release": {"a retained resource is forgotten without DELETE", flow.PointDeleteCheck,
			checks.Release("the reclaim policy is retain"), true, verdicts{State: flow.StateGone}},
		"StatusKept": {"a short block leaves the conditions as they are, and is requeued", flow.PointPreCheck,
			checks.Block("Locked", "another write runs", checks.WithStatusKept(), checks.WithRetry(classify.Fast)), false,
			verdicts{State: flow.StateBlocked, Again: time.Second, KeepsStatus: true}},
		"StatusKeptFinally": {"a final outcome has conditions, because the engine stores it there", flow.PointPreCheck,
			checks.Block("Denied", "no", checks.WithStatusKept(), never), false, verdicts{State: flow.StateBlocked, Conditions: final, Final: true}},
		"WaitsForSelf": {"an approver writes the status of the same resource", flow.PointPreCheck,
			checks.Block("ApprovalPending", "not approved", checks.WithWaitingForSelf()), false,
			verdicts{State: flow.StateBlocked, Again: time.Second, WaitsForSelf: true, Conditions: "Ready=False Reconciling=True "}},
	}
	calls := map[string][]string{flow.PointOwnerCheck: {"owner"}, flow.PointPreCheck: {"owner", "get"}, flow.PointDeleteCheck: {"owner", "get"}}
	verdict := map[flow.State]string{flow.StateIgnored: "ignore", flow.StateFinished: "finish", flow.StateBlocked: "block", flow.StateGone: "gone"}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{}
			out := flow.New("Pool", c.operations(), deciding(tc.point, tc.res), flow.WithBackoff(plain())).
				Reconcile(t.Context(), &pool{generation: 7, deleting: tc.deleting})
			tc.want.Point, tc.want.Link, tc.want.Generation, tc.want.Reason, tc.want.Message = tc.point, "decides", 7, tc.res.Reason(), tc.res.Message()
			mustEqual(t, tc.reason, tc.want, verdictsOf(out))
			mustEqual(t, tc.reason, calls[tc.point], c.take())
			got, why := out.Describe()
			mustEqual(t, "observers get the decision", []string{verdict[tc.want.State], tc.res.Reason()}, []string{got, why})
			mustEqual(t, "no decision is an error", nil, out.Err())
		})
	}
}

// A result that a point does not accept is an error that names the link and the
// point.
func TestMisplaced(t *testing.T) {
	cases := map[string]struct {
		reason   string
		point    string
		res      checks.Result
		deleting bool
	}{
		"ignore":  {"the resource is applied, so this controller manages it", flow.PointPostCheck, checks.Ignore("not mine"), false},
		"release": {"no user deletes the resource", flow.PointPreCheck, checks.Release("retained"), false},
		"finish":  {"the resource would never be deleted", flow.PointDeleteCheck, checks.Finished("Complete", ""), true},
	}
	for verdict, tc := range cases {
		out := flow.New("Pool", (&cloud{}).operations(), deciding(tc.point, tc.res)).Reconcile(t.Context(), &pool{deleting: tc.deleting})
		mustBe(t, tc.reason, flow.ErrMisplaced, out.Err())
		mustEqual(t, tc.reason, place{flow.StateFailed, tc.point, "decides"}, placeOf(out))
		mustEqual(t, tc.reason, fmt.Sprintf("flow: %s at %s: %s", verdict, tc.point, flow.ErrMisplaced), out.Err().Error())
	}
}

// TestModel has Finished, too. Here are its texts.
func TestFinishedOperation(t *testing.T) {
	c := &cloud{answers: []answer{{progress: flow.Finished("Complete", "42 objects")}}}
	out := flow.New("Pool", c.operations(), ext{}).Reconcile(t.Context(), &pool{generation: 7})
	mustEqual(t, "the reason and the message are those of the operation", verdicts{
		State: flow.StateFinished, Point: flow.PointApply, Reason: "Complete", Message: "42 objects", Conditions: "Ready=True Finished=True ", Final: true,
		Generation: 7,
	}, verdictsOf(out))
}

// The outcome lists the awaited objects of operations and errors, each once.
func TestAwaited(t *testing.T) {
	subnet := checks.Ref{Kind: "Subnet", Name: "s"}
	cases := map[string]struct {
		reason string
		answer answer
		want   []checks.Ref
	}{
		"InProgress": {"an operation waits for children", answer{progress: flow.InProgress("a", time.Second, fleet, subnet)}, []checks.Ref{fleet, subnet}},
		"Joined": {"a tree of errors names objects more than once",
			answer{err: fmt.Errorf("put: %w", errors.Join(flow.WaitFor(errBoom, subnet, checks.Ref{}), flow.WaitFor(flow.WaitFor(errBoom, fleet), subnet)))},
			[]checks.Ref{subnet, fleet}},
		"Literal": {"an error without a cause", answer{err: &flow.WaitError{Refs: []checks.Ref{subnet}}}, []checks.Ref{subnet}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{answers: []answer{tc.answer}}
			out := flow.New("Pool", c.operations(), ext{}).Reconcile(t.Context(), &pool{})
			mustEqual(t, tc.reason, tc.want, out.WaitingFor())
		})
	}
	mustEqual(t, "a nil error stays nil", nil, flow.WaitFor(nil, subnet))
	c := &cloud{answers: []answer{{err: flow.WaitFor(errBoom, subnet)}}}
	out := flow.New("Pool", c.operations(), ext{}).Reconcile(t.Context(), &pool{})
	if !errors.Is(out.Err(), errBoom) || out.Message() != "applying failed: "+errBoom.Error() {
		t.Errorf("the cause is lost: %v", out)
	}
}

// A rule can make a failure final, or keep the status.
func TestRulesThatDecide(t *testing.T) {
	rules := classify.Table{
		{Name: "quota", Message: classify.Contains("quota"), Retry: classify.Never},
		{Name: "busy", Message: classify.Contains("busy"), Retry: classify.Fast, KeepStatus: true},
		{Name: "hopeless", Message: classify.Contains("hopeless"), Retry: classify.OnChange},
	}.Chain()
	const never, retried = "Ready=False Stalled=True ", "Ready=False Reconciling=True "
	for _, tc := range []struct {
		reason, text string
		deleting     bool
		want         verdicts
	}{
		{"the failure is final", "no quota", false, verdicts{Reason: "Quota", Conditions: never + "Finished=True ", Final: true}},
		{"the failure of a deletion is never final", "no quota", true, verdicts{Reason: "Quota", Conditions: retried, Again: time.Hour}},
		{"a failure waits for the spec", "hopeless", false, verdicts{Reason: "Hopeless", Conditions: never, Again: time.Hour}},
		{"no user changes the spec of a deleted resource", "hopeless", true, verdicts{Reason: "Hopeless", Conditions: retried, Again: time.Hour}},
		{"the conditions stay as they are", "busy", false, verdicts{Reason: "Busy", Again: time.Second, KeepsStatus: true}},
	} {
		c := &cloud{answers: []answer{{err: errors.New(tc.text)}}}
		out := flow.New("Pool", c.operations(), ext{Classify: rules}, flow.WithBackoff(plain())).Reconcile(t.Context(), &pool{deleting: tc.deleting})
		tc.want.State, tc.want.Point, tc.want.Message = flow.StateFailed, flow.PointApply, "applying failed: "+tc.text
		if tc.deleting {
			tc.want.Point, tc.want.Message = flow.PointDelete, "deleting failed: "+tc.text
		}
		mustEqual(t, tc.reason, tc.want, verdictsOf(out))
	}
}

// A release that cannot remove the token of the resource fails the pass.
func TestReleaseRemovesTheToken(t *testing.T) {
	c := &cloud{}
	o := c.storing()
	o.SetToken = func(context.Context, *pool, string, int64) error { return errBoom }
	out := flow.New("Pool", o, deciding(flow.PointDeleteCheck, checks.Release("the fleet is gone"))).Reconcile(t.Context(), &pool{token: "a", deleting: true})
	mustEqual(t, "the pass fails if the token cannot be removed", place{flow.StateFailed, flow.PointDelete, ""}, placeOf(out))
	mustBe(t, "the pass fails if the token cannot be removed", errBoom, out.Err())
}
