package kustomize_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/manifests/kustomize"
)

func TestMain(m *testing.M) { apiserver.Main(m) }

// field returns a field of the object of a kind, as a text.
func field(objects []client.Object, kind string, path ...string) string {
	for _, obj := range objects {
		if obj.GetObjectKind().GroupVersionKind().Kind == kind {
			v, _, _ := unstructured.NestedFieldNoCopy(obj.(*unstructured.Unstructured).Object, path...)
			return fmt.Sprint(v)
		}
	}
	return "no " + kind
}

// The overlay changes the base, and a component of the files.
func TestBase(t *testing.T) {
	evil := "shop\"\n---\nkind: Pod"
	objects, err := kustomize.Base(files, "base", overlay).Generate(t.Context(), "default", "books", &ShopSpec{Replicas: 3, Image: evil, TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{
		"replicas": field(objects, "Deployment", "spec", "replicas"), "name": field(objects, "Deployment", "metadata", "name"),
		"data": field(objects, "ConfigMap", "data"), "pod": field(objects, "Pod", "metadata"), "objects": fmt.Sprint(len(objects)),
	}
	want := map[string]string{"replicas": "3", "name": "books-server", "data": "map[size:1 tls:true]", "pod": "no Pod", "objects": "2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if image := field(objects, "Deployment", "spec", "template", "spec", "containers"); !strings.Contains(image, evil) {
		t.Errorf("the image is %q", image)
	}
	plain, err := kustomize.Base[*ShopSpec](files, "base", nil).Generate(t.Context(), "default", "books", &ShopSpec{})
	if name := field(plain, "ConfigMap", "metadata", "name"); err != nil || name != "settings" {
		t.Errorf("without an overlay: %v, %s", err, name)
	}
}

// Each path is part of the files, so that nothing is downloaded.
func TestPaths(t *testing.T) {
	cases := map[string]struct {
		reason string
		k      string // the kustomization
		wrong  string // empty: it is valid
	}{
		"File":      {"a file of the base", "resources: [a.yaml]", ""},
		"Twice":     {"a folder with a kustomization", "resources: [../other]", ""},
		"Inline":    {"a patch that is no path", "resources: [a.yaml]\npatches: [{patch: \"- {op: add, path: /data, value: {a: b}}\\n\", target: {kind: ConfigMap}}]", ""},
		"Key":       {"a file under another key", "configMapGenerator: [{name: c, files: [key=a.yaml]}]", ""},
		"URL":       {"a file of a server", "resources: ['https://example.com/a.yaml']", "https://example.com/a.yaml"},
		"Git":       {"a repository", "resources: ['github.com/example/base?ref=main']", "github.com/example/base?ref=main"},
		"SSH":       {"a repository", "components: ['git@example.com:example/base']", "git@example.com:example/base"},
		"Base":      {"an old field", "bases: ['example.com/a/b.git']", "example.com/a/b.git"},
		"PatchPath": {"a patch", "patches: [{path: 'http://example.com/p'}]", "http://example.com/p"},
		"Merge":     {"an old patch", "patchesStrategicMerge: ['http://example.com/p']", "http://example.com/p"},
		"Schema":    {"the schema", "openapi: {path: 'https://example.com/s'}", "https://example.com/s"},
		"Files":     {"data", "secretGenerator: [{name: s, files: ['k=https://example.com/s']}]", "https://example.com/s"},
		"Env":       {"data", "configMapGenerator: [{name: s, envs: ['https://example.com/s']}]", "https://example.com/s"},
		"Replaces":  {"replacements", "replacements: [{path: 'https://example.com/s'}]", "https://example.com/s"},
		"Crds":      {"definitions", "crds: ['https://example.com/s']", "https://example.com/s"},
		"Transform": {"a plugin has paths", "transformers: [t.yaml]", `"t.yaml" is a plugin`},
		"Plugin":    {"a plugin in the kustomization itself", "transformers:\n- |\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: x}\n  path: http://example.com/p\n", "is a plugin, which may download files"},
		"Generator": {"a plugin has files", "generators:\n- |\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: x}\n  files: [k=http://example.com/f]\n", "is a plugin, which may download files"},
		"Validator": {"a kustomization may change a plugin", "validators: [../other]", `"../other" is a plugin`},
		"Lines":     {"Kustomize downloads it, and a patch is no resource", "resources: [\"github.com/example/base\\n\"]", `"github.com/example/base\n" is no file`},
		"GitHub":    {"Kustomize does not look at the folder", "resources: [GitHub.com/a/b]", `"GitHub.com/a/b" is no file`},
		"SCP":       {"Kustomize does not look at the folder", "components: ['git::github.com:a/b']", `"git::github.com:a/b" is no file`},
		"Folder":    {"the same folder, in another way", "resources: [a.yaml, ./GitHub.com/a/b]", ""},
		"Merges":    {"an old patch that is no path", "resources: [a.yaml]\npatchesStrategicMerge: [\"{apiVersion: v1, kind: ConfigMap, metadata: {name: a},\\ndata: {a: b}}\"]", ""},
		"Absolute":  {"a path outside", "resources: [/files/base/a.yaml]", "/files/base/a.yaml"},
		"Missing":   {"a file that is missing", "resources: [b.yaml]", "b.yaml"},
		"Unknown":   {"a misspelt field", "resource: [a.yaml]", `unknown field "resource"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			set := fstest.MapFS{
				"base/kustomization.yaml": {Data: []byte(tc.k)}, "base/a.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")},
				"other/kustomization.yml": {Data: []byte("namePrefix: other-")}, "base/t.yaml": {Data: []byte("apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: http://example.com/p\n")},
				"base/GitHub.com/a/b/kustomization.yaml": {Data: []byte("namePrefix: other-")}, "base/git::github.com:a/b/kustomization.yaml": {},
			}
			got := func() (got string) {
				defer func() {
					if v := recover(); v != nil {
						got = fmt.Sprint(v)
					}
				}()
				if _, err := kustomize.Base[*ShopSpec](set, "base", nil).Generate(t.Context(), "", "", &ShopSpec{}); err != nil {
					got = err.Error()
				}
				return got
			}()
			if (got != "") != (tc.wrong != "") || !strings.Contains(got, tc.wrong) {
				t.Errorf("%s: %q", tc.reason, got)
			}
		})
	}
	remote := kustomize.Base(files, "base", func(string, string, *ShopSpec) (types.Kustomization, error) {
		return types.Kustomization{Components: []string{"https://example.com/tls"}}, nil
	})
	if _, err := remote.Generate(t.Context(), "", "", &ShopSpec{}); err == nil || !strings.Contains(err.Error(), "overlay: \"https://example.com/tls\" is no file") {
		t.Errorf("a path of the overlay: %v", err)
	}
}

// Several goroutines generate at the same time.
func TestConcurrent(t *testing.T) {
	g := kustomize.Base(files, "base", overlay)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			objects, err := g.Generate(t.Context(), "default", "books", &ShopSpec{Replicas: int64(n)})
			if got := field(objects, "Deployment", "spec", "replicas"); err != nil || got != fmt.Sprint(n) {
				t.Errorf("%d: %s, %v", n, got, err)
			}
		})
	}
	all.Wait()
}

// The API server accepts the objects.
func TestServer(t *testing.T) {
	apiserver.RequireKube(t)
	_, api := apiserver.Start(apiserver.Scheme(), nil)
	ns := apiserver.Namespace(t, api)
	objects, err := kustomize.Base(files, "base", overlay).Generate(t.Context(), ns, "books", &ShopSpec{Replicas: 2, Image: "registry.example.com/shop", TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range objects {
		obj.SetNamespace(ns)
		if err := api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(obj.(*unstructured.Unstructured)), client.FieldOwner("test"), client.ForceOwnership); err != nil {
			t.Errorf("%s: %v", obj.GetName(), err)
		}
	}
}
