package ctrlx

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/write"
	"github.com/windlass-go/windlass/flow"
)

// ConditionOperation is the condition that stores the operation under way of an
// object. Its message is JSON with the token of the operation, the UID and the
// kind of the object, and the generation that the operation is for. It is part
// of the status because users of an object usually cannot write there. It is
// absent while no operation is under way.
const ConditionOperation = "OperationUnderWay"

// WithTokenKey signs the stored operation of each object ([ConditionOperation])
// with HMAC-SHA256, and refuses operations without a valid signature. It
// protects the cloud from people who may write the status of an object: a token
// may hold the address to which a poll sends the credentials of the operator.
//
// Each key has at least 32 bytes. All replicas of the operator share it, for
// example from a Secret. key signs new records. Records signed with a previous
// key are still accepted, so that a key can be replaced. A nil previous key
// accepts records without a signature: pass it in the first release with a key,
// and remove it in the next one. A shorter key panics.
func WithTokenKey(key []byte, previous ...[]byte) Option {
	var keys write.Keys
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
	return func(o *options) { o.keys = keys }
}

// storedOperation returns the operation under way of the object with a UID; the
// zero operation if none is under way. The error is [write.ErrCopied], or says
// for a condition why the operation is refused.
func storedOperation(keys *write.Keys, uid types.UID, conditions []metav1.Condition, kind schema.GroupKind) (write.Operation, error) {
	c := meta.FindStatusCondition(conditions, ConditionOperation)
	if c == nil {
		return write.Operation{}, nil
	}
	op, err := keys.Decode(c.Message, uid, kind)
	if err != nil && !errors.Is(err, write.ErrCopied) {
		err = fmt.Errorf("the condition %s %w; if no operation is under way in the cloud, remove the condition from the status", ConditionOperation, err)
	}
	return op, err
}

// tokenOf returns the token of the operation under way of an object. It returns
// none for a refused operation: then operationVerified ends the pass.
func (r *Reconciler[T]) tokenOf(obj T) (token string, generation int64) {
	op, err := r.operationOf(obj)
	if err != nil {
		return "", 0
	}
	return op.Token, op.Generation
}

func (r *Reconciler[T]) operationOf(obj T) (write.Operation, error) {
	return storedOperation(&r.opt.keys, obj.GetUID(), r.conditions.get(obj), r.gvk.GroupKind())
}

// basisOf returns the basis in the record of an operation; nil: it is not known.
func basisOf(record json.RawMessage) *basis {
	var b *basis
	if json.Unmarshal(record, &b) != nil {
		return nil
	}
	return b
}

// operationVerified is the last link on EntryCheck. It blocks an object whose
// stored operation is refused, because Apply could start a second operation. It
// drops an operation that was copied from another object.
func (r *Reconciler[T]) operationVerified() checks.Middleware[T] {
	return checks.Gate("OperationVerified", func(ctx context.Context, req *checks.Request[T]) (checks.Result, error) {
		op, err := r.operationOf(req.Resource)
		switch {
		case err == nil:
			return checks.Proceed(), nil
		case errors.Is(err, write.ErrCopied):
			uid, kind := quoted(string(op.UID)), quoted(op.Kind) // users may have written them
			why := fmt.Sprintf("the status was copied from the object with the UID %s: its operation is ignored", uid)
			r.conditions.set(req.Resource, withOperation(r.conditions.get(req.Resource), nil))
			if p := passOf(ctx); p != nil {
				p.operation = nil
			}
			log.FromContext(ctx).Info("the operation of another object is ignored", "uid", uid, "kind", kind)
			r.tell(req.Resource, &metav1.Condition{Reason: ReasonOperationCopied, Message: why}, classify.Warning, "")
			return checks.Proceed(), nil
		}
		return checks.Block(ReasonOperationUnverified, err.Error(), checks.WithRetry(classify.OnChange), checks.WithWaitingForSelf()), nil
	})
}

// quoted returns foreign text for a log line or an event: quoted, on one line,
// and cut after 100 bytes.
func quoted(s string) string { return strconv.Quote(s[:min(len(s), 100)]) }

// setToken stores the operation under way of an object, or removes it. Until it
// is stored, only this process knows the operation. It changes only the record
// that the pass has read: another process may have led while this one was paused.
func (r *Reconciler[T]) setToken(ctx context.Context, obj T, token string, generation int64) error {
	p := passOf(ctx)
	c, err := r.operationUnderWay(p, obj, token, generation)
	if err != nil {
		return err
	}
	with := func(at T) { r.conditions.set(at, withOperation(r.conditions.get(at), c)) }
	if p != nil && p.orphan {
		with(obj)
		return nil
	}
	base := r.baseOf(p, obj)
	read, name := r.recordIn(base), client.ObjectKeyFromObject(obj)
	if u, ok := r.unstored.Load(name); ok && read != u.(unstored).read && read != u.(unstored).wanted {
		r.unstored.Delete(name)
		return r.overtaken(obj)
	}
	now, written, err := r.writer().Change(ctx, base, func(at client.Object) error {
		if r.recordIn(at.(T)) != read {
			return r.overtaken(obj)
		}
		with(at.(T))
		return nil
	})
	switch {
	case errors.Is(err, write.ErrGone):
		return p.vanish()
	case err != nil:
		if r.unstored.Delete(name); c != nil && !errors.Is(err, flow.ErrTokenChanged) {
			r.unstored.Store(name, unstored{read, c.Message})
		}
		return fmt.Errorf("the condition %s: %w", ConditionOperation, r.served.wroteStatus(err))
	}
	r.unstored.Delete(name)
	r.operationStored(p, obj, now.(T))
	if written { // else the write at the end of the pass must meet the conflict, too
		r.metadataWritten(ctx, obj, now)
	}
	return nil
}

// unstored describes a record that a write did not store. The flow has its
// operation in memory, and stores it in a later pass, unless another process has
// written the record meanwhile.
type unstored struct {
	read   string // the record before the write
	wanted string // the record of the write, which may have succeeded in spite of its error
}

// recordIn returns the record of the operation under way in the status of obj;
// empty: there is none.
func (r *Reconciler[T]) recordIn(obj T) string {
	if c := meta.FindStatusCondition(r.conditions.get(obj), ConditionOperation); c != nil {
		return c.Message
	}
	return ""
}

// overtakenError is the error of a pass whose operation another process has
// replaced or ended. It is a conflict, so the object is read again.
type overtakenError struct{ error }

func (e overtakenError) Unwrap() error        { return e.error }
func (e overtakenError) Is(target error) bool { return target == flow.ErrTokenChanged }

func (r *Reconciler[T]) overtaken(obj T) error {
	return overtakenError{apierrors.NewConflict(schema.GroupResource{Group: r.gvk.Group, Resource: r.gvk.Kind}, obj.GetName(),
		errors.New("another process has changed the stored operation since this pass read it"))}
}

// operationUnderWay returns the condition of an operation; nil without a token.
func (r *Reconciler[T]) operationUnderWay(p *pass, obj T, token string, generation int64) (*metav1.Condition, error) {
	if token == "" {
		return nil, nil
	}
	op := write.Operation{Kind: r.gvk.GroupKind().String(), UID: obj.GetUID(), Generation: generation, Token: token}
	if b := r.basisOfOperation(p); b != nil {
		var err error
		if op.Basis, err = json.Marshal(b); err != nil {
			return nil, err
		}
	}
	message, err := r.opt.keys.Encode(op)
	return &metav1.Condition{Type: ConditionOperation, Status: metav1.ConditionTrue, Reason: ReasonOperationUnderWay, Message: message,
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(r.opt.now())}, err
}

// operationStored takes over the stored operation of at into obj and into the
// object that the pass read, so that the status write at the end of the pass
// does not undo it.
func (r *Reconciler[T]) operationStored(p *pass, obj, at T) {
	c := meta.FindStatusCondition(r.conditions.get(at), ConditionOperation)
	r.conditions.set(obj, withOperation(r.conditions.get(obj), c))
	if p != nil {
		read := p.read.DeepCopyObject().(T)
		r.conditions.set(read, withOperation(r.conditions.get(read), c))
		p.read, p.operation = read, c
	}
}

// withOperation returns the conditions all with the condition c of an
// operation, or without one if c is nil. It does not change all.
func withOperation(all []metav1.Condition, c *metav1.Condition) []metav1.Condition {
	return withCondition(all, ConditionOperation, c)
}
