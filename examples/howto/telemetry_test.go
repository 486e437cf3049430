package howto

import (
	"context"
	"log/slog"
	"os"

	"github.com/go-logr/logr"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

func Example_telemetry() {
	// observer:
	telemetry := otelx.New() // global providers: otel.SetTracerProvider and otel.SetMeterProvider, before or after this line
	databases := flow.New("Database", operations(), flow.Extensions[*Database]{
		PreCheck: chain.New(sizeInRange),
	}, flow.WithObserver(telemetry))
	// :observer

	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: steady})
	// logger:
	ctx := logr.NewContext(context.Background(), logr.FromSlogHandler(handler)) // the logger of the lines
	databases.Reconcile(ctx, &Database{Name: "orders", Size: 200})
	// :logger

	// Output:
	// msg="pass ended" reconciler=Database key=orders point=PreCheck link=SizeInRange verdict=block reason=SizeOutOfRange retry="on change" message="spec.size is 200; it must be at most 100"
}

// steady leaves out the attributes that differ in each run.
func steady(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == "duration" {
		return slog.Attr{}
	}
	return a
}
