package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	yamlv2 "go.yaml.in/yaml/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// ParseYAML returns the objects of YAML documents, for a generator that gets a
// text from other software, such as jsonnet. A document without content is left
// out, and a list is replaced by its items. A line --- separates documents. A key
// that occurs twice is an error, and so are a document without a kind and another
// text after a document, such as lines of JSON. The result is not nil, unless
// there is an error.
func ParseYAML(text io.Reader) (all []client.Object, err error) {
	r := utilyaml.NewYAMLReader(bufio.NewReader(text))
	all = []client.Object{}
	for n := 1; ; n++ {
		document, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err == nil {
			all, err = parsed(all, document)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
	}
}

// parsed adds the objects of a document to all.
func parsed(all []client.Object, text []byte) ([]client.Object, error) {
	document, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	// YAMLToJSONStrict leaves out what follows the first document, and a component
	// would delete the objects that it does not see.
	var ignored struct{}
	rest := yamlv2.NewDecoder(bytes.NewReader(text))
	_ = rest.Decode(&ignored)
	if err := rest.Decode(&ignored); !errors.Is(err, io.EOF) {
		return nil, errors.New("another text follows the document: separate them by a line ---")
	}
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(document, &u.Object); err != nil {
		return nil, err
	}
	if len(u.Object) == 0 {
		return all, nil
	}
	return expanded(all, u)
}

// expanded adds an object to all. Of a list, as kubectl and charts make them, it
// adds the items. An object with a name is no list, whatever its kind.
func expanded(all []client.Object, u *unstructured.Unstructured) ([]client.Object, error) {
	if u.GetKind() == "" || u.GetAPIVersion() == "" {
		return nil, errors.New("it has no apiVersion or no kind")
	}
	value, isList := u.Object["items"]
	items, _ := value.([]any)
	isList = isList && (items != nil || value == nil)
	if !isList || !strings.HasSuffix(u.GetKind(), "List") || u.GetName() != "" {
		return append(all, u), nil
	}
	for n, item := range items {
		content, ok := item.(map[string]any)
		err := errors.New("it is no object")
		if ok {
			all, err = expanded(all, &unstructured.Unstructured{Object: content})
		}
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", n+1, err)
		}
	}
	return all, nil
}
