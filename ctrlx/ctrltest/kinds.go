package ctrltest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/memoryserver"
)

// builtIn are the groups whose kinds are served if their version is v1.
var builtIn = []string{"", "apps", "batch", "networking.k8s.io", "rbac.authorization.k8s.io", "coordination.k8s.io", "policy"}

// inCluster are the built-in kinds without namespaces.
var inCluster = []string{"Namespace", "Node", "PersistentVolume", "ClusterRole", "ClusterRoleBinding", "IngressClass", "IPAddress", "ServiceCIDR", "CustomResourceDefinition"}

// builtInKinds returns the built-in kinds. A kind of the scheme is one that objects
// with metadata have.
func builtInKinds() []memoryserver.Kind {
	kinds := []memoryserver.Kind{
		{GroupVersionKind: extv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), Plural: "customresourcedefinitions", Cluster: true, Status: true},
		{GroupVersionKind: schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}, Plural: "events"},
	}
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		object, ok := reflect.New(of).Interface().(metav1.ObjectMetaAccessor)
		if !ok || kind.Version != "v1" || !slices.Contains(builtIn, kind.Group) {
			continue
		}
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		if kind.Kind == "Endpoints" {
			plural.Resource = "endpoints"
		}
		_, status := of.FieldByName("Status")
		k := memoryserver.Kind{GroupVersionKind: kind, Plural: plural.Resource, Status: status, Cluster: slices.Contains(inCluster, kind.Kind), Type: object}
		if kind.Kind == "Secret" {
			k.Default = encodeStrings
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// encodeStrings moves stringData of a Secret to data.
func encodeStrings(secret map[string]any) {
	texts, _, _ := unstructured.NestedStringMap(secret, "stringData")
	delete(secret, "stringData")
	for key, text := range texts {
		_ = unstructured.SetNestedField(secret, base64.StdEncoding.EncodeToString([]byte(text)), "data", key)
	}
}

// readCRDs returns the definitions in files and folders, and their kinds.
func readCRDs(paths []string) (kinds []memoryserver.Kind, definitions []*extv1.CustomResourceDefinition, err error) {
	for _, path := range paths {
		files := envtest.CRDInstallOptions{ErrorIfPathMissing: true}
		err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files.Paths = append(files.Paths, file)
			}
			return err
		})
		if err == nil {
			err = envtest.ReadCRDFiles(&files)
		}
		if err == nil && len(files.CRDs) == 0 {
			err = errors.New("no CustomResourceDefinition")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("CRDs in %s: %w", path, err)
		}
		definitions = append(definitions, files.CRDs...)
	}
	slices.SortFunc(definitions, func(a, b *extv1.CustomResourceDefinition) int { return strings.Compare(a.Name, b.Name) })
	for _, crd := range definitions {
		kind, err := kindOf(crd)
		if err != nil {
			return nil, nil, fmt.Errorf("CRDs: %w", err)
		}
		kinds = append(kinds, kind)
	}
	return kinds, definitions, nil
}

// kindOf returns the kind of a definition, in its storage version. It sets the
// conditions of a definition that is served.
func kindOf(crd *extv1.CustomResourceDefinition) (memoryserver.Kind, error) {
	for _, v := range crd.Spec.Versions {
		if !v.Storage {
			continue
		}
		crd.Status = extv1.CustomResourceDefinitionStatus{
			AcceptedNames: crd.Spec.Names, StoredVersions: []string{v.Name},
			Conditions: []extv1.CustomResourceDefinitionCondition{{Type: extv1.NamesAccepted, Status: extv1.ConditionTrue}, {Type: extv1.Established, Status: extv1.ConditionTrue}},
		}
		kind := memoryserver.Kind{
			GroupVersionKind: schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind},
			Plural:           crd.Spec.Names.Plural,
			Status:           v.Subresources != nil && v.Subresources.Status != nil,
			Cluster:          crd.Spec.Scope == extv1.ClusterScoped,
		}
		if v.Schema != nil {
			kind.Default = func(object map[string]any) { setDefaults(object, v.Schema.OpenAPIV3Schema) }
		}
		return kind, nil
	}
	return memoryserver.Kind{}, fmt.Errorf("%s has no storage version", crd.Name)
}

// setDefaults adds the defaults of a schema to a value.
func setDefaults(value any, s *extv1.JSONSchemaProps) {
	switch v := value.(type) {
	case map[string]any:
		for name, p := range s.Properties {
			if _, has := v[name]; !has && p.Default != nil {
				var d any
				if utiljson.Unmarshal(p.Default.Raw, &d) == nil {
					v[name] = d
				}
			}
			if inner, has := v[name]; has {
				setDefaults(inner, &p)
			}
		}
		if a := s.AdditionalProperties; a != nil && a.Schema != nil {
			for _, inner := range v {
				setDefaults(inner, a.Schema)
			}
		}
	case []any:
		if s.Items != nil && s.Items.Schema != nil {
			for _, inner := range v {
				setDefaults(inner, s.Items.Schema)
			}
		}
	}
}
