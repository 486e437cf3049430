package manifests_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-go/windlass/ctrlx/manifests"
)

// Templates make objects, or an error that names the file and the cause.
func TestTemplates(t *testing.T) {
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	parameters := map[string]any{"none": "", "labels": map[string]any{"a": "x: y"}, "text": "l1\nl2", "n": 3, "evil": "x\"}\nkind: Pod\n---\n"}
	cases := map[string]struct {
		reason string
		file   string
		want   []map[string]any // the data of the objects
		err    string
	}{
		"Functions": {"each function", head + `data: {j: {{ toJson .Parameters.labels | quote }}, q: {{ quote .Parameters.n }}, b: {{ b64enc "x" }}, d: {{ default "z" .Parameters.none }}, r: {{ required "r" .Parameters.text | toJson }}, yaml: {{ toYaml .Parameters.labels | quote }}}
`, []map[string]any{{"j": `{"a":"x: y"}`, "q": "3", "b": "eA==", "d": "z", "r": "l1\nl2", "yaml": "a: 'x: y'"}}, ""},
		"Indent":      {"lines of a block", head + "data:\n  k: |{{ nindent 4 .Parameters.text }}\n  l: |\n{{ indent 4 .Parameters.text }}\n", []map[string]any{{"k": "l1\nl2\n", "l": "l1\nl2\n"}}, ""},
		"Numbers":     {"a whole number stays one", head + "data: {k: 3}\n", []map[string]any{{"k": int64(3)}}, ""},
		"Empty":       {"documents without content are left out", "---\n# none\n---\n" + head + "data: {k: v}\n---\n", []map[string]any{{"k": "v"}}, ""},
		"Shared":      {"a template of another file", head + `data: {{ template "shared" . }}` + "\n", []map[string]any{{"k": "shop"}}, ""},
		"Quoted":      {"a text of a user adds no field", head + "data: {k: {{ quote .Parameters.evil }}, l: {{ toJson .Parameters.evil }}}\n", []map[string]any{{"k": "x\"}\nkind: Pod\n---\n", "l": "x\"}\nkind: Pod\n---\n"}}, ""},
		"List":        {"each object of a list", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, data: {k: v}}\n- {apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: ConfigMap, data: {k: w}}]}\n---\n" + head + "data: {k: x}\n", []map[string]any{{"k": "v"}, {"k": "w"}, {"k": "x"}}, ""},
		"EmptyList":   {"a list may be empty", "apiVersion: v1\nkind: List\nitems: []\n", nil, ""},
		"ListLike":    {"an object with a name is no list", "apiVersion: a.example.com/v1\nkind: AllowList\nmetadata: {name: a}\nitems: [{n: 1}]\ndata: {k: v}\n", []map[string]any{{"k": "v"}}, ""},
		"ListNoKind":  {"an item has no kind", "apiVersion: v1\nkind: List\nitems: [{data: {k: v}}]\n", nil, "document 1: item 1: it has no apiVersion or no kind"},
		"ListText":    {"an item is no object", "apiVersion: v1\nkind: List\nitems: [a]\n", nil, "document 1: item 1: it is no object"},
		"MissingKey":  {"no empty text", head + "data: {k: {{ .Parameters.absent }}}\n", nil, `a.yaml:4:`},
		"MissingName": {"no empty text", head + "data: {k: {{ .Absent }}}\n", nil, "can't evaluate field Absent"},
		"Required":    {"the message of the template", head + `data: {k: {{ required "give a text" .Parameters.none }}}`, nil, "give a text"},
		"NoKind":      {"no object", "apiVersion: v1\n", nil, "template: a.yaml: document 1: it has no apiVersion or no kind"},
		"NoYAML":      {"no YAML", "{{ .Name }: ", nil, "panics"},
		"TwoKeys":     {"the second value would win", head + "data: {k: v, k: w}\n", nil, `key "k" already set in map`},
		"Indents":     {"an absurd indent", head + "data: {k: {{ indent 1000000 .Name }}}\n", nil, "indent: 1000000 is not between 0 and 1000"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if v := recover(); (v != nil) != (tc.err == "panics") {
					t.Errorf("%s: panic %v", tc.reason, v)
				}
			}()
			g := manifests.Templates(fstest.MapFS{"a.yaml": {Data: []byte(tc.file)}, "_shared.yaml": {Data: []byte(`{{ define "shared" }}{k: {{ .Name }}}{{ end }}`)}})
			objects, err := g.Generate(t.Context(), "default", "shop", parameters)
			if tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) || tc.err == "" && err != nil {
				t.Fatalf("%s: %v, want %q", tc.reason, err, tc.err)
			}
			var got []map[string]any
			for _, obj := range objects {
				got = append(got, obj.(*unstructured.Unstructured).Object["data"].(map[string]any))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
