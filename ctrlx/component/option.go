package component

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/flow"
)

// Option changes a [Reconciler]. A nil option panics in [New], and so does a
// nil function or store.
type Option func(*options)

// WithMissingNamespaces sets the policy for missing namespaces, unless the
// component sets it. Any value but the two constants panics.
func WithMissingNamespaces(p MissingNamespacesPolicy) Option {
	if problem := p.problem(); problem != "" {
		panic("component: WithMissingNamespaces: " + problem)
	}
	return func(o *options) { o.namespaces = p }
}

// WithOwnNamespaceOnly refuses a set with an object outside of the namespace of
// its component (DependentInvalid). Objects of kinds without namespaces are
// refused, too, except those of clusterKinds. Nothing of such a set is written.
// The scope of a kind that the API server does not serve yet counts from the
// pass that finds the kind. Without the option, an object may be anywhere.
func WithOwnNamespaceOnly(clusterKinds ...schema.GroupKind) Option {
	return func(o *options) { o.ownOnly, o.clusterOK = true, append(o.clusterOK, clusterKinds...) }
}

// WithManagedTypes declares types that are managed although no object of the
// set defines them, for example types that a dependent operator installs.
// Instances of managed types are applied late and deleted early, and foreign ones
// block the deletion of the component. Group may be *, or *.suffix for all groups
// that end in .suffix, Kind may be *, and an empty Version means all versions. The
// types of GetAdditionalManagedTypes come on top. An invalid pattern panics.
func WithManagedTypes(types ...metav1.GroupVersionKind) Option {
	for _, t := range types {
		if problem := problemOf(t); problem != "" {
			panic("component: WithManagedTypes: " + problem)
		}
	}
	return func(o *options) { o.types = append(o.types, types...) }
}

// WithKinds names kinds in which a component that has lost its inventory looks
// for its dependents: see docs/component/inventory.md. Without the option, it finds
// none. A kind without a version panics.
func WithKinds(kinds ...schema.GroupVersionKind) Option {
	for _, gvk := range kinds {
		if gvk.Version == "" || gvk.Kind == "" {
			panic(fmt.Sprintf("component: WithKinds: %q: give a version and a kind", gvk))
		}
	}
	return func(o *options) { o.kinds = append(o.kinds, kinds...) }
}

// WithFinalizer replaces the name of the finalizer, which is the name of the
// reconciler and /finalizer. An empty name panics.
func WithFinalizer(name string) Option {
	if name == "" {
		panic("component: WithFinalizer: the name is empty")
	}
	return func(o *options) { o.finalizer = name }
}

// WithExtensions adds checks and links around the passes. The type of ext must
// be flow.Extensions[T] of [New].
func WithExtensions[T Component](ext flow.Extensions[T]) Option {
	return func(o *options) { o.extensions = ext }
}

// WithReconciler adds options of package ctrlx, such as
// ctrlx.WithImpersonation. ctrlx.WithFinalizer has no effect: use
// [WithFinalizer].
func WithReconciler(opts ...ctrlx.Option) Option {
	return func(o *options) { o.inside = append(o.inside, opts...) }
}

// WithDependents adds options of package dependents, such as
// dependents.WithReadiness and the links around one object. The policies of
// dependents.WithPolicies count for dependents for which neither an annotation
// nor the component sets one. The default update policy of a component is Replace.
func WithDependents(opts ...dependents.Option) Option {
	return func(o *options) { o.single = append(o.single, opts...) }
}

// WithApplyChain changes the links around the waves of a component. [New] panics if
// edit returns an error.
func WithApplyChain(edit func(Chain) (Chain, error)) Option {
	setup.MustEdit("component: WithApplyChain", edit)
	return func(o *options) { o.applyEdits = append(o.applyEdits, edit) }
}

// WithWaveChain changes the links around one wave. [New] panics if
// edit returns an error.
func WithWaveChain(edit func(Chain) (Chain, error)) Option {
	setup.MustEdit("component: WithWaveChain", edit)
	return func(o *options) { o.waveEdits = append(o.waveEdits, edit) }
}

// WithDeleteChain changes the links around the deletion of all dependents. [New] panics
// if edit returns an error.
func WithDeleteChain(edit func(Chain) (Chain, error)) Option {
	setup.MustEdit("component: WithDeleteChain", edit)
	return func(o *options) { o.deleteEdits = append(o.deleteEdits, edit) }
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
	typing     interface{ GetAdditionalManagedTypes() []managedType }
	reapplying interface{ GetReapplyInterval() time.Duration }
)

// policiesOf returns the policies that a component sets. Package dependents
// checks them. A field is empty if the component does not set it.
func policiesOf(owner client.Object) (p dependents.Policies) {
	c := owner.(Component) // package component gives no other one
	p.Adoption = setting(c, adopting.GetAdoptionPolicy)
	p.Update = setting(c, updating.GetUpdatePolicy)
	p.Delete = setting(c, deleting.GetDeletePolicy)
	p.ReapplyInterval = setting(c, reapplying.GetReapplyInterval)
	return p
}

// configure reads the settings of the component, and checks them. The error names all
// invalid values, or those of the policies.
func (s *Set) configure() error {
	o, c := s.system.options, s.Component
	s.namespaces = cmp.Or(setting(c, placing.GetMissingNamespacesPolicy), o.namespaces)
	problems := []string{s.namespaces.problem()}
	s.types = slices.Concat(o.types, setting(c, typing.GetAdditionalManagedTypes))
	for _, t := range s.types {
		problems = append(problems, problemOf(t))
	}
	problems = slices.DeleteFunc(problems, func(p string) bool { return p == "" })
	if len(problems) > 0 {
		return invalid(fmt.Errorf("%w: %s", dependents.ErrInvalid, strings.Join(problems, "; ")))
	}
	key, label, p, err := s.system.dependents.OwnerMarks(c)
	s.labelKey, s.label, s.policy = key, label, p.Delete
	return invalid(err)
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
