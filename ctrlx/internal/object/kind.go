// Package object describes a kind of object without its Go type, so that the code of a
// reconciler needs no type parameter.
package object

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/ctrlx/internal/digest/jsonfield"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// Kind is a kind of object. Each function takes objects of the type T of [Of] only.
// The functions of the settings are nil if T has no such method.
type Kind struct {
	schema.GroupVersionKind // known when the manager is

	New           func() client.Object
	Conditions    func(obj client.Object) []metav1.Condition
	SetConditions func(obj client.Object, all []metav1.Condition)

	Requeue, Retry, Timeout func(obj client.Object) time.Duration
	Suspended               func(obj client.Object) bool

	is       func(obj client.Object) bool
	observed field
	handled  field
}

type conditioned interface {
	GetConditions() []metav1.Condition
	SetConditions([]metav1.Condition)
}

type (
	requeues interface{ GetRequeueInterval() time.Duration }
	retries  interface{ GetRetryInterval() time.Duration }
	timesOut interface{ GetTimeout() time.Duration }
	suspends interface{ IsSuspended() bool }
)

// Of returns the kind of objects of type T. conditions is where an object has its
// conditions; nil: T has methods for them, or else the field conditions of its status.
// Of panics if T is no pointer to a struct, if its conditions are nowhere, and if T or
// its Spec has a method for a setting with another signature. maker begins the message.
func Of[T client.Object](maker string, conditions func(T) *[]metav1.Condition) *Kind {
	t := reflect.TypeFor[T]()
	MustBeStruct(maker, t)
	k := &Kind{
		New:           func() client.Object { return reflect.New(t.Elem()).Interface().(client.Object) },
		Conditions:    func(obj client.Object) []metav1.Condition { return obj.(conditioned).GetConditions() },
		SetConditions: func(obj client.Object, all []metav1.Condition) { obj.(conditioned).SetConditions(all) },
		is:            func(obj client.Object) bool { _, ok := obj.(T); return ok },
		observed:      statusField(t, "observedGeneration", reflect.Int64, reflect.Int32, reflect.Int),
		handled:       statusField(t, "lastHandledReconcileAt", reflect.String),
	}
	switch {
	case conditions != nil:
		k.Conditions = func(obj client.Object) []metav1.Condition { return *conditions(obj.(T)) }
		k.SetConditions = func(obj client.Object, all []metav1.Condition) { *conditions(obj.(T)) = all }
	case !t.Implements(reflect.TypeFor[conditioned]()):
		own := statusField(t, "conditions", reflect.Slice)
		if t.Elem().FieldByIndex(own.index).Type != reflect.TypeFor[[]metav1.Condition]() || !own.set(k.New(), []metav1.Condition{}) {
			panic(fmt.Sprintf("ctrlx: %s: the conditions of %s were not found: give its status the field Conditions []metav1.Condition with the JSON name conditions, or use WithConditions", maker, t))
		}
		k.Conditions = own.conditions
		k.SetConditions = func(obj client.Object, all []metav1.Condition) { own.set(obj, all) }
	}
	k.Requeue = setting(maker, t, requeues.GetRequeueInterval)
	k.Retry = setting(maker, t, retries.GetRetryInterval)
	k.Timeout = setting(maker, t, timesOut.GetTimeout)
	k.Suspended = setting(maker, t, suspends.IsSuspended)
	return k
}

// MustBeStruct panics unless t is a pointer to a struct, which objects can be read into.
func MustBeStruct(maker string, t reflect.Type) {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("ctrlx: %s: %s is no pointer to a struct: give the type that the scheme knows", maker, t))
	}
}

// Is reports whether an object is of the kind. Nil is not.
func (k *Kind) Is(obj client.Object) bool { return k.is(obj) }

// Copy returns a copy of an object, with the kind that the cache may leave out.
func (k *Kind) Copy(obj client.Object) client.Object {
	obj = obj.DeepCopyObject().(client.Object)
	obj.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind)
	return obj
}

// Observe sets status.observedGeneration of an object, if it has the field.
func (k *Kind) Observe(obj client.Object, generation int64) { k.observed.set(obj, generation) }

// Handled sets status.lastHandledReconcileAt of an object, and reports whether it has
// the field.
func (k *Kind) Handled(obj client.Object, request string) bool { return k.handled.set(obj, request) }

// ConditionFinished is the condition of a final outcome.
const ConditionFinished = "Finished"

// FinishedMessage returns the message of the condition Finished of an object. It names
// the object, because a status may be restored under another one.
func FinishedMessage(message string, uid types.UID) string {
	return message + " (UID " + string(uid) + ")"
}

// Finished reports whether the last pass over an object was final for its present spec
// (flow.Outcome.Final), and no user deletes it.
func (k *Kind) Finished(obj client.Object) bool {
	is := meta.FindStatusCondition(k.Conditions(obj), ConditionFinished)
	return is != nil && is.Status == metav1.ConditionTrue && is.ObservedGeneration == obj.GetGeneration() && obj.GetDeletionTimestamp().IsZero() &&
		strings.HasSuffix(is.Message, FinishedMessage("", obj.GetUID()))
}

// setting returns the method of the interface I, of objects of type t or else of their
// field Spec. It returns nil if neither has it. A nil Spec gives the zero V.
func setting[I, V any](maker string, t reflect.Type, say func(I) V) func(obj client.Object) V {
	want := reflect.TypeFor[I]()
	setup.MustFit("ctrlx: "+maker, t, want)
	spec, ok := t.Elem().FieldByName("Spec")
	direct := ok && (spec.Type.Kind() == reflect.Pointer || spec.Type.Kind() == reflect.Interface)
	of := spec.Type
	if ok && !direct {
		of = reflect.PointerTo(of)
	}
	if ok {
		setup.MustFit("ctrlx: "+maker, of, want)
	}
	switch {
	case t.Implements(want):
		return func(obj client.Object) V { return say(obj.(I)) }
	case !ok || !of.Implements(want):
		return nil
	}
	return func(obj client.Object) (none V) {
		v, err := reflect.ValueOf(obj).Elem().FieldByIndexErr(spec.Index)
		if err != nil || direct && v.IsNil() {
			return none
		}
		if !direct {
			v = v.Addr()
		}
		return say(v.Interface().(I))
	}
}

// Intervals holds the intervals that an object gives; 0: none.
type Intervals struct{ Requeue, Retry, Timeout time.Duration }

// longest is the longest interval: 73 years, so that sums do not overflow.
const longest = time.Duration(math.MaxInt64 / 4)

// Intervals returns the intervals of an object. A method that panics gives none. The
// retry interval is the requeue interval if the object gives none. So is the time-out,
// and then it is resync, if the type has a method for the time-out.
func (k *Kind) Intervals(ctx context.Context, obj client.Object, resync time.Duration) (i Intervals) {
	defer func() {
		if v := recover(); v != nil {
			log.FromContext(ctx).Error(fmt.Errorf("panic: %v", v), "a method of the object for an interval panicked; the default interval is used")
		}
		if i.Retry == 0 {
			i.Retry = i.Requeue
		}
		if k.Timeout != nil && i.Timeout == 0 {
			if i.Timeout = i.Requeue; i.Timeout == 0 {
				i.Timeout = resync
			}
		}
	}()
	say := func(of func(client.Object) time.Duration) time.Duration {
		if of == nil {
			return 0
		}
		return min(max(of(obj), 0), longest)
	}
	i.Requeue = say(k.Requeue)
	i.Retry = say(k.Retry)
	i.Timeout = say(k.Timeout)
	return i
}

// field is a field of the status. The zero field is none.
type field struct {
	name  string // of an unstructured object, which has it if its status contains it
	index []int  // from the struct
}

// statusField finds the field with a JSON name and one of the kinds in the field Status
// of objects of type t.
func statusField(t reflect.Type, name string, kinds ...reflect.Kind) field {
	if t.Implements(reflect.TypeFor[runtime.Unstructured]()) {
		return field{name: name}
	}
	status, ok := t.Elem().FieldByName("Status")
	if !ok {
		return field{}
	}
	self := jsonfield.Find(status.Type, name)
	if self.Name != name { // also if there is none
		return field{}
	}
	of := self.Type
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if !slices.Contains(kinds, of.Kind()) {
		return field{}
	}
	return field{index: slices.Concat(status.Index, self.Index)}
}

// set sets the field, and reports whether the object has it.
func (f field) set(obj client.Object, value any) bool {
	if f.name != "" {
		status, _ := obj.(runtime.Unstructured).UnstructuredContent()["status"].(map[string]any)
		_, ok := status[f.name]
		if ok {
			status[f.name] = value
		}
		return ok
	}
	if f.index == nil {
		return false
	}
	v := reflect.ValueOf(obj).Elem()
	for _, i := range f.index {
		if v = made(v); !v.IsValid() {
			return false
		}
		v = v.Field(i)
	}
	v = made(v)
	v.Set(reflect.ValueOf(value).Convert(v.Type()))
	return true
}

// conditions returns the value of the field, which has conditions. A nil pointer on the
// way gives none.
func (f field) conditions(obj client.Object) []metav1.Condition {
	v, err := reflect.ValueOf(obj).Elem().FieldByIndexErr(f.index)
	if err != nil {
		return nil
	}
	return v.Interface().([]metav1.Condition)
}

// made returns what a pointer points to, or v itself. It makes the value of a nil
// pointer, and returns the zero Value if it cannot.
func made(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Pointer {
		return v
	}
	if v.IsNil() {
		if !v.CanSet() { // an embedded pointer to an unexported struct
			return reflect.Value{}
		}
		v.Set(reflect.New(v.Type().Elem()))
	}
	return v.Elem()
}
