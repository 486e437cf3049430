package manifests

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Generator makes the dependents of a component. The parameters are the result
// of its GetSpec. An object without a namespace is in the namespace of the
// component if its kind has namespaces. The result must depend on the arguments
// only. A generator is called in each pass, by several goroutines, and not
// while the component is deleted. It does not change the parameters.
//
// An error, a panic and a nil slice end the pass before any write. An empty
// slice that is not nil means that the component needs no objects: all its
// dependents are deleted.
type Generator interface {
	Generate(ctx context.Context, namespace, name string, parameters any) ([]client.Object, error)
}

// GeneratorFunc is a function as a [Generator]. P is the type of the value that
// GetSpec returns, for example *ShopSpec.
type GeneratorFunc[P any] func(ctx context.Context, namespace, name string, parameters P) ([]client.Object, error)

// Generate implements [Generator]. It returns an error if the parameters are
// not of type P.
func (f GeneratorFunc[P]) Generate(
	ctx context.Context, namespace, name string, parameters any,
) ([]client.Object, error) {
	p, ok := parameters.(P)
	if !ok {
		return nil, fmt.Errorf("the generator takes a %T, and GetSpec returns a %T", p, parameters)
	}
	return f(ctx, namespace, name, p)
}
