package ctrlx_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	"github.com/windlass-go/windlass/flow"
)

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// same fails the test if got is not as wanted.
func same(t testing.TB, reason string, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", reason, diff)
	}
}

// named is the name of an object of a harness.
func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: name}
}

// harness runs passes over an App one at a time. It has no running manager and no API server. The test sets the clock.
type harness struct {
	t       testing.TB
	api     client.Client
	manager *idleManager
	now     time.Time
	random  float64
	// The operations; nil: they are done at once.
	apply, remove func(context.Context, *flow.Request[*App]) (flow.Progress, error)
	guards        func(*App) []checks.Ref // nil: the Apps guard nothing
	insync        bool
	present       bool   // in the cloud, not as the spec says
	deletes       bool   // a user asks for the deletion by other means than the API server
	absent        bool   // in the cloud, until Apply, whatever insync says
	fails         string // which hook or check of hooked
	hookFails     error  // of that hook; nil: a retriable error
	block         string // where a check holds the object, as flow.PointPreCheck
	asked         []string
	writes        int // patches of the status
	patches       int // of objects, as for finalizers
	refuse        error
	drops         bool // the API server drops each status
	bounded       bool // writes whose context is expired or has no deadline fail
	// What happens before a patch reaches the API server, and before its answer returns; nil: nothing. An error is the
	// answer.
	beforeStatus             func()
	afterStatus, beforePatch func() error
	app                      *ctrlx.Reconciler[*App]
	log                      lines // of passes, and of the manager
}

// notAllowed is a value of a field of the status that the definition does not allow.
const notAllowed = "not allowed"

// tooLarge stands for a value that makes the status too large to be stored.
const tooLarge = "three megabytes"

// noon is when tests begin.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newHarness(t testing.TB, objects ...client.Object) *harness {
	t.Helper()
	d := &harness{t: t, now: noon}
	d.api = &struct{ client.Client }{fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&App{}, &testv1.Cluster{}, &testv1.Database{}).WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			d.writes++
			if err := d.mayWrite(ctx); err != nil {
				return err
			}
			if d.beforeStatus != nil {
				d.beforeStatus()
			}
			if a, ok := obj.(*App); ok && a.Status.LastHandled == notAllowed {
				return apierrors.NewInvalid(schema.GroupKind{Kind: "App"}, "a", nil)
			}
			if a, ok := obj.(*App); ok && a.Status.LastHandled == tooLarge {
				return apierrors.NewRequestEntityTooLargeError("the limit is exceeded")
			}
			if d.refuse != nil || d.drops {
				return d.refuse
			}
			if d.afterStatus == nil {
				return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
			}
			if err := c.SubResource(sub).Patch(ctx, obj, patch, opts...); err != nil {
				return err
			}
			return d.afterStatus()
		}, Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			d.patches++
			if err := d.mayWrite(ctx); err != nil {
				return err
			}
			if d.beforePatch != nil {
				if err := d.beforePatch(); err != nil {
					return err
				}
			}
			return c.Patch(ctx, obj, patch, opts...)
		}}).Build()} // which can be compared
	d.restart()
	return d
}

// mayWrite returns an error if writes must have a deadline, and ctx has none or is expired.
func (d *harness) mayWrite(ctx context.Context) error {
	if _, ok := ctx.Deadline(); d.bounded && !ok {
		return errors.New("the write has no deadline")
	} else if d.bounded {
		return ctx.Err()
	}
	return nil
}

// restart begins with a manager that knows nothing.
func (d *harness) restart() {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{testv1.GroupVersion})
	for _, kind := range []string{"App", "Cluster", "Database"} {
		mapper.Add(testv1.GroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	d.manager = &idleManager{client: d.api, mapper: mapper, config: &rest.Config{}, logger: logr.FromContextOrDiscard(d.context())}
	d.manager.cache = &fakeCache{FakeInformers: &informertest.FakeInformers{Scheme: scheme}, reader: d.api}
}

// clock returns the options of all reconcilers of the harness.
func (d *harness) clock() []ctrlx.Option {
	now := func() time.Time { return d.now }
	return []ctrlx.Option{
		flow.WithClock(now), ctrlx.WithRand(func() float64 { return d.random }), ctrlx.WithOwner(clusterOfApp),
		flow.WithBackoff(flow.NewBackoff(flow.WithBackoffClock(now), flow.WithBackoffJitter(0, 0))),
	}
}

// reconciler returns a reconciler with the operations of the harness.
func (d *harness) reconciler(ext flow.Extensions[*App], opts ...ctrlx.Option) *ctrlx.Reconciler[*App] {
	op := func(name string, do *func(context.Context, *flow.Request[*App]) (flow.Progress, error)) func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
		return func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
			if d.note("%s", name); req.Token != "" {
				d.asked[len(d.asked)-1] = "poll " + req.Token
			}
			if *do == nil {
				return flow.Done(), nil
			}
			return (*do)(ctx, req)
		}
	}
	ops := flow.Operations[*App]{
		Get: func(_ context.Context, req *flow.Request[*App]) (flow.Observation, error) {
			matches := d.insync || req.Applied
			return flow.Observation{Presence: checks.PresenceOf(matches && (req.Applied || !d.absent) || d.present), InSync: matches}, nil
		},
		Apply: op("apply", &d.apply), Delete: op("delete", &d.remove),
		Deleting: func(a *App) bool { return d.deletes || !a.DeletionTimestamp.IsZero() },
	}
	if d.guards != nil {
		opts = append(opts, inuse.Add(d.manager, d.guards, &ops, &ext))
	}
	return ctrlx.New("App", ops, ext, append(d.clock(), opts...)...)
}

// checking returns extensions with one check.
func checking(point string, do func(context.Context, *checks.Request[*App]) (checks.Result, error)) (ext flow.Extensions[*App]) {
	check := chain.New(checks.Check("check", do))
	switch point {
	case flow.PointEntryCheck:
		ext.EntryCheck = check
	case flow.PointPreCheck:
		ext.PreCheck = check
	case flow.PointPostCheck:
		ext.PostCheck = check
	case flow.PointDeleteCheck:
		ext.DeleteCheck = check
	}
	return ext
}

// answers is a check with the present result of a variable.
func answers(res *checks.Result) func(context.Context, *checks.Request[*App]) (checks.Result, error) {
	return func(context.Context, *checks.Request[*App]) (checks.Result, error) { return *res, nil }
}

func (d *harness) note(format string, args ...any) {
	d.asked = append(d.asked, fmt.Sprintf(format, args...))
}

// took returns the calls of the operations since the last call of took.
func (d *harness) took() string {
	s := strings.Join(d.asked, ", ")
	d.asked = nil
	return s
}

// use sets a reconciler up, which is the one of pass from then on.
func (d *harness) use(r *ctrlx.Reconciler[*App]) *harness {
	d.t.Helper()
	must(d.t, r.SetupWithManager(d.manager))
	d.app = r
	return d
}

// with is use with a reconciler of the harness.
func (d *harness) with(ext flow.Extensions[*App], opts ...ctrlx.Option) *harness {
	d.t.Helper()
	return d.use(d.reconciler(ext, opts...))
}

// context is the context of passes, which keeps their log lines.
func (d *harness) context() context.Context { return d.log.context(context.Background(), 1) }

// pass runs one over the App "a". One that returns an error, or an interval that loses the requeue, fails the test.
func (d *harness) pass() time.Duration {
	d.t.Helper()
	return d.passIn(d.context())
}

func (d *harness) passIn(ctx context.Context) time.Duration {
	d.t.Helper()
	return d.passOver(ctx, "a")
}

// try runs a pass over the App "a", and returns its error.
func (d *harness) try() error {
	_, err := d.app.Reconcile(d.context(), reconcile.Request{NamespacedName: named("a")})
	return err
}

// passOver runs a pass over the App of a name.
func (d *harness) passOver(ctx context.Context, name string) time.Duration {
	d.t.Helper()
	res, err := d.app.Reconcile(ctx, reconcile.Request{NamespacedName: named(name)})
	must(d.t, err)
	if res.RequeueAfter < 0 {
		d.t.Fatalf("the requeue is lost: %s", res.RequeueAfter)
	}
	return res.RequeueAfter
}

// read is the App "a" as it is now.
func (d *harness) read() *App {
	d.t.Helper()
	return d.appOf("a")
}

// named is the App of a name as it is now.
func (d *harness) appOf(name string) *App {
	d.t.Helper()
	a := &App{}
	must(d.t, d.api.Get(context.Background(), named(name), a))
	return a
}

// change changes the App "a" as a person does: there is a new generation.
func (d *harness) change(do func(*App)) {
	d.t.Helper()
	a := d.read()
	do(a)
	a.Generation++
	must(d.t, d.api.Update(context.Background(), a))
}

// says returns the conditions of the App "a" as "False Timeout Stalled", with a word for
// each that is True.
func (d *harness) says() string {
	d.t.Helper()
	s := "nothing"
	a := d.read()
	if c := meta.FindStatusCondition(a.Status.Conditions, "Ready"); c != nil {
		s = string(c.Status) + " " + c.Reason
	}
	for _, t := range []string{"Reconciling", "Stalled"} {
		if meta.IsStatusConditionTrue(a.Status.Conditions, t) {
			s += " " + t
		}
	}
	if recordOf(a.Status.Conditions).Clock != nil {
		s += " Processing"
	}
	if meta.IsStatusConditionTrue(a.Status.Conditions, ctrlx.ConditionPaused) {
		s += " Paused"
	}
	return s
}

// recordOf returns what the record of an object stores, whichever object it names.
func recordOf(all []metav1.Condition) (r record.Record) {
	if c := record.In(all); c != nil {
		r, _ = record.Of(c)
	}
	return r
}

// recorded writes the record of the App "a", as another process does. It signs nothing.
func (d *harness) recorded(change func(*record.Record)) {
	d.t.Helper()
	a := d.read()
	r := recordOf(a.Status.Conditions)
	r.UID, r.Kind = a.UID, "App."+testv1.GroupVersion.Group
	change(&r)
	a.Status.Conditions = record.Put(a.Status.Conditions, record.Encode(r, nil, a.Generation, d.now))
	must(d.t, d.api.Status().Update(context.Background(), a))
}

// operating stores an operation under way in a record; without a token it removes it.
func operating(token string) func(*record.Record) {
	return func(r *record.Record) {
		if r.Operation = nil; token != "" {
			r.Operation = &record.Operation{Generation: 1, Token: token}
		}
	}
}

// stored returns the token of the stored operation of the App "a".
func (d *harness) stored() string {
	d.t.Helper()
	if op := recordOf(d.read().Status.Conditions).Operation; op != nil {
		return op.Token
	}
	return ""
}

// message returns the message of the condition Ready.
func (d *harness) message() string {
	d.t.Helper()
	if c := meta.FindStatusCondition(d.read().Status.Conditions, "Ready"); c != nil {
		return c.Message
	}
	return ""
}

// reported returns the events since its last call.
func (d *harness) reported() []string {
	all := d.manager.events
	d.manager.events, d.manager.related = nil, nil
	return all
}

// anApp is the App "a".
func anApp(spec AppSpec) *App {
	return &App{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", UID: "uid", Generation: 1, Finalizers: []string{ctrlx.Finalizer}}, Spec: spec}
}

// aCluster is the Cluster "c", which is ready.
func aCluster() *testv1.Cluster {
	return &testv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c", UID: "cluster", Generation: 1},
		Status:     testv1.ClusterStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Running", ObservedGeneration: 1}}},
	}
}

func minutes(n int) metav1.Duration { return metav1.Duration{Duration: time.Duration(n) * time.Minute} }

var errBroken = errors.New("the cloud is broken")

// idleManager is a manager that is never started.
type idleManager struct {
	manager.Manager
	client    client.Client
	live      client.Reader // that bypasses the cache; nil: the client
	cache     cache.Cache
	mapper    meta.RESTMapper
	scheme    *runtime.Scheme // nil: the one of all tests
	config    *rest.Config
	limit     time.Duration // ReconciliationTimeout
	elects    *bool         // NeedLeaderElection
	http      *http.Client  // nil: all kinds have a status
	logger    logr.Logger
	standby   bool // another replica is the leader
	added     []manager.Runnable
	reporters []string // of events
	events    []string // "Normal Busy the note"
	related   []string // "Normal Busy v1 Namespace default/default"
}

// eventRecorder records the events of a manager.
type eventRecorder struct {
	recorder.EventRecorder
	m *idleManager
}

func (r *eventRecorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	if action != "Reconcile" && action != "Delete" {
		panic("no action of an event: " + action)
	}
	line := kind + " " + reason
	r.m.events = append(r.m.events, line+" "+fmt.Sprintf(note, args...))
	for _, obj := range []runtime.Object{regarding, related} {
		if ref, ok := obj.(*corev1.ObjectReference); ok {
			line += fmt.Sprintf(" %s %s %s/%s", ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		}
	}
	r.m.related = append(r.m.related, line)
}

func (m *idleManager) GetEventRecorder(name string) recorder.EventRecorder {
	m.reporters = append(m.reporters, name)
	return &eventRecorder{m: m}
}

// starts starts what does not need to be the leader, and stops at once.
func (m *idleManager) starts(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	stop()
	for _, r := range m.added {
		if l, ok := r.(manager.LeaderElectionRunnable); ok && !l.NeedLeaderElection() {
			if err := r.Start(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *idleManager) Elected() <-chan struct{} {
	if m.standby {
		return nil
	}
	return elected
}

var elected = func() chan struct{} {
	closed := make(chan struct{})
	close(closed)
	return closed
}()

func (m *idleManager) GetClient() client.Client { return m.client }
func (m *idleManager) GetAPIReader() client.Reader {
	if m.live != nil {
		return m.live
	}
	return m.client
}
func (m *idleManager) GetCache() cache.Cache          { return m.cache }
func (m *idleManager) GetRESTMapper() meta.RESTMapper { return m.mapper }
func (m *idleManager) GetLogger() logr.Logger         { return m.logger }
func (m *idleManager) GetConfig() *rest.Config        { return m.config }
func (m *idleManager) GetHTTPClient() *http.Client {
	if m.http != nil {
		return m.http
	}
	return discovery(func() (bool, error) { return true, nil })
}
func (m *idleManager) Add(r manager.Runnable) error {
	m.added = append(m.added, r)
	return nil
}
func (m *idleManager) GetScheme() *runtime.Scheme {
	if m.scheme != nil {
		return m.scheme
	}
	return scheme
}
func (m *idleManager) GetControllerOptions() ctrlconfig.Controller {
	return ctrlconfig.Controller{SkipNameValidation: new(true), ReconciliationTimeout: m.limit, NeedLeaderElection: m.elects}
}

// fakeCache reads from a client what it says it watches.
type fakeCache struct {
	*informertest.FakeInformers
	reader client.Reader
}

func (c *fakeCache) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return c.reader.Get(ctx, key, obj, opts...)
}

func (c *fakeCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.reader.List(ctx, list, opts...)
}

// App is a kind that says of itself what can be said: its intervals, and whether it is suspended.
type App struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AppSpec   `json:"spec,omitempty"`
	Status            AppStatus `json:"status,omitempty"`
}

// AppSpec is that of an App.
type AppSpec struct {
	Cluster   string          `json:"cluster,omitempty"`
	Suspended bool            `json:"suspended,omitempty"`
	Requeue   metav1.Duration `json:"requeue,omitempty"`
	Retry     metav1.Duration `json:"retry,omitempty"`
	Timeout   metav1.Duration `json:"timeout,omitempty"`
	User      string          `json:"user,omitempty"`
}

func (s *AppSpec) IsSuspended() bool {
	if s.User == "panics" {
		panic("no answer")
	}
	return s.Suspended
}

func (s *AppSpec) GetRequeueInterval() time.Duration { return s.Requeue.Duration }
func (s *AppSpec) GetRetryInterval() time.Duration   { return s.Retry.Duration }
func (s *AppSpec) GetTimeout() time.Duration         { return s.Timeout.Duration }

// AppStatus is that of an App.
type AppStatus struct {
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	LastHandled        string             `json:"lastHandledReconcileAt,omitempty"`
}

// AppList is a list of them.
type AppList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []App `json:"items"`
}

func (a *App) GetConditions() []metav1.Condition {
	if a.Status.LastHandled == "panics" {
		panic("no conditions")
	}
	return a.Status.Conditions
}
func (a *App) SetConditions(all []metav1.Condition) { a.Status.Conditions = all }

func (a *App) DeepCopyObject() runtime.Object {
	out := *a
	a.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), a.Status.Conditions...)
	return &out
}

func (l *AppList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*App))
	}
	return &out
}

func init() { scheme.AddKnownTypes(testv1.GroupVersion, &App{}, &AppList{}) }

// clusterOfApp names the owner in the spec.
func clusterOfApp(a *App) checks.Ref {
	if a.Spec.Cluster == "" {
		return checks.Ref{}
	}
	return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: a.Spec.Cluster}
}

// discovery is the way to an API server that answers nothing but discovery. Kinds have the subresource status while status
// returns true. An error of it is the answer.
func discovery(status func() (bool, error)) *http.Client {
	return &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		has, err := status()
		if err != nil {
			return nil, err
		}
		list := apidiscovery.APIGroupDiscoveryList{}
		if req.URL.Path == "/apis" {
			v := apidiscovery.APIVersionDiscovery{Version: testv1.GroupVersion.Version}
			for _, kind := range []string{"App", "Cluster", "Database"} {
				gvk := &metav1.GroupVersionKind{Group: testv1.GroupVersion.Group, Version: testv1.GroupVersion.Version, Kind: kind}
				r := apidiscovery.APIResourceDiscovery{Resource: kind, Scope: apidiscovery.ScopeNamespace, Verbs: []string{"get", "list", "watch"}, ResponseKind: gvk}
				if has {
					r.Subresources = []apidiscovery.APISubresourceDiscovery{{Subresource: "status", ResponseKind: gvk}}
				}
				v.Resources = append(v.Resources, r)
			}
			list.Items = []apidiscovery.APIGroupDiscovery{{
				ObjectMeta: metav1.ObjectMeta{Name: testv1.GroupVersion.Group}, Versions: []apidiscovery.APIVersionDiscovery{v},
			}}
		}
		if req.URL.Path == "/api" {
			secrets := apidiscovery.APIResourceDiscovery{Resource: "secrets", Scope: apidiscovery.ScopeNamespace, Verbs: []string{"get", "list", "watch"}, ResponseKind: &metav1.GroupVersionKind{Version: "v1", Kind: "Secret"}}
			list.Items = []apidiscovery.APIGroupDiscovery{{Versions: []apidiscovery.APIVersionDiscovery{{Version: "v1", Resources: []apidiscovery.APIResourceDiscovery{secrets}}}}}
		}
		body, err := json.Marshal(list)
		return &http.Response{
			StatusCode: http.StatusOK, Request: req, Body: io.NopCloser(bytes.NewReader(body)),
			Header: http.Header{"Content-Type": {"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}},
		}, err
	})}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

var anyKind = ctrlx.WithWatchedKinds(schema.GroupKind{Group: "*", Kind: "*"})

// ownedBy creates a database whose controlling owner reference a user has written.
func (o *operator) ownedBy(name, apiVersion, kind, owner string) {
	o.t.Helper()
	yes := true
	d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: apiVersion, Kind: kind, Name: owner, UID: "3f8e7c1a-0000-0000-0000-000000000000", Controller: &yes},
	}}}
	must(o.t, api.Create(o.t.Context(), d))
}

// patience is the longest time that a test waits for a condition.
const patience = apiserver.Patience

// operator is a manager with a reconciler for databases, whose cloud notes what is asked of it.
type operator struct {
	t         *testing.T
	namespace string
	mu        sync.Mutex
	calls     []string
	user      string // whose rights the manager has; empty: all
	traffic   traffic
	stop      func()
}

// note notes a call. It returns no error.
func (o *operator) note(format string, args ...any) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, fmt.Sprintf(format, args...))
	return nil
}

func (o *operator) asked() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.calls...)
}

type ctxt = context.Context

// clusterOf names the owner in the spec.
func clusterOf(d *testv1.Database) checks.Ref {
	if d.Spec.Cluster == "" {
		return checks.Ref{}
	}
	return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: d.Spec.Cluster}
}

func (o *operator) operations() flow.Operations[*testv1.Database] {
	return flow.Operations[*testv1.Database]{
		Apply: func(_ context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
			d := req.Resource
			if err := o.note("put %s %d", d.Name, d.Spec.Size); err != nil {
				return flow.Progress{}, err
			}
			d.Status.Size = d.Spec.Size
			return flow.Done(), nil
		},
		Delete: func(_ context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
			return flow.Done(), o.note("delete %s", req.Resource.Name)
		},
	}
}

var waitsForCluster = flow.Extensions[*testv1.Database]{OwnerCheck: chain.New(checks.OwnerReady())}

// setter is a reconciler of any type.
type setter interface {
	SetupWithManager(mgr manager.Manager) error
}

// start starts a manager with reconcilers; it is stopped when the test ends, or by stop.
func (o *operator) start(reconcilers ...setter) manager.Manager {
	o.t.Helper()
	return o.startWith(nil, reconcilers...)
}

// startWith starts a manager whose cache has some objects of a kind only.
func (o *operator) startWith(some map[client.Object]cache.ByObject, reconcilers ...setter) manager.Manager {
	o.t.Helper()
	skip := true
	mgr, err := ctrl.NewManager(o.rest(), ctrl.Options{
		Scheme:     scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{o.namespace: {}}, ByObject: some},
		Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	})
	for _, r := range reconcilers {
		if err == nil {
			err = r.SetupWithManager(mgr)
		}
	}
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	o.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			o.t.Error(err)
		}
	})
	o.t.Cleanup(o.stop)
	return mgr
}

// rest is how the operator gets to the API server: its requests are noted.
func (o *operator) rest() *rest.Config {
	c := rest.CopyConfig(config)
	if o.user != "" {
		c.Impersonate.UserName = o.user
	}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return &wire{&o.traffic, next} })
	return c
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	return &operator{t: t, namespace: namespace(t)}
}

func (o *operator) database(name, cluster string) *testv1.Database {
	o.t.Helper()
	d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name}, Spec: testv1.DatabaseSpec{Cluster: cluster, Size: 1}}
	must(o.t, api.Create(o.t.Context(), d))
	return d
}

func (o *operator) cluster(name, state string) *testv1.Cluster {
	o.t.Helper()
	c := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name}}
	must(o.t, api.Create(o.t.Context(), c))
	o.report(c, state)
	return c
}

// report writes what the cluster's own operator would: it is ready in the state Running.
func (o *operator) report(c *testv1.Cluster, state string) {
	o.t.Helper()
	c.Status.State = state
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: state, Message: "it is " + state, ObservedGeneration: c.Generation}
	if state == "Running" {
		ready.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&c.Status.Conditions, ready)
	must(o.t, api.Status().Update(o.t.Context(), c))
}

// until waits until the Ready condition of a database is as wanted: "False OwnerNotFound", "gone".
func (o *operator) until(name, want string) *testv1.Database {
	o.t.Helper()
	d, last := &testv1.Database{}, ""
	if err := apiserver.Until(o.t.Context(), func(ctx context.Context) (bool, error) {
		d = &testv1.Database{}
		err := api.Get(ctx, keyOf(o.namespace, name), d)
		if last = says(d); apierrors.IsNotFound(err) {
			last, err = "gone", nil
		}
		return last == want, err
	}); err != nil {
		o.t.Fatalf("%s should be %s and is %s: %+v; asked of the cloud: %q: %v", name, want, last, d.Status, o.asked(), err)
	}
	return d
}

// when waits until a database is as wanted.
func (o *operator) when(name string, wanted func(*testv1.Database) bool) *testv1.Database {
	o.t.Helper()
	d := &testv1.Database{}
	if err := apiserver.Until(o.t.Context(), func(ctx context.Context) (bool, error) {
		err := api.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: name}, d)
		return err == nil && wanted(d), client.IgnoreNotFound(err)
	}); err != nil {
		o.t.Fatalf("%s is not as wanted: %+v: %v", name, d, err)
	}
	return d
}

// settle runs a pass over a database by hand, once the manager reads from its cache.
func (o *operator) settle(mgr manager.Manager, r reconcile.Reconciler, name string) (reconcile.Result, error) {
	o.t.Helper()
	if !mgr.GetCache().WaitForCacheSync(o.t.Context()) {
		o.t.Fatal("the cache does not start")
	}
	return r.Reconcile(o.t.Context(), reconcile.Request{NamespacedName: keyOf(o.namespace, name)})
}

// writes returns the writes among the requests to the API server.
func writes(asked map[string]int) map[string]int {
	all := map[string]int{}
	for what, n := range asked {
		if what[:3] != "GET" && what[:5] != "WATCH" {
			all[what] = n
		}
	}
	return all
}

func (o *operator) remove(d client.Object) {
	o.t.Helper()
	must(o.t, api.Delete(o.t.Context(), d))
}

// The API server of all tests that need one. startServer sets config and api.
var (
	config *rest.Config
	scheme = apiserver.Scheme(apiextensions.AddToScheme)
	api    client.WithWatch // without a cache
)

func TestMain(m *testing.M) { apiserver.Main(m) }

var startServer = sync.OnceFunc(func() { config, api = apiserver.Start(scheme, append(testv1.Definitions(), definitionOfApps())) })

// namespace makes a namespace for a test.
func namespace(t testing.TB) string {
	t.Helper()
	startServer()
	return apiserver.Namespace(t, api)
}

// traffic counts the requests of a manager to the API server, as "PATCH
// databases/status".
type traffic struct {
	mu     sync.Mutex
	counts map[string]int
	begun  int // requests, also those that are not in counts any more
	open   int // requests without an answer, but for watches
	// saw is called for each request.
	saw func(*http.Request)
	// deaf is not nil while watches are broken without an error: their events do not arrive.
	deaf   chan struct{} // closed when they work again
	deafTo string        // the watches that are broken: "WATCH clusters"
}

type wire struct {
	*traffic
	next http.RoundTripper
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	what := describe(req)
	w.mu.Lock()
	if w.counts == nil {
		w.counts = map[string]int{}
	}
	w.counts[what]++
	w.begun++
	if what[:5] != "WATCH" {
		w.open++
		defer func() { w.mu.Lock(); w.open--; w.mu.Unlock() }()
	}
	saw := w.saw
	w.mu.Unlock()
	if saw != nil {
		saw(req)
	}
	resp, err := w.next.RoundTrip(req)
	if err == nil && what == "WATCH clusters" {
		resp.Body = &deafBody{w.traffic, what, resp.Body}
	}
	return resp, err
}

// describe says what a request asks for, without the names.
func describe(req *http.Request) string {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	verb := req.Method
	if req.URL.Query().Get("watch") != "" {
		verb = "WATCH"
		if strings.Contains(req.Header.Get("Accept"), "as=PartialObjectMetadata") {
			verb = "WATCH metadata of"
		}
	}
	i := 2 // api/v1/...
	if parts[0] == "apis" {
		i = 3
	}
	if len(parts) > i+2 && parts[i] == "namespaces" {
		i += 2
	}
	if len(parts) <= i {
		return verb + " discovery"
	}
	what := parts[i]
	if len(parts) > i+2 {
		what += "/" + parts[i+2]
	}
	return verb + " " + what
}

// take gives what was asked since the last time, once nothing was asked for a second.
func (t *traffic) take(test *testing.T) map[string]int {
	test.Helper()
	t.quiet(test)
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := t.counts
	t.counts = nil
	return counts
}

// quiet waits until nothing was asked for a second, and each request has its answer. It counts looks and not the time,
// which passes while this process does not run.
func (t *traffic) quiet(test *testing.T) {
	test.Helper()
	const pause = 50 * time.Millisecond
	seen, idle := 0, 0
	for range patience / pause {
		time.Sleep(pause)
		t.mu.Lock()
		if idle++; t.begun != seen || t.open > 0 {
			seen, idle = t.begun, 0
		}
		t.mu.Unlock()
		if idle == int(time.Second/pause) {
			return
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	test.Fatalf("the manager does not stop to ask: %v", t.counts)
}

func (o *operator) create(spec AppSpec) *App {
	o.t.Helper()
	a := &App{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "a"}, Spec: spec}
	must(o.t, api.Create(o.t.Context(), a))
	return a
}

// edit changes the App "a" as a person does.
func (o *operator) edit(do func(*App)) {
	o.t.Helper()
	a := &App{}
	must(o.t, api.Get(o.t.Context(), client.ObjectKey{Namespace: o.namespace, Name: "a"}, a))
	base := a.DeepCopyObject().(*App)
	do(a)
	must(o.t, api.Patch(o.t.Context(), a, client.MergeFrom(base)))
}

// becomes waits until the App "a" is as wanted: "False Timeout" for its present generation, or "gone".
func (o *operator) becomes(want string) *App {
	o.t.Helper()
	a, last := &App{}, ""
	err := apiserver.Until(o.t.Context(), func(ctx context.Context) (bool, error) {
		a, last = &App{}, "unset"
		err := api.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: "a"}, a)
		if client.IgnoreNotFound(err) != nil {
			return false, err
		}
		if err != nil {
			last = "gone"
		} else if c := meta.FindStatusCondition(a.Status.Conditions, "Ready"); c != nil && c.ObservedGeneration == a.Generation {
			last = string(c.Status) + " " + c.Reason
		}
		return last == want, nil
	})
	if err != nil {
		o.t.Fatalf("it should be %q and is %q: %+v; asked of the cloud: %q", want, last, a.Status, o.asked())
	}
	return a
}

// apps returns a reconciler with this apply. Without one, Apply is done at once.
func (o *operator) apps(apply func(context.Context, *flow.Request[*App]) (flow.Progress, error), opts ...ctrlx.Option) *ctrlx.Reconciler[*App] {
	return ctrlx.New("App", flow.Operations[*App]{
		Apply: func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
			if err := o.note("apply"); err != nil || apply == nil {
				return flow.Done(), err
			}
			return apply(ctx, req)
		},
		Delete: func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
			return flow.Done(), o.note("delete")
		},
	}, flow.Extensions[*App]{}, opts...)
}
