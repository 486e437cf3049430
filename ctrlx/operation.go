package ctrlx

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/write"
	"github.com/windlass-go/windlass/flow"
)

// ConditionRecord is the condition that stores what the operator must know of an
// object after a restart. It is part of the status because users of an object
// usually cannot write there. Its message is a sentence, and then fields such as
// "uid=7; kind=Database.example.com; operation.token=42". The fields have these
// parts, and the reason of the condition names the first one that is there:
//
//   - [ReasonOperationUnderWay]: the operation under way, with its token and the
//     generation that it is for.
//   - [ReasonProcessing]: the clock of a time-out ([TimeoutConfiguration]): when it
//     began, and digests of the inputs of the object.
//   - [ReasonSettled]: the time of the last success of a Ready object, and digests of
//     its inputs, so that a restarted operator leaves the object alone.
//     docs/ctrlx/restart.md lists the inputs.
//   - [ReasonRetryHandled]: the last handled request of [RetryAnnotation], if the status
//     has no field for it.
//
// An object without any of them does not have the condition.
const ConditionRecord = record.Condition

// WithTokenKey signs the stored operation of each object ([ConditionRecord])
// with HMAC-SHA256, and refuses operations without a valid signature. It
// protects the cloud from people who may write the status of an object: a token
// may hold the address to which a poll sends the credentials of the operator.
//
// Each key has at least 32 bytes. All replicas of the operator share it, for
// example from a Secret. key signs new operations. Operations signed with a previous
// key are still accepted, so that a key can be replaced. A nil previous key
// accepts operations without a signature: pass it in the first release with a key,
// and remove it in the next one. A shorter key panics, and so does this option given twice.
func WithTokenKey(key []byte, previous ...[]byte) Option {
	var keys record.Keys
	for i, k := range append([][]byte{key}, previous...) {
		switch {
		case k == nil && i > 0:
			keys.Unsigned = true
		case len(k) < sha256.Size:
			panic(fmt.Sprintf("ctrlx: WithTokenKey: key %d has %d bytes: give at least %d random bytes", i+1, len(k), sha256.Size))
		default:
			keys.Keys = append(keys.Keys, slices.Clone(k))
		}
	}
	return option(func(o *options) {
		if o.keys.Keys != nil {
			panic("ctrlx: WithTokenKey is given twice: give all keys to one")
		}
		o.keys = keys
	})
}

// recordOf returns the record of an object. The error wraps [record.ErrCopied], or says
// for a condition why the operation in the record is refused.
func (r *core) recordOf(obj client.Object) (record.Record, error) {
	rec, err := r.opt.keys.Decode(record.In(r.kind.Conditions(obj)), obj.GetUID(), r.kind.GroupKind())
	if err != nil {
		err = fmt.Errorf("the condition %s %w; if no operation is under way in the cloud, remove the condition from the status", ConditionRecord, err)
	}
	return rec, err
}

// ownRecordOf returns the record of an object without what was copied from another object.
func (r *core) ownRecordOf(obj client.Object) (record.Record, error) {
	rec, err := r.recordOf(obj)
	if errors.Is(err, record.ErrCopied) {
		rec, err = record.Record{}, nil
	}
	rec.UID, rec.Kind = obj.GetUID(), r.kind.GroupKind().String()
	return rec, err
}

// tokenOf returns the token of the operation under way of an object. It returns
// none for a refused operation: then operationVerified ends the pass.
func (r *core) tokenOf(obj client.Object) (token string, generation int64) {
	if record.MayHoldOperation(record.In(r.kind.Conditions(obj))) { // almost never, so that nothing is decoded
		if rec, err := r.recordOf(obj); err == nil {
			token, generation = rec.Operation.Token, rec.Operation.Generation
		}
	}
	return token, generation
}

// operationVerified is the last link on EntryCheck. It blocks an object whose
// stored operation is refused, because Apply could start a second operation. It
// drops an operation that was copied from another object.
func operationVerified[T client.Object](r *core) checks.Middleware[T] {
	return checks.Gate("OperationVerified", func(ctx context.Context, req *checks.Request[T]) (checks.Result, error) {
		if !record.MayHoldOperation(record.In(r.kind.Conditions(req.Resource))) {
			return checks.Proceed(), nil
		}
		rec, err := r.recordOf(req.Resource)
		switch {
		case err == nil:
			return checks.Proceed(), nil
		case errors.Is(err, record.ErrCopied):
			uid, kind := quoted(string(rec.UID)), quoted(rec.Kind) // users may have written them
			why := fmt.Sprintf("the status was copied from the object with the UID %s: its operation is ignored", uid)
			r.kind.SetConditions(req.Resource, record.Put(r.kind.Conditions(req.Resource), nil)) // a deletion or an orphan may render nothing
			if p := passOf(ctx); p != nil {
				p.record = nil
			}
			log.FromContext(ctx).Info("the operation of another object is ignored", "uid", uid, "kind", kind)
			r.tell(req.Resource, nil, &metav1.Condition{Reason: ReasonOperationCopied, Message: why}, classify.Warning, "")
			return checks.Proceed(), nil
		}
		return checks.Block(ReasonOperationUnverified, err.Error(), checks.WithRetry(classify.OnChange), checks.WithWaitingForSelf()), nil
	})
}

// quoted returns foreign text for a log line or an event: quoted, on one line,
// and cut after 100 bytes.
func quoted(s string) string { return strconv.Quote(s[:min(len(s), 100)]) }

// setToken stores the operation under way of an object, or removes it. Until it
// is stored, only this process knows the operation. It changes only the operation
// that the pass has read: another process may have led while this one was paused.
func (r *core) setToken(ctx context.Context, obj client.Object, token string, generation int64) error {
	p := passOf(ctx)
	if p == nil {
		return errNoPass
	}
	var stored *metav1.Condition // the record that the pass read, with the operation
	first := true
	with := func(at client.Object) error {
		c, err := r.withOperation(p, at, token, generation)
		if err != nil {
			return err
		}
		if first {
			stored, first = c, false
		}
		r.kind.SetConditions(at, record.Put(r.kind.Conditions(at), c))
		return nil
	}
	name := client.ObjectKeyFromObject(obj)
	u := r.memory.Get(name).Unstored
	if u != nil {
		r.memory.Change(name, func(e *memory.Entry) { e.Unstored = nil })
	}
	if p.orphan {
		return with(obj)
	}
	base := p.baseOf(obj)
	read := r.operationIn(base)
	ours := func(op string) bool { return op == read }
	if u != nil && u.UID == obj.GetUID() { // the write may have succeeded in spite of its error
		ours = func(op string) bool { return op == u.Read || op == u.Wanted }
	}
	now, written, err := r.writer().Change(ctx, base, func(at client.Object) error {
		if !ours(r.operationIn(at)) {
			return r.overtaken(obj)
		}
		return with(at)
	})
	switch {
	case errors.Is(err, write.ErrGone):
		return p.vanish()
	case err != nil:
		if token != "" && !errors.Is(err, flow.ErrTokenChanged) {
			u := &memory.Unstored{UID: obj.GetUID(), Read: read, Wanted: record.OperationIn(stored), Basis: r.basisOfOperation(p)}
			r.memory.Change(name, func(e *memory.Entry) { e.Unstored = u })
		}
		return fmt.Errorf("the condition %s: %w", ConditionRecord, r.wroteStatus(err))
	}
	p.operationStored(obj, stored)
	if written { // else the write at the end of the pass must meet the conflict, too
		p.metadataWritten(obj, now)
	}
	return nil
}

// operationIn returns the operation under way in the status of obj as it is stored;
// empty: there is none.
func (r *core) operationIn(obj client.Object) string {
	return record.OperationIn(record.In(r.kind.Conditions(obj)))
}

// overtakenError is the error of a pass whose operation another process has
// replaced or ended. It is a conflict, so the object is read again.
type overtakenError struct{ error }

func (e overtakenError) Unwrap() error        { return e.error }
func (e overtakenError) Is(target error) bool { return target == flow.ErrTokenChanged }

func (r *core) overtaken(obj client.Object) error {
	return overtakenError{apierrors.NewConflict(schema.GroupResource{Group: r.kind.Group, Resource: r.kind.Kind}, obj.GetName(),
		errors.New("another process has changed the stored operation since this pass read it"))}
}

// withOperation returns the record of at with an operation, or without one if token
// is empty. An object whose operation is under way has no success.
func (r *core) withOperation(p *pass, at client.Object, token string, generation int64) (*metav1.Condition, error) {
	rec, err := r.ownRecordOf(at)
	if err != nil {
		return nil, err
	}
	if rec.Operation = nil; token != "" {
		rec.Operation, rec.Success = &record.Operation{Generation: generation, Token: token, Basis: r.basisOfOperation(p)}, nil
		r.opt.keys.Sign(&rec)
	}
	return record.Encode(rec, record.In(r.kind.Conditions(at)), at.GetGeneration(), r.now()), nil
}

// operationStored takes over the record c into obj and into the object that the pass
// read, so that the status write at the end of the pass does not undo it.
func (p *pass) operationStored(obj client.Object, c *metav1.Condition) {
	r := p.of
	r.kind.SetConditions(obj, record.Put(r.kind.Conditions(obj), c))
	read := p.read.DeepCopyObject().(client.Object)
	r.kind.SetConditions(read, record.Put(r.kind.Conditions(read), c))
	p.read, p.record = read, c
}

// ErrReplaced is the error of an operation that put another object into its request.
// ctrlx writes the first object to the API server, so the changes of the other one
// would be lost. Test for it with errors.Is.
var ErrReplaced = errors.New("ctrlx: the operation replaced req.Resource, so its results would be lost: change the object in place, as in *req.Resource = *other")

// inPlace returns an operation that fails if it replaces the object of its request.
func inPlace[T client.Object, Res any](op func(context.Context, *flow.Request[T]) (Res, error)) func(context.Context, *flow.Request[T]) (Res, error) {
	if op == nil {
		return nil
	}
	return func(ctx context.Context, req *flow.Request[T]) (Res, error) {
		obj := req.Resource
		res, err := op(ctx, req)
		if client.Object(req.Resource) != client.Object(obj) {
			req.Resource = obj
			err = errors.Join(err, ErrReplaced)
		}
		return res, err
	}
}
