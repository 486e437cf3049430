package flow

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/slot"
)

// Operations are the default actions of a reconciler for resources of type T.
// Only Key and Apply are required. Several goroutines call the functions at
// once, for different resources.
type Operations[T any] struct {
	// Key returns the identity of the resource, for back-off, traces and
	// tokens. With an empty key the flow applies and deletes nothing
	// ([ErrMisuse]).
	//
	// Tokens in memory, counts and explanations belong to a key. So the key
	// needs the UID of the resource: a resource that was deleted and made again
	// under the same name must have another key. Otherwise the new resource
	// inherits the operation of the old one, and may become Ready by it. The
	// flow refuses a token in memory only if it is for a later generation than
	// the resource has. Call [Reconciler.Remove] for a resource that is gone.
	Key func(resource T) string

	// Apply makes the cloud match the spec. If Request.Token is empty, it
	// starts an operation. If not, it polls the operation under way, once. Each
	// pass calls it again until it returns [Done], under the back-off also after
	// an error that does not show that the operation has ended ([Failed]).
	Apply func(ctx context.Context, req *Request[T]) (Progress, error)

	// Get reads the resource from the cloud, reports whether the cloud matches
	// the spec, and may refresh the status in req.Resource. If it finds
	// nothing, it returns checks.Absent without an error. It must then also
	// clear a state in the status, because checks evaluate every reported
	// state. Nil: the presence is unknown, and Apply runs every time.
	//
	// If Extensions.PostCheck has a link, Get runs again after Apply is done, so
	// that the checks there see the changes of Apply. Request.Applied is then
	// set, and InSync does not count. If Apply refreshes the status itself, Get
	// may return checks.Present without a read. Absent after the Done of Apply
	// blocks the pass with checks.ReasonResourceAbsent. So this Get must see the
	// writes of Apply, or return checks.PresenceUnknown. After Finished there is
	// no such Get.
	Get func(ctx context.Context, req *Request[T]) (Observation, error)

	// Delete removes the resource from the cloud. It returns Done if the
	// resource does not exist. Tokens and errors work as for Apply. Nil: there
	// is nothing to remove.
	Delete func(ctx context.Context, req *Request[T]) (Progress, error)

	// Owner finds the owner. If the owner does not exist, it returns a
	// [checks.Object] with a Ref and without a Value. If no reference names the
	// owner yet, it returns a Ref with only a Kind, and the owner checks block.
	// If the Ref names a set ([checks.OwnerFrom]), the owner is the one object
	// of the set ([WithLister]), and none and several block at OwnerCheck. The
	// zero Object means that this resource has no owner. Nil: no resource of
	// this kind has one.
	Owner func(ctx context.Context, resource T) (checks.Object, error)

	// Deleting reports whether the user asked for the deletion of the resource.
	// Nil: never.
	Deleting func(resource T) bool

	// Generation returns the number of changes of the spec. The flow compares
	// it with the generation of the operation under way, to see whether that
	// operation is for the present spec. Nil: every operation is.
	Generation func(resource T) int64

	// APIVersion returns the API version of the resource, for checks,
	// classification and traces. Nil or empty: the version of [WithAPIVersion].
	APIVersion func(resource T) string

	// Token returns the token stored with the resource, and its generation. An
	// empty token means that no operation is under way. Set both Token and
	// SetToken, or neither. Nil: the flow stores tokens in memory by Key, and a
	// restart loses them.
	Token func(resource T) (token string, generation int64)

	// SetToken stores a token with the resource; an empty token removes it. The
	// flow calls it with the token as soon as the operation returns, before the
	// links around it return, so that a crash in them loses nothing. It removes
	// the token after the links have returned. resource is the one that Apply or
	// Delete got. The context is not canceled with the pass. It has the deadline
	// of the pass, or ten seconds if that is longer. Only
	// Token may read the stored value, because the flow adds prefixes to it. A
	// token may contain the address of a poll, which gets the credentials of
	// the client. So store it where users of the resource cannot write,
	// together with the identity of the resource, or sign it. If SetToken
	// fails, the pass fails, the flow stores the token in memory, and the next
	// pass calls SetToken again. After a failed removal, the next pass polls
	// once more with the stored token. If another process may lead meanwhile,
	// compare the stored token with the one that the pass has read, and return
	// [ErrTokenChanged] if it differs.
	SetToken func(ctx context.Context, resource T, token string, generation int64) error
}

// checked returns o with a Generation. It panics if o cannot work.
func (o Operations[T]) checked(name string) Operations[T] {
	must(o.Key != nil, name, "Operations.Key is nil: give a function that identifies the resource")
	must(o.Apply != nil, name, "Operations.Apply is nil: give the function that creates and updates the resource")
	must((o.Token == nil) == (o.SetToken == nil), name, "one of Operations.Token and Operations.SetToken is nil: give both, or neither to store tokens in memory")
	must(o.Delete == nil || o.Deleting != nil, name, "Operations.Delete is given and Operations.Deleting is nil, so the flow would never call Delete: give both")
	if o.Generation == nil {
		o.Generation = func(T) int64 { return 0 }
	}
	return o
}

// Request is the argument of operations and of the links around them. It is
// valid for one pass: a link that passes a request of an earlier pass to next
// fails with [ErrMisuse]. Links may pass copies to next, and may restore
// the request from a copy after next. Neither loses the operation under way.
type Request[T any] struct {
	checks.Request[T]
	// Token is the token of the operation under way. Empty: start an operation.
	Token string

	pass *state[T] // of the pass; nil: a link made the request
}

// state is the request of a pass, with all that the pass knows of its operation
// and that a link must not change. A link that restores or copies the request
// changes nothing of it. It is the only allocation of a pass. Up to 512 bytes are
// cheaper than more.
type state[T any] struct {
	req Request[T]
	onion.Note
	report  report // the state that the operation reported in this pass
	seen    bool   // Get succeeded in this pass, or there is no Get
	started bool   // a link last reported that it runs an operation
	early   bool   // the token was stored before the links returned
	tried   bool   // SetToken failed before the links returned; the error is in slots
	renews  bool   // the stored token is in memory only, or of another operation
	byLink  bool   // of stored

	op       operation // the operation under way, as last reported
	stored   string    // the token under way, as stored
	resource T         // as the point got it, to store a token

	slots slot.Values // what checks and operations found in this pass

	engineRequest any // the *Request of the engine type O, see adapt.go; nil: not made yet
}

// linkOnly reports whether a link runs the operation under way, and no link has
// called the real operation in this pass.
func (s *state[T]) linkOnly() bool { return s.op.byLink && s.report == reportedNothing }

// Observation reports the state that Get found in the cloud. The zero
// Observation has an unknown presence, so Apply runs.
type Observation struct {
	// Presence reports whether the resource is in the cloud. A Get that finds
	// nothing returns checks.Absent.
	Presence checks.Presence
	// InSync reports that the cloud matches the spec, so that the pass leaves
	// out Apply. It counts only with checks.Present, and not after Apply.
	InSync bool

	// Skip is the reason why a link replaces Get, such as "read a minute ago".
	// The trace shows it. A link that returns InSync must set Skip if
	// Operations.Get did not succeed in this pass ([ErrMisuse]). A nil
	// Operations.Get needs no Skip.
	Skip string
}

func (o Observation) inSync() bool { return o.InSync && o.Presence == checks.Present }

// Describe returns the verdict for [chain.Exit.Verdict]: skip or proceed. The
// reason is Unknown, Absent, Present or InSync.
func (o Observation) Describe() (verdict, reason string) {
	switch {
	case o.Skip != "":
		return chain.VerdictSkip, ""
	case o.inSync():
		return chain.VerdictProceed, "InSync"
	case o.Presence == checks.Present:
		return chain.VerdictProceed, "Present"
	case o.Presence == checks.Absent:
		return chain.VerdictProceed, "Absent"
	}
	return chain.VerdictProceed, "Unknown"
}
