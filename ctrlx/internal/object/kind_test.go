package object_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/windlass-go/windlass/ctrlx/internal/object"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

type meta struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

func (*meta) DeepCopyObject() runtime.Object { panic("the tests copy no object") }

type status struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type (
	direct struct {
		meta
		Status status
	}
	pointer struct {
		meta
		Status *status
	}
	inlined struct {
		meta
		Status struct {
			status `json:",inline"`
		}
	}
	both struct {
		meta
		Status status
		other  []metav1.Condition
	}
	renamed struct {
		meta
		Status struct {
			Conditions []metav1.Condition `json:"states"`
		}
	}
	hidden struct {
		meta
		Status struct{ *status }
	}
	indirect struct {
		meta
		Status struct {
			Conditions *[]metav1.Condition `json:"conditions"`
		}
	}
)

func (b *both) GetConditions() []metav1.Condition    { return b.other }
func (b *both) SetConditions(all []metav1.Condition) { b.other = all }

func TestConditionsOf(t *testing.T) {
	of := func(k *object.Kind) func() *object.Kind { return func() *object.Kind { return k } }
	cases := map[string]struct {
		reason string
		kind   func() *object.Kind
		panics bool
	}{
		"Status":    {"kubebuilder writes this status", of(object.Of[*direct]("New", nil)), false},
		"Pointer":   {"a nil status has no conditions, and is made for the first", of(object.Of[*pointer]("New", nil)), false},
		"Inlined":   {"JSON does not see the struct between", of(object.Of[*inlined]("New", nil)), false},
		"Methods":   {"they come before the field", of(object.Of[*both]("New", nil)), false},
		"Function":  {"it says where they are", of(object.Of("New", func(o *renamed) *[]metav1.Condition { return &o.Status.Conditions })), false},
		"OtherName": {"the API server would drop the conditions", func() *object.Kind { return object.Of[*renamed]("New", nil) }, true},
		"Hidden":    {"the pointer cannot be set, so all writes would be lost", func() *object.Kind { return object.Of[*hidden]("New", nil) }, true},
		"Indirect":  {"it is another type", func() *object.Kind { return object.Of[*indirect]("New", nil) }, true},
		"OtherType": {"they are no conditions of this form", func() *object.Kind { return object.Of[*corev1.Pod]("New", nil) }, true},
		"NoStatus":  {"nothing could be written", func() *object.Kind { return object.Of[*corev1.Secret]("New", nil) }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := recover(); (got != nil) != tc.panics || got != nil && !(strings.HasPrefix(fmt.Sprint(got), "ctrlx: New: ") && strings.Contains(fmt.Sprint(got), "or use WithConditions")) {
					t.Errorf("%s: the panic is %s", tc.reason, got)
				}
			}()
			kind := tc.kind()
			obj := kind.New()
			if got := kind.Conditions(obj); got != nil {
				t.Errorf("%s: a new object has %v", tc.reason, got)
			}
			want := []metav1.Condition{{Type: "Ready"}}
			kind.SetConditions(obj, want)
			if diff := cmp.Diff(want, kind.Conditions(obj)); diff != "" {
				t.Errorf("%s: -set, +got:\n%s", tc.reason, diff)
			}
			if b, ok := obj.(*both); ok && (b.Status.Conditions != nil || b.other == nil) {
				t.Errorf("%s: the field was used", tc.reason)
			}
			kind.SetConditions(obj, nil)
			if got := kind.Conditions(obj); len(got) != 0 {
				t.Errorf("%s: %v is left", tc.reason, got)
			}
		})
	}
}

// A final outcome holds for the object and the spec that it names.
func TestFinished(t *testing.T) {
	kind := object.Of[*direct]("New", nil)
	deleted := metav1.Now()
	cases := map[string]struct {
		reason string
		change func(o *direct, c *metav1.Condition)
		want   bool
	}{
		"Finished":  {"it is final", func(*direct, *metav1.Condition) {}, true},
		"Other":     {"another condition says nothing", func(_ *direct, c *metav1.Condition) { c.Type = "Ready" }, false},
		"False":     {"nothing is final", func(_ *direct, c *metav1.Condition) { c.Status = "False" }, false},
		"Changed":   {"the spec is another one", func(o *direct, _ *metav1.Condition) { o.Generation++ }, false},
		"Deleted":   {"a user deletes it", func(o *direct, _ *metav1.Condition) { o.DeletionTimestamp = &deleted }, false},
		"OtherUID":  {"the status was restored under another object", func(o *direct, _ *metav1.Condition) { o.UID = "v" }, false},
		"LongerUID": {"the UID ends as the other one does", func(_ *direct, c *metav1.Condition) { c.Message = "done (UID x-u)" }, false},
	}
	for name, tc := range cases {
		o := &direct{meta: meta{ObjectMeta: metav1.ObjectMeta{UID: "u", Generation: 2}}}
		c := metav1.Condition{Type: "Finished", Status: "True", Message: "done (UID u)", ObservedGeneration: 2}
		tc.change(o, &c)
		o.Status.Conditions = []metav1.Condition{c}
		if got := kind.Finished(o); got != tc.want {
			t.Errorf("%s: %s: got %t", name, tc.reason, got)
		}
	}
	if got := object.FinishedMessage("done", "u"); got != "done (UID u)" {
		t.Errorf("the message is %q", got)
	}
}

func TestKind(t *testing.T) {
	kind := object.Of[*testv1.Database]("New", nil)
	kind.GroupVersionKind = testv1.GroupVersion.WithKind("Database")
	if kind.Is(nil) || kind.Is(&corev1.Secret{}) || !kind.Is(kind.New()) {
		t.Error("an object of the kind is none, or another one is")
	}
	d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "1"}}}
	c := kind.Copy(d)
	if c.GetLabels()["a"] = "2"; d.Labels["a"] != "1" || d.Kind != "" || c.GetObjectKind().GroupVersionKind() != kind.GroupVersionKind {
		t.Errorf("the copy of %+v is %+v", d, c)
	}
}
