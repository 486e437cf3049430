package otelx_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/windlass-go/windlass/chain"
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

// Each signal works without the others.
func TestOneSignal(t *testing.T) {
	reported := reports(t)
	rec := &recording{}
	o := otelx.New(otelx.WithTracerProvider(nil), otelx.WithLinkSpans(), otelx.WithMeterProvider(&otelfake.Meters{R: &rec.Recorder, Counts: true}))
	flow.New("Pool", operations, extensions, flow.WithObserver(o)).Reconcile(rec.context(t, 2), &pool{"fine"})
	for name := range rec.Counts {
		if !strings.Contains(name, ".verdicts {verdict} ") {
			t.Errorf("a refused instrument measured %s", name)
		}
	}
	if len(rec.Spans) > 0 || len(rec.lines) < 5 || rec.Counts["windlass.pass.verdicts {verdict} windlass.reason=Succeeded,windlass.reconciler=Pool,windlass.verdict=ready"] != 1 {
		t.Errorf("without a tracer: %d spans, %d lines, %v", len(rec.Spans), len(rec.lines), rec.Counts)
	}
	times := &recording{}
	o = otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(&otelfake.Meters{R: &times.Recorder, Times: true}), otelx.WithoutLogs())
	ctx, s := times.Tracer("").Start(t.Context(), "request")
	_, _ = chain.New(chain.Named("link", around)).Observe(o).Then(func(context.Context, bool) (int, error) { return 1, nil })(ctx, true)
	mustEqual(t, "only histograms measure", map[string]int{"windlass.link.duration s windlass.link=link": 1}, times.Counts)
	if events := s.(*span).Events; len(events) > 0 {
		t.Errorf("without a tracer, the span of the context has events: %v", events)
	}
	mustEqual(t, "only the refused instruments are reported", []string{"no windlass.link.duration", "no windlass.point.duration", "no windlass.pass.duration",
		"no windlass.link.verdicts", "no windlass.point.verdicts", "no windlass.pass.verdicts"}, *reported)
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
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
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
