package otelx_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/internal/testing/race"
	"github.com/windlass-go/windlass/otelx"
)

type (
	attrs = map[string]string
	event = otelfake.Event
	span  = otelfake.Span
)

// link is the event of a link, with what else there is to say.
func link(point, name, verdict string, more ...string) event {
	a := attrs{"windlass.point": point, "windlass.link": name, "windlass.verdict": verdict}
	for i := 0; i+1 < len(more); i += 2 {
		a[more[i]] = more[i+1]
	}
	return event{Name: otelx.EventLink, Attributes: a}
}

func exception(class string) event {
	return event{Name: otelx.EventException, Attributes: attrs{"exception.type": class}}
}

// reconciled is the span of a pass, ended once.
func reconciled(key, verdict string, status codes.Code, description string, more attrs, events ...event) *span {
	s := &span{Name: "reconcile Pool", Ended: 1, Status: status, Description: description, Events: events,
		Attributes: attrs{"windlass.reconciler": "Pool", "windlass.key": key, "windlass.verdict": verdict}}
	for k, v := range more {
		s.Attributes[k] = v
	}
	return s
}

// A pass is one span, ended once on every outcome, with an event for each link that was left, the innermost first.
func TestPassSpans(t *testing.T) {
	lock, quota, valid := link("Apply", "lock", "proceed"), link("PreCheck", "Quota", "proceed"), link("PreCheck", "Valid", "proceed")
	cases := map[string]struct {
		reason string
		want   *span
	}{
		"fine": {"all went well", reconciled("fine", "ready", codes.Unset, "", attrs{"windlass.reason": "Succeeded"}, quota, valid, lock)},
		"invalid": {"a block is no error", reconciled("invalid", "block", codes.Unset, "", attrs{"windlass.point": "PreCheck", "windlass.link": "Valid", "windlass.reason": "SpecInvalid", "windlass.retry": "on change", "windlass.message": "sku is unknown"},
			link("PreCheck", "Valid", "block", "windlass.reason", "SpecInvalid", "windlass.retry", "on change", "windlass.message", "sku is unknown"))},
		"left": {"a skip neither", reconciled("left", "ready", codes.Unset, "", attrs{"windlass.reason": "Succeeded"}, link("PreCheck", "Quota", "skip", "windlass.message", "it is not counted"), valid, lock)},
		"started": {"an operation under way is no error either", reconciled("started", "wait", codes.Unset, "", attrs{"windlass.point": "Apply", "windlass.reason": "InProgress", "windlass.message": "the operation is under way in the cloud"}, quota, valid,
			lock)},
		"waiting": {"the span and the event say which objects the pass waits for, and what the check noted", reconciled("waiting", "block", codes.Unset, "",
			attrs{"windlass.point": "PreCheck", "windlass.link": "Quota", "windlass.reason": "NoQuota", "windlass.retry": "slow",
				"windlass.message": "no quota is left", "windlass.waiting_for": `["Quota team/cores","Quota team/disks"]`},
			link("PreCheck", "Quota", "block", "windlass.reason", "NoQuota", "windlass.retry", "slow", "windlass.message", "no quota is left",
				"windlass.waiting_for", `["Quota team/cores","Quota team/disks"]`, "windlass.notes", `["9 of 9 cores are used"]`), valid)},
		"refused": {"the class of an error with a code is the code", reconciled("refused", "error", codes.Error, "NameTaken",
			attrs{"windlass.point": "Apply", "windlass.reason": "NameTaken", "windlass.retry": "slow", "error.type": "NameTaken"}, quota, valid, lock, exception("NameTaken"))},
		"broken": {"another has a type, that of the cause", reconciled("broken", "error", codes.Error, "Unknown",
			attrs{"windlass.point": "Apply", "windlass.reason": "Unknown", "windlass.retry": "slow", "error.type": "*errors.errorString"}, quota, valid, lock, exception("*errors.errorString"))},
		"panicking": {"a panic is the verdict of its link and of the pass; outer links proceed", reconciled("panicking", "panic", codes.Error, "CheckFailed",
			attrs{"windlass.point": "PreCheck", "windlass.link": "Quota", "windlass.reason": "CheckFailed", "windlass.retry": "slow", "error.type": "*errors.errorString"},
			link("PreCheck", "Quota", "panic", "error.type", "*errors.errorString"), link("PreCheck", "Valid", "proceed"),
			exception("*errors.errorString"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			flow.New("Pool", operations, extensions, flow.WithObserver(w.observer())).Reconcile(t.Context(), &pool{name})
			mustEqual(t, tc.reason, []*span{tc.want}, w.Spans)
		})
	}
}

// allocations counts those of h when nobody listens.
func allocations(h func()) float64 { return testing.AllocsPerRun(200, h) }

// What nobody listens to costs no allocation: neither a provider that is off, nor one that is quiet.
func TestQuietAllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	w := &world{}
	quiet := w.context(t, 0)
	cases := map[string]struct {
		reason string
		ctx    context.Context
		o      chain.Observer
	}{
		"Nil":    {"nothing is configured", t.Context(), otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil), otelx.WithoutLogs())},
		"Noop":   {"what is configured does nothing", t.Context(), otelx.New(otelx.WithTracerProvider(tracenoop.NewTracerProvider()), otelx.WithMeterProvider(metricnoop.NewMeterProvider()))},
		"Parent": {"no span is recording, nobody reads the metrics, no level is on", quiet, otelx.New(otelx.WithTracerProvider(&w.Recorder), otelx.WithMeterProvider(&otelfake.Meters{Off: true}))},
	}
	through := func(next chain.Handler[int, int]) chain.Handler[int, int] {
		return func(ctx context.Context, n int) (int, error) { return next(ctx, n) }
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := chain.New(through, through, through).Observe(tc.o).Then(func(_ context.Context, n int) (int, error) { return n, nil })
			if got := allocations(func() { _, _ = h(tc.ctx, 1) }); got != 0 {
				t.Errorf("%s: a call of a chain allocates %v times", tc.reason, got)
			}
			if name == "Parent" {
				return // a pass asks the sampler
			}
			bare, observed := flow.New("Pool", operations, extensions), flow.New("Pool", operations, extensions, flow.WithObserver(tc.o))
			p := &pool{"fine"}
			want := allocations(func() { bare.Reconcile(tc.ctx, p) })
			if got := allocations(func() { observed.Reconcile(tc.ctx, p) }); got != want {
				t.Errorf("%s: a pass allocates %v times, without observer %v times", tc.reason, got, want)
			}
		})
	}
	if len(w.Spans) > 0 {
		t.Errorf("no span was to be started: %d were", len(w.Spans))
	}
}

// What is used again for each event has the duration of that one, also where links run at the same time.
func TestEventDurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		h := chain.New(chain.Named("sleep", func(next chain.Handler[time.Duration, int]) chain.Handler[time.Duration, int] {
			return func(ctx context.Context, d time.Duration) (int, error) {
				time.Sleep(d)
				return next(ctx, d)
			}
		})).Observe(w.observer()).Then(func(context.Context, time.Duration) (int, error) { return 0, nil })
		ctx, _ := w.Tracer("").Start(t.Context(), "around")
		want := []float64{1, 2, 3, 4}
		for _, s := range want {
			go func() { _, _ = h(ctx, time.Duration(s)*time.Second) }()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		var got []float64
		for _, e := range w.Spans[0].Reread() {
			got = append(got, e.Seconds)
		}
		mustEqual(t, "seconds", want, got)
		mustEqual(t, "a span may read the options of an event later", w.Spans[0].Events, w.Spans[0].Reread())
	})
}
