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
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

const (
	// DefaultInterval is the interval of a Config without one.
	DefaultInterval = 3 * time.Minute

	requestTimeout = 10 * time.Second      // of a request
	readGap        = 50 * time.Millisecond // between two lists: at most twenty a second
	retryFirst     = time.Second           // after a failed request, doubling
	retryMax       = 15 * time.Second
	idleTime       = 10 * time.Minute // after which the informer of an open kind stops

	pageSize = 500 // objects in each request of a list
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
		w.used.Store(time.Now().UnixNano())
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

// current reports whether a watch works, and notes the version of its kind, which
// it must reach by the next call. A divided watch has no version.
func (e *Engine) current(ctx context.Context, w *watch) (current bool, err error) {
	if w.divided() {
		return false, nil
	}
	version, err := e.list1(ctx, w, "")
	if err != nil {
		return false, err
	}
	current = !w.failed && (w.version == "" || w.reached(w.version))
	w.version = version
	return current, nil
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

// reached reports whether the store of the informer, which passes read, has all
// changes up to a version. The version of the watch itself may be later: the
// changes that it has reported wait in a queue. A store has reached no version if it does
// not report its own, as without the feature AtomicFIFO of client-go. Then the
// engine compares the objects.
func (w *watch) reached(version string) bool {
	store := w.store()
	return store != nil && !Older(store.LastStoreSyncResourceVersion(), version)
}

// store returns the store of the informer; nil: there may be several.
func (w *watch) store() toolscache.Store {
	if informer, ok := w.informer.(interface{ GetIndexer() toolscache.Indexer }); ok {
		return informer.GetIndexer()
	}
	return nil
}

// list1 returns the version of a kind, by a list of at most one object. An empty
// namespace stands for all.
func (e *Engine) list1(ctx context.Context, w *watch, namespace string) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list, err := e.list(ctx, w.gvk, client.Limit(1), client.InNamespace(namespace))
	return list.ResourceVersion, err
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

// cachedVersions returns the versions of the objects of a scope in the cache.
func (e *Engine) cachedVersions(ctx context.Context, w *watch, scope string) (map[index.ID]string, error) {
	cached, err := e.listCached(ctx, w.kind, index.ID{Namespace: scope}, checks.Query{NamesOnly: true}, labels.Everything())
	if err != nil {
		return nil, err
	}
	versions := make(map[index.ID]string, len(cached))
	for _, obj := range cached {
		versions[ID(w.gvk.GroupKind(), client.ObjectKeyFromObject(obj))] = obj.GetResourceVersion()
	}
	return versions, nil
}

// listVersions calls do with the version of each object of a kind, past the cache.
func (e *Engine) listVersions(ctx context.Context, w *watch, namespace string, do func(id index.ID, version string)) error {
	for next := ""; ; {
		page, cancel := context.WithTimeout(ctx, requestTimeout)
		list, err := e.list(page, w.gvk, client.InNamespace(namespace), client.Limit(pageSize), client.Continue(next))
		cancel()
		if err != nil {
			return err
		}
		for i := range list.Items {
			do(ID(w.gvk.GroupKind(), client.ObjectKeyFromObject(&list.Items[i])), list.Items[i].ResourceVersion)
		}
		if next = list.Continue; next == "" {
			return nil
		}
	}
}

// informers returns the informers that are in sync.
func (e *Engine) informers() (all []*watch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.watches {
		if w.synced() {
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
	if time.Since(time.Unix(0, w.used.Load())) < idleTime {
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

// sleep waits for d. It reports whether ctx is not done.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
