package dependents_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// ready makes every object ready, because no controller runs.
var ready = dependents.WithReadiness(func(client.Object) checks.Readiness { return checks.Readiness{State: checks.Ready} })

// TestInSync applies kinds whose manifests the API server changes while it stores
// them. The next pass makes no write and no read past the cache, also after a
// restart.
func TestInSync(t *testing.T) {
	t.Parallel()
	const server = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {paused: false, replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {
		containers: [{name: web, image: nginx, resources: {requests: {cpu: "0.5", memory: 1024Mi}, limits: {cpu: 1000m, memory: 1.5Gi}}}], initContainers: [{name: init, image: busybox, env: [{name: A, value: ""}]}]}}}}`
	const service = `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: NodePort, ports: [{name: http, port: 80, targetPort: web}]}}`
	cases := map[string]struct {
		reason string
		object client.Object
	}{
		"ConfigMap":  {"data", configMap(nil, []string{"k", "1"})},
		"Secret":     {"stringData becomes data", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}, StringData: map[string]string{"k": "1"}}},
		"Typed":      {"lists with keys, and zero values that the type has", deployment("nginx", new(int32(1)))},
		"Deployment": {"defaults, zero values, quantities in another form", yamlOf(t, server, "SsaOverride")},
		"Service":    {"addresses and node ports are assigned", yamlOf(t, service, "SsaOverride")},
		"GoNumber":   {"a number of a type that JSON lacks: DeepCopy would panic", object(testv1.GroupVersion.String(), "Database", "a", map[string]any{"size": 3})},
		"Custom":     {"a custom resource", &testv1.Database{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: testv1.DatabaseSpec{Cluster: "c", Size: 1}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, ready)
			if res := w.apply(tc.object); res.Outcome != dependents.Created {
				t.Fatalf("%s: got %s", tc.reason, res.Outcome)
			}
			for _, restarted := range []bool{false, true} {
				if restarted {
					w.restart()
				}
				w.calls = nil
				if res := w.apply(tc.object); res.Outcome != dependents.InSync || len(w.calls) != 1 || strings.HasPrefix(w.calls[0], "live") {
					t.Errorf("%s, restarted %t: got %s with %q, and fields %v", tc.reason, restarted, res.Outcome, w.calls, res.Fields)
				}
			}
		})
	}
}

// TestContested corrects a field once in the reapply interval, and then names
// the manager that changes it.
func TestContested(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ready, dependents.WithPolicies(dependents.Policies{Update: dependents.UpdateSsaMerge}))
	d := deployment("nginx", new(int32(2)))
	w.settle(d)
	scale := func() {
		must(t, api.SubResource("scale").Update(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "a"}},
			client.FieldOwner("kube-controller-manager"), client.WithSubResourceBody(&autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 5}})))
	}
	pass := func() string {
		t.Helper()
		res := w.apply(d)
		return fmt.Sprint(res.Outcome, " ", res.After, " ", len(w.writes()))
	}
	scale()
	w.writes()
	got := []string{pass()} // corrected
	w.clock.SetTime(w.clock.Now().Add(time.Minute))
	scale()
	got = append(got, pass(), pass()) // contested
	res := w.apply(d)
	const message = "spec.replicas is managed by kube-controller-manager; the next correction is in 59m0s: " +
		"remove the field from the manifest, or keep the manager from changing it"
	if res.Message != message || res.IsSettled() {
		t.Errorf("got %q, want %q", res.Message, message)
	}
	_, err := w.Apply(t.Context(), w.owner, d)
	if err == nil || !strings.Contains(err.Error(), "Deployment.apps "+w.ns+"/a: spec.replicas is managed by kube-controller-manager") {
		t.Errorf("the error must name the object, the field and the manager: %v", err)
	}
	d.Spec.Template.Spec.Containers[0].Image = "nginx:2"
	got = append(got, pass()) // a new manifest is written
	scale()
	got = append(got, pass())
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	got = append(got, pass()) // the interval is over
	want := []string{"updated 0s 1", "waiting 59m0s 0", "waiting 59m0s 0", "updated 0s 1", "waiting 59m0s 0", "updated 0s 1"}
	same(t, want, got, "it differs")
}

// TestFirstEdit corrects the first edit of a field at once, also right after the
// field became part of the manifest.
func TestFirstEdit(t *testing.T) {
	t.Parallel()
	for _, policy := range updates {
		w := newWorld(t)
		w.settle(configMap([]string{"update-policy", policy}, []string{"k", "1"}))
		cm := configMap([]string{"update-policy", policy}, []string{"k", "1", "new", "1"})
		w.settle(cm)
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["new"] = "edited" })
		res := w.apply(cm)
		same(t, "updated [data.new is managed by kubectl-edit]", fmt.Sprint(res.Outcome, " ", res.Fields), "%s", policy)
	}
}

// TestLostMarks writes an object once in the reapply interval, if another writer
// removes its marks after each write. A cache may strip the managed fields.
func TestLostMarks(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		edit   func(*corev1.ConfigMap)
		want   []string
	}{
		"All": {"the other controller writes its own template", func(cm *corev1.ConfigMap) {
			cm.Labels, cm.Annotations = nil, nil
			cm.Data["k"] = "theirs"
		}, []string{"updated", "waiting contested", "waiting contested"}},
		"Digest": {"the digest is a field", func(cm *corev1.ConfigMap) { delete(cm.Annotations, name+"/digest") },
			[]string{"updated", "waiting contested", "waiting contested"}},
		"Other": {"another process writes another manifest", func(cm *corev1.ConfigMap) { cm.Annotations[name+"/digest"] = "x" },
			[]string{"updated", "waiting contested", "waiting contested"}},
		"Time": {"the process remembers the time", func(cm *corev1.ConfigMap) { delete(cm.Annotations, name+"/applied-at") },
			[]string{"in sync", "in sync", "in sync"}},
	}
	for title, tc := range cases {
		for _, stripped := range []bool{false, true} {
			t.Run(fmt.Sprint(title, stripped), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				if stripped {
					w.cache = strip
				}
				cm := configMap(nil, []string{"k", "1"})
				w.settle(cm)
				var got []string
				for range tc.want {
					w.clock.SetTime(w.clock.Now().Add(time.Second))
					w.edit("other-operator", tc.edit)
					res := w.apply(cm)
					text := string(res.Outcome)
					if res.After > 0 {
						text += " contested"
					}
					got = append(got, text)
				}
				same(t, tc.want, got, "%s", tc.reason)
				w.clock.SetTime(w.clock.Now().Add(time.Hour))
				if res := w.apply(cm); res.Outcome != dependents.Updated {
					t.Errorf("%s: after the interval: got %s", tc.reason, res.Outcome)
				}
			})
		}
	}
}

// A finalizer of the manifest that another writer removes is added again. Those of
// others stay, and so does one that a controller with the name of the Dependents has
// set, because a dependent may be an owner itself.
func TestFinalizers(t *testing.T) {
	t.Parallel()
	for _, policy := range updates {
		w := newWorld(t)
		cm := configMap([]string{"update-policy", policy}, []string{"k", "1"})
		cm.Finalizers = []string{"example.com/a"}
		w.settle(cm)
		w.edit("guard", func(cm *corev1.ConfigMap) { cm.Finalizers = append(cm.Finalizers, "example.com/b") })
		if res := w.apply(cm); res.Outcome != dependents.InSync {
			t.Errorf("%s: added by another: got %s %v", policy, res.Outcome, res.Fields)
		}
		w.edit("guard", func(cm *corev1.ConfigMap) { cm.Finalizers = []string{"example.com/b"} })
		if res := w.apply(cm); res.Outcome != dependents.Updated || len(w.read().Finalizers) != 2 {
			t.Errorf("%s: removed by another: got %s %v", policy, res.Outcome, w.read().Finalizers)
		}
		w.edit(name, func(cm *corev1.ConfigMap) { cm.Finalizers = append(cm.Finalizers, "example.com/own") })
		for _, k := range []string{"2", "3"} { // a finalizer that the manifest loses stays, too
			cm.Data["k"], cm.Finalizers = k, map[string][]string{"2": cm.Finalizers}[k]
			w.settle(cm)
		}
		if live := w.read(); live.Data["k"] != "3" || len(live.Finalizers) != 3 {
			t.Errorf("%s: a new manifest: got %v with %v", policy, live.Finalizers, live.Data)
		}
		w.edit("guard", func(cm *corev1.ConfigMap) { cm.Finalizers = nil })
	}
}

// zoos returns the definition of a kind with defaults and atomic values. The
// scheme of the tests lacks it.
func zoos() *apiextensions.CustomResourceDefinition {
	const text = `
metadata: {name: zoos.zoo.example.com}
spec:
  group: zoo.example.com
  names: {kind: Zoo, listKind: ZooList, plural: zoos, singular: zoo}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              big: {type: integer, format: int64}
              flag: {type: boolean, nullable: true}
              list: {type: array, items: {type: string}}
              feature: {type: object, properties: {a: {type: string}}}
              atomic: {type: array, items: {type: object, properties: {a: {type: string, default: da}, b: {type: string}}}}
              atomicmap: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
`
	crd := &apiextensions.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		panic(err)
	}
	return crd
}

// TestFieldDrift corrects each kind of change of a field of the manifest at once, and
// names the field with its manager. Before the change and after the correction, the
// object is in sync, also after a restart.
func TestFieldDrift(t *testing.T) {
	t.Parallel()
	const (
		deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: %s}}}`
		peers      = `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: %s}`
		zoo        = `{apiVersion: zoo.example.com/v1, kind: Zoo, metadata: {name: a}, spec: %s}`
		service    = `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: a}, ports: %s}}`
		container  = "/spec/template/spec/containers/0"
	)
	server := fmt.Sprintf(deployment, `{containers: [{name: web, image: nginx, args: ["-v"], ports: [{containerPort: 80}]}]}`)
	cases := map[string]struct {
		reason, manifest, patch string
		want                    string // the field; empty: in sync
	}{
		"Image": {"an item of a list is named by its key", server,
			`[{"op":"replace","path":"` + container + `/image","value":"evil"}]`, `spec.template.spec.containers[name="web"].image is managed by kubectl-edit`},
		"Args": {"a list without keys counts as a whole", server,
			`[{"op":"add","path":"` + container + `/args/-","value":"-x"}]`, `spec.template.spec.containers[name="web"].args is managed by kubectl-edit`},
		"Port": {"a key with a default", server, `[{"op":"replace","path":"` + container + `/ports/0/containerPort","value":81}]`,
			`spec.template.spec.containers[name="web"].ports[containerPort=80] is missing`},
		"Sidecar": {"a container that another writer added is no drift", server,
			`[{"op":"add","path":"` + container + `","value":{"name":"proxy","image":"envoy"}}]`, ""},
		"Other": {"a field that the manifest lacks is no drift", server,
			`[{"op":"add","path":"/spec/minReadySeconds","value":3},{"op":"add","path":"/metadata/labels/x","value":"y"}]`, ""},
		"EmptyPeer": {"a peer with an empty selector becomes the whole Internet",
			fmt.Sprintf(peers, `{podSelector: {}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {}}]}]}`),
			`[{"op":"replace","path":"/spec/ingress/0/from/0","value":{"ipBlock":{"cidr":"0.0.0.0/0"}}}]`, "spec.ingress is managed by kubectl-edit"},
		"EmptyVolume": {"an empty map becomes another kind of volume",
			fmt.Sprintf(deployment, `{volumes: [{name: v, emptyDir: {}}], containers: [{name: a, image: b, volumeMounts: [{name: v, mountPath: /v}]}]}`),
			`[{"op":"replace","path":"/spec/template/spec/volumes/0","value":{"name":"v","hostPath":{"path":"/"}}}]`, `spec.template.spec.volumes[name="v"].emptyDir is missing`},
		"EmptyFeature": {"an empty map is removed", fmt.Sprintf(zoo, `{feature: {}}`), `[{"op":"remove","path":"/spec/feature"}]`, "spec.feature is missing"},
		"EmptyList":    {"an empty list is removed: the next reapply restores it", fmt.Sprintf(zoo, `{list: []}`), `[{"op":"remove","path":"/spec/list"}]`, ""},
		"EmptyKeyed":   {"no apply owns an empty list whose items have keys", `{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}, secrets: []}`, `[{"op":"add","path":"/metadata/labels/x","value":"y"}]`, ""},
		"AtomicSelector": {"an atomic map gets a key, so that the policy covers fewer Pods",
			fmt.Sprintf(peers, `{podSelector: {}, policyTypes: [Ingress]}`),
			`[{"op":"replace","path":"/spec/podSelector","value":{"matchLabels":{"x":"y"}}}]`, "spec.podSelector is managed by kubectl-edit"},
		"AtomicPeer": {"a map in an atomic list gets an empty key, so that the policy allows more Pods",
			fmt.Sprintf(peers, `{podSelector: {}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {a: b}}}]}]}`),
			`[{"op":"add","path":"/spec/ingress/0/from/0/namespaceSelector","value":{}}]`, "spec.ingress is managed by kubectl-edit"},
		"AtomicService": {"the selector of a Service gets a key", fmt.Sprintf(service, `[{port: 80}]`),
			`[{"op":"add","path":"/spec/selector/version","value":"none"}]`, "spec.selector is managed by kubectl-edit"},
		"AtomicRole": {"a rule gets a list", `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`,
			`[{"op":"add","path":"/rules/0/resourceNames","value":["x"]}]`, "rules is managed by kubectl-edit"},
		"AtomicItem": {"a default in an atomic list changes", fmt.Sprintf(zoo, `{atomic: [{b: x}]}`), `[{"op":"replace","path":"/spec/atomic/0/a","value":"evil"}]`, "spec.atomic is managed by kubectl-edit"},
		"AtomicMap":  {"an atomic map of a custom resource gets a key", fmt.Sprintf(zoo, `{atomicmap: {a: b}}`), `[{"op":"add","path":"/spec/atomicmap/x","value":"evil"}]`, "spec.atomicmap is managed by kubectl-edit"},
		"ZeroFlag": {"a false that the type keeps is removed", `{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}, automountServiceAccountToken: false}`,
			`[{"op":"remove","path":"/automountServiceAccountToken"}]`, "automountServiceAccountToken is missing"},
		"ZeroLabel": {"an empty label is removed", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {monitored: ""}}}`, `[{"op":"remove","path":"/metadata/labels/monitored"}]`, "metadata.labels.monitored is missing"},
		"ZeroData":  {"an empty value is removed", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: "", other: x}}`, `[{"op":"remove","path":"/data/k"}]`, "data.k is missing"},
		"ZeroBudget": {"a number or text of zero is removed", `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {maxUnavailable: 0, selector: {}}}`,
			`[{"op":"remove","path":"/spec/maxUnavailable"}]`, "spec.maxUnavailable is missing"},
		"OnlyField":  {"the managed fields have the map as a whole for this name", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: "1"}}`, `[{"op":"replace","path":"/data/k","value":"2"}]`, "data.k is managed by kubectl-edit"},
		"ZeroCustom": {"the false of a custom resource is removed", fmt.Sprintf(zoo, `{flag: false}`), `[{"op":"remove","path":"/spec/flag"}]`, "spec.flag is missing"},
		"ZeroNull":   {"the false of a custom resource becomes null", fmt.Sprintf(zoo, `{flag: false}`), `[{"op":"replace","path":"/spec/flag","value":null}]`, "spec.flag is managed by kubectl-edit"},
		"KeyRemoved": {"a port whose protocol is the default is removed, and one of another protocol stays",
			fmt.Sprintf(service, `[{name: https, port: 443}, {name: http3, port: 443, protocol: UDP}]`), `[{"op":"remove","path":"/spec/ports/0"}]`, "spec.ports[port=443] is missing"},
		"KeyChanged": {"a port whose protocol is the default changes",
			fmt.Sprintf(service, `[{name: dns, port: 53, protocol: UDP, targetPort: 53}, {name: dns-tcp, port: 53, targetPort: 53}]`),
			`[{"op":"replace","path":"/spec/ports/1/targetPort","value":5353}]`, `spec.ports[port=53,protocol="TCP"].targetPort is managed by kubectl-edit`},
		"KeyHidden": {"a port of another protocol has the wanted value",
			fmt.Sprintf(service, `[{name: dns, port: 53, targetPort: 53}]`),
			`[{"op":"replace","path":"/spec/ports/0/targetPort","value":5353},{"op":"add","path":"/spec/ports/0","value":{"name":"u","port":53,"protocol":"UDP","targetPort":53}}]`, `spec.ports[port=53,protocol="TCP"].targetPort is managed by kubectl-edit`},
		"LargeNumber": {"two whole numbers are the same float", `{"apiVersion":"zoo.example.com/v1","kind":"Zoo","metadata":{"name":"a"},"spec":{"big":9007199254740993}}`,
			`[{"op":"replace","path":"/spec/big","value":9007199254740992}]`, "spec.big is managed by kubectl-edit"},
	}
	for title, tc := range cases {
		for _, policy := range []string{"Replace", "SsaMerge", "SsaOverride"} {
			t.Run(title+"/"+policy, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, ready)
				u := yamlOf(t, tc.manifest, policy)
				inSync := func(when string) {
					t.Helper()
					if res := w.apply(u); res.Outcome != dependents.InSync {
						t.Errorf("%s: %s: %s %v", tc.reason, when, res.Outcome, res.Fields)
					}
				}
				w.apply(u)
				for range 2 {
					inSync("before the change")
					w.restart()
				}
				live := u.DeepCopy()
				live.SetNamespace(w.ns)
				must(t, api.Patch(t.Context(), live, client.RawPatch(types.JSONPatchType, []byte(tc.patch)), client.FieldOwner("kubectl-edit")))
				res, err := w.ApplyObject(t.Context(), w.owner, u)
				if policy == "SsaMerge" && apierrors.IsInvalid(err) {
					return // the field of the other manager stays, so the API server refuses the object
				}
				must(t, err)
				if same(t, tc.want, strings.Join(res.Fields, ", "), "%s", tc.reason); (res.Outcome == dependents.InSync) != (tc.want == "") {
					t.Errorf("%s: got %s", tc.reason, res.Outcome)
				}
				inSync("the next pass")
			})
		}
	}
}
