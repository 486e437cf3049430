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

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

// pool is the resource of the tests. Its name says what happens to it.
type pool struct{ name string }

// coded is an error that reports its code.
type coded string

func (c coded) Error() string     { return "code " + string(c) }
func (c coded) ErrorCode() string { return string(c) }

var errSecret = errors.New("the password is hunter2")

// operations end as the name of the pool says.
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
			case "left":
				return checks.Skip("it is not counted"), nil
			}
			return checks.Proceed(), nil
		}),
	),
	Apply: chain.New(chain.Named("lock", func(next flow.Handler[*pool]) flow.Handler[*pool] {
		return func(ctx context.Context, req *flow.Request[*pool]) (flow.Progress, error) { return next(ctx, req) }
	})),
}

// world is where telemetry goes in a test.
type world struct {
	otelfake.Recorder
	lines []string
}

// observer sends everything to the world.
func (w *world) observer(opts ...otelx.Option) chain.Observer {
	return otelx.New(append([]otelx.Option{otelx.WithTracerProvider(&w.Recorder), otelx.WithMeterProvider(&otelfake.Meters{R: &w.Recorder})}, opts...)...)
}

// logger writes lines up to a verbosity, without durations.
func (w *world) logger(verbosity int) logr.Logger {
	took := regexp.MustCompile(` "duration"=[-0-9.e]+`)
	return funcr.New(func(_, args string) {
		w.lines = append(w.lines, strings.ReplaceAll(took.ReplaceAllString(args, ""), `"`, ""))
	}, funcr.Options{Verbosity: verbosity})
}

func (w *world) context(t *testing.T, verbosity int) context.Context {
	return logr.NewContext(t.Context(), w.logger(verbosity))
}

// unexpected are the reports to the error handler that no test asked for.
var unexpected []string

// reports returns what the error handler gets during the test.
func reports(t *testing.T) *[]string {
	var mu sync.Mutex
	told := new([]string)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		mu.Lock()
		defer mu.Unlock()
		*told = append(*told, err.Error())
	}))
	t.Cleanup(func() { otel.SetErrorHandler(otel.ErrorHandlerFunc(refuse)) })
	return told
}

func refuse(err error) { unexpected = append(unexpected, err.Error()) }

// The error handler gets a report only in tests of reports.
func TestMain(m *testing.M) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(refuse))
	code := m.Run()
	if len(unexpected) > 0 {
		fmt.Println("unexpected reports to the error handler:", unexpected)
		code = 1
	}
	os.Exit(code)
}

var sameSpans = cmp.Options{cmpopts.IgnoreUnexported(otelfake.Span{}), cmpopts.IgnoreFields(otelfake.Span{}, "Span"),
	cmpopts.IgnoreFields(otelfake.Event{}, "Seconds")}

func mustEqual(t *testing.T, reason string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, sameSpans); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", reason, diff)
	}
}
