package otelx_test

import (
	"context"
	"log/slog"
	"os"

	"github.com/go-logr/logr"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// Database is the resource of the examples.
type Database struct{ Name string }

// An operator gives one observer to all its reconcilers. Spans and metrics go
// to the global providers (otel.SetTracerProvider, otel.SetMeterProvider). Log
// lines go to the logger of the context.
func Example() {
	telemetry := otelx.New() // before or after the SDK is installed
	databases := flow.New("Database", flow.Operations[*Database]{
		Key:   func(d *Database) string { return d.Name },
		Apply: func(context.Context, *flow.Request[*Database]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[*Database]{
		PreCheck: chain.New(checks.ResourceIs("Name", func(d *Database) string { return d.Name + " is reserved" }, checks.WithReason(checks.ReasonSpecInvalid))),
	}, flow.WithObserver(telemetry))

	lines := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: steady}) // Level: slog.Level(-2) shows points and links, too
	ctx := logr.NewContext(context.Background(), logr.FromSlogHandler(lines))
	databases.Reconcile(ctx, &Database{Name: "master"})
	// Output:
	// msg="pass ended" reconciler=Database key=master point=PreCheck link=Name verdict=block reason=SpecInvalid retry="on change" message="master is reserved"
}

// steady removes times, levels and durations, so that the output is the same in
// each run.
func steady(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == "duration" {
		return slog.Attr{}
	}
	return a
}
