package otelx_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
		checks.Valid(func(p *pool) error {
			if p.name == "invalid" {
				return errSecret
			}
			return nil
		}),
		checks.Check("Quota", func(_ context.Context, req *checks.Request[*pool]) (checks.Result, error) {
			switch req.Resource.name {
			case "panicking":
				panic(errSecret)
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

var sameSpans = cmp.Options{cmpopts.IgnoreUnexported(otelfake.Span{}), cmpopts.IgnoreFields(otelfake.Span{}, "Span"),
	cmpopts.IgnoreFields(otelfake.Event{}, "Seconds")}

func mustEqual(t *testing.T, reason string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, sameSpans); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", reason, diff)
	}
}
