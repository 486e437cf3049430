package component

import (
	"context"

	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// markAdopted marks the item of a namespace that existed before. Its deletion
// would delete the objects of others in it. So the component keeps it, unless
// the manifest itself asks for the deletion. A policy of the component or of an
// option does not count.
func (s *Set) markAdopted(item *Item, o *Object) {
	item.Adopted = true
	given := o.Manifest.GetAnnotations()[s.system.name+"/delete-policy"]
	if given == "" || given == "default" || o.Policies.Delete != dependents.DeleteDelete {
		item.DeletePolicy = dependents.DeleteOrphan
	}
}

// adopt finds the namespaces that appeared after the inventory had them: they
// lack the label of the component. It stores the inventory before the writes
// that add the label.
func (w *Wave) adopt(ctx context.Context) error {
	if w.Objects[0].stage != stageNamespaces {
		return nil
	}
	indexes := w.Inventory.byRef()
	for _, i := range w.pending {
		o := w.Objects[i]
		live, err := w.liveNamespace(ctx, o.Ref.Name)
		if err != nil {
			return err
		}
		if at, found := indexes[o.Ref]; found && live != nil && live.GetLabels()[w.labelKey] != w.label {
			w.markAdopted(&w.Inventory.Items[at], o)
		}
	}
	return w.Save(ctx)
}
