package dependents_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// TestIgnoredFields leaves fields to others. A field that this name applied before
// keeps its value, and the edit of another manager stays, whatever the policy takes
// over. All other fields of the manifest are applied.
func TestIgnoredFields(t *testing.T) {
	t.Parallel()
	const item = `spec.template.spec.containers[name="web"].args`
	cases := map[string]struct{ reason, paths string }{
		"Field":  {"the number of replicas belongs to a person", "spec.replicas"},
		"Key":    {"a label with dots has quotes", `metadata.labels["example.com/zone"]`},
		"Other":  {"the manifest has no such annotation", `metadata.annotations["example.com/zone"]`},
		"Item":   {"the item of a list is found by its keys", item},
		"Spaces": {"a list of paths", "spec.replicas , " + item},
		"Whole":  {"an item of a list is ignored as a whole", `spec.template.spec.containers[name="web"].ports[containerPort=80]`},
		"Absent": {"the manifest has no such field", "spec.paused,spec.replicas"},
	}
	for title, tc := range cases {
		for _, policy := range []string{"Replace", "SsaOverride", "SsaMerge"} {
			t.Run(title+policy, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				manifest := func(image string, paths string) *appsv1.Deployment {
					d := deployment(image, new(int32(2)))
					d.Labels = map[string]string{"example.com/zone": "a"}
					d.Annotations = pairs(name+"/", []string{"update-policy", policy, "ignored-fields", paths})
					return d
				}
				got := func() (d appsv1.Deployment, values map[string]string) {
					must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, &d))
					return d, map[string]string{
						"spec.replicas": string(rune('0' + *d.Spec.Replicas)), `metadata.labels["example.com/zone"]`: d.Labels["example.com/zone"],
						item: strings.Join(d.Spec.Template.Spec.Containers[0].Args, " "), "image": d.Spec.Template.Spec.Containers[0].Image,
						"ports": fmt.Sprint(len(d.Spec.Template.Spec.Containers[0].Ports)),
					}
				}
				w.apply(manifest("a:1", ""))
				w.apply(manifest("a:2", tc.paths))
				want := map[string]string{"spec.replicas": "2", `metadata.labels["example.com/zone"]`: "a", item: "-v 2", "image": "a:2", "ports": "1"}
				d, values := got()
				same(t, want, values, "%s: the fields are released", tc.reason)

				d.Spec.Replicas, d.Labels["example.com/zone"], d.Spec.Template.Spec.Containers[0].Args = new(int32(5)), "b", []string{"-v", "9"}
				must(t, api.Update(t.Context(), &d, client.FieldOwner("kubectl-edit")))
				w.apply(manifest("a:2", tc.paths)) // corrects the fields that are not ignored
				w.apply(manifest("a:3", tc.paths))
				want["image"] = "a:3"
				for path, value := range map[string]string{"spec.replicas": "5", `metadata.labels["example.com/zone"]`: "b", item: "-v 9"} {
					if strings.Contains(tc.paths, path) {
						want[path] = value
					}
				}
				_, values = got()
				same(t, want, values, "%s: after an edit", tc.reason)
			})
		}
	}
}

// TestIgnoredItems finds the item of a list by any of its fields, also if the manifest
// leaves out a key with a default. The field of each item that the path does not name is
// corrected, and no field is reset.
func TestIgnoredItems(t *testing.T) {
	t.Parallel()
	all := []corev1.ServicePort{
		{Name: "tcp", Port: 53, TargetPort: intstr.FromInt32(5353)}, {Name: "udp", Port: 53, Protocol: "UDP", TargetPort: intstr.FromInt32(5354)},
		{Name: "web", Port: 80, TargetPort: intstr.FromInt32(8080)},
	}
	cases := map[string]struct {
		reason, item string
		without      string   // the item that the later manifests lack
		ignored      []string // the items that the path names
	}{
		"Name":    {"a field that is no key of the list", `name="web"`, "", []string{"web"}},
		"Part":    {"one of two keys", "port=80", "", []string{"web"}},
		"Keys":    {"all keys, as a message names the item", `port=80,protocol="TCP"`, "", []string{"web"}},
		"Mixed":   {"keys and another field", `name="web",protocol="TCP"`, "", []string{"web"}},
		"Other":   {"an item with all keys precedes one that lacks a key", `port=53,protocol="UDP"`, "", []string{"udp"}},
		"Default": {"an item has the default of the key that it lacks", `port=53,protocol="TCP"`, "", []string{"tcp"}},
		"Both":    {"two items", "port=53", "", []string{"tcp", "udp"}},
		"None":    {"no item has the name", `name="x"`, "", nil},
		"Unnamed": {"an item that has none of the keys is another one", `name="x"`, "", nil},
		"Left":    {"an item that lacks a key may have any value of it", `port=53,protocol="UDP"`, "udp", []string{"tcp"}},
	}
	for title, tc := range cases {
		for _, policy := range []string{"Replace", "SsaMerge"} {
			for _, created := range []bool{false, true} { // with the annotation
				t.Run(fmt.Sprint(title, policy, created), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					paths, ports := "spec.ports["+tc.item+"].targetPort", all
					if title == "Unnamed" {
						ports = []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}
					}
					manifest := func(paths, without, label string) *corev1.Service {
						return &corev1.Service{
							ObjectMeta: metav1.ObjectMeta{
								Name: "a", Labels: map[string]string{"l": label},
								Annotations: pairs(name+"/", []string{"update-policy", policy, "ignored-fields", paths}),
							},
							Spec: corev1.ServiceSpec{Ports: slices.DeleteFunc(slices.Clone(ports), func(p corev1.ServicePort) bool {
								return without != "" && p.Name == without
							})},
						}
					}
					got := func() (s corev1.Service, values map[string]int32) {
						must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, &s))
						values = map[string]int32{}
						for _, p := range s.Spec.Ports {
							values[p.Name] = p.TargetPort.IntVal
						}
						return s, values
					}
					want := map[string]int32{}
					for _, p := range ports {
						want[p.Name] = p.TargetPort.IntVal
						if created && tc.without == "" && slices.Contains(tc.ignored, p.Name) {
							want[p.Name] = p.Port
						}
					}
					w.apply(manifest(map[bool]string{true: paths}[created], "", "1"))
					w.apply(manifest(paths, tc.without, "2"))
					if tc.without != "" {
						delete(want, tc.without)
					}
					s, values := got()
					same(t, want, values, "%s: the fields are released", tc.reason)

					for i, p := range s.Spec.Ports {
						s.Spec.Ports[i].TargetPort = intstr.FromInt32(9000)
						if want[p.Name] = 9000; !slices.Contains(tc.ignored, p.Name) {
							want[p.Name] = ports[slices.IndexFunc(ports, func(o corev1.ServicePort) bool { return o.Name == p.Name })].TargetPort.IntVal
						}
					}
					must(t, api.Update(t.Context(), &s, client.FieldOwner("kubectl-edit")))
					w.apply(manifest(paths, tc.without, "3"))
					_, values = got()
					same(t, want, values, "%s: after an edit", tc.reason)
				})
			}
		}
	}
}

// TestIgnoredItemOfOthers leaves an item to the manager that has added it.
func TestIgnoredItemOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var names []string
	for _, paths := range []string{"", `spec.ports[name="other"]`, ""} {
		s := w.apply(&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: pairs(name+"/", []string{"update-policy", "Replace", "ignored-fields", paths})},
			Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "web", Port: 80}}},
		}).Object.(*corev1.Service)
		for _, p := range s.Spec.Ports {
			names = append(names, p.Name)
		}
		if names = append(names, "/"); len(names) == 2 {
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "other", Port: 81})
			must(t, api.Update(t.Context(), s, client.FieldOwner("other")))
		}
	}
	same(t, "web / web other / web /", strings.Join(names, " "), "the ports after each apply")
}

// TestIgnoredInWhole refuses a field of an item of a list that the API server knows only as
// a whole: each apply would remove the field that it leaves out.
func TestIgnoredInWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	manifest := func(image, paths string) *appsv1.Deployment {
		d := deployment(image, nil)
		d.Annotations = pairs(name+"/", []string{"ignored-fields", paths})
		d.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "a", Value: "b"}}
		return d
	}
	const list = "spec.template.spec.tolerations"
	w.apply(manifest("a:1", ""))
	for _, path := range []string{list + `[key="a"].value`, list + `[key="a"]`} {
		w.writes()
		_, err := w.ApplyObject(t.Context(), w.owner, manifest("a:2", path))
		if !errors.Is(err, dependents.ErrInvalid) || !strings.HasSuffix(err.Error(), path+" cannot be ignored, because the API server "+
			"knows no items of this list: ignore the whole list") || len(w.writes()) > 0 {
			t.Errorf("%s: got %v", path, err)
		}
	}
	for _, path := range []string{list, list + `[key="x"].value`} {
		d := w.apply(manifest("a:"+path[len(path)-1:], path)).Object.(*appsv1.Deployment)
		same(t, []corev1.Toleration{{Key: "a", Value: "b"}}, d.Spec.Template.Spec.Tolerations, "%s", path)
	}
}

// TestIgnoredStringData leaves a key of a Secret to others, also if the manifest has it as
// text, because the API server has only the field data.
func TestIgnoredStringData(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"stringData.password", "data.password", "stringData"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			secret := func(path, label string) *corev1.Secret {
				return &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"l": label}, Annotations: pairs(name+"/", []string{"ignored-fields", path})},
					StringData: map[string]string{"password": "first"},
				}
			}
			var s corev1.Secret
			got := func() string {
				must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, &s))
				return string(s.Data["password"])
			}
			w.apply(secret("", "1"))
			w.apply(secret(path, "2"))
			released := got()
			s.Data["password"] = []byte("rotated")
			must(t, api.Update(t.Context(), &s, client.FieldOwner("rotator")))
			w.apply(secret(path, "3"))
			same(t, []string{"first", "rotated"}, []string{released, got()}, "the password")
		})
	}
}

var recreateImmutable = dependents.WithApplyChain(func(c dependents.Chain) (dependents.Chain, error) {
	return c.InsertAfter("DryRun", chain.Named("RecreateImmutable", dependents.RecreateImmutable))
})

// TestRecreateImmutable deletes an object only if the API server refuses a change
// of immutable fields and nothing else. Without the link, the error names the policy
// that changes such a field.
func TestRecreateImmutable(t *testing.T) {
	t.Parallel()
	frozen := func(change string) client.Object {
		cm := configMap(nil, []string{"k", change})
		cm.Immutable = new(true)
		return cm
	}
	server := func(app string, port int32) client.Object {
		d := deployment("a:1", new(int32(0)))
		d.Spec.Selector.MatchLabels["app"], d.Spec.Template.Labels["app"] = app, app
		d.Spec.Template.Spec.Containers[0].Ports[0].ContainerPort = port
		return d
	}
	claim := func(mode corev1.PersistentVolumeAccessMode) client.Object {
		c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{mode}
		c.Spec.Resources.Requests = corev1.ResourceList{"storage": resource.MustParse("1Gi")}
		return c
	}
	service := func(kind corev1.ServiceType) client.Object {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		s.Spec.Type, s.Spec.Ports = kind, []corev1.ServicePort{{Port: 80}}
		return s
	}
	pod := func(arg string) client.Object {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "a", Image: "a", Args: []string{arg}}}, TerminationGracePeriodSeconds: new(int64(0)),
		}}
	}
	cases := map[string]struct {
		reason        string
		first, second client.Object
		recreated     bool
	}{
		"ConfigMap": {"an immutable ConfigMap", frozen("1"), frozen("2"), true},
		"Selector":  {"the selector of a Deployment", server("a", 80), server("b", 80), true},
		"Stateful":  {"the text of a StatefulSet", statefulSet("a"), statefulSet("b"), true},
		"Pod":       {"the text of a Pod", pod("a"), pod("b"), true},
		"Both":      {"the new object would be refused, too", server("a", 80), server("b", 70000), false},
		"Claim":     {"a claim holds data", claim("ReadWriteOnce"), claim("ReadWriteMany"), false},
		"Invalid":   {"another invalid field", configMap(nil, nil), configMap(nil, []string{"not a key", "1"}), false},
		"Quoted":    {"a value of the manifest is no answer of the API server", service("ClusterIP"), service("immutable"), false},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, recreateImmutable)
			w.apply(tc.first.DeepCopyObject().(client.Object))
			live := tc.first.DeepCopyObject().(client.Object)
			uid := func() (uid string) {
				err := api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, live)
				if !apierrors.IsNotFound(err) {
					must(t, err)
					uid = string(live.GetUID())
				}
				return uid
			}
			before := uid()
			_, plain := dependents.New(name, cluster{api, api}).DryRun().ApplyObject(t.Context(), w.owner, tc.second)
			const advice = "to delete the object and create it again, set web.example.com/update-policy=Recreate: "
			if advised := plain != nil && strings.Contains(plain.Error(), advice); tc.recreated && !advised || advised && (title == "Claim" || title == "Invalid") {
				t.Errorf("%s: without the link: %v", tc.reason, plain)
			}
			tried, err := w.DryRun().ApplyObject(t.Context(), w.owner, tc.second)
			if (err == nil && tried.Outcome == dependents.Terminating) != tc.recreated || uid() != before {
				t.Errorf("%s: the trial: %s, %v", tc.reason, tried.Outcome, err)
			}
			res, err := w.ApplyObject(t.Context(), w.owner, tc.second)
			if !tc.recreated {
				if !apierrors.IsInvalid(err) || uid() != before {
					t.Errorf("%s: %s, %v", tc.reason, res.Outcome, err)
				}
				return
			}
			must(t, err)
			w.apply(tc.second)
			if uid() == before {
				t.Errorf("%s: the object is not recreated", tc.reason)
			}
		})
	}
}
