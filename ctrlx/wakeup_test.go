package ctrlx_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

var (
	manyWaiters = flag.Int("waiters", 1000, "how many databases wait in BenchmarkWakeUp, and are looked at in BenchmarkController")
	manyWorkers = flag.Int("workers", 4, "how many passes run at once there")
)

// timed is a queue that notes when passes start and end.
type timed struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	mu     sync.Mutex
	starts []time.Time
	ended  int
	wanted int
	done   chan struct{} // closed when as many passes have ended as were wanted
}

func (q *timed) GetWithPriority() (req reconcile.Request, priority int, shutdown bool) {
	req, priority, shutdown = q.PriorityQueue.GetWithPriority()
	if shutdown {
		return req, priority, shutdown
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.starts = append(q.starts, time.Now())
	return req, priority, shutdown
}

func (q *timed) Done(req reconcile.Request) {
	q.PriorityQueue.Done(req)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended++; q.ended == q.wanted {
		close(q.done)
	}
}

// expect begins to note n passes.
func (q *timed) expect(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.starts, q.ended, q.wanted, q.done = make([]time.Time, 0, n), 0, n, make(chan struct{})
}

// wait waits for them.
func (q *timed) wait(b *testing.B) {
	b.Helper()
	select {
	case <-q.done:
	case <-time.After(5 * time.Minute):
		q.mu.Lock()
		defer q.mu.Unlock()
		b.Fatalf("of %d passes %d have come", q.wanted, q.ended)
	}
}

// side is a manager with a controller for the databases of a namespace, which have one cluster.
type side struct {
	b         *testing.B
	name      string
	namespace string
	queue     *timed
	requests  []reconcile.Request
	owner     *testv1.Cluster
	cached    client.Client
	passes    reconcile.Reconciler
	stop      func()  // of the manager
	bytes     float64 // of the heap for each database, the cache included
}

// options returns the options of the controllers of all sides.
func (s *side) options() controller.Options {
	return controller.Options{MaxConcurrentReconciles: *manyWorkers, NewQueue: func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		s.queue.PriorityQueue = priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter })
		return s.queue
	}}
}

// newSide makes the objects of one and starts it.
func newSide(b *testing.B, name, state string, setUp func(*side, manager.Manager) error) *side {
	b.Helper()
	s := &side{b: b, name: name, namespace: namespace(b), queue: &timed{}, stop: func() {}}
	s.owner = &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "prod"}}
	s.must(api.Create(b.Context(), s.owner))
	s.report(state)
	owners := []metav1.OwnerReference{*metav1.NewControllerRef(s.owner, testv1.GroupVersion.WithKind("Cluster"))}
	for i := range *manyWaiters {
		s.requests = append(s.requests, reconcile.Request{NamespacedName: keyOf(s.namespace, fmt.Sprintf("db-%05d", i))})
	}
	createAll(b, len(s.requests), func(i int) client.Object {
		return &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.requests[i].Name, OwnerReferences: owners}, Spec: testv1.DatabaseSpec{Size: 1}}
	})
	b.Cleanup(func() { s.stop() })
	s.start(setUp)
	return s
}

// start starts the manager, and waits until there was a pass over each database. It returns
// the processor time of this process until then.
func (s *side) start(setUp func(*side, manager.Manager) error) (cpu time.Duration) {
	s.b.Helper()
	before := ratio.Heap()
	from := processCPU()
	yes := true
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:     scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
		Controller: ctrlconfig.Controller{SkipNameValidation: &yes},
	})
	s.must(err)
	s.cached = mgr.GetClient()
	s.must(setUp(s, mgr))
	s.queue.expect(len(s.requests))
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-stopped; err != nil {
			s.b.Error(err)
		}
	})
	s.queue.wait(s.b)
	cpu = processCPU() - from
	s.settle()
	s.bytes = (ratio.Heap() - before) / float64(len(s.requests))
	return cpu
}

func (s *side) must(err error) {
	s.b.Helper()
	if err != nil {
		s.b.Fatalf("%s: %v", s.name, err)
	}
}

// report writes the status of the cluster, and returns when that is written.
func (s *side) report(state string) {
	s.b.Helper()
	s.owner.Status.State = state
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: state, Message: "it is " + state, ObservedGeneration: s.owner.Generation}
	if state == "Running" {
		ready.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&s.owner.Status.Conditions, ready)
	s.must(api.Status().Update(s.b.Context(), s.owner))
}

// settle waits until no pass is under way or to come, and the cache has all that was written.
func (s *side) settle() {
	s.b.Helper()
	version := func(r client.Reader) string {
		list := &testv1.DatabaseList{}
		s.must(r.List(s.b.Context(), list, client.InNamespace(s.namespace)))
		slices.SortFunc(list.Items, func(a, b testv1.Database) int { return strings.Compare(a.Name, b.Name) })
		var all strings.Builder
		for _, d := range list.Items {
			all.WriteString(d.ResourceVersion + " ")
		}
		return all.String()
	}
	s.must(wait.PollUntilContextTimeout(s.b.Context(), 100*time.Millisecond, time.Minute, false, func(context.Context) (bool, error) {
		s.queue.mu.Lock()
		idle := s.queue.ended == len(s.queue.starts)
		s.queue.mu.Unlock()
		return idle && s.queue.Len() == 0 && version(api) == version(s.cached), nil
	}))
}

// woken is when passes came to start, since the write of the owner's status has returned.
type woken struct{ median, last time.Duration }

// wake changes the owner, and waits for a pass over each database.
func (s *side) wake(state string) woken {
	s.b.Helper()
	s.queue.expect(len(s.requests))
	runtime.GC()
	s.report(state)
	written := time.Now()
	s.queue.wait(s.b)
	s.settle()
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	since := func(i int) time.Duration { return s.queue.starts[i].Sub(written) }
	n := len(s.requests)
	return woken{since(n / 2), since(n - 1)}
}

// cpu returns the processor time of this process for a pass over each database.
func (s *side) cpu() time.Duration {
	s.b.Helper()
	s.queue.expect(len(s.requests))
	runtime.GC()
	before := processCPU()
	s.queue.PriorityQueue.AddWithOpts(priorityqueue.AddOpts{}, s.requests...)
	s.queue.wait(s.b)
	return (processCPU() - before) / time.Duration(len(s.requests))
}

// pass is one over the first database, outside of the controller.
func (s *side) pass() {
	if _, err := s.passes.Reconcile(context.Background(), s.requests[0]); err != nil {
		panic(err)
	}
}

func processCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// adapter is the side of this package.
func adapter(guards checks.OwnerChain, opts ...ctrlx.Option) func(*side, manager.Manager) error {
	return func(s *side, mgr manager.Manager) error {
		r := ctrlx.New("Database", databases{Apply: put, Get: inSync}, extensions{OwnerCheck: guards}, append(opts, ctrlx.WithController(s.options()))...)
		s.passes = r
		return r.SetupWithManager(mgr)
	}
}

// byHand is a side with the bare reconciler, and whatever else asks for its passes.
func byHand(objects func(*testv1.Cluster) (reason, message string), also func(*side, manager.Manager, *builder.Builder) error) func(*side, manager.Manager) error {
	return func(s *side, mgr manager.Manager) error {
		b := ctrl.NewControllerManagedBy(mgr).Named("bare").For(&testv1.Database{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).WithOptions(s.options())
		if also != nil {
			if err := also(s, mgr, b); err != nil {
				return err
			}
		}
		s.passes = &bare{Client: mgr.GetClient(), objects: objects}
		return b.Complete(s.passes)
	}
}

// mapped is the usual way: a field index of the cache, and a function that lists by it.
func mapped(_ *side, mgr manager.Manager, b *builder.Builder) error {
	const owner = "owner"
	b.Watches(&testv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, c client.Object) (reqs []reconcile.Request) {
		list := &testv1.DatabaseList{}
		if err := mgr.GetClient().List(ctx, list, client.InNamespace(c.GetNamespace()), client.MatchingFields{owner: c.GetName()}); err != nil {
			panic(err)
		}
		for _, d := range list.Items {
			reqs = append(reqs, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&d)})
		}
		return reqs
	}))
	return mgr.GetFieldIndexer().IndexField(context.Background(), &testv1.Database{}, owner, func(d client.Object) []string {
		return []string{metav1.GetControllerOfNoCopy(d).Name}
	})
}

// BenchmarkWakeUp measures when the passes over all waiters of an owner start, after
// the write of its status has returned. It compares ctrlx with the usual way. Both run
// in turn on the same API server. An iteration has several rounds, and the medians count.
func BenchmarkWakeUp(b *testing.B) {
	b.Run("no-IO", func(b *testing.B) { // the passes write nothing
		never := func(*testv1.Cluster) (reason, message string) { return "Never", "for ever" }
		guards := chain.New(checks.Check("Never", func(_ context.Context, req *checks.OwnerRequest) (checks.Result, error) {
			return checks.Block("Never", "for ever", checks.WithWaitingFor(req.Owner.Ref)), nil
		}))
		sides := []*side{newSide(b, "ctrlx", "Creating", adapter(guards)), newSide(b, "map function", "Creating", byHand(never, mapped))}
		rounds := make([][]woken, len(sides))
		for b.Loop() {
			for n := range wakeRounds {
				for i := range sides {
					i = (i + n) % len(sides) // none is always the first
					rounds[i] = append(rounds[i], sides[i].wake(fmt.Sprint("Step", len(rounds[i]))))
				}
			}
		}
		for waiter, of := range map[string]func(woken) time.Duration{
			"median": func(w woken) time.Duration { return w.median }, "last": func(w woken) time.Duration { return w.last },
		} {
			ours, theirs := median(rounds[0], of), median(rounds[1], of)
			b.ReportMetric(float64(ours)/float64(theirs), "x-map-function-"+waiter)
			b.ReportMetric(ours.Seconds()*1000, "ms-"+waiter)
		}
		b.ReportMetric(0, "ns/op")
	})
}

// The rounds of an iteration. The first ones also measure the events of the passes of
// the set-up, which client-go still sends.
const wakeRounds, cpuRounds = 7, 30

func median(all []woken, of func(woken) time.Duration) time.Duration {
	var ds []time.Duration
	for _, w := range all {
		ds = append(ds, of(w))
	}
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// BenchmarkWaiterMemory measures the heap of a manager for each waiter, the cache
// included. The reconciler by hand writes no events. So one side of ctrlx writes
// none, and the other one shows what client-go keeps of an event for some minutes.
func BenchmarkWaiterMemory(b *testing.B) {
	guards := chain.New(checks.OwnerReady())
	newSide(b, "warm up", "Creating", adapter(guards)) // types and requests that are cached once in a process
	for b.Loop() {
		of := newSide(b, "by hand", "Creating", byHand(notReady, mapped)).bytes
		without := newSide(b, "without events", "Creating", adapter(guards, ctrlx.WithoutEvents())).bytes
		with := newSide(b, "ctrlx", "Creating", adapter(guards)).bytes
		b.ReportMetric(of, "B/waiter-by-hand")
		b.ReportMetric(without/of, "x-without-events")
		b.ReportMetric(with/of, "x-with-events")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkRestart measures the processor time of an operator from its start until there was
// a pass over each of its settled objects: the lists of the cache, and the first passes. The
// least of some restarts counts. The digest of the executable, which a process computes once,
// is not in it.
func BenchmarkRestart(b *testing.B) {
	setUps := []func(*side, manager.Manager) error{adapter(chain.New(checks.OwnerReady())), byHand(notReady, nil)}
	defer func(n int) { *manyWaiters = n }(*manyWaiters)
	*manyWaiters *= 5
	for b.Loop() {
		var best [2]time.Duration
		for i, setUp := range setUps {
			s := newSide(b, fmt.Sprint(i), "Running", setUp)
			for range 5 {
				s.stop()
				if took := s.start(setUp); best[i] == 0 || took < best[i] {
					best[i] = took
				}
			}
			s.stop()
		}
		n := time.Duration(*manyWaiters)
		b.ReportMetric(float64((best[0]/n).Nanoseconds())/1e3, "µs-CPU/object")
		b.ReportMetric(float64((best[1]/n).Nanoseconds())/1e3, "µs-CPU/object-by-hand")
		b.ReportMetric(float64(best[0])/float64(best[1]), "x-by-hand")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkController measures the processor time of a steady pass with its queue,
// worker, cache, logs and metrics, and the time of the function alone with the
// manager's own client. The fastest round counts, because other work may run on the
// machine.
func BenchmarkController(b *testing.B) {
	for _, name := range []string{"Owner", "Blocked"} {
		b.Run(name, func(b *testing.B) {
			sides := []*side{
				newSide(b, "ctrlx", steady[name].owner, adapter(chain.New(checks.OwnerReady()))),
				newSide(b, "by hand", steady[name].owner, byHand(notReady, nil)),
			}
			var best [2]time.Duration
			for b.Loop() {
				for n := range cpuRounds {
					for i := range sides {
						i = (i + n) % len(sides)
						if took := sides[i].cpu(); best[i] == 0 || took < best[i] {
							best[i] = took
						}
					}
				}
			}
			b.ReportMetric(best[0].Seconds()*1e6, "µs-CPU/pass")
			b.ReportMetric(best[1].Seconds()*1e6, "µs-CPU/pass-by-hand")
			b.ReportMetric(float64(best[0])/float64(best[1]), "x-by-hand")
			b.ReportMetric(ratio.Of(sides[0].pass, sides[1].pass, ratio.Options{Samples: 200}), "x-by-hand-function")
			b.ReportMetric(0, "ns/op")
		})
	}
}

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

// While the watch of clusters is dead, a cluster becomes ready, and the cache does not
// have it. A live read wakes all waiters, and they do not read the stale copy. A live
// read in the middle of a pass wakes its object again, which the number of the passes
// shows on a slow machine. The event that comes late wakes no waiter.
func TestDeadWatch(t *testing.T) {
	t.Parallel()
	const n = 5
	o := newOperator(t)
	c := o.cluster("prod", "Creating")
	for i := range n {
		o.database(fmt.Sprintf("db-%d", i), "prod")
	}
	o.start(ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.WithOwner(clusterOf), ctrlx.WithPollInterval(4*time.Second), ctrlx.WithSyncTimeout(time.Minute)))
	for i := range n {
		o.until(fmt.Sprintf("db-%d", i), "False OwnerNotReady")
	}
	o.traffic.take(t)
	mend := o.traffic.breakWatches("clusters")
	defer mend()
	o.report(c, "Running")
	for i := range n {
		o.until(fmt.Sprintf("db-%d", i), "True Succeeded")
	}
	writes := cmpopts.IgnoreMapEntries(func(what string, _ int) bool {
		return what == "GET discovery" || what[:5] == "WATCH" || what == "GET clusters" || what == "GET databases"
	})
	same(t, "what was asked of the API server", map[string]int{"PATCH databases/status": n, "PATCH databases": n, "POST events": n}, o.traffic.take(t), writes)
	puts := o.asked()
	mend()
	if diff := cmp.Diff(map[string]int{}, o.traffic.take(t), writes, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("what the late event caused: -want, +got:\n%s", diff)
	}
	same(t, "the late event causes no pass", puts, o.asked())
}

// deafBody is the stream of events of a watch.
type deafBody struct {
	*traffic
	what string
	io.ReadCloser
}

func (b *deafBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	deaf, deafTo := b.deaf, b.deafTo
	b.mu.Unlock()
	if deaf != nil && deafTo == b.what {
		<-deaf
	}
	return n, err
}

// breakWatches makes the watches of a resource deaf until it is told to mend them.
func (t *traffic) breakWatches(resource string) (mend func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	deaf := make(chan struct{})
	t.deaf, t.deafTo = deaf, "WATCH "+resource
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.deaf = nil
		close(deaf)
	})
}

// Clusters become ready while the databases that wait for them come, and a third of them go back and forth meanwhile. No pass
// polls, so a lost wake-up stays lost.
func TestRaces(t *testing.T) {
	t.Parallel()
	const owners, waiters = 20, 500
	o := newOperator(t)
	operations := flow.Operations[*testv1.Database]{Apply: o.operations().Apply} // without a finalizer there is one write less
	o.start(ctrlx.New("Database", operations, waitsForCluster, ctrlx.WithOwner(clusterOf),
		ctrlx.WithController(controller.Options{MaxConcurrentReconciles: 8})))
	var clusters [owners]*testv1.Cluster
	for i := range clusters {
		clusters[i] = o.cluster(fmt.Sprintf("c%d", i), "Stopped")
	}
	var come [owners]atomic.Int64
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := part; i < waiters; i += 4 {
				at := i * owners / waiters // those of one cluster come one after the other
				o.database(fmt.Sprintf("db-%d", i), fmt.Sprintf("c%d", at))
				if come[at].Add(1) != waiters/owners/2 {
					continue
				}
				wg.Go(func() { // half of them have come, and passes over them are under way
					o.report(clusters[at], "Running")
					if at%3 == 0 {
						o.report(clusters[at], "Stopped")
						o.report(clusters[at], "Running")
					}
				})
			}
		})
	}
	wg.Wait()
	var lost []string
	err := apiserver.Until(t.Context(), func(ctx context.Context) (bool, error) {
		list := &testv1.DatabaseList{}
		if err := api.List(ctx, list, client.InNamespace(o.namespace)); err != nil || len(list.Items) != waiters {
			return false, err
		}
		lost = nil
		for _, d := range list.Items {
			if !meta.IsStatusConditionTrue(d.Status.Conditions, "Ready") {
				lost = append(lost, fmt.Sprintf("%s: %+v", d.Name, d.Status))
			}
		}
		return len(lost) == 0, nil
	})
	if err != nil {
		t.Errorf("%v: lost: %q", err, lost)
	}
}

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
