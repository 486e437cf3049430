package dependents

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

const markOwner = "/owner-id"

func keysOf(name string) keys {
	return keys{name + "/", name + markOwner, name + "/digest", name + "/applied-at", name + "/status-hint"}
}

// ownerOf returns the owner of requests.
func (d *Dependents) ownerOf(obj client.Object) (owner, error) {
	if setup.IsNil(obj) || obj.GetName() == "" {
		return owner{}, fmt.Errorf("%w: the owner is nil or has no name", ErrInvalid)
	}
	gvk, err := apiutil.GVKForObject(obj, d.clients.Client.Scheme())
	if err != nil {
		return owner{}, fmt.Errorf("%w: the owner %s: %w", ErrInvalid, obj.GetName(), err)
	}
	ref := checks.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	o := owner{ref: ref, uid: obj.GetUID(), deleted: !obj.GetDeletionTimestamp().IsZero(), id: d.id(ref), digest: changeOf(obj)}
	o.mark = hash(o.id)
	var problems []string
	if o.policies, problems = d.ofOwner(obj).or(d.policies).over(d.name, nil, d.policies.Update); len(problems) > 0 {
		return owner{}, fmt.Errorf("%w: the policies of the owner %s: %s", ErrInvalid, ref, strings.Join(problems, "; "))
	}
	return o, nil
}

// OwnerKey returns the key of the owner that the marks of an object name, and
// whether they name one. It is for handler.EnqueueRequestsFromMapFunc in a
// reconciler without ctrlx. Users can write the marks, so the key is good for a
// wake-up, and proves nothing.
func (d *Dependents) OwnerKey(obj client.Object) (types.NamespacedName, bool) {
	if setup.IsNil(obj) {
		return types.NamespacedName{}, false
	}
	id := obj.GetAnnotations()[d.keys.owner]
	_, key, found := strings.Cut(strings.TrimPrefix(id, d.cluster), " ")
	if !found || obj.GetLabels()[d.keys.owner] != hash(id) {
		return types.NamespacedName{}, false
	}
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	return types.NamespacedName{Namespace: namespace, Name: name}, err == nil
}

// OwnerMarks returns the label of all dependents of an owner, and the policies of
// those without annotations. No field of the policies is empty. An owner that is
// nil, that has no name, or whose policies are invalid is an error that wraps
// [ErrInvalid].
func (d *Dependents) OwnerMarks(owner client.Object) (key, value string, p Policies, err error) {
	o, err := d.ownerOf(owner)
	return d.keys.owner, o.mark, o.policies, err
}

// id returns the ID of the owner of a ref: the text of Ref.String, without its
// limit, so that two owners never have the same ID.
func (d *Dependents) id(ref checks.Ref) string {
	id := d.cluster + schema.GroupKind{Group: ref.Group, Kind: ref.Kind}.String() + " "
	if ref.Namespace != "" {
		id += ref.Namespace + "/"
	}
	return id + ref.Name
}

// hash returns the ID of an owner in the form of a label.
func hash(id string) string {
	sum := sha256.Sum256([]byte(id))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
}

// digestOf returns a digest of a value that has a JSON form.
func digestOf(value any) string {
	text, _ := json.Marshal(value) // sorts the keys of maps
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// changeOf returns a digest of the parts of an owner that people change: the generation and
// the annotations.
func changeOf(owner client.Object) string {
	annotations := maps.Clone(owner.GetAnnotations())
	maps.DeleteFunc(annotations, func(key, _ string) bool { // a request for a pass changes nothing
		return key == ctrlx.RetryAnnotation || key == "reconcile.fluxcd.io/requestedAt" || strings.HasPrefix(key, ctrlx.AheadPrefix)
	})
	if len(annotations) == 0 {
		annotations = nil // empty has another digest
	}
	return digestOf([]any{owner.GetGeneration(), annotations})
}

// stripMarks removes the marks of this name from a manifest, for example of one
// that was exported from a cluster.
func (k *keys) stripMarks(u *unstructured.Unstructured) {
	metadata, _ := u.Object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		texts, _ := metadata[field].(map[string]any)
		for _, mark := range []string{k.owner, k.digest, k.applied} {
			delete(texts, mark)
		}
		if len(texts) == 0 {
			delete(metadata, field) // an empty map has another digest
		}
	}
}
