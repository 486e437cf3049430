package ctrlx_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/ctrlx"
)

// A database waits for its cluster without a request, is created when the cluster runs, is
// changed, and is deleted.
func TestStory(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.start(ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.WithOwner(clusterOf)))
	o.database("db", "prod")
	o.until("db", "False OwnerNotFound")
	c := o.cluster("prod", "Creating")
	o.until("db", "False OwnerNotReady")
	if got := o.asked(); len(got) > 0 {
		t.Errorf("nothing is asked of the cloud while the cluster is not ready: %q", got)
	}
	o.report(c, "Running")
	d := o.until("db", "True Succeeded")
	if d.Status.Size != 1 || len(d.Status.Conditions) != 2 || d.Status.Conditions[0].ObservedGeneration != d.Generation {
		t.Errorf("the status must have the size, Ready and Settled, and nothing of the wait: %+v", d.Status)
	}
	if diff := cmp.Diff([]string{ctrlx.Finalizer}, d.Finalizers); diff != "" {
		t.Errorf("it has a finalizer: -want, +got:\n%s", diff)
	}
	if err := api.Delete(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	o.until("db", "gone")
	if diff := cmp.Diff([]string{"put db 1", "delete db"}, o.asked()); diff != "" {
		t.Errorf("what was asked of the cloud: -want, +got:\n%s", diff)
	}
}
