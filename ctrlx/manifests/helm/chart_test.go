package helm_test

import (
	"fmt"
	"io/fs"
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
	letters := map[string]any{} // so many that chance does not sort them
	for c := 'a'; c <= 'p'; c++ {
		letters[string(c)] = strings.ToUpper(string(c))
	}
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
		"Dotted":      {"a file keeps the dot of its name", head + `data: {k: {{ .Files.Get ".helmignore" | quote }}}`, nil, []string{"map[k:ignored.yaml\nold/\n]"}, ""},
		"Nothing":     {"a chart may make no objects", "{{ if false }}" + head + "{{ end }}", nil, nil, ""},
		"Dependency":  {"an enabled chart of the chart", "", map[string]any{"sub": map[string]any{"enabled": true}}, []string{"map[k:sub]"}, ""},
		"Random":      {"another value in each pass", head + `data: {k: {{ randAlphaNum 3 }}}`, nil, nil, "randAlphaNum may have another result in each pass"},
		"Unused":      {"a function that is not called", head + `data: {k: {{ if .Values.absent }}{{ randAlphaNum 3 }}{{ else }}v{{ end }}}`, nil, []string{"map[k:v]"}, ""},
		"Sorted":      {"a map has no order", head + `data: {k: {{ concat (keys .Values.m .Values.a) (values .Values.m) | join "" | quote }}}`, map[string]any{"m": letters}, []string{"map[k:abcdefghijklmnopbcABCDEFGHIJKLMNOP]"}, ""},
		"NoKeys":      {"a list, as that of Helm", head + `data: {k: {{ print (keys (dict) | toJson) (values (dict) | toJson) | quote }}}`, nil, []string{"map[k:[][]]"}, ""},
		"Fail":        {"the message of the chart", `{{ fail "give a size" }}`, nil, nil, "give a size"},
		"NoKind":      {"no object", "apiVersion: v1\n", nil, nil, "c/templates/a.yaml: document 1: it has no apiVersion or no kind"},
		"Schema":      {"the engine reads no other type", head, map[string]any{"sub": 3}, nil, "sub"},
		"Test":        {"a test is no part of a release", hook("helm.sh/hook: test"), nil, nil, ""},
		"Rollback":    {"a component rolls nothing back", hook("helm.sh/hook: pre-rollback"), nil, nil, ""},
		"Before":      {"before all others, in each version", hook("helm.sh/hook: pre-upgrade, pre-install,pre-rollback", `helm.sh/hook-weight: "-5"`), nil, []string{"map[] apply-order=-10005 reconcile-policy=OnObjectOrComponentChange update-policy=Recreate"}, ""},
		"Needed":      {"the last hook before the others needs it", hook("helm.sh/hook: pre-install,pre-upgrade", "helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded"), nil, []string{"map[] apply-order=-10000 purge-order=-1 reconcile-policy=OnObjectOrComponentChange update-policy=Recreate"}, ""},
		"Last":        {"the heaviest hook before the others", hook("helm.sh/hook: pre-install", `helm.sh/hook-weight: "9999"`, "helm.sh/hook-delete-policy: hook-succeeded"), nil, []string{"map[] apply-order=-1 purge-order=-1 reconcile-policy=Once"}, ""},
		"First":       {"the lightest hook after the others", hook("helm.sh/hook: post-install,post-upgrade", `helm.sh/hook-weight: "-9999"`, "helm.sh/hook-delete-policy: hook-succeeded"), nil, []string{"map[] apply-order=1 purge-order=20000 reconcile-policy=OnObjectOrComponentChange"}, ""},
		"Always":      {"the hooks after the others need it, too", hook("helm.sh/hook: pre-install,pre-upgrade,post-install,post-upgrade", "helm.sh/hook-delete-policy: hook-succeeded"), nil, []string{"map[] apply-order=-10000 purge-order=20000 reconcile-policy=OnObjectOrComponentChange"}, ""},
		"Once":        {"only the first time", hook("helm.sh/hook: post-install", "helm.sh/hook-delete-policy: hook-succeeded,hook-failed"), nil, []string{"map[] apply-order=10000 purge-order=20000 reconcile-policy=Once"}, ""},
		"Own":         {"an annotation of the chart counts", hook("helm.sh/hook: pre-install", `shop.example.com/apply-order: "-1"`), nil, []string{"map[] apply-order=-1 reconcile-policy=Once update-policy=Recreate"}, ""},
		"CRD":         {"an old hook", hook("helm.sh/hook: crd-install"), nil, []string{"map[]"}, ""},
		"Definition":  {"its deletion would delete all its instances", strings.Replace(hook("helm.sh/hook: pre-install,pre-upgrade", "helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded"), "ConfigMap", "CustomResourceDefinition", 1), nil, []string{"map[] apply-order=-10000 reconcile-policy=OnObjectOrComponentChange"}, ""},
		"Delete":      {"it would not run", hook("helm.sh/hook: pre-delete"), nil, nil, `ConfigMap a: helm.sh/hook is "pre-delete": use a hook of the component`},
		"UpgradeOnly": {"nothing says that it is an upgrade", hook("helm.sh/hook: pre-upgrade"), nil, nil, "use a hook of the component"},
		"Both":        {"an object has one place", hook("helm.sh/hook: pre-install,post-install"), nil, nil, "use a hook of the component"},
		"Weight":      {"no number", hook("helm.sh/hook: pre-install", "helm.sh/hook-weight: heavy"), nil, nil, `helm.sh/hook-weight is "heavy"`},
		"Heavy":       {"the order of the other objects", hook("helm.sh/hook: pre-install", `helm.sh/hook-weight: "10000"`), nil, nil, "it must be a whole number from -9999 to 9999"},
		"Light":       {"the order of the other objects", hook("helm.sh/hook: post-install", `helm.sh/hook-weight: "-10000"`), nil, nil, "it must be a whole number from -9999 to 9999"},
		"Keep":        {"it stays when the release is deleted", hook("helm.sh/resource-policy: keep"), nil, []string{"map[] delete-policy=Orphan"}, ""},
		"Kept":        {"as Helm reads it", hook(`helm.sh/resource-policy: " Keep"`, "helm.sh/hook: crd-install"), nil, []string{"map[] delete-policy=Orphan"}, ""},
		"KeepOwn":     {"an annotation of the chart counts", hook("helm.sh/resource-policy: keep", "shop.example.com/delete-policy: OrphanOnApply"), nil, []string{"map[] delete-policy=OrphanOnApply"}, ""},
		"Unkept":      {"no policy of Helm", hook("helm.sh/resource-policy: lose"), nil, []string{"map[]"}, ""},
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

// A function whose result may change is refused, also by the name that Helm
// keeps for old charts.
func TestRefused(t *testing.T) {
	for name := range strings.FieldsSeq(`now ago date dateInZone date_in_zone htmlDate htmlDateInZone durationRound toDate mustToDate
		lookup getHostByName shuffle uuidv4 bcrypt htpasswd encryptAES genPrivateKey
		randAlpha randAlphaNum randAscii randBytes randInt randNumeric
		genCA genCAWithKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey`) {
		_, err := helm.Chart("shop.example.com", chart("{{ "+name+" }}"), ".").Generate(t.Context(), "default", "books", nil)
		if err == nil || !strings.Contains(err.Error(), name+" may have another result in each pass") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A folder without a valid chart is a mistake of the program, and so is a schema
// that Helm would download.
func TestNoChart(t *testing.T) {
	schema := func(file, text string) fs.FS {
		files := chart("")
		files[file] = &fstest.MapFile{Data: []byte(text)}
		return files
	}
	cases := map[string]struct {
		reason string
		fsys   fs.FS
		dir    string
		want   string // empty: it is valid
	}{
		"Absent":     {"no folder", files, "testdata/absent", "file does not exist"},
		"NoChart":    {"no chart", files, "testdata", "Chart.yaml file is missing"},
		"NoRules":    {"a .helmignore that cannot be read", fstest.MapFS{".helmignore/a": {}}, ".", "read .helmignore: "},
		"Server":     {"a schema of a server", schema("values.schema.json", `{"properties": {"a": {"$ref": "https://schema.invalid/a.json"}}}`), ".", "c: values.schema.json: failing loading \"https://schema.invalid/a.json\""},
		"File":       {"a file of the operator", schema("values.schema.json", `{"$ref": "file:///etc/a.json"}`), ".", "file:///etc/a.json"},
		"Neighbor":   {"Helm finds no file of the chart", schema("values.schema.json", `{"$ref": "a.json"}`), ".", "file:///a.json"},
		"Base":       {"an address in two parts", schema("values.schema.json", `{"$id": "https://schema.invalid/b/", "$ref": "a.json"}`), ".", "https://schema.invalid/b/a.json"},
		"Dialect":    {"the schema of the schema", schema("values.schema.json", `{"$schema": "http://schema.invalid/a.json"}`), ".", "http://schema.invalid/a.json"},
		"Dependency": {"the schema of a chart that is not enabled", schema("charts/sub/values.schema.json", `{"$ref": "http://schema.invalid/a.json"}`), ".", "sub: values.schema.json: "},
		"NoJSON":     {"no schema", schema("values.schema.json", "{"), ".", "c: values.schema.json: "},
		"NoSchema":   {"no schema", schema("values.schema.json", `{"type": 1}`), ".", "c: values.schema.json: "},
		"Inside":     {"a schema that has all its parts", schema("values.schema.json", `{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$ref": "#/definitions/a"}, "b": {"$ref": "http://schema.invalid/b.json"}}, "definitions": {"a": {}, "b": {"$id": "http://schema.invalid/b.json"}}}`), ".", ""},
	}
	for name, tc := range cases {
		func() {
			defer func() {
				v := recover()
				if got := fmt.Sprint(v); (v != nil) != (tc.want != "") || v != nil && !strings.Contains(got, "helm: Chart: \""+tc.dir+"\": ") || !strings.Contains(got, tc.want) {
					t.Errorf("%s: %s: %s", name, tc.reason, got)
				}
			}()
			helm.Chart("shop.example.com", tc.fsys, tc.dir)
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
