package engine

import (
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// sets holds the sets that the index has entries of. It finds the sets that
// contain an object, in a time that does not depend on the number of other sets:
// each set is in a bucket of objects that have something in common.
type sets struct {
	n atomic.Int32 // the number of sets, so that events cost nothing without any

	mu    sync.Mutex
	clock uint64 // numbers the changes
	of    map[index.ID]*set
	kinds map[schema.GroupKind]kindSets
}

// set is a set that waiters wait for or follow.
type set struct {
	id       index.ID
	query    checks.Query
	selector labels.Selector
	buckets  []bucket // that have it
	// full and follow are the numbers of the last change that a check can see,
	// and of the last one that wakes followers.
	full, follow uint64
	place        int // in the last answer of touch
}

// kindSets holds the sets of a kind.
type kindSets map[bucket]map[*set]struct{}

// bucket holds the properties that the objects of some sets share, besides the
// kind. Each object is in a few buckets.
type bucket struct {
	namespace  string // "*": any
	by         byte
	key, value string
}

const (
	byField    = 'f' // the indexed field key has the value
	byLabel    = 'l' // the label key has the value
	byLabelKey = 'k' // the label key exists
	byNothing  = 's'
)

// exists adds or removes a set. The index calls it with its lock held.
func (s *sets) exists(id index.ID, exists bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if exists {
		s.add(id)
	} else {
		s.remove(id)
	}
	s.n.Store(int32(len(s.of)))
}

func (s *sets) add(id index.ID) {
	query, ok := id.Query()
	selector, err := labels.Parse(query.Selector)
	if !ok || err != nil {
		selector = labels.Nothing() // no pass can list it
	}
	if s.of == nil {
		s.of, s.kinds = map[index.ID]*set{}, map[schema.GroupKind]kindSets{}
	}
	k := s.kinds[KindOf(id)]
	if k == nil {
		k = kindSets{}
		s.kinds[KindOf(id)] = k
	}
	s.clock++
	at := &set{id: id, query: query, selector: selector, full: s.clock, follow: s.clock}
	at.buckets = k.choose(at)
	for _, b := range at.buckets {
		if k[b] == nil {
			k[b] = map[*set]struct{}{}
		}
		k[b][at] = struct{}{}
	}
	s.of[id] = at
}

func (s *sets) remove(id index.ID) {
	at, k := s.of[id], s.kinds[KindOf(id)]
	delete(s.of, id)
	for _, b := range at.buckets {
		if delete(k[b], at); len(k[b]) == 0 {
			delete(k, b)
		}
	}
	if len(k) == 0 {
		delete(s.kinds, KindOf(id))
	}
}

// choose returns the buckets of a set: those that have the fewest sets. Each
// member of the set is in exactly one of them.
func (k kindSets) choose(at *set) []bucket {
	namespace := at.id.Namespace
	if at.query.Field != "" {
		return []bucket{{namespace, byField, at.query.Field, at.query.Value}}
	}
	best, fewest := []bucket{{namespace: namespace, by: byNothing}}, -1
	requirements, _ := at.selector.Requirements()
	for i := range requirements {
		var all []bucket
		switch r := &requirements[i]; r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			for _, value := range r.ValuesUnsorted() {
				all = append(all, bucket{namespace, byLabel, r.Key(), value})
			}
		case selection.Exists:
			all = []bucket{{namespace: namespace, by: byLabelKey, key: r.Key()}}
		}
		n := 0
		for _, b := range all {
			n += len(k[b])
		}
		if len(all) > 0 && (fewest < 0 || n < fewest) {
			best, fewest = all, n
		}
	}
	return best
}

// state is a state of an object for sets: its labels and the values of its
// indexed fields. A nil obj does not exist.
type state struct {
	obj    client.Object
	labels labels.Set
	fields []*field   // the indexed fields of the kind
	values [][]string // of each field; nil: they are not known
}

// members adds to found the sets of k that contain the object.
func (k kindSets) members(s *state, found func(*set)) {
	if s.obj == nil {
		return
	}
	each := func(b bucket) {
		for at := range k[b] {
			if at.selector.Matches(s.labels) {
				found(at)
			}
		}
	}
	for _, namespace := range []string{s.obj.GetNamespace(), checks.AllNamespaces} {
		each(bucket{namespace: namespace, by: byNothing})
		for key, value := range s.labels {
			each(bucket{namespace, byLabel, key, value})
			each(bucket{namespace: namespace, by: byLabelKey, key: key})
		}
		for f, values := range s.values {
			for i, value := range values {
				if !slices.Contains(values[:i], value) {
					each(bucket{namespace, byField, s.fields[f].Field, value})
				}
			}
		}
	}
}

// has reports whether a kind has sets.
func (s *sets) has(gk schema.GroupKind) bool {
	if s.n.Load() == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kinds[gk] != nil
}

// numbers returns the numbers of the last changes of a set.
func (s *sets) numbers(id index.ID) (full, follow uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.of[id]; at != nil {
		return at.full, at.follow
	}
	return 0, 0
}

// touched is a set that contained an object before or after a change.
type touched struct {
	set      *set
	was, now bool
}

// touch returns the sets of a kind that contain either state.
func (s *sets) touch(gk schema.GroupKind, was, now *state) (all []touched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kinds[gk]
	k.members(was, func(at *set) {
		at.place = len(all)
		all = append(all, touched{set: at, was: true})
	})
	n := len(all)
	k.members(now, func(at *set) {
		if i := at.place; i < n && all[i].set == at {
			all[i].now = true
		} else {
			all = append(all, touched{set: at, now: true})
		}
	})
	return all
}

// number numbers a change of a set, and returns the change for the index.
func (s *sets) number(at *set, follows bool) index.Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	at.full = s.clock
	if follows {
		at.follow = s.clock
	}
	return index.Change{Full: at.full, Follow: at.follow}
}

// ids returns the sets of a kind.
func (s *sets) ids(gk schema.GroupKind) (ids []index.ID) {
	if s.n.Load() == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.of {
		if KindOf(id) == gk {
			ids = append(ids, id)
		}
	}
	return ids
}
