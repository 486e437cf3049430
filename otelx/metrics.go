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

// metrics holds the instruments. A nil instrument is off.
type metrics struct {
	duration  metric.Float64Histogram
	decisions metric.Int64Counter

	mu     sync.RWMutex
	series map[seriesKey]*series
}

// seriesKey identifies a series.
type seriesKey struct{ reconciler, point, link, verdict, reason string }

// series holds the options of the measurements of one series.
type series struct {
	record []metric.RecordOption
	add    []metric.AddOption
}

// mostSeries is the number of series that are kept. The SDK puts all series
// above 2,000 into one, so keeping more is of no use.
const mostSeries = 4096

func newMetrics(meter metric.Meter) *metrics {
	if _, off := meter.(metricnoop.Meter); off {
		return nil
	}
	m := &metrics{series: map[seriesKey]*series{}}
	var err error
	m.duration, err = meter.Float64Histogram(MetricDuration, metric.WithUnit("s"),
		metric.WithDescription("How long passes, points and links take, with all that is behind them."),
		metric.WithExplicitBucketBoundaries(.000_01, .000_1, .001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60))
	if err != nil {
		otel.Handle(err)
		m.duration = nil
	}
	m.decisions, err = meter.Int64Counter(MetricDecisions, metric.WithUnit("{decision}"),
		metric.WithDescription("How passes, points and links were left."))
	if err != nil {
		otel.Handle(err)
		m.decisions = nil
	}
	if m.duration == nil && m.decisions == nil {
		return nil
	}
	return m
}

func (m *metrics) enabled(ctx context.Context) bool {
	return m != nil && (m.duration != nil && m.duration.Enabled(ctx) || m.decisions != nil && m.decisions.Enabled(ctx))
}

// record measures how a link ended, even if the context is canceled.
func (m *metrics) record(ctx context.Context, reconciler string, l *left) {
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	link := ""
	if pass.Of(l.link) == 0 {
		link = l.link.Name
	}
	s := m.of(seriesKey{reconciler, l.link.Point, link, l.verdict, l.reason})
	if m.duration != nil {
		m.duration.Record(ctx, l.Elapsed.Seconds(), s.record...)
	}
	if m.decisions != nil {
		m.decisions.Add(ctx, 1, s.add...)
	}
}

func (m *metrics) of(key seriesKey) *series {
	m.mu.RLock()
	s := m.series[key]
	m.mu.RUnlock()
	if s != nil {
		return s
	}
	s = newSeries(key)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.series) < mostSeries {
		m.series[key] = s
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
