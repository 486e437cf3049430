package component_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// stack returns manifests of a namespace with all that a small server needs. Each
// of them has the default policies. Text edits change them.
func stack(namespace string, edits ...string) (all []string) {
	const text = `apiVersion: v1
kind: Namespace
metadata: {name: NAME}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: small, namespace: NAME}
spec: {hard: {pods: "0"}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: NAME, labels: {version: one}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NAME, labels: {version: one}}
spec:
  selector: {app: web}
  ports: [{port: 80}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim, namespace: NAME, labels: {version: one}}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: ""
  resources: {requests: {storage: 1Gi}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: NAME, labels: {version: one}, annotations: {shop.example.com/apply-order: "1"}}
spec:
  template:
    metadata: {labels: {app: migrate}}
    spec: {restartPolicy: Never, containers: [{name: migrate, image: migrate}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAME}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: web
      containers: [{name: web, image: "web:one"}]
`
	edited := strings.NewReplacer(append([]string{"NAME", namespace}, edits...)...).Replace(text)
	return strings.Split(edited, "---\n")
}

// kubelet reports each Pod of a namespace as running and ready, or a Pod of a Job as
// succeeded.
func kubelet(ctx context.Context, t *testing.T, api client.WithWatch, namespace string) {
	pods, err := api.Watch(ctx, &corev1.PodList{}, client.InNamespace(namespace))
	must(t, err)
	go func() {
		for e := range pods.ResultChan() {
			pod, ok := e.Object.(*corev1.Pod)
			if !ok || pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp != nil {
				continue
			}
			pod.Status.Phase = corev1.PodRunning
			if pod.Labels["job-name"] != "" {
				pod.Status.Phase = corev1.PodSucceeded
			}
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			_ = api.Status().Update(ctx, pod) // a conflict causes another event
		}
	}()
}

// A component with the default policies works with the controllers of Kubernetes:
// they report real problems, set fields of its objects, scale a Deployment, finish a
// Job, bind a claim, collect garbage, and delete a namespace. In sync, no pass makes
// a request, although the controllers write to the objects.
func TestControllers(t *testing.T) {
	t.Parallel()
	apiserver.RequireKube(t)
	shops := testv1.Definition("Shop", "shops", apiextensions.NamespaceScoped)
	config, api := apiserver.StartSecond(scheme, []*apiextensions.CustomResourceDefinition{shops})
	apiserver.StartControllers(t)
	o := &operator{t: t, api: api, ns: apiserver.Namespace(t, api)}
	kinds := []schema.GroupVersionKind{deployments}
	for _, kind := range []string{"Namespace", "ResourceQuota", "ServiceAccount", "Service", "PersistentVolumeClaim"} {
		kinds = append(kinds, schema.GroupVersionKind{Version: "v1", Kind: kind})
	}
	kinds = append(kinds, schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"})
	o.shops = component.New[*Shop](name, inSpec, component.WithKinds(kinds...))
	inside := o.ns + "-web"
	o.start(config, cache.Options{DefaultNamespaces: map[string]cache.Config{o.ns: {}, inside: {}}}) // another test has Shops there, too
	volume, err := parsed(fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: %s}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /none}}}`, inside))
	must(t, err)
	must(t, api.Create(t.Context(), volume))
	kubelet(t.Context(), t, api, inside)
	server := func() *appsv1.Deployment {
		t.Helper()
		d := &appsv1.Deployment{}
		must(t, api.Get(t.Context(), client.ObjectKey{Namespace: inside, Name: "web"}, d))
		return d
	}
	want := func(manifests []string) { o.edit(func(s *Shop) { s.Spec.Manifests = manifests }) }

	// The condition ends with the problem that the ReplicaSet has.
	shop := o.create(stack(inside)...)
	o.ready("False Processing", `is forbidden: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0`)
	o.ready("False Processing", `Deployment web: LessReplicas: Replicas: 0/1; ReplicaFailure: pods "web-`)
	want(stack(inside, `pods: "0"`, `pods: "9"`))
	o.ready("True Succeeded", "")
	o.quiet(shop)

	// The API server takes each write of an object that its controllers completed.
	two := []string{`pods: "0"`, `pods: "9"`, "version: one", "version: two", "web:one", "web:two"}
	want(stack(inside, two...))
	o.ready("True Succeeded", "")
	o.quiet(shop)
	if got := server().Annotations["deployment.kubernetes.io/revision"]; got != "2" {
		t.Errorf("the revision of the Deployment is %q, want 2", got)
	}

	// The autoscaler and the manifest both set the replicas. Then only the autoscaler does.
	scaler := fmt.Sprintf(`{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: %s}, spec: {minReplicas: 3, maxReplicas: 5,
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}}`, inside)
	want(append(stack(inside, two...), scaler))
	o.ready("False DependentContested", "spec.replicas is managed by kube-controller-manager")
	want(append(stack(inside, append(two, "  replicas: 1\n", "")...), scaler))
	o.ready("True Succeeded", "")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	servers, err := api.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(inside))
	must(t, err)
	want(append(stack(inside, append([]string{"web:one", "web:three", "  replicas: 1\n", ""}, two...)...), scaler))
	for image := ""; image != "web:three"; {
		e, open := <-servers.ResultChan()
		d, ok := e.Object.(*appsv1.Deployment)
		if !open || !ok {
			t.Fatalf("the Deployment has the image %q: %v", image, e)
		}
		if image = d.Spec.Template.Spec.Containers[0].Image; *d.Spec.Replicas != 3 {
			t.Fatalf("a write of the Deployment sets %d replicas, and the autoscaler set 3", *d.Spec.Replicas)
		}
	}
	servers.Stop()
	o.ready("True Succeeded", "")
	o.quiet(shop)

	// The replica sets and the pods of a redundant Deployment go, too.
	without := stack(inside, two...)
	want(without[:len(without)-1])
	o.ready("True Succeeded", "")
	o.until(&appsv1.ReplicaSetList{}, func() string {
		left := &appsv1.ReplicaSetList{}
		must(t, api.List(t.Context(), left, client.InNamespace(inside)))
		if len(left.Items) == 0 {
			return ""
		}
		return fmt.Sprintf("%d replica sets are left", len(left.Items))
	})

	// The deletion ends when the namespace is gone. Until then, the condition says
	// why the namespace stays.
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: inside, Name: "kept", Finalizers: []string{"example.com/kept"}}}
	must(t, api.Create(t.Context(), kept))
	must(t, api.Delete(t.Context(), shop))
	o.ready("False DeletionProcessing", "Some content in the namespace has finalizers remaining: example.com/kept in 1 resource instances")
	must(t, api.Patch(t.Context(), kept, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
	o.gone(shop)
	if err := api.Get(t.Context(), client.ObjectKey{Name: inside}, &corev1.Namespace{}); !apierrors.IsNotFound(err) {
		t.Errorf("the component is gone, and its namespace: %v", err)
	}
}

// target is a client of the second cluster that can lose its connection.
type target struct {
	client.Client
	config *rest.Config
	direct client.WithWatch // never loses its connection
	down   atomic.Bool
}

func newTarget(t *testing.T) *target {
	t.Helper()
	apiserver.RequireKube(t)
	shops := testv1.Definition("Shop", "shops", apiextensions.NamespaceScoped)
	y := &target{}
	y.config, y.direct = apiserver.StartSecond(scheme, []*apiextensions.CustomResourceDefinition{shops})
	c := rest.CopyConfig(y.config)
	c.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			if y.down.Load() {
				return nil, errors.New("no route to host")
			}
			return next.RoundTrip(req)
		})
	})
	var err error
	y.Client, err = client.New(c, client.Options{Scheme: scheme})
	must(t, err)
	return y
}

// in returns the option that deploys to the target.
func (y *target) in() component.Option {
	return component.WithReconciler(ctrlx.WithTargetClient(func(context.Context, client.Client, *Shop) (client.Client, error) { return y.Client, nil }))
}

// data waits until a ConfigMap of the target has data k; empty: it does not exist.
func (y *target) data(t *testing.T, namespace, object, want string) {
	t.Helper()
	(&operator{t: t, api: y.direct, ns: namespace}).data(object, want)
}

// A component in one cluster deploys to another one. The definition of a type and
// its instances are only in the target.
func TestTwoClusters(t *testing.T) {
	t.Parallel()
	y := newTarget(t)
	from := func(source string) component.Option { return component.WithDependents(dependents.WithCluster(source)) }
	o := newOperator(t, nil, y.in(), from("one"))
	crd, kind := o.world().definition()
	want := func(manifests ...string) { o.edit(func(s *Shop) { s.Spec.Manifests = manifests }) }
	pattern := func() { // it cannot be found in the target
		t.Helper()
		o.edit(func(s *Shop) { s.Spec.ManagedTypes = []metav1.GroupVersionKind{{Group: "*.example.com", Kind: "*"}} })
		o.ready("False DependentInvalid", "cannot be found in the cluster of the target client")
		o.edit(func(s *Shop) { s.Spec.ManagedTypes = nil })
	}
	instance := func(object string) *unstructured.Unstructured {
		t.Helper()
		u, err := parsed(mill(kind, object))
		must(t, err)
		u.SetNamespace(o.ns)
		return u
	}

	// The wave of the definition comes before that of its instance.
	shop := o.create(mill(kind, "ours"), configMap("a", "1"), configMap("b", "1"), configMap("later", "1", "apply-order", "1"), crd)
	s := o.ready("True Succeeded", "")
	must(t, y.direct.Get(t.Context(), client.ObjectKey{Namespace: o.ns, Name: "ours"}, instance("ours")))
	if ref := s.Status.Inventory[3].Ref; ref.String() != "Mill."+kind.Group+" "+o.ns+"/ours" {
		t.Errorf("the inventory has the instance as %s", ref)
	}
	if _, err := api.RESTMapper().RESTMapping(kind.GroupKind()); !meta.IsNoMatchError(err) {
		t.Errorf("the cluster of the component has the type: %v", err)
	}
	o.data("a", "")

	// No event reports drift in the target. The next pass corrects it.
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: o.ns, Name: "a"}}
	must(t, y.direct.Patch(t.Context(), cm, client.RawPatch(types.MergePatchType, []byte(`{"data":{"k":"drift"}}`)), client.FieldOwner("kubectl-edit")))
	if !o.shops.Inner().Poke(client.ObjectKeyFromObject(shop)) {
		t.Fatal("the poke is not accepted")
	}
	y.data(t, o.ns, "a", "1")
	want(mill(kind, "ours"), configMap("a", "2"), crd)
	y.data(t, o.ns, "b", "")
	y.data(t, o.ns, "later", "")
	y.data(t, o.ns, "a", "2")
	o.ready("True Succeeded", "")

	// The Shop of the same name in another cluster is another owner.
	other := &operator{t: t, api: y.direct, ns: o.ns, shops: component.New[*Shop](name, inSpec, component.WithKinds(configMaps), from("two"))}
	other.start(y.config, cache.Options{DefaultNamespaces: map[string]cache.Config{o.ns: {}}})
	second := other.create(configMap("a", "3"))
	other.ready("False DependentNotOurs", "it belongs to one/Shop.test.windlass-go.github.io "+o.ns+"/shop")
	must(t, y.direct.Delete(t.Context(), second))
	other.gone(second)
	y.data(t, o.ns, "a", "2")

	// The target lacks the kind Oven, which the cluster of the component has.
	own := strings.ReplaceAll(strings.ReplaceAll(crd, "mills", "ovens"), "mill", "oven")
	u, err := parsed(strings.ReplaceAll(own, "Mill", "Oven"))
	must(t, err)
	must(t, api.Create(t.Context(), u))
	oven := strings.ReplaceAll(mill(kind, "oven"), "Mill", "Oven")
	want(mill(kind, "ours"), configMap("a", "2"), crd, oven)
	o.ready("False DependentInvalid", "the API server does not serve the kind Oven."+kind.Group)
	want(mill(kind, "ours"), configMap("a", "2"), crd)
	pattern()
	o.ready("True Succeeded", "")

	// While the target is not reachable, nothing counts as gone. A foreign instance
	// in the target blocks the deletion.
	foreign := instance("foreign")
	must(t, y.direct.Create(t.Context(), foreign))
	y.down.Store(true)
	must(t, api.Delete(t.Context(), shop))
	s = o.ready("False CheckFailed", "no route to host")
	if n := len(s.Status.Inventory); n != 3 {
		t.Errorf("the target is not reachable, and the inventory has %d objects of 3", n)
	}
	y.down.Store(false)
	pattern()
	o.ready("False DeletionBlocked", "Mill."+kind.Group+" "+o.ns+"/foreign")
	y.data(t, o.ns, "a", "2")
	must(t, y.direct.Delete(t.Context(), foreign))
	o.gone(shop)
	y.data(t, o.ns, "a", "")
	u, err = parsed(crd)
	must(t, err)
	if err := y.direct.Get(t.Context(), client.ObjectKeyFromObject(u), u); !apierrors.IsNotFound(err) {
		t.Errorf("the component is gone, and its definition: %v", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.IndexFunc(o.requests, func(r string) bool { return strings.Contains(r, "/configmaps") }); i >= 0 {
		t.Errorf("the manager asks its own cluster about dependents: %s", o.requests[i])
	}
}

type otherMapper struct{ meta.RESTMapper }

type otherCluster struct{ client.Client }

func (r otherCluster) RESTMapper() meta.RESTMapper { return otherMapper{r.Client.RESTMapper()} }

// A Namespace of the target cluster that has the name of the component's own
// namespace is another namespace: the component is not in it. If it is redundant, or
// the component is deleted, it is deleted.
func TestRedundantNamespaceOfTarget(t *testing.T) {
	t.Parallel()
	y := newTarget(t)
	for title, do := range map[string]func(*world){"Redundant": func(w *world) { w.want() }, "Deleted": (*world).delete} {
		w := newWorld(t)
		w.process.Target = otherCluster{y.Client}
		w.want("apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE}\n")
		w.settle()
		do(w)
		res, err := w.pass()
		ns := &corev1.Namespace{}
		if found := y.direct.Get(t.Context(), client.ObjectKey{Name: w.ns}, ns); !apierrors.IsNotFound(found) && (found != nil || ns.DeletionTimestamp == nil) {
			t.Errorf("%s: the namespace is left: %v, %+v, %v", title, found, res, err)
		}
	}
}

// A namespace that existed before is kept, with the objects of others in it. The
// objects of the component in it are deleted. Only the manifest of the namespace itself
// asks for its deletion.
func TestAdoptedNamespace(t *testing.T) {
	t.Parallel()
	namespace := func(policy string) string {
		text := "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: NAMESPACE-inner\n"
		if policy != "" {
			text += "  annotations: {" + name + "/delete-policy: " + policy + "}\n"
		}
		return text
	}
	inside := strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: NAMESPACE-inner", 1)
	const before, between, never = "before", "between", ""
	orphaned := func(t *testing.T, w *world) { // its label stays
		w.want(namespace("Orphan"))
		w.settle()
		w.want()
		w.settle()
	}
	cases := map[string]struct {
		reason  string
		appears string // when another user creates the namespace
		policy  string // of the annotation
		opts    []component.Option
		prepare func(*testing.T, *world)
		want    bool // the namespace is kept
	}{
		"Before":        {"it existed before the first pass", before, "", nil, nil, true},
		"Between":       {"it appeared after the inventory had it", between, "", nil, nil, true},
		"Created":       {"the component made it, and so deletes it", never, "", nil, nil, false},
		"AskedFor":      {"the manifest asks for the deletion of this object", before, "delete", nil, nil, false},
		"AskedForLater": {"a later change of the manifest counts", before, "", nil, func(_ *testing.T, w *world) { w.settle(); w.want(inside, namespace("Delete")) }, false},
		"TakenBack":     {"the manifest asks no more", before, "Delete", nil, func(_ *testing.T, w *world) { w.settle(); w.want(inside, namespace("default")) }, true},
		"OfAllObjects":  {"a policy of the reconciler does not mean this namespace", before, "", []component.Option{component.WithDependents(dependents.WithPolicies(dependents.Policies{Delete: dependents.DeleteDelete}))}, nil, true},
		"ManagedKind":   {"Namespaces are a managed type", before, "", []component.Option{component.WithManagedTypes(metav1.GroupVersionKind{Kind: "Namespace"})}, nil, true},
		"OnApply":       {"a policy that keeps it at times does not ask for its deletion", before, "OrphanOnApply", nil, nil, true},
		"Orphan": {"an orphan of an earlier set has the label, and may have objects of others", never, "", nil, func(t *testing.T, w *world) {
			orphaned(t, w)
			w.want(inside, namespace(""))
		}, true},
		"Lost": {"without an inventory the label alone is no proof; options may name the kind twice", never, "", []component.Option{component.WithKinds(namespaces), component.WithKinds(namespaces)}, func(t *testing.T, w *world) {
			w.settle()
			must(t, api.Status().Patch(t.Context(), w.shop, client.RawPatch("application/merge-patch+json", []byte(`{"status":null}`))))
			w.restart()
		}, true},
	}
	for name, tc := range cases {
		for how, drop := range map[string]bool{"Deleted": false, "Dropped": true} {
			if drop && (tc.policy != "" || tc.prepare != nil) {
				continue // the stored policy counts, as in a deletion
			}
			if !drop && name == "ManagedKind" {
				continue // objects of other tests block the deletion
			}
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, tc.opts...)
				inner := w.ns + "-inner"
				w.want(inside, namespace(tc.policy))
				switch tc.appears {
				case before:
					w.create(namespace(""))
				case between:
					w.fail("write Namespace "+inner, errors.New("stopped"))
					w.refused("stopped")
					w.before = nil
					w.create(namespace(""))
					w.writes()
				}
				if tc.prepare != nil {
					tc.prepare(t, w)
				}
				w.settle()
				if writes := w.writes(); tc.appears == between && !cmp.Equal(writes[:2], []string{"store Shop shop", "patch Namespace " + inner}) {
					t.Errorf("%s: the writes are %q", tc.reason, writes)
				}
				if drop {
					w.want()
				} else {
					w.delete()
				}
				p, err := w.plan()
				must(t, err)
				w.passes(4) // no controller ends the deletion of a namespace
				if got := !w.terminates(inner); got != tc.want || strings.Contains(p.String(), "orphan Namespace "+inner) != tc.want {
					t.Errorf("%s: kept: %v, want %v; the plan is %s", tc.reason, got, tc.want, p)
				}
				if w.exists(configMaps, inner, "a") {
					t.Errorf("%s: the object of the component in it is left", tc.reason)
				}
			})
		}
	}
}

// Without Preflight, an object of another owner is an error of the write, and the pass
// reads a namespace before it adopts it.
func TestAdoptedWithoutPreflight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, component.WithWaveChain(func(c component.Chain) (component.Chain, error) { return c.Without("Preflight") }))
	w.want(configMap("a", "1"))
	w.settle()
	w.steal("a")
	_, err := w.pass()
	if e, ok := errors.AsType[ctrlx.RetriableError](err); !ok || e.Reason() != "DependentNotOurs" {
		t.Errorf("an object of another owner: %v", err)
	}
	w.want(inner)
	w.fail("write Namespace "+w.ns+"-inner", errors.New("stopped"))
	w.refused("stopped")
	w.before = nil
	w.create(inner)
	w.settle()
	w.delete()
	w.settle()
	same(t, false, w.terminates(w.ns+"-inner"), "the deletion of the adopted namespace")
}

// A Namespace that the component created is deleted with the component, also if an
// earlier Namespace of this name was adopted, or was in deletion.
func TestAdoptedCreatedAgain(t *testing.T) {
	t.Parallel()
	for title, adopted := range map[string]bool{"Adopted": true, "InDeletion": false} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.create(inner)
			w.want(inner)
			if adopted {
				w.settle()
			}
			must(t, api.Delete(t.Context(), w.object(namespaces, w.ns+"-inner")))
			if res, err := w.pass(); res.Proceeds() {
				t.Fatalf("the namespace is in deletion: %+v, %v", res, err)
			}
			w.finalize(w.ns + "-inner")
			w.settle()
			if item := w.shop.Status.Inventory[0]; item.Adopted || item.DeletePolicy != "default" {
				t.Errorf("a namespace that the component created: %+v", item)
			}
			w.delete()
			w.passes(2)
			same(t, true, w.terminates(w.ns+"-inner"), "the deletion of the Namespace that the component created")
		})
	}
}

// A missing namespace is created as the policy says. It gets no mark of the
// component, and stays after its deletion. Its field manager is the name of the reconciler.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, component.WithDependents(dependents.WithFieldOwner("boss")))
	other := w.ns + "-other"
	object := strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: "+other, 1)
	w.change(func(s *Shop) { s.Spec.Manifests, s.Spec.Namespaces = []string{object}, "DoNotCreate" })
	w.refused(`namespaces "` + other + `" not found`)
	w.change(func(s *Shop) {
		s.Spec.Manifests, s.Spec.Namespaces = append(s.Spec.Manifests, strings.Replace(object, "name: a", "name: b", 1)), ""
	})
	ns, failure, creates := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other}}, errors.New("no right"), 0
	w.calls = nil
	w.before = func(call string) error {
		if !isWrite(call) || !strings.HasSuffix(call, " Namespace "+other) {
			return nil
		}
		if creates++; creates == 1 {
			return failure
		}
		return api.Create(t.Context(), ns, client.FieldOwner(name)) // another component is faster
	}
	if _, err := w.pass(); !errors.Is(err, failure) || !strings.Contains(err.Error(), "wave 1 of 1 is not written: the namespace "+other) {
		t.Errorf("the namespace cannot be created: %v", err)
	}
	w.settle()
	w.before = nil
	ns = &corev1.Namespace{}
	must(t, api.Get(t.Context(), client.ObjectKey{Name: other}, ns))
	if ns.Labels[name+"/owner-id"] != "" || len(w.shop.Status.Inventory) != 2 || creates != 2 {
		t.Errorf("the namespace belongs to the component: %v, %v", ns.Labels, w.shop.Status.Inventory)
	}
	if m := ns.ManagedFields; len(m) != 1 || m[0].Manager != name {
		t.Errorf("the field managers of the namespace: %v", m)
	}
	w.delete()
	w.settle()
	same(t, false, w.terminates(other), "the deletion of the namespace with the component")
}

// A namespace of the set is created before the objects in it, and deleted after
// them.
func TestNamespaceOfTheSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: NAMESPACE-inner", 1), inner)
	w.settle()
	same(t, []string{"store Shop shop", "write Namespace " + w.ns + "-inner", "store Shop shop", "write ConfigMap a"}, w.writes(), "the writes")
	w.delete()
	res := w.passes(3) // no controller ends the deletion of the namespace
	if res.After() != 5*time.Second || res.Message() != "1 objects are left: Namespace "+w.ns+"-inner: it is being deleted" {
		t.Errorf("no event reports what holds a namespace, and the pass ends with %+v", res)
	}
	same(t, []string{"delete ConfigMap a", "delete Namespace " + w.ns + "-inner"}, w.wrote("delete"), "the deletions")
}

// A component awaits a namespace in deletion, and applies its objects again when it is gone.
func TestDeletedNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := apiserver.Namespace(t, api)
	w.want(strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: "+other, 1))
	w.settle()
	must(t, api.Delete(t.Context(), w.object(namespaces, other)))
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "a"}}
	must(t, api.Delete(t.Context(), cm))
	_, err := w.pass()
	wave, _ := errors.AsType[*flow.WaitError](err)
	object, ok := errors.AsType[*flow.WaitError](wave.Unwrap())
	if !ok || len(wave.Refs) > 0 {
		t.Fatalf("the error is %v", err)
	}
	same(t, []checks.Ref{{Kind: "Namespace", Name: other}}, object.Refs, "the awaited objects of %v", err)
	w.finalize(other)
	w.settle()
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(cm), cm))
}
