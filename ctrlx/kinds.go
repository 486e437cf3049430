package ctrlx

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// WithWatchedKinds names kinds that the manager may watch because a reference
// names them. It is needed for the kinds of Kubernetes itself, for example
// Secret, and for kinds that the scheme does not know. All reconcilers of the
// manager share the kinds; the option adds to them.
//
// The kind "*" stands for all kinds of the group, and the group "*" with the
// kind "*" for all kinds. Then a user who can name any kind in a reference
// decides which kinds are held in memory; the rights of the operator are the
// only limit. An empty kind, the group "*" with another kind, and a call
// without kinds panic.
func WithWatchedKinds(kinds ...schema.GroupKind) Option {
	if len(kinds) == 0 {
		panic("ctrlx: WithWatchedKinds: give at least one kind")
	}
	for _, gk := range kinds {
		if gk.Kind == "" || gk.Group == "*" && gk.Kind != "*" {
			panic(fmt.Sprintf("ctrlx: WithWatchedKinds: %q: give the name of a kind, or *", gk))
		}
	}
	kinds = slices.Clone(kinds)
	return func(o *options) { o.kinds = append(o.kinds, kinds...) }
}

// watchable returns the kinds that options name.
func (o *options) watchable() []schema.GroupKind {
	return slices.AppendSeq(slices.Clone(o.kinds), maps.Keys(o.readiness))
}

// mayWatch reports whether the manager watches a kind that a reference names.
// Names of kinds are user input, so only the developer's kinds count.
func (e *engine) mayWatch(gk schema.GroupKind) bool {
	e.mu.Lock()
	_, own := e.names[kindOf{gk.Group, gk.Kind}]
	named := own || e.watchable[gk] || e.watchable[schema.GroupKind{Group: gk.Group, Kind: "*"}] ||
		e.watchable[schema.GroupKind{Group: "*", Kind: "*"}]
	e.mu.Unlock()
	return named || len(versionsOf(e.scheme, gk)) > 0 && len(versionsOf(builtIn(), gk)) == 0
}

// builtIn returns the scheme with the kinds of Kubernetes itself. Most
// operators have all of them in their scheme, whether they use them or not.
var builtIn = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		panic(fmt.Sprintf("ctrlx: the scheme of client-go: %v", err))
	}
	return s
})

// kindNotWatchedError is the error of a reference to a kind that the manager
// does not watch.
type kindNotWatchedError struct{ kind schema.GroupKind }

func (e *kindNotWatchedError) Error() string {
	return fmt.Sprintf("the kind %q is not watched: correct the reference (names of kinds are case-sensitive), "+
		"or name the kind in ctrlx.WithWatchedKinds", e.kind)
}
