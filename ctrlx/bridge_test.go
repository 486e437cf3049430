package ctrlx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx"
)

var errRefused = errors.New("refused")

// An existing reconciler gets links around it, and stays what it is.
func TestWrap(t *testing.T) {
	request := reconcile.Request{NamespacedName: keyOf("team", "db")}
	cases := map[string]struct {
		reason   string
		existing reconcile.Func
		links    []ctrlx.Middleware
		want     reconcile.Result
		check    func(err error) bool
	}{
		"Plain": {
			reason: "without links nothing changes",
			existing: func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{RequeueAfter: time.Hour}, nil
			},
			want:  reconcile.Result{RequeueAfter: time.Hour},
			check: func(err error) bool { return err == nil },
		},
		"Error": {
			reason: "controller-runtime looks for errors of its own",
			existing: func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, reconcile.TerminalError(errRefused)
			},
			links: []ctrlx.Middleware{recovers},
			check: func(err error) bool {
				return errors.Is(err, reconcile.TerminalError(nil)) && errors.Is(err, errRefused)
			},
		},
		"Outermost": {
			reason:   "the first link is the outermost: it sees what Recover made of the panic",
			existing: func(context.Context, reconcile.Request) (reconcile.Result, error) { panic("lost") },
			links:    []ctrlx.Middleware{forgive, recovers},
			want:     reconcile.Result{RequeueAfter: time.Minute},
			check:    func(err error) bool { return err == nil },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got reconcile.Request
			r := ctrlx.Wrap(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				got = req
				return tc.existing(ctx, req)
			}), tc.links...)
			result, err := r.Reconcile(t.Context(), request)
			if got != request || result != tc.want || !tc.check(err) {
				t.Errorf("%s: %v, %+v, %v", tc.reason, got, result, err)
			}
		})
	}
}

var recovers ctrlx.Middleware = chain.Recover

func forgive(next ctrlx.Handler) ctrlx.Handler {
	return func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		result, err := next(ctx, req)
		if err != nil {
			return reconcile.Result{RequeueAfter: time.Minute}, nil
		}
		return result, nil
	}
}
