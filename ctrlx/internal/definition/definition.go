// Package definition finds the definition of a kind that the API server does not
// serve. Its objects may exist.
package definition

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/classify"
)

var definitions = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// Of reports whether a CustomResourceDefinition of a kind exists, and returns the
// first version that it serves; empty: it serves none. It reads live. absent says
// whether an error means that an object does not exist. Of needs the rights to get
// and list definitions.
func Of(ctx context.Context, live client.Reader, absent classify.Errors, gk schema.GroupKind) (version string, found bool, err error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(definitions.GroupVersion().WithKind(definitions.Kind + "List"))
	if err := live.List(ctx, list); err != nil {
		return "", false, fmt.Errorf("the API server does not serve %s, and its definition cannot be read: %w", gk, err)
	}
	for _, named := range list.Items {
		if _, group, _ := strings.Cut(named.Name, "."); group != gk.Group {
			continue
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(definitions)
		switch err := live.Get(ctx, client.ObjectKey{Name: named.Name}, u); {
		case absent.NotFound(err):
			continue
		case err != nil:
			return "", false, fmt.Errorf("the API server does not serve %s, and the definition %s cannot be read: %w", gk, named.Name, err)
		}
		if kind, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind"); kind == gk.Kind {
			return served(u), true, nil
		}
	}
	return "", false, nil
}

func served(u *unstructured.Unstructured) string {
	versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
	for _, v := range versions {
		if v, ok := v.(map[string]any); ok && v["served"] == true {
			name, _ := v["name"].(string)
			return name
		}
	}
	return ""
}
