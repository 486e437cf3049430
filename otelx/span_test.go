package otelx_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/pass"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

// Each pass is one span that is ended once. Each link adds an event when it
// ends, so the innermost link is first.
func TestPassSpans(t *testing.T) {
	lock, quota, valid := link("Apply", "lock", "proceed"), link("PreCheck", "Quota", "proceed"), link("PreCheck", "Valid", "proceed")
	cases := map[string]struct {
		reason string
		want   *span
	}{
		"waiting": {"the span and the event name the awaited objects; the event has the note of the check", reconciled("waiting", "block", codes.Unset, "",
			attrs{"windlass.point": "PreCheck", "windlass.link": "Quota", "windlass.reason": "NoQuota", "windlass.retry": "slow",
				"windlass.message": "no quota is left", "windlass.waiting_for": `["Quota team/cores","Quota team/disks"]`},
			link("PreCheck", "Quota", "block", "windlass.reason", "NoQuota", "windlass.retry", "slow", "windlass.message", "no quota is left",
				"windlass.waiting_for", `["Quota team/cores","Quota team/disks"]`, "windlass.notes", `["9 of 9 cores are used"]`), valid)},
		"broken": {"the class of an error without a code is the type of its cause", reconciled("broken", "error", codes.Error, "Unknown",
			attrs{"windlass.point": "Apply", "windlass.reason": "Unknown", "windlass.retry": "slow", "error.type": "*errors.errorString"}, quota, valid, lock, exception("*errors.errorString"))},
		"panicking": {"the link and the pass have the verdict panic; outer links proceed", reconciled("panicking", "panic", codes.Error, "Panic",
			attrs{"windlass.point": "PreCheck", "windlass.link": "Quota", "windlass.reason": "Panic", "windlass.retry": "slow", "error.type": "*errors.errorString"},
			link("PreCheck", "Quota", "panic", "error.type", "*errors.errorString"), link("PreCheck", "Valid", "proceed"),
			exception("*errors.errorString"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rec := &recording{}
			flow.New("Pool", operations, extensions, flow.WithObserver(rec.observer())).Reconcile(t.Context(), &pool{name})
			mustEqual(t, tc.reason, []*span{tc.want}, rec.Spans)
		})
	}
}

// With WithLinkSpans, points and links have spans, each inside the span of the
// outer link or point.
func TestLinkSpans(t *testing.T) {
	rec := &recording{}
	r := flow.New("Pool", operations, extensions, flow.WithObserver(rec.observer(otelx.WithLinkSpans())))
	r.Reconcile(t.Context(), &pool{"fine"})
	mustEqual(t, "the outer span is the parent", []string{
		" > reconcile Pool: ready",
		"reconcile Pool > EntryCheck: proceed",
		"reconcile Pool > OwnerCheck: proceed",
		"reconcile Pool > PreCheck: proceed", "PreCheck > PreCheck Valid: proceed", "PreCheck Valid > PreCheck Quota: proceed",
		"reconcile Pool > Apply: proceed", "Apply > Apply lock: proceed",
		"reconcile Pool > PostCheck: proceed",
	}, tree(t, rec))
	mustEqual(t, "the span of a link names its point and link", attrs{"windlass.point": "PreCheck", "windlass.link": "Valid", "windlass.verdict": "proceed"}, rec.Spans[4].Attributes)
	rec.Spans = nil
	r.Reconcile(t.Context(), &pool{"panicking"})
	mustEqual(t, "the spans of the panicking link, its point and its pass have an exception; the outer link proceeds", []string{
		" > reconcile Pool: panic, exception",
		"reconcile Pool > EntryCheck: proceed",
		"reconcile Pool > OwnerCheck: proceed",
		"reconcile Pool > PreCheck: panic, exception", "PreCheck > PreCheck Valid: proceed", "PreCheck Valid > PreCheck Quota: panic, exception",
		"reconcile Pool > Classify: slow",
	}, tree(t, rec))
}

// The sampler decides about the pass, and the links follow.
func TestSampling(t *testing.T) {
	never := func(string) bool { return true }
	t.Run("OtherSignals", func(t *testing.T) {
		rec := &recording{Recorder: otelfake.Recorder{Drop: never}}
		about := otelx.WithPassAttributes(func(context.Context, any) []attribute.KeyValue {
			t.Error("the attributes of a dropped span are computed")
			return nil
		})
		links := otelx.WithPassLinks(func(context.Context) []trace.Link {
			t.Error("the links of a dropped span are computed")
			return nil
		})
		for _, opts := range [][]otelx.Option{{about, links}, {about, links, otelx.WithLinkSpans()}} {
			rec.Spans = nil
			flow.New("Pool", operations, extensions, flow.WithObserver(rec.observer(opts...))).Reconcile(t.Context(), &pool{"fine"})
			mustEqual(t, "the span ends, and gets nothing else",
				[]*span{{Name: "reconcile Pool", Ended: 1, Attributes: attrs{"windlass.reconciler": "Pool"}}}, rec.Spans)
		}
		if len(rec.Counts) == 0 {
			t.Error("a dropped pass has no metrics")
		}
	})
	t.Run("Context", func(t *testing.T) {
		rec := &recording{Recorder: otelfake.Recorder{Drop: never}}
		start := pass.Start{Link: &chain.Link{Name: "Pool", Tag: pass.Pass}, KeyOf: func(any) string { return "" }}
		ctx, enabled := bind(rec.observer(otelx.WithMeterProvider(nil)), start.Link).(pass.Starter).Start(t.Context(), start)
		if s, _ := trace.SpanFromContext(ctx).(*span); enabled != pass.Nothing || s == nil || s.Name != "reconcile Pool" || s.Ended != 1 {
			t.Errorf("enabled %d, with the span %v: the context must have the ended, dropped span, or inner spans are recorded", enabled, s)
		}
	})
	t.Run("Point", func(t *testing.T) {
		rec := &recording{Recorder: otelfake.Recorder{Drop: func(name string) bool { return name == "PreCheck" }}}
		flow.New("Pool", operations, extensions, flow.WithObserver(rec.observer(otelx.WithLinkSpans()))).Reconcile(t.Context(), &pool{"fine"})
		mustEqual(t, "the links of a dropped point have no spans", []string{
			" > reconcile Pool: ready",
			"reconcile Pool > EntryCheck: proceed",
			"reconcile Pool > OwnerCheck: proceed",
			"reconcile Pool > PreCheck: ",
			"reconcile Pool > Apply: proceed", "Apply > Apply lock: proceed",
			"reconcile Pool > PostCheck: proceed",
		}, tree(t, rec))
		mustEqual(t, "the links of a dropped point have no events", []event(nil), rec.Spans[0].Events)
	})
}

// A dropped span of the context gets no events of a standalone chain.
func TestDroppedSpanOfTheContext(t *testing.T) {
	rec := &recording{Recorder: otelfake.Recorder{Drop: func(string) bool { return true }}}
	ctx, _ := rec.Tracer("").Start(t.Context(), "request")
	_, _ = chain.New(chain.Named("link", around)).Observe(rec.observer()).Then(func(context.Context, bool) (int, error) { return 1, nil })(ctx, false)
	mustEqual(t, "the span", []*span{{Name: "request", Attributes: attrs{}}}, rec.Spans)
}

// The span of a pass has the attributes of the user's function. A panic of the
// function is an event.
func TestPassAttributes(t *testing.T) {
	about := func(_ context.Context, resource any) []attribute.KeyValue {
		if resource.(*pool).name == "skipped" {
			panic(errSecret)
		}
		return []attribute.KeyValue{attribute.String("tenant", "contoso")}
	}
	rec := &recording{}
	r := flow.New("Pool", operations, extensions, flow.WithObserver(rec.observer(otelx.WithPassAttributes(about))))
	if out := r.Reconcile(t.Context(), &pool{"fine"}); out.State() != flow.StateReady || rec.Spans[0].Attributes["tenant"] != "contoso" {
		t.Errorf("%s, %v", out, rec.Spans[0].Attributes)
	}
	if len(rec.Spans[0].Events) != 3 {
		t.Errorf("only links are events of a pass that ends with Ready: %v", rec.Spans[0].Events)
	}
	out := r.Reconcile(t.Context(), &pool{"skipped"})
	if out.State() != flow.StateReady || rec.Spans[1].Events[0].Name != otelx.EventAttributesPanic || rec.Spans[1].Ended != 1 {
		t.Errorf("the panic of the function is an event: %s, %v", out, rec.Spans[1].Events)
	}
}

// The span of a recorded pass has the links of all functions. A panic loses the
// links of its function only.
func TestPassLinks(t *testing.T) {
	rec := &recording{}
	links := func(ids ...byte) otelx.Option {
		return otelx.WithPassLinks(func(ctx context.Context) (all []trace.Link) {
			if !trace.SpanFromContext(ctx).IsRecording() {
				t.Error("the context has no recorded span")
			}
			for _, id := range ids {
				to := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{id}, SpanID: trace.SpanID{id}})
				all = append(all, trace.Link{SpanContext: to})
			}
			return all
		})
	}
	broken := otelx.WithPassLinks(func(context.Context) []trace.Link { panic("no answer") })
	o := rec.observer(links(1, 2), broken, otelx.WithPassLinks(nil), links(3))
	flow.New("Pool", operations, extensions, flow.WithObserver(o)).Reconcile(t.Context(), &pool{"fine"})
	s := rec.Spans[0]
	mustEqual(t, "all links", []string{"0100000000000000", "0200000000000000", "0300000000000000"}, s.Links)
	if len(s.Events) == 0 || s.Events[0].Name != otelx.EventLinksPanic || s.Ended != 1 {
		t.Errorf("the panic is an event, and the span ended %d times: %v", s.Ended, s.Events)
	}
}
