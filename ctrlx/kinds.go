package ctrlx

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// WithWatchedKinds names kinds that the manager may watch because a reference
// names them. It is needed for the kinds of Kubernetes itself, for example
// Deployment, and for kinds that the scheme does not know. All reconcilers of
// the manager share the kinds; the option adds to them.
//
// ConfigMap and Secret need no option: without one, the manager watches their
// metadata only, and a check gets a *metav1.PartialObjectMetadata. Name them here
// if a check reads their data.
//
// The kind "*" stands for all kinds of the group, and the group "*" with the
// kind "*" for all kinds. Then a user who can name any kind in a reference
// decides which kinds are held in memory; the rights of the operator are the
// only limit. The informer of such a kind stops ten minutes after its last use,
// unless the scheme knows the kind. Name a kind exactly if other code of the
// operator watches it, too.
//
// An empty kind, the group "*" with another kind, and a call without kinds
// panic.
func WithWatchedKinds(kinds ...schema.GroupKind) Option {
	mustNameKinds("WithWatchedKinds", kinds)
	for _, gk := range kinds {
		if gk.Group == "*" && gk.Kind != "*" {
			panic(fmt.Sprintf("ctrlx: WithWatchedKinds: %q: give the name of a kind, or *", gk))
		}
	}
	kinds = slices.Clone(kinds)
	return func(o *options) { o.watched = append(o.watched, kinds...) }
}

// WithUnwatchedKinds names kinds that the manager must not watch, for example the
// kinds of client.CacheOptions.DisableFor. Each pass reads their objects live.
// Nothing wakes a resource that waits for such an object: it is requeued by the
// back-off. All reconcilers of the manager share the kinds. An empty kind, "*",
// and a call without kinds panic.
func WithUnwatchedKinds(kinds ...schema.GroupKind) Option {
	mustNameKinds("WithUnwatchedKinds", kinds)
	for _, gk := range kinds {
		if gk.Group == "*" || gk.Kind == "*" {
			panic(fmt.Sprintf("ctrlx: WithUnwatchedKinds: %q: give the name of a kind", gk))
		}
	}
	kinds = slices.Clone(kinds)
	return func(o *options) { o.unwatched = append(o.unwatched, kinds...) }
}

// mustNameKinds panics unless kinds has kinds with names.
func mustNameKinds(option string, kinds []schema.GroupKind) {
	if len(kinds) == 0 {
		panic(fmt.Sprintf("ctrlx: %s: give at least one kind", option))
	}
	for _, gk := range kinds {
		if gk.Kind == "" {
			panic(fmt.Sprintf("ctrlx: %s: %q: give the name of a kind", option, gk))
		}
	}
}

// watchable returns the kinds that options name.
func (o *options) watchable() []schema.GroupKind {
	return slices.AppendSeq(slices.Clone(o.watched), maps.Keys(o.readiness))
}
