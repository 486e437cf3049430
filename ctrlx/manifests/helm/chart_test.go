package helm_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/manifests/helm"
)

func TestMain(m *testing.M) { apiserver.Main(m) }

const metadata = "apiVersion: v2\nname: c\nversion: 1.0.0\n"

// chart returns a chart with a template.
func chart(template string) fstest.MapFS {
	return fstest.MapFS{
		"Chart.yaml":                     {Data: []byte(metadata + "dependencies: [{name: sub, version: 1.0.0, condition: sub.enabled}]\n")},
		"values.yaml":                    {Data: []byte("a: {b: 1, c: 2}\nsub: {enabled: false}\n")},
		".helmignore":                    {Data: []byte("ignored.yaml\nold/\n")},
		"templates/a.yaml":               {Data: []byte(template)},
		"templates/ignored.yaml":         {Data: []byte("{{ broken")},
		"templates/old/a.yaml":           {Data: []byte("{{ broken")},
		"charts/sub/Chart.yaml":          {Data: []byte(strings.Replace(metadata, "name: c", "name: sub", 1))},
		"charts/sub/templates/conf.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sub}\ndata: {k: sub}\n")},
	}
}

func hook(lines ...string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    x: z\n    " + strings.Join(lines, "\n    ") + "\n"
}

// A chart makes the objects that Helm would apply, or an error that names the
// template and the cause.
func TestChart(t *testing.T) {
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	cases := map[string]struct {
		reason     string
		template   string
		parameters map[string]any
		want       []string // the data and the annotations of our reconciler
		err        string
	}{
		"Values":      {"over those of values.yaml", head + `data: {k: "{{ .Values.a.b }} {{ .Values.a.c }}"}`, map[string]any{"a": map[string]any{"b": 12345678}}, []string{"map[k:12345678 2]"}, ""},
		"Release":     {"the component is the release", head + `data: {k: "{{ .Release.Namespace }}/{{ .Release.Name }} {{ .Release.IsInstall }}"}`, nil, []string{"map[k:default/books true]"}, ""},
		"Quoted":      {"a value is data", head + `data: {k: {{ .Values.t | quote }}}`, map[string]any{"t": "x\"\n---\nkind: Pod"}, []string{"map[k:x\"\n---\nkind: Pod]"}, ""},
		"Nothing":     {"a chart may make no objects", "{{ if false }}" + head + "{{ end }}", nil, nil, ""},
		"Dependency":  {"an enabled chart of the chart", "", map[string]any{"sub": map[string]any{"enabled": true}}, []string{"map[k:sub]"}, ""},
		"Random":      {"another value in each pass", head + `data: {k: {{ randAlphaNum 3 }}}`, nil, nil, "randAlphaNum has another result in each pass"},
		"Key":         {"another value in each pass", head + `data: {k: {{ (genCA "a" 1).Cert | quote }}}`, nil, nil, "genCA has another result"},
		"Unused":      {"a function that is not called", head + `data: {k: {{ if .Values.absent }}{{ randAlphaNum 3 }}{{ else }}v{{ end }}}`, nil, []string{"map[k:v]"}, ""},
		"Lookup":      {"the cluster is no argument", head + `data: {k: {{ (lookup "v1" "Secret" "" "a").x }}}`, nil, nil, "lookup has another result"},
		"Fail":        {"the message of the chart", `{{ fail "give a size" }}`, nil, nil, "give a size"},
		"NoKind":      {"no object", "apiVersion: v1\n", nil, nil, "c/templates/a.yaml: document 1: it has no apiVersion or no kind"},
		"Schema":      {"the engine reads no other type", head, map[string]any{"sub": 3}, nil, "sub"},
		"Test":        {"a test is no part of a release", hook("helm.sh/hook: test"), nil, nil, ""},
		"Rollback":    {"a component rolls nothing back", hook("helm.sh/hook: pre-rollback"), nil, nil, ""},
		"Before":      {"before all others, in each version", hook("helm.sh/hook: pre-upgrade, pre-install,pre-rollback", `helm.sh/hook-weight: "-5"`), nil, []string{"map[] apply-order=-10005 reconcile-policy=OnObjectOrComponentChange update-policy=Recreate"}, ""},
		"Once":        {"only the first time", hook("helm.sh/hook: post-install", "helm.sh/hook-delete-policy: hook-succeeded,hook-failed"), nil, []string{"map[] apply-order=10000 purge-order=10000 reconcile-policy=Once"}, ""},
		"Own":         {"an annotation of the chart counts", hook("helm.sh/hook: pre-install", `shop.example.com/apply-order: "-1"`), nil, []string{"map[] apply-order=-1 reconcile-policy=Once update-policy=Recreate"}, ""},
		"CRD":         {"an old hook", hook("helm.sh/hook: crd-install"), nil, []string{"map[]"}, ""},
		"Delete":      {"it would not run", hook("helm.sh/hook: pre-delete"), nil, nil, `ConfigMap a: helm.sh/hook is "pre-delete": use a hook of the component`},
		"UpgradeOnly": {"nothing says that it is an upgrade", hook("helm.sh/hook: pre-upgrade"), nil, nil, "use a hook of the component"},
		"Both":        {"an object has one place", hook("helm.sh/hook: pre-install,post-install"), nil, nil, "use a hook of the component"},
		"Weight":      {"no number", hook("helm.sh/hook: pre-install", "helm.sh/hook-weight: heavy"), nil, nil, `helm.sh/hook-weight is "heavy"`},
		"Heavy":       {"outside the orders", hook("helm.sh/hook: pre-install", `helm.sh/hook-weight: "10001"`), nil, nil, "it must be a whole number from -10000 to 10000"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects, err := helm.Chart("shop.example.com", chart(tc.template), ".").Generate(t.Context(), "default", "books", tc.parameters)
			if tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) || tc.err == "" && err != nil {
				t.Fatalf("%s: %v, want %q", tc.reason, err, tc.err)
			}
			var got []string
			for _, obj := range objects {
				data, _, _ := unstructured.NestedMap(obj.(*unstructured.Unstructured).Object, "data")
				text := fmt.Sprint(data)
				for _, key := range slices.Sorted(maps.Keys(obj.GetAnnotations())) {
					if ours, found := strings.CutPrefix(key, "shop.example.com/"); found {
						text += " " + ours + "=" + obj.GetAnnotations()[key]
					}
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// The schema of the chart limits what a user may set.
func TestSchema(t *testing.T) {
	_, err := helm.Chart("shop.example.com", files, "testdata/shop").Generate(t.Context(), "default", "books", &ShopSpec{Size: 10000001})
	if err == nil || !strings.Contains(err.Error(), "/size") {
		t.Error(err)
	}
}

// A folder without a valid chart is a mistake of the program.
func TestNoChart(t *testing.T) {
	for dir, want := range map[string]string{"testdata/absent": "file does not exist", "testdata": "Chart.yaml file is missing"} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, "helm: Chart: \""+dir+"\"") || !strings.Contains(got, want) {
					t.Errorf("%s: %s", dir, got)
				}
			}()
			helm.Chart("shop.example.com", files, dir)
		}()
	}
}

// The API server accepts the objects, and all that the component reads of them.
func TestServer(t *testing.T) {
	apiserver.RequireKube(t)
	_, api := apiserver.Start(apiserver.Scheme(), nil)
	ns := apiserver.Namespace(t, api)
	objects, err := helm.Chart("shop.example.com", files, "testdata/shop").Generate(t.Context(), ns, "books", &ShopSpec{Size: 3, Migration: true})
	if err != nil || len(objects) != 3 {
		t.Fatal(len(objects), err)
	}
	for _, obj := range objects {
		if obj.GetObjectKind().GroupVersionKind().Kind == "ConfigMap" {
			obj.SetNamespace(ns)
		}
		if err := api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(obj.(*unstructured.Unstructured)), client.FieldOwner("test"), client.ForceOwnership); err != nil {
			t.Errorf("%s: %v", obj.GetName(), err)
		}
	}
}
