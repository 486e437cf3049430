package helm_test

import (
	"context"
	"embed"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/manifests"
	"github.com/windlass-go/windlass/ctrlx/manifests/helm"
)

// files has the chart. The prefix all: embeds _helpers.tpl, too.
//
//go:embed all:testdata
var files embed.FS

// ShopSpec stands for the spec of a type of yours. Its JSON is the values.
type ShopSpec struct {
	Size      int  `json:"size,omitempty"`
	Migration bool `json:"migration,omitempty"`
}

// The spec of a component is the values of its chart.
func ExampleChart() {
	shops := helm.Chart("shop.example.com", files, "testdata/shop")
	objects, err := shops.Generate(context.Background(), "default", "books", &ShopSpec{Size: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, obj := range objects {
		fmt.Println(obj.GetObjectKind().GroupVersionKind().Kind, obj.GetName())
	}
	// Output:
	// CustomResourceDefinition tills.helm.example.com
	// ConfigMap books-settings
}

// A function chooses the values of a chart.
func ExampleChart_values() {
	chart := helm.Chart("shop.example.com", files, "testdata/shop")
	shops := manifests.GeneratorFunc[*ShopSpec](func(ctx context.Context, namespace, name string, spec *ShopSpec) ([]client.Object, error) {
		return chart.Generate(ctx, namespace, name, map[string]any{"size": 2 * spec.Size})
	})
	objects, err := shops.Generate(context.Background(), "default", "books", &ShopSpec{Size: 3})
	fmt.Println(len(objects), err)
	// Output: 2 <nil>
}
