package ctrlx_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx"
)

// What is kept together is all there for errors.Is and errors.As, and nothing else is touched.
func TestAsWhole(t *testing.T) {
	refused := &azcore.ResponseError{ErrorCode: "Busy"}
	retriable := ctrlx.NewRetriableError(io.EOF, nil)
	cases := map[string]struct {
		reason string
		err    error
		kept   bool
	}{
		"Nil":       {"there is nothing", nil, false},
		"Plain":     {"it is one already", retriable, false},
		"Wrapped":   {"it is one already", fmt.Errorf("a: %w", retriable), false},
		"Joined":    {"none says when to come back, so that they are taken apart", errors.Join(io.EOF, refused), false},
		"Retriable": {"one says when", errors.Join(refused, retriable), true},
		"Deep":      {"one says when", fmt.Errorf("a: %w", fmt.Errorf("%w, %w", refused, fmt.Errorf("b: %w", retriable))), true},
		"Around":    {"it says so of all of them", ctrlx.NewRetriableError(errors.Join(io.EOF, refused), nil), true},
		"Terminal":  {"one is terminal", errors.Join(refused, reconcile.TerminalError(io.EOF)), true},
	}
	for name, tc := range cases {
		got := ctrlx.AsWhole(tc.err)
		if kept := got != tc.err; kept != tc.kept {
			t.Errorf("%s: %s: %v", name, tc.reason, got)
		}
		if !tc.kept {
			continue
		}
		if errors.Unwrap(got) != nil {
			t.Errorf("%s: it can be taken apart", name)
		}
		if e, ok := errors.AsType[*azcore.ResponseError](got); got.Error() != tc.err.Error() || !errors.Is(got, io.EOF) || !ok || e != refused {
			t.Errorf("%s: not all of it is found: %v", name, got)
		}
	}
}
