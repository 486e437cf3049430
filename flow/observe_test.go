package flow_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	engine "github.com/windlass-go/windlass/internal/pass"
)

// Observers see the pass, each point and each link in order, with its own
// verdict.
func TestObserver(t *testing.T) {
	cases := map[string]struct {
		reason string
		set    func(*cloud, *ext, *pool)
		want   []string
	}{
		"Ready": {"a pass through every point of an Apply", func(*cloud, *ext, *pool) {}, []string{
			"> pass Pool", "> Pass/notePass",
			"> point EntryCheck", "> EntryCheck/noteEntryCheck", "< EntryCheck/noteEntryCheck: proceed", "< point EntryCheck: proceed",
			"> point Owner", "< point Owner: proceed",
			"> point OwnerCheck", "> OwnerCheck/noteOwnerCheck", "< OwnerCheck/noteOwnerCheck: proceed", "< point OwnerCheck: proceed",
			"> point Get", "> Get/noteGet", "< Get/noteGet: proceed Absent", "< point Get: proceed Absent",
			"> point PreCheck", "> PreCheck/notePreCheck", "< PreCheck/notePreCheck: proceed", "< point PreCheck: proceed",
			"> point Apply", "> Apply/noteApply", "< Apply/noteApply: proceed", "< point Apply: proceed",
			"> point Get", "> Get/noteGet", "< Get/noteGet: proceed Present", "< point Get: proceed Present",
			"> point PostCheck", "> PostCheck/notePostCheck", "< PostCheck/notePostCheck: proceed", "< point PostCheck: proceed",
			"< Pass/notePass: proceed", "< pass Pool: ready Succeeded",
		}},
		"Blocked": {"only the link that blocks has the verdict block", func(_ *cloud, e *ext, _ *pool) {
			*e = ext{OwnerCheck: e.OwnerCheck.Append(returns[*checks.OwnerRequest]("gate", checks.Block("NotYet", "wait"), nil))}
		}, []string{
			"> pass Pool", "> point EntryCheck", "< point EntryCheck: proceed", "> point Owner", "< point Owner: proceed",
			"> point OwnerCheck", "> OwnerCheck/noteOwnerCheck", "> OwnerCheck/gate", "< OwnerCheck/gate: block NotYet",
			"< OwnerCheck/noteOwnerCheck: proceed", "< point OwnerCheck: block NotYet",
			"< pass Pool: block NotYet",
		}},
		"Failed": {"the point has the error of the operation, and the error is classified", func(c *cloud, e *ext, _ *pool) {
			*e, c.getErr = ext{Get: e.Get, Classify: classify.Table{{Name: "boom", Message: classify.Contains("boom"), Retry: classify.Fast}}.Chain()}, errBoom
		}, []string{
			"> pass Pool", "> point EntryCheck", "< point EntryCheck: proceed", "> point Owner", "< point Owner: proceed", "> point OwnerCheck", "< point OwnerCheck: proceed",
			"> point Get", "> Get/noteGet", "< Get/noteGet: proceed", "< point Get: error",
			"> point Classify", "> Classify/Table(1 rule)", "< Classify/Table(1 rule): fast boom", "< point Classify: fast boom",
			"< pass Pool: error Boom",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, p := &cloud{}, &pool{}
			e := c.extensions()
			tc.set(c, &e, p)
			l, second, off := &recorder{}, &recorder{}, &recorder{off: true}
			flow.New("Pool", c.operations(), e, flow.WithObserver(l), flow.WithObserver(off), flow.WithObserver(second), flow.WithExplanations(1)).Reconcile(t.Context(), p)
			mustEqual(t, tc.reason, tc.want, l.take())
			flow.New("Pool", c.operations(), e, flow.WithObserver(l)).Reconcile(t.Context(), p)
			mustEqual(t, "an observer sees the same without another one, and without a trace", tc.want, l.take())
			mustEqual(t, "a second observer sees the same", tc.want, second.take())
			mustEqual(t, "a disabled observer sees nothing", 0, len(off.take()))
		})
	}
}

// starter is an observer that starts passes.
type starter struct {
	recorder
	start func(ctx context.Context) (context.Context, engine.Extent)
	last  engine.Start
}

func (s *starter) Start(ctx context.Context, start engine.Start) (context.Context, engine.Extent) {
	s.last = start
	return s.start(ctx)
}

// Start replaces Enabled, and Enter of the pass.
func TestStarter(t *testing.T) {
	seen := []string{"> Get/noteGet", "< Get/noteGet: proceed Absent", "< pass Pool: ready Succeeded"}
	cases := map[string]struct {
		reason string
		start  func(ctx context.Context) (context.Context, engine.Extent)
		want   []string
		value  any // in the context of the links
	}{
		"On": {"an enabled observer sees the pass, and the pass uses its context", func(ctx context.Context) (context.Context, engine.Extent) {
			return context.WithValue(ctx, spanKey{}, "span"), engine.Everything
		}, seen, "span"},
		"Off": {"a disabled observer sees nothing, and the pass uses its context", func(ctx context.Context) (context.Context, engine.Extent) {
			return context.WithValue(ctx, spanKey{}, "span"), engine.Nothing
		}, nil, "span"},
		"Nil":    {"a nil context means the given one", func(context.Context) (context.Context, engine.Extent) { return nil, engine.Everything }, seen, nil},
		"Panics": {"an observer that panics is not enabled", func(context.Context) (context.Context, engine.Extent) { panic("broken observer") }, nil, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{}
			var value any
			e := ext{Get: chain.New(noting[*request, flow.Observation](c, "Get"), link("look", func(ctx context.Context, req *request, next nextGet) (flow.Observation, error) {
				value = ctx.Value(spanKey{})
				return next(ctx, req)
			}))}
			s, last := &starter{start: tc.start}, &recorder{}
			r := flow.New("Pool", c.operations(), e, flow.WithObserver(s), flow.WithObserver(last), flow.WithErrors(reader))
			mustBeReady(t, tc.reason, r.Reconcile(t.Context(), &pool{name: "p"}))
			got := slices.DeleteFunc(s.take(), func(call string) bool { return !slices.Contains(seen, call) && call != "> pass Pool" })
			mustEqual(t, tc.reason, tc.want, got, cmpopts.EquateEmpty())
			mustEqual(t, "the other observer sees the pass", "< pass Pool: ready Succeeded", last.calls[len(last.calls)-1])
			mustEqual(t, tc.reason, tc.value, value)
			mustEqual(t, "Start gets the name and the key", []string{"Pool", "p"}, []string{s.last.Link.Name, s.last.Key()})
			if s.last.ErrorClass == nil || s.last.ErrorClass(errBoom) == "" {
				t.Error("Start gets no function for the class of an error")
			}
		})
	}
}

// If no observer asks for more than the whole pass, its points and links run
// without observers, in the context of Start.
func TestStarterOfWholePass(t *testing.T) {
	c, value := &cloud{}, any(nil)
	s := &starter{start: func(ctx context.Context) (context.Context, engine.Extent) {
		return context.WithValue(ctx, spanKey{}, "span"), engine.WholeOnly
	}}
	o := c.operations()
	o.Apply = func(ctx context.Context, _ *request) (flow.Progress, error) {
		value = ctx.Value(spanKey{})
		return flow.Done(), c.getErr
	}
	r := flow.New("Pool", o, c.extensions(), flow.WithObserver(s))
	for _, want := range []string{"< pass Pool: ready Succeeded", "< pass Pool: error Unknown"} {
		r.Reconcile(t.Context(), &pool{name: "p"})
		mustEqual(t, "the observer sees the end of the pass only", []string{want}, s.take())
		mustEqual(t, "the context of Apply", any("span"), value)
		c.getErr = errBoom
	}
}

// bare is a starter of a type without equality.
type bare struct {
	*recorder
	_ []int
}

func (b bare) Start(ctx context.Context, _ engine.Start) (context.Context, engine.Extent) {
	return ctx, engine.Everything
}

// Each observer gets the context that it returned, for every number of
// observers. The first one is the outermost.
func TestManyObservers(t *testing.T) {
	for n := 1; n <= 10; n++ {
		var opts []flow.Option
		var all calls
		wrong := 0
		for i := range n {
			opts = append(opts, flow.WithObserver(&own{i, time.Now(), &all, &wrong}))
		}
		out := flow.New("Pool", (&cloud{}).operations(), ext{}, opts...).Reconcile(t.Context(), &pool{})
		mustBeReady(t, "the pass is not disturbed", out)
		mustEqual(t, "each observer sees the pass and its points, with its own context", []int{2 * 8 * n, 0}, []int{len(all), wrong})
		for i := range n {
			nested := []string{fmt.Sprint("> Pool ", i), fmt.Sprint("< Pool ", i)}
			mustEqual(t, "the first observer is around the second", nested, []string{all[i], all[len(all)-1-i]})
		}
	}
}

// own is an observer that marks the context.
type own struct {
	n     int
	made  time.Time
	all   *calls
	wrong *int
}

func (*own) Enabled(context.Context) bool { return true }
func (o *own) Enter(ctx context.Context, l *chain.Link) context.Context {
	o.all.add("> %s %d", l.Name, o.n)
	return context.WithValue(ctx, spanKey{}, o.n)
}
func (o *own) Exit(ctx context.Context, l *chain.Link, e chain.Exit) {
	o.all.add("< %s %d", l.Name, o.n)
	if ctx.Value(spanKey{}) != o.n || e.Elapsed > time.Since(o.made) {
		*o.wrong++
	}
}

// brokenObserver is an observer that misbehaves at one call: "enabled", "> NAME" or
// "< NAME".
type brokenObserver struct {
	recorder
	at     string
	breaks func(ctx context.Context) context.Context
}

func (r *brokenObserver) do(ctx context.Context, call string) context.Context {
	if call == r.at {
		return r.breaks(ctx)
	}
	return ctx
}

func (r *brokenObserver) Enabled(ctx context.Context) bool { return r.do(ctx, "enabled") != nil }

func (r *brokenObserver) Enter(ctx context.Context, l *chain.Link) context.Context {
	return r.do(r.recorder.Enter(ctx, l), "> "+l.Name)
}

func (r *brokenObserver) Exit(ctx context.Context, l *chain.Link, e chain.Exit) {
	r.recorder.Exit(ctx, l, e)
	r.do(ctx, "< "+l.Name)
}

// No observer changes the pass.
func TestBrokenObservers(t *testing.T) {
	panics := func(context.Context) context.Context { panic("broken observer") }
	none := func(context.Context) context.Context { return nil }
	foreign := func(context.Context) context.Context { return context.Background() }
	const end = "< pass Pool: ready Succeeded"
	cases := map[string]struct {
		reason string
		o      *brokenObserver
		last   string // its last call
	}{
		"EnabledPanics":  {"an observer whose Enabled panics is disabled", &brokenObserver{at: "enabled", breaks: panics}, ""},
		"EnterPanics":    {"an observer that panics gets no more calls", &brokenObserver{at: "> noteGet", breaks: panics}, "> Get/noteGet"},
		"ExitPanics":     {"an observer that panics gets no more calls", &brokenObserver{at: "< noteGet", breaks: panics}, "< Get/noteGet: proceed Absent"},
		"PassPanics":     {"a panic at the pass ends its calls, too", &brokenObserver{at: "> Pool", breaks: panics}, "> pass Pool"},
		"NilContext":     {"a nil context means the given one", &brokenObserver{at: "> noteGet", breaks: none}, end},
		"ForeignContext": {"a context without the pass is replaced by the given one", &brokenObserver{at: "> Pool", breaks: foreign}, end},
		"ForeignAtLink":  {"the context of a link must contain the pass", &brokenObserver{at: "> notePass", breaks: foreign}, end},
		"ForeignAtPoint": {"the context of a point must contain the pass", &brokenObserver{at: "> Apply", breaks: foreign}, end},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, l := &cloud{}, &recorder{}
			o, seen := c.operations(), any(nil)
			apply := o.Apply
			o.Apply = func(ctx context.Context, req *request) (flow.Progress, error) {
				seen = ctx.Value(spanKey{})
				return apply(ctx, req)
			}
			r := flow.New("Pool", o, c.extensions(), flow.WithObserver(tc.o), flow.WithObserver(l), flow.WithExplanations(1))
			ctx := context.WithValue(t.Context(), spanKey{}, "of the caller")
			mustBeReady(t, tc.reason, r.Reconcile(ctx, &pool{name: "p"}))
			mustEqual(t, "the operation has the values of the caller's context", any("of the caller"), seen)
			mustEqual(t, "the other observers see the whole pass", "< pass Pool: ready Succeeded", l.calls[len(l.calls)-1])
			e, _ := r.Explain("p")
			mustEqual(t, "the trace has every step", 16, len(e.Steps))
			last := ""
			if n := len(tc.o.calls); n > 0 {
				last = tc.o.calls[n-1]
			}
			mustEqual(t, tc.reason, tc.last, last)
		})
	}
}

type spanKey struct{}

// Every point of the pass has the values that an observer adds to the context,
// Classify too.
func TestObserverContext(t *testing.T) {
	for name, e := range map[string]ext{"NoPassLinks": {}, "PassLinks": {Pass: on("lock", hands)}} {
		c := &cloud{getErr: errBoom}
		o := &brokenObserver{at: "> Pool", breaks: func(ctx context.Context) context.Context { return context.WithValue(ctx, spanKey{}, "span") }}
		var at []string
		look := func(ctx context.Context, where string) { at = append(at, fmt.Sprint(where, " ", ctx.Value(spanKey{}))) }
		e.OwnerCheck = chain.New(checks.Check("look", func(ctx context.Context, _ *checks.OwnerRequest) (checks.Result, error) {
			look(ctx, "check")
			return checks.Proceed(), nil
		}))
		e.Classify = chain.New(link("look", func(ctx context.Context, f *classify.Failure, next classify.Handler) (classify.Classification, error) {
			look(ctx, "classify")
			return next(ctx, f)
		}))
		flow.New("Pool", c.operations(), e, flow.WithObserver(o)).Reconcile(t.Context(), &pool{})
		mustEqual(t, name, []string{"check span", "classify span"}, at)
	}
}

// logging is a starter that writes log lines.
type logging struct{ starter }

func (*logging) Doubles(other chain.Observer) bool { _, ok := other.(*logging); return ok }

// A starter that is given twice would start each pass twice, and two observers
// that write log lines would write each line twice, so New panics.
func TestObserversGivenTwice(t *testing.T) {
	s, l := &starter{}, &recorder{}
	with := func(all ...chain.Observer) func() {
		var opts []flow.Option
		for _, o := range all {
			opts = append(opts, flow.WithObserver(o))
		}
		return func() { flow.New("Pool", (&cloud{}).operations(), ext{}, opts...) }
	}
	same := func(numbers string) string {
		return "flow: New: Pool: observers " + numbers + " are the same *flow_test.starter: give it once"
	}
	lines := func(numbers string) string {
		return "flow: New: Pool: observers " + numbers + " both write the log lines of each pass: leave one of them out, or give it otelx.WithoutLogs; " +
			"ctrlx adds an observer, whose options ctrlx.WithTelemetry sets"
	}
	mustPanic(t, map[string]panicCase{
		"First":      {"the first two observers are the same", with(s, s), same("1 and 2")},
		"Later":      {"later observers are the same, with others between", with(l, s, l, s), same("2 and 4")},
		"Nil":        {"nil is no observer and has no number", with(nil, s, s), same("1 and 2")},
		"FirstLines": {"the first observer writes lines, too", with(&logging{}, &logging{}), lines("1 and 2")},
		"LaterLines": {"so do later ones", with(l, &logging{}, s, &logging{}), lines("2 and 4")},
	})
	with(l, l)()                                    // no starter, so it only sees each call twice
	with(s, &starter{})()                           // two values
	with(bare{recorder: l}, l, bare{recorder: l})() // values without equality, so New accepts both
	with(s, &logging{}, &starter{})()               // one observer writes log lines
}

func TestObserverOfACanceledPass(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := &recorder{}
	flow.New("Pool", (&cloud{}).operations(), ext{}, flow.WithObserver(o)).Reconcile(ctx, &pool{})
	mustEqual(t, "a cancellation is no error of the pass", "< pass Pool: canceled Canceled", o.calls[len(o.calls)-1])
}
