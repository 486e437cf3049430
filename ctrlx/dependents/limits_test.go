package dependents_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// updates are the policies that change an object.
var updates = []string{"Replace", "SsaMerge", "SsaOverride"}

// yamlOf returns an object with an update policy.
func yamlOf(t *testing.T, text, policy string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	must(t, yaml.Unmarshal([]byte(text), &u.Object))
	u.SetAnnotations(map[string]string{name + "/update-policy": policy})
	return u
}

// TestRefusedByServer refuses the manifests that a PUT would store in part.
func TestRefusedByServer(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, manifest, want string }{
		"Unknown": {"a field that the kind lacks", `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {unknown: x, ports: [{port: 80}]}}`,
			".spec.unknown: field not declared in schema"},
		"Twice": {"two items with one key", `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{name: a, port: 80}, {name: b, port: 80}]}}`,
			"duplicate entries for key"},
	}
	for title, tc := range cases {
		for _, policy := range append([]string{"Recreate"}, updates...) {
			t.Run(title+"/"+policy, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, ready)
				res, err := w.ApplyObject(t.Context(), w.owner, yamlOf(t, tc.manifest, policy))
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s: got %s, %v, want %q", tc.reason, res.Outcome, err, tc.want)
				}
			})
		}
	}
}

// TestNull counts a null as absent, also that of a field that may be null.
func TestNull(t *testing.T) {
	t.Parallel()
	for _, policy := range updates {
		w := newWorld(t, ready)
		u := yamlOf(t, `{apiVersion: zoo.example.com/v1, kind: Zoo, metadata: {name: a}, spec: {flag: null, list: [x]}}`, policy)
		live, _ := w.apply(u).Object.(*unstructured.Unstructured)
		same(t, map[string]any{"list": []any{"x"}}, live.Object["spec"].(map[string]any), "%s", policy)
		if res := w.apply(u); res.Outcome != dependents.InSync {
			t.Errorf("%s: got %s %v", policy, res.Outcome, res.Fields)
		}
	}
}

// TestWithoutApply returns the error of an API that has no server-side apply, and
// writes in no other way.
func TestWithoutApply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.before = func(call string) error {
		if strings.Contains(call, "get ") {
			return nil
		}
		return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", schema.GroupResource{Resource: "configmaps"}, "a", "", 0, true)
	}
	_, err := w.ApplyObject(t.Context(), w.owner, configMap(nil, nil))
	if !apierrors.IsUnsupportedMediaType(err) || len(w.writes()) != 1 || w.read() != nil {
		t.Errorf("got %v", err)
	}
}

// TestWebhook corrects a value that a webhook changes during the write of another
// manager at the reapply interval: the managed fields do not tell.
func TestWebhook(t *testing.T) {
	t.Parallel()
	for _, policy := range updates {
		w := newWorld(t)
		reads := changing{api, func(obj client.Object) {
			if cm, ok := obj.(*corev1.ConfigMap); ok && cm.Data != nil {
				cm.Data["k"] = "hooked"
			}
		}}
		w.Dependents = dependents.New(name, cluster{reads, api}, dependents.WithClock(w.clock))
		cm := configMap([]string{"update-policy", policy}, []string{"k", "1"})
		w.apply(cm)
		got := []string{w.apply(cm).Outcome.String()}
		w.clock.SetTime(w.clock.Now().Add(time.Hour))
		got = append(got, w.apply(cm).Outcome.String())
		same(t, []string{"in sync", "updated"}, got, "%s", policy)
	}
}

// TestOtherForm corrects a field once that another manager forces in another form,
// and then names the manager.
func TestOtherForm(t *testing.T) {
	t.Parallel()
	for _, policy := range updates {
		w := newWorld(t, ready)
		d := deployment("nginx", nil)
		d.Annotations = map[string]string{name + "/update-policy": policy}
		d.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"memory": resource.MustParse("1Gi")}
		w.apply(d)
		force := func() {
			u := yamlOf(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: web, resources: {requests: {memory: 1024Mi}}}]}}}}`, policy)
			u.SetNamespace(w.ns)
			must(t, api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("flux"), client.ForceOwnership))
		}
		var got []string
		for range 2 {
			force()
			res := w.apply(d)
			got = append(got, fmt.Sprint(res.Outcome, " ", res.Contested, " ", res.Fields))
		}
		const field = `[spec.template.spec.containers[name="web"].resources.requests.memory is managed by flux]`
		same(t, []string{"updated false " + field, "waiting true " + field}, got, "%s", policy)
	}
}

// TestStrategy changes the strategy of a Deployment in place, although the API server
// refuses the defaults of the old one, which no manager owns. A crash between the two
// requests loses nothing.
func TestStrategy(t *testing.T) {
	t.Parallel()
	for _, policy := range updates {
		w := newWorld(t, ready)
		d := deployment("nginx", nil)
		d.Annotations = map[string]string{name + "/update-policy": policy}
		uid := w.apply(d).Object.GetUID()
		d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		d.Spec.Template.Spec.Containers[0].Image = "apache"
		tried, err := w.DryRun().ApplyObject(t.Context(), w.owner, d)
		must(t, err)
		strategy := tried.Object.(*appsv1.Deployment).Spec.Strategy
		want := appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		if diff := cmp.Diff(want, strategy); diff != "" || !cmp.Equal(tried.Removed, []string{"spec.strategy.rollingUpdate"}) || tried.Outcome != dependents.Updated {
			t.Errorf("%s: the trial: %s, removed %q, -want +got:\n%s", policy, tried.Outcome, tried.Removed, diff)
		}
		patched := false
		w.before = func(call string) error {
			switch {
			case strings.HasPrefix(call, "patch"):
				patched = true
			case patched:
				return errors.New("stopped")
			}
			return nil
		}
		if _, err := w.ApplyObject(t.Context(), w.owner, d); err == nil || !patched {
			t.Errorf("%s: the write does not stop: %v", policy, err)
		}
		w.before = nil
		w.restart()
		got := w.settle(d).Object.(*appsv1.Deployment)
		if diff := cmp.Diff(want, got.Spec.Strategy); diff != "" || got.UID != uid || got.Spec.Template.Spec.Containers[0].Image != "apache" {
			t.Errorf("%s: %v, -want +got:\n%s", policy, got, diff)
		}
	}
}

// TestStrategyOfAnother leaves the fields of another manager. The error names the policy
// that changes the object. Replace takes them over, which a dry-run cannot try.
func TestStrategyOfAnother(t *testing.T) {
	t.Parallel()
	for _, policy := range updates {
		w := newWorld(t, ready)
		d := deployment("nginx", nil)
		d.Annotations = map[string]string{name + "/update-policy": policy}
		w.apply(d)
		other := yamlOf(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: "+d.Name+", namespace: "+w.ns+"}, spec: {strategy: {rollingUpdate: {maxSurge: 3}}}}", policy)
		other.SetAnnotations(nil)
		must(t, api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(other), client.FieldOwner("tool")))
		d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		_, tried := w.DryRun().ApplyObject(t.Context(), w.owner, d)
		_, err := w.ApplyObject(t.Context(), w.owner, d)
		if policy == "Replace" {
			if w.settle(d); tried != nil || err != nil {
				t.Errorf("%s: %v, %v", policy, tried, err)
			}
			continue
		}
		const want = "to delete the object and create it again, set web.example.com/update-policy=Recreate: "
		if err == nil || tried == nil || !strings.Contains(err.Error(), want) || !strings.Contains(tried.Error(), want) {
			t.Errorf("%s: %v, %v", policy, tried, err)
		}
		d.Annotations[name+"/update-policy"] = "Recreate"
		if res := w.settle(d); res.Object.(*appsv1.Deployment).Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
			t.Errorf("%s: got %v", policy, res.Object)
		}
	}
}

// TestTakeoverUntried writes an object whose trial the API server refuses, because the
// other manager has the field of another choice in an item of a list.
func TestTakeoverUntried(t *testing.T) {
	t.Parallel()
	const text = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}], volumes: [{name: v, %s}]}}}}`
	w := newWorld(t, ready)
	foreign := yamlOf(t, fmt.Sprintf(text, "secret: {secretName: x}"), "Replace")
	foreign.SetNamespace(w.ns)
	must(t, api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(foreign), client.FieldOwner("tool")))
	d := yamlOf(t, fmt.Sprintf(text, "configMap: {name: x}"), "Replace")
	tried, err := w.DryRun().ApplyObject(t.Context(), w.owner, d)
	if err != nil || tried.Outcome != dependents.Updated || tried.Object != nil || tried.Pending == nil {
		t.Errorf("the trial: %+v, %v", tried, err)
	}
	got := w.settle(d).Object.(*appsv1.Deployment).Spec.Template.Spec.Volumes[0]
	if got.Secret != nil || got.ConfigMap == nil {
		t.Errorf("got %v", got)
	}
}

// TestKindOfProbe changes the kind of a probe and of a volume, which the API server
// gives defaults.
func TestKindOfProbe(t *testing.T) {
	t.Parallel()
	const text = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a, livenessProbe: {%s}}], volumes: [{name: v, %s}]}}}}`
	for _, policy := range updates {
		w := newWorld(t, ready)
		w.apply(yamlOf(t, fmt.Sprintf(text, "httpGet: {path: /, port: 80}", "configMap: {name: x}"), policy))
		w.apply(yamlOf(t, fmt.Sprintf(text, "exec: {command: [x]}", "secret: {secretName: x}"), policy))
	}
}

// TestCreateOnly never adopts an object by a create, also if the cache and the live
// read lack it, and recreates none that an update has lost.
func TestCreateOnly(t *testing.T) {
	t.Parallel()
	for _, policy := range updates {
		w := newWorld(t)
		w.foreign("kubectl", "k", "foreign")
		version := w.read().ResourceVersion
		d := dependents.New(name, cluster{missing{api}, missing{api}}, dependents.WithClock(w.clock))
		_, err := d.ApplyObject(t.Context(), w.owner, configMap([]string{"update-policy", policy}, []string{"k", "1"}))
		if !apierrors.IsConflict(err) || w.read().ResourceVersion != version {
			t.Errorf("%s: got %v", policy, err)
		}
		w.settle(configMap([]string{"update-policy", policy}, []string{"k", "1"}))
		pending, err := w.DryRun().ApplyObject(t.Context(), w.owner, configMap([]string{"update-policy", policy}, []string{"k", "2"}))
		must(t, err)
		must(t, api.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "a"}}))
		if _, err := w.ApplyChecked(t.Context(), pending.Pending); !apierrors.IsConflict(err) || w.read() != nil {
			t.Errorf("%s: an object that is gone: got %v", policy, err)
		}
	}
}
