package ctrlx

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// behind are the objects of which the cache may have something older than what is known of them. They are read live until the
// cache has caught up.
type behind struct {
	n  atomic.Int32 // so that to ask costs nothing as long as there are none
	mu sync.Mutex
	of map[index.ID]*lag
}

type lag struct {
	version string        // what is known; "": nothing
	gone    bool          // it is known that the object is not there any more, in that version or a later one
	told    time.Duration // as in index.Due
}

// metBy tells whether a cache is not behind any more that has heard that an object is in a version, or was deleted in one. Names
// are used again, so that it matters which deletion that was.
func (l *lag) metBy(version string, deleted bool) bool {
	return (deleted || !l.gone) && (l.version == "" || !older(version, l.version))
}

// mark says in which version an object is; "": it is not there. Of two versions the later one counts.
func (b *behind) mark(id index.ID, version string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[index.ID]*lag{}
	}
	l := b.of[id]
	if l == nil {
		l = &lag{}
		b.of[id] = l
		b.n.Add(1)
	}
	if l.gone = version == ""; !l.gone && older(l.version, version) {
		l.version = version
	}
}

func (b *behind) has(id index.ID) bool {
	if b.n.Load() == 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[id] != nil
}

// lag is what is known of an object that the cache may be behind of.
func (b *behind) lag(id index.ID) (l lag, known bool) {
	if b.n.Load() == 0 {
		return lag{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.of[id]; at != nil {
		return *at, true
	}
	return lag{}, false
}

// heard says what the cache has heard of an object: that it is in a version, or was deleted in one.
func (b *behind) heard(id index.ID, version string, deleted bool) {
	if b.n.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.of[id]; l != nil && l.metBy(version, deleted) {
		b.drop(id)
	}
}

func (b *behind) clear(id index.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(id)
}

// drop is called with the lock held.
func (b *behind) drop(id index.ID) {
	if b.of[id] != nil {
		delete(b.of, id)
		b.n.Add(-1)
	}
}

// due are those that were not read for a time, as those of the index. Nobody may wait for them any more, and what the cache
// has of them may never change, if it was made and deleted again while the watch was broken.
func (b *behind) due(now, every time.Duration) (ids []index.ID) {
	if b.n.Load() == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, l := range b.of {
		switch {
		case l.told != 0 && now-l.told >= every || every == 0:
			l.told = now
			ids = append(ids, id)
		case l.told == 0:
			l.told = now
		}
	}
	return ids
}

// older tells whether the version that the cache has may be behind the live one.
func older(cached, live string) bool {
	if cached == "" || live == "" {
		return cached != live
	}
	order, err := resourceversion.CompareResourceVersion(cached, live)
	return err != nil || order < 0
}
