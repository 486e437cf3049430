package object_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
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

// requeueOf returns the requeue interval that an object or its spec gives.
func requeueOf[T client.Object](obj T) string {
	k := kindOf(obj)
	if k.Requeue == nil {
		return "none"
	}
	return k.Requeue(obj).String()
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
	byAddress struct {
		testv1.Database
		Spec onSpec
	}
	embedded struct{ byPointer }
	absent   struct{ *byPointer }
	either   struct{ byPointer }
	silent   struct{ testv1.Database }
	settings struct{}
	all      struct {
		testv1.Database
		Spec settings
	}
	misfit  struct{ testv1.Database }
	misspec struct {
		testv1.Database
		Spec wrong
	}
	wrong struct{}
)

func (e every) GetRequeueInterval() time.Duration   { return time.Duration(e) }
func (s *onSpec) GetRequeueInterval() time.Duration { return time.Duration(s.Every) }
func (*either) GetRequeueInterval() time.Duration   { return 3 * time.Minute }
func (settings) GetRequeueInterval() time.Duration  { return 1 }
func (settings) GetRetryInterval() time.Duration    { return 2 }
func (settings) GetTimeout() time.Duration          { return 3 }
func (settings) IsSuspended() bool                  { return true }
func (*misfit) GetTimeout() int                     { return 0 }
func (wrong) GetTimeout() int                       { return 0 }

// An object says it itself, or its spec does, whatever that is.
func TestWhoSaysIt(t *testing.T) {
	const two = 2 * time.Minute
	cases := map[string]struct {
		reason string
		got    string
		want   string
	}{
		"Value":        {"a spec that is a value", requeueOf(&byValue{Spec: every(two)}), "2m0s"},
		"Address":      {"a spec whose address has the method", requeueOf(&byAddress{Spec: onSpec{every(two)}}), "2m0s"},
		"Pointer":      {"a spec that is a pointer", requeueOf(&byPointer{Spec: &onSpec{every(two)}}), "2m0s"},
		"NilPointer":   {"a spec that is not there", requeueOf(&byPointer{}), "0s"},
		"Interface":    {"a spec that is an interface", requeueOf(&byInterface{Spec: every(two)}), "2m0s"},
		"NilInterface": {"one that is nil", requeueOf(&byInterface{}), "0s"},
		"Embedded":     {"the spec of an embedded object", requeueOf(&embedded{byPointer{Spec: &onSpec{every(two)}}}), "2m0s"},
		"Absent":       {"the embedded object is not there", requeueOf(&absent{}), "0s"},
		"Object":       {"the object knows better than its spec", requeueOf(&either{byPointer{Spec: &onSpec{every(two)}}}), "3m0s"},
		"Silent":       {"a spec that says nothing", requeueOf(&silent{}), "none"},
		"NoSpec":       {"an object without a spec", requeueOf(&corev1.Secret{}), "none"},
	}
	for name, tc := range cases {
		if tc.got != tc.want {
			t.Errorf("%s: %s: %s, not %s", name, tc.reason, tc.got, tc.want)
		}
	}
}

// A type whose settings could never be read cannot be set up.
func TestMisfits(t *testing.T) {
	for name, of := range map[string]func(){
		"a method of the object": func() { kindOf(&misfit{}) }, "a method of the spec": func() { kindOf(&misspec{}) },
		"a number": func() { object.MustBeStruct("T", reflect.TypeFor[*int]()) }, "an interface": func() { kindOf[client.Object](nil) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "ctrlx: T: ") {
					t.Errorf("%s: the panic is %s", name, got)
				}
			}()
			of()
		}()
	}
}

// A spec may have all settings.
func TestSettings(t *testing.T) {
	k, o := kindOf(&all{}), &all{}
	want := object.Intervals{Requeue: 1, Retry: 2, Timeout: 3}
	if got := (object.Intervals{Requeue: k.Requeue(o), Retry: k.Retry(o), Timeout: k.Timeout(o)}); got != want || !k.Suspended(o) {
		t.Errorf("the intervals are %+v, want %+v, or it is not suspended", got, want)
	}
}

// The requeue interval stands in for the intervals that an object does not give.
func TestIntervals(t *testing.T) {
	const none = -2 // there is no such method
	cases := map[string]struct {
		reason                  string
		requeue, retry, timeout time.Duration
		want                    object.Intervals
	}{
		"None":      {"the type has no methods", none, none, none, object.Intervals{}},
		"All":       {"the object gives each", 1, 2, 3, object.Intervals{Requeue: 1, Retry: 2, Timeout: 3}},
		"Requeue":   {"it stands in for both", 4, 0, 0, object.Intervals{Requeue: 4, Retry: 4, Timeout: 4}},
		"NoTimeout": {"no type has a time-out that does not ask for it", 4, none, none, object.Intervals{Requeue: 4, Retry: 4}},
		"Resync":    {"it stands in for the time-out alone", 0, 0, 0, object.Intervals{Timeout: 9}},
		"Negative":  {"a negative interval is none", -1, -1, -1, object.Intervals{Timeout: 9}},
		"Longest":   {"sums do not overflow", math.MaxInt64, none, none, object.Intervals{Requeue: math.MaxInt64 / 4, Retry: math.MaxInt64 / 4}},
		"Panics":    {"what panics says nothing", 1, 7, 3, object.Intervals{Requeue: 1, Retry: 1, Timeout: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			say := func(d time.Duration) func(client.Object) time.Duration {
				if d == none {
					return nil
				}
				return func(client.Object) time.Duration {
					if d == 7 {
						panic("no")
					}
					return d
				}
			}
			var lines []string
			log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
			k := object.Kind{Requeue: say(tc.requeue), Retry: say(tc.retry), Timeout: say(tc.timeout)}
			if got := k.Intervals(logr.NewContext(t.Context(), log), nil, 9); got != tc.want {
				t.Errorf("%s: %+v, want %+v", tc.reason, got, tc.want)
			}
			want := []string(nil)
			if tc.retry == 7 {
				want = []string{`"msg"="a method of the object for an interval panicked; the default interval is used" "error"="panic: no"`}
			}
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("%s: the log: -want, +got:\n%s", tc.reason, diff)
			}
		})
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
		"Pointer":   {"an unset pointer is set", observes(func(o *Thing[pointerStatus]) any { return *o.Status.Observed }), int64(3)},
		"Embedded":  {"JSON has the fields of an embedded struct", observes(func(o *Thing[embeddedStatus]) any { return o.Status.Observed }), int32(3)},
		"Status":    {"the status may be a pointer", observes(func(o *Thing[*pointerStatus]) any { return *o.Status.Observed }), int64(3)},
		"Int":       {"any integer will do", observes(func(o *Thing[intStatus]) any { return o.Status.Observed }), 3},
		"OtherCase": {"the API server would drop it", observes(func(o *Thing[caseStatus]) any { return o.Status.Observed }), int64(0)},
		"Kept": {"the rest of a status by pointer stays", func(*testing.T) any {
			o := &Thing[*pointerStatus]{Status: &pointerStatus{Other: "x"}}
			kindOf(o).Observe(o, 3)
			return o.Status.Other
		}, "x"},
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
		Other    string
	}
	intStatus struct {
		Observed int `json:"observedGeneration"`
	}
	caseStatus struct {
		Observed int64 `json:"observedgeneration"`
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
	has := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"lastHandledReconcileAt": ""}}}
	got := []any{kindOf(has).Handled(has, "x"), kindOf(p).Handled(p, "x"), *p.Status.At, kindOf(n).Handled(n, "x"), string(n.Status.At), kindOf(i).Handled(i, "x"), i.Status.At, kindOf(u).Handled(u, "x")}
	want := []any{true, true, "x", true, "x", false, int64(0), false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
