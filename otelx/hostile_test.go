package otelx_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/pass"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

// panics is a log sink that panics.
type panics struct{ logr.LogSink }

func (panics) Init(logr.RuntimeInfo)            {}
func (panics) Info(int, string, ...any)         { panic("the disk is full") }
func (panics) Error(error, string, ...any)      { panic("the disk is full") }
func (panics) Enabled(int) bool                 { return true }
func (p panics) WithValues(...any) logr.LogSink { return p }

// A panicking logger costs its lines. Spans end, metrics count, and the error handler learns of it once.
func TestPanickingLogger(t *testing.T) {
	t.Run("Lines", func(t *testing.T) { panickingLogger(t, panics{}) })
	t.Run("Enabled", func(t *testing.T) { panickingLogger(t, panicsEnabled{}) })
	t.Run("Values", func(t *testing.T) { panickingLogger(t, panicsValues{}) })
}

func panickingLogger(t *testing.T, sink logr.LogSink) {
	told := reports(t)
	want, w := &world{}, &world{}
	for _, name := range []string{"fine", "refused"} {
		flow.New("Pool", operations, extensions, flow.WithObserver(want.observer(otelx.WithLinkSpans()))).Reconcile(t.Context(), &pool{name})
	}
	o := w.observer(otelx.WithLinkSpans())
	for _, name := range []string{"fine", "refused"} {
		ctx := logr.NewContext(t.Context(), logr.New(sink))
		flow.New("Pool", operations, extensions, flow.WithObserver(o)).Reconcile(ctx, &pool{name})
	}
	mustEqual(t, "spans are the same as without the logger", tree(t, want), tree(t, w))
	mustEqual(t, "measurements are the same", want.Counts, w.Counts)
	mustEqual(t, "reports to the error handler", []string{"otelx: a tracer, a meter or a logger panicked: the disk is full"}, *told)
}

// panicsEnabled is a log sink that panics when it is asked for its level.
type panicsEnabled struct{ panics }

func (panicsEnabled) Enabled(int) bool                 { panic("the disk is full") }
func (p panicsEnabled) WithValues(...any) logr.LogSink { return p }

// panicsValues is a log sink that panics when it gets values.
type panicsValues struct{ panics }

func (panicsValues) WithValues(...any) logr.LogSink { panic("the disk is full") }

// tracer is a tracer whose method at panics.
type tracer struct {
	tracenoop.TracerProvider
	at string
}

func (p tracer) Tracer(string, ...trace.TracerOption) trace.Tracer { return brokenTracer{at: p.at} }

type brokenTracer struct {
	tracenoop.Tracer
	at string
}

func (b brokenTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	s := brokenSpan{at: b.at}
	s.may("Start")
	return trace.ContextWithSpan(ctx, s), s
}

type brokenSpan struct {
	tracenoop.Span
	at string
}

func (s brokenSpan) may(method string) {
	if s.at == method || s.at == "Dropped" && method == "End" {
		panic("no " + method)
	}
}
func (s brokenSpan) IsRecording() bool                     { return s.at != "Dropped" }
func (s brokenSpan) SetAttributes(...attribute.KeyValue)   { s.may("SetAttributes") }
func (s brokenSpan) AddEvent(string, ...trace.EventOption) { s.may("AddEvent") }
func (s brokenSpan) SetStatus(codes.Code, string)          { s.may("SetStatus") }
func (s brokenSpan) End(...trace.SpanEndOption)            { s.may("End") }

// A panicking tracer or meter changes no outcome, and the error handler learns of it once.
func TestPanickingProviders(t *testing.T) {
	cases := map[string][]otelx.Option{"Meter": {otelx.WithTracerProvider(nil), otelx.WithMeterProvider(&otelfake.Meters{Panic: true})}}
	for _, at := range []string{"Start", "SetAttributes", "AddEvent", "SetStatus", "End", "Dropped"} {
		only := []otelx.Option{otelx.WithTracerProvider(tracer{at: at}), otelx.WithMeterProvider(nil), otelx.WithoutLogs()}
		cases[at], cases[at+"OfLinks"] = only, append(only[:3:3], otelx.WithLinkSpans())
	}
	for name, opts := range cases {
		t.Run(name, func(t *testing.T) {
			told := reports(t)
			o := otelx.New(opts...)
			for _, pool := range []*pool{{"fine"}, {"refused"}} {
				want := flow.New("Pool", operations, extensions).Reconcile(t.Context(), pool)
				got := flow.New("Pool", operations, extensions, flow.WithObserver(o)).Reconcile(t.Context(), pool)
				mustEqual(t, pool.name, want.String(), got.String())
			}
			mustEqual(t, "reports to the error handler", 1, len(*told))
			n, err := otelx.Span("span", around, opts...)(func(context.Context, bool) (int, error) { return 7, nil })(t.Context(), false)
			if n != 7 || err != nil {
				t.Errorf("the result is %d, %v", n, err)
			}
		})
	}
}

// codes that no rule knows become no series, and neither do many reasons of one check.
func TestBoundedSeries(t *testing.T) {
	w := &world{}
	o := w.observer(otelx.WithTracerProvider(nil))
	r := flow.New("Pool", flow.Operations[int]{
		Key: func(n int) string { return "pool" },
		Apply: func(_ context.Context, req *flow.Request[int]) (flow.Progress, error) {
			return flow.Progress{}, coded(fmt.Sprint("Code", req.Resource))
		},
	}, flow.Extensions[int]{}, flow.WithObserver(o))
	const calls = 500
	for n := range calls {
		r.Reconcile(t.Context(), n)
	}
	if n := len(w.Counts); n > 20 {
		t.Errorf("%d codes of a service made %d series, want at most 20", calls, n)
	}
	h := chain.New(chain.Named("many", func(next chain.Handler[int, reason]) chain.Handler[int, reason] {
		return func(_ context.Context, n int) (reason, error) {
			if n < 0 {
				return "", nil
			}
			return reason(fmt.Sprint("Reason", n)), nil
		}
	})).Observe(o).Then(func(context.Context, int) (reason, error) { return "", nil })
	before := len(w.Counts)
	for n := range calls {
		_, _ = h(t.Context(), n)
	}
	const other = "windlass.link.verdicts {verdict} windlass.link=many,windlass.reason=other,windlass.verdict=block"
	for range calls { // neither is folded, however often it comes
		_, _ = h(t.Context(), -1)
		_, _ = h(t.Context(), 7)
	}
	const few = "windlass.link.verdicts {verdict} windlass.link=many,"
	mustEqual(t, "calls without a reason, and with a known one", []int{calls, calls + 1},
		[]int{w.Counts[few+"windlass.verdict=block"], w.Counts[few+"windlass.reason=Reason7,windlass.verdict=block"]})
	if n := len(w.Counts) - before; n > 110 || w.Counts[other] != calls-100 {
		t.Errorf("%d reasons of a link made %d series and %d calls under %q, want 400", calls, n, w.Counts[other], other)
	}
}

// reason is a block with a reason.
type reason string

func (r reason) Describe() (verdict, why string) { return "block", string(r) }

// broken is an error, and a result, that panics when it is read.
type broken struct{}

func (broken) Error() string              { panic("no text") }
func (broken) Describe() (string, string) { panic("no verdict") }

// described is a result with a verdict and a reason.
type described struct{ verdict, reason string }

func (d described) Describe() (verdict, why string) { return d.verdict, d.reason }

// why is a block that says why.
type why string

func (why) Describe() (verdict, why string) { return "block", "" }
func (w why) Why() string                   { return string(w) }

// ruled is a block by a rule, with a point and a link.
type ruled struct{ why }

func (ruled) Rule() string          { return "rule" }
func (ruled) Point() string         { return "Apply" }
func (ruled) Link() string          { return "other" }
func (ruled) Retry() classify.Retry { return classify.Unset }

// waits is a block that waits for objects.
type waits []checks.Ref

func (waits) Describe() (verdict, why string) { return "block", "" }
func (w waits) WaitingFor() []checks.Ref      { return w }

// refs returns objects, and the attribute with the given names.
func refs(n int, shown ...string) (waits, attrs) {
	w := waits{}
	for i := range n {
		w = append(w, checks.Ref{Kind: "Quota", Name: fmt.Sprint(i)})
		if i < 10 {
			shown = slices.Insert(shown, i, fmt.Sprint("Quota ", i))
		}
	}
	return w, attrs{"windlass.verdict": "block", "windlass.waiting_for": `["` + strings.Join(shown, `","`) + `"]`}
}

// calls makes one call of a link that returns res and err, and returns its event and its line.
func calls(t *testing.T, res any, err error, opts ...otelx.Option) (event, string) {
	t.Helper()
	w := &world{}
	ctx, _ := w.Tracer("").Start(w.context(t, 9), "request")
	_, _ = chain.New(chain.Named("link", func(chain.Handler[int, any]) chain.Handler[int, any] {
		return func(context.Context, int) (any, error) { return res, err }
	})).Observe(w.observer(opts...)).Then(func(context.Context, int) (any, error) { return nil, nil })(ctx, 1)
	if len(w.Spans[0].Events) != 1 || len(w.lines) != 2 {
		t.Fatalf("the events are %v, the lines %q", w.Spans[0].Events, w.lines)
	}
	return w.Spans[0].Events[0], w.lines[1]
}

func TestHostileResults(t *testing.T) {
	var nilError *broken
	huge := strings.Repeat("x", 700_000)
	word, text := huge[:176]+"... (699,824 bytes more)", huge[:976]+"... (699,024 bytes more)"
	one, wantOne := refs(1)
	ten, wantTen := refs(10)
	eleven, wantEleven := refs(11, "and 1 more")
	twelve, wantTwelve := refs(12, "and 2 more")
	cases := map[string]struct {
		reason string
		res    any
		err    error
		want   attrs
	}{
		"ErrorPanics":  {"an error that panics has a type", nil, broken{}, attrs{"windlass.verdict": "error", "error.type": "otelx_test.broken"}},
		"NilError":     {"a nil pointer in an error has a type", nil, nilError, attrs{"windlass.verdict": "error", "error.type": "*otelx_test.broken"}},
		"Joined":       {"a joined error has the class of the first cause", nil, errors.Join(coded("First"), coded("Second")), attrs{"windlass.verdict": "error", "error.type": "First"}},
		"LongCode":     {"a code is bounded", nil, coded(strings.Repeat("x", 700_000)), attrs{"windlass.verdict": "error", "error.type": strings.Repeat("x", 100)}},
		"ResultPanics": {"a result that panics is unreadable", broken{}, nil, attrs{"windlass.verdict": "unreadable"}},
		"Lines":        {"a reason is one line", reason("a\nb\u202e"), nil, attrs{"windlass.verdict": "block", "windlass.reason": `a; b\u202e`}},
		"ProceedWhy":   {"a result that proceeds has a reason of one line", described{"proceed", "a\nb"}, nil, attrs{"windlass.verdict": "proceed", "windlass.reason": "a; b"}},
		"LongProceed":  {"its reason is bounded", described{"proceed", huge}, nil, attrs{"windlass.verdict": "proceed", "windlass.reason": word}},
		"LongVerdict":  {"a verdict is bounded", described{huge, ""}, nil, attrs{"windlass.verdict": word}},
		"OwnError":     {"a verdict of that name is no error", described{"error", "Mine"}, nil, attrs{"windlass.verdict": "error", "windlass.reason": "Mine"}},
		"Why":          {"a result says why", why("full"), nil, attrs{"windlass.verdict": "block", "windlass.message": "full"}},
		"LongWhy":      {"a message is bounded", why(huge), nil, attrs{"windlass.verdict": "block", "windlass.message": text}},
		"Ruled":        {"the message of a rule is the text of an error, and the result of a link names no point", ruled{"secret"}, nil, attrs{"windlass.verdict": "block"}},
		"WaitsForNone": {"no awaited object is listed", waits{}, nil, attrs{"windlass.verdict": "block"}},
		"WaitsForOne":  {"the awaited object is listed", one, nil, wantOne},
		"WaitsForTen":  {"ten awaited objects are listed", ten, nil, wantTen},
		"WaitsFor11":   {"the eleventh is counted", eleven, nil, wantEleven},
		"WaitsFor12":   {"all others are counted", twelve, nil, wantTwelve},
		"LongRef":      {"the name of an object is bounded", waits{{Kind: huge}}, nil, attrs{"windlass.verdict": "block", "windlass.waiting_for": `["` + text + `"]`}},
		"LongReason":   {"a reason is bounded", reason(strings.Repeat("x", 700_000)), nil, attrs{"windlass.verdict": "block", "windlass.reason": strings.Repeat("x", 176) + "... (699,824 bytes more)"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, line := calls(t, tc.res, tc.err)
			tc.want["windlass.link"] = "link"
			mustEqual(t, tc.reason, tc.want, got.Attributes)
			if !strings.Contains(line, "verdict="+tc.want["windlass.verdict"]) || strings.Contains(line, "\n") ||
				strings.Contains(line, "point=") || strings.Count(line, " link=") != 1 || strings.Contains(line, "waitingFor=") != (tc.want["windlass.waiting_for"] != "") {
				t.Errorf("%s: the line is %s", tc.reason, line)
			}
		})
	}
}

// Texts are cut between characters, and are valid UTF-8 of at most the given length.
func TestTexts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text, limit := string(rapid.SliceOf(rapid.Byte()).Draw(r, "bytes"))+rapid.String().Draw(r, "text"), rapid.IntRange(1, 30).Draw(r, "limit")
		w := &world{}
		ctx, _ := w.Tracer("").Start(t.Context(), "request")
		_, _ = otelx.Span("span", around, otelx.WithTracerProvider(&w.Recorder), otelx.WithErrorText(limit))(func(context.Context, bool) (int, error) {
			return 0, errors.New(text)
		})(ctx, true)
		got := w.Spans[1].Events[0].Attributes["exception.message"]
		if len(got) > limit || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x1b\u202e") {
			r.Errorf("%q became %q, of %d bytes", text, got, len(got))
		}
	})
	if got, _ := calls(t, nil, errors.New("äöü")); got.Name != otelx.EventLink {
		t.Errorf("the event is %v", got)
	}
	if _, line := calls(t, nil, errors.New("x"), otelx.WithErrorText(1)); !strings.HasSuffix(line, "error=x") {
		t.Errorf("one byte is allowed: %s", line)
	}
	_, line := calls(t, nil, errors.New("äöü"), otelx.WithErrorText(3))
	if !strings.HasSuffix(line, "error=ä") {
		t.Errorf("a cut inside a character leaves it out: %s", line)
	}
}

// Only a link that failed itself has the error.
func TestErrorOfItsOwn(t *testing.T) {
	w := &world{}
	e := flow.Extensions[*pool]{Apply: chain.New(chain.Named("outer", passOn), chain.Named("fails", func(flow.Handler[*pool]) flow.Handler[*pool] {
		return func(context.Context, *flow.Request[*pool]) (flow.Progress, error) {
			return flow.Progress{}, coded("Full")
		}
	}))}
	flow.New("Pool", operations, e, flow.WithObserver(w.observer(otelx.WithErrorText(100)))).Reconcile(w.context(t, 9), &pool{"fine"})
	mustEqual(t, "events", []event{link("Apply", "fails", "error", "error.type", "Full"), link("Apply", "outer", "proceed"),
		{Name: otelx.EventException, Attributes: attrs{"exception.type": "Full", "exception.message": "code Full"}}}, w.Spans[0].Events)
	for _, line := range w.lines {
		if strings.Contains(line, "link=outer") && strings.Contains(line, "rror") {
			t.Errorf("the link only passed the error on: %s", line)
		}
	}
}

func passOn(next flow.Handler[*pool]) flow.Handler[*pool] {
	return func(ctx context.Context, req *flow.Request[*pool]) (flow.Progress, error) { return next(ctx, req) }
}

// A line, and the event of a link that decided, have the duration.
func TestDurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		var lines []string
		ctx, _ := w.Tracer("").Start(logr.NewContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: 9})), "request")
		_, _ = chain.New(chain.Named("slow", func(chain.Handler[int, reason]) chain.Handler[int, reason] {
			return func(context.Context, int) (reason, error) { time.Sleep(1500 * time.Millisecond); return "Slow", nil }
		})).Observe(w.observer()).Then(func(context.Context, int) (reason, error) { return "", nil })(ctx, 1)
		mustEqual(t, "seconds of the event", 1.5, w.Spans[0].Events[0].Seconds)
		mustEqual(t, "seconds of the histogram", 1.5, w.Sums["windlass.link.duration s windlass.link=slow"])
		_, _ = otelx.Log("slow", func(next chain.Handler[int, int]) chain.Handler[int, int] { return next })(func(context.Context, int) (int, error) {
			time.Sleep(2500 * time.Millisecond)
			return 1, nil
		})(ctx, 1)
		if !strings.Contains(lines[3], `"duration"=2.5`) {
			t.Errorf("the line of Log has no duration of 2.5 s: %s", lines[3])
		}
		if !strings.Contains(lines[1], `"duration"=1.5`) {
			t.Errorf("the line has no duration of 1.5 s: %s", lines[1])
		}
	})
}

// Each signal works without the others.
func TestOneSignal(t *testing.T) {
	told := reports(t)
	w := &world{}
	o := otelx.New(otelx.WithTracerProvider(nil), otelx.WithLinkSpans(), otelx.WithLinkSampling(), otelx.WithMeterProvider(&otelfake.Meters{R: &w.Recorder, Counts: true}))
	flow.New("Pool", operations, extensions, flow.WithObserver(o)).Reconcile(w.context(t, 2), &pool{"fine"})
	for name := range w.Counts {
		if !strings.Contains(name, ".verdicts {verdict} ") {
			t.Errorf("an instrument that is off measured %s", name)
		}
	}
	if len(w.Spans) > 0 || len(w.lines) < 5 || w.Counts["windlass.pass.verdicts {verdict} windlass.reason=Succeeded,windlass.reconciler=Pool,windlass.verdict=ready"] != 1 {
		t.Errorf("without a tracer: %d spans, %d lines, %v", len(w.Spans), len(w.lines), w.Counts)
	}
	times := &world{}
	o = otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(&otelfake.Meters{R: &times.Recorder, Times: true}), otelx.WithoutLogs())
	ctx, s := times.Tracer("").Start(t.Context(), "request")
	_, _ = chain.New(chain.Named("link", around)).Observe(o).Then(func(context.Context, bool) (int, error) { return 1, nil })(ctx, true)
	mustEqual(t, "only histograms measure", map[string]int{"windlass.link.duration s windlass.link=link": 1}, times.Counts)
	if events := s.(*span).Events; len(events) > 0 {
		t.Errorf("without a tracer, the span of the context has events: %v", events)
	}
	mustEqual(t, "only what the meter refuses is reported", []string{"no windlass.link.duration", "no windlass.point.duration", "no windlass.pass.duration",
		"no windlass.link.verdicts", "no windlass.point.verdicts", "no windlass.pass.verdicts"}, *told)
}

// A goroutine that ends inside Span leaves a span that has ended with an error.
func TestGoexitInSpan(t *testing.T) {
	w := &world{}
	h := otelx.Span("span", around, otelx.WithTracerProvider(&w.Recorder))(func(context.Context, bool) (int, error) {
		runtime.Goexit()
		return 0, nil
	})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = h(t.Context(), true)
	}()
	<-gone
	if s := w.Spans[0]; s.Ended != 1 || s.Status != codes.Error || s.Attributes["windlass.verdict"] != "error" {
		t.Errorf("the span is %+v", s)
	}
}

// The version of the library reaches the tracer and the meter.
func TestScopeVersion(t *testing.T) {
	w := &world{}
	meters := &otelfake.Meters{R: &w.Recorder}
	otelx.New(otelx.WithTracerProvider(&w.Recorder), otelx.WithMeterProvider(meters))
	mustEqual(t, "tracer and meter have the same version", []string{otelx.ScopeVersion, otelx.ScopeVersion}, []string{w.Version, meters.Version})
	const scope = "github.com/windlass-go/windlass/otelx"
	mustEqual(t, "and the same scope", []string{scope, scope}, []string{w.Scope, meters.Scope})
	bounds := ", including all inner links. [1e-05 0.0001 0.001 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 60]"
	mustEqual(t, "instruments are described", map[string]string{
		"windlass.link.duration": "The duration of links" + bounds, "windlass.link.verdicts": "The verdicts of links.",
		"windlass.point.duration": "The duration of extension points" + bounds, "windlass.point.verdicts": "The verdicts of extension points.",
		"windlass.pass.duration": "The duration of passes" + bounds, "windlass.pass.verdicts": "The verdicts of passes.",
	}, w.Instruments)
}

// An observer is on for a chain and for a pass if one of its signals is.
func TestEnabled(t *testing.T) {
	w := &world{}
	recording, _ := w.Tracer("").Start(t.Context(), "request")
	lines, none := w.context(t, 2), t.Context()
	noTracer, noMeter, noLogs := otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil), otelx.WithoutLogs()
	meter := func(m otelfake.Meters) otelx.Option { m.R = &w.Recorder; return otelx.WithMeterProvider(&m) }
	dropped := otelx.WithTracerProvider(&otelfake.Recorder{Drop: func(string) bool { return true }})
	spans := otelx.WithTracerProvider(&w.Recorder)
	type on struct{ Made, Chain, Pass bool }
	cases := map[string]struct {
		reason string
		ctx    context.Context
		opts   []otelx.Option
		want   on
	}{
		"Off":         {"every signal is off for good", lines, []otelx.Option{noTracer, noMeter, noLogs}, on{}},
		"Noop":        {"the providers are off for good", lines, []otelx.Option{otelx.WithTracerProvider(tracenoop.NewTracerProvider()), otelx.WithMeterProvider(metricnoop.NewMeterProvider()), noLogs}, on{}},
		"Refused":     {"the meter refuses each instrument", lines, []otelx.Option{noTracer, meter(otelfake.Meters{Refuse: true}), noLogs}, on{}},
		"Metrics":     {"metrics need no span and no logger", none, []otelx.Option{noTracer, meter(otelfake.Meters{}), noLogs}, on{true, true, true}},
		"Counters":    {"a counter is enough", none, []otelx.Option{noTracer, meter(otelfake.Meters{Counts: true}), noLogs}, on{true, true, true}},
		"Histograms":  {"a histogram is enough", none, []otelx.Option{noTracer, meter(otelfake.Meters{Times: true}), noLogs}, on{true, true, true}},
		"Disabled":    {"no reader wants the metrics", lines, []otelx.Option{noTracer, meter(otelfake.Meters{Off: true}), noLogs}, on{Made: true}},
		"Spans":       {"a span that is recording gets events", recording, []otelx.Option{spans, noMeter, noLogs}, on{true, true, true}},
		"NoSpan":      {"a chain needs a span that is recording, and a pass starts one", lines, []otelx.Option{spans, noMeter, noLogs}, on{true, false, true}},
		"Dropped":     {"the sampler drops the pass", lines, []otelx.Option{dropped, noMeter, noLogs}, on{Made: true}},
		"LinkSpans":   {"links follow the pass", none, []otelx.Option{dropped, noMeter, noLogs, otelx.WithLinkSpans()}, on{Made: true}},
		"OnlySampled": {"an option that needs another one has no effect", none, []otelx.Option{dropped, noMeter, noLogs, otelx.WithLinkSampling()}, on{Made: true}},
		"Asks":        {"each link asks the sampler", none, []otelx.Option{dropped, noMeter, noLogs, otelx.WithLinkSpans(), otelx.WithLinkSampling()}, on{true, true, true}},
		"NoneToAsk":   {"without a tracer there is no sampler", none, []otelx.Option{noTracer, noMeter, otelx.WithLinkSpans(), otelx.WithLinkSampling()}, on{Made: true}},
		"Lines":       {"the logger shows lines of links", lines, []otelx.Option{noTracer, noMeter}, on{true, true, true}},
		"FewLines":    {"the logger shows only passes that end early", w.context(t, 0), []otelx.Option{noTracer, noMeter}, on{true, false, true}},
		"NoLogger":    {"the context has no logger", none, []otelx.Option{noTracer, noMeter}, on{Made: true}},
		"Discarded":   {"the logger discards all lines", logr.NewContext(none, logr.Discard()), []otelx.Option{noTracer, noMeter}, on{Made: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			told := reports(t)
			var got on
			if o := otelx.New(tc.opts...); o != nil {
				start := pass.Start{Link: &chain.Link{Name: "Pool", Tag: pass.Pass}, KeyOf: func(any) string { return "" }}
				_, passes := o.(interface {
					Bind(*chain.Link) chain.Observer
				}).Bind(start.Link).(pass.Starter).Start(tc.ctx, start)
				got = on{true, o.Enabled(tc.ctx), passes}
			}
			mustEqual(t, tc.reason, tc.want, got)
			for _, report := range *told {
				if strings.Contains(report, "panicked") {
					t.Error(report)
				}
			}
		})
	}
}

// A note belongs to the innermost running link, and ten notes for each running link are kept.
func TestNotes(t *testing.T) {
	note := func(name string, before, after int) chain.Middleware[int, int] {
		return chain.Named(name, func(next chain.Handler[int, int]) chain.Handler[int, int] {
			return func(ctx context.Context, n int) (int, error) {
				defer func() {
					for i := range after {
						chain.Note(ctx, fmt.Sprint(name, " after ", i))
					}
				}()
				for i := range before {
					chain.Note(ctx, fmt.Sprint(name, " before ", i))
				}
				return next(ctx, n)
			}
		})
	}
	list := func(name string, n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint(name, " ", i))
		}
		return all
	}
	cases := map[string]struct {
		reason string
		links  []chain.Middleware[int, int]
		want   [][]string // of the innermost link first
	}{
		"Both":     {"a link has its notes from before and after the inner link", []chain.Middleware[int, int]{note("outer", 1, 1), note("inner", 1, 0)}, [][]string{{"inner before 0"}, {"outer before 0", "outer after 0"}}},
		"Order":    {"the first of two links in a link does not take the notes of the second one", []chain.Middleware[int, int]{note("a", 0, 1), note("b", 0, 1), note("c", 0, 1)}, [][]string{{"c after 0"}, {"b after 0"}, {"a after 0"}}},
		"Ten":      {"a link alone shows ten", []chain.Middleware[int, int]{note("one", 12, 0)}, [][]string{list("one before", 10)}},
		"Room":     {"an inner link has room for twenty", []chain.Middleware[int, int]{note("outer", 0, 0), note("inner", 25, 0)}, [][]string{list("inner before", 20), nil}},
		"NewRoom":  {"a link that ended leaves its room", []chain.Middleware[int, int]{note("outer", 0, 12), note("inner", 25, 0)}, [][]string{list("inner before", 20), list("outer after", 10)}},
		"NoNotes":  {"a link without notes shows none", []chain.Middleware[int, int]{note("outer", 0, 0)}, [][]string{nil}},
		"LongNote": {"a note is bounded", []chain.Middleware[int, int]{note(strings.Repeat("x", 5000), 1, 0)}, [][]string{{strings.Repeat("x", 978) + "... (4,031 bytes more)"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for kind, opts := range map[string][]otelx.Option{"events": {otelx.WithoutLogs()}, "lines": {otelx.WithTracerProvider(nil), otelx.WithLogVerbosity(9, 2)}} {
				w := &world{}
				var late context.Context
				ctx, s := w.Tracer("").Start(w.context(t, 2), "request")
				_, _ = chain.New(tc.links...).Observe(w.observer(append(opts, otelx.WithMeterProvider(nil))...)).Then(func(ctx context.Context, n int) (int, error) {
					late = ctx
					return n, nil
				})(ctx, 1)
				chain.Note(late, "a note after the end is lost")
				var got, want []string
				for _, e := range s.(*span).Events {
					got = append(got, e.Attributes["windlass.notes"])
				}
				for _, line := range w.lines {
					if strings.Contains(line, "link ended") {
						_, notes, _ := strings.Cut(line, " notes=")
						got = append(got, notes)
					}
				}
				for _, all := range tc.want {
					switch {
					case all == nil:
						want = append(want, "")
					case kind == "events":
						want = append(want, `["`+strings.Join(all, `","`)+`"]`)
					default:
						want = append(want, "["+strings.Join(all, " ")+"]")
					}
				}
				mustEqual(t, tc.reason+", in "+kind, want, got)
			}
		})
	}
}

// Enter and Exit work for a caller that does not bind, and Exit without Enter does nothing.
func TestUnbound(t *testing.T) {
	w := &world{}
	o, link := w.observer(), &chain.Link{Name: "link"}
	ctx, s := w.Tracer("").Start(t.Context(), "request")
	o.Exit(ctx, link, chain.Exit{})
	o.Exit(o.Enter(ctx, link), link, chain.Exit{})
	mustEqual(t, "one event", []event{{Name: otelx.EventLink, Attributes: attrs{"windlass.link": "link", "windlass.verdict": "proceed"}}}, s.(*span).Events)
}

// Span and Log show the value of a panic as their options ask.
func TestPanicsOfLinks(t *testing.T) {
	long := reflect.New(reflect.StructOf([]reflect.StructField{{Name: strings.Repeat("X", 300), Type: reflect.TypeFor[int]()}})).Elem().Interface()
	cases := map[string]struct {
		reason string
		value  any
		opts   []otelx.Option
		want   attrs
	}{
		"NoText":   {"without the option there is no text", errSecret, nil, attrs{"exception.type": "*errors.errorString"}},
		"Text":     {"the option adds the text", errSecret, []otelx.Option{otelx.WithErrorText(100)}, attrs{"exception.type": "*errors.errorString", "exception.message": "the password is hunter2"}},
		"LongType": {"the name of a type is bounded", long, nil, attrs{"exception.type": "struct { " + strings.Repeat("X", 171) + "... (135 bytes more)"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			func() {
				defer func() { _ = recover() }()
				_, _ = otelx.Span("span", around, append(tc.opts, otelx.WithTracerProvider(&w.Recorder))...)(func(context.Context, bool) (int, error) { panic(tc.value) })(t.Context(), true)
			}()
			mustEqual(t, tc.reason, tc.want, w.Spans[0].Events[0].Attributes)
		})
	}
	w := &world{Recorder: otelfake.Recorder{Drop: func(string) bool { return true }}}
	_, _ = otelx.Span("span", around, otelx.WithTracerProvider(&w.Recorder))(func(context.Context, bool) (int, error) { return 1, nil })(t.Context(), true)
	mustEqual(t, "a span that records nothing ends, and gets nothing", []*span{{Name: "span", Ended: 1, Attributes: attrs{"windlass.link": "span"}}}, w.Spans)
}
