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

type metrics struct {
	of [pass.Pass + 1]instruments

	mu     sync.RWMutex
	series map[seriesKey]*series
	counts map[seriesKey]int // the number of series; the keys have no verdict and reason
}

// A nil instrument is off.
type instruments struct {
	duration metric.Float64Histogram
	verdicts metric.Int64Counter
}

// seriesKey identifies a series.
type seriesKey struct {
	whole                                    pass.Whole
	reconciler, point, link, verdict, reason string
}

type series struct {
	record []metric.RecordOption
	add    []metric.AddOption
}

// maxReasons limits the reasons of a link, a point or a pass, because each
// reason makes a series.
const maxReasons = 100

// maxSeries limits the series in memory. The SDK merges all series above 2,000.
const maxSeries = 4096

// newMetrics returns nil if the provider of the meter is off.
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

func (m *metrics) seriesOf(key seriesKey) *series {
	m.mu.RLock()
	s := m.series[key]
	m.mu.RUnlock()
	if s != nil {
		return s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	counted := seriesKey{whole: key.whole, reconciler: key.reconciler, point: key.point, link: key.link}
	if key.reason != "" && (m.counts[counted] >= maxReasons || len(m.series) >= maxSeries && m.series[key] == nil) {
		key.reason = OtherReason
	}
	if s := m.series[key]; s != nil {
		return s
	}
	s = newSeries(key)
	if len(m.series) < maxSeries {
		m.series[key] = s
		m.counts[counted]++
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
