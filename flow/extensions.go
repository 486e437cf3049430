package flow

import (
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// The extension points, as traces, listings and observers call them.
const (
	PointPass        = "Pass"
	PointOwner       = "Owner" // no extension point: where the owner is resolved
	PointOwnerCheck  = "OwnerCheck"
	PointGet         = "Get"
	PointPreCheck    = "PreCheck"
	PointApply       = "Apply"
	PointPostCheck   = "PostCheck"
	PointDeleteCheck = "DeleteCheck"
	PointDelete      = "Delete"
	PointClassify    = "Classify"
)

// Extensions is how a kind of resource differs from what [Operations] do: one chain for each extension point. The zero
// Extensions changes nothing. A pass goes one way: a link calls next once at a time, not from several goroutines at once.
type Extensions[T any] struct {
	// Pass is around the whole pass: a lock, credentials, a deadline, what has to be done once the resource was read.
	Pass chain.Chain[T, Outcome]
	// OwnerCheck is asked before any call to the cloud.
	OwnerCheck checks.OwnerChain
	// Get is around the GET.
	Get chain.Chain[*Request[T], Observation]
	// PreCheck is asked after the GET and before Apply.
	PreCheck checks.Chain[T]
	// Apply is around the PUT or PATCH and around each polling of it. A link may act in place of the operation, and then
	// answers for it: what it calls done is taken as done, unless the operation is known to be under way.
	Apply chain.Chain[*Request[T], Progress]
	// PostCheck is asked when the cloud has what the spec says, before the resource is ready.
	PostCheck checks.Chain[T]
	// DeleteCheck is asked before the DELETE. An owner that is gone, or going, does not block there. No GET comes before it,
	// so Exists is false and checks of the resource's state let it pass.
	DeleteCheck checks.Chain[T]
	// Delete is around the DELETE and around each polling of it.
	Delete chain.Chain[*Request[T], Progress]
	// Classify decides about every error of every point.
	Classify classify.Chain
}

// Extend returns extensions with those of others behind those of e, point by point: a base for many kinds, then what one
// kind needs besides. It panics if both were made of the same extensions, so that links would run twice (a function that
// makes a base anew each time is not seen through), and if chains of others have decorations or observers, which would be
// lost.
func (e Extensions[T]) Extend(others ...Extensions[T]) Extensions[T] {
	for _, o := range others {
		e.Pass = joined(PointPass, e.Pass, o.Pass)
		e.OwnerCheck = joined(PointOwnerCheck, e.OwnerCheck, o.OwnerCheck)
		e.Get = joined(PointGet, e.Get, o.Get)
		e.PreCheck = joined(PointPreCheck, e.PreCheck, o.PreCheck)
		e.Apply = joined(PointApply, e.Apply, o.Apply)
		e.PostCheck = joined(PointPostCheck, e.PostCheck, o.PostCheck)
		e.DeleteCheck = joined(PointDeleteCheck, e.DeleteCheck, o.DeleteCheck)
		e.Delete = joined(PointDelete, e.Delete, o.Delete)
		e.Classify = joined(PointClassify, e.Classify, o.Classify)
	}
	return e
}

// joined is the chain a with the links of b behind its own.
func joined[Req, Res any](point string, a, b chain.Chain[Req, Res]) chain.Chain[Req, Res] {
	if a.Overlaps(b) {
		panic(fmt.Sprintf("flow: Extend: at %s links of (%s) stand in (%s) already and would run twice: extensions are not extended by themselves, nor by what was made of the same ones", point, b, a))
	}
	undecorated("Extend", point, b)
	return a.Extend(b)
}

// undecorated panics if something stands around the links of a chain that would be lost.
func undecorated[Req, Res any](op, point string, c chain.Chain[Req, Res]) {
	if c.Decorated() {
		panic(fmt.Sprintf("flow: %s: the chain at %s (%s) has decorations or observers, which would be lost: put them around the result, or use WithObserver", op, point, c))
	}
}

// named gives each link its point, for those who list and observe them.
func (e Extensions[T]) named() Extensions[T] {
	return Extensions[T]{
		Pass:        e.Pass.At(PointPass),
		OwnerCheck:  e.OwnerCheck.At(PointOwnerCheck),
		Get:         e.Get.At(PointGet),
		PreCheck:    e.PreCheck.At(PointPreCheck),
		Apply:       e.Apply.At(PointApply),
		PostCheck:   e.PostCheck.At(PointPostCheck),
		DeleteCheck: e.DeleteCheck.At(PointDeleteCheck),
		Delete:      e.Delete.At(PointDelete),
		Classify:    e.Classify.At(PointClassify),
	}
}
