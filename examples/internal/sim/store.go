package sim

import (
	"context"

	"github.com/windlass-go/windlass/checks"
)

// Store holds objects and their readiness, as an API server does. Use it from
// one goroutine. Make it with [NewStore].
type Store struct {
	objects map[checks.Ref]*checks.Object
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{objects: map[checks.Ref]*checks.Object{}} }

// Add adds an object whose readiness is unknown. It replaces an object with the
// same ref.
func (s *Store) Add(ref checks.Ref, value any) {
	s.objects[ref] = &checks.Object{Ref: ref, Value: value}
}

// Report sets the readiness of an object. It ignores a ref that was not added.
func (s *Store) Report(ref checks.Ref, r checks.Readiness) {
	if o := s.objects[ref]; o != nil {
		o.Readiness = r
	}
}

// Resolve is a [checks.Resolver]. It returns an object without a value for a
// ref that was not added.
func (s *Store) Resolve(_ context.Context, ref checks.Ref) (checks.Object, error) {
	if o := s.objects[ref]; o != nil {
		return *o, nil
	}
	return checks.Object{Ref: ref}, nil
}
