package manifests

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Templates returns a generator of YAML documents that are Go templates
// (text/template). The patterns select files of fsys as fs.Glob does; without
// patterns, it is *.yaml. The files run in the order of their names. A file
// whose name begins with _ only defines templates for other files. A document
// without content is left out.
//
// The data of a template has these fields:
//
//	.Namespace, .Name  of the component
//	.Parameters        the result of GetSpec, as in {{ .Parameters.Replicas }}
//
// A missing field is an error, and so is a missing key of a map, as in
// {{ .Parameters.Labels.app }}. The function index of text/template returns the
// zero value for a missing key. These functions come on top of those of
// text/template:
//
//	toYaml, toJson  a value as a text
//	quote           a text in double quotes, which YAML reads as a string
//	indent          each line after n spaces; nindent starts with a new line
//	b64enc          a text in base64
//	default         the second argument, or the first one if that is empty (as in if)
//	required        the second argument, or an error with the first one if it is empty
//
// A template pastes texts into YAML. A parameter that a user sets may have
// lines and quotes. So it may add fields and whole objects with the rights of
// the operator, such as a ClusterRoleBinding. Give each text that is not fixed
// to quote or toJson:
//
//	image: {{ quote .Parameters.Image }}
//	labels: {{ toJson .Parameters.Labels }}
//	name: {{ printf "%s-server" .Name | quote }}
//
// Limit the result with component.WithOwnNamespaceOnly, and the rights of the
// operator or of the client (ctrlx.WithImpersonation).
//
// Templates panics if no file matches, or a file cannot be read or parsed.
// Fixed files are part of the program.
func Templates(fsys fs.FS, patterns ...string) Generator {
	if len(patterns) == 0 {
		patterns = []string{"*.yaml"}
	}
	if fsys == nil {
		panic("manifests: Templates: the file system is nil")
	}
	must := func(what string, err error) {
		if err != nil {
			panic(fmt.Sprintf("manifests: Templates: %q: %v", what, err))
		}
	}
	g := &templates{set: new(template.Template).Option("missingkey=error").Funcs(functions)}
	for _, pattern := range patterns {
		names, err := fs.Glob(fsys, pattern)
		if err == nil && len(names) == 0 {
			err = errors.New("no file matches")
		}
		must(pattern, err)
		for _, name := range names {
			if slices.Contains(g.names, name) {
				continue
			}
			text, err := fs.ReadFile(fsys, name)
			must(name, err)
			_, err = g.set.New(name).Parse(string(text))
			must(name, err)
			g.names = append(g.names, name)
		}
	}
	slices.Sort(g.names)
	return g
}

type templates struct {
	set   *template.Template
	names []string
}

// Generate implements [Generator]. An error names the file.
func (g *templates) Generate(
	ctx context.Context, namespace, name string, parameters any,
) (all []client.Object, err error) {
	data := struct {
		Namespace, Name string
		Parameters      any
	}{namespace, name, parameters}
	all = []client.Object{} // templates without objects are no mistake
	for _, file := range g.names {
		if strings.HasPrefix(path.Base(file), "_") {
			continue
		}
		var text bytes.Buffer
		if err := g.set.ExecuteTemplate(&text, file, data); err != nil {
			return nil, err // it names the file and the line
		}
		objects, err := ParseYAML(&text)
		if err != nil {
			return nil, fmt.Errorf("template: %s: %w", file, err)
		}
		all = append(all, objects...)
	}
	return all, ctx.Err()
}

// functions are the functions of templates.
var functions = template.FuncMap{
	"toYaml": func(v any) (string, error) {
		text, err := yaml.Marshal(v)
		return strings.TrimSuffix(string(text), "\n"), err
	},
	"toJson":  toJSON,
	"quote":   quote,
	"indent":  indent,
	"nindent": func(n int, text string) (string, error) { text, err := indent(n, text); return "\n" + text, err },
	"b64enc":  func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
	"default": func(otherwise, v any) any {
		if ok, _ := template.IsTrue(v); ok {
			return v
		}
		return otherwise
	},
	"required": func(message string, v any) (any, error) {
		if ok, _ := template.IsTrue(v); ok {
			return v, nil
		}
		return nil, errors.New(message)
	},
}

// quote returns a value as a text in quotes. A pointer stands for its value: text/template hands it over as it is.
func quote(v any) (string, error) {
	value := reflect.ValueOf(v)
	for value.Kind() == reflect.Pointer {
		value = value.Elem()
	}
	if !value.IsValid() {
		return "", errors.New("the value is nil: give it a default")
	}
	at := reflect.New(value.Type()) // as resource.Quantity has String
	at.Elem().Set(value)
	if s, ok := at.Interface().(fmt.Stringer); ok {
		return toJSON(s.String())
	}
	return toJSON(fmt.Sprint(value.Interface()))
}

// unprintable matches the characters that YAML refuses or takes for a line break, and that JSON leaves as they are.
var unprintable = regexp.MustCompile(`[\x{7f}-\x{9f}\x{fffe}\x{ffff}]`)

func toJSON(v any) (string, error) {
	text, err := json.Marshal(v)
	return unprintable.ReplaceAllStringFunc(string(text), func(s string) string { return fmt.Sprintf(`\u%04x`, []rune(s)[0]) }), err
}

// indent puts n spaces before each line.
func indent(n int, text string) (string, error) {
	const most = 1000
	if n < 0 || n > most {
		return "", fmt.Errorf("indent: %d is not between 0 and %d", n, most)
	}
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad), nil
}
