package helm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The annotations of hooks, and of objects that stay.
const (
	hookEvents  = "helm.sh/hook"
	hookWeight  = "helm.sh/hook-weight"
	hookDeletes = "helm.sh/hook-delete-policy"
	resources   = "helm.sh/resource-policy"
)

// hookOrder is the apply-order of a hook without a weight that runs after all
// other objects. Weights are less, so that no hook has the order of other objects.
const hookOrder = 10000

// hook gives an object the annotations that stand for its hook, and for its
// resource policy. It reports whether the object is part of the set.
func (g *generator) hook(obj client.Object) (bool, error) {
	annotations := obj.GetAnnotations()
	set := func(key, value string) {
		if key = g.reconciler + "/" + key; annotations[key] == "" {
			annotations[key] = value
		}
		obj.SetAnnotations(annotations)
	}
	if strings.EqualFold(strings.TrimSpace(annotations[resources]), "keep") {
		set("delete-policy", "Orphan")
	}
	events := split(annotations[hookEvents])
	events = slices.DeleteFunc(events, func(event string) bool {
		return slices.Contains([]string{"test", "test-success", "test-failure", "pre-rollback", "post-rollback"}, event)
	})
	if len(events) == 0 {
		return annotations[hookEvents] == "", nil
	}
	// Hooks need each other, so they are purged after all hooks of their event.
	order, purge, again := hookOrder, 2*hookOrder, "OnObjectOrComponentChange"
	slices.Sort(events)
	switch strings.Join(events, ",") {
	case "crd-install":
		return true, nil
	case "pre-install":
		order, purge, again = -hookOrder, -1, "Once"
	case "post-install":
		again = "Once"
	case "pre-install,pre-upgrade":
		order, purge = -hookOrder, -1
	case "post-install,post-upgrade":
	case "post-install,post-upgrade,pre-install,pre-upgrade":
		order = -hookOrder
	default:
		return false, fmt.Errorf("%s is %q: use a hook of the component", hookEvents, annotations[hookEvents])
	}
	if text, found := annotations[hookWeight]; found {
		weight, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || weight <= -hookOrder || weight >= hookOrder {
			return false, fmt.Errorf("%s is %q: it must be a whole number from %d to %d", hookWeight, text, 1-hookOrder, hookOrder-1)
		}
		order += weight
	}
	set("apply-order", strconv.Itoa(order))
	set("reconcile-policy", again)
	if obj.GetObjectKind().GroupVersionKind().Kind == "CustomResourceDefinition" {
		return true, nil // Helm does not delete it, and a component refuses to
	}
	deletes := split(annotations[hookDeletes])
	if len(deletes) == 0 || slices.Contains(deletes, "before-hook-creation") {
		set("update-policy", "Recreate")
	}
	if slices.Contains(deletes, "hook-succeeded") {
		set("purge-order", strconv.Itoa(purge))
	}
	return true, nil
}

// split returns the values of a list in a text, without empty ones.
func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
