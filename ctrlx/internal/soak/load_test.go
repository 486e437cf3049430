package soak_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// load simulates users who create, change, delete and recreate databases, and
// owners that stop and run.
type load struct {
	t         *testing.T
	namespace string
	names     []string
	clusters  int
	rand      *rand.Rand
	pace      time.Duration // longest pause between two actions on a name
	calm      bool          // clusters keep running, and no other controller writes a status

	sizes atomic.Int64 // gives each spec another size
	did   atomic.Int64
	anew  atomic.Int64
}

const deletes = 15 // percentage of actions that are deletions

func newLoad(t *testing.T, r *rand.Rand, namespace string, names, clusters int) *load {
	l := &load{t: t, namespace: namespace, clusters: clusters, rand: rand.New(rand.NewPCG(r.Uint64(), 6)), pace: 300 * time.Millisecond}
	for i := range names {
		l.names = append(l.names, fmt.Sprintf("db-%d", i))
	}
	for i := range clusters {
		makeCluster(t, namespace, fmt.Sprintf("c%d", i), "Running")
	}
	return l
}

// run acts until the context ends. Then all clusters run, and some databases
// stay deleted. It reports for each name whether its database exists.
func (l *load) run(ctx context.Context) (there map[string]bool) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	there = map[string]bool{}
	for i, name := range l.names {
		r := rand.New(rand.NewPCG(l.rand.Uint64(), 3))
		wg.Go(func() {
			left := l.name(ctx, r, name, fmt.Sprintf("c%d", i%l.clusters))
			mu.Lock()
			defer mu.Unlock()
			there[name] = left
		})
	}
	for i := range l.clusters {
		if l.calm {
			break
		}
		r := rand.New(rand.NewPCG(l.rand.Uint64(), 4))
		wg.Go(func() { l.cluster(ctx, r, fmt.Sprintf("c%d", i)) })
	}
	wg.Wait()
	return there
}

// cluster stops and starts a cluster in turn.
func (l *load) cluster(ctx context.Context, r *rand.Rand, name string) {
	for pause(ctx, r, 10*l.pace) {
		report(l.t, l.namespace, name, "Stopped")
		pause(ctx, r, l.pace)
		report(l.t, l.namespace, name, "Running")
	}
}

// name acts on a name, and reports whether a database of this name exists at
// the end.
func (l *load) name(ctx context.Context, r *rand.Rand, name, cluster string) bool {
	background := context.Background() // an action that has begun is completed
	l.create(background, name, cluster)
	key := client.ObjectKey{Namespace: l.namespace, Name: name}
	for pause(ctx, r, l.pace) {
		l.did.Add(1)
		d := &testv1.Database{}
		if err := api.Get(background, key, d); err != nil {
			l.t.Error(err)
			return true
		}
		switch n := r.IntN(100); {
		case n < deletes:
			l.remove(background, d)
			l.anew.Add(1)
			l.create(background, name, cluster)
		case n < deletes+20 && !l.calm:
			l.foreign(background, d)
		default:
			patch := fmt.Appendf(nil, `{"spec":{"size":%d}}`, l.sizes.Add(1))
			if err := api.Patch(background, d, client.RawPatch(types.MergePatchType, patch)); err != nil {
				l.t.Error(err)
			}
		}
	}
	if r.IntN(4) > 0 {
		return true
	}
	l.delete(background, &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}})
	return false
}

// pause waits for a random time, and reports whether the load continues.
func pause(ctx context.Context, r *rand.Rand, most time.Duration) bool {
	select {
	case <-time.After(between(r, most/10, most)):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func (l *load) create(ctx context.Context, name, cluster string) {
	d := &testv1.Database{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name},
		Spec:       testv1.DatabaseSpec{Cluster: cluster, Size: int(l.sizes.Add(1))},
	}
	if err := api.Create(ctx, d); err != nil {
		l.t.Errorf("%s: %v", name, err)
	}
}

// delete deletes an object in its present version. Without a version in the
// request, a resource would now and then be left in the cloud. The API server
// checks finalizers and deletes in two steps, and ignores a finalizer that is
// added in between.
func (l *load) delete(ctx context.Context, d database) {
	for {
		if err := api.Get(ctx, client.ObjectKeyFromObject(d), d); err != nil {
			l.t.Error(err)
			return
		}
		err := api.Delete(ctx, d, client.Preconditions{UID: &d.UID, ResourceVersion: &d.ResourceVersion})
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			l.t.Error(err)
			return
		}
	}
}

// remove deletes an object and waits until it is gone.
func (l *load) remove(ctx context.Context, d database) {
	l.delete(ctx, d)
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := api.Get(ctx, client.ObjectKeyFromObject(d), &testv1.Database{})
		if apierrors.IsNotFound(err) {
			return
		}
		if err != nil || time.Now().After(end) {
			l.t.Errorf("%s is not deleted: %v", d.Name, err)
			return
		}
	}
}

const foreignCondition = "Foreign"

// foreign writes a condition as another controller does, with a higher number
// each time.
func (l *load) foreign(ctx context.Context, d database) {
	meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
		Type: foreignCondition, Status: metav1.ConditionTrue, Reason: "Counted", Message: fmt.Sprintf("%06d", l.sizes.Add(1)),
	})
	if err := api.Status().Update(ctx, d); err != nil && !apierrors.IsConflict(err) {
		l.t.Error(err)
	}
}

func makeCluster(t *testing.T, namespace, name, state string) {
	t.Helper()
	if err := api.Create(context.Background(), &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}); err != nil {
		t.Fatal(err)
	}
	report(t, namespace, name, state)
}

// report writes the status that the cluster's own operator would write: the
// cluster is ready in the state Running.
func report(t *testing.T, namespace, name, state string) {
	t.Helper()
	if err := tryReport(namespace, name, state); err != nil {
		t.Errorf("%s %s: %v", name, state, err)
	}
}

func tryReport(namespace, name, state string) error {
	c := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return api.Status().Patch(context.Background(), c, reported(state))
}

// reported returns the patch of a status that reports a state.
func reported(state string) client.Patch {
	status := metav1.ConditionFalse
	if state == "Running" {
		status = metav1.ConditionTrue
	}
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status":{"state":%q,"conditions":[{"type":"Ready","status":%q,"reason":%q,"message":"",`+
		`"observedGeneration":1,"lastTransitionTime":%q}]}}`, state, status, state, time.Now().UTC().Format(time.RFC3339)))
}

// settle waits until each database is ready at its last generation, and the
// cloud matches the specs. No trace of a deleted database may be left.
func (l *load) settle(t *testing.T, c *cloud, there map[string]bool) {
	t.Helper()
	until(t, *patience, func() error {
		list := &testv1.DatabaseList{}
		if err := api.List(t.Context(), list, client.InNamespace(l.namespace)); err != nil {
			return err
		}
		var missing []error
		live := map[types.UID]database{}
		for i := range list.Items {
			d := &list.Items[i]
			live[d.UID] = d
			if !there[d.Name] {
				missing = append(missing, fmt.Errorf("%s was deleted, but it exists with the finalizers %q", d.Name, d.Finalizers))
			} else if !readyNow(d) {
				missing = append(missing, fmt.Errorf("%s is not ready at generation %d: %+v, %v", d.Name, d.Generation, d.Status, d.Annotations))
			}
		}
		for name, is := range there {
			if is && !hasName(list, name) {
				missing = append(missing, fmt.Errorf("%s does not exist", name))
			}
		}
		return errors.Join(append(missing, c.matches(live)...)...)
	})
}

func hasName(list *testv1.DatabaseList, name string) bool {
	for i := range list.Items {
		if list.Items[i].Name == name {
			return true
		}
	}
	return false
}

// readyNow reports whether a database is ready for its present spec. No
// condition of an operation or of progress may be left.
func readyNow(d database) bool {
	c := meta.FindStatusCondition(d.Status.Conditions, "Ready")
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == d.Generation && d.Status.Size == d.Spec.Size &&
		!underWay(meta.FindStatusCondition(d.Status.Conditions, ctrlx.ConditionRecord)) && !meta.IsStatusConditionTrue(d.Status.Conditions, "Reconciling")
}

// underWay reports whether a record stores an operation under way.
func underWay(record *metav1.Condition) bool {
	return record != nil && record.Reason == ctrlx.ReasonOperationUnderWay
}

// blockedNow reports whether the owner blocks a database, for its present spec.
func blockedNow(d database) bool {
	c := meta.FindStatusCondition(d.Status.Conditions, "Ready")
	return c != nil && c.Status == metav1.ConditionFalse && c.Reason == checks.ReasonOwnerNotReady && c.ObservedGeneration == d.Generation
}

// matches returns the differences between the cloud and the live databases.
func (c *cloud) matches(live map[types.UID]database) (missing []error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for uid, th := range c.things {
		th.catchUp(now)
		d := live[uid]
		switch {
		case th.op != nil:
			missing = append(missing, fmt.Errorf("an operation of %s is under way", uid))
		case d == nil && th.exists:
			missing = append(missing, fmt.Errorf("%s was deleted, but its resource exists in the cloud: %q", uid, th.history))
		case d != nil && (!th.exists || th.size != d.Spec.Size):
			missing = append(missing, fmt.Errorf("%s has size %d in the cloud (exists: %t), want %d", d.Name, th.size, th.exists, d.Spec.Size))
		}
	}
	return missing
}

// isGone returns an error if the cloud still has a resource or an operation of
// a deleted database.
func (c *cloud) isGone(uid types.UID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	th := c.things[uid]
	if th == nil {
		return nil
	}
	th.catchUp(time.Now())
	switch {
	case th.op != nil:
		return fmt.Errorf("an operation is under way in the cloud: %q", th.history)
	case th.exists:
		return fmt.Errorf("its resource exists in the cloud: %q", th.history)
	}
	return nil
}

// guard watches the databases of a namespace.
type guard struct {
	c     *cloud
	seen  map[types.UID]*watched
	kept  int // number of tokens
	ready int

	vanished int // objects that the API server deleted with a finalizer

	version string // the last version that was seen
}

// watched is the record of an object.
type watched struct {
	specs   map[int64]int // by generation
	sizes   map[int]bool
	foreign string
}

// watchOver starts a guard, which watches until the test ends.
func watchOver(t *testing.T, c *cloud, namespace string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	g := &guard{c: c, seen: map[types.UID]*watched{}}
	list := &testv1.DatabaseList{}
	if err := api.List(ctx, list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	g.version = list.ResourceVersion
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			g.watch(ctx, namespace)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		c.soFar(t)
		t.Logf("the guard has seen %d objects, tokens %d times, readiness %d times; %d objects vanished", len(g.seen), g.kept, g.ready, g.vanished)
	})
}

// watch continues where the last watch ended. The API server may close a watch
// when it is busy.
func (g *guard) watch(ctx context.Context, namespace string) {
	w, err := api.Watch(ctx, &testv1.DatabaseList{}, client.InNamespace(namespace), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: g.version}})
	if err != nil {
		return
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		switch d, ok := e.Object.(*testv1.Database); {
		case ok:
			g.version = d.ResourceVersion
			if e.Type == watch.Deleted && d.DeletionTimestamp.IsZero() && len(d.Finalizers) > 0 {
				g.vanished++
			}
			if e.Type != watch.Deleted {
				g.look(d)
			} else if err := g.c.isGone(d.UID); err != nil {
				g.c.saysWrong("%s is deleted: %v", d.Name, err)
			}
		case apierrors.IsGone(apierrors.FromObject(e.Object)) || apierrors.IsResourceExpired(apierrors.FromObject(e.Object)):
			g.c.saysWrong("the guard has missed an event: %v", e.Object)
			g.version = ""
			return
		default:
			return
		}
	}
}

func (g *guard) look(d database) {
	s := g.seen[d.UID]
	if s == nil {
		s = &watched{specs: map[int64]int{}, sizes: map[int]bool{0: true}}
		g.seen[d.UID] = s
	}
	s.specs[d.Generation], s.sizes[d.Spec.Size] = d.Spec.Size, true
	if op := meta.FindStatusCondition(d.Status.Conditions, ctrlx.ConditionRecord); underWay(op) {
		g.kept++
		if strings.Count(op.Message, string(d.UID)) < 2 { // the UID, and the UID in the token
			g.c.saysWrong("%s %s has the operation of another object: %s", d.Name, d.UID, op.Message)
		}
	}
	if !s.sizes[d.Status.Size] {
		g.c.saysWrong("%s %s has the status of another object: size %d", d.Name, d.UID, d.Status.Size)
	}
	if c := meta.FindStatusCondition(d.Status.Conditions, "Ready"); c != nil && c.Status == metav1.ConditionTrue {
		g.ready++
		if want, ok := s.specs[c.ObservedGeneration]; ok && want != d.Status.Size {
			g.c.saysWrong("%s %s is ready for generation %d of size %d, but its status has size %d", d.Name, d.UID, c.ObservedGeneration, want, d.Status.Size)
		}
	}
	now := ""
	if c := meta.FindStatusCondition(d.Status.Conditions, foreignCondition); c != nil {
		now = c.Message
	}
	if now < s.foreign {
		g.c.saysWrong("%s %s: the condition of another controller was reset from %q to %q", d.Name, d.UID, s.foreign, now)
	}
	s.foreign = now
}
