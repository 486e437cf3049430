package ctrlx

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

const observedGeneration = "observedGeneration"

// observerOf returns the function that sets status.observedGeneration of an
// object of type T. The function does nothing for an object without the field.
//
// The field is the integer field with the JSON name observedGeneration in the
// field Status of T. An unstructured object has it if its status contains it.
func observerOf[T client.Object]() func(obj T, generation int64) {
	t := reflect.TypeFor[T]()
	if t.Implements(reflect.TypeFor[runtime.Unstructured]()) {
		return func(obj T, generation int64) {
			status, _ := any(obj).(runtime.Unstructured).UnstructuredContent()["status"].(map[string]any)
			if _, ok := status[observedGeneration]; ok {
				status[observedGeneration] = generation
			}
		}
	}
	status, _ := t.Elem().FieldByName("Status")
	index := jsonField(pointedTo(status.Type), observedGeneration)
	if index == nil {
		return func(T, int64) {}
	}
	index = append(append([]int(nil), status.Index...), index...)
	return func(obj T, generation int64) {
		v := reflect.ValueOf(obj).Elem()
		for _, i := range index {
			if v = v.Field(i); v.Kind() != reflect.Pointer {
				continue
			}
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v.SetInt(generation)
	}
}

// jsonField returns the index of the integer field with a JSON name in the
// struct t, or in the structs that t embeds in its JSON; nil if there is none.
// It does not follow embedded pointers, so it ends for every type.
func jsonField(t reflect.Type, name string) []int {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch of := pointedTo(f.Type); {
		case !f.IsExported():
		case tag == name && (of.Kind() == reflect.Int64 || of.Kind() == reflect.Int32 || of.Kind() == reflect.Int):
			return f.Index
		case f.Anonymous && tag == "":
			if index := jsonField(f.Type, name); index != nil {
				return append([]int{i}, index...)
			}
		}
	}
	return nil
}

// pointedTo returns the type that t points to, or t itself if t is no pointer.
func pointedTo(t reflect.Type) reflect.Type {
	if t != nil && t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// onHold reports whether a user suspended or paused the object. Only a change
// ends such a block, but the object is not stuck.
func onHold(out flow.Outcome) bool {
	return out.State() == flow.StateBlocked && out.Retry() == classify.OnChange &&
		(out.Reason() == ReasonSuspended || out.Reason() == checks.ReasonPaused)
}

// conditionsFor returns the conditions of an outcome. Stalled is False for an
// object on hold: otherwise kstatus reports it as Failed.
func conditionsFor(out flow.Outcome) []flow.Condition {
	all := out.Conditions()
	if !onHold(out) {
		return all
	}
	for i := range all {
		if all[i].Type == "Stalled" {
			all[i].Status = "False"
		}
	}
	return all
}
