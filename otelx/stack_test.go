package otelx_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"github.com/windlass-go/windlass/flow"
)

// TestStack verifies that the line of a pass that panicked has the stack from the
// frame of the panic, also without the text of errors, and that an error has none.
func TestStack(t *testing.T) {
	for name, panics := range map[string]bool{"Panic": true, "Error": false} {
		var lines []string
		log := funcr.NewJSON(func(line string) { lines = append(lines, line) }, funcr.Options{})
		ops := flow.Operations[*pool]{
			Key: func(p *pool) string { return p.name },
			Apply: func(context.Context, *flow.Request[*pool]) (flow.Progress, error) {
				if panics {
					panicInApply()
				}
				return flow.Progress{}, context.DeadlineExceeded
			},
		}
		rec := &recording{}
		flow.New("Pool", ops, flow.Extensions[*pool]{}, flow.WithObserver(rec.observer())).Reconcile(logr.NewContext(t.Context(), log), &pool{"fine"})
		if len(lines) != 1 {
			t.Fatalf("%s: got %d lines: %q", name, len(lines), lines)
		}
		_, stack, found := strings.Cut(lines[0], `"stack":"`)
		if found != panics || panics && !strings.Contains(stack, "panicInApply") || strings.Contains(lines[0], "the tank is empty") {
			t.Errorf("%s: the line is %s", name, lines[0])
		}
		events := rec.Spans[0].Events
		if stack, has := events[len(events)-1].Attributes["exception.stacktrace"]; has != panics || strings.Contains(stack, "panicInApply") != panics {
			t.Errorf("%s: the stack of the exception event is %q", name, stack)
		}
	}
}

func panicInApply() { panic("the tank is empty") }
