package component

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
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

// The methods of a component, or of the value of its GetSpec, that are settings of
// its dependents. Each of them counts on its own. The package documentation has
// their list.
type (
	adopting interface {
		GetAdoptionPolicy() dependents.AdoptionPolicy
	}
	updating interface {
		GetUpdatePolicy() dependents.UpdatePolicy
	}
	deleting interface {
		GetDeletePolicy() dependents.DeletePolicy
	}
	placing interface {
		GetMissingNamespacesPolicy() MissingNamespacesPolicy
	}
	typing interface {
		GetAdditionalManagedTypes() []TypeInfo
	}
	reapplying interface {
		GetReapplyInterval() time.Duration
	}
)

// configuration holds the settings of one component.
type configuration struct {
	namespaces MissingNamespacesPolicy
	types      []TypeInfo
}

// policiesOf returns the policies that a component sets. Package dependents
// checks them. A field is empty if the component does not set it.
func policiesOf(owner client.Object) (p dependents.Policies) {
	c, ok := owner.(Component)
	if !ok {
		return p
	}
	p.Adoption = setting(c, adopting.GetAdoptionPolicy)
	p.Update = setting(c, updating.GetUpdatePolicy)
	p.Delete = setting(c, deleting.GetDeletePolicy)
	p.ReapplyInterval = setting(c, reapplying.GetReapplyInterval)
	return p
}

// configurationOf returns the settings of a component, except the policies. The
// error names all invalid values, and wraps dependents.ErrInvalid.
func (o *options) configurationOf(c Component) (cfg configuration, err error) {
	cfg.namespaces = cmp.Or(setting(c, placing.GetMissingNamespacesPolicy), o.namespaces)
	problems := []string{cfg.namespaces.problem()}
	cfg.types = slices.Concat(o.types, setting(c, typing.GetAdditionalManagedTypes))
	for _, t := range cfg.types {
		problems = append(problems, t.problem())
	}
	problems = slices.DeleteFunc(problems, func(p string) bool { return p == "" })
	if len(problems) > 0 {
		return cfg, fmt.Errorf("%w: %s", dependents.ErrInvalid, strings.Join(problems, "; "))
	}
	return cfg, nil
}

// setting returns the result of a method of a component, or else of its spec;
// the zero V if neither has the method, or the component returns the zero V.
func setting[I, V any](c Component, get func(I) V) (v V) {
	for _, on := range []any{c, c.GetSpec()} {
		if i, ok := on.(I); ok && !setup.IsNil(on) {
			return get(i)
		}
	}
	return v
}

// mustConfigure panics if T is no pointer to a struct, or if a method of a
// setting would be ignored: it has another signature, or only the pointer to
// the spec has it.
func mustConfigure[T Component](name string) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("component: New: %s: %s is no pointer to a struct: give the type that the scheme knows", name, t))
	}
	values := []reflect.Value{reflect.Zero(t)}
	if spec := reflect.New(t.Elem()).Interface().(T).GetSpec(); spec != nil {
		values = append(values, reflect.ValueOf(spec))
	}
	for _, settings := range []reflect.Type{
		reflect.TypeFor[adopting](), reflect.TypeFor[updating](), reflect.TypeFor[deleting](), reflect.TypeFor[placing](),
		reflect.TypeFor[typing](), reflect.TypeFor[reapplying](),
	} {
		for want := range settings.Methods() {
			for _, v := range values {
				if _, found := reflect.PointerTo(v.Type()).MethodByName(want.Name); found && !v.MethodByName(want.Name).IsValid() {
					panic(fmt.Sprintf("component: New: %s: GetSpec returns a %s, and %s has a pointer receiver: return a pointer",
						name, v.Type(), want.Name))
				}
			}
		}
		for _, v := range values {
			setup.MustFit("component: New: "+name, v.Type(), settings)
		}
	}
}
