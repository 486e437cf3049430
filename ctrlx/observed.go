package ctrlx

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The fields of the status that a pass sets if the status has them.
const (
	observedGeneration     = "observedGeneration"
	lastHandledReconcileAt = "lastHandledReconcileAt"
)

// statusField returns the function that sets a field of the status of an object
// of type T. The function reports false for an object without the field, and
// leaves it as it is.
//
// The field is the integer or string field with the given JSON name in the
// field Status of T. An unstructured object has it if its status contains it.
func statusField[T client.Object, V int64 | string](name string) func(obj T, value V) bool {
	t := reflect.TypeFor[T]()
	if t.Implements(reflect.TypeFor[runtime.Unstructured]()) {
		return func(obj T, value V) bool {
			status, _ := any(obj).(runtime.Unstructured).UnstructuredContent()["status"].(map[string]any)
			if _, ok := status[name]; !ok {
				return false
			}
			status[name] = value
			return true
		}
	}
	status, _ := t.Elem().FieldByName("Status")
	index := jsonField(pointedTo(status.Type), name, canHold[V])
	if index == nil {
		return func(T, V) bool { return false }
	}
	index = append(append([]int(nil), status.Index...), index...)
	return func(obj T, value V) bool {
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
		v.Set(reflect.ValueOf(value).Convert(v.Type()))
		return true
	}
}

// canHold reports whether a field of a kind takes a value of type V.
func canHold[V int64 | string](kind reflect.Kind) bool {
	if reflect.TypeFor[V]().Kind() == reflect.String {
		return kind == reflect.String
	}
	return kind == reflect.Int64 || kind == reflect.Int32 || kind == reflect.Int
}

// jsonField returns the index of the field with a JSON name and a suitable kind
// in the struct t, or in the structs that t embeds in its JSON; nil if there is
// none. It does not follow embedded pointers, so it ends for every type.
func jsonField(t reflect.Type, name string, suits func(reflect.Kind) bool) []int {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported():
		case tag == name && suits(pointedTo(f.Type).Kind()):
			return f.Index
		case f.Anonymous && tag == "":
			if index := jsonField(f.Type, name, suits); index != nil {
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
