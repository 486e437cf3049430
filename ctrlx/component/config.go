package component

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// MissingNamespacesPolicy says what happens if an object of the set is in a
// namespace that does not exist.
type MissingNamespacesPolicy string

// The policies for missing namespaces. A namespace that is created gets no mark
// of the component, and is never deleted.
const (
	MissingNamespacesCreate      MissingNamespacesPolicy = "Create" // the default
	MissingNamespacesDoNotCreate MissingNamespacesPolicy = "DoNotCreate"
)

func (p MissingNamespacesPolicy) problem() string {
	switch p {
	case MissingNamespacesCreate, MissingNamespacesDoNotCreate:
		return ""
	}
	return fmt.Sprintf("the policy for missing namespaces is %q: it must be %q or %q",
		string(p), MissingNamespacesCreate, MissingNamespacesDoNotCreate)
}

// PolicyConfiguration is implemented by a component, or by the value of its
// GetSpec, that sets policies of its dependents. Each method counts on its own.
// An empty value means the option of [New], or else the default.
type PolicyConfiguration interface {
	GetAdoptionPolicy() dependents.AdoptionPolicy
	GetUpdatePolicy() dependents.UpdatePolicy
	GetDeletePolicy() dependents.DeletePolicy
	GetMissingNamespacesPolicy() MissingNamespacesPolicy
}

// TypeConfiguration is implemented by a component, or by the value of its
// GetSpec, that has more managed types: see [WithManagedTypes].
type TypeConfiguration interface {
	GetAdditionalManagedTypes() []TypeInfo
}

// ReapplyConfiguration is implemented by a component, or by the value of its
// GetSpec, that sets the longest time between two writes of a dependent. Zero and
// negative mean the option of [New], or else the default.
type ReapplyConfiguration interface {
	GetReapplyInterval() time.Duration
}

// configuration holds the settings of one component.
type configuration struct {
	policies   dependents.Policies // empty fields: the component does not set them
	namespaces MissingNamespacesPolicy
	types      []TypeInfo
	observe    bool
}

// annotationObserve is the annotation of a component that is only observed, after
// the name of the reconciler and a slash.
const annotationObserve = "observe-only"

// configurationOf returns the settings of a component, and a problem for each
// invalid value. Package dependents checks the policies.
func (o *options) configurationOf(name string, c Component) (configuration, []string) {
	cfg := configuration{namespaces: o.namespaces, types: o.types, observe: o.observe}
	cfg.policies.Adoption = setting(c, func(i interface {
		GetAdoptionPolicy() dependents.AdoptionPolicy
	}) dependents.AdoptionPolicy {
		return i.GetAdoptionPolicy()
	})
	cfg.policies.Update = setting(c, func(i interface {
		GetUpdatePolicy() dependents.UpdatePolicy
	}) dependents.UpdatePolicy {
		return i.GetUpdatePolicy()
	})
	cfg.policies.Delete = setting(c, func(i interface {
		GetDeletePolicy() dependents.DeletePolicy
	}) dependents.DeletePolicy {
		return i.GetDeletePolicy()
	})
	cfg.policies.ReapplyInterval = max(setting(c, ReapplyConfiguration.GetReapplyInterval), 0)
	var problems []string
	if p := setting(c, func(i interface {
		GetMissingNamespacesPolicy() MissingNamespacesPolicy
	}) MissingNamespacesPolicy {
		return i.GetMissingNamespacesPolicy()
	}); p != "" {
		cfg.namespaces = p
		if problem := p.problem(); problem != "" {
			problems = append(problems, problem)
		}
	}
	for _, t := range setting(c, TypeConfiguration.GetAdditionalManagedTypes) {
		if problem := t.problem(); problem != "" {
			problems = append(problems, problem)
		}
		cfg.types = append(cfg.types[:len(cfg.types):len(cfg.types)], t)
	}
	switch key := name + "/" + annotationObserve; c.GetAnnotations()[key] {
	case "", "false":
	case "true":
		cfg.observe = true
	default:
		problems = append(problems, fmt.Sprintf("the annotation %s is %q: it must be true or false",
			key, c.GetAnnotations()[key]))
	}
	return cfg, problems
}

// setting returns the result of a method of a component, or else of its spec; the
// zero V if neither has the method, or the component returns the zero V.
func setting[I, V any](c Component, get func(I) V) (v V) {
	if i, ok := c.(I); ok {
		return get(i)
	}
	spec := c.GetSpec()
	if i, ok := spec.(I); ok && !isNil(spec) {
		return get(i)
	}
	return v
}

// mustConfigure panics if T is no pointer to a struct, or if a method has the name
// of a setting and another signature: it would be ignored.
func mustConfigure[T Component](name string) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("component: New: %s: %s is no pointer to a struct: give the type that the scheme knows", name, t))
	}
	types := []reflect.Type{t}
	if spec := reflect.New(t.Elem()).Interface().(T).GetSpec(); spec != nil {
		types = append(types, reflect.TypeOf(spec))
	}
	for _, settings := range []reflect.Type{
		reflect.TypeFor[PolicyConfiguration](), reflect.TypeFor[TypeConfiguration](), reflect.TypeFor[ReapplyConfiguration](),
	} {
		for want := range settings.Methods() {
			for _, t := range types {
				if m, ok := t.MethodByName(want.Name); ok && signature(m.Type) != want.Type.String() {
					panic(fmt.Sprintf("component: New: %s: the method %s of %s is a %s: it must be a %s",
						name, want.Name, t, signature(m.Type), want.Type))
				}
			}
		}
	}
}

// signature returns a type of a method without its receiver.
func signature(m reflect.Type) string {
	text := m.String()
	_, rest, found := strings.Cut(text, m.In(0).String())
	if !found {
		return text
	}
	return "func(" + strings.TrimPrefix(rest, ", ")
}

func isNil(v any) bool {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice, reflect.Func:
		return r.IsNil()
	}
	return false
}
