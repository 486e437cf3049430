package engine

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// touches holds the objects that this process wrote without a change that concerns
// a pass or a follower. If only the metadata of a kind is watched, the version of an
// object stands for its data. So two versions without a difference in the data must
// count as one.
type touches struct {
	n  atomic.Int32 // the number of objects, so that events cost nothing without any
	mu sync.Mutex
	of map[index.ID]*touch
}

// touch describes the writes of an object.
type touch struct {
	writing int      // the number of writes under way
	late    []func() // the events that came meanwhile
	last    string   // the version of the last one
	gone    bool     // one of them was a deletion
	version string   // the version that the last write made; empty: there was no write
	// as has each version that a write made and whose event may still come. The
	// object in this version counts as it was in an earlier one.
	as map[string]string
}

// Touch calls write, which changes nothing of an object but the finalizers of a
// guard. from is the version that write changes, and write returns the version that
// it makes. write must fail if the object is not in version from: then no other
// change is between the two versions. If only the metadata of the kind is watched,
// both versions have one digest from then on, and the events of the object wait
// until write returns, for as long as a request may take.
func (e *Engine) Touch(ctx context.Context, id index.ID, from string, write func(ctx context.Context) (to string, err error)) (err error) {
	if w, _ := e.watchOf(kindOf(id)); w == nil || w.policy != metadataOnly {
		_, err = write(ctx)
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	e.touches.begin(id)
	to := ""
	defer func() {
		for _, event := range e.touches.end(id, from, to) {
			event()
		}
	}()
	made, err := write(ctx)
	if err == nil {
		to = made
	}
	return err
}

func (t *touches) begin(id index.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[index.ID]*touch{}
	}
	if t.of[id] == nil {
		t.of[id] = &touch{}
		t.n.Add(1)
	}
	t.of[id].writing++
}

// end notes that a write made a version of another one; empty: it failed. It
// returns the events that have waited for the last write.
func (t *touches) end(id index.ID, from, to string) (late []func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.of[id]
	if to != "" && to != from {
		if at.as == nil {
			at.as = map[string]string{}
		}
		at.version, at.as[to] = to, cmp.Or(at.as[from], from)
	}
	if at.writing--; at.writing > 0 {
		return nil
	}
	late, at.late = at.late, nil
	t.drop(id, at.version == "" || at.gone || at.last != "" && older(at.version, at.last))
	return late
}

// drop forgets an object, if so. It is called with the lock held.
func (t *touches) drop(id index.ID, so bool) {
	if so {
		delete(t.of, id)
		t.n.Add(-1)
	}
}

// waits reports whether an event waits for the writes under way. end returns it
// then. waits forgets an object that has a later version than the last write, and
// the writes before the version of the event.
func (t *touches) waits(id index.ID, version string, deleted bool, event func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.of[id]
	switch {
	case at == nil:
		return false
	case at.writing > 0:
		at.late, at.last, at.gone = append(at.late, event), version, at.gone || deleted
		return true
	}
	t.drop(id, deleted || older(at.version, version))
	maps.DeleteFunc(at.as, func(made, _ string) bool { return older(made, version) })
	return false
}

// digest returns the digest of the version of an object. A version that a touch made
// has the digest of the version before it.
func (t *touches) digest(k kind, obj client.Object) uint64 {
	version := obj.GetResourceVersion()
	if t.n.Load() > 0 {
		t.mu.Lock()
		if at := t.of[ID(k.gvk.GroupKind(), client.ObjectKeyFromObject(obj))]; at != nil {
			version = cmp.Or(at.as[version], version)
		}
		t.mu.Unlock()
	}
	return digest.Version(obj.GetUID(), version)
}
