package component

import "github.com/windlass-go/windlass/ctrlx/component/dependents"

// adopt marks the item of a namespace that existed before. Its deletion would
// delete the objects of others in it. So the component keeps it, unless the
// manifest itself asks for the deletion. A policy of the component or of an
// option does not count.
func (i *Item) adopt(o *Object) {
	i.Adopted = true
	if o.deletePolicy == "" || o.deletePolicy == "default" || o.Policies.Delete != dependents.DeleteDelete {
		i.DeletePolicy = dependents.DeleteOrphan
	}
}
