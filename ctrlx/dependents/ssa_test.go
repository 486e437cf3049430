package dependents_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
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

// yamlOf returns an object with an update policy. Its whole numbers are exact.
func yamlOf(t *testing.T, text, policy string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	content, err := yaml.YAMLToJSON([]byte(text))
	must(t, err)
	must(t, u.UnmarshalJSON(content))
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
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, ready)
			res, err := w.ApplyObject(t.Context(), w.owner, yamlOf(t, tc.manifest, "Replace"))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %s, %v, want %q", tc.reason, res.Outcome, err, tc.want)
			}
		})
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
			got = append(got, fmt.Sprint(res.Outcome, " ", res.After > 0, " ", res.Fields))
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
		if diff := cmp.Diff(want, strategy); diff != "" || !slices.Contains(tried.Fields, "spec.strategy.rollingUpdate is removed") || tried.Outcome != dependents.Updated {
			t.Errorf("%s: the trial: %s, fields %q, -want +got:\n%s", policy, tried.Outcome, tried.Fields, diff)
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

// TestRefused returns the answer of the API server if a field may not be removed, or if
// the answer names no field. Nothing else is written, and RecreateImmutable deletes nothing.
func TestRefused(t *testing.T) {
	t.Parallel()
	server := deployment("nginx", nil)
	bare := yamlOf(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}}}`, "")
	cases := map[string]struct {
		reason string
		object client.Object
		fields []string // of the causes; nil: no details
		advice bool
	}{
		"NoDetails": {"a webhook names no field", server, nil, true},
		"NoCauses":  {"a webhook names no field", server, []string{}, true},
		"Top":       {"a field of the object itself", server, []string{"status"}, true},
		"Given":     {"the manifest has the field", server, []string{"spec.selector"}, true},
		"Absent":    {"the object lacks the field", server, []string{"spec.strategy.none"}, true},
		"Alone":     {"the manifest has no other field there", bare, []string{"spec.strategy.rollingUpdate"}, true},
		"Foreign":   {"another manager owns the field", server, []string{"spec.minReadySeconds"}, true},
		"Later":     {"one field may be removed, and another not", server, []string{"spec.progressDeadlineSeconds", "spec.none"}, true},
		"Namespace": {"a new one would lack all objects", &corev1.Namespace{}, []string{"spec.none"}, false},
		"Volume": {"a new one would lack the data", yamlOf(t, `{apiVersion: v1, kind: PersistentVolume, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: x.example.com, volumeHandle: a}}}`, ""),
			[]string{"spec.none"}, false},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, ready, recreateImmutable)
			obj := tc.object.DeepCopyObject().(client.Object)
			if obj.SetName("a"); !tc.advice {
				obj.SetName(w.ns + "-a")
			}
			if d, ok := w.apply(obj).Object.(*appsv1.Deployment); ok {
				d.Spec.MinReadySeconds = 3
				must(t, api.Update(t.Context(), d, client.FieldOwner("tool")))
			}
			refusal := apierrors.NewInvalid(schema.GroupKind{}, "a", nil)
			refusal.ErrStatus.Message = "field is immutable"
			if refusal.ErrStatus.Details = nil; tc.fields != nil {
				refusal.ErrStatus.Details = &metav1.StatusDetails{}
				for _, f := range tc.fields {
					refusal.ErrStatus.Details.Causes = append(refusal.ErrStatus.Details.Causes, metav1.StatusCause{Field: f})
				}
			}
			w.before = func(call string) error {
				if strings.HasPrefix(call, "write") {
					return refusal
				}
				return nil
			}
			obj.SetAnnotations(map[string]string{name + "/update-policy": "SsaMerge"})
			w.writes()
			_, err := w.ApplyObject(t.Context(), w.owner, obj)
			if !errors.Is(err, refusal) || len(w.writes()) != 1 || strings.Contains(err.Error(), "to delete the object") != tc.advice {
				t.Errorf("%s: got %v after %q", tc.reason, err, w.calls)
			}
		})
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

// TestTakeoverInterrupted fails the apply after the takeover of a changed field. The
// field then is one of this name, and must not count as in sync.
func TestTakeoverInterrupted(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		apply  func(*world) error // in place of the apply, or before it
	}{
		"Crash": {"the process ends", func(*world) error { return errEnd }},
		"Conflict": {"a controller writes the object", func(w *world) error {
			w.edit("controller", func(cm *corev1.ConfigMap) { cm.Annotations["seen"] = "1" })
			return nil
		}},
		"Bare": {"the object has lost all annotations", func(w *world) error {
			w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Annotations = nil })
			return nil
		}},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			cm := configMap([]string{"update-policy", "SsaOverride"}, []string{"k", "1"})
			w.settle(cm)
			w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"] = "2" })
			w.before = func(call string) error {
				if !strings.HasPrefix(call, "write") {
					return nil
				}
				w.before = nil
				return tc.apply(w)
			}
			if _, err := w.ApplyObject(t.Context(), w.owner, cm); err == nil {
				t.Errorf("%s: no error", tc.reason)
			}
			w.restart()
			res := w.apply(cm)
			if res.Outcome != dependents.Updated || w.read().Data["k"] != "1" {
				t.Errorf("%s: got %s with %v", tc.reason, res.Outcome, w.read().Data)
			}
			if res = w.apply(cm); res.Outcome != dependents.InSync {
				t.Errorf("%s: the next pass: got %s", tc.reason, res.Outcome)
			}
		})
	}
}

// TestTakeoverStripped writes an object whose cache strips the managed fields, as
// cache.TransformStripManagedFields does. They are read past the cache.
func TestTakeoverStripped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cache = strip
	w.settle(configMap([]string{"update-policy", "SsaOverride"}, []string{"k", "1", "dropped", "1"}))
	cached := w.read()
	strip(cached)
	w.cache = stale(cached)
	w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["g"] = "1" })
	second := configMap([]string{"update-policy", "SsaOverride"}, []string{"k", "2"})
	if _, err := w.ApplyObject(t.Context(), w.owner, second); !apierrors.IsConflict(err) || len(w.read().Data) != 3 {
		t.Errorf("a stale cache: got %v with %v", err, w.read().Data)
	}
	w.cache = strip
	w.settle(second)
	same(t, map[string]string{"k": "2"}, w.read().Data, "fields of kubectl, and fields that left the manifest")
	w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"] = "3" })
	if res := w.apply(second); res.Outcome != dependents.InSync {
		t.Errorf("only the digest counts without managed fields: got %s", res.Outcome)
	}
}

// TestTakeoverVersion leaves the fields of kubectl in another version of the API to
// kubectl, with their entry. The next pass writes nothing.
func TestTakeoverVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ready, dependents.WithPolicies(dependents.Policies{Update: dependents.UpdateSsaOverride}))
	target := autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "a"}
	must(t, api.Create(t.Context(), &autoscalingv1.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "a"},
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(target), MaxReplicas: 3, TargetCPUUtilizationPercentage: new(int32(50)),
		},
	}, client.FieldOwner("kubectl")))
	manifest := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: target, MaxReplicas: 3},
	}
	live := w.apply(manifest).Object.(*autoscalingv2.HorizontalPodAutoscaler)
	managers := map[string]bool{}
	for _, e := range live.ManagedFields {
		managers[e.Manager+" "+e.APIVersion] = true
	}
	want := map[string]bool{"kubectl autoscaling/v1": true, name + " autoscaling/v2": true}
	if diff := cmp.Diff(want, managers); diff != "" || *live.Spec.Metrics[0].Resource.Target.AverageUtilization != 50 {
		t.Errorf("-want, +got:\n%s", diff)
	}
	w.restart()
	if res := w.apply(manifest); res.Outcome != dependents.InSync {
		t.Errorf("the next pass: got %s %v", res.Outcome, res.Fields)
	}
}

func statefulSet(service string) client.Object {
	d := deployment("nginx", nil)
	return &appsv1.StatefulSet{ObjectMeta: d.ObjectMeta, Spec: appsv1.StatefulSetSpec{
		ServiceName: service, Selector: d.Spec.Selector, Template: d.Spec.Template,
	}}
}

// The policy Replace keeps the fields that Kubernetes sets after the create, and
// that the manifest lacks. Without them, the API server refuses each write of a Job
// and of a bound claim, an autoscaled object loses its replicas, and a volume its
// claim.
func TestReplaceKeeps(t *testing.T) {
	t.Parallel()
	const job = `{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {metadata: {labels: {app: a}}, spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}`
	const claim = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}}`
	const unclassed = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`
	const server = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}}}`
	const sized = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 2, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}}}`
	const nullMetadata = `{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {metadata: null, spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}`
	const nullLabels = `{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {metadata: {labels: null}, spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}`
	const nullVolume = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {volumeName: null, accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}}`
	const nullReplicas = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: null, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}}}`
	const volume = `{apiVersion: v1, kind: PersistentVolume, metadata: {name: NS}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: x.example.com, volumeHandle: a}}}`
	const reserved = `{apiVersion: v1, kind: PersistentVolume, metadata: {name: NS}, spec: {claimRef: {namespace: default, name: c}, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: x.example.com, volumeHandle: a}}}`
	const service = `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}`
	const balancer = `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: LoadBalancer, ports: [{port: 80}]}}`
	const account = `{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}`
	label := []string{"spec", "template", "metadata", "labels", "job-name"}
	uid, bound := []string{"spec", "claimRef", "uid"}, []string{"metadata", "annotations", "pv.kubernetes.io/bound-by-controller"}
	class, secrets, storage := []string{"spec", "loadBalancerClass"}, []string{"secrets"}, []string{"spec", "storageClassName"}
	set := func(value any, path ...string) func(*unstructured.Unstructured) error {
		return func(u *unstructured.Unstructured) error {
			must(t, unstructured.SetNestedField(u.Object, value, path...))
			return api.Update(t.Context(), u, client.FieldOwner("kube-controller-manager"))
		}
	}
	claimed := set(map[string]any{"namespace": "default", "name": "c", "uid": "9"}, "spec", "claimRef")
	balanced := func(u *unstructured.Unstructured) error {
		u.Object["spec"].(map[string]any)["type"] = "LoadBalancer"
		return set("x.example.com/b", class...)(u)
	}
	named := []any{map[string]any{"name": "token"}}
	bind := func(u *unstructured.Unstructured) error {
		u.Object["spec"].(map[string]any)["volumeName"] = "v"
		return api.Update(t.Context(), u, client.FieldOwner("kube-controller-manager"))
	}
	scale := func(u *unstructured.Unstructured) error {
		return api.SubResource("scale").Update(t.Context(), u, client.FieldOwner("kube-controller-manager"),
			client.WithSubResourceBody(&autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}))
	}
	cases := map[string]struct {
		reason         string
		first, second  string // manifests; the second one is applied after the reapply interval
		change         func(*unstructured.Unstructured) error
		path           []string
		want, wantLast any
	}{
		"Job":          {"the API server sets the selector", job, job, nil, label, "a", "a"},
		"Claim":        {"a controller sets the volume", claim, claim, bind, []string{"spec", "volumeName"}, "v", "v"},
		"NullMetadata": {"a template gives a null for the metadata", nullMetadata, nullMetadata, nil, label, "a", "a"},
		"NullLabels":   {"a template gives a null for the labels", nullLabels, nullLabels, nil, label, "a", "a"},
		"NullVolume":   {"a template gives a null for the volume", nullVolume, nullVolume, bind, []string{"spec", "volumeName"}, "v", "v"},
		"NullReplicas": {"a template gives a null for the replicas", nullReplicas, nullReplicas, scale, []string{"spec", "replicas"}, int64(3), int64(3)},
		"NullRemoved":  {"the manifest had the replicas, and has a null", sized, nullReplicas, nil, []string{"spec", "replicas"}, int64(2), int64(1)},
		"Scaled":       {"an autoscaler sets the replicas", server, server, scale, []string{"spec", "replicas"}, int64(3), int64(3)},
		"ScaledForced": {"the manifest has the replicas", sized, sized, scale, []string{"spec", "replicas"}, int64(3), int64(2)},
		"Volume":       {"a controller binds the volume to a claim", volume, volume, claimed, uid, "9", "9"},
		"VolumeOwn":    {"the manifest reserved the bound volume, and does so no more", reserved, volume, claimed, uid, "9", "9"},
		"VolumeBound":  {"the controller marks a claim that it chose", volume, volume, set("yes", bound...), bound, "yes", "yes"},
		"ClaimBound":   {"the controller marks a volume that it chose", claim, claim, set("yes", bound...), bound, "yes", "yes"},
		"ClaimClass":   {"a controller sets a default class that came later", unclassed, unclassed, set("std", storage...), storage, "std", "std"},
		"Class":        {"a webhook sets the class of a load balancer", service, balancer, balanced, class, "x.example.com/b", "x.example.com/b"},
		"Secrets":      {"OpenShift sets the secrets of an account", account, account, set(named, secrets...), secrets, named, named},
		"OwnRemoved":   {"the manifest had the replicas, and has them no more", sized, server, nil, []string{"spec", "replicas"}, int64(2), int64(1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			manifest := func(text string) *unstructured.Unstructured {
				return yamlOf(t, strings.ReplaceAll(text, "NS", w.ns), "Replace")
			}
			w.apply(manifest(tc.first))
			live := manifest(tc.first)
			read := func(want any) {
				t.Helper()
				must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: live.GetName()}, live))
				if got, _, err := unstructured.NestedFieldNoCopy(live.Object, tc.path...); !cmp.Equal(got, want) || err != nil {
					t.Errorf("%s: %v is %v, want %v (%v)", tc.reason, tc.path, got, want, err)
				}
			}
			must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: live.GetName()}, live))
			if tc.change != nil {
				must(t, tc.change(live))
			}
			read(tc.want)
			w.clock.SetTime(w.clock.Now().Add(time.Hour))
			if res := w.apply(manifest(tc.second)); res.Object == nil || len(w.writes()) != 2 {
				t.Errorf("%s: the object is not written again: %+v", tc.reason, res)
			}
			read(tc.wantLast)
		})
	}
}
