package component_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/manifests"
	"github.com/windlass-go/windlass/flow"
)

// unready makes objects with data k=wait unready, because no controller runs.
var unready = component.WithDependents(dependents.WithReadiness(func(obj client.Object) checks.Readiness {
	if strings.Contains(textOf(obj), `"k":"wait"`) {
		return checks.Readiness{State: checks.NotReady, Reason: "ReplicaFailure", Message: "exceeded quota"}
	}
	return checks.Readiness{State: checks.Ready}
}))

// A wave begins when all objects of the wave before are ready. In sync, a pass
// makes no write and no read past the cache.
func TestWaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unready)
	w.want(configMap("b", "1", "apply-order", "1"), configMap("a", "wait", "apply-order", "-1"), configMap("c", "1", "apply-order", "-1"))
	res, err := w.pass()
	must(t, err)
	if want := "wave 1 of 2: 1 of 2 objects are ready: ConfigMap a: ReplicaFailure: exceeded quota"; res.Proceeds() || res.Message() != want || res.Reason() != "Processing" {
		t.Errorf("the first pass: %+v, want %s", res, want)
	}
	same(t, []checks.Ref{{Kind: "ConfigMap", Namespace: w.ns, Name: "a"}}, res.WaitingFor(), "the awaited objects")
	same(t, []string{"store Shop shop", "write ConfigMap a", "write ConfigMap c"}, w.writes(), "the writes of the first pass")
	w.want(configMap("b", "1", "apply-order", "1"), configMap("a", "2", "apply-order", "-1"), configMap("c", "1", "apply-order", "-1"))
	w.settle()
	same(t, []string{"a=2", "b=1", "c=1"}, w.names(), "the objects")
	w.settle() // the process verifies the objects that it wrote
	w.calls = nil
	w.settle()
	same(t, []string{"get ConfigMap a", "get ConfigMap c", "get ConfigMap b"}, w.calls, "the calls in sync")
}

// A wave is tried by dry-run. If one write fails, nothing of the wave is written.
func TestPreflight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(configMap("a", "1", "apply-order", "-1"), configMap("b", "1"), bad)
	w.refused("wave 2 of 2 is not written: Secret " + w.ns + "/bad: ")
	same(t, []string{"a=1"}, w.names(), "the objects")
	w.create(configMap("theirs", "1"))
	w.want(configMap("c", "1"), configMap("theirs", "2", "adoption-policy", "Never"))
	_, err := w.pass()
	if err == nil || !strings.Contains(err.Error(), "it exists and has no owner") {
		t.Errorf("an object that is not ours: %v", err)
	}
	if wait, ok := errors.AsType[*flow.WaitError](err); !ok || !cmp.Equal(wait.Refs, []checks.Ref{{Kind: "ConfigMap", Namespace: w.ns, Name: "theirs"}}) {
		t.Errorf("the error awaits %+v", wait)
	}
	if e, ok := errors.AsType[ctrlx.RetriableError](err); !ok || e.Reason() != "DependentNotOurs" {
		t.Errorf("the reason of the error is %q", e.Reason())
	}
	same(t, []string{"a=1", "theirs=1"}, w.names(), "the objects")
}

// A user who may not bind other roles can bind a Role of the set, because the Role is
// written before the dry-run of the RoleBinding. A ServiceAccount is written before the
// dry-run of its Pod. The API server of the tests does not require it.
func TestPreflightOfRights(t *testing.T) {
	t.Parallel()
	var waves []string
	w := newWorld(t, component.WithDependents(dependents.WithReadiness(func(client.Object) checks.Readiness { return checks.Readiness{State: checks.Ready} })),
		noted(&waves))
	_, w.process.Target = w.user("{apiGroups: ['*'], resources: ['*'], verbs: [get, list, create, update, patch, delete]}", &corev1.PodList{})
	w.want(
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {serviceAccountName: s, containers: [{name: c, image: i}]}\n", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: s}\n",
		fmt.Sprintf(role, "RoleBinding", "r")+fmt.Sprintf(bound, "Role", "r"), fmt.Sprintf(role, "Role", "r")+"rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n",
	)
	w.settle()
	same(t, []string{"wave 1 of 2 ServiceAccount", "wave 1 of 2 Role", "wave 2 of 2 RoleBinding", "wave 2 of 2 Pod"}, waves, "the waves")
}

// noted returns an option that notes the kinds that each wave writes.
func noted(waves *[]string) component.Option {
	link := chain.Named("noted", chain.Before[*component.Set, checks.Result](func(_ context.Context, w *component.Set) error {
		for _, r := range w.Pending() {
			*waves = append(*waves, w.Name()+" "+r.Ref().Kind)
		}
		return nil
	}))
	return component.WithWaveChain(func(c component.Chain) (component.Chain, error) { return c.InsertAfter("Look", link) })
}

// A chain without a link that finds or stores what a wave writes is an error. Nothing is
// written that the inventory lacks.
func TestWithoutLink(t *testing.T) {
	t.Parallel()
	without := func(link string) func(component.Chain) (component.Chain, error) {
		return func(c component.Chain) (component.Chain, error) { return c.Without(link) }
	}
	cases := map[string]struct {
		reason, purge string
		opts          []component.Option
		want, plan    string // parts of the errors
	}{
		"Look":      {"no write is found", "", []component.Option{component.WithWaveChain(without("Look"))}, "no link has applied it: keep the link Look in the wave chain", "<nil>"},
		"Inventory": {"the object would be forgotten", "", []component.Option{component.WithApplyChain(without("Inventory"))}, "the inventory lacks it", "the inventory lacks it"},
		"Both": {"the purge would be forgotten", "0", []component.Option{component.WithApplyChain(without("Inventory")), component.WithWaveChain(without("Look")), component.WithWaveChain(func(c component.Chain) (component.Chain, error) {
			return c.Append(given(checks.Proceed())), nil
		})}, "the inventory lacks it", "<nil>"},
	}
	for name, tc := range cases {
		w := newWorld(t, tc.opts...)
		w.want(configMap("a", "1", "purge-order", tc.purge))
		if res, err := w.pass(); err == nil || !strings.Contains(err.Error(), "ConfigMap "+w.ns+"/a: "+tc.want) || len(w.wrote("")) > 0 {
			t.Errorf("%s: %s: got %+v, %v", name, tc.reason, res, err)
		}
		if _, err := w.plan(); !strings.Contains(fmt.Sprint(err), tc.plan) {
			t.Errorf("%s: %s: a plan: %v", name, tc.reason, err)
		}
	}
}

// given returns a link with this result.
func given(res checks.Result) chain.Middleware[*component.Set, checks.Result] {
	return chain.Named("given", func(component.Handler) component.Handler {
		return func(context.Context, *component.Set) (checks.Result, error) { return res, nil }
	})
}

// A link around a wave or a set proceeds or blocks. A block keeps all that the link
// says, and is a problem of a plan. Any other result is an error.
func TestResultOfLink(t *testing.T) {
	t.Parallel()
	closed := checks.Block("Closed", "opens at 22:00", checks.WithAfter(time.Hour), checks.WithRetry(classify.OnChange), checks.WithWaitingForSelf(), checks.WithStatusKept())
	cases := map[string]struct {
		reason    string
		is        checks.Result
		want, err string
	}{
		"Zero":   {"a link that forgets its result", checks.Result{}, "", `a link returned the result "undecided"`},
		"Ignore": {"it would leave the condition as it is", checks.Ignore("not mine"), "", `a link returned the result "ignore: not mine"`},
		"Skip":   {"it would leave out the checks after the set", checks.Skip("forced"), "proceed", ""},
		"Block":  {"the link decides how to wait", closed, closed.String(), ""},
	}
	for title, tc := range cases {
		opts := map[string]component.Option{
			"wave": component.WithWaveChain(func(c component.Chain) (component.Chain, error) { return c.Append(given(tc.is)), nil }),
			"set":  component.WithApplyChain(func(c component.Chain) (component.Chain, error) { return c.Prepend(given(tc.is)), nil }),
		}
		for around, opt := range opts {
			w := newWorld(t, opt)
			w.want(configMap("a", "1"))
			res, err := w.pass()
			got := strings.Replace(res.String(), "wave 1 of 1: 0 of 1 objects are ready: ", "", 1)
			if tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) || tc.err == "" && (err != nil || got != tc.want || res.KeepsStatus() != tc.is.KeepsStatus()) {
				t.Errorf("%s around a %s: %s: got %s, %v", title, around, tc.reason, got, err)
			}
			if p, err := w.plan(); tc.is.Blocked() && (err != nil || len(p.Problems) != 1 || p.Problems[0] != tc.is.Message()) {
				t.Errorf("%s around a %s: the plan is %+v, %v", title, around, p, err)
			}
		}
	}
}

// An error about one object keeps no other one from being written, or deleted. It is not
// hidden by an object that the pass waits for.
func TestErrorOfOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fails := func(verb string) {
		t.Helper()
		failure := errors.New("no quota")
		w.fail(verb+" ConfigMap a", failure)
		if res, err := w.pass(); !errors.Is(err, failure) || !strings.Contains(err.Error(), "ConfigMap "+w.ns+"/a") {
			t.Errorf("%s: the error does not name the object and the cause: %+v, %v", verb, res, err)
		}
		w.before = nil
	}
	w.want(configMap("a", "1"), strings.Replace(configMap("held", "1"), "name: held", "name: held\n  finalizers: [example.com/other]", 1))
	fails("write")
	same(t, []string{"held=1"}, w.names(), "the objects")
	w.settle()
	same(t, []string{"a=1", "held=1"}, w.names(), "the objects")
	w.want()
	w.writes()
	fails("delete")
	same(t, 2, len(w.wrote("delete")), "the number of deletions")
	w.patch("held", noFinalizers)
	w.settle()
}

// The message ends with an actual problem, wherever its object is in the wave.
func TestCause(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []string
	for _, n := range []string{"w1", "w2", "w3", "w4", "w5"} {
		all = append(all, strings.Replace(web, "name: web, ", "name: "+n+", ", 1))
	}
	w.want(all...)
	w.passes(1)
	for _, broken := range []string{"w1", "w2", "w5"} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: broken}}
		report := func(conditions string) {
			must(t, api.Status().Patch(t.Context(), d, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"conditions":`+conditions+`}}`))))
		}
		report(`[{"type":"ReplicaFailure","status":"True","message":"exceeded quota"}]`)
		if res := w.passes(1); !strings.HasSuffix(res.Message(), "exceeded quota") {
			t.Errorf("the message does not end with the problem of %s: %s", broken, res.Message())
		}
		report("null")
	}
}

// An object whose webhook allows no dry-run is written without one.
func TestPreflightWithoutDryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.before = func(call string) error {
		if strings.HasPrefix(call, "try write ConfigMap") {
			return apierrors.NewBadRequest("admission webhook does not support dry run")
		}
		return nil
	}
	w.want(configMap("a", "1"))
	w.settle()
	same(t, []string{"a=1"}, w.names(), "the objects")
	w.want(configMap("a", "2"), configMap("b", "1"))
	p, err := w.plan()
	must(t, err)
	const want = "wave 1 of 1\n  ~  update ConfigMap NS/a (not checked by the API server)\n  +  create ConfigMap NS/b (not checked by the API server)\n"
	same(t, want, strings.ReplaceAll(p.String(), w.ns, "NS"), "the plan")
}

// Webhooks come after the objects that may be their servers, and before the instances that
// they check. The API server needs an account and a role to accept a Pod and a binding, even
// by dry-run. Instances of managed types come last, also those of an additional type. A
// deletion runs in the reverse order. A link sees what a wave writes.
func TestOrderOfKinds(t *testing.T) {
	t.Parallel()
	var waves []string
	w := newWorld(t, noted(&waves))
	crd, kind := w.definition()
	hook := "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: NAMESPACE}\n"
	account := "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n"
	service := "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n"
	binding := fmt.Sprintf(role, "RoleBinding", "r") + "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\n"
	of, additional := (&world{ns: w.ns + "-b"}).definition()
	w.create(of)
	all := []string{mill(additional, "additional"), mill(kind, "ours"), hook, service, binding, configMap("a", "1"), crd, account, fmt.Sprintf(role, "Role", "r")}
	w.change(func(s *Shop) { s.Spec.ManagedTypes = []metav1.GroupVersionKind{{Group: additional.Group, Kind: "*"}} })
	w.want(all...)
	w.settle()
	same(t, []string{
		"wave 1 of 4 ServiceAccount", "wave 1 of 4 Role", "wave 2 of 4 CustomResourceDefinition", "wave 2 of 4 RoleBinding", "wave 2 of 4 ConfigMap",
		"wave 2 of 4 Service", "wave 3 of 4 ValidatingWebhookConfiguration", "wave 4 of 4 Mill", "wave 4 of 4 Mill",
	}, waves, "the waves")
	mills := "CustomResourceDefinition mills." + kind.Group
	same(t, []string{
		"ServiceAccount web", "Role r", mills, "RoleBinding r", "ConfigMap a", "Service web", "ValidatingWebhookConfiguration " + w.ns, "Mill additional", "Mill ours",
	}, objects(w.wrote("write "), "write "), "the creates")
	w.want(append(all, configMap("b", "1"))...) // after the Service in the inventory
	w.settle()
	w.delete()
	w.settle()
	same(t, []string{
		"Mill ours", "Mill additional", "ValidatingWebhookConfiguration " + w.ns, "Service web", "ConfigMap b", "ConfigMap a", "RoleBinding r", "Role r", "ServiceAccount web", mills,
	}, objects(w.wrote("delete "), "delete "), "the deletions")
}

// objects returns the objects of writes with a verb.
func objects(writes []string, verb string) (all []string) {
	for _, call := range writes {
		if object, found := strings.CutPrefix(call, verb); found {
			all = append(all, object)
		}
	}
	return all
}

// A request without an answer is made again at once, because an error of one request would
// throw away the pass: with many objects no pass would end.
func TestTransientAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := 0
	w.before = func(call string) error {
		if n++; n%4 == 0 {
			return apierrors.NewServiceUnavailable("restarting")
		}
		return nil
	}
	all := []string{configMap("b", "1", "delete-order", "1")}
	for _, object := range []string{"c", "d", "e", "f", "g"} {
		all = append(all, configMap(object, "1"))
	}
	w.want(all...)
	w.settle()
	w.want(all[0])
	w.settle()
	w.delete()
	if w.settle(); len(w.names()) > 0 || n < 16 {
		t.Errorf("after %d requests the objects are %q", n, w.names())
	}
}

// TestTelemetry verifies that the observer of a reconciler sees the links of its
// sets, waves and changed dependents, and no link of a dependent in sync.
func TestTelemetry(t *testing.T) {
	l := newLarge(t, 4)
	var seen []string
	log := funcr.New(func(_, args string) {
		var at [3]string
		for i, key := range []string{`"point"="`, `"link"="`, `"verdict"="`} {
			_, text, _ := strings.Cut(args, key)
			at[i], _, _ = strings.Cut(text, `"`)
		}
		if slices.Contains([]string{"Set", "Wave", "Dependent"}, at[0]) && at[2] != "" {
			seen = append(seen, strings.Join(at[:], " "))
		}
	}, funcr.Options{Verbosity: 2})
	pass := func(want ...string) {
		t.Helper()
		seen = nil
		l.pass(logr.NewContext(t.Context(), log), t)
		slices.Sort(seen)
		same(t, want, slices.Compact(seen), "it differs")
	}
	sets := []string{
		"Set Inventory proceed", "Set Recover proceed", "Set Redundant proceed",
		"Wave Look proceed", "Wave Namespaces proceed", "Wave Preflight proceed", "Wave Recover proceed",
	}
	pass(sets...)
	c := l.manager.GetClient()
	must(t, c.Delete(t.Context(), l.objects[1]))
	eventually(t, "the cache has the deletion", func() bool { return c.Get(t.Context(), clientKey(l.objects[1]), &corev1.ConfigMap{}) != nil })
	pass(append([]string{
		"Dependent Adopt proceed", "Dependent Create proceed", "Dependent DryRun proceed", "Dependent InSync proceed", "Dependent Read proceed",
		"Dependent Ready proceed", "Dependent Recover proceed", "Dependent Terminating proceed",
	}, sets...)...)
}

// TestTable compares the table of the page with the links of a component. Links
// that only read, recover or carry settings have no row.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/from-component-operator-runtime.md")
	must(t, err)
	_, section, found := strings.Cut(string(text), "\n## The links of a component\n")
	if !found {
		t.Fatal("the page has no section about the links")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for _, name := range regexp.MustCompile("`([A-Z][A-Za-z]+)`").FindAllStringSubmatch(section, -1) {
		listed = append(listed, name[1])
	}
	var want []string
	for _, link := range regexp.MustCompile("[A-Z][A-Za-z]+").FindAllString(component.New[*Shop](name, manifests.GeneratorFunc[*ShopSpec](nil)).String(), -1) {
		if !slices.Contains([]string{"Recover", "Read", "ReadLive"}, link) {
			want = append(want, link)
		}
	}
	for _, all := range []*[]string{&want, &listed} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}
	same(t, want, listed, "the table of the page")
}

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
	const image = `"/spec/template/spec/containers/0/image","value":"example.com/edited"`
	edits := map[string]string{
		"ConfigMap": `"/data","value":{"edited":"1"}`, "Deployment": image, "DaemonSet": image, "Route": `"/spec/name","value":"edited"`,
		"Domain": `"/spec/name","value":"edited"`, "Application": `"/spec/source/targetRevision","value":"edited"`,
		"Role": `"/rules","value":[]`, "ServiceMonitor": `"/spec/endpoints","value":[]`,
	}
	path := edits[u.GetKind()]
	if path == "" {
		return false
	}
	patch := client.RawPatch("application/json-patch+json", []byte(`[{"op":"replace","path":`+path+`}]`))
	must(w.t, api.Patch(w.t.Context(), u.DeepCopy(), patch, client.FieldOwner("kubectl-edit")))
	return true
}
