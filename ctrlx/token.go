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

// setToken keeps a token with an object, or removes it. The patch names the object's UID, so that it cannot get to another
// one that was made anew under its name, and nothing else, so that it does not fail because of what others changed.
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
	at := obj.DeepCopyObject().(T) // the answer overwrites it, and obj has what operations found out
	err = r.wrote(ctx, at, r.client.Patch(ctx, at, client.RawPatch(types.MergePatchType, patch)))
	switch {
	case err == nil:
	case r.writer().isGone(ctx, obj, err):
		log.FromContext(ctx).Info("the object is gone, and so is the token of its operation, which may go on in the cloud")
		return nil
	default:
		return fmt.Errorf("the annotation %s: %w", OperationAnnotation, err)
	}
	obj.SetAnnotations(at.GetAnnotations())
	// What follows is a write of the status as this pass has read it. If somebody else has written it since, that write must
	// be refused.
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
