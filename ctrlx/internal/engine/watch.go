package engine

import (
	"maps"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// policy says how passes read a kind. Names of kinds are user input, so only
// the developer's choices count.
type policy int

const (
	refuseKind   policy = iota // a reference to the kind fails
	metadataOnly               // only the metadata is watched
	watched                    // whole objects are watched
	unwatched                  // each pass reads live
)

// kindState is the state of a kind that a pass reads.
type kindState int

const (
	missing  kindState = iota // discovery does not list the kind, or not in a version that the scheme has
	liveOnly                  // each pass reads live
	starting                  // the first list of the informer has not come, or there is no informer yet
	synced                    // the informer has the objects
)

// kind is a kind that the API server serves.
type kind struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	policy     policy
	open       bool // its informer may stop, see policyOf
}

// watch is the informer of a kind.
type watch struct {
	kind
	informer   cache.Informer
	synced     toolscache.DoneChecker // done when the engine has handled the first list
	everywhere bool                   // the operator may list the kind in all namespaces
	late       atomic.Bool            // the first list of a divided watch did not come in time
	used       atomic.Bool            // a pass opened it or awaited it since the last round

	inTrouble atomic.Pointer[map[string]error] // see troubles

	// Only the fallback uses these.
	idle    time.Time // the last round that found it used
	version string    // of the kind at the last request, which the watch must reach; empty: unknown
	failed  bool      // the last request failed, so that the objects are to be compared
	// seen has the sum of the live versions of each scope whose waiters were woken
	// because the watch may be broken.
	seen map[string]uint64
}

// divided reports whether the informer of a kind may have several watches: one
// for each namespace of the cache. Such an informer does not report its version.
func (w *watch) divided() bool { return !w.everywhere || w.store() == nil }

// scope returns the name of the scope that has a namespace: the namespace itself,
// or empty if one watch covers all of them.
func (w *watch) scope(namespace string) string {
	if w.divided() {
		return namespace
	}
	return ""
}

// store returns the store of the informer; nil: there may be several.
func (w *watch) store() toolscache.Store {
	if informer, ok := w.informer.(interface{ GetIndexer() toolscache.Indexer }); ok {
		return informer.GetIndexer()
	}
	return nil
}

// reached reports whether the store of the informer, which passes read, has all
// changes up to a version. The version of the watch itself may be later: the
// changes that it has reported wait in a queue. A store has reached no version if it does
// not report its own, as without the feature AtomicFIFO of client-go. Then the
// engine compares the objects.
func (w *watch) reached(version string) bool {
	store := w.store()
	return store != nil && !Older(store.LastStoreSyncResourceVersion(), version)
}

// trouble reports whether passes do not read the scope of a namespace from the
// cache. err is the reason why they cannot read it at all; nil: they read it live.
func (w *watch) trouble(namespace string) (broken bool, err error) {
	all := w.troubles()
	if all == nil { // almost always
		return false, nil
	}
	err, broken = all[w.scope(namespace)]
	return broken, err
}

// troubles returns the scopes in trouble, with the error of those that cannot be
// read; nil: there are none.
func (w *watch) troubles() map[string]error {
	if all := w.inTrouble.Load(); all != nil {
		return *all
	}
	return nil
}

// unreadable reports whether a scope cannot be read.
func (w *watch) unreadable() bool {
	for _, err := range w.troubles() {
		if err != nil {
			return true
		}
	}
	return false
}

// setTrouble notes whether a scope is in trouble. It reports whether passes must
// learn that. Only the fallback calls it.
func (w *watch) setTrouble(scope string, broken bool, err error) (changed bool) {
	was, had := w.troubles()[scope]
	all := maps.Clone(w.troubles())
	if broken {
		if all == nil {
			all, w.seen = map[string]error{}, map[string]uint64{}
		}
		all[scope] = err
	} else {
		delete(all, scope)
	}
	w.inTrouble.Store(&all)
	if len(all) == 0 {
		w.inTrouble.Store(nil)
	}
	return had != broken || (was == nil) != (err == nil)
}

// refusal is the reason why a kind cannot be watched. The engine keeps it for a
// while, so that waiters of such a kind do not keep all workers busy.
type refusal struct {
	err   error
	until time.Time
}
