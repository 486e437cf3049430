package ctrlx_test

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// shard starts a manager for the databases with a label. If selects is true, its cache has no others. If it is false,
// its reconciler ignores the others, and they can be awaited.
func (o *operator) shard(name string, selects bool) {
	o.t.Helper()
	ops := flow.Operations[*testv1.Database]{
		Apply: func(_ context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
			return flow.Done(), o.note("%s puts %s", name, req.Resource.Name)
		},
		Delete: func(_ context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
			return flow.Done(), o.note("%s deletes %s", name, req.Resource.Name)
		},
	}
	ext := extensions{OwnerCheck: waitsForCluster.OwnerCheck, PreCheck: chain.New(checks.ResourceIs("open", func(d *testv1.Database) string {
		if d.Spec.Size == 0 {
			return "set spec.size"
		}
		return ""
	}))}
	var some map[client.Object]cache.ByObject
	if selects {
		some = map[client.Object]cache.ByObject{&testv1.Database{}: {Label: labels.SelectorFromSet(labels.Set{"shard": name})}}
	} else {
		ext.EntryCheck = chain.New(checks.Check("shard", func(_ ctxt, req *checks.Request[*testv1.Database]) (checks.Result, error) {
			if req.Resource.Labels["shard"] != name {
				return checks.Ignore("another shard has it"), nil
			}
			return checks.Proceed(), nil
		}))
	}
	opts := []ctrlx.Option{ctrlx.WithOwner(ownerByName)}
	if !selects { // as another program, which applies the objects that it takes over
		opts = append(opts, ctrlx.WithRevision(name))
	}
	o.startWith(some, ctrlx.New(o.controller(name), ops, ext, opts...))
}

// controller returns the name of the controller of a shard, which no other test has.
func (o *operator) controller(shard string) string { return "Shard-" + shard + "-" + o.namespace }

// inShard creates a database with a label. owner is the name of another database, or empty.
func (o *operator) inShard(shard, name, owner string, size int) *testv1.Database {
	o.t.Helper()
	d := &testv1.Database{Spec: testv1.DatabaseSpec{Cluster: owner, Size: size}}
	d.Namespace, d.Name, d.Labels = o.namespace, name, map[string]string{"shard": shard}
	must(o.t, api.Create(o.t.Context(), d))
	return d
}

// Two managers share the databases of a namespace. Each database waits for one of the other manager. An event wakes
// it, because the resync is an hour.
func TestShardsWakeEachOther(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	owners := []*testv1.Database{o.inShard("a", "a-owner", "", 0), o.inShard("b", "b-owner", "", 0)}
	o.inShard("a", "a-waiter", "b-owner", 1)
	o.inShard("b", "b-waiter", "a-owner", 1)
	o.shard("a", false)
	o.shard("b", false)
	for _, waiter := range []string{"a-waiter", "b-waiter"} {
		o.until(waiter, "False OwnerNotReady")
	}
	for _, owner := range owners {
		must(t, api.Patch(t.Context(), owner, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"size":1}}`))))
	}
	for _, waiter := range []string{"a-waiter", "b-waiter"} {
		o.until(waiter, "True Succeeded")
	}
	asked := o.asked()
	slices.Sort(asked)
	asked = slices.Compact(asked) // an event between the registration of an owner and its read adds a pass
	same(t, "each manager applies the databases of its shard only",
		[]string{"a puts a-owner", "a puts a-waiter", "b puts b-owner", "b puts b-waiter"}, asked)
	must(t, api.Patch(t.Context(), owners[0], client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"shard":"b"}}}`))))
	o.eventually("the label names another manager, which ignored the database", func() bool { return slices.Contains(o.asked(), "b puts a-owner") })
}

// A database gets the label of another shard. The cache of the first shard reports a deletion, and the database still
// exists: the first shard deletes nothing, and its pass does not fail.
func TestDatabaseChangesShard(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	d := o.inShard("a", "db", "", 1)
	o.shard("a", true)
	o.until("db", "True Succeeded")
	passes := func() (n, failed float64) {
		got := seriesOf(t, o.controller("a"))
		for _, result := range []string{"success", "error", "requeue", "requeue_after"} {
			n += got["reconcile_total "+result]
		}
		return n, got["reconcile_total error"]
	}
	before, _ := passes()
	must(t, api.Patch(t.Context(), d, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"shard":"b"}}}`))))
	if err := apiserver.Until(t.Context(), func(context.Context) (bool, error) {
		n, _ := passes()
		return n > before, nil
	}); err != nil {
		t.Fatal("no pass follows the change of the shard")
	}
	o.shard("b", true)
	must(t, api.Delete(t.Context(), d))
	o.until("db", "gone")
	if _, failed := passes(); failed > 0 {
		t.Errorf("%v passes of the first shard failed", failed)
	}
	same(t, "only the second shard deletes", []string{"a puts db", "b deletes db"}, o.asked())
}
