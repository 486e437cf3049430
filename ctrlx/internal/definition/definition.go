// Package definition finds the objects of a kind that the API server does not
// serve in the expected version. They may exist in another version, or without
// any version that is served.
package definition

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

var (
	definitions = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	services    = schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}
)

// ErrNone is the error of a kind that has no definition, so that it has no objects.
var ErrNone = errors.New("the kind has no definition")

// ErrHidden is the error of a kind that has a definition, and that the API server
// does not serve. Objects may exist. The message says what makes them visible.
var ErrHidden = errors.New("may exist")

// Unserved reports whether an error of a read says that the API server does not
// serve a version of a kind. It says nothing about objects of the kind.
func Unserved(err error) bool {
	return meta.IsNoMatchError(err) || undiscovered(err) || apierrors.IsNotFound(err) && !NotFound(err)
}

// NotFound reports whether an error says that an object with a name does not exist.
// The API server has the same code for a kind that it does not serve.
func NotFound(err error) bool {
	if !apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		return false
	}
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name != ""
}

// undiscovered reports whether the API server did not say which kinds a group has.
// [meta.IsNoMatchError] may report such an error, too.
func undiscovered(err error) bool {
	_, failed := errors.AsType[*apiutil.ErrResourceDiscoveryFailed](err)
	return failed
}

// Read calls read with the versions of a kind, until one is served, and returns the
// error of read. A CustomResourceDefinition of the kind has these versions, or else
// the APIServices of its group. All reads are live.
//
// The error is ErrNone if neither exists, or if the API server itself serves the
// group without the kind. It wraps ErrHidden if objects may exist and a person must
// act. Read needs the rights to get and list both kinds of definitions.
func Read(ctx context.Context, live client.Reader, gk schema.GroupKind, read func(version string) error) error {
	unread := func(err error) error {
		return fmt.Errorf("the API server does not serve %s, and its definition cannot be read %w", gk, err)
	}
	switch u, err := ofKind(ctx, live, gk); {
	case err != nil:
		return unread(err)
	case u != nil:
		return custom(u, gk, read)
	}
	claims, err := list(ctx, live, services, func(r schema.GroupResource) bool { return r.Group == gk.Group })
	if err != nil {
		return unread(err)
	}
	for _, u := range claims {
		if err := claimed(u, gk, read); !errors.Is(err, ErrNone) {
			return err
		}
	}
	return ErrNone
}

// Namespaced reports whether the objects of a kind have namespaces, as its
// CustomResourceDefinition says now. All reads are live. The error is ErrNone if the
// kind has no such definition. It needs the same rights as [Read].
func Namespaced(ctx context.Context, live client.Reader, gk schema.GroupKind) (bool, error) {
	switch u, err := ofKind(ctx, live, gk); {
	case err != nil:
		return false, fmt.Errorf("the scope of %s cannot be read %w", gk, err)
	case u == nil:
		return false, ErrNone
	default:
		scope, _, _ := unstructured.NestedString(u.Object, "spec", "scope")
		return scope == "Namespaced", nil
	}
}

// ofKind returns the CustomResourceDefinition of a kind; nil: there is none.
func ofKind(ctx context.Context, live client.Reader, gk schema.GroupKind) (*unstructured.Unstructured, error) {
	all, err := list(ctx, live, definitions, func(r schema.GroupResource) bool { return r.Group == gk.Group })
	for _, u := range all {
		if kind, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind"); kind == gk.Kind {
			return u, nil
		}
	}
	return nil, err
}

// Kinds returns the kinds of the CustomResourceDefinitions whose resources are
// wanted. All reads are live. It needs the same rights as [Read].
func Kinds(ctx context.Context, live client.Reader, wanted func(schema.GroupResource) bool) (kinds []schema.GroupKind, err error) {
	defined, err := list(ctx, live, definitions, wanted)
	if err != nil {
		return nil, fmt.Errorf("definitions cannot be read %w", err)
	}
	for _, u := range defined {
		group, _, _ := unstructured.NestedString(u.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind")
		kinds = append(kinds, schema.GroupKind{Group: group, Kind: kind})
	}
	return kinds, nil
}

// list returns the definitions of wanted resources. Only they are read as a
// whole, because definitions are large. The name of an APIService has a version
// in place of the resource.
func list(ctx context.Context, live client.Reader, of schema.GroupVersionKind, wanted func(schema.GroupResource) bool) (found []*unstructured.Unstructured, err error) {
	names := &metav1.PartialObjectMetadataList{}
	names.SetGroupVersionKind(of.GroupVersion().WithKind(of.Kind + "List"))
	err = live.List(ctx, names)
	if of == services && Unserved(err) && !undiscovered(err) {
		return nil, nil // an API server without the aggregation layer
	}
	for i := 0; err == nil && i < len(names.Items); i++ {
		name := names.Items[i].Name
		if !wanted(schema.ParseGroupResource(name)) {
			continue
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(of)
		if err = live.Get(ctx, client.ObjectKey{Name: name}, u); NotFound(err) {
			err = nil
		} else if err == nil {
			found = append(found, u)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("(this needs the rights to get and list customresourcedefinitions.%s and apiservices.%s): %w",
			definitions.Group, services.Group, err)
	}
	return found, nil
}

// custom reads the objects of a CustomResourceDefinition.
func custom(u *unstructured.Unstructured, gk schema.GroupKind, read func(version string) error) error {
	err := errors.New("it serves no version: serve one again")
	versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
	for _, v := range versions {
		if v, _ := v.(map[string]any); v["served"] == true {
			name, _ := v["name"].(string)
			if err = read(name); !Unserved(err) {
				return err
			}
		}
	}
	return hidden(u, gk, err)
}

// claimed reads the objects of an APIService.
func claimed(u *unstructured.Unstructured, gk schema.GroupKind, read func(version string) error) error {
	_, remote, _ := unstructured.NestedMap(u.Object, "spec", "service")
	if !available(u) {
		return hidden(u, gk, errors.New("it is not available: repair its server, or delete it"))
	}
	version, _, _ := unstructured.NestedString(u.Object, "spec", "version")
	switch err := read(version); {
	case !Unserved(err):
		return err
	case remote:
		return hidden(u, gk, fmt.Errorf("its server does not serve the kind: repair the server, or delete the APIService: %w", err))
	case undiscovered(err):
		return hidden(u, gk, err)
	}
	return ErrNone
}

func available(u *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		if c, _ := c.(map[string]any); c["type"] == "Available" {
			return c["status"] == "True"
		}
	}
	return false
}

func hidden(u *unstructured.Unstructured, gk schema.GroupKind, why error) error {
	return fmt.Errorf("objects of %s %w, because of the %s %s: %w", gk, ErrHidden, u.GetKind(), u.GetName(), why)
}
