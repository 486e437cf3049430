package sim

import (
	"slices"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// Waits returns the resources that had a pass, and the objects that they wait
// for.
func (e *Engine) Waits() (all []why.Object) {
	known := map[checks.Ref]bool{}
	for _, p := range e.Last() {
		if x, ok := e.Explain(p.Resource); ok {
			all = append(all, why.Of(p.Resource, x))
			known[p.Resource] = true
		}
	}
	for _, o := range slices.Clone(all) {
		for _, ref := range o.WaitingFor {
			if !known[ref] {
				known[ref] = true
				all = append(all, e.Store.waited(ref))
			}
		}
	}
	return all
}

// waited returns an object of the store that no reconciler reconciles.
func (s *Store) waited(ref checks.Ref) why.Object {
	w := why.Object{Ref: ref, State: why.Missing}
	if o := s.objects[ref]; o != nil {
		w.State, w.Reason, w.Message = why.Unknown, o.Readiness.Reason, o.Readiness.Message
		switch o.Readiness.State {
		case checks.Ready:
			w.State = why.Ready
		case checks.NotReady:
			w.State = why.Blocked
		}
	}
	return w
}
