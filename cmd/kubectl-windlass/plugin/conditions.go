package plugin

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/pager"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// The bounds of a reader.
const (
	pageSize  = 500
	maxListed = 10_000 // objects of one kind
	maxReads  = 50     // objects, and again as many lists of events
)

// reader reads the objects of a graph from the API server. A state comes from
// conditions. An awaited object comes from a message, an event, or the controlling
// owner. The root cause of a message counts more than an event.
type reader struct {
	clients
	objects map[checks.Ref]*why.Object
	order   []checks.Ref              // the keys of objects
	owners  map[checks.Ref]checks.Ref // the controlling owner of an object that is not ready
	roots   map[checks.Ref]checks.Ref // the root cause that a message names without the awaited object
	queue   []checks.Ref              // the objects to read
	silent  []*unstructured.Unstructured
	skipped int // the objects that were not read because of the bounds
}

func newReader(k clients) *reader {
	return &reader{clients: k, objects: map[checks.Ref]*why.Object{}, owners: map[checks.Ref]checks.Ref{}, roots: map[checks.Ref]checks.Ref{}}
}

// put adds an object.
func (r *reader) put(o why.Object) {
	if _, ok := r.objects[o.Ref]; !ok {
		r.order = append(r.order, o.Ref)
	}
	r.objects[o.Ref] = &o
}

// add adds the object u of kind m, and the objects that it names.
func (r *reader) add(m *meta.RESTMapping, u *unstructured.Unstructured) {
	o := objectOf(u)
	o.Ref = refOf(m, u.GetNamespace(), u.GetName())
	if o.State != why.Ready {
		if awaited, ok := r.named(o.Message); ok && awaited != o.Ref {
			o.WaitingFor = []checks.Ref{awaited}
			r.queue = append(r.queue, awaited)
		} else if o.Reason != "" {
			r.silent = append(r.silent, u)
			if root, ok := r.namedRoot(o.Message); ok && root != o.Ref {
				r.roots[o.Ref] = root
				r.queue = append(r.queue, root)
			}
		}
		if c := metav1.GetControllerOf(u); c != nil {
			if owner, ok := r.lookUp(c.APIVersion, c.Kind, u.GetNamespace(), c.Name); ok {
				r.owners[o.Ref] = owner
				r.queue = append(r.queue, owner)
			}
		}
	}
	r.put(o)
}

// read adds an object that may be absent. An object that cannot be read is added
// with an unknown state, and its error is returned.
func (r *reader) read(ctx context.Context, ref checks.Ref) error {
	m, err := r.mapper.RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
	if err == nil {
		var u *unstructured.Unstructured
		if u, err = r.resource(m, ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{}); err == nil {
			r.add(m, u)
			return nil
		}
	}
	if apierrors.IsNotFound(err) {
		r.put(why.Object{Ref: ref, State: why.Missing})
		return nil
	}
	r.put(why.Object{Ref: ref, State: why.Unknown, Message: fmt.Sprintf("it cannot be read: %v", err)})
	return err
}

// list adds the objects of a kind that report a Ready condition or are being
// deleted. An empty namespace selects all.
func (r *reader) list(ctx context.Context, m *meta.RESTMapping, namespace string) error {
	pages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return r.resource(m, namespace).List(ctx, o)
	})
	n := 0
	return pages.EachListItem(ctx, metav1.ListOptions{Limit: pageSize}, func(o runtime.Object) error {
		if n++; n > maxListed {
			return fmt.Errorf("only the first %d objects were read", maxListed)
		}
		if u := o.(*unstructured.Unstructured); u.GetDeletionTimestamp() != nil || condition(u, "Ready") != nil {
			r.add(m, u)
		}
		return nil
	})
}

// finish reads the objects that were named, and returns all objects.
func (r *reader) finish(ctx context.Context) []why.Object {
	for reads, lists := 0, 0; len(r.queue) > 0 || len(r.silent) > 0; {
		if len(r.queue) == 0 { // events are read last, because a message names more
			if lists++; lists <= maxReads {
				r.addRelated(ctx, r.silent[0])
			}
			r.silent = r.silent[1:]
			continue
		}
		ref := r.queue[0]
		r.queue = r.queue[1:]
		switch _, seen := r.objects[ref]; {
		case seen:
		case reads == maxReads:
			r.skipped++
		default:
			reads++
			_ = r.read(ctx, ref) // the object has the error
		}
	}
	for _, ref := range r.order {
		root, ok := r.roots[ref]
		if o := r.objects[ref]; ok && !slices.ContainsFunc(o.WaitingFor, func(awaited checks.Ref) bool { return r.waits(awaited, root) }) {
			o.WaitingFor = []checks.Ref{root} // there is no event, or it is older than the message
		}
	}
	for _, ref := range r.order {
		owner, ok := r.owners[ref]
		if !ok || r.objects[owner] == nil || r.objects[owner].State == why.Ready || r.waits(owner, ref) {
			continue // an owner that waits for its dependent is no cause of the wait
		}
		if o := r.objects[ref]; !slices.Contains(o.WaitingFor, owner) {
			o.WaitingFor = append(o.WaitingFor, owner)
		}
	}
	var all []why.Object
	for _, ref := range r.order {
		o := r.objects[ref]
		if len(o.WaitingFor) > 0 && o.State == why.InProgress {
			o.State = why.Blocked
		}
		all = append(all, *o)
	}
	return all
}

// waits reports whether an object waits for another one, directly or not.
func (r *reader) waits(from, to checks.Ref) bool {
	seen := map[checks.Ref]bool{from: true}
	for trail := []checks.Ref{from}; len(trail) > 0; trail = trail[1:] {
		if trail[0] == to {
			return true
		}
		if o := r.objects[trail[0]]; o != nil {
			for _, next := range o.WaitingFor {
				if !seen[next] {
					seen[next] = true
					trail = append(trail, next)
				}
			}
		}
	}
	return false
}

// awaited matches the start of a message of Windlass that names an awaited object.
var awaited = regexp.MustCompile(`^(?:owner )?([A-Z][A-Za-z0-9]*)((?:\.[a-z0-9-]+)*) (?:([a-z0-9-]+)/)?([a-z0-9.-]+) (?:was not found|is not ready|is being deleted|is in state|was ready for|has not reported)`)

// named returns the object that a message names. The API server must have its
// kind, because any program may write messages.
func (r *reader) named(message string) (ref checks.Ref, ok bool) {
	part := awaited.FindStringSubmatch(message)
	if part == nil {
		return ref, false
	}
	group := part[2]
	if group != "" {
		group = group[1:]
	}
	m, err := r.mapper.RESTMapping(schema.GroupKind{Group: group, Kind: part[1]})
	if err != nil || (m.Scope.Name() == meta.RESTScopeNameNamespace) != (part[3] != "") {
		return ref, false
	}
	return checks.Ref{Group: group, Kind: part[1], Namespace: part[3], Name: part[4]}, true
}

// namedRoot returns the root cause at the end of a message.
func (r *reader) namedRoot(message string) (ref checks.Ref, ok bool) {
	const prefix = "; root cause: " // of package ctrlx
	i := strings.LastIndex(message, prefix)
	if i < 0 {
		return ref, false
	}
	return r.named(message[i+len(prefix):])
}

// lookUp returns the ref of an object whose kind the API server has.
func (r *reader) lookUp(apiVersion, kind, namespace, name string) (ref checks.Ref, ok bool) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return ref, false
	}
	m, err := r.mapper.RESTMapping(gv.WithKind(kind).GroupKind())
	if err != nil || name == "" {
		return ref, false
	}
	return refOf(m, namespace, name), true
}

// addRelated adds the object that the last event about u names as related, if the
// event has the reason of the Ready condition.
func (r *reader) addRelated(ctx context.Context, u *unstructured.Unstructured) {
	ref, ok := r.lookUp(u.GetAPIVersion(), u.GetKind(), u.GetNamespace(), u.GetName())
	self := r.objects[ref]
	if !ok || self == nil {
		return
	}
	list, err := r.events.Events(cmp.Or(u.GetNamespace(), metav1.NamespaceDefault)).
		List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("regarding.uid", string(u.GetUID())).String(), Limit: pageSize})
	if err != nil {
		return // a user may lack the right to read events
	}
	var last eventsv1.Event
	for _, e := range list.Items {
		if e.Series != nil {
			e.EventTime = e.Series.LastObservedTime // EventTime is its first occurrence
		}
		if e.Related != nil && e.Reason == self.Reason && !e.EventTime.Before(&last.EventTime) {
			last = e
		}
	}
	if last.Related == nil {
		return
	}
	related, ok := r.lookUp(last.Related.APIVersion, last.Related.Kind, last.Related.Namespace, last.Related.Name)
	if ok && related != ref {
		self.WaitingFor = []checks.Ref{related}
		r.queue = append(r.queue, related)
	}
}

// condition returns a condition of u, or nil.
func condition(u *unstructured.Unstructured, kind string) map[string]any {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range all {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			return c
		}
	}
	return nil
}

// objectOf returns an object without its ref. Its state comes from its conditions.
func objectOf(u *unstructured.Unstructured) (o why.Object) {
	text := func(c map[string]any, key string) string { s, _ := c[key].(string); return s }
	ready, stalled, reconciling := condition(u, "Ready"), condition(u, "Stalled"), condition(u, "Reconciling")
	o.Reason, o.Message = text(ready, "reason"), text(ready, "message")
	o.Since, _ = time.Parse(time.RFC3339, text(ready, "lastTransitionTime"))
	switch deleted := u.GetDeletionTimestamp(); {
	case deleted != nil:
		o.State, o.Since = why.Deleting, deleted.Time
	case ready == nil:
		o.State, o.Message = why.Unknown, "it has no Ready condition"
	case observed(u, ready) < u.GetGeneration():
		o.State, o.Message = why.Unknown, fmt.Sprintf("its Ready condition is of generation %d, and its spec has generation %d", observed(u, ready), u.GetGeneration())
	case text(ready, "status") == "True":
		o.State = why.Ready
	case text(stalled, "status") == "True":
		o.State = why.Failed
	case text(reconciling, "status") == "True" && (text(ready, "status") != "False" || o.Reason == "InProgress" || o.Reason == "Deleting"):
		o.State = why.InProgress
	case text(ready, "status") == "False":
		o.State = why.Blocked
	default:
		o.State = why.Unknown
	}
	return o
}

// observed returns the generation that the Ready condition is about. Without a
// report it is the present one.
func observed(u *unstructured.Unstructured, ready map[string]any) int64 {
	if n, ok := ready["observedGeneration"].(int64); ok {
		return n
	}
	if n, ok, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration"); ok {
		return n
	}
	return u.GetGeneration()
}
