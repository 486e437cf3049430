// Package memoryserver has an API server in memory, for tests in a bubble of
// testing/synctest. It has no socket and no goroutine of its own, so the clock of
// the bubble decides when everything is quiet, and a day takes no time.
//
//	api := memoryserver.NewServer(kinds...)
//	mgr, err := ctrl.NewManager(api.Config("operator"), options)
//
// It serves what a controller needs: discovery, get, list, watch with the first
// list and bookmarks, create, update, patches, server-side apply, deletion with
// finalizers and preconditions, the status subresource, generations, defaults of
// schemas, metadata without content, and garbage collection of dependents. It has
// no rights, admission, validation and conversion. A list is one value for
// server-side apply. Events are accepted and not stored.
package memoryserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
)

// Kind is a kind that a server serves.
type Kind struct {
	schema.GroupVersionKind
	Plural string
	// Status: the kind has the subresource status, and generations.
	Status bool
	// Cluster: its objects are in no namespace.
	Cluster bool
	// Default adds the defaults of the schema to an object. nil: there are none.
	Default func(object map[string]any)
	// Type is the type in Go, for strategic merge patches. nil: the kind has none.
	Type any
}

func (k *Kind) resource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Plural}
}

// ErrNotServed is the answer of an API server about a kind that it does not serve. It
// is no Status, so clients make their own error of it.
var ErrNotServed = errors.New("404 page not found")

// Request is a request that a server is about to handle.
type Request struct {
	Agent string // the name that was given to Config
	Verb  string // of Kubernetes: get, list, watch, create, update, patch, delete
	Kind  schema.GroupKind
	Name  types.NamespacedName // the name is empty for list and watch
	// Subresource is empty or status.
	Subresource string
}

// Server is an API server. Make it with [NewServer], which sets functions that do
// nothing. Replace them before the first request.
type Server struct {
	// Before is called before each request for an object or a set, without a
	// lock. The client gets its error: an error of the API, ErrNotServed, or one of
	// the network.
	Before func(Request) error
	// After is called after each such request, without a lock. If it returns an error,
	// the client gets that error instead of the answer.
	After func(Request) error
	// Refused is called after each such request that the server refuses, without a
	// lock.
	Refused func(Request, error)
	// Lag is the time that an event of a kind needs to a watch. An event never overtakes
	// an older one of its kind.
	Lag func(schema.GroupKind) time.Duration
	// Stored is called after each change of an object, with the lock. was is nil for
	// a new object.
	Stored func(agent, event string, was, now *unstructured.Unstructured)
	// Arrived is called when a watch reads an event, with the lock.
	Arrived func(agent, event string, o *unstructured.Unstructured)

	kinds []*Kind

	mu      sync.Mutex
	version int64
	objects map[id]*unstructured.Unstructured
	log     []change // all changes, in the order of their versions
	streams map[*stream]bool
	last    map[*Kind]time.Time // when watches see the last event of a kind
	apply   map[*Kind]bool      // clients apply objects of these kinds
	made    int                 // objects, for UIDs
}

// id names an object.
type id struct {
	*Kind
	types.NamespacedName
}

// change is an event for the watches.
type change struct {
	kind    *Kind
	version int64
	event   string
	was     *unstructured.Unstructured // nil: created
	object  *unstructured.Unstructured
	due     time.Time // when watches see it
}

// NewServer returns a server without objects.
func NewServer(kinds ...Kind) *Server {
	s := &Server{
		Before:  func(Request) error { return nil },
		After:   func(Request) error { return nil },
		Refused: func(Request, error) {},
		Lag:     func(schema.GroupKind) time.Duration { return 0 },
		Stored:  func(_, _ string, _, _ *unstructured.Unstructured) {},
		Arrived: func(_, _ string, _ *unstructured.Unstructured) {},
		version: 1, objects: map[id]*unstructured.Unstructured{}, streams: map[*stream]bool{}, last: map[*Kind]time.Time{}, apply: map[*Kind]bool{},
	}
	for _, k := range kinds {
		if k.Default == nil {
			k.Default = func(map[string]any) {}
		}
		s.kinds = append(s.kinds, &k)
	}
	return s
}

// Config returns the configuration of a client. agent names it in each [Request].
func (s *Server) Config(agent string) *rest.Config {
	return &rest.Config{
		Host: "http://memory", QPS: -1, Transport: transport{s, agent},
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	}
}

// transport carries the requests of a client to a server.
type transport struct {
	server *Server
	agent  string
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	c := &call{Server: t.server, agent: t.agent, http: r, query: r.URL.Query()}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
		c.body = body
	}
	answer, err := c.answer()
	switch status, ok := err.(apierrors.APIStatus); { //nolint:errorlint // the errors of this package are not wrapped
	case errors.Is(err, ErrNotServed):
		answer := respond(r, http.StatusNotFound, io.NopCloser(strings.NewReader(err.Error()+"\n")))
		answer.Header.Set("Content-Type", "text/plain; charset=utf-8")
		return answer, nil
	case ok:
		s := status.Status()
		s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		return respond(r, int(s.Code), encoded(s)), nil
	case err != nil:
		return nil, err
	}
	if st, ok := answer.(*stream); ok {
		return respond(r, http.StatusOK, st), nil
	}
	code := http.StatusOK
	if r.Method == http.MethodPost {
		code = http.StatusCreated
	}
	return respond(r, code, encoded(answer)), nil
}

func encoded(v any) io.ReadCloser {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // the server made it of JSON
	}
	return io.NopCloser(bytes.NewReader(data))
}

func respond(r *http.Request, code int, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: fmt.Sprint(code, " ", http.StatusText(code)), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body, ContentLength: -1, Request: r,
	}
}

// call is a request under way.
type call struct {
	*Server
	agent string
	http  *http.Request
	query url.Values
	body  []byte
	at    id
	sub   string
}

// answer handles a request. An answer that is a *stream is a watch.
func (c *call) answer() (any, error) {
	parts := strings.Split(strings.Trim(c.http.URL.Path, "/"), "/")
	gv := schema.GroupVersion{}
	switch parts[0] {
	case "api":
		if len(parts) == 1 {
			return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}, nil
		}
		gv.Version, parts = parts[1], parts[2:]
	case "apis":
		if len(parts) < 3 {
			return c.groups(), nil
		}
		gv.Group, gv.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return nil, ErrNotServed
	}
	if len(parts) == 0 {
		return c.resources(gv), nil
	}
	if parts[0] == "namespaces" && len(parts) > 2 && !(len(parts) == 3 && parts[2] == "status") {
		c.at.Namespace, parts = parts[1], parts[2:]
	}
	for _, k := range c.kinds {
		if k.GroupVersion() == gv && k.Plural == parts[0] {
			c.at.Kind = k
		}
	}
	if len(parts) > 1 {
		c.at.Name = parts[1]
	}
	if len(parts) > 2 {
		c.sub = parts[2]
	}
	switch {
	case (gv.Group == "events.k8s.io" || gv.Group == "" && parts[0] == "events") && c.http.Method != http.MethodGet:
		var event any
		err := json.Unmarshal(c.body, &event)
		return event, err
	case c.at.Kind == nil, c.sub != "" && (c.sub != "status" || !c.at.Status):
		return nil, ErrNotServed
	}
	r := Request{c.agent, c.verb(), c.at.GroupKind(), c.at.NamespacedName, c.sub}
	if err := c.Before(r); err != nil {
		return nil, err
	}
	answer, err := c.handle(r.Verb)
	if err != nil {
		c.Refused(r, err)
		return nil, err
	}
	return answer, c.After(r)
}

// handle handles a request for an object or a set.
func (c *call) handle(verb string) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch verb {
	case "get":
		return c.get()
	case "list":
		return c.list()
	case "watch":
		return c.watch()
	case "create":
		return c.create()
	case "update", "patch":
		return c.update(verb == "patch")
	case "delete":
		if c.at.Name == "" {
			return c.removeAll()
		}
		return c.remove()
	}
	return nil, apierrors.NewMethodNotSupported(c.at.resource(), verb)
}

func (c *call) verb() string {
	switch m := c.http.Method; {
	case m == http.MethodGet && c.query.Get("watch") != "":
		return "watch"
	case m == http.MethodGet && c.at.Name == "":
		return "list"
	case m == http.MethodPost && c.at.Name == "":
		return "create"
	case m == http.MethodPut:
		return "update"
	default:
		return strings.ToLower(m)
	}
}

// groups is the answer of discovery about the groups.
func (c *call) groups() metav1.APIGroupList {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, k := range c.kinds {
		v := metav1.GroupVersionForDiscovery{GroupVersion: k.GroupVersion().String(), Version: k.Version}
		if k.Group != "" && !slices.ContainsFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == k.Group }) {
			list.Groups = append(list.Groups, metav1.APIGroup{Name: k.Group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
		}
	}
	return list
}

// resources is the answer of discovery about a group and version.
func (c *call) resources(gv schema.GroupVersion) metav1.APIResourceList {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
	for _, k := range c.kinds {
		if k.GroupVersion() != gv {
			continue
		}
		r := metav1.APIResource{Name: k.Plural, Kind: k.Kind, Namespaced: !k.Cluster, Verbs: metav1.Verbs{"get", "list", "watch", "create", "update", "patch", "delete"}}
		list.APIResources = append(list.APIResources, r)
		if r.Name += "/status"; k.Status {
			list.APIResources = append(list.APIResources, r)
		}
	}
	return list
}

// metadata reports whether the client asks for metadata only.
func (c *call) metadata() bool {
	return strings.Contains(c.http.Header.Get("Accept"), "as=PartialObjectMetadata")
}

// shown returns an object as the client asks for it.
func (c *call) shown(o *unstructured.Unstructured) map[string]any {
	if !c.metadata() {
		return o.Object
	}
	return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": o.Object["metadata"]}
}

func (c *call) found() (*unstructured.Unstructured, error) {
	o := c.objects[c.at]
	if o == nil {
		return nil, apierrors.NewNotFound(c.at.resource(), c.at.Name)
	}
	return o, nil
}

func (c *call) get() (any, error) {
	o, err := c.found()
	if err != nil {
		return nil, err
	}
	return c.shown(o), nil
}

// selector returns what the selectors and the namespace of a request select.
func (c *call) selector() (func(*unstructured.Unstructured) bool, error) {
	byLabel, err := labels.Parse(c.query.Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(c.query.Get("fieldSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return func(o *unstructured.Unstructured) bool {
		return o != nil && (c.at.Namespace == "" || o.GetNamespace() == c.at.Namespace) && byLabel.Matches(labels.Set(o.GetLabels())) &&
			byField.Matches(fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace()})
	}, nil
}

// selected returns the objects that the selectors and the namespace of a request
// select, in the order of their names.
func (c *call) selected() (all []*unstructured.Unstructured, err error) {
	selects, err := c.selector()
	if err != nil {
		return nil, err
	}
	return c.sorted(func(at id) bool { return at.Kind == c.at.Kind && selects(c.objects[at]) }), nil
}

// list lists objects. A limit cuts the list, and a client that wants the rest
// gets it by the name after which it begins.
func (c *call) list() (any, error) {
	all, err := c.selected()
	if err != nil {
		return nil, err
	}
	if after := c.query.Get("continue"); after != "" {
		all = slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool { return o.GetNamespace()+"/"+o.GetName() <= after })
	}
	meta := map[string]any{"resourceVersion": strconv.FormatInt(c.version, 10)}
	if limit, _ := strconv.Atoi(c.query.Get("limit")); limit > 0 && limit < len(all) {
		last := all[limit-1]
		meta["continue"], meta["remainingItemCount"] = last.GetNamespace()+"/"+last.GetName(), len(all)-limit
		all = all[:limit]
	}
	items := []any{}
	for _, o := range all {
		items = append(items, c.shown(o))
	}
	kind, version := c.at.Kind.Kind+"List", c.at.GroupVersion().String()
	if c.metadata() {
		kind, version = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	return map[string]any{"kind": kind, "apiVersion": version, "metadata": meta, "items": items}, nil
}

func (c *call) decoded() (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(c.body, &o.Object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return o, nil
}

func (c *call) create() (any, error) {
	o, err := c.decoded()
	if err != nil {
		return nil, err
	}
	o.SetManagedFields(nil)
	return c.add(o)
}

// add creates an object.
func (c *call) add(o *unstructured.Unstructured) (any, error) {
	c.made++
	if o.GetName() == "" {
		o.SetName(o.GetGenerateName() + strconv.Itoa(c.made))
	}
	c.at.Name = o.GetName()
	if c.objects[c.at] != nil {
		return nil, apierrors.NewAlreadyExists(c.at.resource(), c.at.Name)
	}
	o.SetNamespace(c.at.Namespace)
	o.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", c.made)))
	o.SetCreationTimestamp(metav1.Now())
	o.SetDeletionTimestamp(nil)
	c.at.Default(o.Object)
	if c.at.Status {
		o.SetGeneration(1)
		delete(o.Object, "status")
	}
	if c.query.Get("dryRun") != "" {
		return c.shown(o), nil
	}
	return c.shown(c.store("ADDED", o)), nil
}

// update handles PUT and PATCH.
func (c *call) update(patch bool) (any, error) {
	how := types.PatchType("")
	if patch {
		how = types.PatchType(c.http.Header.Get("Content-Type"))
	}
	was, err := c.found()
	if how == types.ApplyPatchType && apierrors.IsNotFound(err) && c.sub == "" {
		o, err := c.applied(nil)
		if err != nil {
			return nil, err
		}
		if uid := o.GetUID(); uid != "" {
			return nil, apierrors.NewConflict(c.at.resource(), c.at.Name, fmt.Errorf("the apply has the UID %s, and no object was found", uid))
		}
		return c.add(o)
	}
	if err != nil {
		return nil, err
	}
	given, err := c.written(how, was)
	if err != nil {
		return nil, err
	}
	if v := given.GetResourceVersion(); v != "" && v != was.GetResourceVersion() {
		return nil, apierrors.NewConflict(c.at.resource(), c.at.Name, fmt.Errorf("the object has been modified"))
	}
	if uid := given.GetUID(); uid != "" && uid != was.GetUID() {
		return nil, apierrors.NewConflict(c.at.resource(), c.at.Name, fmt.Errorf("the UID in the precondition is %s, the UID of the object is %s", uid, was.GetUID()))
	}
	now := given
	if c.sub == "status" {
		whole := was.DeepCopy()
		whole.Object["status"] = now.Object["status"]
		whole.SetManagedFields(now.GetManagedFields())
		now = whole
	} else if c.at.Status {
		now.Object["status"] = was.Object["status"]
	}
	if now.Object["status"] == nil {
		delete(now.Object, "status")
	}
	now.SetUID(was.GetUID())
	now.SetNamespace(was.GetNamespace())
	now.SetCreationTimestamp(was.GetCreationTimestamp())
	now.SetDeletionTimestamp(was.GetDeletionTimestamp())
	now.SetDeletionGracePeriodSeconds(was.GetDeletionGracePeriodSeconds())
	now.SetGeneration(was.GetGeneration())
	now.SetResourceVersion(was.GetResourceVersion())
	c.at.Default(now.Object)
	if was.GetDeletionTimestamp() != nil {
		for _, f := range now.GetFinalizers() {
			if !slices.Contains(was.GetFinalizers(), f) {
				return nil, apierrors.NewForbidden(c.at.resource(), c.at.Name, fmt.Errorf("no new finalizers can be added if the object is being deleted: %s", f))
			}
		}
	}
	if c.at.Status && !same(was, now, "metadata", "status") {
		now.SetGeneration(was.GetGeneration() + 1)
	}
	if c.query.Get("dryRun") != "" {
		return c.shown(now), nil
	}
	if same(was, now, "metadata") && same(meta(was), meta(now), "managedFields") {
		return c.shown(was), nil
	}
	if now.GetDeletionTimestamp() != nil && len(now.GetFinalizers()) == 0 {
		return c.shown(c.store("DELETED", now)), nil
	}
	return c.shown(c.store("MODIFIED", now)), nil
}

// meta returns the metadata of an object as an object.
func meta(o *unstructured.Unstructured) *unstructured.Unstructured {
	m, _ := o.Object["metadata"].(map[string]any)
	return &unstructured.Unstructured{Object: m}
}

// same reports whether two objects are equal but for some fields.
func same(a, b *unstructured.Unstructured, but ...string) bool {
	x, y := maps.Clone(a.Object), maps.Clone(b.Object)
	for _, field := range but {
		delete(x, field)
		delete(y, field)
	}
	return reflect.DeepEqual(normal(x), normal(y))
}

// normal returns a value as its JSON decodes, with the types of numbers that
// unstructured objects have.
func normal(v any) (n any) {
	data, err := json.Marshal(v)
	if err == nil {
		err = utiljson.Unmarshal(data, &n)
	}
	if err != nil {
		panic(err) // it was made of JSON
	}
	return n
}

// removeAll handles the deletion of a set.
func (c *call) removeAll() (any, error) {
	all, err := c.selected()
	for _, o := range all {
		each := *c
		each.at.Namespace, each.at.Name = o.GetNamespace(), o.GetName()
		if _, err := each.remove(); err != nil {
			return nil, err
		}
	}
	return metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}, err
}

func (c *call) remove() (any, error) {
	o, err := c.found()
	if err != nil {
		return nil, err
	}
	var options metav1.DeleteOptions
	if len(c.body) > 0 {
		if err := json.Unmarshal(c.body, &options); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != o.GetUID() || p.ResourceVersion != nil && *p.ResourceVersion != o.GetResourceVersion() {
			return nil, apierrors.NewConflict(c.at.resource(), c.at.Name, fmt.Errorf("the precondition failed"))
		}
	}
	switch {
	case len(options.DryRun) > 0 || c.query.Get("dryRun") != "":
		return c.shown(o), nil
	case len(o.GetFinalizers()) == 0:
		return c.shown(c.store("DELETED", o.DeepCopy())), nil
	case o.GetDeletionTimestamp() == nil:
		now, grace := metav1.Now(), int64(0)
		o = o.DeepCopy()
		o.SetDeletionTimestamp(&now)
		o.SetDeletionGracePeriodSeconds(&grace)
		if c.at.Status {
			o.SetGeneration(o.GetGeneration() + 1)
		}
		o = c.store("MODIFIED", o)
	}
	return c.shown(o), nil
}

// store stores an object, or removes it, and tells the watches.
func (c *call) store(event string, o *unstructured.Unstructured) *unstructured.Unstructured {
	c.version++
	o.SetResourceVersion(strconv.FormatInt(c.version, 10))
	o.SetGroupVersionKind(c.at.GroupVersionKind)
	o.Object = normal(o.Object).(map[string]any)
	was := c.objects[c.at]
	if c.objects[c.at] = o; event == "DELETED" {
		delete(c.objects, c.at)
	}
	due := time.Now().Add(c.Lag(c.at.GroupKind()))
	if last := c.last[c.at.Kind]; last.After(due) {
		due = last
	}
	c.last[c.at.Kind] = due
	c.log = append(c.log, change{c.at.Kind, c.version, event, was, o, due})
	for s := range c.streams {
		s.notify()
	}
	c.Stored(c.agent, event, was, o)
	c.collect()
	return o
}

// collect deletes each object whose owners are all gone, as the garbage
// collector of a cluster does. They may be gone before the object is created.
func (c *call) collect() {
	exists := map[types.UID]bool{}
	for _, o := range c.objects {
		exists[o.GetUID()] = true
	}
	for _, at := range slices.SortedFunc(maps.Keys(c.objects), func(a, b id) int { return strings.Compare(a.String(), b.String()) }) {
		o := c.objects[at]
		owned := o != nil && o.GetDeletionTimestamp() == nil && len(o.GetOwnerReferences()) > 0
		if owned && !slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return exists[r.UID] }) {
			each := call{Server: c.Server, agent: c.agent, http: c.http, at: at}
			_, _ = each.remove() // it has no preconditions, and exists
		}
	}
}

// All returns the objects of the kinds that of selects, in the order of their names.
func (s *Server) All(of func(*Kind) bool) (all []*unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.sorted(func(at id) bool { return of(at.Kind) }) {
		all = append(all, o.DeepCopy())
	}
	return all
}

// sorted returns the objects that of selects, in the order of their kinds and names.
func (s *Server) sorted(of func(id) bool) (all []*unstructured.Unstructured) {
	for _, at := range slices.SortedFunc(maps.Keys(s.objects), func(a, b id) int { return strings.Compare(a.String(), b.String()) }) {
		if of(at) {
			all = append(all, s.objects[at])
		}
	}
	return all
}

func (i id) String() string { return i.resource().String() + " " + i.NamespacedName.String() }
