package ctrlx_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// Why a database is where it is can be asked for by its name.
func TestExplain(t *testing.T) {
	o := newOperator(t)
	ops := flow.Operations[*testv1.Database]{Apply: o.operations().Apply}
	kept := ctrlx.New("Database", ops, waitsForCluster, ctrlx.OwnedBy(clusterOf), ctrlx.WithFlow(flow.KeepLast(1)))
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
	if _, err := kept.Explain(t.Context(), keyOf(o.namespace, "db")); err == nil || !strings.Contains(err.Error(), "flow.KeepLast(n)") {
		t.Errorf("one pass is kept: %v", err)
	}
}
