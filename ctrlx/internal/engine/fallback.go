package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

const (
	// DefaultInterval is the interval of a Config without one.
	DefaultInterval = 3 * time.Minute

	requestTimeout = 10 * time.Second      // of a request
	readGap        = 50 * time.Millisecond // between two live reads: at most twenty a second
	retryFirst     = time.Second           // after a failed request, doubling
	retryMax       = 15 * time.Second
	idleTime       = 10 * time.Minute // after which the informer of an open kind stops

	// fewObjects is the number of awaited objects that are read one by one. A list would return all objects of the kind.
	fewObjects = 8
	pageSize   = 500 // objects in each request of a list
)

// fallback finds the changes that a broken watch does not report. It is the
// state of one goroutine.
//
// Twice in each interval, it asks for the version of each awaited kind. A watch
// that has not reached the version of the request before may be broken: API
// servers send a bookmark about once a minute, and older ones less often. Then
// fallback compares the versions of the awaited objects with the cache, and reads
// those that differ.
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

// round checks the awaited kinds: all of them when they are due, and otherwise
// those whose last request failed. It returns the pause until the next round.
func (f *fallback) round(ctx context.Context) (pause time.Duration) {
	all := !time.Now().Before(f.due)
	if all {
		f.due = time.Now().Add(f.tick)
	}
	awaited, stale := f.awaited()
	if all && f.e.missesAny(awaited) {
		f.e.catalog.refreshNow(ctx) // the watch of definitions may be broken
	}
	failed := false
	for _, w := range f.e.informers() {
		gk := w.gvk.GroupKind()
		if version, stale := f.e.sets.staleSince(gk, ""); stale && w.reached(version) {
			f.e.caughtUp(w, "", version) // without an event
		}
		switch {
		case awaited[gk]+len(stale[gk]) == 0 && w.lost.Load() == nil:
			w.version, w.failed = "", false
			f.e.stopIdle(ctx, w)
			continue
		case !all && !w.failed:
			continue
		}
		w.used.Store(time.Now().UnixNano())
		compared, err := f.check(ctx, w, stale[gk])
		switch {
		case ctx.Err() != nil:
			return f.tick
		case err == nil && f.away: // anything may have changed meanwhile
			f.away = false
			f.suspectAll()
			w.failed = !compared
			return 0
		case err == nil:
			continue
		}
		log.FromContext(ctx).V(1).Info("awaited objects could not be read live", "kind", gk.String(), "error", err.Error())
		w.failed = retriable(err) || w.lost.Load() != nil
		failed = failed || retriable(err)
		var status apierrors.APIStatus
		if !errors.As(err, &status) && !errors.Is(err, context.DeadlineExceeded) {
			f.away = true
			break
		}
	}
	if !failed {
		f.retry = 0
		return max(0, time.Until(f.due))
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

// awaited returns how many objects of each kind are awaited, and the objects
// whose cached copy may be stale.
func (f *fallback) awaited() (awaited map[schema.GroupKind]int, stale map[schema.GroupKind][]index.ID) {
	awaited, stale = map[schema.GroupKind]int{}, map[schema.GroupKind][]index.ID{}
	for id := range f.e.index.Refs() {
		awaited[kindOf(id)]++
	}
	for _, id := range f.e.stale.all() {
		stale[kindOf(id)] = append(stale[kindOf(id)], id)
	}
	return awaited, stale
}

// missesAny reports whether an object of a missing kind is awaited, and only an
// event of a definition would wake its waiters.
func (e *Engine) missesAny(awaited map[schema.GroupKind]int) bool {
	for gk := range awaited {
		if w, _ := e.watchOf(gk); w == nil && e.catalog.wakes(gk) {
			return true
		}
	}
	return false
}

// suspectAll makes the next round compare all awaited objects.
func (f *fallback) suspectAll() {
	for _, w := range f.e.informers() {
		w.failed = true
	}
}

// check asks for the version of a kind. It compares the awaited objects if the
// watch may be broken, and reads the stale ones.
func (f *fallback) check(ctx context.Context, w *watch, stale []index.ID) (compared bool, err error) {
	suspect := w.failed || w.version != "" && !w.reached(w.version) || w.divided()
	version, regained := "", w.lostScopes()
	if !w.divided() {
		if version, err = f.e.list1(ctx, w, ""); err != nil {
			f.e.lose(ctx, w, "", err)
			return suspect, err
		}
	} else {
		regained = slices.DeleteFunc(regained, func(scope string) bool {
			_, err := f.e.list1(ctx, w, scope)
			return err != nil
		})
	}
	differ := stale
	if suspect {
		changed, err := f.compare(ctx, w)
		if err != nil {
			return suspect, err
		}
		differ = append(changed, stale...)
	}
	for i, id := range differ {
		if i > 0 && !sleep(ctx, readGap) {
			return suspect, ctx.Err()
		}
		if err := f.e.readLive(ctx, w, id); err != nil {
			if f.e.lose(ctx, w, w.scope(id.Namespace), err) && w.divided() {
				continue
			}
			return suspect, err
		}
	}
	w.version, w.failed = version, false
	for _, scope := range regained { // after the stale objects are known, because a pass wakes
		f.e.regain(w, scope)
	}
	return suspect, nil
}

// reached reports whether the store of the informer, which passes read, has all
// changes up to a version. The version of the watch itself may be later: the
// changes that it has reported wait in a queue. A store has reached no version if it does
// not report its own, as without the feature AtomicFIFO of client-go. Then the
// engine compares the objects.
func (w *watch) reached(version string) bool {
	store := w.store()
	return store != nil && !older(store.LastStoreSyncResourceVersion(), version)
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
	objects map[index.ID]string // the live version; empty: it does not exist
	sets    []index.ID
}

// compare compares the awaited objects and the sets of a kind with the cache. It
// returns the objects whose cached version is not the live one, and wakes the
// waiters of the sets of each scope that differs. One list of a scope serves its
// objects and its sets. Without sets, a few objects are all returned: reading
// them costs less than a list.
func (f *fallback) compare(ctx context.Context, w *watch) (differ []index.ID, err error) {
	scopes, n := f.scopes(ctx, w)
	listed := false
	for _, scope := range slices.Sorted(maps.Keys(scopes)) {
		in := scopes[scope]
		if len(in.sets) == 0 && n <= fewObjects {
			differ = slices.AppendSeq(differ, maps.Keys(in.objects))
			continue
		}
		if listed && !sleep(ctx, readGap) {
			return nil, ctx.Err()
		}
		listed = true
		ids, err := f.compareScope(ctx, w, scope, in)
		if err != nil {
			return nil, err
		}
		differ = append(differ, ids...)
	}
	return differ, nil
}

// scopes returns what is awaited of a kind in each scope, and the number of
// objects. It leaves out sets that passes cannot list.
func (f *fallback) scopes(ctx context.Context, w *watch) (scopes map[string]*awaitedIn, n int) {
	gk := w.gvk.GroupKind()
	scopes = map[string]*awaitedIn{}
	in := func(id index.ID) *awaitedIn {
		scope := w.scope(namespaceOf(id))
		if scopes[scope] == nil {
			scopes[scope] = &awaitedIn{objects: map[index.ID]string{}}
		}
		return scopes[scope]
	}
	for id := range f.e.index.Refs() {
		if kindOf(id) == gk && id.Set == "" {
			in(id).objects[id] = ""
			n++
		}
	}
	all := sync.OnceValue(func() bool { return f.e.listsAll(ctx, w) })
	for _, id := range f.e.sets.ids(gk) { // also those that only a pass under way has listed
		if id.Namespace != checks.AllNamespaces || all() {
			in(id).sets = append(in(id).sets, id)
		}
	}
	return scopes, n
}

// compareScope lists a scope past the cache. It returns the awaited objects whose
// cached version is another one. If the cache has other objects, it wakes the
// waiters of the sets. The passes of these waiters list live until the cache has
// caught up. Until then, only a later change wakes them again.
func (f *fallback) compareScope(ctx context.Context, w *watch, scope string, in *awaitedIn) (differ []index.ID, err error) {
	e, gk := f.e, w.gvk.GroupKind()
	live := map[uint64]struct{}{} // by versionDigest
	version, err := e.listVersions(ctx, w, scope, func(id index.ID, version string) {
		if _, awaited := in.objects[id]; awaited {
			in.objects[id] = version
		}
		if len(in.sets) > 0 {
			live[versionDigest(id, version)] = struct{}{}
		}
	})
	if err != nil {
		if e.lose(ctx, w, scope, err) { // passes report it
			err = nil
		}
		return nil, err
	}
	for id, version := range in.objects {
		obj := e.newObject(w.kind)
		err := e.cache.Get(ctx, nameOf(id), obj, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil || versionOf(obj, err) != version {
			differ = append(differ, id)
		}
	}
	if len(in.sets) == 0 {
		return differ, nil
	}
	cached, err := e.listCached(ctx, w.kind, index.ID{Namespace: scope}, checks.Query{NamesOnly: true}, labels.Everything())
	if err != nil {
		var unwatched *NamespaceNotWatchedError
		if errors.As(err, &unwatched) { // passes report it
			err = nil
		}
		return differ, err
	}
	same := len(cached) == len(live)
	for _, obj := range cached {
		_, ok := live[versionDigest(ID(gk, client.ObjectKeyFromObject(obj)), obj.GetResourceVersion())]
		same = same && ok
	}
	if same && e.caughtUp(w, scope, version) {
		return differ, nil
	}
	if e.sets.compared(gk, scope, version, live, same) {
		e.wakeSets(in.sets)
	}
	return differ, nil
}

// listVersions calls do with the version of each object of a kind, past the
// cache. It returns the version of the list.
func (e *Engine) listVersions(ctx context.Context, w *watch, namespace string, do func(id index.ID, version string)) (version string, err error) {
	for next := ""; ; {
		page, cancel := context.WithTimeout(ctx, requestTimeout)
		list, err := e.list(page, w.gvk, client.InNamespace(namespace), client.Limit(pageSize), client.Continue(next))
		cancel()
		if err != nil {
			return "", err
		}
		version = cmp.Or(version, list.ResourceVersion)
		for i := range list.Items {
			do(ID(w.gvk.GroupKind(), client.ObjectKeyFromObject(&list.Items[i])), list.Items[i].ResourceVersion)
		}
		if next = list.Continue; next == "" {
			return version, nil
		}
	}
}

// readLive reads an object past the cache, and wakes the waiters that have not
// seen it so.
func (e *Engine) readLive(ctx context.Context, w *watch, id index.ID) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	live := e.newObject(w.kind)
	err := e.live.Get(ctx, nameOf(id), live)
	if err != nil && !objectNotFound(err) {
		return err
	}
	var now, was client.Object
	if err == nil {
		now = live
	}
	// In this order: an event between the two removes the mark, or came before the cache is read.
	version := versionOf(live, err)
	e.stale.Mark(id, version)
	reached := !w.divided() && version != "" && w.reached(version)
	cached := e.newObject(w.kind)
	err = e.cache.Get(ctx, nameOf(id), cached, client.UnsafeDisableDeepCopy)
	switch current := !older(versionOf(cached, err), version); {
	case err == nil && current: // a transform of the cache may have changed the copy, and passes read the copy
		e.stale.Clear(id)
		now, was = cached, cached
	case err == nil:
		was = cached
	case apierrors.IsNotFound(err) && current:
		e.stale.Clear(id)
	case apierrors.IsNotFound(err) && reached: // a selector of the cache hides it, so no event would end the mark
		e.stale.Heard(id, version, true)
		now = nil
	}
	e.happened(w.kind, id, was, now)
	return nil
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
	if err := e.cache.RemoveInformer(ctx, e.newObject(w.kind)); err != nil {
		log.FromContext(ctx).V(1).Info("an idle informer could not be stopped", "kind", w.gvk.String(), "error", err.Error())
		return
	}
	delete(e.watches, w.gvk.GroupKind())
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
