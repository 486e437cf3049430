package otelx_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/pass"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/internal/testing/race"
	"github.com/windlass-go/windlass/otelx"
)

// An observer is on for a chain or a pass if one of its signals is on.
func TestEnabled(t *testing.T) {
	rec := &recording{}
	recording, _ := rec.Tracer("").Start(t.Context(), "request")
	lines, none := rec.context(t, 2), t.Context()
	noTracer, noMeter, noLogs := otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil), otelx.WithoutLogs()
	meter := func(m otelfake.Meters) otelx.Option { m.R = &rec.Recorder; return otelx.WithMeterProvider(&m) }
	dropped := otelx.WithTracerProvider(&otelfake.Recorder{Drop: func(string) bool { return true }})
	spans := otelx.WithTracerProvider(&rec.Recorder)
	type on struct { // whether New makes an observer, and whether it is on
		Made, Chain bool
		Pass        pass.Extent
	}
	cases := map[string]struct {
		reason string
		ctx    context.Context
		opts   []otelx.Option
		want   on
	}{
		"Off":        {"no signal is configured", lines, []otelx.Option{noTracer, noMeter, noLogs}, on{}},
		"Noop":       {"the providers are no-ops", lines, []otelx.Option{otelx.WithTracerProvider(tracenoop.NewTracerProvider()), otelx.WithMeterProvider(metricnoop.NewMeterProvider()), noLogs}, on{}},
		"Refused":    {"the meter refuses each instrument", lines, []otelx.Option{noTracer, meter(otelfake.Meters{Refuse: true}), noLogs}, on{}},
		"Metrics":    {"metrics need no span and no logger", none, []otelx.Option{noTracer, meter(otelfake.Meters{}), noLogs}, on{true, true, pass.Everything}},
		"Disabled":   {"each instrument is off", lines, []otelx.Option{noTracer, meter(otelfake.Meters{Off: true}), noLogs}, on{Made: true}},
		"NoCounter":  {"the counters are refused, and the histograms off", lines, []otelx.Option{noTracer, meter(otelfake.Meters{Times: true, Off: true}), noLogs}, on{Made: true}},
		"NoTracer":   {"without a tracer, a recording span gets no events", recording, []otelx.Option{noTracer, noMeter}, on{Made: true}},
		"NoSpan":     {"a chain needs a recording span, and a pass starts one", lines, []otelx.Option{spans, noMeter, noLogs}, on{true, false, pass.Everything}},
		"LinkSpans":  {"links follow the pass", none, []otelx.Option{dropped, noMeter, noLogs, otelx.WithLinkSpans()}, on{Made: true}},
		"FewLines":   {"the logger shows only blocked and failed passes", rec.context(t, 0), []otelx.Option{noTracer, noMeter}, on{true, false, pass.WholeOnly}},
		"PassLines":  {"the logger shows the line of each pass", rec.context(t, 1), []otelx.Option{noTracer, noMeter}, on{true, false, pass.WholeOnly}},
		"PointLines": {"the logger shows the lines of points", rec.context(t, 2), []otelx.Option{noTracer, noMeter}, on{true, true, pass.Everything}},
		"NoLogger":   {"the context has no logger", none, []otelx.Option{noTracer, noMeter}, on{Made: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reported := reports(t)
			var got on
			if o := otelx.New(tc.opts...); o != nil {
				start := pass.Start{Link: &chain.Link{Name: "Pool", Tag: pass.Pass}, KeyOf: func(any) string { return "" }}
				_, passes := bind(o, start.Link).(pass.Starter).Start(tc.ctx, start)
				got = on{true, o.Enabled(tc.ctx), passes}
			}
			mustEqual(t, tc.reason, tc.want, got)
			for _, report := range *reported {
				if strings.Contains(report, "panicked") {
					t.Error(report)
				}
			}
		})
	}
}

// Each signal works without the others. Only refused instruments are reported.
func TestOneSignal(t *testing.T) {
	for kind, m := range map[string]*otelfake.Meters{".verdicts": {Counts: true}, ".duration": {Times: true}} {
		rec, reported := &recording{}, reports(t)
		m.R = &rec.Recorder
		o := otelx.New(otelx.WithTracerProvider(nil), otelx.WithLinkSpans(), otelx.WithMeterProvider(m))
		flow.New("Pool", operations, extensions, flow.WithObserver(o)).Reconcile(rec.context(t, 2), &pool{"fine"})
		if len(rec.Spans) > 0 || len(rec.lines) < 5 || len(rec.Counts) < 5 {
			t.Errorf("%s: %d spans, %d lines, %v", kind, len(rec.Spans), len(rec.lines), rec.Counts)
		}
		for name := range rec.Counts {
			if !strings.Contains(name, kind+" ") {
				t.Errorf("a refused instrument measured %s", name)
			}
		}
		refused := map[string]string{".verdicts": ".duration", ".duration": ".verdicts"}[kind]
		mustEqual(t, "reports", []string{"no windlass.link" + refused, "no windlass.point" + refused, "no windlass.pass" + refused}, *reported)
	}
}

// Enter and Exit work for a caller that does not call Bind. Exit without Enter
// does nothing.
func TestUnbound(t *testing.T) {
	rec := &recording{}
	o, link := rec.observer(), &chain.Link{Name: "link"}
	ctx, s := rec.Tracer("").Start(t.Context(), "request")
	o.Exit(ctx, link, chain.Exit{})
	o.Exit(o.Enter(ctx, link), link, chain.Exit{})
	mustEqual(t, "one event", []event{{Name: otelx.EventLink, Attributes: attrs{"windlass.link": "link", "windlass.verdict": "proceed"}}}, s.(*span).Events)
}

// An SDK that is installed after the set-up receives telemetry. OpenTelemetry
// forwards to the first global provider of a process only, so the test starts a
// process of its own.
func TestGlobalProviderLater(t *testing.T) {
	const child = "WINDLASS_TEST_GLOBAL_PROVIDER"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	rec := &recording{}
	o := otelx.New()
	r := flow.New("Pool", operations, extensions, flow.WithObserver(o))
	r.Reconcile(t.Context(), &pool{"fine"})
	otel.SetTracerProvider(&rec.Recorder)
	otel.SetMeterProvider(&otelfake.Meters{R: &rec.Recorder})
	r.Reconcile(t.Context(), &pool{"fine"})
	if len(rec.Spans) != 1 || len(rec.Counts) == 0 {
		t.Errorf("%d spans, %d series", len(rec.Spans), len(rec.Counts))
	}
}

// The tracer and the meter get the scope and the version of the library. The
// instruments have descriptions and bounds.
func TestScopeVersion(t *testing.T) {
	rec := &recording{}
	meters := &otelfake.Meters{R: &rec.Recorder}
	otelx.New(otelx.WithTracerProvider(&rec.Recorder), otelx.WithMeterProvider(meters))
	mustEqual(t, "the version of the tracer and the meter", []string{otelx.ScopeVersion, otelx.ScopeVersion}, []string{rec.Version, meters.Version})
	const scope = "github.com/windlass-go/windlass/otelx"
	mustEqual(t, "the scope of the tracer and the meter", []string{scope, scope}, []string{rec.Scope, meters.Scope})
	bounds := ", including all inner links. [1e-05 0.0001 0.001 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 60]"
	mustEqual(t, "descriptions and bounds", map[string]string{
		"windlass.link.duration": "The duration of links" + bounds, "windlass.link.verdicts": "The verdicts of links.",
		"windlass.point.duration": "The duration of extension points" + bounds, "windlass.point.verdicts": "The verdicts of extension points.",
		"windlass.pass.duration": "The duration of passes" + bounds, "windlass.pass.verdicts": "The verdicts of passes.",
	}, rec.Instruments)
}

// allocations returns the allocations of a call of h.
func allocations(h func()) float64 { return testing.AllocsPerRun(200, h) }

// An observer without a signal that is on allocates nothing.
func TestQuietAllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	rec := &recording{}
	quiet := rec.context(t, 0)
	cases := map[string]struct {
		reason string
		ctx    context.Context
		o      chain.Observer
	}{
		"Nil":    {"no signal is configured", t.Context(), otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil), otelx.WithoutLogs())},
		"Noop":   {"the providers are no-ops", t.Context(), otelx.New(otelx.WithTracerProvider(tracenoop.NewTracerProvider()), otelx.WithMeterProvider(metricnoop.NewMeterProvider()))},
		"Parent": {"no span is recording, each instrument is off, no verbosity is shown", quiet, otelx.New(otelx.WithTracerProvider(&rec.Recorder), otelx.WithMeterProvider(&otelfake.Meters{Off: true}))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := chain.New(around, around, around).Observe(tc.o).Then(func(context.Context, bool) (int, error) { return 1, nil })
			if got := allocations(func() { _, _ = h(tc.ctx, true) }); got != 0 {
				t.Errorf("%s: a call of a chain makes %v allocations", tc.reason, got)
			}
			if name == "Parent" {
				return // a pass starts a span
			}
			bare, observed := flow.New("Pool", operations, extensions), flow.New("Pool", operations, extensions, flow.WithObserver(tc.o))
			p := &pool{"fine"}
			want := allocations(func() { bare.Reconcile(tc.ctx, p) })
			if got := allocations(func() { observed.Reconcile(tc.ctx, p) }); got != want {
				t.Errorf("%s: a pass makes %v allocations, without an observer %v", tc.reason, got, want)
			}
		})
	}
	if len(rec.Spans) > 0 {
		t.Errorf("%d spans were started, want none", len(rec.Spans))
	}
}

// panics is a log sink that panics at each line, and in the method at.
type panics struct{ at string }

func (p panics) in(method string) bool {
	if method == p.at || method == "Info" {
		panic("the disk is full")
	}
	return true
}

func (panics) Init(logr.RuntimeInfo)          {}
func (p panics) Info(int, string, ...any)     { p.in("Info") }
func (p panics) Error(error, string, ...any)  { p.in("Info") }
func (p panics) Enabled(int) bool             { return p.in("Enabled") }
func (p panics) WithName(string) logr.LogSink { return p }
func (p panics) WithValues(...any) logr.LogSink {
	p.in("WithValues")
	return p
}

// A panicking logger loses its lines, and nothing else. The error handler gets
// one report of each observer.
func TestPanickingLogger(t *testing.T) {
	for _, at := range []string{"Info", "Enabled", "WithValues"} {
		t.Run(at, func(t *testing.T) {
			reported := reports(t)
			ctx := logr.NewContext(t.Context(), logr.New(panics{at}))
			want, rec := &recording{}, &recording{}
			quiet, o := want.observer(otelx.WithLinkSpans()), rec.observer(otelx.WithLinkSpans())
			for _, name := range []string{"fine", "refused"} {
				flow.New("Pool", operations, extensions, flow.WithObserver(quiet)).Reconcile(t.Context(), &pool{name})
				flow.New("Pool", operations, extensions, flow.WithObserver(o)).Reconcile(ctx, &pool{name})
			}
			lines := otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil))
			h := chain.New(around).Observe(lines).Then(func(context.Context, bool) (int, error) { return 7, nil })
			if n, err := h(ctx, true); n != 7 || err != nil {
				t.Errorf("the result of a standalone chain is %d, %v", n, err)
			}
			mustEqual(t, "spans are the same as without the logger", tree(t, want), tree(t, rec))
			mustEqual(t, "measurements are the same", want.Counts, rec.Counts)
			const report = "otelx: a tracer, a meter or a logger panicked: the disk is full"
			mustEqual(t, "each observer reports its first panic", []string{report, report}, *reported)
		})
	}
}

// brokenProvider is a tracer provider. The method at of its tracer or spans
// panics. The spans of "Dropped" record nothing, and their End panics.
type brokenProvider struct {
	tracenoop.TracerProvider
	at string
}

func (p brokenProvider) Tracer(string, ...trace.TracerOption) trace.Tracer {
	return brokenTracer{at: p.at}
}

type brokenTracer struct {
	tracenoop.Tracer
	at string
}

func (b brokenTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	s := brokenSpan{at: b.at}
	s.panicIn("Start")
	return trace.ContextWithSpan(ctx, s), s
}

type brokenSpan struct {
	tracenoop.Span
	at string
}

func (s brokenSpan) panicIn(method string) {
	if s.at == method || s.at == "Dropped" && method == "End" {
		panic("no " + method)
	}
}

func (s brokenSpan) IsRecording() bool                     { return s.at != "Dropped" }
func (s brokenSpan) SetAttributes(...attribute.KeyValue)   { s.panicIn("SetAttributes") }
func (s brokenSpan) AddEvent(string, ...trace.EventOption) { s.panicIn("AddEvent") }
func (s brokenSpan) AddLink(trace.Link)                    { s.panicIn("AddLink") }
func (s brokenSpan) SetStatus(codes.Code, string)          { s.panicIn("SetStatus") }
func (s brokenSpan) End(...trace.SpanEndOption)            { s.panicIn("End") }

// A panicking tracer or meter changes no outcome, span or line of the other
// signals. The error handler gets one report.
func TestPanickingProviders(t *testing.T) {
	links := otelx.WithPassLinks(func(context.Context) []trace.Link { return make([]trace.Link, 1) })
	cases := map[string][]otelx.Option{
		"Meter":   {otelx.WithTracerProvider(nil), otelx.WithMeterProvider(&otelfake.Meters{Panic: true})},
		"Enabled": {otelx.WithTracerProvider(nil), otelx.WithMeterProvider(&otelfake.Meters{EnabledPanics: true})},
	}
	for _, at := range []string{"Start", "SetAttributes", "AddEvent", "AddLink", "SetStatus", "End", "Dropped"} {
		only := []otelx.Option{otelx.WithTracerProvider(brokenProvider{at: at}), otelx.WithMeterProvider(nil), links}
		cases[at], cases[at+"OfLinks"] = only, append(only[:3:3], otelx.WithLinkSpans())
	}
	for name, opts := range cases {
		t.Run(name, func(t *testing.T) {
			reported := reports(t)
			o := otelx.New(opts...)
			for _, pool := range []*pool{{"fine"}, {"refused"}} {
				want := flow.New("Pool", operations, extensions).Reconcile(t.Context(), pool)
				alone, with := &recording{}, &recording{}
				logs := otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil))
				flow.New("Pool", operations, extensions, flow.WithObserver(logs)).Reconcile(alone.context(t, 2), pool)
				got := flow.New("Pool", operations, extensions, flow.WithObserver(o)).Reconcile(with.context(t, 2), pool)
				mustEqual(t, pool.name, want.String(), got.String())
				mustEqual(t, "lines are the same as without the provider", alone.lines, with.lines)
			}
			mustEqual(t, "reports to the error handler", 1, len(*reported))
			n, err := otelx.Span("span", around, opts...)(func(context.Context, bool) (int, error) { return 7, nil })(t.Context(), false)
			if n != 7 || err != nil {
				t.Errorf("the result is %d, %v", n, err)
			}
		})
	}
}

// reason is a block with that reason.
type reason string

func (r reason) Describe() (verdict, why string) { return "block", string(r) }

// result is a result with facts. An empty fact is missing.
type result struct {
	verdict, reason, why, rule, at string // at is the point and the link
	waits                          []checks.Ref
}

func (r result) Describe() (verdict, why string) { return r.verdict, r.reason }
func (r result) Why() string                     { return r.why }
func (r result) Rule() string                    { return r.rule }
func (r result) WaitingFor() []checks.Ref        { return r.waits }
func (r result) Point() string                   { return r.at }
func (r result) Link() string                    { return r.at }
func (result) Retry() classify.Retry             { return classify.Unset }

// message is a result with a message, a verdict and a reason only.
type message string

func (message) Describe() (verdict, why string) { return "block", "Full" }
func (m message) Message() string               { return string(m) }

// broken is an error and a result whose methods panic.
type broken struct{}

func (broken) Error() string              { panic("no text") }
func (broken) Describe() (string, string) { panic("no verdict") }

// calls makes one call of a link that returns res and err. It returns the event
// and the line of the link's end.
func calls(t *testing.T, res any, err error, opts ...otelx.Option) (event, string) {
	t.Helper()
	rec := &recording{}
	ctx, _ := rec.Tracer("").Start(rec.context(t, 9), "request")
	_, _ = chain.New(chain.Named("link", func(chain.Handler[int, any]) chain.Handler[int, any] {
		return func(context.Context, int) (any, error) { return res, err }
	})).Observe(rec.observer(opts...)).Then(func(context.Context, int) (any, error) { return nil, nil })(ctx, 1)
	if len(rec.Spans[0].Events) != 1 || len(rec.lines) != 2 {
		t.Fatalf("the events are %v, the lines %q", rec.Spans[0].Events, rec.lines)
	}
	return rec.Spans[0].Events[0], rec.lines[1]
}

// The line and the exception of a pass that panicked have the stack from the frame
// of the panic, also without the text of errors. An error has none, nor has the span of a link or a point.
func TestStack(t *testing.T) {
	for name, panics := range map[string]bool{"panicking": true, "broken": false} {
		rec, line, inner := &recording{}, "", ""
		ctx := logr.NewContext(t.Context(), funcr.New(func(_, args string) { line += args }, funcr.Options{}))
		flow.New("Pool", operations, extensions, flow.WithObserver(rec.observer(otelx.WithLinkSpans()))).Reconcile(ctx, &pool{name})
		for _, s := range rec.Spans[1:] {
			inner += fmt.Sprint(s.Events)
		}
		_, logged, found := strings.Cut(line, `"stack"="`)
		events := rec.Spans[0].Events
		recorded, has := events[len(events)-1].Attributes["exception.stacktrace"]
		for _, stack := range []string{logged, recorded} {
			if strings.Contains(inner, "stacktrace") || found != panics || has != panics || strings.Contains(stack, "helpers_test.go") != panics || strings.Contains(stack, "hunter2") {
				t.Errorf("%s: the stack is %s", name, stack)
			}
		}
	}
}
