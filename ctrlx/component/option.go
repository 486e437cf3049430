package component

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/ctrlx/manifests"
	"github.com/windlass-go/windlass/flow"
)

// Option changes a [Reconciler]. A nil option panics in [New], and so does a
// nil function or store.
type Option func(*options)

type options struct {
	generator  manifests.Generator
	policies   dependents.Policies
	namespaces MissingNamespacesPolicy
	types      []TypeInfo
	kinds      []schema.GroupVersionKind
	ownOnly    bool
	clusterOK  []schema.GroupKind // kinds without namespaces; with ownOnly
	finalizer  string

	concurrency int
	extensions  any // flow.Extensions[T]
	inside      []ctrlx.Option
	single      []dependents.Option

	applyEdits, deleteEdits []func(Chain) (Chain, error)
	waveEdits               []func(WaveChain) (WaveChain, error)
	applyChain, deleteChain Chain
	waveChain               WaveChain
}

func optionsOf(name string, opts []Option) options {
	o := options{concurrency: 1, finalizer: name + "/finalizer", namespaces: MissingNamespacesCreate}
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("component: New: %s: option %d is nil", name, i+1))
		}
		opt(&o)
	}
	return o
}

// WithPolicies sets the policies of the dependents for which neither an
// annotation nor the component sets one. An empty field means the default of
// package dependents.
func WithPolicies(p dependents.Policies) Option { return func(o *options) { o.policies = p } }

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

// outside returns the problem of an object at a place that the options do not
// allow; empty: there is none.
func (o *options) outside(c Component, obj *Object) string {
	switch ns := obj.Ref.Namespace; {
	case !o.ownOnly || slices.Contains(o.clusterOK, obj.gvk.GroupKind()):
	case ns == "" && obj.known:
		return fmt.Sprintf("its kind %s has no namespaces, and WithOwnNamespaceOnly does not name it", obj.gvk.GroupKind())
	case ns != "" && ns != c.GetNamespace():
		return fmt.Sprintf("it is outside of the namespace %q of the component (WithOwnNamespaceOnly)", c.GetNamespace())
	}
	return ""
}

// WithManagedTypes declares types that are managed although no object of the
// set defines them, for example types that a dependent operator installs. The
// types of GetAdditionalManagedTypes come on top. An invalid pattern panics.
func WithManagedTypes(types ...TypeInfo) Option {
	for _, t := range types {
		if problem := t.problem(); problem != "" {
			panic("component: WithManagedTypes: " + problem)
		}
	}
	return func(o *options) { o.types = append(o.types, types...) }
}

// WithKinds names kinds in which a component that has lost its inventory looks
// for its dependents. The section Inventory of the package says when. Without
// the option, it finds none. A kind without a version panics.
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

// WithConcurrency sets the number of objects of one component that are written
// or deleted at once. The default is 1. Objects of kinds that others need come
// first in any case. A number below 1 panics.
func WithConcurrency(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("component: WithConcurrency(%d): give at least 1", n))
	}
	return func(o *options) { o.concurrency = n }
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
// dependents.WithReadiness and the links around one object. Use [WithPolicies]
// for policies: dependents.WithPolicies would replace them.
func WithDependents(opts ...dependents.Option) Option {
	return func(o *options) { o.single = append(o.single, opts...) }
}

// WithApplyChain changes the links of [Reconciler.ApplyChain]. [New] panics if
// edit returns an error.
func WithApplyChain(edit func(Chain) (Chain, error)) Option {
	setup.MustEdit("component: WithApplyChain", edit)
	return func(o *options) { o.applyEdits = append(o.applyEdits, edit) }
}

// WithWaveChain changes the links of [Reconciler.WaveChain]. [New] panics if
// edit returns an error.
func WithWaveChain(edit func(WaveChain) (WaveChain, error)) Option {
	setup.MustEdit("component: WithWaveChain", edit)
	return func(o *options) { o.waveEdits = append(o.waveEdits, edit) }
}

// WithDeleteChain changes the links of [Reconciler.DeleteChain]. [New] panics
// if edit returns an error.
func WithDeleteChain(edit func(Chain) (Chain, error)) Option {
	setup.MustEdit("component: WithDeleteChain", edit)
	return func(o *options) { o.deleteEdits = append(o.deleteEdits, edit) }
}
