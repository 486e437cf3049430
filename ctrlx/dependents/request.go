package dependents

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/again"
	"github.com/windlass-go/windlass/ctrlx/internal/byversion"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// String names the object, and says that a write of it is only tried or left out,
// as in "ConfigMap team/web (dry-run)".
func (r *Request) String() string {
	return r.ref.String() + [...]string{writing: "", trying: " (dry-run)", looking: " (read-only)"}[r.of.mode]
}

// IsDryRun reports whether the writes of the request are not stored: it is one of
// [Dependents.DryRun] or [Dependents.ReadOnly]. A link that counts or limits
// writes leaves out such a request.
func (r *Request) IsDryRun() bool { return r.of.mode != writing }

// result returns a result about the live object.
func (r *Request) result(o Outcome, message string) Result {
	return Result{Outcome: o, Object: r.Live, Message: message}
}

// requests checks all objects and returns their requests.
func (d *Dependents) requests(
	ctx context.Context, a action, owner client.Object, objects []client.Object,
) ([]*Request, error) {
	o, err := d.ownerOf(owner)
	if err != nil {
		return nil, err
	}
	via, err := d.clients.Access(ctx)
	if err != nil {
		return nil, err
	}
	requests, errs := make([]*Request, len(objects)), make([]error, len(objects))
	first := make(map[checks.Ref]int, len(objects))
	for i, obj := range objects {
		if setup.IsNil(obj) {
			errs[i] = fmt.Errorf("%w: object %d is nil: leave it out", ErrInvalid, i+1)
			continue
		}
		if requests[i], errs[i] = d.request(via, a, &o, obj); errs[i] != nil || a == checking {
			continue
		}
		ref := requests[i].Ref()
		if n, twice := first[ref]; twice {
			errs[i] = fmt.Errorf("%w: %s: it is given twice, as number %d and number %d", ErrInvalid, ref, n, i+1)
		}
		first[ref] = i + 1
	}
	if err := errors.Join(errs...); err != nil {
		return requests, err
	}
	d.follow(ctx, a, requests...)
	return requests, nil
}

// request checks an object and returns its request.
func (d *Dependents) request(via again.Access, a action, by *owner, obj client.Object) (*Request, error) {
	gvk, err := apiutil.GVKForObject(obj, d.clients.Client.Scheme())
	if err != nil {
		return nil, fmt.Errorf("%w: %T %s: %w", ErrInvalid, obj, obj.GetName(), err)
	}
	obj = withoutNulls(obj)
	r := &Request{
		Owner: by.ref, by: by, Object: obj, of: d, via: via, gvk: gvk,
		ref: checks.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName()},
	}
	if a > applying {
		obj = d.named(obj)
	}
	problems := mistakes(obj)
	_, partial := obj.(*metav1.PartialObjectMetadata)
	if partial && a == applying {
		problems = append(problems, "it has only metadata: give the whole object")
	}
	problem, err := r.place(a)
	if err != nil {
		return nil, fmt.Errorf("%s: finding the kind: %w", r.Ref(), err)
	}
	if problem != "" {
		problems = append(problems, problem)
	}
	r.Policies = by.policies
	given := obj.GetAnnotations()
	for key := range given {
		if strings.HasPrefix(key, d.keys.prefix) {
			problems = append(problems, r.settings(given)...)
			break
		}
	}
	if obj.GetName() == "" {
		r.ref = checks.Ref{Group: gvk.Group, Kind: gvk.Kind} // only the error names it
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%w: %s: %s", ErrInvalid, r.Ref(), strings.Join(problems, "; "))
	}
	if a <= applying && r.kind != nil && !partial {
		if err := r.digestContents(); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, r.Ref(), err)
		}
	}
	return r, nil
}

// follow states in the pass of a reconciler that its owner depends on the
// objects of requests. The objects of another cluster have no events in this
// manager, and the manager may not show an owner what its deployment target
// hides.
//
// A dry-run, and the write after it, follow nothing: the pass has looked before.
func (d *Dependents) follow(ctx context.Context, a action, requests ...*Request) {
	if d.clients.Engine == nil || a != applying || d.mode == trying {
		return
	}
	for _, r := range requests {
		if !r.via.Target && r.verdict == nil {
			ctrlx.Follow(ctx, r.ref)
		}
	}
}

// settings sets what the annotations of this name say. It returns a problem for each
// invalid value, and for each annotation that looks like a policy and is none, as in
// delete_policy: the object would be deleted, although the user asks for an orphan.
func (r *Request) settings(annotations map[string]string) []string {
	g := given{name: r.of.name, annotations: annotations}
	r.Policies, g.problems = r.by.policies.over(r.of.name, annotations, r.of.policies.Update)
	choose(&g, &r.reconcile, "reconcile-policy", onObjectChange, onObjectOrComponentChange, onlyOnce)
	var err error
	key, hints := g.get("status-hint")
	if r.hints, err = ready.ParseHints(hints); err != nil {
		g.refuse("%s is %q: %v: the hints are has-observed-generation, has-ready-condition and conditions=A;B", key, hints, err)
	}
	key, paths := g.get("ignored-fields")
	if r.ignored, err = pathsOf(paths); err != nil {
		g.refuse("%s: %v", key, err)
	}
	for _, path := range r.ignored {
		if r.gvk.GroupKind() == (schema.GroupKind{Kind: "Secret"}) && path[0].Equals(fieldpath.FieldNameElement("stringData")) {
			path[0] = fieldpath.FieldNameElement("data") // see mergeStringData
		}
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		rest, ours := strings.CutPrefix(key, r.of.keys.prefix)
		if ours && !slices.Contains(known, rest) && looksLikeOne.MatchString(rest) {
			g.refuse("the annotation %s is unknown: it must be one of %q", key, known)
		}
	}
	return g.problems
}

// looksLikeOne finds what looks like a known annotation.
var looksLikeOne = regexp.MustCompile("(?i)(policy|interval|hint|fields)$")

// withoutNulls returns a manifest without its null labels and annotations, as
// templates make them. A null counts as absent. It would hide all others of its
// map, even a policy.
func withoutNulls(obj client.Object) client.Object {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj
	}
	for _, field := range [...]string{"labels", "annotations"} {
		metadata, _ := u.Object["metadata"].(map[string]any)
		texts, _ := metadata[field].(map[string]any)
		null := func(_ string, value any) bool { return value == nil }
		for key, value := range texts {
			if !null(key, value) {
				continue
			}
			metadata, texts = maps.Clone(metadata), maps.Clone(texts) // passes may share the manifest
			maps.DeleteFunc(texts, null)
			metadata[field] = texts
			u = &unstructured.Unstructured{Object: maps.Clone(u.Object)}
			u.Object["metadata"] = metadata
			break
		}
	}
	return u
}

// named returns the part of a manifest that matters for a deletion: its names
// and its policies. Any other value of an unstructured object may have a wrong
// type.
func (d *Dependents) named(obj client.Object) client.Object {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Name: obj.GetName(), Namespace: obj.GetNamespace(), Annotations: obj.GetAnnotations(),
		}}
	}
	metadata, _ := u.Object["metadata"].(map[string]any)
	kept := map[string]any{"name": metadata["name"], "namespace": metadata["namespace"], "annotations": metadata["annotations"]}
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		policies := maps.Clone(annotations)
		maps.DeleteFunc(policies, func(key string, _ any) bool { return !strings.HasPrefix(key, d.keys.prefix) })
		kept["annotations"] = policies
	}
	return &unstructured.Unstructured{Object: map[string]any{"metadata": kept}}
}

// mistakes returns the problems of the metadata of a manifest. The methods of
// an unstructured object hide a value of a wrong type, and all others of its
// map, even a policy.
func mistakes(obj client.Object) (problems []string) {
	if obj.GetName() == "" {
		problems = append(problems, "metadata.name is empty")
	}
	if obj.GetGenerateName() != "" {
		problems = append(problems, "metadata.generateName is set: give a name, "+
			"because each pass must find the same object")
	}
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return problems
	}
	metadata, _ := u.Object["metadata"].(map[string]any)
	for _, field := range []string{"name", "namespace", "generateName"} {
		if _, text := metadata[field].(string); !text && metadata[field] != nil {
			problems = append(problems, "metadata."+field+" is no text: put it in quotes")
		}
	}
	for _, field := range []string{"labels", "annotations"} {
		if _, err := textsOf(metadata, field); err != nil {
			problems = append(problems, "metadata."+err.Error())
		}
	}
	return problems
}

// place finds the kind and the namespace of the object. It returns the problem
// of an object that cannot be there; empty: it can.
func (r *Request) place(a action) (problem string, err error) {
	err = r.findKind(a)
	given := r.ref.Namespace
	switch {
	case err == nil: // first, because IsNoMatchError allocates
	case a != applying && definition.Unserved(err):
		return "", nil // readLive finds the object; the set of a checked one may repair its server
	case meta.IsNoMatchError(err):
		return fmt.Sprintf("the API server does not serve the kind %s in the version %s: install its definition",
			r.gvk.GroupKind(), r.gvk.Version), nil
	default:
		return problem, err
	}
	if !r.kind.namespaced {
		switch r.absent = a > applying && given != ""; {
		case a == checking:
			r.ref.Namespace = ""
		case given != "" && !r.absent:
			problem = "its kind has no namespaces: remove metadata.namespace"
		}
		return problem, nil
	}
	if r.ref.Namespace = cmp.Or(given, r.Owner.Namespace); r.ref.Namespace == "" {
		if r.absent = a > applying; !r.absent {
			problem = "metadata.namespace is empty, and the owner has no namespace"
		}
	}
	return problem, nil
}

// digestContents sets the digest of the manifest. An object that looks as an
// earlier one has the same digest, so that a pass over an object in sync makes
// no manifest.
func (r *Request) digestContents() error {
	text, err := json.Marshal(r.Object)
	if err != nil {
		return err
	}
	key := fingerprint{sha256.Sum256(text), r.kind, r.ref.Namespace}
	if r.contents = r.of.digests.of(key); r.contents == "" {
		if err = r.make(); err == nil {
			r.contents = digestOf(r.made.Object)
			r.of.digests.all.Add(key, r.contents)
		}
	}
	return err
}

// manifest returns the manifest without marks, ignored fields, status, null values,
// and the fields that only the API server sets. The caller does not change it. It
// panics if a link has changed the object that was checked.
func (r *Request) manifest() *unstructured.Unstructured {
	if err := r.make(); err != nil {
		panic(err)
	}
	return r.made
}

// make makes the result of manifest once.
func (r *Request) make() error {
	if r.made != nil {
		return nil
	}
	u, err := manifest(r.Object, r.gvk)
	if err != nil {
		return err
	}
	r.of.keys.stripMarks(u)
	for _, path := range r.ignored {
		removePath(u.Object, path)
	}
	u.SetNamespace(r.ref.Namespace)
	r.made = u
	return nil
}

// withMarks returns a copy of the manifest with the marks that say whose the object
// is, and which manifest it has.
func (r *Request) withMarks(digest string) *unstructured.Unstructured {
	u := r.manifest().DeepCopy()
	_ = unstructured.SetNestedField(u.Object, r.by.mark, "metadata", "labels", r.of.keys.owner) // request has checked the maps
	_ = unstructured.SetNestedField(u.Object, digest, "metadata", "annotations", r.of.keys.digest)
	return u
}

// manifest returns obj without the fields that only the API server sets, and
// without marks. It copies obj by its JSON, because DeepCopy of an unstructured
// object panics if it has a number of another type than those of JSON.
func manifest(obj client.Object, gvk schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(text, &u.Object); err != nil {
		return nil, err
	}
	dropNil(u.Object)
	u.SetGroupVersionKind(gvk)
	for _, field := range []string{
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "managedFields",
		"resourceVersion", "selfLink", "uid",
	} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	delete(u.Object, "status")
	switch gvk.GroupKind() {
	case schema.GroupKind{Kind: "Secret"}:
		return u, mergeStringData(u)
	case schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:
		// Kubernetes fills in the rules of an aggregated role.
		if rules, _ := u.Object["rules"].([]any); len(rules) == 0 && u.Object["aggregationRule"] != nil {
			delete(u.Object, "rules")
		}
	}
	return u, nil
}

// dropNil removes null values: a typed object has them for empty times, and
// templates make them. A null counts as absent, because an apply of it would
// reset a field such as the replicas of an autoscaler.
func dropNil(content map[string]any) {
	for key, value := range content {
		switch v := value.(type) {
		case nil:
			delete(content, key)
		case map[string]any:
			dropNil(v)
		case []any:
			for _, item := range v {
				if m, ok := item.(map[string]any); ok {
					dropNil(m)
				}
			}
		}
	}
}

// mergeStringData moves the stringData of a Secret into data, as the API server
// does. The field stringData can never be read.
func mergeStringData(u *unstructured.Unstructured) error {
	data, err := textsOf(u.Object, "data")
	if err != nil {
		return err
	}
	texts, err := textsOf(u.Object, "stringData")
	if err != nil || texts == nil {
		return err
	}
	if data == nil {
		data = map[string]string{}
	}
	for key, text := range texts {
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	delete(u.Object, "stringData")
	return unstructured.SetNestedStringMap(u.Object, data, "data")
}

// textsOf returns a field that has a map of texts; nil: there is none. Its
// errors name keys and no values, because conditions and events show them. The
// errors of other packages name the values.
func textsOf(of map[string]any, field string) (map[string]string, error) {
	value := of[field]
	if value == nil {
		return nil, nil
	}
	m, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is no map of texts", field)
	}
	texts := make(map[string]string, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		text, ok := m[key].(string)
		if !ok {
			return nil, fmt.Errorf("%s[%q] is no text: put it in quotes", field, key)
		}
		texts[key] = text
	}
	return texts, nil
}

// writer returns the client of all writes. It stores nothing unless the
// Dependents writes, whatever links the chain has.
func (r *Request) writer() client.Client {
	if r.of.mode == writing {
		return r.via.Client
	}
	return client.NewDryRunClient(r.via.Client)
}

// versioned returns an error unless the live object was read with a UID and a
// resource version. A write without them would have no precondition.
func (r *Request) versioned() error {
	if r.Live == nil || r.Live.GetUID() == "" || r.Live.GetResourceVersion() == "" {
		return errors.New("it was not read, or without a UID or a resource version, so it is not written: " +
			"check the client, and the links that read the object")
	}
	return nil
}

// newObject returns an empty object in the form in which the manager caches the
// kind.
func (r *Request) newObject() client.Object { return engine.NewObject(r.via.Client.Scheme(), r.gvk) }

// typed returns an object of the API server in the form of newObject.
func (r *Request) typed(u *unstructured.Unstructured) (client.Object, error) {
	obj := r.newObject()
	if into, ok := obj.(*unstructured.Unstructured); ok {
		into.Object = u.Object
		return into, nil
	}
	return obj, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj)
}

// findKind finds the kind of a request. An object of a version that is not
// served any more exists in another version, so the version does not matter for
// a deletion, and findKind sets it to one that is served. The manager watches the
// kind of a deletion, too: its events end the wait for the object.
func (r *Request) findKind(a action) error {
	if known, ok := r.of.kinds.Load(r.gvk); ok && a <= applying && !r.via.Target { // the scope of a kind never changes
		r.kind = known.(*kind)
		return nil
	}
	versions := []string{r.gvk.Version}
	if a > applying {
		versions = nil
	}
	mapping, err := r.via.Client.RESTMapper().RESTMapping(r.gvk.GroupKind(), versions...)
	if err != nil {
		return err
	}
	r.gvk = mapping.GroupVersionKind
	namespaced, key := mapping.Scope.Name() != meta.RESTScopeNameRoot, any(r.gvk)
	if r.via.Target { // a kind may have another scope in another cluster
		key = scoped{r.gvk, namespaced}
	}
	if known, ok := r.of.kinds.Load(key); ok && known.(*kind).namespaced == namespaced {
		r.kind = known.(*kind)
		return nil
	}
	k := &kind{namespaced: namespaced, readiness: r.of.readinessOf[r.gvk.GroupKind()], form: reflect.TypeOf(r.newObject())}
	if k.readiness == nil {
		k.readiness = r.of.readiness
	}
	if k.readiness == nil {
		k.readiness = kstatusOf(r.gvk)
	}
	known, found := r.of.kinds.LoadOrStore(key, k)
	if r.kind = known.(*kind); r.kind.namespaced != k.namespaced { // its definition was created again
		r.kind = k
	}
	if d := r.of; d.clients.Engine != nil && !found && !r.via.Target { // the manager watches the kind
		d.clients.Engine.Writes(r.gvk.GroupKind(), func(obj client.Object) uint64 { return d.seen(k, obj) })
	}
	return nil
}

// seen returns a digest of what matters of a dependent, besides its spec or
// data: the readiness, the labels, and the annotations with the marks. It is 0
// for an object that is no dependent of this name.
func (d *Dependents) seen(k *kind, obj client.Object) uint64 {
	if obj.GetLabels()[d.keys.owner] == "" {
		return 0
	}
	hints, _ := ready.ParseHints(obj.GetAnnotations()[d.keys.hint]) // zero if a person has made it invalid
	r := hints.Hinted(obj, k.readiness(obj))
	state := uint64(r.State) << 1
	if isReady(r) {
		state++
	}
	return digest.And(digest.Metadata(obj), state)
}

// kstatusOf returns the readiness of a kind by the rule of kstatus, and by the
// conditions that the kind must have.
func kstatusOf(kind schema.GroupVersionKind) ready.Func {
	of, hints := ready.Kstatus(kind), ready.HintsOf(kind.GroupKind())
	return ready.Cached(func(obj client.Object) checks.Readiness { return hints.Hinted(obj, of(obj)) }, byversion.DefaultSize)
}
