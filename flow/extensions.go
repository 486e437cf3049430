package flow

import (
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// Handler starts or polls an operation. The links of Apply and Delete wrap one.
type Handler[T any] = chain.Handler[*Request[T], Progress]

// Middleware is a link of Apply or Delete.
type Middleware[T any] = chain.Middleware[*Request[T], Progress]

// GetHandler reads the resource. The links of Get wrap one.
type GetHandler[T any] = chain.Handler[*Request[T], Observation]

// GetMiddleware is a link of Get.
type GetMiddleware[T any] = chain.Middleware[*Request[T], Observation]

// PassHandler runs a pass for a resource. The links of Pass wrap one.
type PassHandler[T any] = chain.Handler[T, Outcome]

// PassMiddleware is a link of Pass.
type PassMiddleware[T any] = chain.Middleware[T, Outcome]

// Extensions are the customisations of a kind: one chain for each extension
// point. The zero Extensions changes nothing. A link must not call next from
// several goroutines at once.
type Extensions[T any] struct {
	// Pass is around the whole pass: a lock, credentials, a deadline, or work
	// that follows the read of the resource.
	Pass chain.Chain[T, Outcome]
	// EntryCheck decides whether this controller may act on the resource. It
	// runs first in every pass: before the owner is read, before a poll, and
	// also while a user deletes the resource ([checks.OwnerRequest.Deleting]).
	// A block here stops polls and deletions, too. Its checks do not see the
	// owner.
	EntryCheck checks.Chain[T]
	// OwnerCheck runs before Get and Apply. It does not run before a poll or a
	// deletion.
	OwnerCheck checks.OwnerChain
	// GetCheck decides about the GET and all that follows: it runs before Get, after
	// Apply only if it did not run before, and also if Get would report that the
	// cloud matches the spec. Its checks see the owner and the resource. A
	// deletion and a poll leave it out. But if a deletion calls Get or starts
	// Delete, GetCheck runs for the slots that its checks fill ([checks.Slot]),
	// and its decision and its errors have no effect.
	GetCheck checks.Chain[T]
	// Get is around the GET before PreCheck and DeleteCheck, and around the GET
	// after Apply ([checks.OwnerRequest.Applied]). A link that replaces the GET
	// sets Observation.Skip to the reason.
	Get chain.Chain[*Request[T], Observation]
	// PreCheck decides about the PUT. It runs after Get and before Apply starts an
	// operation. It does not run if Get reported that the cloud matches the
	// spec, because the pass then leaves out Apply.
	PreCheck checks.Chain[T]
	// Apply is around the PUT or PATCH, and around each poll of it. A link that
	// replaces the operation returns [Skip]. Without a [Done] of the operation
	// itself, or a Skip, the resource does not become Ready.
	Apply chain.Chain[*Request[T], Progress]
	// PostCheck decides about Ready. It runs after Apply has succeeded, or after Get
	// reported that the cloud matches the spec. After Apply, Get runs first if
	// PostCheck has a check. Checks of the resource's state then accept only
	// the final good state ([checks.OwnerRequest.Applied]).
	PostCheck checks.Chain[T]
	// DeleteCheck decides about the DELETE. An owner that is gone or being deleted
	// does not block here. Get runs before the first check that may need it.
	// These do not: [checks.OnOwner], [checks.Paused], the checks of
	// references and of sets, and a check whose objection is a
	// [checks.Release] ([checks.WithVerdict]). So an error of Get does not hold a
	// deletion that they release. A chain.When counts as the links in it, so its
	// predicate must not read what Get reads.
	DeleteCheck checks.Chain[T]
	// Delete is around the DELETE, and around each poll of it.
	Delete chain.Chain[*Request[T], Progress]
	// Classify classifies every error of every point.
	Classify classify.Chain
}

// Extend returns extensions with the links of others inside the links of e,
// point by point. Use it to add the links of one kind to a base for many kinds.
//
// Extend panics if e and others share links, because these would run twice. It
// does not notice links that a function makes again for each of them. It also
// panics if a chain of others has observers, which would be
// lost.
func (e Extensions[T]) Extend(others ...Extensions[T]) Extensions[T] {
	for _, o := range others {
		e.Pass = joined(PointPass, e.Pass, o.Pass)
		e.EntryCheck = joined(PointEntryCheck, e.EntryCheck, o.EntryCheck)
		e.OwnerCheck = joined(PointOwnerCheck, e.OwnerCheck, o.OwnerCheck)
		e.GetCheck = joined(PointGetCheck, e.GetCheck, o.GetCheck)
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

// joined returns the chain a with the links of b inside its own.
func joined[Req, Res any](point string, a, b chain.Chain[Req, Res]) chain.Chain[Req, Res] {
	if a.Overlaps(b) {
		panic(fmt.Sprintf("flow: Extend: at %s, links of (%s) are in (%s) already and would run twice: do not extend extensions by themselves, or by extensions with the same links", point, b, a))
	}
	undecorated("Extend", point, b)
	return a.Extend(b)
}

func undecorated[Req, Res any](op, point string, c chain.Chain[Req, Res]) {
	if c.Decorated() {
		panic(fmt.Sprintf("flow: %s: the chain at %s (%s) has observers, which would be lost: put them around the result, or use WithObserver", op, point, c))
	}
}

// named returns e with the point set in each link, for listings and observers.
func (e Extensions[T]) named() Extensions[T] {
	return Extensions[T]{
		Pass:        e.Pass.At(PointPass),
		EntryCheck:  e.EntryCheck.At(PointEntryCheck),
		OwnerCheck:  e.OwnerCheck.At(PointOwnerCheck),
		GetCheck:    e.GetCheck.At(PointGetCheck),
		Get:         e.Get.At(PointGet),
		PreCheck:    e.PreCheck.At(PointPreCheck),
		Apply:       e.Apply.At(PointApply),
		PostCheck:   e.PostCheck.At(PointPostCheck),
		DeleteCheck: e.DeleteCheck.At(PointDeleteCheck),
		Delete:      e.Delete.At(PointDelete),
		Classify:    e.Classify.At(PointClassify),
	}
}

// Convert makes extensions for From of extensions for To, another version of
// the same API. It keeps owner checks and error rules as they are, and converts
// checks of the resource with [checks.Convert]. Add the links of the new
// version with [Extensions.Extend]. To limit an error rule to some versions,
// set its APIVersions.
//
// If convert returns an error, returns nil, or panics, the check that needed it
// fails, and with it the pass. The error is a [*checks.ConversionError], which
// names the kind and both types. The pass calls convert only for a check, and
// for the objects that a check follows although the pass leaves it out. If only
// a PostCheck converts, the PUT happens before convert can fail: add a PreCheck
// that converts too.
//
// Convert panics on:
//
//   - a nil convert;
//   - links on Pass, Get, Apply and Delete, and gates ([checks.Gate]), because
//     their changes to the converted resource would be lost; write them for the
//     new type;
//   - checks of the resource with observers, which would be lost as well.
func Convert[From, To any](ext Extensions[To], convert func(From) (To, error)) Extensions[From] {
	if convert == nil {
		panic("flow: Convert: the function is nil")
	}
	noLinks(PointPass, ext.Pass)
	noLinks(PointGet, ext.Get)
	noLinks(PointApply, ext.Apply)
	noLinks(PointDelete, ext.Delete)
	undecorated("Convert", PointEntryCheck, ext.EntryCheck)
	undecorated("Convert", PointGetCheck, ext.GetCheck)
	undecorated("Convert", PointPreCheck, ext.PreCheck)
	undecorated("Convert", PointPostCheck, ext.PostCheck)
	undecorated("Convert", PointDeleteCheck, ext.DeleteCheck)
	return Extensions[From]{
		EntryCheck:  checks.Convert(ext.EntryCheck, convert),
		OwnerCheck:  ext.OwnerCheck,
		GetCheck:    checks.Convert(ext.GetCheck, convert),
		PreCheck:    checks.Convert(ext.PreCheck, convert),
		PostCheck:   checks.Convert(ext.PostCheck, convert),
		DeleteCheck: checks.Convert(ext.DeleteCheck, convert),
		Classify:    ext.Classify,
	}
}

func noLinks[Req, Res any](point string, c chain.Chain[Req, Res]) {
	if c.Len() > 0 {
		panic(fmt.Sprintf("flow: Convert: links on %s (%s) act on the resource and cannot be converted: leave them out, and write them for the new type", point, c))
	}
}
