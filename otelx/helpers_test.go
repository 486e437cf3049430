package otelx_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

// pool is the resource of the tests. Its name selects its outcome.
type pool struct{ name string }

// coded is an error that reports its code.
type coded string

func (c coded) Error() string     { return "code " + string(c) }
func (c coded) ErrorCode() string { return string(c) }

var errSecret = errors.New("the password is hunter2")

// operations end as the name of the pool selects.
var operations = flow.Operations[*pool]{
	Key: func(p *pool) string { return p.name },
	Apply: func(_ context.Context, req *flow.Request[*pool]) (flow.Progress, error) {
		switch req.Resource.name {
		case "refused":
			return flow.Progress{}, fmt.Errorf("wrapped: %w", coded("NameTaken"))
		case "broken":
			return flow.Progress{}, fmt.Errorf("wrapped: %w", errSecret)
		case "started":
			return flow.InProgress("token", 0), nil
		}
		return flow.Done(), nil
	},
}

// extensions are two checks and a link around Apply.
var extensions = flow.Extensions[*pool]{
	PreCheck: chain.New(
		checks.ResourceIs("Valid", func(p *pool) string {
			if p.name == "invalid" {
				return "sku is unknown"
			}
			return ""
		}, checks.WithReason(checks.ReasonSpecInvalid)),
		checks.Check("Quota", func(ctx context.Context, req *checks.Request[*pool]) (checks.Result, error) {
			switch req.Resource.name {
			case "panicking":
				panic(errSecret)
			case "waiting":
				chain.Note(ctx, "9 of 9 cores are used")
				return checks.Block("NoQuota", "no quota is left", checks.WithWaitingFor(
					checks.Ref{Kind: "Quota", Namespace: "team", Name: "cores"}, checks.Ref{Kind: "Quota", Namespace: "team", Name: "disks"})), nil
			case "skipped":
				return checks.Skip("it is not counted"), nil
			}
			return checks.Proceed(), nil
		}),
	),
	Apply: chain.New(chain.Named("lock", passOn)),
}

// around is a link that only calls next.
func around(next chain.Handler[bool, int]) chain.Handler[bool, int] {
	return func(ctx context.Context, fail bool) (int, error) { return next(ctx, fail) }
}

// passOn is a link on Apply that only calls next.
func passOn(next flow.Handler[*pool]) flow.Handler[*pool] {
	return func(ctx context.Context, req *flow.Request[*pool]) (flow.Progress, error) { return next(ctx, req) }
}

// recording holds the telemetry of a test.
type recording struct {
	otelfake.Recorder
	lines []string
}

// observer makes an observer that sends all signals to rec.
func (rec *recording) observer(opts ...otelx.Option) chain.Observer {
	return otelx.New(append([]otelx.Option{otelx.WithTracerProvider(&rec.Recorder), otelx.WithMeterProvider(&otelfake.Meters{R: &rec.Recorder})}, opts...)...)
}

// logger makes a logger that adds the lines up to a verbosity to rec, without
// durations, stacks and quotes.
func (rec *recording) logger(verbosity int) logr.Logger {
	took := regexp.MustCompile(` "(duration"=[-0-9.e]+|stack"="[^"]*")`)
	return funcr.New(func(_, args string) {
		rec.lines = append(rec.lines, strings.ReplaceAll(took.ReplaceAllString(args, ""), `"`, ""))
	}, funcr.Options{Verbosity: verbosity})
}

// context returns a context with the logger.
func (rec *recording) context(t *testing.T, verbosity int) context.Context {
	return logr.NewContext(t.Context(), rec.logger(verbosity))
}

type (
	attrs = map[string]string
	event = otelfake.Event
	span  = otelfake.Span
)

// link returns the event of a link. more are further keys and values.
func link(point, name, verdict string, more ...string) event {
	a := attrs{"windlass.point": point, "windlass.link": name, "windlass.verdict": verdict}
	for i := 0; i+1 < len(more); i += 2 {
		a[more[i]] = more[i+1]
	}
	return event{Name: otelx.EventLink, Attributes: a}
}

// exception returns the event of an error or a panic.
func exception(class string) event {
	return event{Name: otelx.EventException, Attributes: attrs{"exception.type": class}}
}

// reconciled returns the span of a pass that was ended once.
func reconciled(key, verdict string, status codes.Code, description string, more attrs, events ...event) *span {
	s := &span{Name: "reconcile Pool", Ended: 1, Status: status, Description: description, Events: events,
		Attributes: attrs{"windlass.reconciler": "Pool", "windlass.key": key, "windlass.verdict": verdict}}
	for k, v := range more {
		s.Attributes[k] = v
	}
	return s
}

// tree prints spans as "parent > name: verdict", in the order of their starts.
// It fails the test if a span was not ended once.
func tree(t *testing.T, rec *recording) (all []string) {
	t.Helper()
	for _, s := range rec.Spans {
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

// sameSpans compares spans by their exported fields, without durations and stacks.
var sameSpans = cmp.Options{
	cmpopts.IgnoreMapEntries(func(key, _ string) bool { return key == "exception.stacktrace" }),
	cmpopts.IgnoreUnexported(otelfake.Span{}),
	cmpopts.IgnoreFields(otelfake.Span{}, "Span"),
	cmpopts.IgnoreFields(otelfake.Event{}, "Seconds"),
}

// mustEqual fails the test if want and got differ.
func mustEqual(t *testing.T, reason string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, sameSpans); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", reason, diff)
	}
}

// unexpected holds the reports to the error handler outside the tests of
// reports.
var unexpected []string

// reports returns the reports to the error handler during the test.
func reports(t *testing.T) *[]string {
	var mu sync.Mutex
	reported := new([]string)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		mu.Lock()
		defer mu.Unlock()
		*reported = append(*reported, err.Error())
	}))
	t.Cleanup(func() { otel.SetErrorHandler(otel.ErrorHandlerFunc(unexpectedReport)) })
	return reported
}

// unexpectedReport is the error handler outside the tests of reports.
func unexpectedReport(err error) { unexpected = append(unexpected, err.Error()) }

// TestMain fails if the error handler gets a report that no test expects.
func TestMain(m *testing.M) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(unexpectedReport))
	code := m.Run()
	if len(unexpected) > 0 {
		fmt.Println("unexpected reports to the error handler:", unexpected)
		code = 1
	}
	os.Exit(code)
}
