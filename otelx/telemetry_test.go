package otelx_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

// tree prints spans as "parent > name: verdict", in the order in which they were started.
func tree(t *testing.T, w *world) (all []string) {
	t.Helper()
	for _, s := range w.Spans {
		if s.Ended != 1 {
			t.Errorf("%s was ended %d times", s.Name, s.Ended)
		}
		verdict := s.Attributes["windlass.verdict"]
		if s.Status == codes.Error {
			verdict += ", " + s.Events[len(s.Events)-1].Name
		}
		all = append(all, s.Parent+" > "+s.Name+": "+verdict)
	}
	return all
}

func TestLinkSpans(t *testing.T) {
	w := &world{}
	r := flow.New("Pool", operations, extensions, flow.WithObserver(w.observer(otelx.WithLinkSpans())))
	r.Reconcile(t.Context(), &pool{"fine"})
	mustEqual(t, "points and links are spans of their own, each below the one around it", []string{
		" > reconcile Pool: ready",
		"reconcile Pool > EntryCheck: proceed",
		"reconcile Pool > OwnerCheck: proceed",
		"reconcile Pool > PreCheck: proceed", "PreCheck > PreCheck Valid: proceed", "PreCheck Valid > PreCheck Quota: proceed",
		"reconcile Pool > Apply: proceed", "Apply > Apply lock: proceed",
		"reconcile Pool > PostCheck: proceed",
	}, tree(t, w))
	mustEqual(t, "a span of a link says which", attrs{"windlass.point": "PreCheck", "windlass.link": "Valid", "windlass.verdict": "proceed"}, w.Spans[4].Attributes)
	w.Spans = nil
	r.Reconcile(t.Context(), &pool{"panicking"})
	mustEqual(t, "a panic ends the spans of its link, point and pass with a status; the outer link proceeds", []string{
		" > reconcile Pool: panic, exception",
		"reconcile Pool > EntryCheck: proceed",
		"reconcile Pool > OwnerCheck: proceed",
		"reconcile Pool > PreCheck: panic, exception", "PreCheck > PreCheck Valid: proceed", "PreCheck Valid > PreCheck Quota: panic, exception",
		"reconcile Pool > Classify: slow",
	}, tree(t, w))
}

// The pass asks the sampler; links follow, unless they are to ask.
func TestSampling(t *testing.T) {
	never := func(string) bool { return true }
	noPass := func(name string) bool { return name == "reconcile Pool" }
	cases := map[string]struct {
		reason string
		drop   func(string) bool
		opts   []otelx.Option
		want   []string
	}{
		"Never":     {"one question a pass", never, []otelx.Option{otelx.WithLinkSpans()}, []string{" > reconcile Pool: "}},
		"Events":    {"also where links are events", never, nil, []string{" > reconcile Pool: "}},
		"Rooted":    {"links follow the pass", noPass, []otelx.Option{otelx.WithLinkSpans()}, []string{" > reconcile Pool: "}},
		"AskedEach": {"or ask for themselves, where something else keeps the pass", noPass, []otelx.Option{otelx.WithLinkSpans(), otelx.WithLinkSampling()}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &world{Recorder: otelfake.Recorder{Drop: tc.drop}}
			r := flow.New("Pool", operations, extensions, flow.WithObserver(w.observer(append(tc.opts, otelx.WithMeterProvider(nil))...)))
			r.Reconcile(t.Context(), &pool{"fine"})
			got := tree(t, w)
			if tc.want == nil {
				if len(got) != 9 {
					t.Errorf("%s: %q", tc.reason, got)
				}
				return
			}
			mustEqual(t, tc.reason, tc.want, got)
		})
	}
	t.Run("OthersListen", func(t *testing.T) {
		w := &world{Recorder: otelfake.Recorder{Drop: never}}
		about := otelx.WithPassAttributes(func(context.Context, any) []attribute.KeyValue { t.Error("no span shows attributes"); return nil })
		flow.New("Pool", operations, extensions, flow.WithObserver(w.observer(about, otelx.WithLinkSpans()))).Reconcile(t.Context(), &pool{"fine"})
		if len(w.Spans) != 1 || w.Spans[0].Ended != 1 || len(w.Spans[0].Events) > 0 || len(w.Counts) == 0 {
			t.Errorf("metrics are kept of what no span records: %+v, %v", w.Spans[0], w.Counts)
		}
	})
}

// Several observers have a span each, and none ends that of another one.
func TestTwoObservers(t *testing.T) {
	for _, name := range []string{"fine", "panicking"} {
		a, b, c := &world{}, &world{}, &world{}
		r := flow.New("Pool", operations, extensions,
			flow.WithObserver(a.observer(otelx.WithLinkSpans())), flow.WithObserver(b.observer(otelx.WithoutLogs())),
			flow.WithObserver(c.observer(otelx.WithLinkSpans(), otelx.WithoutLogs())))
		r.Reconcile(t.Context(), &pool{name})
		if spans, others := len(tree(t, a)), len(tree(t, c)); len(tree(t, b)) != 1 || spans < 6 || others != spans {
			t.Errorf("%s: %d, %d and %d spans", name, spans, len(b.Spans), others)
		}
		if b.Spans[0].Attributes["windlass.key"] != name || len(b.Spans[0].Events) < 2 {
			t.Errorf("%s: the span of the second is %v, %v", name, b.Spans[0].Attributes, b.Spans[0].Events)
		}
	}
}

func TestLoneChain(t *testing.T) {
	w := &world{}
	c := chain.New(chain.Named("outer", around), chain.Named("inner", around)).Observe(w.observer(otelx.WithMeterProvider(nil)))
	h := c.Then(func(_ context.Context, fail bool) (int, error) {
		if fail {
			return 0, errSecret
		}
		return 1, nil
	})
	if _, err := h(t.Context(), true); err == nil || len(w.Spans) > 0 {
		t.Errorf("without a span that is recording there is nothing to tell: %v", w.Spans)
	}
	ctx, s := w.Tracer("").Start(t.Context(), "request")
	_, _ = h(ctx, false)
	_, _ = h(ctx, true)
	s.End()
	mustEqual(t, "links are events on the span that is recording", []*span{{Name: "request", Ended: 1, Attributes: attrs{}, Events: []event{
		{Name: "windlass.link", Attributes: attrs{"windlass.link": "inner", "windlass.verdict": "proceed"}},
		{Name: "windlass.link", Attributes: attrs{"windlass.link": "outer", "windlass.verdict": "proceed"}},
		{Name: "windlass.link", Attributes: attrs{"windlass.link": "inner", "windlass.verdict": "error", "error.type": "*errors.errorString"}},
		{Name: "windlass.link", Attributes: attrs{"windlass.link": "outer", "windlass.verdict": "error", "error.type": "*errors.errorString"}},
	}}}, w.Spans)
}

// The class of an error comes from the readers of the observer in a chain that stands alone, and from those of the
// reconciler in a pass.
func TestErrorClass(t *testing.T) {
	named := func(class string) classify.Errors {
		return classify.NewErrors(class, func(f *classify.Failure) bool { f.Class = class; return true }, nil)
	}
	w := &world{}
	o := w.observer(otelx.WithMeterProvider(nil), otelx.WithErrors(named("mine")))
	ctx, s := w.Tracer("").Start(t.Context(), "request")
	_, _ = chain.New(chain.Named("link", around)).Observe(o).Then(func(context.Context, bool) (int, error) { return 0, errSecret })(ctx, true)
	s.End()
	flow.New("Pool", operations, flow.Extensions[*pool]{}, flow.WithObserver(o), flow.WithErrors(named("ours"))).Reconcile(t.Context(), &pool{"broken"})
	var got []string
	for _, span := range w.Spans {
		for _, e := range span.Events {
			got = append(got, e.Attributes["error.type"]+e.Attributes["exception.type"])
		}
	}
	mustEqual(t, "one event each", []string{"mine", "ours"}, got)
}

func around(next chain.Handler[bool, int]) chain.Handler[bool, int] {
	return func(ctx context.Context, fail bool) (int, error) { return next(ctx, fail) }
}

func TestMetrics(t *testing.T) {
	w := &world{}
	r := flow.New("Pool", operations, extensions, flow.WithObserver(w.observer(otelx.WithTracerProvider(nil))))
	ctx, cancel := context.WithCancel(t.Context())
	r.Reconcile(ctx, &pool{"fine"})
	r.Reconcile(ctx, &pool{"invalid"})
	cancel()
	r.Reconcile(ctx, &pool{"canceled"}) // what happens then is measured, too
	const pool = "windlass.reconciler=Pool"
	sums := map[string]float64{}
	var durations []string
	for name, sum := range w.Sums {
		if strings.Contains(name, ".verdicts {verdict} ") {
			sums[name] = sum
		} else {
			durations = append(durations, name)
		}
		if strings.Contains(name, "fine") || strings.Contains(name, "invalid") {
			t.Errorf("a metric names a resource: %s", name)
		}
	}
	const passes, points, links = "windlass.pass.verdicts {verdict} ", "windlass.point.verdicts {verdict} ", "windlass.link.verdicts {verdict} "
	mustEqual(t, "each instrument counts each pass, point or link once, so that a sum over its labels is their number", map[string]float64{
		passes + "windlass.reason=Succeeded," + pool + ",windlass.verdict=ready":                                              1,
		passes + "windlass.reason=SpecInvalid," + pool + ",windlass.verdict=block":                                            1,
		passes + "windlass.reason=Canceled," + pool + ",windlass.verdict=canceled":                                            1,
		points + "windlass.point=EntryCheck," + pool + ",windlass.verdict=proceed":                                            3,
		points + "windlass.point=OwnerCheck," + pool + ",windlass.verdict=proceed":                                            3,
		points + "windlass.point=PreCheck," + pool + ",windlass.verdict=proceed":                                              2,
		points + "windlass.point=PreCheck,windlass.reason=SpecInvalid," + pool + ",windlass.verdict=block":                    1,
		links + "windlass.link=Valid,windlass.point=PreCheck," + pool + ",windlass.verdict=proceed":                           2,
		links + "windlass.link=Valid,windlass.point=PreCheck,windlass.reason=SpecInvalid," + pool + ",windlass.verdict=block": 1,
		links + "windlass.link=Quota,windlass.point=PreCheck," + pool + ",windlass.verdict=proceed":                           2,
		points + "windlass.point=Apply," + pool + ",windlass.verdict=proceed":                                                 1,
		links + "windlass.link=lock,windlass.point=Apply," + pool + ",windlass.verdict=proceed":                               1,
		points + "windlass.point=PostCheck," + pool + ",windlass.verdict=proceed":                                             1,
		points + "windlass.point=Classify,windlass.reason=Canceled," + pool + ",windlass.verdict=canceled":                    1,
	}, sums)
	slices.Sort(durations)
	mustEqual(t, "durations, by point and link", []string{
		"windlass.link.duration s windlass.link=Quota,windlass.point=PreCheck," + pool, "windlass.link.duration s windlass.link=Valid,windlass.point=PreCheck," + pool,
		"windlass.link.duration s windlass.link=lock,windlass.point=Apply," + pool, "windlass.pass.duration s " + pool, "windlass.point.duration s windlass.point=Apply," + pool,
		"windlass.point.duration s windlass.point=Classify," + pool, "windlass.point.duration s windlass.point=EntryCheck," + pool, "windlass.point.duration s windlass.point=OwnerCheck," + pool,
		"windlass.point.duration s windlass.point=PostCheck," + pool, "windlass.point.duration s windlass.point=PreCheck," + pool,
	}, durations)
}

func TestLogs(t *testing.T) {
	repeated := func(is bool) otelx.Option {
		return otelx.WithRepeated(func(ctx context.Context, outcome any) bool {
			if _, ok := outcome.(flow.Outcome); !ok || logr.FromContextOrDiscard(ctx).GetSink() == nil {
				t.Errorf("the function gets the outcome and the context of the pass: %v", outcome)
			}
			return is
		})
	}
	cases := map[string]struct {
		reason    string
		verbosity int
		pool      string
		opts      []otelx.Option
		want      []string
	}{
		"Quiet": {"a pass that becomes ready logs nothing at verbosity 0", 0, "fine", nil, nil},
		"Wait":  {"neither does a pass with an operation under way", 0, "started", nil, nil},
		"Block": {"a blocked pass logs one line at verbosity 0, which says where, why and for which objects it waits", 0, "waiting", nil, []string{
			"level=0 msg=pass ended reconciler=Pool key=waiting point=PreCheck link=Quota verdict=block reason=NoQuota retry=slow message=no quota is left waitingFor=[Quota team/cores Quota team/disks]",
		}},
		"Failure": {"a failed pass logs one error, with the class in place of the text", 0, "refused", nil, []string{
			"msg=pass ended error=NameTaken reconciler=Pool key=refused point=Apply verdict=error reason=NameTaken retry=slow errorType=NameTaken",
		}},
		"FailureText": {"WithErrorText adds the text and the message", 0, "refused", []otelx.Option{otelx.WithErrorText(100)}, []string{
			"msg=pass ended error=wrapped: code NameTaken reconciler=Pool key=refused point=Apply verdict=error reason=NameTaken retry=slow message=wrapped: code NameTaken errorType=NameTaken",
		}},
		"Panic": {"a panic is a failure of the check that panicked", 0, "panicking", nil, []string{
			"msg=pass ended error=*errors.errorString reconciler=Pool key=panicking point=PreCheck link=Quota verdict=panic reason=CheckFailed retry=slow errorType=*errors.errorString",
		}},
		"Points": {"verbosity 1 adds the start and the end of every pass and point", 1, "waiting", nil, []string{
			"level=1 msg=pass started reconciler=Pool key=waiting",
			"level=1 msg=point started reconciler=Pool key=waiting point=EntryCheck",
			"level=1 msg=point ended reconciler=Pool key=waiting point=EntryCheck verdict=proceed",
			"level=1 msg=point started reconciler=Pool key=waiting point=OwnerCheck",
			"level=1 msg=point ended reconciler=Pool key=waiting point=OwnerCheck verdict=proceed",
			"level=1 msg=point started reconciler=Pool key=waiting point=PreCheck",
			"level=1 msg=point ended reconciler=Pool key=waiting point=PreCheck verdict=block reason=NoQuota retry=slow message=no quota is left waitingFor=[Quota team/cores Quota team/disks] notes=[9 of 9 cores are used]",
			"level=0 msg=pass ended reconciler=Pool key=waiting point=PreCheck link=Quota verdict=block reason=NoQuota retry=slow message=no quota is left waitingFor=[Quota team/cores Quota team/disks]",
		}},
		"Links": {"verbosity 2 adds every link; an error of a link is no error of its own in the log", 2, "panicking", nil, []string{
			"level=1 msg=pass started reconciler=Pool key=panicking",
			"level=1 msg=point started reconciler=Pool key=panicking point=EntryCheck",
			"level=1 msg=point ended reconciler=Pool key=panicking point=EntryCheck verdict=proceed",
			"level=1 msg=point started reconciler=Pool key=panicking point=OwnerCheck",
			"level=1 msg=point ended reconciler=Pool key=panicking point=OwnerCheck verdict=proceed",
			"level=1 msg=point started reconciler=Pool key=panicking point=PreCheck",
			"level=2 msg=link started reconciler=Pool key=panicking point=PreCheck link=Valid",
			"level=2 msg=link started reconciler=Pool key=panicking point=PreCheck link=Quota",
			"level=2 msg=link ended reconciler=Pool key=panicking point=PreCheck link=Quota verdict=panic errorType=*errors.errorString",
			"level=2 msg=link ended reconciler=Pool key=panicking point=PreCheck link=Valid verdict=proceed",
			"level=1 msg=point ended reconciler=Pool key=panicking point=PreCheck verdict=panic errorType=*errors.errorString",
			"level=1 msg=point started reconciler=Pool key=panicking point=Classify",
			"level=1 msg=point ended reconciler=Pool key=panicking point=Classify verdict=slow reason=Panic retry=slow",
			"msg=pass ended error=*errors.errorString reconciler=Pool key=panicking point=PreCheck link=Quota verdict=panic reason=CheckFailed retry=slow errorType=*errors.errorString",
		}},
		"Levels": {"the verbosities can be set", 0, "started", []otelx.Option{otelx.WithLogVerbosity(0, 5)}, []string{
			"level=0 msg=pass started reconciler=Pool key=started",
			"level=0 msg=point started reconciler=Pool key=started point=EntryCheck",
			"level=0 msg=point ended reconciler=Pool key=started point=EntryCheck verdict=proceed",
			"level=0 msg=point started reconciler=Pool key=started point=OwnerCheck",
			"level=0 msg=point ended reconciler=Pool key=started point=OwnerCheck verdict=proceed",
			"level=0 msg=point started reconciler=Pool key=started point=PreCheck",
			"level=0 msg=point ended reconciler=Pool key=started point=PreCheck verdict=proceed",
			"level=0 msg=point started reconciler=Pool key=started point=Apply",
			"level=0 msg=point ended reconciler=Pool key=started point=Apply verdict=wait reason=InProgress",
			"level=0 msg=pass ended reconciler=Pool key=started point=Apply verdict=wait reason=InProgress message=the operation is under way in the cloud",
		}},
		"Repeated": {"a repeated pass has the verbosity of passes", 0, "waiting", []otelx.Option{repeated(true)}, nil},
		"RepeatedFailure": {"a repeated failure is no error of the logger, and keeps its text", 0, "refused",
			[]otelx.Option{repeated(true), otelx.WithErrorText(100), otelx.WithLogVerbosity(0, 1)}, []string{
				"level=0 msg=pass started reconciler=Pool key=refused",
				"level=0 msg=point started reconciler=Pool key=refused point=EntryCheck",
				"level=0 msg=point ended reconciler=Pool key=refused point=EntryCheck verdict=proceed",
				"level=0 msg=point started reconciler=Pool key=refused point=OwnerCheck",
				"level=0 msg=point ended reconciler=Pool key=refused point=OwnerCheck verdict=proceed",
				"level=0 msg=point started reconciler=Pool key=refused point=PreCheck",
				"level=0 msg=point ended reconciler=Pool key=refused point=PreCheck verdict=proceed",
				"level=0 msg=point started reconciler=Pool key=refused point=Apply",
				"level=0 msg=point ended reconciler=Pool key=refused point=Apply verdict=error errorType=NameTaken error=wrapped: code NameTaken",
				"level=0 msg=point started reconciler=Pool key=refused point=Classify",
				"level=0 msg=point ended reconciler=Pool key=refused point=Classify verdict=slow reason=Unknown retry=slow message=wrapped: code NameTaken",
				"level=0 msg=pass ended reconciler=Pool key=refused point=Apply verdict=error reason=NameTaken retry=slow message=wrapped: code NameTaken errorType=NameTaken error=wrapped: code NameTaken",
			}},
		"NotRepeated": {"any other pass is logged as without the option", 0, "refused", []otelx.Option{repeated(false)}, []string{
			"msg=pass ended error=NameTaken reconciler=Pool key=refused point=Apply verdict=error reason=NameTaken retry=slow errorType=NameTaken",
		}},
		"RepeatedPanics": {"a function that panics costs no line", 0, "refused", []otelx.Option{otelx.WithRepeated(func(context.Context, any) bool { panic("no") })}, []string{
			"msg=pass ended error=NameTaken reconciler=Pool key=refused point=Apply verdict=error reason=NameTaken retry=slow errorType=NameTaken",
		}},
		"Without": {"WithoutLogs alone turns off all lines", 9, "broken", []otelx.Option{otelx.WithoutLogs()}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			opts := append([]otelx.Option{otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil)}, tc.opts...)
			if name == "Without" {
				opts = []otelx.Option{otelx.WithTracerProvider(&w.Recorder), tc.opts[0]}
			}
			flow.New("Pool", operations, extensions, flow.WithObserver(otelx.New(opts...))).Reconcile(w.context(t, tc.verbosity), &pool{tc.pool})
			mustEqual(t, tc.reason, tc.want, w.lines)
		})
	}
}

// Whoever logs within a pass has its reconciler and its key on the line; and a canceled context loses no line.
func TestLoggerOfThePass(t *testing.T) {
	w := &world{}
	ctx, cancel := context.WithCancel(w.context(t, 1))
	e := flow.Extensions[*pool]{Pass: chain.New(chain.Before[*pool, flow.Outcome](func(ctx context.Context, _ *pool) error {
		logr.FromContextOrDiscard(ctx).Info("mine")
		cancel()
		return nil
	}))}
	o := otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil))
	flow.New("Pool", operations, e, flow.WithObserver(o)).Reconcile(ctx, &pool{"fine"})
	if len(w.lines) < 3 || w.lines[1] != "level=0 msg=mine reconciler=Pool key=fine" || !strings.HasPrefix(w.lines[len(w.lines)-1], "level=1 msg=pass ended reconciler=Pool key=fine point=Apply verdict=canceled") {
		t.Errorf("the lines are\n%s", strings.Join(w.lines, "\n"))
	}
}

// Texts of errors may hold secrets.
func TestErrorText(t *testing.T) {
	run := func(name string, opts ...otelx.Option) string {
		w := &world{}
		flow.New("Pool", operations, extensions, flow.WithObserver(w.observer(opts...))).Reconcile(w.context(t, 9), &pool{name})
		var b strings.Builder
		for _, s := range w.Spans {
			fmt.Fprintln(&b, s.Description, s.Attributes, s.Events)
		}
		return b.String() + strings.Join(w.lines, "\n")
	}
	for _, name := range []string{"broken", "panicking"} {
		if all := run(name); strings.Contains(all, "hunter2") {
			t.Errorf("%s: the secret is told:\n%s", name, all)
		}
	}
	if all := run("broken", otelx.WithErrorText(1000)); strings.Count(all, "hunter2") < 2 {
		t.Errorf("asked for, it is on the span and in the lines:\n%s", all)
	}
	if all := run("panicking", otelx.WithErrorText(35)); !strings.Contains(all, "panic in link Qu... (28 bytes more)") || strings.Contains(all, "hunter2") {
		t.Errorf("it is cut off:\n%s", all)
	}
}

func TestPassAttributes(t *testing.T) {
	about := func(_ context.Context, resource any) []attribute.KeyValue {
		if resource.(*pool).name == "left" {
			panic(errSecret)
		}
		return []attribute.KeyValue{attribute.String("tenant", "contoso")}
	}
	w := &world{}
	r := flow.New("Pool", operations, extensions, flow.WithObserver(w.observer(otelx.WithPassAttributes(about))))
	if out := r.Reconcile(t.Context(), &pool{"fine"}); out.State() != flow.StateReady || w.Spans[0].Attributes["tenant"] != "contoso" {
		t.Errorf("%s, %v", out, w.Spans[0].Attributes)
	}
	if len(w.Spans[0].Events) != 3 {
		t.Errorf("only links are events of a pass that went well: %v", w.Spans[0].Events)
	}
	out := r.Reconcile(t.Context(), &pool{"left"})
	if out.State() != flow.StateReady || w.Spans[1].Events[0].Name != otelx.EventAttributesPanic || w.Spans[1].Ended != 1 {
		t.Errorf("a panic of it is an event: %s, %v", out, w.Spans[1].Events)
	}
}

// An instrument that is refused is told of once, and breaks nothing.
func TestInstrumentsRefused(t *testing.T) {
	told := reports(t)
	o := otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(&otelfake.Meters{Refuse: true}))
	r := flow.New("Pool", operations, extensions, flow.WithObserver(o))
	for range 3 {
		if out := r.Reconcile(t.Context(), &pool{"fine"}); out.State() != flow.StateReady {
			t.Error(out)
		}
	}
	mustEqual(t, "each is told of once", []string{"no windlass.link.duration", "no windlass.link.verdicts", "no windlass.point.duration",
		"no windlass.point.verdicts", "no windlass.pass.duration", "no windlass.pass.verdicts"}, *told)
}

// An SDK that is installed after the observer was made takes effect.
// OpenTelemetry hands on to the first global provider that a process sets, and
// to no later one. So the test runs in a process of its own each time.
func TestGlobalProviderLater(t *testing.T) {
	const own = "WINDLASS_TEST_GLOBAL_PROVIDER"
	if os.Getenv(own) == "" {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), own+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	w := &world{}
	o := otelx.New()
	r := flow.New("Pool", operations, extensions, flow.WithObserver(o))
	r.Reconcile(t.Context(), &pool{"fine"})
	otel.SetTracerProvider(&w.Recorder)
	otel.SetMeterProvider(&otelfake.Meters{R: &w.Recorder})
	r.Reconcile(t.Context(), &pool{"fine"})
	if len(w.Spans) != 1 || len(w.Counts) == 0 {
		t.Errorf("%d spans, %d series", len(w.Spans), len(w.Counts))
	}
}

// Passes at the same time do not mix.
func TestConcurrentPasses(t *testing.T) {
	w := &world{}
	r := flow.New("Pool", operations, extensions, flow.WithObserver(w.observer()))
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { r.Reconcile(context.Background(), &pool{fmt.Sprintf("%d", i)}) })
	}
	wg.Wait()
	keys := map[string]bool{}
	for _, s := range w.Spans {
		keys[s.Attributes["windlass.key"]] = true
		if len(s.Events) != 3 || s.Ended != 1 {
			t.Errorf("%v has %d events and was ended %d times", s.Attributes, len(s.Events), s.Ended)
		}
	}
	if len(keys) != 50 {
		t.Errorf("%d passes have a span, want 50", len(keys))
	}
}

func TestSpanAndLog(t *testing.T) {
	w := &world{}
	ctx := w.context(t, 9)
	spanned := otelx.Span("quota", around, otelx.WithTracerProvider(&w.Recorder))
	logged := otelx.Log("audit", around)
	c := chain.New(spanned, logged)
	if got := c.String(); got != "quota -> audit" {
		t.Errorf("they have names: %s", got)
	}
	h := c.Then(func(_ context.Context, fail bool) (int, error) {
		if fail {
			panic(errSecret)
		}
		return 1, nil
	})
	if n, err := h(ctx, false); n != 1 || err != nil {
		t.Error(n, err)
	}
	func() {
		defer func() {
			if v := recover(); v != error(errSecret) {
				t.Errorf("the panic goes on as it is: %v", v)
			}
		}()
		_, _ = h(ctx, true)
	}()
	mustEqual(t, "a span of its own, below what is there or not", []string{" > quota: proceed", " > quota: panic, exception"}, tree(t, w))
	mustEqual(t, "and lines", []string{
		"level=2 msg=link started link=audit", "level=2 msg=link ended link=audit verdict=proceed",
		"level=2 msg=link started link=audit", "level=2 msg=link ended link=audit verdict=panic errorType=*errors.errorString",
	}, w.lines)
	off := chain.New(otelx.Span("quota", around, otelx.WithTracerProvider(nil)))
	if n, err := off.Then(func(context.Context, bool) (int, error) { return 2, errors.ErrUnsupported })(ctx, false); n != 2 || err != errors.ErrUnsupported || off.String() != "quota" {
		t.Errorf("a provider that is off leaves the link as it is: %d, %v, %s", n, err, off)
	}
}

func TestSetUpPanics(t *testing.T) {
	cases := map[string]struct {
		do   func()
		want string
	}{
		"LogVerbosity":  {func() { otelx.WithLogVerbosity(-1, 2) }, "otelx: WithLogVerbosity(-1, 2): give 0 or more"},
		"LinkVerbosity": {func() { otelx.WithLogVerbosity(0, -1) }, "otelx: WithLogVerbosity(0, -1): give 0 or more"},
		"NilHandler": {func() {
			nothing := func(chain.Handler[int, int]) chain.Handler[int, int] { return nil }
			chain.New(otelx.Log("audit", nothing)).Then(func(context.Context, int) (int, error) { return 0, nil })
		}, "chain: Then: link 1 of 1, audit, returned a nil handler"},
		"ErrorText": {func() { otelx.WithErrorText(0) }, "otelx: WithErrorText(0): give at least 1 byte"},
		"Twice": {func() {
			o := flow.WithObserver((&world{}).observer())
			flow.New("Pool", operations, extensions, flow.WithObserver(nil), o, flow.WithObserver((&world{}).observer(otelx.WithoutLogs())), o)
		}, "flow: New: Pool: observers 1 and 3 are the same *otelx.observer: give it once"},
		"Lines": {func() {
			flow.New("Pool", operations, extensions, flow.WithObserver((&world{}).observer(otelx.WithoutLogs())),
				flow.WithObserver((&world{}).observer()), flow.WithObserver((&world{}).observer()))
		}, "flow: New: Pool: observers 2 and 3 both write the log lines of each pass: leave one of them out, or give it " +
			"otelx.WithoutLogs; ctrlx adds an observer, whose options ctrlx.WithTelemetry sets"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() { mustEqual(t, name, any(tc.want), recover()) }()
			tc.do()
		})
	}
	otelx.New(nil, otelx.WithLogVerbosity(0, 0)) // a nil option is none
}
