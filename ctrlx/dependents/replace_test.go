package dependents_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/ctrlx/dependents"
)

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
			w := newWorld(t, dependents.WithPolicies(dependents.Policies{Update: dependents.UpdateReplace}))
			manifest := func(text string) *unstructured.Unstructured {
				u := &unstructured.Unstructured{}
				must(t, yaml.Unmarshal([]byte(strings.ReplaceAll(text, "NS", w.ns)), &u.Object))
				return u
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
