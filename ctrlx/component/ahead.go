package component

import (
	"context"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// ahead stores what the inventory must have before the writes of a wave:
//
//   - An object that was purged exists again.
//   - A namespace that lacks the label of the component existed before. One that
//     does not exist any more will be that of the component.
func (w *Wave) ahead(ctx context.Context) error {
	if len(w.pending) == 0 {
		return nil
	}
	indexes := w.Inventory.byRef()
	for _, i := range w.pending {
		o := w.Objects[i]
		at, found := indexes[o.Ref]
		if !found {
			continue // a plan of an object whose kind is not served
		}
		item := &w.Inventory.Items[at]
		item.Purge, item.Purged = "", false
		if o.stage != stageNamespaces {
			continue
		}
		live, err := w.liveNamespace(ctx, o.Ref.Name)
		switch {
		case err != nil:
			return err
		case live == nil:
			item.Adopted, item.DeletePolicy = false, o.item().DeletePolicy
		case live.GetLabels()[w.labelKey] != w.label:
			item.adopt(o)
		}
	}
	if err := w.Save(ctx); err != nil {
		return err
	}
	return w.upToDate(ctx)
}

// proven ends the doubt about objects that only a label named: they have the
// content of their manifests now.
func (w *Wave) proven() {
	var indexes map[checks.Ref]int // most inventories have no such item
	for at := range w.Inventory.Items {
		if w.Inventory.Items[at].Rebuilt {
			indexes = w.Inventory.byRef()
			break
		}
	}
	if indexes == nil {
		return
	}
	for i, r := range w.Results {
		at, found := indexes[w.Objects[i].Ref]
		switch r.Outcome {
		case dependents.Created, dependents.Updated, dependents.InSync, dependents.Waiting:
			if found && !r.Contested && r.Pending == nil {
				w.Inventory.Items[at].Rebuilt = false
			}
		}
	}
}
