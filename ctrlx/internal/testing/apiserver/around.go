package apiserver

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Call is a call of the client of [Around].
type Call struct {
	// Verb is get, list, delete, patch, store (a patch of the status), or write (any
	// other write, whatever the request).
	Verb string
	// Object is the object or the list. That of a get has only its kind and its name.
	Object runtime.Object
	DryRun bool
}

// Around returns a client that hands each call to do, which runs it.
func Around(inner client.WithWatch, do func(c Call, run func() error) error) client.WithWatch {
	return interceptor.NewClient(inner, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			named := &unstructured.Unstructured{}
			gvk, _ := c.GroupVersionKindFor(obj)
			named.SetGroupVersionKind(gvk)
			named.SetName(key.Name)
			return do(Call{Verb: "get", Object: named}, func() error { return c.Get(ctx, key, obj, opts...) })
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			return do(Call{Verb: "list", Object: list}, func() error { return c.List(ctx, list, opts...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			dry := len((&client.CreateOptions{}).ApplyOptions(opts).DryRun) > 0
			return do(Call{"write", obj, dry}, func() error { return c.Create(ctx, obj, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			dry := len((&client.UpdateOptions{}).ApplyOptions(opts).DryRun) > 0
			return do(Call{"write", obj, dry}, func() error { return c.Update(ctx, obj, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			dry := len((&client.DeleteOptions{}).ApplyOptions(opts).DryRun) > 0
			return do(Call{"delete", obj, dry}, func() error { return c.Delete(ctx, obj, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			dry := len((&client.PatchOptions{}).ApplyOptions(opts).DryRun) > 0
			return do(Call{"patch", obj, dry}, func() error { return c.Patch(ctx, obj, patch, opts...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			dry := len((&client.ApplyOptions{}).ApplyOptions(opts).DryRun) > 0
			return do(Call{"write", obj.(runtime.Object), dry}, func() error { return c.Apply(ctx, obj, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			dry := len((&client.SubResourcePatchOptions{}).ApplyOptions(opts).DryRun) > 0
			return do(Call{"store", obj, dry}, func() error { return c.SubResource(sub).Patch(ctx, obj, patch, opts...) })
		},
	})
}
