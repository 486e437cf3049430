package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-go/windlass/ctrlx/manifests"
)

// Templates make objects, or an error that names the file and the cause.
func TestTemplates(t *testing.T) {
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	parameters := map[string]any{"none": "", "labels": map[string]any{"a": "x: y"}, "text": "l1\nl2", "n": 3, "func": func() {}, "image": new("nginx"), "size": resource.MustParse("1Gi"), "nil": (*string)(nil), "odd": "a\u0085b\u007f\ufffe\uffff", "evil": "x\"}\nkind: Pod\n---\n"}
	cases := map[string]struct {
		reason string
		file   string
		want   []map[string]any // the data of the objects
		err    string
	}{
		"Otherwise": {"a value that is not empty", head + `data: {k: {{ default "z" .Parameters.n | quote }}}` + "\n", []map[string]any{{"k": "3"}}, ""},
		"Functions": {"each function", head + `data: {j: {{ toJson .Parameters.labels | quote }}, q: {{ quote .Parameters.n }}, b: {{ b64enc "x" }}, d: {{ default "z" .Parameters.none }}, r: {{ required "r" .Parameters.text | toJson }}, yaml: {{ toYaml .Parameters.labels | quote }}}
`, []map[string]any{{"j": `{"a":"x: y"}`, "q": "3", "b": "eA==", "d": "z", "r": "l1\nl2", "yaml": "a: 'x: y'"}}, ""},
		"Pointer":     {"it stands for its value, and not for an address that each pass changes", head + "data: {k: {{ quote .Parameters.image }}, l: {{ quote .Parameters.size }}}\n", []map[string]any{{"k": "nginx", "l": "1Gi"}}, ""},
		"Nil":         {"it has no text", head + "data: {k: {{ quote .Parameters.nil }}}\n", nil, "the value is nil: give it a default"},
		"Controls":    {"characters that YAML takes for the end of a line, or refuses", head + "data: {k: {{ quote .Parameters.odd }}}\n", []map[string]any{{"k": "a\u0085b\u007f\ufffe\uffff"}}, ""},
		"Indent":      {"lines of a block", head + "data:\n  k: |{{ nindent 4 .Parameters.text }}\n  l: |\n{{ indent 4 .Parameters.text }}\n", []map[string]any{{"k": "l1\nl2\n", "l": "l1\nl2\n"}}, ""},
		"Numbers":     {"a whole number stays one", head + "data: {k: 3}\n", []map[string]any{{"k": int64(3)}}, ""},
		"Empty":       {"documents without content are left out", "---\n# none\n---\n" + head + "data: {k: v}\n---\n# none\n", []map[string]any{{"k": "v"}}, ""},
		"Shared":      {"a template of another file", head + `data: {{ template "shared" . }}` + "\n", []map[string]any{{"k": "shop"}}, ""},
		"Quoted":      {"a text of a user adds no field", head + "data: {k: {{ quote .Parameters.evil }}, l: {{ toJson .Parameters.evil }}}\n", []map[string]any{{"k": "x\"}\nkind: Pod\n---\n", "l": "x\"}\nkind: Pod\n---\n"}}, ""},
		"List":        {"each object of a list", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, data: {k: v}}\n- {apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: ConfigMap, data: {k: w}}]}\n---\n" + head + "data: {k: x}\n", []map[string]any{{"k": "v"}, {"k": "w"}, {"k": "x"}}, ""},
		"NullList":    {"a list without items, as some programs write it", "apiVersion: v1\nkind: List\nitems:\n", nil, ""},
		"NoItems":     {"an object whose kind ends in List", "apiVersion: a.example.com/v1\nkind: AllowList\ndata: {k: v}\n", []map[string]any{{"k": "v"}}, ""},
		"TextItems":   {"items that are no list", "apiVersion: a.example.com/v1\nkind: AllowList\nitems: all\ndata: {k: v}\n", []map[string]any{{"k": "v"}}, ""},
		"OtherItems":  {"a kind that is no list has items", "apiVersion: a.example.com/v1\nkind: Basket\nitems: [{n: 1}]\ndata: {k: v}\n", []map[string]any{{"k": "v"}}, ""},
		"EmptyList":   {"a list may be empty", "apiVersion: v1\nkind: List\nitems: []\n", nil, ""},
		"ListLike":    {"an object with a name is no list", "apiVersion: a.example.com/v1\nkind: AllowList\nmetadata: {name: a}\nitems: [{n: 1}]\ndata: {k: v}\n", []map[string]any{{"k": "v"}}, ""},
		"ListNoKind":  {"an item has no kind", "apiVersion: v1\nkind: List\nitems: [{data: {k: v}}]\n", nil, "document 1: item 1: it has no apiVersion or no kind"},
		"ListText":    {"an item is no object", "apiVersion: v1\nkind: List\nitems: [a]\n", nil, "document 1: item 1: it is no object"},
		"MissingKey":  {"no empty text", head + "data: {k: {{ .Parameters.absent }}}\n", nil, `a.yaml:4:`},
		"MissingName": {"no empty text", head + "data: {k: {{ .Absent }}}\n", nil, "can't evaluate field Absent"},
		"Required":    {"the message of the template", head + `data: {k: {{ required "give a text" .Parameters.none }}}`, nil, "give a text"},
		"NoKind":      {"no object", "apiVersion: v1\n", nil, "template: a.yaml: document 1: it has no apiVersion or no kind"},
		"NoVersion":   {"no object", "kind: ConfigMap\n", nil, "it has no apiVersion or no kind"},
		"Scalar":      {"a text is no object", "text\n", nil, "document 1: json: cannot unmarshal string"},
		"NoText":      {"a function is no YAML", head + "data: {k: {{ toYaml .Parameters.func }}}\n", nil, "unsupported type: func()"},
		"NoJSON":      {"a function is no JSON", head + "data: {k: {{ toJson .Parameters.func }}}\n", nil, "unsupported type: func()"},
		"TwoKeys":     {"the second value would win", head + "data: {k: v, k: w}\n", nil, `key "k" already set in map`},
		"Marked":      {"an end mark before a separator", head + "data: {k: v}\n...\n# none\n--- # next\n" + head + "data: {k: w}\n...\n", []map[string]any{{"k": "v"}, {"k": "w"}}, ""},
		"EndMark":     {"the second object would be lost", head + "...\n" + head, nil, "document 1: another text follows the document: separate them by a line ---"},
		"JSONLines":   {"the second object would be lost", `{"apiVersion": "v1", "kind": "ConfigMap"}` + "\n" + `{"apiVersion": "v1", "kind": "ConfigMap"}`, nil, "document 1: another text follows"},
		"Dedent":      {"the second object would be lost", "---\n  apiVersion: v1\n  kind: ConfigMap\n" + head, nil, "document 1: another text follows"},
		"SameLine":    {"a separator has its own line", head + "--- {apiVersion: v1, kind: ConfigMap}\n", nil, "document 1: invalid Yaml document separator"},
		"Indents":     {"the bounds", head + `data: {k: {{ indent 0 .Name }}, l: {{ indent 1000 .Name }}}` + "\n", []map[string]any{{"k": "shop", "l": "shop"}}, ""},
		"MoreIndent":  {"an absurd indent", head + "data: {k: {{ nindent 1001 .Name }}}\n", nil, "indent: 1001 is not between 0 and 1000"},
		"LessIndent":  {"strings.Repeat would panic", head + "data: {k: {{ indent -1 .Name }}}\n", nil, "indent: -1 is not between 0 and 1000"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := manifests.Templates(fstest.MapFS{"a.yaml": {Data: []byte(tc.file)}, "_shared.yaml": {Data: []byte(`{{ define "shared" }}{k: {{ .Name }}}{{ end }}`)}})
			objects, err := g.Generate(t.Context(), "default", "shop", parameters)
			if tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) || tc.err == "" && err != nil {
				t.Fatalf("%s: %v, want %q", tc.reason, err, tc.err)
			}
			if objects == nil && err == nil {
				t.Errorf("%s: the result is nil, which a component refuses", tc.reason)
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

// globs is a file system whose Glob fails.
type globs struct{ fstest.MapFS }

func (globs) Glob(string) ([]string, error) { return []string{"a.yaml"}, errors.New("no disk") }

// The patterns select files. Each file runs once, in the order of the names. A mistake
// panics.
func TestFiles(t *testing.T) {
	file := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n")}
	}
	files := fstest.MapFS{
		"b.yaml": file("b"), "a.yml": file("a"), "d/_c.yaml": file("c"), "d/d_.yaml": file("d"), "e/e.yaml": {Data: []byte("{{")}, "f/f.yaml/g": file("g"),
	}
	cases := map[string]struct {
		reason   string
		fsys     fs.FS
		patterns []string
		want     string // the names of the objects, or a part of the panic
	}{
		"Default":   {"without a pattern, the files *.yaml", files, nil, "b"},
		"Order":     {"not that of the patterns, and no file twice", files, []string{"d/*", "a.yml", "*.y*ml"}, "a b d"},
		"Folder":    {"a file that begins with _ only has definitions, also in a folder", files, []string{"d/*"}, "d"},
		"NoFiles":   {"a nil file system", nil, nil, "manifests: Templates: the file system is nil"},
		"NoMatch":   {"a pattern without a file", files, []string{"a.yml", "*.txt"}, `manifests: Templates: "*.txt": no file matches`},
		"BadGlob":   {"a pattern that is not complete", files, []string{"["}, `"[": syntax error in pattern`},
		"GlobFails": {"an error of the file system", globs{files}, nil, `"*.yaml": no disk`},
		"BadFile":   {"a template that is not complete", files, []string{"e/*"}, `"e/e.yaml": template: e/e.yaml:1`},
		"NoFile":    {"a folder is no file", files, []string{"f/*"}, `"f/f.yaml": read f/f.yaml`},
	}
	for name, tc := range cases {
		got := func() (text string) {
			defer func() {
				if v := recover(); v != nil {
					text = fmt.Sprint(v)
				}
			}()
			objects, err := manifests.Templates(tc.fsys, tc.patterns...).Generate(t.Context(), "default", "shop", nil)
			if err != nil {
				return err.Error()
			}
			var names []string
			for _, obj := range objects {
				names = append(names, obj.GetName())
			}
			return strings.Join(names, " ")
		}()
		if strings.Contains(tc.want, ":") && strings.Contains(got, tc.want) {
			continue
		}
		if got != tc.want {
			t.Errorf("%s: %s: got %q, want %q", name, tc.reason, got, tc.want)
		}
	}
}

// A generator returns an error of its input, or of its context.
func TestGenerateFails(t *testing.T) {
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(nil)
	_, canceled := manifests.Templates(fstest.MapFS{"_a.yaml": {}}).Generate(ended, "default", "shop", nil)
	_, unread := manifests.ParseYAML(iotest.ErrReader(errors.New("no pipe")))
	_, other := manifests.GeneratorFunc[*ShopSpec](nil).Generate(t.Context(), "default", "shop", ShopSpec{})
	if all, err := manifests.ParseYAML(strings.NewReader("")); all == nil || err != nil {
		t.Errorf("an empty text: %v, %v; a component refuses nil", all, err)
	}
	for want, got := range map[string]error{
		"context canceled": canceled, "document 1: no pipe": unread,
		"the generator takes a *manifests_test.ShopSpec, and GetSpec returns a manifests_test.ShopSpec": other,
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}
