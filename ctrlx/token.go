package ctrlx

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// OperationAnnotation keeps the token of an operation under way in the cloud, and the generation that it is for.
const OperationAnnotation = "windlass-go.github.io/operation"

// kept is the value of the annotation.
type kept struct {
	Generation int64  `json:"generation"`
	Token      string `json:"token"`
}

// tokenOf is the token of an object. What is not ours to read counts as none: nobody but this package writes it, and
// an operation that is started again is better than one that is never started.
func tokenOf[T client.Object](obj T) (string, int64) {
	value, ok := obj.GetAnnotations()[OperationAnnotation]
	if !ok {
		return "", 0
	}
	var k kept
	if json.Unmarshal([]byte(value), &k) != nil {
		return "", 0
	}
	return k.Token, k.Generation
}

// tokenTimeout is how long a token is tried to be kept when the manager is being stopped. Until then the operation is known
// to nobody else.
const tokenTimeout = 10 * time.Second

// setToken stores a token with an object, or removes it. The patch names the object's UID, because another object may have its
// name by now. It names nothing else, so that changes of other writers do not make it fail.
func (r *Reconciler[T]) setToken(ctx context.Context, obj T, token string, generation int64) error {
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	var value any
	if token != "" {
		data, err := json.Marshal(kept{generation, token})
		if err != nil {
			return err
		}
		value = string(data)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         obj.GetUID(),
		"annotations": map[string]any{OperationAnnotation: value},
	}})
	if err != nil {
		return err
	}
	err = r.patchMetadata(ctx, obj, obj.DeepCopyObject().(T), client.RawPatch(types.MergePatchType, patch))
	switch {
	case err == nil:
		return nil
	case r.writer().isGone(ctx, obj, err):
		log.FromContext(ctx).Info("the object is gone, and so is the token of its operation, which may go on in the cloud")
		return nil
	}
	return fmt.Errorf("the annotation %s: %w", OperationAnnotation, err)
}

// patchMetadata patches the metadata of an object in the middle of a pass. at is a copy of obj, into which it reads the
// answer: the status of obj has changes that are written at the end of the pass.
func (r *Reconciler[T]) patchMetadata(ctx context.Context, obj, at T, patch client.Patch) error {
	if err := r.wrote(ctx, at, r.client.Patch(ctx, at, patch)); err != nil {
		return err
	}
	obj.SetAnnotations(at.GetAnnotations())
	obj.SetFinalizers(at.GetFinalizers())
	// The status is written as this pass has read it. If another writer has changed it since, that write must be refused.
	if p, ok := ctx.Value(passKey{}).(*pass); ok && sameStatus(p.read, at) {
		obj.SetResourceVersion(at.GetResourceVersion())
	}
	return nil
}

// sameStatus tells whether two readings of an object have the same status.
func sameStatus(a, b client.Object) bool {
	statusOf := func(o client.Object) any {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			return err // which no other is equal to
		}
		return content["status"]
	}
	return equality.Semantic.DeepEqual(statusOf(a), statusOf(b))
}
