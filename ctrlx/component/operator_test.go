package component_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/component"
)

var deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

// operator is a manager with a reconciler for Shops.
type operator struct {
	t     *testing.T
	ns    string
	shops *component.Reconciler[*Shop]

	mu       sync.Mutex
	requests []string // without watches
}

func newOperator(t *testing.T, set func(*component.Reconciler[*Shop]), opts ...component.Option) *operator {
	t.Helper()
	startServer()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must(t, api.Create(t.Context(), ns))
	o := &operator{t: t, ns: ns.Name}
	o.shops = component.New[*Shop](name, manifests, append([]component.Option{component.WithKinds(configMaps, deployments)}, opts...)...)
	if set != nil {
		set(o.shops)
	}
	c := rest.CopyConfig(config)
	c.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			if req.URL.Query().Get("watch") == "" {
				o.mu.Lock()
				o.requests = append(o.requests, req.Method+" "+req.URL.Path)
				o.mu.Unlock()
			}
			return next.RoundTrip(req)
		})
	})
	skip := true
	mgr, err := ctrl.NewManager(c, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{o.ns: {}}},
	})
	must(t, err)
	must(t, o.shops.SetupWithManager(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return o
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// create creates a Shop.
func (o *operator) create(manifests ...string) *Shop {
	o.t.Helper()
	s := &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: o.ns, Name: "shop"}, Spec: ShopSpec{Manifests: manifests}}
	must(o.t, api.Create(o.t.Context(), s))
	return s
}

// until waits until check returns an empty text. It reads after each event of a
// kind in the namespace.
func (o *operator) until(list client.ObjectList, check func() string) {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), 30*time.Second)
	defer cancel()
	w, err := api.Watch(ctx, list, client.InNamespace(o.ns))
	must(o.t, err)
	defer w.Stop()
	for {
		problem := check()
		if problem == "" {
			return
		}
		select {
		case <-w.ResultChan():
		case <-ctx.Done():
			o.t.Fatal(problem)
		}
	}
}

// ready waits until the condition Ready of the Shop has a status, a reason and a
// part of a message.
func (o *operator) ready(want, message string) *Shop {
	o.t.Helper()
	s := &Shop{}
	o.until(&ShopList{}, func() string {
		must(o.t, api.Get(o.t.Context(), client.ObjectKey{Namespace: o.ns, Name: "shop"}, s))
		c := meta.FindStatusCondition(s.Status.Conditions, "Ready")
		if c == nil {
			return "no condition Ready, want " + want
		}
		if got := string(c.Status) + " " + c.Reason; got != want || !strings.Contains(c.Message, message) || c.ObservedGeneration != s.Generation {
			return fmt.Sprintf("Ready is %s %q, want %s %q", got, c.Message, want, message)
		}
		return ""
	})
	return s
}

// data waits until a ConfigMap has data k; empty: it does not exist.
func (o *operator) data(object, want string) {
	o.t.Helper()
	o.until(&corev1.ConfigMapList{}, func() string {
		cm := &corev1.ConfigMap{}
		err := api.Get(o.t.Context(), client.ObjectKey{Namespace: o.ns, Name: object}, cm)
		must(o.t, client.IgnoreNotFound(err))
		if got := cm.Data["k"]; got != want {
			return fmt.Sprintf("the ConfigMap %s has %q, want %q", object, got, want)
		}
		return ""
	})
}

const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {shop.example.com/apply-order: "1"}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`

// report writes the status of the Deployment, as its controller would.
func (o *operator) report(available int32) {
	o.t.Helper()
	d := &appsv1.Deployment{}
	must(o.t, api.Get(o.t.Context(), client.ObjectKey{Namespace: o.ns, Name: "web"}, d))
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: available, AvailableReplicas: available, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}, {Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
	}}
	if available == 0 {
		d.Status.Conditions[0].Status = corev1.ConditionFalse
		d.Status.UnavailableReplicas = 1
	}
	must(o.t, api.Status().Update(o.t.Context(), d))
}

// A component under a manager becomes ready with its dependents. Readiness, drift
// and a deletion of a dependent cause a pass by their events. In sync, a pass makes
// no request. A deletion leaves nothing.
func TestOperator(t *testing.T) {
	var mu sync.Mutex
	var hooks []string
	hook := func(text string) func(context.Context, client.Client, *Shop) error {
		return func(context.Context, client.Client, *Shop) error {
			mu.Lock()
			defer mu.Unlock()
			if !slices.Contains(hooks, text) {
				hooks = append(hooks, text)
			}
			return nil
		}
	}
	o := newOperator(t, func(r *component.Reconciler[*Shop]) {
		r.WithPostDeleteHook(hook("post-delete")).WithPreDeleteHook(hook("pre-delete")).WithPostReconcileHook(hook("post-reconcile")).
			WithPreReconcileHook(hook("pre-reconcile")).WithPostReadHook(hook("post-read"))
	})
	shop := o.create(web, configMap("a", "1"), configMap("b", "1"))
	o.ready("False Processing", "wave 2 of 2: 0 of 1 objects are ready: Deployment web: ")
	o.report(1)
	s := o.ready("True Succeeded", "")
	if p := s.Status.Progress; p == nil || *p != (component.Progress{WavesReady: 2, Waves: 2, Ready: 3, Objects: 3}) {
		t.Errorf("the progress: %+v", p)
	}
	o.report(0)
	o.ready("False Processing", "Deployment web: ")
	o.report(1)
	o.ready("True Succeeded", "")
	cm := &corev1.ConfigMap{}
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: o.ns, Name: "a"}, cm))
	cm.Data["k"] = "drift"
	must(t, api.Update(t.Context(), cm, client.FieldOwner("kubectl-edit")))
	o.data("a", "1")
	must(t, api.Delete(t.Context(), cm))
	o.data("a", "1")
	o.until(&eventsv1.EventList{}, func() string {
		list := &eventsv1.EventList{}
		must(t, api.List(t.Context(), list, client.InNamespace(o.ns)))
		var notes []string
		for _, e := range list.Items {
			if e.Reason == "WaveReady" {
				notes = append(notes, e.Note)
			}
		}
		if !slices.Contains(notes, "wave 1 of 2 is ready: 2 objects") || !slices.Contains(notes, "wave 2 of 2 is ready: 1 objects") {
			return fmt.Sprintf("the events of waves: %q", notes)
		}
		return ""
	})
	must(t, api.Delete(t.Context(), shop))
	o.gone(shop)
	o.data("a", "")
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(hooks, " "); got != "post-read pre-reconcile post-reconcile pre-delete post-delete" {
		t.Errorf("the hooks: %s", got)
	}
}

// A pass over a component in sync makes no request. It needs a cause, here a poke.
func TestInSyncRequests(t *testing.T) {
	passes := make(chan struct{}, 100)
	o := newOperator(t, func(r *component.Reconciler[*Shop]) {
		r.WithPostReconcileHook(func(context.Context, client.Client, *Shop) error { passes <- struct{}{}; return nil })
	})
	shop := o.create(configMap("a", "1"), configMap("b", "1"))
	o.ready("True Succeeded", "")
	poke := func() {
		t.Helper()
		for len(passes) > 0 {
			<-passes
		}
		if !o.shops.Inner().Poke(client.ObjectKeyFromObject(shop)) {
			t.Fatal("the poke is not accepted")
		}
		<-passes
	}
	quiet := func() []string {
		poke()
		poke() // the first pass has ended
		o.mu.Lock()
		defer o.mu.Unlock()
		requests := slices.DeleteFunc(o.requests, func(r string) bool { return strings.Contains(r, "/events") })
		o.requests = nil
		return requests
	}
	for range 10 { // the events of the first writes cause passes, too
		if len(quiet()) == 0 {
			break
		}
	}
	if requests := quiet(); len(requests) > 0 {
		t.Errorf("a pass in sync makes the requests %q", requests)
	}
}

// A component that is only observed gets the plan into its condition, and nothing
// is written. Its deletion waits.
func TestObserveOnly(t *testing.T) {
	o := newOperator(t, nil)
	s := &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: o.ns, Name: "shop", Annotations: map[string]string{name + "/observe-only": "true"}}, Spec: ShopSpec{Manifests: []string{configMap("a", "1")}}}
	must(t, api.Create(t.Context(), s))
	s = o.ready("False ObserveOnly", "the component is only observed; a pass would create ConfigMap "+o.ns+"/a")
	if s.Status.Inventory != nil {
		t.Errorf("an observed component has the inventory %v", s.Status.Inventory)
	}
	o.data("a", "")
	s.Annotations[name+"/observe-only"] = "yes"
	must(t, api.Update(t.Context(), s))
	s = o.ready("False DependentInvalid", `the annotation shop.example.com/observe-only is "yes": it must be true or false`)
	delete(s.Annotations, name+"/observe-only")
	must(t, api.Update(t.Context(), s))
	o.ready("True Succeeded", "")
	o.data("a", "1")
}

// Dependents are read and written with the rights of the identity that the option
// names, and not with those of the operator.
func TestImpersonation(t *testing.T) {
	o := newOperator(t, nil, component.WithReconciler(ctrlx.WithImpersonation(func(*Shop) rest.ImpersonationConfig {
		return rest.ImpersonationConfig{UserName: "guest"}
	})))
	o.create(configMap("a", "1"))
	o.ready("False Forbidden", `User "guest" cannot list resource "configmaps"`)
	o.data("a", "")
}

// A component with a type and an instance of it becomes ready, is blocked by a
// foreign instance, and goes when that one is gone.
func TestOperatorWithType(t *testing.T) {
	o := newOperator(t, nil)
	w := &world{ns: o.ns}
	crd, kind := w.definition()
	shop := o.create(mill(kind, "ours"), crd)
	o.ready("True Succeeded", "")
	foreign, err := parsed(mill(kind, "foreign"))
	must(t, err)
	foreign.SetNamespace(o.ns)
	must(t, api.Create(t.Context(), foreign))
	must(t, api.Delete(t.Context(), shop))
	o.ready("False DeletionBlocked", "Mill."+kind.Group+" "+o.ns+"/foreign")
	must(t, api.Delete(t.Context(), foreign))
	o.gone(shop)
}

// gone waits until a Shop does not exist.
func (o *operator) gone(shop *Shop) {
	o.t.Helper()
	o.until(&ShopList{}, func() string {
		if err := api.Get(o.t.Context(), client.ObjectKeyFromObject(shop), &Shop{}); client.IgnoreNotFound(err) == nil && err != nil {
			return ""
		}
		return "the Shop is not gone"
	})
}
