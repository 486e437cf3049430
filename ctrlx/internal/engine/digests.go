package engine

import (
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
)

// digests are the digests of one version of an object. A pass over an object that
// has not changed computes none.
type digests struct{ full, follow once }

// once is a digest that is computed when it is first needed; 0: not yet.
type once struct{ atomic.Uint64 }

func (o *once) get(compute func() uint64) uint64 {
	h := o.Load()
	if h == 0 {
		h = compute()
		o.Store(h)
	}
	return h
}

// digestsOf returns the digests of the version of obj.
func (e *Engine) digestsOf(obj client.Object) *digests {
	d, ok := e.digests.Get(obj, func() *digests { return new(digests) })
	if !ok {
		return new(digests)
	}
	return d
}

// digest returns the digest of all that a check can see of an object. If only
// the metadata is watched, the version stands for the rest of the object.
func (e *Engine) digest(k kind, obj client.Object) uint64 {
	if k.policy == metadataOnly {
		return e.touches.digest(k, obj)
	}
	return e.digestsOf(obj).full.get(func() uint64 { return digest.Of(obj) })
}

// follow returns the digest of the part of an object that wakes followers: that
// of [digest.Follow], the readiness as each reconciler sees it, and the numbers of
// [Engine.Writes]. It is 0, not known, if a function of the user panics.
func (e *Engine) follow(k kind, obj client.Object) uint64 {
	switch {
	case obj == nil:
		return digest.NotFound
	case k.policy == metadataOnly:
		return e.touches.digest(k, obj)
	}
	return e.digestsOf(obj).follow.get(func() uint64 { return e.followOf(k, obj) })
}
