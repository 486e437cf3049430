package otelx_test

import (
	"context"
	"strings"
	"testing"
	"unicode"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// The names of links and reconcilers are foreign texts: a program may make them
// of its input. Spans and lines have them on one line, without secrets and with
// a bounded length.
func TestForeignNames(t *testing.T) {
	for name, hostile := range map[string]string{
		"Escape": "quota\x1b[2J\n> Apply proceed", "Secret": "call https://a?sig=hunter2", "Long": strings.Repeat("x", 50_000),
	} {
		rec := &recording{}
		r := flow.New(hostile, flow.Operations[*pool]{
			Key:   func(*pool) string { return "p" },
			Apply: func(context.Context, *flow.Request[*pool]) (flow.Progress, error) { return flow.Progress{}, errSecret },
		}, flow.Extensions[*pool]{Apply: chain.New(chain.Named(hostile, passOn))}, flow.WithObserver(otelx.New(otelx.WithTracerProvider(&rec.Recorder), otelx.WithLinkSpans())))
		r.Reconcile(rec.context(t, 9), &pool{})
		texts := append([]string(nil), rec.lines...)
		for _, s := range rec.Spans {
			texts = append(texts, s.Name, s.Description)
			for _, value := range s.Attributes {
				texts = append(texts, value)
			}
		}
		if len(rec.lines) == 0 || len(rec.Spans) == 0 {
			t.Fatalf("%s: %d lines and %d spans", name, len(rec.lines), len(rec.Spans))
		}
		for _, text := range texts {
			if len(text) > 2000 || strings.Contains(text, "hunter2") || strings.IndexFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) >= 0 {
				t.Errorf("%s: a text of %d bytes: %.200q", name, len(text), text)
			}
		}
	}
}
