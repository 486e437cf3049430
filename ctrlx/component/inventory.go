package component

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// Inventory lists the dependents that a component may have. It is stored before
// the first write of a dependent that it lacks. So a deletion needs no
// generator, and a dependent that the generator no longer makes is found.
type Inventory struct {
	// Items are the dependents, in the order in which the component got them.
	// +listType=atomic
	// +optional
	Items []Item `json:"items,omitempty"`
}

// Item is one dependent of an inventory.
type Item struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// DeleteOrder is the wave in which the object is deleted.
	DeleteOrder int16 `json:"deleteOrder,omitempty"`
	// DeletePolicy is the last policy of the object; empty: Delete.
	DeletePolicy dependents.DeletePolicy `json:"deletePolicy,omitempty"`
	// Manages is the type that the object defines; nil: it defines none.
	Manages *TypeInfo `json:"manages,omitempty"`
	// Rebuilt reports that only the label of the object names the component,
	// because the inventory was lost. Such an object is never deleted.
	Rebuilt bool `json:"rebuilt,omitempty"`
	// Adopted reports that this Namespace existed before the component had it in
	// its set, so that it has objects of others. Its policy is then Orphan, unless
	// the annotation of its manifest says Delete.
	Adopted bool `json:"adopted,omitempty"`
	// Purge is the digest of a manifest that was applied and ready, and is purged.
	Purge string `json:"purge,omitempty"`
	// Purged reports that the object of this digest is gone.
	Purged bool `json:"purged,omitempty"`
}

// Ref names the object.
func (i *Item) Ref() checks.Ref {
	return checks.Ref{Group: i.Group, Kind: i.Kind, Namespace: i.Namespace, Name: i.Name}
}

// equal reports whether two items have the same fields.
func (i Item) equal(other Item) bool {
	same := i.Manages == other.Manages || i.Manages != nil && other.Manages != nil && *i.Manages == *other.Manages
	i.Manages = other.Manages
	return same && i == other
}

func (i *Item) groupKind() schema.GroupKind { return schema.GroupKind{Group: i.Group, Kind: i.Kind} }

// byRef returns the indexes of the objects.
func (v *Inventory) byRef() map[checks.Ref]int {
	at := make(map[checks.Ref]int, len(v.Items))
	for i := range v.Items {
		at[v.Items[i].Ref()] = i
	}
	return at
}

// drop removes the objects of refs.
func (v *Inventory) drop(refs map[checks.Ref]bool) {
	v.Items = slices.DeleteFunc(slices.Clone(v.Items), func(i Item) bool { return refs[i.Ref()] })
}

func (v *Inventory) clone() *Inventory { return &Inventory{Items: slices.Clone(v.Items)} }

// Store is a place for inventories.
type Store interface {
	// Load returns the inventory of a component; nil: none was ever stored.
	Load(ctx context.Context, c Component) (*Inventory, error)
	// Save stores the whole inventory or nothing. An inventory that is too large
	// is an error that wraps [ErrTooLarge]. It may change the status and the
	// resource version of the component in memory.
	Save(ctx context.Context, cl client.Client, c Component, v *Inventory) error
}

// ErrTooLarge is the error of an inventory that its store refuses. Test for it
// with errors.Is.
var ErrTooLarge = errors.New("the inventory is too large")

// The largest inventory in the status of a component. An object of the API
// server may have 1.5 MB.
const (
	mostItems = 1000
	mostBytes = 200_000
)

// statusStore is the default [Store].
type statusStore struct {
	survived sync.Map // the fields of inventories that the API server has kept in this process
}

// Load implements [Store].
func (*statusStore) Load(_ context.Context, c Component) (*Inventory, error) {
	return c.GetStatus().Inventory, nil
}

// Save implements [Store]. It refuses to overwrite another version of the
// component. A field that the API server may drop is tried by dry-run first: a pass
// over an inventory without it could delete objects of others.
func (t *statusStore) Save(ctx context.Context, cl client.Client, c Component, v *Inventory) error {
	text, err := json.Marshal(v)
	switch {
	case err != nil:
		return err
	case len(v.Items) > mostItems || len(text) > mostBytes:
		return fmt.Errorf("%w: it has %d objects in %d bytes, and the status of a component takes %d objects in %d bytes: "+
			"split the component, rename its objects in steps, or give WithStore",
			ErrTooLarge, len(v.Items), len(text), mostItems, mostBytes)
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": c.GetResourceVersion(), "uid": c.GetUID()},
		// A patch with null removes nothing.
		"status": map[string]any{"inventory": map[string]any{"items": append([]Item{}, v.Items...)}},
	})
	if err != nil {
		return err
	}
	stored := &unstructured.Unstructured{}
	gvk, err := cl.GroupVersionKindFor(c)
	if err != nil {
		return err
	}
	stored.SetGroupVersionKind(gvk)
	stored.SetNamespace(c.GetNamespace())
	stored.SetName(c.GetName())
	raw := client.RawPatch("application/merge-patch+json", patch)
	fields := v.fields()
	if slices.ContainsFunc(fields, func(f string) bool { _, known := t.survived.Load(f); return !known }) {
		tried := stored.DeepCopy()
		switch err := cl.Status().Patch(ctx, tried, raw, client.DryRunAll); {
		case noDryRun(err): // the answer to the write is checked, too
		case err != nil:
			return err
		default:
			if err := complete(tried, text); err != nil {
				return fmt.Errorf("%s: %w", gvk.GroupKind(), err)
			}
		}
	}
	if err := cl.Status().Patch(ctx, stored, raw); err != nil {
		return err
	}
	if err := complete(stored, text); err != nil {
		t.survived.Clear() // the definition has changed
		return fmt.Errorf("%s: %w", gvk.GroupKind(), err)
	}
	for _, f := range fields {
		t.survived.Store(f, nil)
	}
	c.GetStatus().Inventory = v
	c.SetResourceVersion(stored.GetResourceVersion())
	return nil
}

// fields returns the names of the fields that the items have, as in manages.kind.
func (v *Inventory) fields() []string {
	names := map[string]bool{}
	var walk func(prefix string, at reflect.Value)
	walk = func(prefix string, at reflect.Value) {
		for i := range at.NumField() {
			field := at.Field(i)
			name := prefix + at.Type().Field(i).Name
			names[name] = names[name] || !field.IsZero()
			if field.Kind() == reflect.Pointer && !field.IsNil() {
				walk(name+".", field.Elem())
			}
		}
	}
	for i := range v.Items {
		walk("", reflect.ValueOf(v.Items[i]))
	}
	maps.DeleteFunc(names, func(_ string, has bool) bool { return !has })
	return slices.Collect(maps.Keys(names))
}

// complete returns an error if a component lacks a part of the inventory that
// was written to it: the API server drops fields that the definition lacks.
func complete(stored *unstructured.Unstructured, written []byte) error {
	content, _, err := unstructured.NestedMap(stored.Object, "status", "inventory")
	if err != nil {
		return err
	}
	var got *Inventory
	text, err := json.Marshal(content)
	if err == nil && content != nil {
		err = json.Unmarshal(text, &got)
	}
	if err == nil && got != nil {
		text, err = json.Marshal(got)
	}
	if err == nil && !bytes.Equal(text, written) {
		err = errors.New("the API server drops a part of status.inventory, because the CustomResourceDefinition lacks it: " +
			"generate the definition again, and apply it")
	}
	return err
}
