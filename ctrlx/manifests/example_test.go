package manifests_test

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/manifests"
)

// ShopSpec stands for the spec of a type of yours.
type ShopSpec struct{ Size int }

// Templates are files, usually of an embed.FS.
func ExampleTemplates() {
	files := fstest.MapFS{"settings.yaml": {Data: []byte(`
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Name }}-settings
data:
  size: {{ .Parameters.Size | quote }}
`)}}
	objects, err := manifests.Templates(files).Generate(context.Background(), "default", "books", &ShopSpec{Size: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, obj := range objects {
		fmt.Println(obj.GetObjectKind().GroupVersionKind().Kind, obj.GetName())
	}
	// Output: ConfigMap books-settings
}

// A generator may get a text from other software, such as jsonnet.
func ExampleParseYAML() {
	render := func(name string, spec *ShopSpec) string { // stands for the other software
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %q}\ndata: {size: \"%d\"}\n---\n", name, spec.Size)
	}
	charts := manifests.GeneratorFunc[*ShopSpec](func(_ context.Context, _, name string, spec *ShopSpec) ([]client.Object, error) {
		return manifests.ParseYAML(strings.NewReader(render(name, spec)))
	})
	objects, err := charts.Generate(context.Background(), "default", "books", &ShopSpec{Size: 3})
	fmt.Println(len(objects), err)
	// Output: 1 <nil>
}
