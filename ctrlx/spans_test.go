package ctrlx_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/otelx"
)

// spans is a tracer provider that records spans with their links.
type spans struct {
	tracenoop.TracerProvider
	mu  sync.Mutex
	all []*span
}

func (s *spans) Tracer(string, ...trace.TracerOption) trace.Tracer { return tracer{spans: s} }

type tracer struct {
	tracenoop.Tracer
	spans *spans
}

func (t tracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	t.spans.mu.Lock()
	defer t.spans.mu.Unlock()
	s := &span{spans: t.spans, id: byte(len(t.spans.all) + 1), attributes: map[attribute.Key]string{}}
	t.spans.all = append(t.spans.all, s)
	return trace.ContextWithSpan(ctx, s), s
}

type span struct {
	tracenoop.Span
	spans      *spans
	id         byte
	attributes map[attribute.Key]string
	links      []byte
}

func (s *span) IsRecording() bool { return true }
func (s *span) SpanContext() trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{s.id}, SpanID: trace.SpanID{s.id}})
}

func (s *span) AddLink(l trace.Link) {
	s.spans.mu.Lock()
	defer s.spans.mu.Unlock()
	s.links = append(s.links, l.SpanContext.SpanID()[0])
}

func (s *span) SetAttributes(all ...attribute.KeyValue) {
	s.spans.mu.Lock()
	defer s.spans.mu.Unlock()
	for _, kv := range all {
		s.attributes[kv.Key] = kv.Value.String()
	}
}

// passes returns the passes over a database as "ready after d1 ready": the verdict,
// and the pass that the span links to.
func (s *spans) passes(namespace, name string) (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.all {
		if !strings.HasPrefix(at.attributes[otelx.AttrKey], namespace+"/"+name+" ") {
			continue
		}
		text := at.attributes[otelx.AttrVerdict]
		for _, to := range at.links {
			key, _, _ := strings.Cut(strings.TrimPrefix(s.all[to-1].attributes[otelx.AttrKey], namespace+"/"), " ")
			text += " after " + key + " " + s.all[to-1].attributes[otelx.AttrVerdict]
		}
		all = append(all, text)
	}
	return all
}

// The span of a pass links to the span of the pass over the awaited object that
// woke it, and to no other span.
func TestSpanLinks(t *testing.T) {
	t.Parallel()
	o, rec := newOperator(t), &spans{}
	o.start(ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.WithOwner(ownerByName), ctrlx.WithTelemetry(otelx.WithTracerProvider(rec), otelx.WithMeterProvider(nil))))
	o.database("d1", "cluster-1")
	o.until("d1", "False OwnerNotFound")
	o.database("d2", "d1")
	o.until("d2", "False OwnerNotReady")
	before := len(rec.passes(o.namespace, "d2"))
	c := o.cluster("cluster-1", "Creating")
	o.report(c, "Running")
	o.until("d2", "True Succeeded")
	if all := rec.passes(o.namespace, "d2"); !slices.Contains(all, "ready after d1 ready") { // the span ended before the status was written
		t.Errorf("the passes over d2 are %q", all)
	}
	if diff := cmp.Diff("block", rec.passes(o.namespace, "d2")[0]); diff != "" || before == 0 {
		t.Errorf("the first pass over d2 was not woken: -want, +got:\n%s", diff)
	}
}
