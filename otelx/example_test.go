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
	"github.com/windlass-go/windlass/internal/testing/otelfake"
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

	lines := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.Level(-2), ReplaceAttr: steady})
	ctx := logr.NewContext(context.Background(), logr.FromSlogHandler(lines))
	databases.Reconcile(ctx, &Database{Name: "master"})
	// Output:
	// msg="pass started" reconciler=Database key=master
	// msg="point started" reconciler=Database key=master point=EntryCheck
	// msg="point ended" reconciler=Database key=master point=EntryCheck verdict=proceed
	// msg="point started" reconciler=Database key=master point=OwnerCheck
	// msg="point ended" reconciler=Database key=master point=OwnerCheck verdict=proceed
	// msg="point started" reconciler=Database key=master point=PreCheck
	// msg="link started" reconciler=Database key=master point=PreCheck link=Name
	// msg="link ended" reconciler=Database key=master point=PreCheck link=Name verdict=block reason=SpecInvalid retry="on change" message="master is reserved"
	// msg="point ended" reconciler=Database key=master point=PreCheck verdict=block reason=SpecInvalid retry="on change" message="master is reserved"
	// msg="pass ended" reconciler=Database key=master point=PreCheck link=Name verdict=block reason=SpecInvalid retry="on change" message="master is reserved"
}

// One option makes each point and each link a span of its own. The recorder
// stands for an SDK.
func ExampleWithLinkSpans() {
	recorder := &otelfake.Recorder{}
	telemetry := otelx.New(otelx.WithTracerProvider(recorder), otelx.WithLinkSpans())
	databases := flow.New("Database", flow.Operations[*Database]{
		Key:   func(d *Database) string { return d.Name },
		Apply: func(context.Context, *flow.Request[*Database]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[*Database]{
		PreCheck: chain.New(checks.ResourceIs("Name", func(*Database) string { return "" })),
	}, flow.WithObserver(telemetry))

	databases.Reconcile(context.Background(), &Database{Name: "orders"})
	for _, span := range recorder.Spans {
		fmt.Printf("%s (in %q): %s\n", span.Name, span.Parent, span.Attributes["windlass.verdict"])
	}
	// Output:
	// reconcile Database (in ""): ready
	// EntryCheck (in "reconcile Database"): proceed
	// OwnerCheck (in "reconcile Database"): proceed
	// PreCheck (in "reconcile Database"): proceed
	// PreCheck Name (in "PreCheck"): proceed
	// Apply (in "reconcile Database"): proceed
	// PostCheck (in "reconcile Database"): proceed
}

// steady removes times, levels and durations, so that the output is the same in
// each run.
func steady(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == "duration" {
		return slog.Attr{}
	}
	return a
}
