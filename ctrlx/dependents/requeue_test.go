package dependents_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/flow"
)

func TestRequeue(t *testing.T) {
	hour, failure := time.Hour, errors.New("no quota")
	cases := map[string]struct {
		reason   string
		progress flow.Progress
		err      error
		want     reconcile.Result
		wantErr  error
	}{
		"Done":      {"nothing is left to do", flow.Done(), nil, reconcile.Result{}, nil},
		"Waits":     {"an object is not ready", flow.InProgress("t", time.Minute), nil, reconcile.Result{RequeueAfter: time.Minute}, nil},
		"Contested": {"the next correction comes after the delay, and the back-off would be milliseconds", flow.Progress{}, flow.WaitFor(errors.Join(ctrlx.NewRetriableError(failure, &hour))), reconcile.Result{RequeueAfter: time.Hour}, nil},
		"Invalid":   {"without a delay the back-off counts", flow.Progress{}, ctrlx.NewRetriableError(failure, nil), reconcile.Result{}, failure},
		"Error":     {"any other error is returned", flow.Progress{}, failure, reconcile.Result{}, failure},
	}
	for name, tc := range cases {
		got, err := dependents.Requeue(tc.progress, tc.err)
		if diff := cmp.Diff(tc.want, got); diff != "" || !errors.Is(err, tc.wantErr) {
			t.Errorf("%s: %s: %v (-want +got):\n%s", name, tc.reason, err, diff)
		}
	}
}
