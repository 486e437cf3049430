package component_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
)

var update = flag.Bool("update", false, "write the files in testdata")

// The plan lists what a pass would do, by waves and fields, as a text and as JSON.
// It writes nothing, also not the inventory. It marks the writes that the API server
// cannot try.
// The flag -update writes the files.
func TestPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	crd, kind := w.definition("apply-order", "-1")
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {k: %s}\n"
	w.create(configMap("theirs", "1"))
	w.want(configMap("changed", "1"), configMap("same", "1"), configMap("recreated", "1", "update-policy", "Recreate"), configMap("gone", "1", "delete-order", "1"),
		configMap("kept", "1", "delete-policy", "Orphan"), strings.ReplaceAll(secret, "%s", "one"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: merged}\ndata: {k: '1', l: '1'}\n")
	w.settle()
	before := w.names()
	inventory := w.shop.Status.Inventory
	w.writes()
	w.want(configMap("changed", "2"), configMap("same", "1"), configMap("recreated", "2", "update-policy", "Recreate"), strings.ReplaceAll(secret, "%s", "two"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: merged, labels: {a.b/c: d, e_f: g}}\ndata: {k: '1'}\n",
		crd, mill(kind, "new"), strings.Replace(configMap("far", "1"), "name: far", "name: far\n  namespace: NAMESPACE-far", 1),
		strings.Replace(configMap("near", "1"), "name: near", "name: near\n  namespace: default", 1), // a namespace that exists
		configMap("theirs", "2", "adoption-policy", "Never", "apply-order", "1"), bad)
	p, err := w.plan()
	must(t, err)
	if writes := w.writes(); len(writes) > 0 {
		t.Errorf("the plan writes %q", writes)
	}
	same(t, before, w.names(), "the objects after the plan")
	same(t, inventory, w.shop.Status.Inventory, "the inventory after the plan")
	text, err := json.MarshalIndent(p, "", "  ")
	must(t, err)
	for file, got := range map[string]string{"plan.txt": p.String(), "plan.json": string(text) + "\n"} {
		got = strings.ReplaceAll(got, w.ns, "NAMESPACE")
		file = filepath.Join("testdata", file)
		if *update {
			must(t, os.MkdirAll("testdata", 0o755))
			must(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		must(t, err)
		same(t, string(want), got, "%s", file)
	}
	w.want(configMap("changed", "1"), configMap("same", "1"), configMap("recreated", "1", "update-policy", "Recreate"), strings.ReplaceAll(secret, "%s", "one"),
		configMap("gone", "1", "delete-order", "1"), configMap("kept", "1", "delete-policy", "Orphan"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: merged}\ndata: {k: '1', l: '1'}\n")
	if p, err := w.plan(); err != nil || p.String() != "no changes\n" {
		t.Errorf("the plan in sync is %s, %v", p, err)
	}
}

// The plan has the deletion of objects with a purge order, also before their
// definition exists, unless they are purged.
func TestPlanOfPurge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	crd, kind := w.definition()
	w.want(configMap("job", "1", "purge-order", "2"), configMap("b", "1"), crd,
		strings.Replace(mill(kind, "m"), "{name: m}", "{name: m, annotations: {shop.example.com/purge-order: '0'}}", 1),
		strings.Replace(mill(kind, "far"), "{name: far}", "{name: far, namespace: default}", 1))
	const want = "wave 1 of 2\n  +  create CustomResourceDefinition.apiextensions.k8s.io mills.GROUP\n  +  create ConfigMap NS/job\n  +  create ConfigMap NS/b\n" +
		"wave 2 of 2\n  +  create Mill.GROUP NS/m (not checked by the API server)\n  +  create Mill.GROUP default/far (not checked by the API server)\n" +
		"purge after the apply-order 2\n  -  delete ConfigMap NS/job\npurge after the apply-order 0\n  -  delete Mill.GROUP NS/m\n"
	p, err := w.plan()
	must(t, err)
	same(t, want, strings.ReplaceAll(strings.ReplaceAll(p.String(), kind.Group, "GROUP"), w.ns, "NS"), "the plan")
	w.settle()
	if p, err := w.plan(); err != nil || p.String() != "no changes\n" {
		t.Errorf("the plan of a purged object is %s, %v", p, err)
	}
}

// A plan has the fields that a server-side apply removes after it took over the fields
// of other managers, with the defaults that follow: the same fields as the real pass.
func TestPlanOfTakeover(t *testing.T) {
	t.Parallel()
	scaled := func(version, spec string) string {
		return "apiVersion: autoscaling/" + version + "\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n" +
			"spec: {minReplicas: 2, maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}" + spec + "}\n"
	}
	const labels = "metadata: {name: web, labels: {l: '1'}, finalizers: [example.com/f]}\n"
	const edited = "spec: {replicas: 3, minReadySeconds: 5, strategy: {rollingUpdate: {maxSurge: 2}}, template: {spec: {nodeName: node, containers: [{name: web, workingDir: /w, " +
		"env: [{name: E, value: e}, {name: F, value: f}], ports: [{containerPort: 80}]}, {name: side, image: side}]}}}\n"
	const part = "spec: {minReadySeconds: 5, template: {spec: {containers: [{name: web, env: [{name: F, value: f}]}]}}}\n"
	const deployment = "apiVersion: apps/v1\nkind: Deployment\n"
	untyped := func(text string) string {
		return "apiVersion: GROUP/v1\nkind: Mill\nmetadata: {name: mill}\n" + text + "\n"
	}
	web := strings.Replace(web, "  replicas: 1\n", "", 1) // the default is 1, too
	other := strings.Replace(web, "nginx", "apache", 1)
	cases := map[string]struct {
		reason, policy string
		before, after  string            // manifests
		others         map[string]string // server-side applies, by field manager
		taken          int               // fields that the plan removes
		further        []string          // what the plan lacks: fields that no manager owns
	}{
		"Alone":    {"there is nothing to take", "SsaOverride", web, other, nil, 0, nil},
		"Merge":    {"the fields of kubectl stay", "SsaMerge", web, other, map[string]string{"kubectl": deployment + labels + edited}, 0, nil},
		"Override": {"items of lists, defaults, labels", "SsaOverride", web, other, map[string]string{"kubectl": deployment + labels + edited}, 12, nil},
		"Shared":   {"what another manager has stays", "SsaOverride", web, other, map[string]string{"kubectl": deployment + labels + edited, "other": deployment + "metadata: {name: web}\n" + part}, 9, nil},
		"OurShare": {"a field that kubectl shares, and that the manifest loses", "SsaOverride", configMap("a", "1"), strings.Replace(configMap("a", "1"), "k:", "l:", 1), map[string]string{"kubectl": configMap("a", "1")}, 1, nil},
		"Strategy": {"the API server refuses the defaults of the old strategy", "Replace", web, strings.Replace(web, "\nspec:\n", "\nspec:\n  strategy: {type: Recreate}\n", 1), nil, 1, nil},
		"Lost":     {"a field that the manifest loses", "Replace", configMap("a", "1"), strings.Replace(configMap("a", "1"), "k:", "l:", 1), nil, 0, nil},
		"Untyped": {"a kind without a schema: maps, and lists as a whole", "SsaOverride", untyped("spec: {size: 1, list: [1]}"), untyped("spec: {size: 2}"), map[string]string{
			"kubectl": untyped("spec: {list: [1, 2], alone: {x: 1}, map: {a: 1, b: {c: 1, d: 1}}}"), "other": untyped("spec: {map: {b: {d: 1}}}"),
		}, 4, nil},
		"Version": {"the API server removes what no manager owns next to a removed field", "SsaOverride", scaled("v2", ""), strings.Replace(scaled("v2", ""), "minReplicas: 2", "minReplicas: 3", 1), map[string]string{
			"kubectl": scaled("v2", ", behavior: {scaleDown: {stabilizationWindowSeconds: 9}}"), "other": scaled("v1", ", targetCPUUtilizationPercentage: 50"),
		}, 1, []string{
			`the plan lacks spec.behavior.scaleDown.policies: [{"periodSeconds":15,"type":"Percent","value":100}] -> none`,
			`the plan lacks spec.behavior.scaleDown.selectPolicy: "Max" -> none`,
			`the plan lacks spec.behavior.scaleUp.policies: [{"periodSeconds":15,"type":"Pods","value":4},{"periodSeconds":15,"type":"Percent","value":100}] -> none`,
			`the plan lacks spec.behavior.scaleUp.selectPolicy: "Max" -> none`,
			"the plan lacks spec.behavior.scaleUp.stabilizationWindowSeconds: 0 -> none",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			crd, kind := w.definition()
			if strings.Contains(tc.before, "GROUP") {
				w.create(crd)
				w.serve(kind, map[string]bool{"v1": true})
			}
			parsed := func(text string) (*unstructured.Unstructured, error) {
				return parsed(strings.ReplaceAll(text, "GROUP", kind.Group))
			}
			wants := func(text, policy string) *unstructured.Unstructured {
				u, err := parsed(text)
				must(t, err)
				u.SetAnnotations(map[string]string{"shop.example.com/update-policy": policy})
				w.want(textOf(u))
				u.SetNamespace(w.ns)
				return u
			}
			live := wants(tc.before, tc.policy)
			w.passes(2) // no controller makes a Deployment ready
			for manager, text := range tc.others {
				u, err := parsed(text)
				must(t, err)
				u.SetNamespace(w.ns)
				must(t, api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(manager), client.ForceOwnership))
			}
			wants(tc.after, tc.policy)
			p, err := w.plan()
			must(t, err)
			read := func() *unstructured.Unstructured {
				u := live.DeepCopy()
				must(t, api.Get(t.Context(), clientKey(u), u))
				return u
			}
			before := read()
			w.writes()
			w.passes(1)
			want := component.Changes(before, read())
			var got, missing []string
			unchecked, taken := false, 0
			for _, c := range p.Changes {
				got, unchecked = append(got, c.Fields...), c.Unchecked
			}
			about := func(a, b string) bool { // one of the paths contains the other; a list is one field
				a, b = a[:strings.IndexAny(a, "[:")], b[:strings.IndexAny(b, "[:")]
				return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
			}
			for _, f := range got {
				if strings.HasSuffix(f, ": removed") {
					taken++
				}
				if !slices.ContainsFunc(want, func(real string) bool { return about(real, f) }) {
					missing = append(missing, "the pass leaves "+f)
				}
			}
			for _, real := range want {
				if !slices.ContainsFunc(got, func(f string) bool { return about(real, f) }) {
					missing = append(missing, "the plan lacks "+real)
				}
			}
			if taken != tc.taken || unchecked != (taken > 0) || len(p.Problems) > 0 || !cmp.Equal(missing, tc.further) {
				t.Errorf("%s: %d taken, unchecked: %v, problems: %q, %q, the plan is %s", tc.reason, taken, unchecked, p.Problems, missing, p)
			}
		})
	}
}

// The plan of a deletion, and that of a definition that is not needed any more, has
// the foreign instances and finalizers as problems. It lists what is deleted and kept,
// too. A pattern needs the discovery of a manager or a cluster.
func TestPlanOfBlocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	crd, kind := w.definition()
	w.want(crd, configMap("a", "1"))
	w.settle()
	w.writes()
	w.create(mill(kind, "foreign"))
	const (
		definition = "redundant, wave 1\n  -  delete CustomResourceDefinition.apiextensions.k8s.io mills.GROUP\n"
		instance   = "problem: objects of managed types would be lost, because this component does not own them; delete them first: Mill.GROUP NS/foreign\n"
	)
	want := func(reason string, cluster dependents.Cluster, want string) {
		t.Helper()
		must(t, api.Get(t.Context(), clientKey(w.shop), w.shop))
		p, err := w.reconciler.Plan(t.Context(), cluster, w.shop)
		must(t, err)
		got := strings.ReplaceAll(strings.ReplaceAll(p.String(), kind.Group, "GROUP"), w.ns, "NS")
		same(t, want, got, "%s: the plan", reason)
	}
	w.want(configMap("a", "1"))
	want("the definition is redundant", w.ends, instance+definition)
	w.want(crd, configMap("a", "1"), configMap("later", "1", "delete-order", "1"), configMap("kept", "1", "delete-policy", "OrphanOnDelete"))
	w.settle()
	w.writes()
	w.change(func(s *Shop) { s.Finalizers = append(s.Finalizers, "example.com/other") })
	w.delete()
	const finalizer = "problem: other controllers must remove their finalizers first: example.com/other\n"
	const deletion = "deletion wave 1\n  o  orphan ConfigMap NS/kept\n  -  delete ConfigMap NS/a\n" +
		"deletion wave 2\n  -  delete CustomResourceDefinition.apiextensions.k8s.io mills.GROUP\n" +
		"deletion wave 3\n  -  delete ConfigMap NS/later\n"
	want("the component is in deletion", w.ends, finalizer+instance+deletion)
	if res, err := w.pass(); err != nil || res.Reason() != "DeletionBlocked" || res.After() > 0 {
		t.Errorf("the removal of a finalizer is an event: %+v, %v", res, err)
	}
	if writes := w.writes(); len(writes) > 0 {
		t.Errorf("the plans write %q", writes)
	}
	group := w.ns
	w = newWorld(t)
	w.change(func(s *Shop) {
		s.Spec.Manifests, s.Spec.ManagedTypes = []string{configMap("a", "1")}, []metav1.GroupVersionKind{{Group: kind.Group, Kind: "*"}}
	})
	w.settle()
	w.delete()
	const pattern = "deletion wave 1\n  -  delete ConfigMap NS/a\n"
	want("a pattern, without discovery", w.ends, "problem: the managed type *.GROUP cannot be discovered, so objects of managed types may exist: "+
		"give Plan a manager or a cluster of controller-runtime\n"+pattern)
	transport, err := rest.HTTPClientFor(config)
	must(t, err)
	want("a pattern, with discovery", discovered{w.ends, config, transport}, strings.ReplaceAll(instance, "NS", group)+pattern)
}

// discovered is a cluster with the methods for discovery.
type discovered struct {
	ends
	config    *rest.Config
	transport *http.Client
}

func (d discovered) GetConfig() *rest.Config     { return d.config }
func (d discovered) GetHTTPClient() *http.Client { return d.transport }

// plan plans a pass over the Shop.
func (w *world) plan() (*component.Plan, error) {
	w.t.Helper()
	must(w.t, api.Get(w.t.Context(), clientKey(w.shop), w.shop))
	return w.reconciler.Plan(w.t.Context(), w.ends, w.shop)
}

// The plan of an object in a version that is not served yet does not delete it.
func TestPlanOfUnservedVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	crd, kind := w.definition()
	w.create(crd)
	w.change(func(s *Shop) { s.Spec.ManagedTypes = []metav1.GroupVersionKind{{Group: kind.Group, Kind: "*"}} })
	w.want(mill(kind, "m"))
	w.settle()
	w.want(strings.Replace(mill(kind, "m"), "/v1", "/v2", 1))
	p, err := w.plan()
	must(t, err)
	if strings.Contains(p.String(), "delete Mill") {
		t.Errorf("the plan deletes an object that the set has:\n%s", p)
	}
}

// The definition of the set is planned again after it was deleted. The process knows
// the kind from before. The plan has no problem, because the pass has none. A missing
// namespace is one.
func TestPlanOfDefinitionAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, component.WithMissingNamespaces(component.MissingNamespacesDoNotCreate))
	crd, kind := w.definition()
	all := []string{crd, mill(kind, "m"), configMap("a", "1")}
	w.want(all...)
	w.settle()
	w.want(configMap("a", "1"))
	w.settle()
	w.want(append(all, strings.Replace(configMap("far", "1", "apply-order", "1"), "name: far", "name: far\n  namespace: NAMESPACE-far", 1))...)
	p, planned := w.plan()
	if planned != nil || len(p.Problems) != 1 || !strings.Contains(p.Problems[0], "-far\" not found") {
		t.Errorf("the namespace is missing, and the plan says: %v\n%s", planned, p)
	}
	w.want(all...)
	p, planned = w.plan()
	w.settle() // the pass succeeds
	if planned != nil || len(p.Problems) > 0 {
		t.Errorf("the pass succeeds, and the plan says: %v\n%s", planned, p)
	}
}
