package sim

import (
	"context"

	"github.com/windlass-go/windlass/checks"
)

// Store holds what is known here of each object, as an API server would. One goroutine uses it. It is made by [NewStore].
type Store struct {
	objects map[checks.Ref]*checks.Object
}

// NewStore makes an empty store.
func NewStore() *Store { return &Store{objects: map[checks.Ref]*checks.Object{}} }

// Add puts in an object that nobody said yet to be ready.
func (s *Store) Add(ref checks.Ref, value any) {
	s.objects[ref] = &checks.Object{Ref: ref, Value: value}
}

// Report notes whether an object is ready. Of one that is not there nothing is noted.
func (s *Store) Report(ref checks.Ref, r checks.Readiness) {
	if o := s.objects[ref]; o != nil {
		o.Readiness = r
	}
}

// Resolve is the checks.Resolver of the examples: an object that is not there is no error.
func (s *Store) Resolve(_ context.Context, ref checks.Ref) (checks.Object, error) {
	if o := s.objects[ref]; o != nil {
		return *o, nil
	}
	return checks.Object{Ref: ref}, nil
}

func (s *Store) readiness(ref checks.Ref) checks.Readiness {
	if o := s.objects[ref]; o != nil {
		return o.Readiness
	}
	return checks.Readiness{}
}
