package memory

import (
	"slices"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// MaxHistories is the number of objects whose last passes are kept: about 0.2 MB.
	MaxHistories = 1000
	// maxKept is the number of passes that are kept of an object.
	maxKept = 5
)

// Pass is a pass that has ended. A pass over an object that stays ready is not
// recorded, so it costs nothing.
type Pass struct {
	At   time.Time // the start
	Took time.Duration
	Verdict
}

// shortPass is a Pass in a third of the space.
type shortPass struct {
	at      int64 // in nanoseconds since 1970
	took    time.Duration
	verdict unique.Handle[Verdict]
}

// Passed records a pass. If there are too many objects, it drops the passes of any
// of them.
func (s *Store) Passed(name types.NamespacedName, p Pass) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.passes[name]
	if k == nil {
		if s.passes == nil {
			s.passes = map[types.NamespacedName][]shortPass{}
		}
		k = make([]shortPass, 0, maxKept)
		if len(s.passes) == MaxHistories {
			for other := range s.passes {
				delete(s.passes, other)
				break
			}
		}
	}
	if len(k) == maxKept {
		k = slices.Delete(k, 0, 1)
	}
	pass := shortPass{at: p.At.UnixNano(), took: p.Took}
	if n := len(k); n > 0 && k[n-1].verdict.Value() == p.Verdict { // almost always, and much faster
		pass.verdict = k[n-1].verdict
	} else {
		pass.verdict = unique.Make(p.Verdict)
	}
	s.passes[name] = append(k, pass)
}

// Passes returns the last passes over an object, the latest first.
func (s *Store) Passes(name types.NamespacedName) (all []Pass) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range slices.Backward(s.passes[name]) {
		all = append(all, Pass{time.Unix(0, p.at), p.took, p.verdict.Value()})
	}
	return all
}

// Histories returns the number of objects whose passes are kept.
func (s *Store) Histories() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.passes)
}
