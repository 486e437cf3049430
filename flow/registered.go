package flow

import (
	"fmt"
	"reflect"
)

// ExtensionsOf returns the extensions that are registered for a kind. It is for an engine that makes a
// reconciler of its own type for each kind:
//
//	ext, err := flow.ExtensionsOf[*Topic](&registry, "Topic")
//
// It returns an error that names the kind if the kind is not registered, or is registered for another
// type than T.
func ExtensionsOf[T, O any](r *Registry[O], kind string) (Extensions[T], error) {
	known, ok := r.registered(kind)
	if !ok {
		return Extensions[T]{}, fmt.Errorf("flow: kind %q is not registered: call flow.Register, with the zero Extensions if the kind needs none", kind)
	}
	ext, ok := known.ext.(Extensions[T])
	if !ok {
		return ext, fmt.Errorf("flow: kind %q is registered for %s, and is used for %s: register it for the latter", kind, known.of, reflect.TypeFor[T]())
	}
	return ext, nil
}
