package ctrlx_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// Why a database is where it is can be asked for by its name.
func TestExplain(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	ops := flow.Operations[*testv1.Database]{Apply: o.operations().Apply}
	kept := ctrlx.New("Database", ops, waitsForCluster, ctrlx.WithOwner(clusterOf), flow.WithExplanations(1))
	if _, err := kept.Explain(t.Context(), keyOf(o.namespace, "db")); err == nil || !strings.Contains(err.Error(), "call SetupWithManager") {
		t.Errorf("it has nothing to read from: %v", err)
	}
	o.start(kept)
	o.database("db", "prod")
	o.until("db", "False OwnerNotFound")
	e, err := kept.Explain(t.Context(), keyOf(o.namespace, "db"))
	if err != nil || e.Reason != "OwnerNotFound" || e.Link != "OwnerReady" || len(e.WaitingFor) != 1 {
		t.Errorf("it waits for its cluster: %+v, %v", e, err)
	}
	if _, err := kept.Explain(t.Context(), keyOf(o.namespace, "other")); !apierrors.IsNotFound(err) {
		t.Errorf("there is none: %v", err)
	}
	o.database("newer", "prod")
	o.until("newer", "False OwnerNotFound")
	e, err = kept.Explain(t.Context(), keyOf(o.namespace, "db"))
	if text := "root cause   Cluster." + testv1.GroupVersion.Group + " " + o.namespace + "/prod was not found; 1 other waits for this\n"; err != nil || e.Reason != "OwnerNotFound" || len(e.Steps) > 0 || !strings.Contains(e.String(), text) {
		t.Errorf("the steps of one pass are kept, and the verdict of each: %v\n%s", err, e)
	}
	o.database("root", "")
	o.until("root", "True Succeeded")
	o.database("last", "prod")
	o.until("last", "False OwnerNotFound")
	if _, err := kept.Explain(t.Context(), keyOf(o.namespace, "root")); err == nil || !strings.Contains(err.Error(), "flow.WithExplanations(n)") {
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
