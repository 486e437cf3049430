package object_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/object"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// kindOf returns the kind of an object, without its conditions.
func kindOf[T client.Object](T) *object.Kind {
	return object.Of("T", func(T) *[]metav1.Condition { return nil })
}

// requeueOf returns the requeue interval that an object or its spec gives; 0: none.
func requeueOf[T client.Object](obj T) time.Duration {
	return kindOf(obj).Intervals(context.Background(), obj, 0).Requeue
}

type (
	every   time.Duration
	onSpec  struct{ Every every }
	byValue struct {
		testv1.Database
		Spec every
	}
	byPointer struct {
		testv1.Database
		Spec *onSpec
	}
	byInterface struct {
		testv1.Database
		Spec interface{ GetRequeueInterval() time.Duration }
	}
	embedded struct{ byPointer }
	either   struct{ byPointer }
	silent   struct{ testv1.Database }
	panics   struct{ testv1.Database }
)

func (e every) GetRequeueInterval() time.Duration   { return time.Duration(e) }
func (s *onSpec) GetRequeueInterval() time.Duration { return time.Duration(s.Every) }
func (*either) GetRequeueInterval() time.Duration   { return 3 * time.Minute }
func (*panics) GetRequeueInterval() time.Duration   { panic("no") }

// An object says it itself, or its spec does, whatever that is.
func TestWhoSaysIt(t *testing.T) {
	const other = 7 * time.Minute
	two := 2 * time.Minute
	cases := map[string]struct {
		reason string
		got    time.Duration
		want   time.Duration
	}{
		"Value":        {"a spec that is a value", requeueOf(&byValue{Spec: every(two)}), two},
		"Pointer":      {"a spec that is a pointer", requeueOf(&byPointer{Spec: &onSpec{every(two)}}), two},
		"NilPointer":   {"a spec that is not there", requeueOf(&byPointer{}), 0},
		"Interface":    {"a spec that is an interface", requeueOf(&byInterface{Spec: every(two)}), two},
		"NilInterface": {"one that is nil", requeueOf(&byInterface{}), 0},
		"Embedded":     {"the spec of an embedded object", requeueOf(&embedded{byPointer{Spec: &onSpec{every(two)}}}), two},
		"Object":       {"the object knows better than its spec", requeueOf(&either{byPointer{Spec: &onSpec{every(other)}}}), 3 * time.Minute},
		"Silent":       {"a spec that says nothing", requeueOf(&silent{}), 0},
		"Panics":       {"what panics says nothing", requeueOf(&panics{}), 0},
		"Negative":     {"a negative interval is none", requeueOf(&byValue{Spec: -1}), 0},
	}
	for name, tc := range cases {
		if tc.got != tc.want {
			t.Errorf("%s: %s: %s, not %s", name, tc.reason, tc.got, tc.want)
		}
	}
}

// The field may be a pointer, in an embedded struct, or in a status that is a
// pointer. A type without the field stays as it is.
func TestObservedGenerationFields(t *testing.T) {
	cases := map[string]struct {
		reason string
		test   func(t *testing.T) (got any)
		want   any
	}{
		"Pointer":      {"an unset pointer is set", observes(func(o *Thing[pointerStatus]) any { return *o.Status.Observed }), int64(3)},
		"Embedded":     {"JSON has the fields of an embedded struct", observes(func(o *Thing[embeddedStatus]) any { return o.Status.Observed }), int32(3)},
		"Status":       {"the status may be a pointer", observes(func(o *Thing[*pointerStatus]) any { return *o.Status.Observed }), int64(3)},
		"Text":         {"a field that is no integer is not the one", observes(func(o *Thing[textStatus]) any { return o.Status.Observed }), ""},
		"None":         {"nothing happens", observes(func(o *Thing[metav1.Condition]) any { return o.Status.Reason }), ""},
		"Recursive":    {"a status that embeds a pointer to its own type ends", observes(func(o *Thing[recursiveStatus]) any { return o.Status.recursiveStatus == nil }), true},
		"Loose":        {"an unstructured status with the field", looseObserved(map[string]any{"observedGeneration": int64(-1)}), int64(3)},
		"LooseWithout": {"an unstructured status without the field", looseObserved(map[string]any{}), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.test(t); got != tc.want {
				t.Errorf("%s: it is %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// Thing is a kind with a status of type S.
type Thing[S any] struct {
	testv1.Database
	Status S `json:"status"`
}

type (
	pointerStatus struct {
		Observed *int64 `json:"observedGeneration,omitempty"`
	}
	textStatus struct {
		Observed string `json:"observedGeneration"`
	}
	embeddedStatus struct {
		Common `json:",inline"`
	}
	recursiveStatus struct{ *recursiveStatus }
	// Common is embedded in a status.
	Common struct {
		Observed int32 `json:"observedGeneration"`
	}
)

func observes[S any](read func(*Thing[S]) any) func(*testing.T) any {
	return func(*testing.T) any {
		o := new(Thing[S])
		kindOf(o).Observe(o, 3)
		return read(o)
	}
}

func looseObserved(status map[string]any) func(*testing.T) any {
	return func(*testing.T) any {
		o := &unstructured.Unstructured{Object: map[string]any{"status": status}}
		kindOf(o).Observe(o, 3)
		return status["observedGeneration"]
	}
}

// The field is a string, also of a named type or with a pointer. An
// unstructured status without the field gets none.
func TestRetryFields(t *testing.T) {
	type named string
	type (
		pointer struct {
			At *string `json:"lastHandledReconcileAt,omitempty"`
		}
		other struct {
			At named `json:"lastHandledReconcileAt"`
		}
		number struct {
			At int64 `json:"lastHandledReconcileAt"`
		}
	)
	p, n, i, u := new(Thing[pointer]), new(Thing[other]), new(Thing[number]), &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{}}}
	got := []any{kindOf(p).Handled(p, "x"), *p.Status.At, kindOf(n).Handled(n, "x"), string(n.Status.At), kindOf(i).Handled(i, "x"), i.Status.At, kindOf(u).Handled(u, "x")}
	want := []any{true, "x", true, "x", false, int64(0), false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
