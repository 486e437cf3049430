package sources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/windlass-go/windlass/ctrlx/internal/engine"
)

// notes has the events, in order.
type notes []string

func (n *notes) note(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }
func (n *notes) cause(name types.NamespacedName) { n.note("cause %s", name.Name) }

// noted fails the test if anything else happened since the last call.
func (n *notes) noted(t *testing.T, reason string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, []string(*n)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
	*n = nil
}

// noting is a queue that notes the requests that it gets.
type noting struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	*notes
}

func (q noting) Add(req reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, req) }
func (q noting) AddWithOpts(o priorityqueue.AddOpts, reqs ...reconcile.Request) {
	text := fmt.Sprintf("after %s, limited %t", o.After, o.RateLimited)
	if o.Priority != nil {
		text += fmt.Sprintf(", priority %d", *o.Priority)
	}
	for _, req := range reqs {
		q.note("%s: %s", req.Name, text)
	}
}

// idle is a manager with a cache and a scheme.
type idle struct {
	manager.Manager
	cache *informertest.FakeInformers
	log   logr.Logger
}

func (m idle) GetCache() cache.Cache      { return m.cache }
func (m idle) GetScheme() *runtime.Scheme { return m.cache.Scheme }
func (m idle) GetLogger() logr.Logger     { return m.log }
func (m idle) GetRESTMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	return mapper
}

func secret(name string, owners ...metav1.OwnerReference) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, ResourceVersion: name, OwnerReferences: owners}}
}

// TestOf verifies the events of each kind of source: what they put into the queue, and that cause comes first.
func TestOf(t *testing.T) {
	var happened notes
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mgr := idle{cache: &informertest.FakeInformers{Scheme: scheme}, log: funcr.New(func(_, args string) {
		args, _, _ = strings.Cut(args, ` "stack"=`)
		happened.note("%s", args)
	}, funcr.Options{})}
	pod := &unstructured.Unstructured{}
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	req := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "n", Name: "app"}}
	low, higher := handler.LowPriority, handler.LowPriority+1
	watches := []Watch{
		{Option: "WithOwns", Object: &corev1.Secret{}, Owned: true, Predicates: []predicate.Predicate{
			predicate.NewPredicateFuncs(func(obj client.Object) bool {
				if obj.GetName() == "broken" {
					panic("broken")
				}
				return obj.GetName() != "hidden"
			})}},
		{Option: "WithWatches", Object: pod, Events: handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
			return []reconcile.Request{req}
		})},
		{Option: "WithSource", Source: source.Func(func(_ context.Context, q engine.Queue) error {
			q.Add(req)
			q.AddAfter(req, time.Second)
			q.AddRateLimited(req)
			for _, priority := range []*int{&low, &higher} {
				q.(priorityqueue.PriorityQueue[reconcile.Request]).AddWithOpts(priorityqueue.AddOpts{Priority: priority}, req, req)
			}
			return nil
		})},
	}
	all, kinds, err := Of(watches, mgr, "App", &corev1.ConfigMap{}, happened.cause)
	if err != nil || len(all) != len(watches) || !slices.Equal(kinds, []schema.GroupKind{{Kind: "Pod"}}) {
		t.Fatalf("%d sources, unstructured kinds %v: %v", len(all), kinds, err)
	}
	for i, s := range all {
		if err := s.Start(t.Context(), noting{notes: &happened}); err != nil {
			t.Fatal(err)
		}
		if err := s.(source.SyncingSource).WaitForSync(t.Context()); err != nil {
			t.Fatalf("source %d: %v", i, err)
		}
	}
	happened.noted(t, "a source of the user, with requests of all forms",
		"cause app", "app: after 0s, limited false", "cause app", "app: after 1s, limited false", "cause app", "app: after 0s, limited true",
		"app: after 0s, limited false, priority -100", "app: after 0s, limited false, priority -100",
		"cause app", "cause app", "app: after 0s, limited false, priority -99", "app: after 0s, limited false, priority -99")

	owner := func(kind, name string, controls bool) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "v1", Kind: kind, Name: name, Controller: &controls}
	}
	secrets, err := mgr.cache.FakeInformerFor(t.Context(), &corev1.Secret{})
	if err != nil {
		t.Fatal(err)
	}
	owned := secret("a", owner("ConfigMap", "second", false), owner("ConfigMap", "app", true))
	secrets.Add(owned)
	happened.noted(t, "an owned object of the first list, or a new one", "cause app", "app: after 0s, limited false")
	secrets.Update(owned, owned)
	happened.noted(t, "a resync", "app: after 0s, limited false, priority -100")
	secrets.Add(secret("b", owner("Pod", "app", true)))
	secrets.Add(secret("hidden", owner("ConfigMap", "app", true)))
	happened.noted(t, "the owner has another kind, and a predicate hides an event")
	secrets.Add(secret("broken"))
	happened.noted(t, "a predicate panics", `"msg"="the event passes the predicate" "error"="a function for the events of another object panicked"`+
		` "controller"="App" "option"="WithOwns" "watchedKind"="Secret" "panic"="broken" "object"="n/broken"`)

	pods, err := mgr.cache.FakeInformerFor(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	pods.Delete(pod)
	happened.noted(t, "an event for the function of the user", "cause app", "app: after 0s, limited false")

	unknown := &unstructured.Unstructured{}
	const want = "ctrlx: App: WithOwns(*unstructured.Unstructured): add the type to the manager's scheme: "
	if _, _, err := Of([]Watch{{Option: "WithOwns", Object: unknown, Owned: true}}, mgr, "App", &corev1.ConfigMap{}, nil); err == nil ||
		!strings.HasPrefix(err.Error(), want) || errors.Unwrap(err) == nil {
		t.Errorf("an object without a kind: %v", err)
	}
}

// syncing is a source with no name, whose first list may fail.
type syncing struct{ start, sync error }

func (s syncing) Start(context.Context, engine.Queue) error { return s.start }
func (s syncing) WaitForSync(context.Context) error         { return s.sync }

// TestStart verifies the errors of sources of the user, and their names.
func TestStart(t *testing.T) {
	errStart, errSync := errors.New("no start"), errors.New("no list")
	plain := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer plain.ShutDown()
	for _, tc := range []struct {
		reason            string
		source            source.Source
		queue             engine.Queue
		name, start, sync string // the beginnings of the texts
	}{
		{"it panics", source.Func(func(context.Context, engine.Queue) error { panic("no queue") }), noting{},
			"func source: 0x", "ctrlx: App: the source func source: 0x", "<nil>"},
		{"it returns errors", syncing{errStart, errSync}, noting{}, "sources.syncing", "no start", "no list"},
		{"the queue has no priorities", syncing{}, plain, "sources.syncing",
			"ctrlx: App: the work queue is a *workqueue.rateLimitingType[", "<nil>"},
	} {
		s := causing{tc.source, "App", func(types.NamespacedName) {}}
		name, start, sync := s.String(), fmt.Sprint(s.Start(t.Context(), tc.queue)), fmt.Sprint(s.WaitForSync(t.Context()))
		if !strings.HasPrefix(name, tc.name) || !strings.HasPrefix(start, tc.start) || sync != tc.sync {
			t.Errorf("%s: %s starts with %q, and its list with %q", tc.reason, name, start, sync)
		}
		if panics := strings.Contains(tc.reason, "panics"); strings.Contains(start, " panicked: no queue\n") != panics {
			t.Errorf("%s: %s", tc.reason, start)
		}
	}
}

// TestRecovering verifies that an event reaches the user's functions, and that their panics end nothing.
func TestRecovering(t *testing.T) {
	var happened notes
	var fails, passes bool
	do := func(verb string, obj client.Object) bool {
		happened.note("%s %t", verb, obj != nil)
		if fails {
			panic("broken")
		}
		return passes
	}
	g := Recovering{funcr.New(func(_, args string) {
		args, stack, _ := strings.Cut(args, `"stack"=`)
		happened.note("%s%t", args, strings.Contains(stack, "sources_test.go"))
	}, funcr.Options{})}
	h, q, none := g.Events(events(do)), noting{notes: &happened}, g.Predicates(nil)
	p := g.Predicates([]predicate.Predicate{predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return do("create", e.Object) },
		UpdateFunc:  func(e event.UpdateEvent) bool { return do("update", e.ObjectNew) },
		DeleteFunc:  func(e event.DeleteEvent) bool { return do("delete", e.Object) },
		GenericFunc: func(e event.GenericEvent) bool { return do("generic", e.Object) },
	}})
	if len(p) != 1 || none != nil {
		t.Fatalf("%d predicates, and %d of none", len(p), len(none))
	}
	for verb, send := range map[string]func(obj client.Object) bool{
		"create": func(obj client.Object) bool {
			h.Create(t.Context(), event.CreateEvent{Object: obj}, q)
			return p[0].Create(event.CreateEvent{Object: obj})
		},
		"update": func(obj client.Object) bool {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: secret("a"), ObjectNew: obj}, q)
			return p[0].Update(event.UpdateEvent{ObjectNew: obj})
		},
		"delete": func(obj client.Object) bool {
			h.Delete(t.Context(), event.DeleteEvent{Object: obj}, q)
			return p[0].Delete(event.DeleteEvent{Object: obj})
		},
		"generic": func(obj client.Object) bool {
			h.Generic(t.Context(), event.GenericEvent{Object: obj}, q)
			return p[0].Generic(event.GenericEvent{Object: obj})
		},
	} {
		for _, passes = range []bool{false, true} {
			if fails = false; send(secret("b")) != passes {
				t.Errorf("%s: the predicate returns %t", verb, !passes)
			}
			happened.noted(t, "the functions of the user", verb+" true", ": after 0s, limited false", verb+" true")
		}
		for about, obj := range map[string]client.Object{"n/a": secret("a"), "": nil} {
			if fails, passes = true, false; obj == nil && verb == "update" {
				continue // its priority needs both objects
			}
			says := func(consequence string) string {
				return fmt.Sprintf(`"msg"=%q "error"="a function for the events of another object panicked" "panic"="broken" "object"=%q true`, consequence, about)
			}
			if !send(obj) {
				t.Errorf("%s: a predicate that panics hides the event", verb)
			}
			is := fmt.Sprintf("%s %t", verb, obj != nil)
			happened.noted(t, "they panic", is, says("the event is lost: the objects that it concerns are reconciled at the resync"), is, says("the event passes the predicate"))
		}
	}
	fails = false
	h.Create(t.Context(), event.CreateEvent{Object: secret("a"), IsInInitialList: true}, q)
	happened.noted(t, "an event of the first list has a low priority, whatever the handler does", "create true", ": after 0s, limited false, priority -100")
}

// events is a handler of events that adds a request for each.
type events func(verb string, obj client.Object) bool

func (do events) Create(_ context.Context, e event.CreateEvent, q engine.Queue) {
	do.add("create", e.Object, q)
}
func (do events) Update(_ context.Context, e event.UpdateEvent, q engine.Queue) {
	do.add("update", e.ObjectNew, q)
}
func (do events) Delete(_ context.Context, e event.DeleteEvent, q engine.Queue) {
	do.add("delete", e.Object, q)
}
func (do events) Generic(_ context.Context, e event.GenericEvent, q engine.Queue) {
	do.add("generic", e.Object, q)
}
func (do events) add(verb string, obj client.Object, q engine.Queue) {
	do(verb, obj)
	q.Add(reconcile.Request{})
}
