package memory

import (
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

// passes is a ring with the last passes over an object.
type passes struct {
	of   [maxKept]shortPass
	next int // the index of the oldest pass, which the next one replaces
}

// shortPass is a Pass in a third of the space.
type shortPass struct {
	at      int64 // in nanoseconds since 1970; 0: there is no pass
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
			s.passes = map[types.NamespacedName]*passes{}
		}
		for other, of := range s.passes {
			if len(s.passes) < MaxHistories {
				break
			}
			delete(s.passes, other)
			k = of // without an allocation
		}
		if k == nil {
			k = &passes{}
		}
		*k = passes{}
		s.passes[name] = k
	}
	k.of[k.next] = shortPass{p.At.UnixNano(), p.Took, unique.Make(p.Verdict)}
	k.next = (k.next + 1) % maxKept
}

// Passes returns the last passes over an object, the latest first.
func (s *Store) Passes(name types.NamespacedName) (all []Pass) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.passes[name]
	if k == nil {
		return nil
	}
	for i := range maxKept {
		if p := k.of[(k.next+2*maxKept-1-i)%maxKept]; p.at != 0 {
			all = append(all, Pass{time.Unix(0, p.at), p.took, p.verdict.Value()})
		}
	}
	return all
}

// Histories returns the number of objects whose passes are kept.
func (s *Store) Histories() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.passes)
}
