package engine

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// touches holds the versions that this process made of objects without a change that
// concerns a pass or a follower. If only the metadata of a kind is watched, the version
// of an object stands for its data. So two versions without a difference in the data
// must count as one.
type touches struct {
	n  atomic.Int32 // the number of objects, so that digests cost nothing without any
	mu sync.Mutex
	// writing has a channel for each write under way, which closes at its end. An event
	// waits for these writes: one of them may have caused it. No lock is held during a
	// write, because the clock of testing/synctest stops for locks.
	writing map[chan struct{}]struct{}
	// as has the versions that writes made, until an event brings a later one. The object
	// in this version counts as it was in an earlier one.
	as map[index.ID]map[string]string
}

// wait waits for the writes under way, before an event is handled.
func (t *touches) wait() {
	t.mu.Lock()
	all := slices.Collect(maps.Keys(t.writing))
	t.mu.Unlock()
	for _, ended := range all {
		<-ended
	}
}

// begin notes that a write begins. Call the result at its end.
func (t *touches) begin() (end func()) {
	ended := make(chan struct{})
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.writing == nil {
		t.writing = map[chan struct{}]struct{}{}
	}
	t.writing[ended] = struct{}{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.writing, ended)
		close(ended)
	}
}

// heard forgets the versions before that of an event, after it was handled.
func (t *touches) heard(id index.ID, version string, deleted bool) {
	if t.n.Load() == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.as[id], func(made, _ string) bool { return deleted || Older(made, version) })
	if len(t.as[id]) == 0 {
		delete(t.as, id)
	}
	t.n.Store(int32(len(t.as)))
}

// digest returns the digest of the version of an object. A version that a touch made
// has the digest of the version before it.
func (t *touches) digest(k kind, obj client.Object) uint64 {
	version := obj.GetResourceVersion()
	if t.n.Load() > 0 {
		t.mu.Lock()
		version = cmp.Or(t.as[ID(k.gvk.GroupKind(), client.ObjectKeyFromObject(obj))][version], version)
		t.mu.Unlock()
	}
	return digest.Version(obj.GetUID(), version)
}
