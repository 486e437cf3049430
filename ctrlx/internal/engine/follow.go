package engine

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// Followed is an object or a set that a waiter follows after a pass.
type Followed struct {
	Ref  checks.Ref
	Read bool // the pass has read it; otherwise the other fields count for nothing
	// Object is the object as the pass has read it; nil: it does not exist. The
	// digest of another object of the same name is that of its own.
	Object client.Object
	Number uint64 // of a set: Listed.Follow
}

// followOf returns the digest of [Engine.follow].
func (e *Engine) followOf(k kind, obj client.Object) (h uint64) {
	defer func() {
		if recover() != nil { // the pass that is woken calls the same function, and reports the panic
			h = 0
		}
	}()
	h = digest.Follow(obj)
	h = digest.And(h, stateOfReadiness(ready.Of(obj)))
	e.mu.Lock()
	funcs, written := e.readiness[k.gvk.GroupKind()], e.written[k.gvk.GroupKind()]
	e.mu.Unlock()
	for _, of := range funcs {
		h = digest.And(h, stateOfReadiness(of(obj)))
	}
	for _, also := range written {
		h = digest.And(h, also(obj))
	}
	return h
}

// Writes states that the operator writes objects of a kind, and follows them. The
// kind may then be watched, although no option names it. A change of the number
// that also returns wakes the followers of an object, too. also only reads the
// object. The informer of a kind that the scheme lacks stops a while after the
// last object that follows it is gone: its definition may be gone, too.
func (e *Engine) Writes(gk schema.GroupKind, also func(obj client.Object) uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.written[gk] = append(slices.Clip(e.written[gk]), also) // follow reads the old list without the lock
}

// stateOfReadiness returns the part of a readiness that counts: the state, and
// whether it is of the present generation.
func stateOfReadiness(r checks.Readiness) uint64 {
	x := uint64(r.State) << 1
	if r.Generation == r.Observed {
		x |= 1
	}
	return x
}

// followed returns the entries of a pass that follows refs.
func (p *Pass) followed(id index.ID, f Followed) index.Followed {
	switch {
	case !f.Read:
		return index.Followed{ID: id}
	case id.Set != "":
		return index.Followed{ID: id, Digest: f.Number}
	}
	w, _ := p.engine.watchOf(KindOf(id))
	if w == nil && f.Object != nil {
		return index.Followed{ID: id} // it is read live
	}
	k := kind{}
	if w != nil {
		k = w.kind
	}
	return index.Followed{ID: id, Digest: p.engine.follow(k, f.Object)}
}
