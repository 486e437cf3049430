package ctrlx

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// ConditionOperation is the condition that stores the operation under way of an
// object. Its message is JSON with the token of the operation, the UID and the
// kind of the object, and the generation that the operation is for. It is part
// of the status because users of an object usually cannot write there. It is
// absent while no operation is under way.
const ConditionOperation = "OperationUnderWay"

// OperationAnnotation is the annotation in which earlier commits stored the
// operation under way. See [WithOperationAnnotation].
const OperationAnnotation = "windlass-go.github.io/operation"

// operationStore says which stored operations a Reconciler accepts.
type operationStore struct {
	keys       [][]byte // the first one signs; none: records have no signature
	unsigned   bool     // accept records without a signature although there are keys
	annotation bool     // accept OperationAnnotation
}

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
	s := operationStore{}
	for i, k := range append([][]byte{key}, previous...) {
		switch {
		case k == nil && i > 0:
			s.unsigned = true
		case len(k) < sha256.Size:
			panic(fmt.Sprintf("ctrlx: WithTokenKey: key %d has %d bytes: give at least %d random bytes", i+1, len(k), sha256.Size))
		default:
			s.keys = append(s.keys, slices.Clone(k))
		}
	}
	return func(o *options) { o.operations.keys, o.operations.unsigned = s.keys, s.unsigned }
}

// WithOperationAnnotation accepts operations that an earlier version stored in
// [OperationAnnotation], and moves them to [ConditionOperation]. Everyone who
// may edit an object can write its annotations, and a copied object has them.
// So give this option only until no object has the annotation any more. Without
// it, an object with this annotation is blocked (OperationUnverified).
func WithOperationAnnotation() Option {
	return func(o *options) { o.operations.annotation = true }
}

// operation is an operation under way, as it is stored.
type operation struct {
	Kind       string    `json:"kind"` // as in Database.example.com
	UID        types.UID `json:"uid"`
	Generation int64     `json:"generation"`
	Token      string    `json:"token"`
	Basis      *basis    `json:"basis,omitempty"` // what the operation began from; nil: not known
	Signature  []byte    `json:"signature,omitempty"`
}

// errCopied is the error of an operation of another object.
var errCopied = errors.New("it is the operation of another object")

// sign returns op with a signature, if there is a key.
func (s *operationStore) sign(op operation) operation {
	op.Signature = nil
	if len(s.keys) > 0 {
		op.Signature = op.mac(s.keys[0])
	}
	return op
}

func (op operation) mac(key []byte) []byte {
	op.Signature = nil
	data, _ := json.Marshal(op) // strings and a number
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return h.Sum(nil)
}

// signed reports whether s accepts the signature of op.
func (s *operationStore) signed(op operation) bool {
	if len(s.keys) == 0 || len(op.Signature) == 0 && s.unsigned {
		return true
	}
	return slices.ContainsFunc(s.keys, func(key []byte) bool { return hmac.Equal(op.Signature, op.mac(key)) })
}

// stored returns the operation under way of an object; the zero operation if
// none is under way. The error is errCopied, or says for a condition why the
// operation is refused.
func (s *operationStore) stored(obj client.Object, conditions []metav1.Condition, kind schema.GroupKind) (operation, error) {
	c := meta.FindStatusCondition(conditions, ConditionOperation)
	if c == nil {
		return s.annotated(obj)
	}
	const advice = "; if no operation is under way in the cloud, remove the condition from the status"
	var op operation
	if err := json.Unmarshal([]byte(c.Message), &op); err != nil || op.Token == "" {
		return operation{}, errors.New("the condition " + ConditionOperation + " cannot be read" + advice)
	}
	if !s.signed(op) {
		return operation{}, errors.New("the condition " + ConditionOperation + " has no valid signature of this operator" + advice)
	}
	if op.UID != obj.GetUID() || op.Kind != kind.String() {
		return op, errCopied
	}
	return op, nil
}

// annotated returns the operation that an earlier version stored.
func (s *operationStore) annotated(obj client.Object) (operation, error) {
	value, ok := obj.GetAnnotations()[OperationAnnotation]
	if !ok {
		return operation{}, nil
	}
	if !s.annotation {
		return operation{}, errors.New("the annotation " + OperationAnnotation + " of an earlier version is not accepted, because users can write it; " +
			"start the operator with ctrlx.WithOperationAnnotation, or remove the annotation if no operation is under way in the cloud")
	}
	var op operation
	if err := json.Unmarshal([]byte(value), &op); err != nil || op.Token == "" {
		return operation{}, errors.New("the annotation " + OperationAnnotation + " cannot be read; if no operation is under way in the cloud, remove it")
	}
	return op, nil
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

func (r *Reconciler[T]) operationOf(obj T) (operation, error) {
	return r.opt.operations.stored(obj, r.conditions.get(obj), r.gvk.GroupKind())
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
		case errors.Is(err, errCopied):
			why := fmt.Sprintf("the status was copied from the object with the UID %q: its operation is ignored", op.UID)
			r.conditions.set(req.Resource, withOperation(r.conditions.get(req.Resource), nil))
			if p := passOf(ctx); p != nil {
				p.operation = nil
			}
			log.FromContext(ctx).Info("the operation of another object is ignored", "uid", op.UID, "kind", op.Kind)
			r.tell(req.Resource, &metav1.Condition{Reason: ReasonOperationCopied, Message: why}, classify.Warning, "")
			return checks.Proceed(), nil
		}
		return checks.Block(ReasonOperationUnverified, err.Error(), checks.WithRetry(classify.OnChange), checks.WithWaitingForSelf()), nil
	})
}

// setToken stores the operation under way of an object, or removes it. If
// another writer changed the status meanwhile, it reads the object again: the
// operation must be stored even if the write at the end of the pass fails.
// Until it is stored, only this process knows the operation.
func (r *Reconciler[T]) setToken(ctx context.Context, obj T, token string, generation int64) error {
	ctx, cancel := writing(ctx)
	defer cancel()
	var c *metav1.Condition
	p := passOf(ctx)
	if token != "" {
		op := operation{Kind: r.gvk.GroupKind().String(), UID: obj.GetUID(), Generation: generation, Token: token, Basis: r.basisOfOperation(p)}
		message, err := json.Marshal(r.opt.operations.sign(op))
		if err != nil {
			return err
		}
		c = &metav1.Condition{Type: ConditionOperation, Status: metav1.ConditionTrue, Reason: ReasonOperationUnderWay, Message: string(message),
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(r.opt.now())}
	}
	if p != nil && p.orphan {
		r.conditions.set(obj, withOperation(r.conditions.get(obj), c))
		return nil
	}
	base := r.baseOf(p, obj)
	at, written := base, false
	for {
		at = base.DeepCopyObject().(T)
		r.conditions.set(at, withOperation(r.conditions.get(base), c))
		if sameStatus(base, at) {
			break
		}
		err := r.writer().patch(ctx, base, at)
		if err == nil {
			written = true
			break
		}
		if !apierrors.IsConflict(err) {
			if r.writer().isGone(ctx, obj, err) {
				return p.vanish()
			}
			return fmt.Errorf("the condition %s: %w", ConditionOperation, err)
		}
		base = r.newObject()
		switch err := r.engine.Live().Get(ctx, client.ObjectKeyFromObject(obj), base); {
		case kubernetes.NotFound(err), err == nil && base.GetUID() != obj.GetUID():
			return p.vanish()
		case err != nil:
			return fmt.Errorf("the condition %s: %w", ConditionOperation, err)
		}
		base.GetObjectKind().SetGroupVersionKind(r.gvk)
	}
	r.operationStored(ctx, obj, at)
	if written { // else the write at the end of the pass must meet the conflict, too
		r.metadataWritten(ctx, obj, at)
	}
	return r.removeAnnotation(ctx, obj)
}

// operationStored takes over the stored operation of at into obj and into the
// object that the pass read, so that the status write at the end of the pass
// does not undo it.
func (r *Reconciler[T]) operationStored(ctx context.Context, obj, at T) {
	c := meta.FindStatusCondition(r.conditions.get(at), ConditionOperation)
	r.conditions.set(obj, withOperation(r.conditions.get(obj), c))
	if p := passOf(ctx); p != nil {
		read := p.read.DeepCopyObject().(T)
		r.conditions.set(read, withOperation(r.conditions.get(read), c))
		p.read, p.operation = read, c
	}
}

// removeAnnotation removes the operation that an earlier version stored.
func (r *Reconciler[T]) removeAnnotation(ctx context.Context, obj T) error {
	if _, ok := obj.GetAnnotations()[OperationAnnotation]; !ok {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         obj.GetUID(),
		"annotations": map[string]any{OperationAnnotation: nil},
	}})
	if err != nil {
		return err
	}
	err = r.patchMetadata(ctx, obj, obj.DeepCopyObject().(T), client.RawPatch(types.MergePatchType, patch))
	switch {
	case err == nil:
		return nil
	case r.writer().isGone(ctx, obj, err):
		return passOf(ctx).vanish()
	}
	return fmt.Errorf("the annotation %s: %w", OperationAnnotation, err)
}

// withOperation returns the conditions all with the condition c of an
// operation, or without one if c is nil. It does not change all.
func withOperation(all []metav1.Condition, c *metav1.Condition) []metav1.Condition {
	return withCondition(all, ConditionOperation, c)
}

// withCondition returns the conditions all with c in place of the condition of a
// type, or without that condition if c is nil. It does not change all.
func withCondition(all []metav1.Condition, of string, c *metav1.Condition) []metav1.Condition {
	i := slices.IndexFunc(all, func(c metav1.Condition) bool { return c.Type == of })
	if c == nil && i < 0 {
		return all // without an allocation, because almost no pass has one
	}
	all = slices.Clone(all)
	switch {
	case c != nil && i >= 0:
		all[i] = *c
	case c != nil:
		all = append(all, *c)
	case i >= 0:
		all = slices.Delete(all, i, i+1)
	}
	return all
}
