package ctrlx_test

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

// BenchmarkScale compares the costs of an object among 100,000 objects with those among
// 10,000. The objects are Ready, and each follows its owner, which has 100 of them.
func BenchmarkScale(b *testing.B) {
	for b.Loop() {
		few, many := scaleOf(b, 10_000), scaleOf(b, 100_000)
		b.Logf("for each of 10,000 objects: %+v\nfor each of 100,000 objects: %+v", few, many)
		b.ReportMetric(float64(many.pass)/float64(few.pass), "x-pass")
		b.ReportMetric(float64(many.restart)/float64(few.restart), "x-restart")
		b.ReportMetric(many.bytes/few.bytes, "x-heap")
		b.ReportMetric(many.bytes, "B/object")
	}
	b.ReportMetric(0, "ns/op")
}

// scale has the costs of each object of an operator.
type scale struct {
	first, pass, restart time.Duration // the pass that writes the status, a later one, and the first one of another process
	bytes                float64       // the heap of the operator, without the cache
}

// scaleOf measures an operator with n objects, whose cloud and cache are in memory.
func scaleOf(b *testing.B, n int) (s scale) {
	b.Helper()
	read := &store{objects: map[reflect.Type]map[client.ObjectKey]client.Object{}}
	requests := make([]reconcile.Request, n)
	var owner *testv1.Cluster
	for i := range requests {
		if i%100 == 0 {
			owner = objects("Running")[1].(*testv1.Cluster)
			owner.Name, owner.UID = fmt.Sprint("prod-", i), types.UID(fmt.Sprint("owner-", i))
			read.put(owner)
		}
		d := cached(&testv1.Database{}, fmt.Sprint("db-", i))
		d.SetUID(types.UID(fmt.Sprint("database-", i)))
		d.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, testv1.GroupVersion.WithKind("Cluster"))})
		read.put(d)
		requests[i].NamespacedName = client.ObjectKeyFromObject(d)
	}
	asked := 0
	operator := func() reconcile.Reconciler {
		r := ctrlx.New("Database", databases{Apply: put, Get: func(ctx ctxt, req *flow.Request[*testv1.Database]) (flow.Observation, error) {
			asked++
			return inSync(ctx, req)
		}}, extensions{OwnerCheck: chain.New(checks.OwnerReady(checks.WithFollowing(true)))}, ctrlx.WithoutTelemetry())
		must(b, r.SetupWithManager(&inMemory{reader: read, client: &storeClient{store: read}}))
		return r
	}
	passes := func(r reconcile.Reconciler) time.Duration {
		start := time.Now()
		for _, req := range requests {
			if _, err := r.Reconcile(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(start) / time.Duration(n)
	}
	before, r := ratio.Heap(), operator()
	s.first = passes(r)
	s.pass = min(passes(r), passes(r))
	all := ratio.Heap() - before
	s.bytes = (all - grown(read)) / float64(n)
	if writes := read.writes.Load(); writes != int64(n) {
		b.Fatalf("%d writes of %d objects, want one of each", writes, n)
	}
	asked = 0
	s.restart = min(passes(operator()), passes(operator()))
	if asked > 0 || read.writes.Load() != int64(n) {
		b.Fatalf("a restart asked the cloud about %d objects, and wrote %d", asked, read.writes.Load()-int64(n))
	}
	return s
}

// grown returns the bytes that the conditions have added to a store.
func grown(s *store) float64 {
	bare := &store{objects: map[reflect.Type]map[client.ObjectKey]client.Object{}}
	whole := &store{objects: map[reflect.Type]map[client.ObjectKey]client.Object{}}
	size := func(to *store, change func(*testv1.Database)) float64 {
		before := ratio.Heap()
		for _, o := range s.objects[reflect.TypeFor[*testv1.Database]()] {
			d := o.DeepCopyObject().(*testv1.Database)
			change(d)
			to.put(d)
		}
		return ratio.Heap() - before
	}
	bytes := size(whole, func(*testv1.Database) {}) - size(bare, func(d *testv1.Database) { d.Status.Conditions = nil })
	runtime.KeepAlive(whole)
	runtime.KeepAlive(bare)
	return bytes
}
