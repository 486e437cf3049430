package otelx_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/otelx"
)

// reason is a block with that reason.
type reason string

func (r reason) Describe() (verdict, why string) { return "block", string(r) }

// described is a result with a verdict and a reason.
type described struct{ verdict, reason string }

func (d described) Describe() (verdict, why string) { return d.verdict, d.reason }

// why is a block whose message is from a method Why.
type why string

func (why) Describe() (verdict, why string) { return "block", "" }
func (w why) Why() string                   { return string(w) }

// ruled is a block by a rule. It has a point and a link.
type ruled struct{ why }

func (ruled) Rule() string          { return "rule" }
func (ruled) Point() string         { return "Apply" }
func (ruled) Link() string          { return "other" }
func (ruled) Retry() classify.Retry { return classify.Unset }

// waits is a block that waits for objects.
type waits []checks.Ref

func (waits) Describe() (verdict, why string) { return "block", "" }
func (w waits) WaitingFor() []checks.Ref      { return w }

// refs returns a block that waits for n objects, and its attributes. shown are
// the names after the first ten.
func refs(n int, shown ...string) (waits, attrs) {
	w := waits{}
	for i := range n {
		w = append(w, checks.Ref{Kind: "Quota", Name: fmt.Sprint(i)})
		if i < 10 {
			shown = slices.Insert(shown, i, fmt.Sprint("Quota ", i))
		}
	}
	return w, attrs{"windlass.verdict": "block", "windlass.waiting_for": `["` + strings.Join(shown, `","`) + `"]`}
}

// broken is an error and a result whose methods panic.
type broken struct{}

func (broken) Error() string              { panic("no text") }
func (broken) Describe() (string, string) { panic("no verdict") }

// calls makes one call of a link that returns res and err. It returns the event
// and the line of the link's end.
func calls(t *testing.T, res any, err error, opts ...otelx.Option) (event, string) {
	t.Helper()
	rec := &recording{}
	ctx, _ := rec.Tracer("").Start(rec.context(t, 9), "request")
	_, _ = chain.New(chain.Named("link", func(chain.Handler[int, any]) chain.Handler[int, any] {
		return func(context.Context, int) (any, error) { return res, err }
	})).Observe(rec.observer(opts...)).Then(func(context.Context, int) (any, error) { return nil, nil })(ctx, 1)
	if len(rec.Spans[0].Events) != 1 || len(rec.lines) != 2 {
		t.Fatalf("the events are %v, the lines %q", rec.Spans[0].Events, rec.lines)
	}
	return rec.Spans[0].Events[0], rec.lines[1]
}
