package otelx_test

import (
	"context"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// TestWrappedChecksKeepTheirTag: flow.New refuses a check of the owner without an owner, also with telemetry around it.
func TestWrappedChecksKeepTheirTag(t *testing.T) {
	w := &world{}
	ready := checks.OnOwner[*pool](checks.OwnerReady())
	for name, link := range map[string]checks.Middleware[*pool]{
		"Span": otelx.Span("ready", ready, otelx.WithTracerProvider(&w.Recorder)),
		"Log":  otelx.Log("ready", ready),
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "Operations.Owner is nil") {
					t.Errorf("flow.New accepts it: %q", text)
				}
			}()
			flow.New("Pool", flow.Operations[*pool]{
				Key:   func(p *pool) string { return p.name },
				Apply: func(context.Context, *flow.Request[*pool]) (flow.Progress, error) { return flow.Done(), nil },
			}, flow.Extensions[*pool]{PreCheck: chain.New(link)})
		})
	}
}
