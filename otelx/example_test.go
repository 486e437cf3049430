package otelx_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// Database is what the operator reconciles.
type Database struct{ Name string }

// An operator gives one observer to all its reconcilers. Spans and metrics go to the global providers, which the SDK is
// installed as (otel.SetTracerProvider, otel.SetMeterProvider); log lines to the logger of the context.
func Example() {
	telemetry := otelx.New() // before or after the SDK is installed
	databases := flow.New("Database", flow.Operations[*Database]{
		Key:   func(d *Database) string { return d.Name },
		Apply: func(context.Context, *flow.Request[*Database]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[*Database]{
		PreCheck: chain.New(checks.Valid(func(d *Database) error { return fmt.Errorf("%s is reserved", d.Name) })),
	}, flow.WithObserver(telemetry))

	lines := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.Level(-otelx.DefaultLinkVerbosity), ReplaceAttr: steady})
	ctx := logr.NewContext(context.Background(), logr.FromSlogHandler(lines))
	databases.Reconcile(ctx, &Database{Name: "master"})
	// Output:
	// msg=enter reconciler=Database key=master
	// msg=enter reconciler=Database key=master point=OwnerCheck
	// msg=proceed reconciler=Database key=master point=OwnerCheck
	// msg=enter reconciler=Database key=master point=PreCheck
	// msg=enter reconciler=Database key=master point=PreCheck link=Valid
	// msg=block reconciler=Database key=master point=PreCheck link=Valid reason=SpecInvalid retry="on change"
	// msg=block reconciler=Database key=master point=PreCheck reason=SpecInvalid retry="on change"
	// msg=blocked reconciler=Database key=master reason=SpecInvalid retry="on change"
}

// steady leaves out what is different each time.
func steady(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == otelx.LogDuration {
		return slog.Attr{}
	}
	return a
}
