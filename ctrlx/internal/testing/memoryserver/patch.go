package memoryserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"
)

// written returns the object that a PUT (how is empty) or a PATCH makes of was.
func (c *call) written(how types.PatchType, was *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if how == "" {
		o, err := c.decoded()
		if err != nil {
			return nil, err
		}
		return c.managed(was, o)
	}
	if how == types.ApplyPatchType {
		return c.applied(was)
	}
	old, err := json.Marshal(was.Object)
	if err != nil {
		return nil, err
	}
	var now []byte
	switch {
	case how == types.MergePatchType:
		now, err = jsonpatch.MergePatch(old, c.body)
	case how == types.JSONPatchType:
		var p jsonpatch.Patch
		if p, err = jsonpatch.DecodePatch(c.body); err == nil {
			now, err = p.Apply(old)
		}
	case how == types.StrategicMergePatchType && c.at.Type != nil:
		now, err = strategicpatch.StrategicMergePatch(old, c.body, c.at.Type)
	default:
		return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", c.at.resource(), c.at.Name, string(how)+" is not served", 0, false)
	}
	o := &unstructured.Unstructured{}
	if err == nil {
		err = utiljson.Unmarshal(now, &o.Object)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return c.managed(was, o)
}

// manager returns the manager of the fields of a kind.
func (c *call) manager() (*managedfields.FieldManager, error) {
	return managedfields.NewDefaultCRDFieldManager(managedfields.NewDeducedTypeConverter(), unversioned{}, unversioned{}, unversioned{}, c.at.GroupVersionKind, c.at.GroupVersion(), c.sub, nil)
}

// owner returns the name of the manager of fields in a request.
func (c *call) owner() string {
	if name := c.query.Get("fieldManager"); name != "" {
		return name
	}
	name, _, _ := strings.Cut(c.agent, " ")
	return name
}

// managed notes in now which fields the request changes.
func (c *call) managed(was, now *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if len(was.GetManagedFields()) == 0 && !c.apply[c.at.Kind] {
		now.SetManagedFields(nil) // no client applies objects of this kind
		return now, nil
	}
	m, err := c.manager()
	if err != nil {
		return nil, err
	}
	o, err := m.Update(was, now, c.owner())
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return o.(*unstructured.Unstructured), nil
}

// applied returns the object that server-side apply makes of was. nil: it does not
// exist.
func (c *call) applied(was *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(c.body, &o.Object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	o.Object = normal(o.Object).(map[string]any)
	if c.apply[c.at.Kind] = true; was == nil {
		was = &unstructured.Unstructured{Object: map[string]any{}}
		was.SetGroupVersionKind(c.at.GroupVersionKind)
		was.SetName(c.at.Name)
		was.SetNamespace(c.at.Namespace)
	}
	m, err := c.manager()
	if err != nil {
		return nil, err
	}
	now, err := m.Apply(was.DeepCopy(), o, c.owner(), c.query.Get("force") == "true")
	if err != nil {
		return nil, err // a conflict is an error of the API
	}
	return now.(*unstructured.Unstructured), nil
}

// unversioned converts, defaults and creates objects for the manager of fields.
type unversioned struct{}

func (unversioned) Default(runtime.Object) {}

func (unversioned) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	return o, nil
}

func (unversioned) Convert(_, _, _ any) error { return fmt.Errorf("kinds have one version") }

func (unversioned) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (unversioned) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
