package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

const (
	// DefaultInterval is the interval of a Config without one.
	DefaultInterval = 3 * time.Minute

	readGap    = 50 * time.Millisecond // between two lists: at most twenty a second
	retryFirst = time.Second           // after a failed request, doubling
	retryMax   = 15 * time.Second
	idleTime   = 10 * time.Minute // after which the informer of an open kind stops
)

// fallback finds the changes that a broken watch does not report. It is the
// state of one goroutine.
//
// Twice in each interval, it asks for the version of each awaited kind. A watch
// that has not reached the version of the request before may be broken: API
// servers send a bookmark about once a minute, and older ones less often. Then
// fallback compares the versions of the objects with the cache. If an awaited one
// differs, the kind is suspect: its passes read live, and each round in which the
// live versions changed wakes all waiters of the kind, until the cache has caught up.
type fallback struct {
	e     *Engine
	tick  time.Duration // between two rounds over all kinds
	due   time.Time     // of the next one
	away  bool          // the API server did not answer
	retry time.Duration // the pause after a round with a failed request; 0: no request failed
}

// fallback runs until the manager stops.
func (e *Engine) fallback(ctx context.Context) {
	e.mu.Lock()
	tick := cmp.Or(e.interval, DefaultInterval) / 2
	e.mu.Unlock()
	f := fallback{e: e, tick: tick, due: time.Now().Add(tick)}
	for pause := tick; sleep(ctx, pause); {
		pause = f.round(ctx)
	}
}

// round checks the awaited kinds, and those of the reconcilers: all of them when
// they are due, and otherwise those whose last request failed. It returns the pause
// until the next round.
func (f *fallback) round(ctx context.Context) (pause time.Duration) {
	all := !time.Now().Before(f.due)
	if all {
		f.due = time.Now().Add(f.tick)
	}
	if all && f.e.awaitsMissing(f.e.catalog.wakes) {
		f.e.catalog.refreshNow(ctx) // the watch of definitions may be broken
	}
	awaited := map[schema.GroupKind]bool{}
	for id := range f.e.index.Refs() {
		awaited[KindOf(id)] = true
	}
	type task struct {
		*watch
		check func(context.Context, *watch) error
	}
	var tasks []task
	for _, w := range f.e.informers() {
		if !awaited[w.gvk.GroupKind()] && !w.unreadable() {
			w.version, w.failed = "", false
			f.e.trust(w, nil)
			f.e.stopIdle(ctx, w)
			continue
		}
		w.used.Store(true)
		tasks = append(tasks, task{w, f.check})
	}
	for _, o := range f.e.owns() {
		if w := o.watch(ctx); w != nil {
			tasks = append(tasks, task{w, o.check})
		}
	}
	failed := false
	for _, t := range tasks {
		if !all && !t.failed {
			continue
		}
		compared := t.failed
		err := t.check(ctx, t.watch)
		switch {
		case err == nil && f.away: // anything may have changed meanwhile
			f.away = false
			f.suspectAll()
			t.failed = !compared
			return 0
		case err == nil:
			continue
		}
		log.FromContext(ctx).V(1).Info("objects could not be compared with the cache", "kind", t.gvk.String(), "error", err.Error())
		t.failed = retriable(err) || t.unreadable()
		failed = failed || retriable(err)
		var status apierrors.APIStatus
		if f.away = !errors.As(err, &status) && !errors.Is(err, context.DeadlineExceeded); f.away {
			break
		}
	}
	if !failed {
		f.retry = 0
		return time.Until(f.due)
	}
	f.retry = min(max(2*f.retry, retryFirst), retryMax)
	return min(f.retry, f.tick)
}

// retriable reports whether a request may succeed soon. The error of another
// request is reported by the passes.
func retriable(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true
	}
	code := status.Status().Code
	return code >= 500 || code == 429 || code == 410 // Gone: a page of a list that expired
}

// suspectAll makes the next round compare all kinds.
func (f *fallback) suspectAll() {
	for _, w := range f.e.informers() {
		w.failed = true
	}
	for _, o := range f.e.owns() {
		if o.watched != nil {
			o.watched.failed = true
		}
	}
}

// check compares what is awaited of a kind with the cache, if its watch may be
// broken.
func (f *fallback) check(ctx context.Context, w *watch) error {
	current, err := f.e.current(ctx, w)
	if err != nil {
		f.e.lose(ctx, w, "", err)
		return err
	}
	if current && w.troubles() == nil {
		return nil
	}
	scopes := f.scopes(ctx, w)
	for i, scope := range slices.Sorted(maps.Keys(scopes)) {
		if i > 0 && !sleep(ctx, readGap) {
			return ctx.Err()
		}
		if current {
			f.e.heal(w, scope)
		} else if err := f.e.compare(ctx, w, scope, scopes[scope]); err != nil && !(f.e.lose(ctx, w, scope, err) && w.divided()) {
			return err
		}
	}
	f.e.trust(w, scopes)
	w.failed = false
	return nil
}

// awaitedIn holds what waiters wait for or follow in a scope.
type awaitedIn struct {
	objects []index.ID
	sets    bool
}

// scopes returns what is awaited of a kind in each scope. It leaves out sets that
// passes cannot list. A scope that cannot be read is one of them, too.
func (f *fallback) scopes(ctx context.Context, w *watch) map[string]*awaitedIn {
	gk, scopes := w.gvk.GroupKind(), map[string]*awaitedIn{}
	in := func(scope string) *awaitedIn {
		if scopes[scope] == nil {
			scopes[scope] = &awaitedIn{}
		}
		return scopes[scope]
	}
	for scope, err := range w.troubles() {
		if err != nil {
			in(scope)
		}
	}
	for id := range f.e.index.Refs() {
		if KindOf(id) == gk && id.Set == "" {
			at := in(w.scope(id.Namespace))
			at.objects = append(at.objects, id)
		}
	}
	all := sync.OnceValue(func() bool { return f.e.listsAll(ctx, w) })
	for _, id := range f.e.sets.ids(gk) { // also those that only a pass under way has listed
		if id.Namespace != checks.AllNamespaces || all() {
			in(w.scope(namespaceOf(id))).sets = true
		}
	}
	return scopes
}

// compare compares the versions of the objects of a scope with the cache. If those that
// count differ, passes read the scope live from now on, and its waiters are woken once
// for each change of these versions.
func (e *Engine) compare(ctx context.Context, w *watch, scope string, in *awaitedIn) error {
	live := map[index.ID]string{}
	if err := e.listVersions(ctx, w, scope, func(id index.ID, version string) { live[id] = version }); err != nil {
		return err
	}
	cached, err := e.cachedVersions(ctx, w, scope)
	if _, unwatched := errors.AsType[*NamespaceNotWatchedError](err); unwatched {
		return nil // passes report it
	} else if err != nil {
		return err
	}
	counts := map[index.ID]string{}
	for _, id := range in.objects {
		counts[id] = live[id] // empty: it is gone
	}
	if in.sets {
		for id := range cached {
			counts[id] = live[id]
		}
		maps.Copy(counts, live)
	}
	same := true
	var sum uint64
	for id, version := range counts { // the cache may have moved since the list
		same = same && (cached[id] == version || !Older(cached[id], version))
		sum += digest.Version(types.UID(fmt.Sprint(id)), version)
	}
	if same {
		e.heal(w, scope)
		return nil
	}
	if w.setTrouble(scope, true, nil) || w.seen[scope] != sum { // before a pass is woken
		w.seen[scope] = sum
		e.wakeScope(w, scope)
	}
	return nil
}

// heal ends the trouble of a scope. It wakes its waiters: a live read may have shown a
// state that no event reports.
func (e *Engine) heal(w *watch, scope string) {
	if w.setTrouble(scope, false, nil) {
		e.wakeScope(w, scope)
	}
}

// informers returns the informers that are in sync.
func (e *Engine) informers() (all []*watch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.watches {
		if toolscache.IsDone(w.synced) {
			all = append(all, w)
		}
	}
	return all
}

// stopIdle stops the informer of an open kind that no pass has used for a while.
// Other informers stay, because other code of the operator may use them.
func (e *Engine) stopIdle(ctx context.Context, w *watch) {
	if !w.open {
		return
	}
	e.mu.Lock() // until the informer is removed, so that no pass gets it meanwhile
	defer e.mu.Unlock()
	if w.used.Swap(false) {
		w.idle = time.Now()
	}
	if time.Since(w.idle) < idleTime {
		return
	}
	e.remove(ctx, w)
}

// remove stops the informer of an open kind, with the lock held.
func (e *Engine) remove(ctx context.Context, w *watch) bool {
	if err := e.cache.RemoveInformer(ctx, e.newObject(w.kind)); err != nil {
		log.FromContext(ctx).V(1).Info("an informer could not be stopped", "kind", w.gvk.String(), "error", err.Error())
		return false
	}
	delete(e.watches, w.gvk.GroupKind())
	return true
}
