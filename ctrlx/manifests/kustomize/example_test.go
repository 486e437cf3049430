package kustomize_test

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/windlass-go/windlass/ctrlx/manifests/kustomize"
)

// ShopSpec stands for the spec of a type of yours.
type ShopSpec struct {
	Replicas int64
	Image    string
	TLS      bool
}

//go:embed testdata
var testdata embed.FS

// files has the folders base and tls.
var files = func() fs.FS {
	sub, err := fs.Sub(testdata, "testdata")
	if err != nil {
		panic(err)
	}
	return sub
}()

// overlay makes the objects of one shop from the base.
func overlay(_, name string, spec *ShopSpec) (types.Kustomization, error) {
	k := types.Kustomization{
		NamePrefix: name + "-",
		Images:     []types.Image{{Name: "shop", NewName: spec.Image}},
		Replicas:   []types.Replica{{Name: "server", Count: spec.Replicas}},
	}
	if spec.TLS {
		k.Components = []string{"../files/tls"}
	}
	return k, nil
}

// The overlay of a base is made from the spec.
func ExampleBase() {
	objects, err := kustomize.Base(files, "base", overlay).
		Generate(context.Background(), "default", "books", &ShopSpec{Replicas: 3, Image: "registry.example.com/shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, obj := range objects {
		fmt.Println(obj.GetObjectKind().GroupVersionKind().Kind, obj.GetName())
	}
	// Output:
	// ConfigMap books-settings
	// Deployment books-server
}
