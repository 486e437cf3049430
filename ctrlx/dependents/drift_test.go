package dependents_test

import (
	"fmt"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/ctrlx/dependents"
)

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

// TestFieldDrift corrects each kind of change of a field of the manifest, and
// names the field. Before the change the object is in sync, also after a restart.
func TestFieldDrift(t *testing.T) {
	t.Parallel()
	const (
		deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: %s}}}`
		peers      = `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: %s}`
		zoo        = `{apiVersion: zoo.example.com/v1, kind: Zoo, metadata: {name: a}, spec: %s}`
		service    = `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: a}, ports: %s}}`
	)
	cases := map[string]struct {
		reason, manifest, patch string
		want                    string // the field
	}{
		"EmptyPeer": {"a peer with an empty selector becomes the whole Internet",
			fmt.Sprintf(peers, `{podSelector: {}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {}}]}]}`),
			`[{"op":"replace","path":"/spec/ingress/0/from/0","value":{"ipBlock":{"cidr":"0.0.0.0/0"}}}]`, "spec.ingress is managed by kubectl-edit"},
		"EmptyVolume": {"an empty map becomes another kind of volume",
			fmt.Sprintf(deployment, `{volumes: [{name: v, emptyDir: {}}], containers: [{name: a, image: b, volumeMounts: [{name: v, mountPath: /v}]}]}`),
			`[{"op":"replace","path":"/spec/template/spec/volumes/0","value":{"name":"v","hostPath":{"path":"/"}}}]`, `spec.template.spec.volumes[name="v"].emptyDir is missing`},
		"EmptyFeature": {"an empty map is removed", fmt.Sprintf(zoo, `{feature: {}}`), `[{"op":"remove","path":"/spec/feature"}]`, "spec.feature is missing"},
		"EmptyList":    {"an empty list is removed", fmt.Sprintf(zoo, `{list: []}`), `[{"op":"remove","path":"/spec/list"}]`, "spec.list is missing"},
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
				u := &unstructured.Unstructured{}
				if strings.HasPrefix(tc.manifest, `{"`) {
					must(t, u.UnmarshalJSON([]byte(tc.manifest))) // YAML would round a number
				} else {
					must(t, yaml.Unmarshal([]byte(tc.manifest), &u.Object))
				}
				u.SetAnnotations(map[string]string{name + "/update-policy": policy})
				w.apply(u)
				for range 2 {
					if res := w.apply(u); res.Outcome != dependents.InSync {
						t.Errorf("%s: before the change: %s %v", tc.reason, res.Outcome, res.Fields)
					}
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
				same(t, tc.want, strings.Join(res.Fields, ", "), "%s", tc.reason)
			})
		}
	}
}
