// Package otelfake records spans and measurements, so that tests of the root
// module need no SDK. The benchmarks test with the real SDK.
package otelfake

import (
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// Recorder is a tracer provider that records spans, and the measurements of its
// Meters. The zero Recorder records all spans.
type Recorder struct {
	tracenoop.TracerProvider
	mu sync.Mutex
	// Drop is the sampler. It reports whether a span is not recorded, by its
	// name. Nil records all spans.
	Drop func(name string) bool
	// Spans holds all started spans, in order.
	Spans []*Span
	// Sums and Counts hold the sum and the number of measurements, by
	// instrument, unit and attributes.
	Sums   map[string]float64
	Counts map[string]int
	// Scope and Version name the instrumentation scope.
	Scope, Version string
	// Instruments holds the descriptions and bounds of instruments, by name.
	Instruments map[string]string
}

// Tracer returns a tracer that records its spans in r.
func (r *Recorder) Tracer(scope string, opts ...trace.TracerOption) trace.Tracer {
	config := trace.NewTracerConfig(opts...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Scope, r.Version = scope, config.InstrumentationVersion()
	return &tracer{r: r}
}

type tracer struct {
	tracenoop.Tracer
	r *Recorder
}

func (t *tracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	config := trace.NewSpanStartConfig(opts...)
	s := &Span{r: t.r, Name: name, Attributes: texts(config.Attributes()), recording: t.r.Drop == nil || !t.r.Drop(name)}
	if parent, ok := trace.SpanFromContext(ctx).(*Span); ok {
		s.Parent = parent.Name
	}
	t.r.Spans = append(t.r.Spans, s)
	return trace.ContextWithSpan(ctx, s), s
}

// Span is a started span. Tests compare the exported fields.
type Span struct {
	tracenoop.Span
	r            *Recorder
	recording    bool
	Name, Parent string
	Attributes   map[string]string
	Events       []Event
	Links        []string // the IDs of the linked spans
	Status       codes.Code
	Description  string
	Ended        int
	options      [][]trace.EventOption // of Events
}

// Reread returns the events as their options give them now.
func (s *Span) Reread() (events []Event) {
	for i, opts := range s.options {
		events = append(events, newEvent(s.Events[i].Name, opts))
	}
	return events
}

// Event is an event of a span.
type Event struct {
	Name       string
	Attributes map[string]string
	Seconds    float64 // the attribute windlass.duration, which is not in Attributes
}

// IsRecording reports whether the sampler recorded the span.
func (s *Span) IsRecording() bool { return s.recording }

// SetAttributes sets attributes, as text.
func (s *Span) SetAttributes(all ...attribute.KeyValue) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	for k, v := range texts(all) {
		s.Attributes[k] = v
	}
}

// AddEvent records an event.
func (s *Span) AddEvent(name string, opts ...trace.EventOption) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.Events, s.options = append(s.Events, newEvent(name, opts)), append(s.options, opts)
}

// AddLink records a link.
func (s *Span) AddLink(l trace.Link) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.Links = append(s.Links, l.SpanContext.SpanID().String())
}

func newEvent(name string, opts []trace.EventOption) Event {
	config := trace.NewEventConfig(opts...)
	e := Event{Name: name, Attributes: texts(config.Attributes())}
	for _, kv := range config.Attributes() {
		if kv.Key == duration {
			e.Seconds = kv.Value.AsFloat64()
		}
	}
	return e
}

// SetStatus records the status.
func (s *Span) SetStatus(code codes.Code, description string) {
	s.Status, s.Description = code, description
}

// End counts the calls.
func (s *Span) End(...trace.SpanEndOption) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.Ended++
}

const duration = "windlass.duration"

// texts returns attributes as text, without durations, which differ in each
// run.
func texts(all []attribute.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range all {
		if kv.Key != duration {
			m[string(kv.Key)] = kv.Value.String()
		}
	}
	return m
}

// Meters is a meter provider. It records measurements in R, which may be nil if
// there are none.
type Meters struct {
	metricnoop.MeterProvider
	R      *Recorder
	Refuse bool // refuse each instrument with an error
	Counts bool // refuse each instrument that is not a counter
	Times  bool // refuse each instrument that is not a histogram
	Off    bool // report each instrument as off
	Panic  bool // panic at each measurement
	// EnabledPanics makes Enabled of each instrument panic.
	EnabledPanics bool
	// Scope and Version name the instrumentation scope.
	Scope, Version string
}

// scopes guards Scope and Version of all Meters, because tests copy Meters.
var scopes sync.Mutex

// Meter returns a meter that records its measurements in m.R.
func (m *Meters) Meter(scope string, opts ...metric.MeterOption) metric.Meter {
	config := metric.NewMeterConfig(opts...)
	scopes.Lock()
	defer scopes.Unlock()
	m.Scope, m.Version = scope, config.InstrumentationVersion()
	return &meter{m: m}
}

type meter struct {
	metricnoop.Meter
	m *Meters
}

func (m *meter) Float64Histogram(name string, opts ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	if m.m.Refuse || m.m.Counts {
		return metricnoop.Float64Histogram{}, fmt.Errorf("no %s", name)
	}
	config := metric.NewFloat64HistogramConfig(opts...)
	m.m.describe(name, fmt.Sprint(config.Description(), " ", config.ExplicitBucketBoundaries()))
	return &histogram{name: name + " " + metric.NewFloat64HistogramConfig(opts...).Unit(), m: m.m}, nil
}

func (m *meter) Int64Counter(name string, opts ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	if m.m.Refuse || m.m.Times {
		return metricnoop.Int64Counter{}, fmt.Errorf("no %s", name)
	}
	m.m.describe(name, metric.NewInt64CounterConfig(opts...).Description())
	return &counter{name: name + " " + metric.NewInt64CounterConfig(opts...).Unit(), m: m.m}, nil
}

type histogram struct {
	metricnoop.Float64Histogram
	name string
	m    *Meters
}

func (h *histogram) Enabled(context.Context) bool { return h.m.enabled() }

func (h *histogram) Record(ctx context.Context, value float64, opts ...metric.RecordOption) {
	h.m.add(ctx, h.name, value, metric.NewRecordConfig(opts).Attributes())
}

type counter struct {
	metricnoop.Int64Counter
	name string
	m    *Meters
}

func (c *counter) Enabled(context.Context) bool { return c.m.enabled() }

func (m *Meters) enabled() bool {
	if m.EnabledPanics {
		panic("the meter is broken")
	}
	return !m.Off
}

func (c *counter) Add(ctx context.Context, n int64, opts ...metric.AddOption) {
	c.m.add(ctx, c.name, float64(n), metric.NewAddConfig(opts).Attributes())
}

func (m *Meters) describe(name, text string) {
	if m.R == nil {
		return
	}
	m.R.mu.Lock()
	defer m.R.mu.Unlock()
	if m.R.Instruments == nil {
		m.R.Instruments = map[string]string{}
	}
	m.R.Instruments[name] = text
}

func (m *Meters) add(ctx context.Context, name string, value float64, set attribute.Set) {
	if m.Panic {
		panic("the meter is broken")
	}
	if ctx.Err() != nil {
		return // as an SDK may
	}
	m.R.mu.Lock()
	defer m.R.mu.Unlock()
	if m.R.Sums == nil {
		m.R.Sums, m.R.Counts = map[string]float64{}, map[string]int{}
	}
	key := name + " " + set.Encoded(attribute.DefaultEncoder())
	m.R.Sums[key] += value
	m.R.Counts[key]++
}
