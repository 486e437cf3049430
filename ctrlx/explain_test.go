package ctrlx_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// Why an object is in its state can be asked for by its name. The steps of one pass are kept, and the verdict of each.
func TestExplain(t *testing.T) {
	b := anApp(AppSpec{Cluster: "c"})
	b.Name, b.UID = "b", "b"
	d := newHarness(t, anApp(AppSpec{Cluster: "c"}), b)
	r := d.reconciler(d.held(), flow.WithExplanations(1))
	if _, err := r.Explain(t.Context(), named("a")); err == nil || !strings.Contains(err.Error(), "call SetupWithManager") {
		t.Errorf("it has nothing to read from: %v", err)
	}
	d.use(r)
	d.pass()
	e, err := r.Explain(t.Context(), named("a"))
	if err != nil || e.Reason != "OwnerNotFound" || e.Link != "OwnerReady" || len(e.WaitingFor) != 1 || len(e.Steps) == 0 {
		t.Errorf("it waits for its cluster: %+v, %v", e, err)
	}
	if _, err := r.Explain(t.Context(), named("other")); !apierrors.IsNotFound(err) {
		t.Errorf("there is none: %v", err)
	}
	d.passOver(t.Context(), "b")
	e, err = r.Explain(t.Context(), named("a"))
	root := "root cause   Cluster." + testv1.GroupVersion.Group + " default/c was not found; 1 other waits for this\n"
	if err != nil || e.Reason != "OwnerNotFound" || len(e.Steps) > 0 || !strings.Contains(e.String(), root) {
		t.Errorf("the steps of another pass are kept: %v\n%s", err, e)
	}
	ready := anApp(AppSpec{})
	ready.Name, ready.UID = "ready", "ready"
	d.create(ready)
	d.passOver(t.Context(), "ready")
	d.pass()
	if _, err := r.Explain(t.Context(), named("ready")); err == nil || !strings.Contains(err.Error(), "flow.WithExplanations(n)") {
		t.Errorf("no pass over an object that is ready is kept: %v", err)
	}
}

// The event of a block names the check that blocked, also inside of a group.
func TestEventNamesTheCheck(t *testing.T) {
	busy := aCluster()
	busy.Status.Conditions[0].Status = "False"
	cases := map[string]struct {
		reason string
		ext    flow.Extensions[*App]
	}{
		"OwnerCheck": {"a check", flow.Extensions[*App]{OwnerCheck: chain.New(checks.OwnerReady(checks.WithReason("Busy")))}},
		"OnOwner":    {"a check of a group", flow.Extensions[*App]{PreCheck: chain.New(checks.OnOwner[*App](checks.OwnerReady(checks.WithReason("Busy"))))}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{Cluster: "c"}), busy)
			d.use(d.reconciler(tc.ext, flow.WithExplanations(1)))
			d.pass()
			e, err := d.app.Explain(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"})
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"Normal Busy " + e.Link + ": " + d.message()}
			if diff := cmp.Diff(want, d.reported()); diff != "" || !strings.Contains(e.Link, "OwnerReady") {
				t.Errorf("%s: the check is %q; -want, +got:\n%s", tc.reason, e.Link, diff)
			}
		})
	}
}
