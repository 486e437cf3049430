package ctrlx_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

// obedient is a client whose reads end with their context, as those of a real one.
type obedient struct{ client.Client }

func (c *obedient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

// The leader loses its lease inside of Apply, and the object has vanished
// meanwhile. No later pass deletes the resource, so it is reported.
func TestVanishedInTheLastPass(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		stops   bool // the manager stops inside of Apply
		reports int
		deletes bool // a pass deletes the resource
	}{
		"Stops": {"nothing deletes the resource", true, 1, false},
		"Runs":  {"the same pass deletes the resource", false, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.manager.client = &obedient{d.api}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			d.apply = func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
				a := d.read()
				a.Finalizers = nil
				d.update(a)
				d.delete(a)
				if tc.stops {
					stop()
				}
				return flow.InProgress("t", 0), nil
			}
			d.use(d.reconciler(flow.Extensions[*App]{}))
			before := orphaned(t, "App")
			_, _ = d.app.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "a"}})
			if n := orphaned(t, "App") - before; n != float64(tc.reports) {
				t.Errorf("%s: %v resources are reported, want %d", tc.reason, n, tc.reports)
			}
			reported := slices.ContainsFunc(d.reported(), func(e string) bool { return strings.HasPrefix(e, "Warning "+ctrlx.ReasonOrphaned) })
			if reported != (tc.reports > 0) || slices.Contains(strings.Split(d.took(), ", "), "delete") != tc.deletes {
				t.Errorf("%s: an event reports it: %t", tc.reason, reported)
			}
		})
	}
}

// The API server did not take the record of an operation, which this process then
// knows alone. Another process that leads meanwhile has stored its own operation,
// and that one counts.
func TestOvertakenBeforeStored(t *testing.T) {
	cases := map[string]struct {
		reason string
		before string // the stored token
		other  bool   // another process stores a token
		stored string // the token in the end
	}{
		"Overtaken":      {reason: "the leader has another operation", other: true, stored: "theirs"},
		"OvertakenLater": {reason: "the same for the second token of an operation", before: "ours", other: true, stored: "theirs"},
		"Alone":          {reason: "the next pass stores it", stored: "ours 2"},
		"AloneLater":     {reason: "the next pass stores the second token", before: "ours", stored: "ours 2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			if tc.before != "" {
				d.recorded(operating(tc.before))
			}
			d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				if req.Token == "theirs" {
					return flow.InProgress("theirs", 0), nil
				}
				return flow.InProgress("ours 2", 0), nil
			}
			d.use(d.reconciler(flow.Extensions[*App]{}))
			d.refuse = apierrors.NewInternalError(errBroken)
			if _, err := d.app.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "a"}}); err == nil {
				t.Fatal("the status is written")
			}
			d.refuse = nil
			if tc.other {
				d.recorded(operating("theirs"))
			}
			d.pass()
			d.pass()
			if got := d.stored(); got != tc.stored {
				t.Errorf("%s: the stored token is %q, want %q", tc.reason, got, tc.stored)
			}
		})
	}
}
