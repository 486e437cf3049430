package soak_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

var (
	long = flag.Bool("soak", false, "run the tests: make soak")
	seed = flag.Uint64("seed", 0, "seed of the random numbers of TestKilled; 0: a new one for each run")
)

func TestMain(m *testing.M) { apiserver.Main(m) }

// soaks skips a test that draws new cases in each run: one that fails by chance says nothing about an edit.
func soaks(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("make soak runs it")
	}
}

// world is the namespace of TestKilled.
type world struct {
	t         *testing.T
	api       client.Client
	c         *cloud
	namespace string
	names     []string
	rand      *rand.Rand
	size      int // of the last spec, so that each one has another size
}

// TestKilled kills the operator on a real API server, again and again before or after any
// call of the cloud, while users edit databases, delete them and create them again.
func TestKilled(t *testing.T) {
	soaks(t)
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", *seed)
	config, api := apiserver.Start(apiserver.Scheme(), testv1.Definitions())
	w := &world{t: t, api: api, c: newCloud(*seed, 10*time.Millisecond, 300*time.Millisecond), namespace: apiserver.Namespace(t, api), rand: rand.New(rand.NewPCG(*seed, 1))}
	for i := range 4 {
		w.must(api.Create(t.Context(), &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: fmt.Sprint("c", i)}}))
	}
	for i := range 16 {
		w.names = append(w.names, fmt.Sprint("db-", i))
	}
	const kills = 200
	g := newGuard(w.c)
	for i := range kills + 1 {
		o := &operator{name: fmt.Sprint("process ", i), namespace: w.namespace, gets: true, guard: g}
		o.ask = func(q question) (answer, error) { return w.c.ask(q), nil }
		if i < kills {
			o.kill(1 + w.rand.IntN(200))
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- o.run(ctx, config) }()
		w.act()
		w.until(func() error {
			if o.isDead() {
				return nil
			}
			return w.settled()
		})
		if i == kills {
			for _, name := range w.names {
				w.must(client.IgnoreNotFound(api.Delete(t.Context(), w.database(name))))
			}
			w.names = nil
			w.until(w.settled)
		}
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, errKilled) {
			t.Errorf("%s ended: %v", o.name, err)
		}
	}
	for _, wrong := range w.c.observed(true) {
		t.Error(wrong)
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) until(missing func() error) {
	w.t.Helper()
	var err error
	if apiserver.Until(w.t.Context(), func(context.Context) (bool, error) { err = missing(); return err == nil, nil }) != nil {
		w.t.Fatal(err)
	}
}

func (w *world) database(name string) database {
	return &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
}

// act does what users do. A cluster is stopped meanwhile.
func (w *world) act() {
	cluster := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: fmt.Sprint("c", w.rand.IntN(4))}}
	label := func(stops string) {
		w.must(w.api.Patch(w.t.Context(), cluster, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, stopped, stops))))
	}
	label("yes")
	for i, name := range w.names {
		d := w.database(name)
		w.size++
		switch err := w.api.Get(w.t.Context(), client.ObjectKeyFromObject(d), d); {
		case apierrors.IsNotFound(err):
			d.Spec = testv1.DatabaseSpec{Cluster: "c" + strconv.Itoa(i%4), Size: w.size}
			w.must(w.api.Create(w.t.Context(), d))
		case err != nil:
			w.t.Fatal(err)
		case w.rand.IntN(4) == 0:
			// Without a version in the request, a resource would now and then be left in the cloud: the API server checks
			// finalizers and deletes in two steps, and ignores a finalizer that is added in between.
			err := w.api.Delete(w.t.Context(), d, client.Preconditions{UID: &d.UID, ResourceVersion: &d.ResourceVersion})
			if err != nil && !apierrors.IsConflict(err) {
				w.must(client.IgnoreNotFound(err))
			}
		default:
			w.must(client.IgnoreNotFound(w.api.Patch(w.t.Context(), d, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"size":%d}}`, w.size)))))
		}
	}
	label("no")
}

// settled returns an error unless each database is Ready at its last generation, and the
// cloud has it, or it is gone from both.
func (w *world) settled() error {
	list := &testv1.DatabaseList{}
	w.must(w.api.List(w.t.Context(), list, client.InNamespace(w.namespace)))
	sizes := map[types.UID]int{}
	for i := range list.Items {
		d := &list.Items[i]
		sizes[d.UID] = d.Spec.Size
		c := meta.FindStatusCondition(d.Status.Conditions, "Ready")
		if d.DeletionTimestamp != nil || w.names == nil || c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != d.Generation ||
			d.Status.Size != d.Spec.Size || meta.IsStatusConditionTrue(d.Status.Conditions, "Reconciling") {
			return fmt.Errorf("%s, of generation %d, with the finalizers %q: %+v", d.Name, d.Generation, d.Finalizers, d.Status)
		}
	}
	for _, uid := range w.c.uids() {
		if err := w.c.isAs(uid, sizes[uid]); err != nil {
			return err
		}
	}
	return nil
}
