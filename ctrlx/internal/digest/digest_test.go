package digest_test

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// The digests and the comparison that a change concerns.
const (
	wakes   = 1 << iota // Of differs
	follows             // Follow differs
	writes              // SameStatus is false
	typed               // the last one only if the object is typed: its type has no status
)

// TestChanges changes one field at a time of different objects, typed and unstructured.
func TestChanges(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "a", UID: "1", Generation: 2, ResourceVersion: "7", Labels: map[string]string{"a": "1"}}
	thing := func() client.Object {
		return &Thing{ObjectMeta: *meta.DeepCopy(), Status: ThingStatus{Names: []string{"a"}}}
	}
	reported := func() client.Object {
		return &testv1.Database{ObjectMeta: *meta.DeepCopy(), Status: testv1.DatabaseStatus{Size: 1, Conditions: []metav1.Condition{{Type: "Ready", Reason: "a"}, {Type: "Stalled", Reason: "a"}}}}
	}
	bare := func() client.Object { return &Bare{ObjectMeta: *meta.DeepCopy(), Rules: []string{"a"}} }
	service := func() client.Object {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: "1"}, Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1"}}
	}
	secret := func() client.Object { return &corev1.Secret{Data: map[string][]byte{"a": {1}}} }
	partial := func() client.Object { return &metav1.PartialObjectMetadata{ObjectMeta: *meta.DeepCopy()} }
	node := func() client.Object { return &corev1.Node{} }
	with := func(of func() client.Object, change func(client.Object)) func() client.Object {
		return func() client.Object { o := of(); change(o); return o }
	}
	zones := func(zones map[string]Zone) func(client.Object) {
		return func(o client.Object) { o.(*Thing).Status.Zones = zones }
	}
	free := func(free ...*bool) func(client.Object) {
		return func(o client.Object) { o.(*Thing).Status.Free = free }
	}
	owner := func(controller *bool) func(client.Object) {
		return func(o client.Object) {
			o.SetOwnerReferences([]metav1.OwnerReference{{Kind: "K", Controller: controller}})
		}
	}
	deleted := func(at time.Time) func(client.Object) {
		return func(o client.Object) { o.SetDeletionTimestamp(&metav1.Time{Time: at}) }
	}
	finalizer := func(name string) func(client.Object) {
		return func(o client.Object) { o.SetFinalizers([]string{name}) }
	}
	version := func(o client.Object) { o.SetResourceVersion("8") }
	annotation := func(o client.Object) { o.SetAnnotations(map[string]string{"a": "1"}) }
	yes, then := true, time.Unix(1, 0)
	cases := map[string]struct {
		reason string
		of     func() client.Object
		change func(client.Object)
		want   int
	}{
		"Nothing":         {"an unchanged object has the same digests", thing, func(client.Object) {}, 0},
		"ResourceVersion": {"it changes without a change of the object", thing, version, 0},
		"ManagedFields":   {"they change without a change of the object", thing, func(o client.Object) { o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "m"}}) }, 0},
		"TypeMeta":        {"typed objects have it or not", thing, func(o client.Object) { o.(*Thing).Kind = "Thing" }, 0},
		"Spec":            {"the generation stands for it", thing, func(o client.Object) { o.(*Thing).Spec.Size++ }, 0},
		"UID":             {"created again under the same name", thing, func(o client.Object) { o.SetUID("2") }, wakes | follows},
		"Generation":      {"the spec was changed", thing, func(o client.Object) { o.SetGeneration(3) }, wakes | follows},
		"Deleted":         {"deletion was requested", thing, deleted(then), wakes | follows},
		"DeletedSooner":   {"the time of the deletion counts", with(thing, deleted(then)), deleted(then.Add(time.Second)), wakes},
		"Label":           {"a check may read it", thing, func(o client.Object) { o.SetLabels(map[string]string{"a": "2"}) }, wakes},
		"LabelAdded":      {"a check may read it", thing, func(o client.Object) { o.SetLabels(map[string]string{"a": "1", "": ""}) }, wakes},
		"LabelMoved":      {"a label is no annotation", thing, func(o client.Object) { o.SetLabels(nil); annotation(o) }, wakes},
		"Annotation":      {"a check may read it", thing, annotation, wakes},
		"NoAnnotations":   {"nil and empty annotations are the same", thing, func(o client.Object) { o.SetAnnotations(map[string]string{}) }, 0},
		"Finalizer":       {"a check may read it", thing, finalizer("f"), wakes},
		"OtherFinalizer":  {"its name counts, not only the number", with(thing, finalizer("f")), finalizer("g"), wakes},
		"Owner":           {"a check may read it", thing, owner(nil), wakes},
		"Controller":      {"a check may read it", with(thing, owner(nil)), owner(&yes), wakes},

		"Status":     {"a check may read it, and followers read the readiness", thing, func(o client.Object) { o.(*Thing).Status.Names[0] = "b" }, wakes | writes},
		"MapKey":     {"a key counts, not its value alone", with(thing, zones(map[string]Zone{"a": {Name: "x"}})), zones(map[string]Zone{"b": {Name: "x"}}), wakes | writes},
		"MapSwapped": {"the pairs of key and value count", with(thing, zones(map[string]Zone{"a": {Name: "x"}, "b": {Name: "y"}})), zones(map[string]Zone{"a": {Name: "y"}, "b": {Name: "x"}}), wakes | writes},
		"Flag":       {"a boolean counts", with(thing, zones(map[string]Zone{"a": {}})), zones(map[string]Zone{"a": {Up: true}}), wakes | writes},
		"NilMoved":   {"the position of a nil counts", with(thing, free(nil, &yes)), free(&yes, nil), wakes | writes},
		"Condition":  {"the condition after an equal one counts", reported, func(o client.Object) { o.(*testv1.Database).Status.Conditions[1].Reason = "b" }, wakes | writes},
		"Added": {"an added condition counts", reported, func(o client.Object) {
			all := &o.(*testv1.Database).Status.Conditions
			*all = append(*all, metav1.Condition{Type: "New"})
		}, wakes | writes},
		"Plain":     {"a number next to equal conditions counts", reported, func(o client.Object) { o.(*testv1.Database).Status.Size++ }, wakes | writes},
		"SpecToo":   {"the spec changes, and only the form of the status", thing, func(o client.Object) { o.(*Thing).Spec.Size++; o.(*Thing).Status.Tags = map[string]string{} }, 0},
		"NilStatus": {"a status was added", func() client.Object { return &Late{ObjectMeta: meta} }, func(o client.Object) { o.(*Late).Status = &ThingStatus{} }, wakes | writes},
		"ByPointer": {"a status by pointer changed", func() client.Object { return &Late{ObjectMeta: meta, Status: &ThingStatus{}} }, func(o client.Object) { o.(*Late).Status.Ratio = 1 }, wakes | writes},

		"Rules":         {"an object without a status counts as a whole", bare, func(o client.Object) { o.(*Bare).Rules[0] = "b" }, wakes | writes | typed},
		"RulesVersion":  {"fields that change without a change of the object do not count", bare, func(o client.Object) { version(o); o.(*Bare).APIVersion, o.(*Bare).Kind = "v1", "Bare" }, 0},
		"ConfigMap":     {"a ConfigMap has only its data", func() client.Object { return &corev1.ConfigMap{} }, func(o client.Object) { o.(*corev1.ConfigMap).Data = map[string]string{"a": "b"} }, wakes | follows | writes | typed},
		"SecretData":    {"a rotated Secret", secret, func(o client.Object) { o.(*corev1.Secret).Data["a"][0] = 2 }, wakes | follows | writes | typed},
		"SecretVersion": {"a write that changes nothing does not count", secret, version, 0},
		"SecretNote":    {"followers read no annotations", secret, annotation, wakes},
		"Service":       {"no generation stands for the spec of a service", service, func(o client.Object) { o.(*corev1.Service).Spec.ClusterIP = "10.0.0.2" }, wakes | follows},
		"ServiceStatus": {"nor is the status of a service left out", service, func(o client.Object) {
			o.(*corev1.Service).Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "1"}}
		}, wakes | follows | writes},
		"Node": {"no generation stands for the spec of a node", node, func(o client.Object) { o.(*corev1.Node).Spec.PodCIDR = "x" }, wakes | follows},

		"Partial":          {"a metadata-only object has labels", partial, func(o client.Object) { o.SetLabels(nil) }, wakes},
		"PartialVersion":   {"it changes without a change of the object", partial, version, 0},
		"PartialData":      {"without a generation, the version stands for the data", with(partial, func(o client.Object) { o.SetGeneration(0) }), version, follows},
		"PartialOtherName": {"the name is the key of the lookup", partial, func(o client.Object) { o.SetName("b") }, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, after := tc.of(), tc.of()
			tc.change(after)
			forms := map[string][2]client.Object{"typed": {before, after}}
			if _, ok := before.(*metav1.PartialObjectMetadata); !ok {
				forms["unstructured"] = [2]client.Object{asUnstructured(t, before), asUnstructured(t, after)}
			}
			for form, o := range forms {
				got := 0
				if digest.Of(o[0]) != digest.Of(o[1]) {
					got |= wakes
				}
				if digest.Follow(o[0]) != digest.Follow(o[1]) {
					got |= follows
				}
				if !digest.SameStatus(o[0], o[1]) {
					got |= writes
				}
				want := tc.want &^ typed
				if tc.want&typed != 0 && form != "typed" {
					want &^= writes
				}
				if whole, part := digest.Metadata(o[0]) == digest.Metadata(o[1]), got&wakes == 0; part && !whole || tc.want&(writes|follows) == 0 && whole != part {
					t.Errorf("%s: %s: the metadata is the same: %t", tc.reason, form, whole)
				}
				if got != want {
					t.Errorf("%s: %s: the bits are %03b, want %03b", tc.reason, form, got, want)
				}
			}
		})
	}
}

// asUnstructured returns an object as a client reads it without its type.
func asUnstructured(t *testing.T, obj client.Object) client.Object {
	text, err := json.Marshal(obj)
	content := map[string]any{}
	if err == nil {
		err = utiljson.Unmarshal(text, &content)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

func TestNotFound(t *testing.T) {
	for name, of := range map[string]func(client.Object) uint64{"Of": digest.Of, "Follow": digest.Follow} {
		for _, missing := range []client.Object{nil, (*Thing)(nil)} { // a lookup that found nothing returns a nil pointer
			if got := of(missing); got != digest.NotFound {
				t.Errorf("%s(%#v) = %d, want NotFound", name, missing, got)
			}
		}
		if got := of(value{&Thing{}}); got == digest.NotFound {
			t.Errorf("%s of an object that is no pointer is NotFound", name)
		}
		if got := of(&Thing{}); got == digest.NotFound || got == 0 {
			t.Errorf("%s(&Thing{}) = %d, which is reserved for an object that does not exist or was not read", name, got)
		}
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

// value is an object that is no pointer.
type value struct{ *Thing }

// flat is one with a status.
type flat struct {
	*Thing `json:"thing"`
	Status LoudStatus `json:"status"`
}

// An object that has no JSON counts as its version.
func TestBroken(t *testing.T) {
	object := func(version string) client.Object {
		return &Loud{ObjectMeta: metav1.ObjectMeta{UID: "1", ResourceVersion: version}, Status: LoudStatus{Voice: voice{err: errors.New("no JSON")}}}
	}
	for name, of := range map[string]func(client.Object) uint64{"Of": digest.Of, "Follow": digest.Follow, "Metadata": digest.Metadata} {
		if of(object("1")) != digest.Version("1", "1") || of(object("2")) != digest.Version("1", "2") {
			t.Errorf("%s of an object without JSON is not that of its version", name)
		}
	}
	for _, other := range []client.Object{&Thing{}, &Bare{}} {
		if digest.SameStatus(object("1"), other) || digest.SameStatus(other, object("1")) {
			t.Errorf("a status without JSON is the same as that of %T", other)
		}
	}
}

// SameStatus makes no JSON of equal statuses, as almost every pass compares them.
func TestSameStatusIsFast(t *testing.T) {
	calls := 0
	one := []metav1.Condition{{Type: "Ready"}}
	loud := func(change func(*LoudStatus)) client.Object {
		o := &Loud{Status: LoudStatus{
			Conditions: slices.Clone(one), Name: "a", cache: "a", flag: true, number: 1i, Voice: voice{calls: &calls}, Names: []string{"a"},
		}}
		change(&o.Status)
		return o
	}
	cases := map[string]struct {
		reason string
		change func(*LoudStatus)
		calls  int
		same   bool
	}{
		"Same":       {"nothing changed", func(*LoudStatus) {}, 0, true},
		"Cache":      {"JSON does not have the field", func(s *LoudStatus) { s.cache = "b" }, 2, true},
		"Name":       {"a text changed after equal conditions", func(s *LoudStatus) { s.Name = "b" }, 2, false},
		"Names":      {"a list changed", func(s *LoudStatus) { s.Names = nil }, 2, false},
		"NilList":    {"JSON has null in place of an empty list", func(s *LoudStatus) { s.Others = []metav1.Condition{} }, 2, false},
		"Conditions": {"a condition changed", func(s *LoudStatus) { s.Conditions[0].Reason = "b" }, 2, false},
	}
	for name, tc := range cases {
		calls = 0
		same := digest.SameStatus(loud(func(*LoudStatus) {}), loud(tc.change))
		if same != tc.same || calls != tc.calls {
			t.Errorf("%s: %s: the same: %t; %d statuses were marshalled, want %d", name, tc.reason, same, calls, tc.calls)
		}
	}
	state := &testv1.Cluster{Status: testv1.ClusterStatus{State: "a"}}
	if !digest.SameStatus(state, asUnstructured(t, state)) || !digest.SameStatus(asUnstructured(t, state), state) {
		t.Error("another form of the object has another status")
	}
	calls = 0
	late := func() client.Object { return &Quiet{Status: &LoudStatus{Voice: voice{calls: &calls}}} }
	if !digest.SameStatus(late(), late()) || calls > 0 {
		t.Errorf("%d statuses by pointer were marshalled", calls)
	}
	inlined := func() client.Object { return &Inlined{Loud: Loud{Status: LoudStatus{Voice: voice{calls: &calls}}}} }
	if !digest.SameStatus(inlined(), inlined()) || calls != 2 {
		t.Errorf("%d embedded statuses were marshalled", calls)
	}
	if !digest.SameStatus(flat{Thing: &Thing{}}, flat{Thing: &Thing{}}) {
		t.Error("an object that is no pointer has another status")
	}
}

// Of an object that waits for itself, the record counts: a person removes one that is refused.
func TestOfSelf(t *testing.T) {
	cluster := func(kind, message string) client.Object {
		return &testv1.Cluster{Status: testv1.ClusterStatus{Conditions: []metav1.Condition{{Type: kind, Message: message}}}}
	}
	with, other, without := cluster(record.Condition, "a"), cluster(record.Condition, "b"), &testv1.Cluster{Status: testv1.ClusterStatus{Conditions: []metav1.Condition{}}}
	if digest.OfSelf(with) != digest.OfSelf(other) || digest.OfSelf(with) == digest.OfSelf(without) || digest.OfSelf(with) == digest.OfSelf(cluster("X", "a")) {
		t.Error("the digest depends on the text of the record, or not on the record")
	}
}

func TestValid(t *testing.T) {
	got := map[uint64]uint64{}
	for h := range uint64(4) {
		got[h] = digest.Valid(h)
	}
	if want := map[uint64]uint64{0: 2, 1: 3, 2: 2, 3: 3}; !maps.Equal(want, got) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestRecord verifies that a record that changes, appears or vanishes is a change of
// the status, and wakes no waiter.
func TestRecord(t *testing.T) {
	cluster := func(kind, reason, message string) client.Object {
		return &testv1.Cluster{Status: testv1.ClusterStatus{State: "Running", Conditions: []metav1.Condition{{Type: kind, Reason: reason, Message: message, Status: metav1.ConditionTrue}}}}
	}
	cases := map[string]struct {
		reason   string
		kind, of string
		wakes    bool
	}{
		"Success":   {"the time of the success is in the message", record.Condition, "Settled", false},
		"Operation": {"the token of an operation is in the message, and each poll may change it", record.Condition, "UnderWay", false},
		"Other":     {"the message of another condition counts", "Ready", "Ready", true},
		"Reason":    {"the message of another condition counts, whatever its reason", "Ready", "Settled", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, b := cluster(tc.kind, tc.of, "a"), cluster(tc.kind, tc.of, "b")
			bare, first := cluster("", "", "").(*testv1.Cluster), a
			bare.Status.Conditions = nil
			with, without := cluster("Other", "Other", "").(*testv1.Cluster), cluster("Other", "Other", "")
			with.Status.Conditions = append(with.Status.Conditions, a.(*testv1.Cluster).Status.Conditions...)
			for what, o := range map[string][2]client.Object{
				"it is the first": {first, bare}, "it changes": {a, b}, "it changes, unstructured": {asUnstructured(t, a), asUnstructured(t, b)},
				"it appears": {with, without}, "it appears, unstructured": {asUnstructured(t, with), asUnstructured(t, without)},
			} {
				if digest.SameStatus(o[0], o[1]) {
					t.Errorf("%s: the statuses count as equal, so it would not be written", what)
				}
				if wakes := digest.Of(o[0]) != digest.Of(o[1]); wakes != tc.wakes {
					t.Errorf("%s: %s: wakes is %v", tc.reason, what, wakes)
				}
			}
		})
	}
}
