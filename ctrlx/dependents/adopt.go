package dependents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/windlass-go/windlass/checks"
)

// partOf is the label of a member of an ApplySet (KEP-3659), whose owner is
// another tool. Its value is the ID of the set.
const partOf = "applyset.kubernetes.io/part-of"

// mostOwner is the number of bytes of an owner's name that a message shows.
const mostOwner = 1000

// ownership returns the owner of the live object. The label of the owner of the
// request counts only if no other owner has marked the object, too.
func (r *Request) ownership() ownership {
	labels, annotations := r.Live.GetLabels(), r.Live.GetAnnotations()
	own := r.of.keys.owner
	ours := labels[own] == r.by.mark
	keys, c := r.foreign(ours)
	if len(keys) > 0 {
		key := keys[0]
		owner := annotations[key]
		if hash(owner) != labels[key] || len(owner) > mostOwner { // a person may have changed the annotation
			owner = "the owner with " + key + "=" + labels[key]
		}
		return ownership{owner: owner, marked: key == own}
	}
	if c != nil {
		ref := checks.Ref{Group: kindOf(c).Group, Kind: c.Kind, Namespace: r.Live.GetNamespace(), Name: c.Name}
		return ownership{owner: r.of.id(ref)}
	}
	if id := labels[partOf]; id != "" && !ours {
		return ownership{owner: "the ApplySet with " + partOf + "=" + id}
	}
	return ownership{ours: ours}
}

// foreign returns the labels of other owners that the live object has, and its
// controller if that is another owner. On an object with the label of this
// owner, those that the manifest has, or that this name wrote, do not count:
// they name the owner that the user wants.
func (r *Request) foreign(ours bool) (keys []string, controller *metav1.OwnerReference) {
	own := r.of.keys.owner
	for key, value := range r.Live.GetLabels() {
		switch {
		case value == "", key == own && value == r.by.mark, key != own && !strings.HasSuffix(key, markOwner):
		case ours && key != own && (r.Object.GetLabels()[key] != "" || r.wroteField("labels", key)):
		default:
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if c := metav1.GetControllerOfNoCopy(r.Live); c != nil && (c.UID != r.by.uid || r.by.uid == "") {
		same := func(o metav1.OwnerReference) bool { return o.UID == c.UID }
		wanted := ours && (r.isOwner(c) || slices.ContainsFunc(r.Object.GetOwnerReferences(), same) ||
			r.wroteField("ownerReferences", fieldpath.KeyByFields("uid", string(c.UID))))
		if !wanted {
			controller = c
		}
	}
	return keys, controller
}

// isOwner reports whether a reference of the live object names the owner, even
// with the UID of an earlier owner of its name.
func (r *Request) isOwner(o *metav1.OwnerReference) bool {
	ref := r.Owner
	return kindOf(o) == schema.GroupKind{Group: ref.Group, Kind: ref.Kind} && o.Name == ref.Name &&
		(ref.Namespace == "" || ref.Namespace == r.Live.GetNamespace())
}

// wroteField reports whether this name owns a field of the metadata of the live
// object. It returns false if the managed fields are missing or invalid.
func (r *Request) wroteField(path ...any) bool {
	m, err := managersOf(r.Live, r.of.manager)
	return err == nil && m.owns(m.ours, fieldpath.MakePathOrDie(append([]any{"metadata"}, path...)...))
}

// release removes from obj, a copy of the live object, what marks it as one of
// other owners. It returns false if nothing does. An object of this owner stays
// in the ApplySet to which a user has added it.
func (r *Request) release(obj client.Object) bool {
	keys, c := r.foreign(true)
	labels, released := obj.GetLabels(), c != nil
	if labels[partOf] != "" && r.Object.GetLabels()[partOf] == "" && !r.ownership().ours {
		keys = append(keys, partOf) // its tool would prune the object
	}
	for _, key := range keys {
		if key != r.of.keys.owner { // the write sets this one
			delete(labels, key)
			released = true
		}
	}
	obj.SetLabels(labels)
	if c != nil {
		foreign := func(o metav1.OwnerReference) bool { return o.UID == c.UID }
		obj.SetOwnerReferences(slices.DeleteFunc(obj.GetOwnerReferences(), foreign))
	}
	return released
}

func kindOf(o *metav1.OwnerReference) schema.GroupKind {
	return schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind()
}

// adopt checks the owner of an object that exists, in each pass. Under
// [AdoptionAlways] an owner takes an object from another one once within the
// reapply interval. Without this limit, two such owners would take it from each
// other without end, because each write causes a pass of the other owner.
func adopt(next handler) handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live == nil {
			return next(ctx, r)
		}
		switch o, adoption := r.ownership(), r.Policies.Adoption; {
		case o.ours, adoption == AdoptionAlways && o.owner == "":
		case adoption == AdoptionAlways:
			now, key := r.of.clock.Now(), r.pair()
			if wait := r.of.taken.of(key).Add(r.Policies.ReapplyInterval).Sub(now); wait > 0 {
				res := r.result(Waiting, fmt.Sprintf("%s has taken it; this owner takes it back in %s: "+
					"remove it from one of the two owners", o.owner, wait.Round(time.Second)))
				res.After = wait
				return res, nil
			}
			res, err := next(ctx, r)
			if err == nil && res.Pending == nil {
				r.of.taken.change(key, func(at *time.Time) { *at = now })
			}
			return res, err
		case o.owner != "":
			remedy := fmt.Sprintf("set %s/adoption-policy=%s", r.of.name, AdoptionAlways)
			if o.marked {
				remedy = fmt.Sprintf("remove its label %s if that owner does not have it any more", r.of.keys.owner)
			}
			return r.result(NotOurs, fmt.Sprintf("it belongs to %s: remove it from one of the two owners, or %s", o.owner, remedy)), nil
		case adoption == AdoptionNever:
			return r.result(NotOurs, fmt.Sprintf("it exists and has no owner: delete it, or set %s/adoption-policy=%s",
				r.of.name, AdoptionIfUnowned)), nil
		}
		return next(ctx, r)
	}
}

// owned leaves an object of another owner, or of none, alone when it should be
// deleted.
func owned(next handler) handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if !r.ownership().ours {
			return r.result(Orphaned, ""), nil // nothing is left to do
		}
		return next(ctx, r)
	}
}
