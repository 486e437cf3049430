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

// setUp is all that it takes to have spans, metrics and log lines of every reconciler: give the observer to each of them
// (flow.WithObserver) and the context to each pass, and call stop in the end. The options may be left out.
func setUp(ctx context.Context, spans sdktrace.SpanExporter, metrics sdkmetric.Exporter, lines slog.Handler, opts ...otelx.Option) (
	_ context.Context, _ chain.Observer, stop func(context.Context) error) {
	// Who it is that sends them.
	who := sdkresource.NewSchemaless(attribute.String("service.name", "windlass-example-aks"))
	// Spans are sent in batches. Virtual time is faster than an exporter and must wait for it; leave WithBlocking out.
	tracers := sdktrace.NewTracerProvider(sdktrace.WithResource(who), sdktrace.WithBatcher(spans, sdktrace.WithBlocking()))
	// Metrics are sent once a minute, and in the end.
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithResource(who), sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics)))
	// Log lines go to the logger of the context, whichever it is.
	ctx = logr.NewContext(ctx, logr.FromSlogHandler(lines))
	observer := otelx.New(append(opts, otelx.WithTracerProvider(tracers), otelx.WithMeterProvider(meters))...)
	// What was not sent yet is sent by shutting down.
	return ctx, observer, func(ctx context.Context) error { return errors.Join(tracers.Shutdown(ctx), meters.Shutdown(ctx)) }
}

// telemetry is what the flags -otel and -otlp say.
type telemetry struct {
	print  bool          // -otel
	to     string        // -otlp
	within time.Duration // how long the end may take to send what is left
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
		return errors.New("-otel and -otlp: give one of them")
	case t.on() && given["explain"]:
		return errors.New("-otel and -otlp do not go with -explain, which runs quietly")
	}
	return nil
}

// on tells whether there is to be telemetry.
func (t *telemetry) on() bool { return t.print || t.to != "" }

// endpoint reads what -otlp says.
func endpoint(text string) (*url.URL, error) {
	whole, hasScheme := text, strings.Contains(text, "://")
	if !hasScheme {
		whole = "http://" + text
	}
	u, err := url.Parse(whole)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || !hasScheme && u.Port() == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("-otlp: %q is no endpoint: give http://HOST:PORT, https://HOST:PORT or HOST:PORT", text)
	}
	return u, nil
}

// show runs the manifests with telemetry, sends or prints it, and says what came of that.
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
	if t.print { // the log lines tell the story in place of the timeline
		s.happened = func(object, what string) { logr.FromContextOrDiscard(ctx).Info(what, "object", object) }
		late = s.engine.Show(ctx, io.Discard, timeout, s.engine.AllReady, s.engine.NotReady, "")
	} else {
		late = show(ctx, out, timeout, m, s)
	}
	ctx, cancel := context.WithTimeout(ctx, t.within)
	defer cancel()
	stopped := stop(ctx)
	sent, refused := counted.result()
	if t.to != "" && (sent > 0 || refused == nil) {
		fmt.Fprintf(out, "\n%d spans were sent to %s\n", sent, t.to)
	}
	return errors.Join(late, t.notTaken(cmp.Or(refused, stopped)))
}

// exporters print to out what they get, or send it.
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
	// Spans and metrics share the time that there is. Nothing is sent again, for a person waits.
	client := &http.Client{Transport: strict{http.DefaultTransport}, Timeout: t.within / 2}
	ctx := context.Background()
	spans, errs[0] = otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(to.JoinPath("v1/traces").String()),
		otlptracehttp.WithHTTPClient(client), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	metrics, errs[1] = otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(to.JoinPath("v1/metrics").String()),
		otlpmetrichttp.WithHTTPClient(client), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}))
	return spans, metrics, errors.Join(errs[:]...)
}

// notTaken says what an error means for who gave the flag.
func (t *telemetry) notTaken(err error) error {
	switch {
	case err == nil:
		return nil
	case t.print:
		return fmt.Errorf("-otel: not all telemetry was printed: %w", err)
	}
	return fmt.Errorf("-otlp: %s did not take the telemetry: %w", t.to, err)
}

// atVirtualTime puts on each span when it was in the run; its own times are those of the clock on the wall.
func atVirtualTime(now func() string) otelx.Option {
	return otelx.WithPassAttributes(func(context.Context, any) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("example.at", now())}
	})
}

// lines prints the log lines of -otel, at a verbosity that shows points and links (logr's V(n) is slog's level -n). In place
// of time and level there is the virtual time.
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

// counter counts the spans that an exporter took. The SDK tells of an error only its global handler; here it is kept, and
// nothing is exported after it.
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

// strict makes an error of every answer but a good one, with the status, which the exporters tell of some only.
type strict struct{ http.RoundTripper }

func (s strict) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, err := s.RoundTripper.RoundTrip(req)
	if err == nil && answer.StatusCode >= 300 {
		answer.Body.Close()
		return nil, errors.New(answer.Status)
	}
	return answer, err
}
