package digest_test

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
)

// TestChanges changes one field at a time of different objects.
func TestChanges(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "a", UID: "1", Generation: 2, ResourceVersion: "7", Labels: map[string]string{"a": "1"}}
	thing := func() client.Object {
		return &Thing{ObjectMeta: *meta.DeepCopy(), Status: ThingStatus{Names: []string{"a"}}}
	}
	bare := func() client.Object { return &Bare{ObjectMeta: *meta.DeepCopy(), Rules: []string{"a"}} }
	service := func() client.Object {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: "1"}, Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1"}}
	}
	partial := func() client.Object { return &metav1.PartialObjectMetadata{ObjectMeta: *meta.DeepCopy()} }
	loose := func() client.Object {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Thing",
			"metadata": map[string]any{"uid": "1", "generation": int64(2), "resourceVersion": "7"},
			"spec":     map[string]any{"size": int64(1)},
			"status":   map[string]any{"names": []any{"a"}},
		}}
	}
	looseBare := func() client.Object {
		o := loose().(*unstructured.Unstructured)
		delete(o.Object, "status")
		return o
	}
	set := func(value any, path ...string) func(client.Object) {
		return func(o client.Object) {
			if err := unstructured.SetNestedField(o.(*unstructured.Unstructured).Object, value, path...); err != nil {
				t.Fatal(err)
			}
		}
	}
	yes := true
	cases := map[string]struct {
		reason string
		of     func() client.Object
		change func(client.Object)
		same   bool
	}{
		"Nothing":         {"an unchanged object has the same digest", thing, func(client.Object) {}, true},
		"ResourceVersion": {"it changes without a change of the object", thing, func(o client.Object) { o.SetResourceVersion("8") }, true},
		"ManagedFields":   {"they change without a change of the object", thing, func(o client.Object) { o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "m"}}) }, true},
		"TypeMeta":        {"typed objects have it or not", thing, func(o client.Object) { o.(*Thing).Kind = "Thing" }, true},
		"Spec":            {"the generation stands for it", thing, func(o client.Object) { o.(*Thing).Spec.Size++ }, true},
		"UID":             {"created again under the same name", thing, func(o client.Object) { o.SetUID("2") }, false},
		"Generation":      {"the spec was changed", thing, func(o client.Object) { o.SetGeneration(3) }, false},
		"Deleted":         {"deletion was requested", thing, func(o client.Object) { o.SetDeletionTimestamp(&metav1.Time{}) }, false},
		"Label":           {"a check may read it", thing, func(o client.Object) { o.SetLabels(map[string]string{"a": "2"}) }, false},
		"LabelAdded":      {"a check may read it", thing, func(o client.Object) { o.SetLabels(map[string]string{"a": "1", "": ""}) }, false},
		"Annotation":      {"a check may read it", thing, func(o client.Object) { o.SetAnnotations(map[string]string{"a": "1"}) }, false},
		"LabelMoved":      {"a label is no annotation", thing, func(o client.Object) { o.SetLabels(nil); o.SetAnnotations(map[string]string{"a": "1"}) }, false},
		"NoAnnotations":   {"nil and empty annotations are the same", thing, func(o client.Object) { o.SetAnnotations(map[string]string{}) }, true},
		"Finalizer":       {"a check may read it", thing, func(o client.Object) { o.SetFinalizers([]string{"f"}) }, false},
		"OtherFinalizer": {"its name counts, not only the number", func() client.Object {
			o := thing()
			o.SetFinalizers([]string{"f"})
			return o
		}, func(o client.Object) { o.SetFinalizers([]string{"g"}) }, false},
		"DeletedSooner": {"the time of the deletion counts", func() client.Object {
			o := thing()
			o.SetDeletionTimestamp(&metav1.Time{})
			return o
		}, func(o client.Object) { o.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)}) }, false},
		"Owner": {"a check may read it", thing, func(o client.Object) { o.SetOwnerReferences([]metav1.OwnerReference{{Kind: "K"}}) }, false},
		"Controller": {"a check may read it", func() client.Object {
			o := thing()
			o.SetOwnerReferences([]metav1.OwnerReference{{Kind: "K"}})
			return o
		}, func(o client.Object) { o.SetOwnerReferences([]metav1.OwnerReference{{Kind: "K", Controller: &yes}}) }, false},
		"MapKey": {"a key counts, not its value alone", func() client.Object {
			return &Thing{ObjectMeta: meta, Status: ThingStatus{Zones: map[string]Zone{"a": {Name: "x"}}}}
		}, func(o client.Object) { o.(*Thing).Status.Zones = map[string]Zone{"b": {Name: "x"}} }, false},
		"MapSwapped": {"the pairs of key and value count", func() client.Object {
			return &Thing{ObjectMeta: meta, Status: ThingStatus{Zones: map[string]Zone{"a": {Name: "x"}, "b": {Name: "y"}}}}
		}, func(o client.Object) { o.(*Thing).Status.Zones = map[string]Zone{"a": {Name: "y"}, "b": {Name: "x"}} }, false},
		"NilMoved": {"the position of a nil counts", func() client.Object {
			return &Thing{ObjectMeta: meta, Status: ThingStatus{Free: []*bool{nil, &yes}}}
		}, func(o client.Object) { o.(*Thing).Status.Free = []*bool{&yes, nil} }, false},
		"Status":    {"a check may read it", thing, func(o client.Object) { o.(*Thing).Status.Names[0] = "b" }, false},
		"NilStatus": {"a status was added", func() client.Object { return &Late{ObjectMeta: meta} }, func(o client.Object) { o.(*Late).Status = &ThingStatus{} }, false},
		"ByPointer": {"a status by pointer changed", func() client.Object { return &Late{ObjectMeta: meta, Status: &ThingStatus{}} }, func(o client.Object) { o.(*Late).Status.Ratio = 1 }, false},

		"Rules":        {"an object without a status counts as a whole", bare, func(o client.Object) { o.(*Bare).Rules[0] = "b" }, false},
		"RulesVersion": {"fields that change without a change of the object do not count", bare, func(o client.Object) { o.SetResourceVersion("8"); o.(*Bare).APIVersion = "v1" }, true},
		"ConfigMap":    {"a ConfigMap has only its data", func() client.Object { return &corev1.ConfigMap{} }, func(o client.Object) { o.(*corev1.ConfigMap).Data = map[string]string{"a": "b"} }, false},
		"SecretData":   {"bytes count", func() client.Object { return &corev1.Secret{Data: map[string][]byte{"a": {1}}} }, func(o client.Object) { o.(*corev1.Secret).Data["a"][0] = 2 }, false},
		"Service":      {"no generation stands for the spec of a service", service, func(o client.Object) { o.(*corev1.Service).Spec.ClusterIP = "10.0.0.2" }, false},
		"ServiceStatus": {"nor is the status of a service left out", service, func(o client.Object) {
			o.(*corev1.Service).Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "1"}}
		}, false},
		"Partial":          {"a metadata-only object has labels", partial, func(o client.Object) { o.SetLabels(nil) }, false},
		"PartialVersion":   {"it changes without a change of the object", partial, func(o client.Object) { o.SetResourceVersion("8") }, true},
		"PartialOtherName": {"the name is the key of the lookup", partial, func(o client.Object) { o.SetName("b") }, true},

		"Unstructured":             {"a status is read in any form", loose, set("b", "status", "state"), false},
		"UnstructuredVersion":      {"it changes without a change of the object", loose, set("8", "metadata", "resourceVersion"), true},
		"UnstructuredSpec":         {"the generation stands for it", loose, set(int64(2), "spec", "size"), true},
		"UnstructuredAPI":          {"the same object", loose, set("example.com/v2", "apiVersion"), true},
		"UnstructuredGeneration":   {"the spec was changed", loose, set(int64(3), "metadata", "generation"), false},
		"UnstructuredUID":          {"made again", loose, set("2", "metadata", "uid"), false},
		"UnstructuredLabel":        {"a check may read it", loose, set("1", "metadata", "labels", "a"), false},
		"UnstructuredAnnotation":   {"a check may read it", loose, set("1", "metadata", "annotations", "a"), false},
		"UnstructuredDeleted":      {"deletion was requested", loose, set("2026-11-21T00:00:00Z", "metadata", "deletionTimestamp"), false},
		"UnstructuredFinalizers":   {"a check may read it", loose, set([]any{"f"}, "metadata", "finalizers"), false},
		"UnstructuredOwners":       {"a check may read it", loose, set([]any{map[string]any{"kind": "K"}}, "metadata", "ownerReferences"), false},
		"UnstructuredStatusCame":   {"a status was added", looseBare, set(map[string]any{}, "status"), false},
		"UnstructuredNoStatus":     {"without a status, everything counts", looseBare, set(int64(2), "spec", "size"), false},
		"UnstructuredNoGeneration": {"without a generation, everything counts", func() client.Object { o := loose(); set(int64(0), "metadata", "generation")(o); return o }, set(int64(2), "spec", "size"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, after := tc.of(), tc.of()
			tc.change(after)
			if same := digest.Of(before) == digest.Of(after); same != tc.same {
				t.Errorf("%s: the digests are the same: %t, want %t", tc.reason, same, tc.same)
			}
		})
	}
}

func TestNotFound(t *testing.T) {
	if got := digest.Of(nil); got != digest.NotFound {
		t.Errorf("Of(nil) = %d, want NotFound", got)
	}
	if got := digest.Of((*Thing)(nil)); got != digest.NotFound {
		t.Errorf("Of(nil pointer) = %d, want NotFound: a lookup that found nothing returns a nil pointer", got)
	}
	if got := digest.Of(&Thing{}); got == digest.NotFound || got == 0 {
		t.Errorf("Of(&Thing{}) = %d, which is reserved for an object that does not exist or was not read", got)
	}
}

// TestStatusLeaves changes a value anywhere in a status. Two statuses have the
// same digest, and are the same, if and only if they have the same JSON.
func TestStatusLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := drawThing(t)
		after := again(t, before)
		change(t, reflect.ValueOf(&after.Status).Elem())
		want := written(t, before.Status) == written(t, after.Status)
		if same := digest.Of(before) == digest.Of(after); same != want {
			t.Errorf("the digests are the same: %t, want %t\n%s\n%s", same, want, written(t, before.Status), written(t, after.Status))
		}
		if same := digest.SameStatus(before, after); same != want {
			t.Errorf("the statuses are the same: %t, want %t\n%s\n%s", same, want, written(t, before.Status), written(t, after.Status))
		}
	})
}

// TestReadTwice reads an object again, and then applies changes that are not
// changes of the object.
func TestReadTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := drawThing(t)
		after := again(t, before)
		want := digest.Of(before)
		if got := digest.Of(after); got != want {
			t.Fatalf("the digest differs after writing and reading\n%s", written(t, before))
		}
		after.ResourceVersion = word(t)
		after.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: word(t)}}
		after.Kind = word(t)
		after.Status.cache = word(t)
		after.Status.Unread = func() {}
		_ = after.Status.Memory.String() // the quantity caches it
		if s := after.Status.Seen; s != nil {
			*s = metav1.Time{Time: s.In(time.FixedZone("elsewhere", 3600))}
		}
		if after.Status.Port.Type == intstr.String {
			after.Status.Port.IntVal = 7
		} else {
			after.Status.Port.StrVal = "7"
		}
		if got := digest.Of(after); got != want {
			t.Errorf("the digest differs, though no value that was read has changed\n%s", written(t, before))
		}
		if !digest.SameStatus(before, after) {
			t.Errorf("the status differs, though no value that was read has changed\n%s", written(t, before))
		}
	})
}

// TestAnything compares unstructured statuses of a few different values, so
// that some are equal.
func TestAnything(t *testing.T) {
	object := func(status any) client.Object {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"generation": int64(1)}, "status": status}}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawAny(t, 2), drawAny(t, 2)
		if same, want := digest.Of(object(a)) == digest.Of(object(b)), reflect.DeepEqual(a, b); same != want {
			t.Errorf("the digests of %#v and %#v are the same: %t, want %t", a, b, same, want)
		}
		if digest.Of(object(a)) != digest.Of(object(runtime.DeepCopyJSONValue(a))) {
			t.Errorf("a copy of %#v has another digest", a)
		}
	})
	if digest.Of(object(int64(3))) != digest.Of(object(3.0)) {
		t.Error("3 and 3.0 have different digests: JSON writes both as 3")
	}
}
