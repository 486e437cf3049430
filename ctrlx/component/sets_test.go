package component_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/manifests"
)

// parameters are those of a template in testdata/sets.
type parameters struct {
	Version int
	Kinds   map[string]string // of definitions, by plural
	Apps    []string
}

// Numbers returns the numbers from 0 to n-1.
func (parameters) Numbers(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// Times returns a number that an upgrade changes.
func (p parameters) Times(n int) int { return p.Version * n }

// TestSets applies, upgrades, repairs and deletes sets of the size and the kinds of
// known software. Processes crash in the upgrade and in the deletion. After each phase but
// the last one, the plan is empty, and a pass writes nothing. After the deletion no object is
// left.
func TestSets(t *testing.T) {
	t.Parallel()
	sets := map[string]struct {
		reason  string
		objects int
		of      parameters
	}{
		"prometheus": {"rules and monitors are instances of eight definitions, and an APIService has its own type", 120, parameters{0, map[string]string{
			"alertmanagers": "Alertmanager", "podmonitors": "PodMonitor", "probes": "Probe", "prometheuses": "Prometheus",
			"prometheusrules": "PrometheusRule", "scrapeconfigs": "ScrapeConfig", "servicemonitors": "ServiceMonitor", "thanosrulers": "ThanosRuler",
		}, []string{"alertmanager", "blackbox-exporter", "grafana", "kube-state-metrics", "node-exporter", "operator", "adapter"}}},
		"argocd": {"an aggregated role, instances with a finalizer, Secrets, a Job with a time to live, and a Deployment that changes its strategy", 55, parameters{0, map[string]string{
			"applications": "Application", "applicationsets": "ApplicationSet", "appprojects": "AppProject",
		}, []string{"application-controller", "dex", "notifications", "redis", "repo-server", "server"}}},
		"knative": {"webhooks after their servers, autoscalers, and instances in all namespaces", 75, parameters{0, map[string]string{
			"certificates": "Certificate", "configurations": "Configuration", "domains": "Domain", "ingresses": "Ingress",
			"metrics": "Metric", "revisions": "Revision", "routes": "Route",
		}, []string{"activator", "autoscaler", "controller", "domain-mapping", "net", "webhook"}}},
	}
	for title, tc := range sets {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := &lived{world: newWorld(t, unready), suffixes: []string{"", "-monitoring", "-serving"}}
			version := 1
			templates := manifests.Templates(os.DirFS("testdata/sets"), title+".yaml")
			w.generator = manifests.GeneratorFunc[*ShopSpec](func(ctx context.Context, namespace, name string, _ *ShopSpec) ([]client.Object, error) {
				tc.of.Version = version
				return templates.Generate(ctx, namespace, name, tc.of)
			})
			w.restart()
			if n := len(w.wanted()); n < tc.objects {
				t.Fatalf("%s: the set has %d objects", tc.reason, n)
			}
			w.finish("apply", 0)
			w.isQuiet("apply")

			version = 2
			w.finish("upgrade", 25)
			w.isQuiet("upgrade")

			drifted := 0
			for i, obj := range w.wanted() {
				if i%2 == 0 && w.drift(obj) {
					drifted++
				}
			}
			if w.finish("repair", 0); drifted < 8 {
				t.Errorf("only %d objects drifted", drifted)
			}
			w.isQuiet("repair")

			w.delete()
			w.finish("delete", 25)
			for _, obj := range w.wanted() {
				err := api.Get(t.Context(), client.ObjectKeyFromObject(obj), obj)
				if client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) || err == nil {
					t.Errorf("after the deletion: %s %s: %v", obj.GetKind(), obj.GetName(), err)
				}
			}
			if left := w.stored(); len(left) > 0 {
				t.Errorf("the inventory has %q after the deletion", left)
			}
		})
	}
}

// wanted returns the objects of the set, as the generator makes them.
func (w *lived) wanted() (all []*unstructured.Unstructured) {
	w.t.Helper()
	objects, err := w.generator.Generate(w.t.Context(), w.ns, "shop", w.shop.GetSpec())
	must(w.t, err)
	for _, obj := range objects {
		u := obj.(*unstructured.Unstructured)
		if mapping, err := api.RESTMapper().RESTMapping(u.GroupVersionKind().GroupKind()); u.GetNamespace() == "" && err == nil && mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			u.SetNamespace(w.ns)
		}
		all = append(all, u)
	}
	return all
}

// finish runs passes until no work is left. A process crashes before a call once
// every each calls; 0: never. Controllers act between the passes.
func (w *lived) finish(phase string, each int) {
	w.t.Helper()
	calls, crashes, dead := 0, 0, false
	w.before = func(string) error {
		calls++
		if dead || each > 0 && calls%(each*(crashes+1)) == 0 {
			dead = true
			return errCrash
		}
		return nil
	}
	defer func() { w.before = nil }()
	for range 300 {
		res, err := w.pass()
		w.controllers()
		w.act()
		if dead {
			crashes, calls, dead = crashes+1, 0, false
			w.restart()
			continue
		}
		if err != nil && !errors.Is(err, errCrash) {
			w.t.Fatalf("%s: %v", phase, err)
		}
		if res.Proceeds() {
			w.t.Logf("%s: %d crashes", phase, crashes)
			return
		}
	}
	w.t.Fatalf("%s does not end", phase)
}

// act does the work of the controllers of the cluster and of the sets: it fills in the
// aggregated role, and releases the applications in deletion.
func (w *lived) act() {
	w.t.Helper()
	for _, u := range w.wanted() {
		switch {
		case strings.HasSuffix(u.GetName(), "-aggregated"):
			fill := []byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","rules":[{"apiGroups":["example.com"],"resources":["applications"],"verbs":["get"]}]}`)
			if err := api.Get(w.t.Context(), client.ObjectKeyFromObject(u), u.DeepCopy()); err == nil {
				must(w.t, api.Patch(w.t.Context(), u, client.RawPatch("application/apply-patch+yaml", fill),
					client.FieldOwner("clusterrole-aggregation-controller"), client.ForceOwnership))
			}
		case len(u.GetFinalizers()) > 0:
			err := api.Get(w.t.Context(), client.ObjectKeyFromObject(u), u)
			if err == nil && u.GetDeletionTimestamp() != nil {
				u.SetFinalizers(nil)
				must(w.t, client.IgnoreNotFound(api.Update(w.t.Context(), u)))
			}
		}
	}
}

// isQuiet fails the test if a pass writes, or if the plan has a change.
func (w *lived) isQuiet(phase string) {
	w.t.Helper()
	w.restart()
	w.writes()
	res, err := w.pass()
	if writes := w.writes(); err != nil || !res.Proceeds() || len(writes) > 0 {
		w.t.Errorf("after the phase %s a pass ends with %+v and %v, and writes %q", phase, res, err, writes)
	}
	plan, err := w.reconciler.Plan(w.t.Context(), w.ends, w.shop)
	must(w.t, err)
	problem := func(p string) bool { return strings.Contains(p, "cannot be discovered") }
	if plan.Problems = slices.DeleteFunc(plan.Problems, problem); plan.String() != "no changes\n" {
		w.t.Errorf("after the phase %s the plan is\n%s", phase, plan)
	}
}

// drift changes a field of the manifest as a person does with kubectl. It returns
// false for an object without such a field.
func (w *lived) drift(u *unstructured.Unstructured) bool {
	w.t.Helper()
	live := u.DeepCopy()
	must(w.t, api.Get(w.t.Context(), client.ObjectKeyFromObject(u), live))
	edits := map[string]func() error{
		"ConfigMap": func() error {
			return unstructured.SetNestedStringMap(live.Object, map[string]string{"edited": "1"}, "data")
		},
		"Deployment": func() error { return edit(live, "example.com/edited", "spec", "template", "spec", "containers") },
		"DaemonSet":  func() error { return edit(live, "example.com/edited", "spec", "template", "spec", "containers") },
		"Route":      func() error { return unstructured.SetNestedField(live.Object, "edited", "spec", "name") },
		"Domain":     func() error { return unstructured.SetNestedField(live.Object, "edited", "spec", "name") },
		"Application": func() error {
			return unstructured.SetNestedField(live.Object, "edited", "spec", "source", "targetRevision")
		},
		"Role":           func() error { return unstructured.SetNestedSlice(live.Object, nil, "rules") },
		"ServiceMonitor": func() error { return unstructured.SetNestedSlice(live.Object, nil, "spec", "endpoints") },
	}
	change := edits[u.GetKind()]
	if change == nil {
		return false
	}
	must(w.t, change())
	must(w.t, api.Update(w.t.Context(), live, client.FieldOwner("kubectl-edit")))
	return true
}

// edit sets the image of the first container.
func edit(u *unstructured.Unstructured, image string, path ...string) error {
	containers, found, err := unstructured.NestedSlice(u.Object, path...)
	if err != nil || !found || len(containers) == 0 {
		return fmt.Errorf("%s has no container: %w", u.GetName(), err)
	}
	containers[0].(map[string]any)["image"] = image
	return unstructured.SetNestedSlice(u.Object, containers, path...)
}
