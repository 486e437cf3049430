package dependents

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// Option changes a [Dependents]. A nil function in an option panics.
type Option func(*options)

// WithPolicies sets the policies of objects without annotations. An empty field,
// and the update policy "default", stay as an earlier option set them.
func WithPolicies(p Policies) Option {
	if p.Update == "default" {
		p.Update = ""
	}
	return func(o *options) { o.policies = p.or(o.policies) }
}

// WithOwnerPolicies adds a function that returns the policies of an owner. Its
// fields that are not empty precede those of earlier functions and of
// [WithPolicies]. The annotations of an object precede all of them. An invalid
// value is an error of the request (ErrInvalid).
func WithOwnerPolicies(of func(owner client.Object) Policies) Option {
	setup.MustEdit("dependents: WithOwnerPolicies", of)
	return func(o *options) {
		earlier := o.ofOwner
		o.ofOwner = func(owner client.Object) Policies { return of(owner).or(earlier(owner)) }
	}
}

// WithFieldOwner sets the field manager of all writes, in place of the name.
// After a change, the fields of the former one belong to another manager. An
// empty name panics, and so does one of more than 128 bytes.
func WithFieldOwner(manager string) Option {
	if manager == "" || len(manager) > 128 {
		panic(fmt.Sprintf("dependents: WithFieldOwner: %q is not a name of 1 to 128 bytes", manager))
	}
	return func(o *options) { o.manager = manager }
}

// WithReadiness sets the function that returns how ready an object of one of
// kinds is; without kinds, an object of any kind. The object has the form of
// [Request.Live], and of only reads it. It may lack its kind (TypeMeta). Without
// the option, readiness is the rule of kstatus for the kind, as in
// ctrlx.Kstatus. An object of a kind without a rule and without conditions is
// then ready. A kind without a name panics.
func WithReadiness(of func(obj client.Object) checks.Readiness, kinds ...schema.GroupKind) Option {
	setup.MustEdit("dependents: WithReadiness", of)
	for _, gk := range kinds {
		if gk.Kind == "" {
			panic(fmt.Sprintf("dependents: WithReadiness: %q: give a kind", gk))
		}
	}
	return func(o *options) {
		if len(kinds) == 0 {
			o.readiness = of
		}
		for _, gk := range kinds {
			o.readinessOf[gk] = of
		}
	}
}

// WithOverridden sets the prefixes of the field managers whose fields the
// policy SsaOverride removes. Without the option, it is kubectl. Without
// prefixes, only updates of this name are removed. An empty prefix panics,
// because it would match every manager.
func WithOverridden(prefixes ...string) Option {
	if slices.Contains(prefixes, "") {
		panic("dependents: WithOverridden: a prefix is empty")
	}
	return func(o *options) { o.prefixes = prefixes }
}

// WithCluster names the cluster of the owners, for example by the UID of its
// namespace kube-system. Give it if the dependents are in another cluster, to
// which several clusters write. An empty name panics.
func WithCluster(name string) Option {
	if name == "" {
		panic("dependents: WithCluster: the name is empty")
	}
	return func(o *options) { o.cluster = name + "/" }
}

// WithObserver adds an observer to the links of both chains, such as that of
// package otelx. It sees the writes and the dry-runs, and no link of
// [Dependents.ReadOnly]. The link Read, or ReadLive, has a note with the object
// ([chain.Note]). A nil observer is ignored. Reconcilers of package component give
// theirs.
func WithObserver(o chain.Observer) Option {
	return func(opts *options) { opts.observer = o }
}

// WithClock sets the clock of the reapply interval. A nil clock panics.
func WithClock(c clock.PassiveClock) Option {
	if c == nil {
		panic("dependents: WithClock: the clock is nil")
	}
	return func(o *options) { o.clock = c }
}

// WithApplyChain changes the links around the update of one object. [New] panics if
// edit returns an error.
func WithApplyChain(edit func(Chain) (Chain, error)) Option {
	setup.MustEdit("dependents: WithApplyChain", edit)
	return func(o *options) { o.applyEdits = append(o.applyEdits, edit) }
}

// WithDeleteChain changes the links around the deletion of one object. [New] panics
// if edit returns an error.
func WithDeleteChain(edit func(Chain) (Chain, error)) Option {
	setup.MustEdit("dependents: WithDeleteChain", edit)
	return func(o *options) { o.deleteEdits = append(o.deleteEdits, edit) }
}
