package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdkresource "go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
	"github.com/windlass-go/windlass/otelx"
)

// setUp makes an observer that sends spans, metrics and log lines. Give it to
// each reconciler with flow.WithObserver, pass the context to each pass, and
// call stop at the end. opts is optional.
func setUp(ctx context.Context, spans sdktrace.SpanExporter, metrics sdkmetric.Exporter, lines slog.Handler, opts ...otelx.Option) (
	_ context.Context, _ chain.Observer, stop func(context.Context) error) {
	service := sdkresource.NewSchemaless(attribute.String("service.name", "windlass-example-aks"))
	// The exporter receives spans in batches. Virtual time is faster than an
	// exporter, so a span waits for it here. Remove WithBlocking in a real
	// program.
	tracers := sdktrace.NewTracerProvider(sdktrace.WithResource(service), sdktrace.WithBatcher(spans, sdktrace.WithBlocking()))
	// The exporter receives metrics once a minute and at the end.
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithResource(service), sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics)))
	// Log lines use the logger of the context.
	ctx = logr.NewContext(ctx, logr.FromSlogHandler(lines))
	observer := otelx.New(append(opts, otelx.WithTracerProvider(tracers), otelx.WithMeterProvider(meters))...)
	// Shutdown sends the rest.
	return ctx, observer, func(ctx context.Context) error { return errors.Join(tracers.Shutdown(ctx), meters.Shutdown(ctx)) }
}

// telemetry holds the values of the flags -otel and -otlp.
type telemetry struct {
	print        bool          // -otel
	to           string        // -otlp
	flushTimeout time.Duration // limits the sending of the rest at the end
}

func (t *telemetry) flags(flags *flag.FlagSet) {
	flags.BoolVar(&t.print, "otel", false, "")
	flags.StringVar(&t.to, "otlp", "", "")
}

func (t *telemetry) check(given map[string]bool) error {
	if given["otlp"] {
		if _, err := endpoint(t.to); err != nil {
			return err
		}
	}
	switch {
	case t.print && given["otlp"]:
		return errors.New("-otel and -otlp: use one of them")
	case t.on() && given["explain"]:
		return errors.New("-otel and -otlp cannot be used with -explain")
	case t.on() && given["html"]:
		return errors.New("-otel and -otlp cannot be used with -html")
	}
	return nil
}

// on reports whether telemetry is on.
func (t *telemetry) on() bool { return t.print || t.to != "" }

// endpoint parses the value of -otlp.
func endpoint(text string) (*url.URL, error) {
	whole, hasScheme := text, strings.Contains(text, "://")
	if !hasScheme {
		whole = "http://" + text
	}
	u, err := url.Parse(whole)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || !hasScheme && u.Port() == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("-otlp: %q is not an endpoint; use http://HOST:PORT, https://HOST:PORT or HOST:PORT", text)
	}
	return u, nil
}

// show runs the manifests with telemetry, and sends or prints it.
func (t *telemetry) show(out, errOut io.Writer, timeout time.Duration, m *Manifests) error {
	spans, metrics, err := t.exporters(out)
	if err != nil {
		return err
	}
	var s *Simulation
	now := func() string { return flowtest.Stamp(s.engine.Elapsed()) }
	counted := &counter{SpanExporter: spans}
	ctx, observer, stop := setUp(context.Background(), counted, metrics, t.lines(errOut, now), atVirtualTime(now))
	s, err = NewSimulation(m, true, flow.WithObserver(observer))
	if err != nil {
		return err
	}
	var late error
	if t.print { // the log lines replace the timeline
		s.onEvent = func(object, what string) { logr.FromContextOrDiscard(ctx).Info(what, "object", object) }
		late = s.engine.Show(ctx, io.Discard, timeout, s.engine.AllReady, s.engine.NotReady, "")
	} else {
		late = show(ctx, out, timeout, m, s)
	}
	ctx, cancel := context.WithTimeout(ctx, t.flushTimeout)
	defer cancel()
	stopped := stop(ctx)
	sent, refused := counted.result()
	if t.to != "" && (sent > 0 || refused == nil) {
		fmt.Fprintf(out, "\n%d spans were sent to %s\n", sent, t.to)
	}
	return errors.Join(late, t.exportError(cmp.Or(refused, stopped)))
}

// exporters returns exporters that print to out, or that send.
func (t *telemetry) exporters(out io.Writer) (spans sdktrace.SpanExporter, metrics sdkmetric.Exporter, err error) {
	var errs [2]error
	if t.print {
		spans, errs[0] = stdouttrace.New(stdouttrace.WithWriter(out), stdouttrace.WithPrettyPrint())
		metrics, errs[1] = stdoutmetric.New(stdoutmetric.WithWriter(out), stdoutmetric.WithPrettyPrint())
		return spans, metrics, errors.Join(errs[:]...)
	}
	to, err := endpoint(t.to)
	if err != nil {
		return nil, nil, err
	}
	// Spans and metrics share the time limit. The exporters do not retry,
	// because the user waits.
	client := &http.Client{Transport: strict{http.DefaultTransport}, Timeout: t.flushTimeout / 2}
	ctx := context.Background()
	spans, errs[0] = otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(to.JoinPath("v1/traces").String()),
		otlptracehttp.WithHTTPClient(client), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	metrics, errs[1] = otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(to.JoinPath("v1/metrics").String()),
		otlpmetrichttp.WithHTTPClient(client), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}))
	return spans, metrics, errors.Join(errs[:]...)
}

// exportError adds the flag to the error of an exporter, in one line: spans and
// metrics may both fail.
func (t *telemetry) exportError(err error) error {
	switch {
	case err == nil:
		return nil
	case t.print:
		return fmt.Errorf("-otel: not all telemetry was printed: %w", err)
	}
	return fmt.Errorf("-otlp: %s did not accept the telemetry: %s", t.to, strings.ReplaceAll(err.Error(), "\n", "; "))
}

// atVirtualTime adds the virtual time of the pass to each span. The span's own
// times are real times.
func atVirtualTime(now func() string) otelx.Option {
	return otelx.WithPassAttributes(func(context.Context, any) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("example.at", now())}
	})
}

// lines prints the log lines of -otel, with points and links (logr's V(n) is
// slog's level -n). The virtual time replaces time and level.
func (t *telemetry) lines(out io.Writer, now func() string) slog.Handler {
	if !t.print {
		return slog.DiscardHandler
	}
	return slog.NewTextHandler(out, &slog.HandlerOptions{
		Level: slog.Level(-otelx.DefaultLinkVerbosity),
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case slog.TimeKey:
				return slog.String("at", now())
			case slog.LevelKey:
				return slog.Attr{}
			}
			return a
		},
	})
}

// counter counts the spans that an exporter accepted. The SDK reports an error
// only to its global handler; counter keeps the first one and exports nothing
// after it.
type counter struct {
	sdktrace.SpanExporter
	mu  sync.Mutex
	n   int
	err error
}

func (c *counter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if _, err := c.result(); err != nil {
		return nil
	}
	err := c.SpanExporter.ExportSpans(ctx, spans)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err = err; err == nil {
		c.n += len(spans)
	}
	return nil
}

func (c *counter) result() (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n, c.err
}

// strict turns every response without success into an error with its status.
// The exporters report only some of them.
type strict struct{ http.RoundTripper }

func (s strict) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, err := s.RoundTripper.RoundTrip(req)
	if err == nil && answer.StatusCode >= 300 {
		answer.Body.Close()
		return nil, errors.New(answer.Status)
	}
	return answer, err
}
