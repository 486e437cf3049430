package dependents

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/byversion"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// kind describes a kind that a Dependents applies. It never changes.
type kind struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	readiness  ready.Func   // without status hints
	form       reflect.Type // of newObject
}

// scoped is a kind of clusters that deployment targets are in, with its scope.
type scoped struct {
	gvk        schema.GroupVersionKind
	namespaced bool
}

// kindOf returns the group, version and kind of an object.
func (d *Dependents) kindOf(obj client.Object) (schema.GroupVersionKind, error) {
	if _, ok := obj.(*unstructured.Unstructured); ok {
		return apiutil.GVKForObject(obj, d.client.Scheme())
	}
	t := reflect.TypeOf(obj)
	if known, ok := d.types.Load(t); ok && obj.GetObjectKind().GroupVersionKind().Empty() {
		return known.(schema.GroupVersionKind), nil
	}
	gvk, err := apiutil.GVKForObject(obj, d.client.Scheme())
	if err == nil && obj.GetObjectKind().GroupVersionKind().Empty() {
		d.types.Store(t, gvk)
	}
	return gvk, err
}

// findKind finds the kind of a request. An object of a version that is not
// served any more exists in another version, so the version does not matter for
// a deletion, and findKind sets it to one that is served.
func (r *Request) findKind(a action) error {
	if known, ok := r.of.kinds.Load(r.gvk); ok && a <= applying && !r.via.target { // the scope of a kind never changes
		r.kind = known.(*kind)
		return nil
	}
	versions := []string{r.gvk.Version}
	if a > applying {
		versions = nil
	}
	mapping, err := r.via.client.RESTMapper().RESTMapping(r.gvk.GroupKind(), versions...)
	if err != nil {
		return err
	}
	r.gvk = mapping.GroupVersionKind
	namespaced := mapping.Scope.Name() != meta.RESTScopeNameRoot
	kinds, key := &r.of.kinds, any(r.gvk)
	if r.via.target { // a kind may have another scope in another cluster
		kinds, key = &r.of.targets, scoped{r.gvk, namespaced}
	}
	if known, ok := kinds.Load(key); ok {
		if r.kind = known.(*kind); r.kind.namespaced != namespaced { // its definition was created again
			r.kind = &kind{gvk: r.gvk, namespaced: namespaced, readiness: r.kind.readiness, form: r.kind.form}
		}
		return nil
	}
	k := &kind{
		gvk: r.gvk, namespaced: namespaced, readiness: r.of.readinessOf[r.gvk.GroupKind()], form: reflect.TypeOf(r.newObject()),
	}
	if k.readiness == nil {
		k.readiness = r.of.readiness
	}
	if k.readiness == nil {
		k.readiness = kstatusOf(r.gvk)
	}
	known, loaded := kinds.LoadOrStore(key, k)
	if r.kind = known.(*kind); !loaded && !r.via.target {
		r.of.watch(r.kind)
	}
	return nil
}

// kstatusOf returns the readiness of a kind by the rule of kstatus, and by the
// conditions that the kind must have.
func kstatusOf(kind schema.GroupVersionKind) ready.Func {
	of, hints := ready.Kstatus(kind), ready.HintsOf(kind.GroupKind())
	return ready.Cached(func(obj client.Object) checks.Readiness { return hints.Hinted(obj, of(obj)) }, byversion.DefaultSize)
}

// readinessOf returns how ready an object of a kind is. A status hint counts in
// addition to the readiness of the kind.
func (k *kind) readinessOf(hint string, obj client.Object) (checks.Readiness, error) {
	if hint == "" {
		return k.readiness(obj), nil
	}
	hints, err := ready.ParseHints(hint)
	if err != nil {
		return checks.Readiness{}, err
	}
	return hints.Hinted(obj, k.readiness(obj)), nil
}
