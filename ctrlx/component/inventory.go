package component

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/again"
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

// Store is a place for inventories. Its client is that of the manager, or the
// one that [Reconciler.Plan] got.
type Store interface {
	// Load returns the inventory of a component; nil: none was ever stored. It
	// writes nothing.
	Load(ctx context.Context, cl client.Client, c Component) (*Inventory, error)
	// Save stores the whole inventory or nothing. An inventory that is too large
	// is an error that wraps [ErrTooLarge]. It may change the status and the
	// resource version of the component in memory. The last inventory of a
	// component in deletion is empty: Save may remove it.
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
	whole atomic.Bool // the API server has kept all fields of an inventory in this process
}

// Load implements [Store].
func (*statusStore) Load(_ context.Context, _ client.Client, c Component) (*Inventory, error) {
	return c.GetStatus().Inventory, nil
}

// fits returns an error that wraps [ErrTooLarge] if the status of a component
// does not take an inventory.
func (v *Inventory) fits() error {
	text, err := json.Marshal(v)
	if err != nil || len(v.Items) <= mostItems && len(text) <= mostBytes {
		return err
	}
	return fmt.Errorf("%w: it has %d objects in %d bytes, and the status of a component takes %d objects in %d bytes: "+
		"split the component, rename its objects in steps, or give WithStore",
		ErrTooLarge, len(v.Items), len(text), mostItems, mostBytes)
}

// Save implements [Store]. It refuses to overwrite another version of the
// component. A process tries all fields by dry-run before its first write.
func (t *statusStore) Save(ctx context.Context, cl client.Client, c Component, v *Inventory) error {
	err := v.fits()
	if err == nil && !t.whole.Load() {
		err = t.try(ctx, cl, c)
	}
	if err != nil {
		return err
	}
	stored, err := patched(ctx, cl, c, v, true)
	if err != nil {
		return err
	}
	if err := complete(stored, v); err != nil {
		t.whole.Store(false) // the definition has changed
		return err
	}
	t.whole.Store(true)
	c.GetStatus().Inventory = v
	c.SetResourceVersion(stored.GetResourceVersion())
	return nil
}

// everyField is an item that has each field.
var everyField = Item{
	Group: "g", Kind: "k", Namespace: "n", Name: "n", DeleteOrder: 1, DeletePolicy: dependents.DeleteOrphan,
	Manages: &TypeInfo{Group: "g", Version: "v", Kind: "k"}, Rebuilt: true, Adopted: true, Purge: "d", Purged: true,
}

// try returns an error if the API server drops a field of an item. A pass over
// an inventory without it could delete objects of others. It tries a write by
// dry-run. If a webhook allows none, only the answer to a write shows that.
func (*statusStore) try(ctx context.Context, cl client.Client, c Component) error {
	v := &Inventory{Items: []Item{everyField}}
	tried, err := patched(ctx, cl, c, v, false, client.DryRunAll)
	switch {
	case noDryRun(err):
		return nil
	case err != nil:
		return err
	}
	return complete(tried, v)
}

// patched writes an inventory into the status of a component, and returns the
// answer. lock refuses to overwrite another version of the component.
func patched(
	ctx context.Context, cl client.Client, c Component, v *Inventory, lock bool, opts ...client.SubResourcePatchOption,
) (*unstructured.Unstructured, error) {
	metadata := map[string]any{"uid": c.GetUID()}
	if lock {
		metadata["resourceVersion"] = c.GetResourceVersion()
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": metadata,
		// A patch with null removes nothing.
		"status": map[string]any{"inventory": map[string]any{"items": append([]Item{}, v.Items...)}},
	})
	if err != nil {
		return nil, err
	}
	gvk, err := cl.GroupVersionKindFor(c)
	if err != nil {
		return nil, err
	}
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(gvk)
	stored.SetNamespace(c.GetNamespace())
	stored.SetName(c.GetName())
	return stored, again.Do(ctx, func() error {
		return cl.Status().Patch(ctx, stored, client.RawPatch(types.MergePatchType, patch), opts...)
	})
}

// complete returns an error if a component lacks a part of the inventory that
// was written to it: the API server drops fields that the definition lacks.
func complete(stored *unstructured.Unstructured, written *Inventory) error {
	content, _, err := unstructured.NestedMap(stored.Object, "status", "inventory")
	got := &Inventory{}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(content, got)
	}
	if err == nil && !slices.EqualFunc(got.Items, written.Items, Item.equal) {
		err = errors.New("the API server drops a part of status.inventory, because the CustomResourceDefinition lacks it: " +
			"generate the definition again, and apply it")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", stored.GroupVersionKind().GroupKind(), err)
	}
	return nil
}
