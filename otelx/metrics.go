package otelx

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"

	"github.com/windlass-go/windlass/internal/pass"
)

// metrics holds the instruments of links, points and passes, and their series.
type metrics struct {
	of [pass.Pass + 1]instruments

	mu     sync.RWMutex
	series map[seriesKey]*series
	counts map[seriesKey]int // the number of reasons of a link, by its key without verdict and reason
}

// instruments are about links, points or passes. A nil instrument is off.
type instruments struct {
	duration metric.Float64Histogram
	verdicts metric.Int64Counter
}

// seriesKey identifies a series. whole is 0 for a link.
type seriesKey struct {
	whole                                    pass.Whole
	reconciler, point, link, verdict, reason string
}

// series holds the options of the measurements of one series.
type series struct {
	record []metric.RecordOption
	add    []metric.AddOption
}

// mostReasons is the number of reasons that a link, point or pass has in
// metrics. Each reason is a series of its own, and services can send any code.
const mostReasons = 100

// mostSeries is the number of series that are kept. The SDK puts all series
// above 2,000 into one, so keeping more is of no use.
const mostSeries = 4096

func newMetrics(meter metric.Meter) *metrics {
	if _, off := meter.(metricnoop.Meter); off {
		return nil
	}
	m := &metrics{series: map[seriesKey]*series{}, counts: map[seriesKey]int{}}
	m.of = [...]instruments{
		0:          newInstruments(meter, MetricLinkDuration, MetricLinkVerdicts, "links"),
		pass.Point: newInstruments(meter, MetricPointDuration, MetricPointVerdicts, "extension points"),
		pass.Pass:  newInstruments(meter, MetricPassDuration, MetricPassVerdicts, "passes"),
	}
	if m.of == [len(m.of)]instruments{} {
		return nil
	}
	return m
}

func newInstruments(meter metric.Meter, duration, verdicts, of string) (i instruments) {
	var err error
	i.duration, err = meter.Float64Histogram(duration, metric.WithUnit("s"),
		metric.WithDescription("The duration of "+of+", including all inner links."),
		metric.WithExplicitBucketBoundaries(.000_01, .000_1, .001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60))
	if err != nil {
		otel.Handle(err)
		i.duration = nil
	}
	i.verdicts, err = meter.Int64Counter(verdicts, metric.WithUnit("{verdict}"),
		metric.WithDescription("The verdicts of "+of+"."))
	if err != nil {
		otel.Handle(err)
		i.verdicts = nil
	}
	return i
}

func (m *metrics) enabled(ctx context.Context) bool {
	for _, i := range m.of {
		if i.duration != nil && i.duration.Enabled(ctx) || i.verdicts != nil && i.verdicts.Enabled(ctx) {
			return true
		}
	}
	return false
}

// measure records how a link ended, even if the context is canceled.
func (b *bound) measure(ctx context.Context, p *running, l *left) {
	defer b.contain()
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	key := seriesKey{whole: pass.Of(l.link), reconciler: p.reconciler(), point: l.link.Point, verdict: l.verdict, reason: l.reason}
	if key.whole == 0 {
		key.link = l.link.Name
	}
	if l.rule != "" {
		key.reason = l.rule
	}
	s := b.metrics.seriesOf(key)
	i := &b.metrics.of[key.whole]
	if i.duration != nil {
		i.duration.Record(ctx, l.elapsed.Seconds(), s.record...)
	}
	if i.verdicts != nil {
		i.verdicts.Add(ctx, 1, s.add...)
	}
}

func (m *metrics) seriesOf(key seriesKey) *series {
	m.mu.RLock()
	s := m.series[key]
	m.mu.RUnlock()
	if s != nil {
		return s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	where := key
	where.verdict, where.reason = "", ""
	if key.reason != "" && m.counts[where] >= mostReasons {
		key.reason = OtherReason
	}
	if s = m.series[key]; s == nil {
		s = newSeries(key)
	}
	if _, kept := m.series[key]; !kept && len(m.series) < mostSeries {
		m.series[key] = s
		m.counts[where]++
	}
	return s
}

func newSeries(key seriesKey) *series {
	var all []attribute.KeyValue
	add := func(k attribute.Key, value string) {
		if value != "" {
			all = append(all, k.String(value))
		}
	}
	add(AttrReconciler, key.reconciler)
	add(AttrPoint, key.point)
	add(AttrLink, key.link)
	where := attribute.NewSet(all...)
	add(AttrVerdict, key.verdict)
	add(AttrReason, key.reason)
	return &series{
		record: []metric.RecordOption{metric.WithAttributeSet(where)},
		add:    []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(all...))},
	}
}
