package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

type (
	databases  = flow.Operations[*testv1.Database]
	extensions = flow.Extensions[*testv1.Database]
)

func put(ctxt, *flow.Request[*testv1.Database]) (flow.Progress, error) { return flow.Done(), nil }

func keepsNone(*testv1.Database, checks.Ref, client.Object) bool { return false }

// drifted is a database with a setting whose type is wrong.
type drifted struct{ testv1.Database }

func (*drifted) IsSuspended() *bool { return nil }

// What makes no sense panics where it is set up, and says what to do.
func TestSetUpPanics(t *testing.T) {
	with := func(opts ...ctrlx.Option) func() {
		return func() { ctrlx.New("Database", databases{Apply: put}, extensions{}, opts...) }
	}
	target := ctrlx.WithTargetClient(func(context.Context, client.Client, *testv1.Database) (client.Client, error) { return nil, nil })
	as := ctrlx.WithImpersonation(func(*testv1.Database) rest.ImpersonationConfig { return rest.ImpersonationConfig{} })
	key := make([]byte, 32)
	with(ctrlx.WithWakeLimit(1, 1), ctrlx.WithSyncTimeout(1), ctrlx.WithPassTimeout(1), ctrlx.WithPollInterval(time.Second))() // the least values
	with(ctrlx.WithPassTimeout(1), ctrlx.WithController(controller.Options{}))()                                               // whose other fields are the user's
	if l := ctrlx.WakeLimit(3, 2*time.Second); l.Limit() != 1.5 || l.Burst() != 3 {
		t.Errorf("3 wake-ups in 2 seconds are %v in a second, and %d at once", l.Limit(), l.Burst())
	}
	cases := map[string]struct {
		reason string
		do     func()
		want   string
	}{
		"NoApply": {"flow says so", func() { ctrlx.New("Database", databases{}, extensions{}) }, "Operations.Apply is nil"},
		"HalfToken": {"a token that is kept nowhere is lost", func() {
			ctrlx.New("Database", databases{Apply: put, Token: func(*testv1.Database) (string, int64) { return "", 0 }}, extensions{})
		}, "Operations.Token and Operations.SetToken"},
		"HalfSetToken": {"a token that is never read is lost", func() {
			ctrlx.New("Database", databases{Apply: put, SetToken: func(ctxt, *testv1.Database, string, int64) error { return nil }}, extensions{})
		}, "Operations.Token and Operations.SetToken"},
		"Interface": {"it could not be read into", func() {
			ctrlx.New("Any", flow.Operations[client.Object]{Apply: func(ctxt, *flow.Request[client.Object]) (flow.Progress, error) { return flow.Done(), nil }},
				flow.Extensions[client.Object]{})
		}, "Object is no pointer to a struct"},
		"NoConditions": {"nothing could be written", func() {
			ctrlx.New("Any", flow.Operations[*unstructured.Unstructured]{Apply: func(ctxt, *flow.Request[*unstructured.Unstructured]) (flow.Progress, error) {
				return flow.Done(), nil
			}}, flow.Extensions[*unstructured.Unstructured]{})
		}, "use WithConditions"},
		"OtherOwner":      {"it could not be called", with(ctrlx.WithOwner(func(*testv1.Cluster) checks.Ref { return checks.Ref{} })), "WithOwner was given a func(*testv1.Cluster) checks.Ref, it takes a func(*testv1.Database) checks.Ref"},
		"OtherConditions": {"it could not be called", with(ctrlx.WithConditions(func(*testv1.Cluster) *[]metav1.Condition { return nil })), "WithConditions was given a func(*testv1.Cluster)"},
		"OwnedBy":         {"nil", func() { ctrlx.WithOwner((func(resource *testv1.Database) checks.Ref)(nil)) }, "ctrlx: WithOwner: the function is nil"},
		"WithConditions":  {"nil", func() { ctrlx.WithConditions[*testv1.Database](nil) }, "ctrlx: WithConditions: the function is nil"},
		"FinalizerPart":   {"the API server refuses it", func() { ctrlx.WithFinalizer("my.example.com/") }, `ctrlx: WithFinalizer("my.example.com/"): name part must be non-empty; name part must`},
		"WithFinalizer":   {"the API server refuses it", func() { ctrlx.WithFinalizer("") }, "ctrlx: WithFinalizer: the name is empty"},
		"NilOption":       {"it is a mistake", with(nil), "ctrlx: New: Database: option 1 is nil"},
		"NilFlow":         {"an option of flow may be one, too", with(flow.Option(nil)), "ctrlx: New: Database: option 1 is nil"},
		"OtherOption":     {"its package is not known", with(ctrlx.WithoutEvents(), foreignOption{}), "ctrlx: New: Database: option 2 is a ctrlx_test.foreignOption: give options of the packages ctrlx and flow"},
		"WithoutBackoff":  {"nothing would requeue", with(flow.WithoutBackoff()), "ctrlx: New: Database: flow.WithoutBackoff is given"},
		"WithResolver":    {"no reference would be followed", with(flow.WithResolver(func(ctxt, checks.Ref) (checks.Object, error) { return checks.Object{}, nil })), "flow: New: Database: WithResolver is given twice: give it once, and not at all under ctrlx"},
		"WithLister":      {"no set would be followed", with(flow.WithLister(func(ctxt, checks.Query) ([]checks.Object, error) { return nil, nil })), "flow: New: Database: WithLister is given twice"},
		"SyncTimeout":     {"no pass would ever see anything", func() { ctrlx.WithSyncTimeout(0) }, "ctrlx: WithSyncTimeout(0s): give a positive duration"},
		"Drifted": {"the method would be ignored", func() {
			ctrlx.New("Database", flow.Operations[*drifted]{Apply: func(ctxt, *flow.Request[*drifted]) (flow.Progress, error) { return flow.Done(), nil }}, flow.Extensions[*drifted]{})
		}, "ctrlx: New: Database: the method IsSuspended of *ctrlx_test.drifted is a func() *bool: it must be a func() bool"},
		"FromStart":      {"there is no time-out", with(ctrlx.WithTimeoutFromStart()), "ctrlx: New: Database: WithTimeoutFromStart needs a method GetTimeout of *testv1.Database or of its field Spec"},
		"PollEvery":      {"it would do nothing else", func() { ctrlx.WithPollInterval(time.Millisecond) }, "ctrlx: WithPollInterval(1ms): give at least 1s"},
		"WatchNone":      {"it would say nothing", func() { ctrlx.WithWatchedKinds() }, "ctrlx: WithWatchedKinds: give at least one kind"},
		"WatchNoKind":    {"it names no kind", func() { ctrlx.WithWatchedKinds(schema.GroupKind{Group: "apps"}) }, `ctrlx: WithWatchedKinds: ".apps": give the name of a kind, or *`},
		"WatchAnyGroup":  {"a kind has one group", func() { ctrlx.WithWatchedKinds(schema.GroupKind{Group: "*", Kind: "Secret"}) }, "give the name of a kind, or *"},
		"UnwatchedNone":  {"it would say nothing", func() { ctrlx.WithUnwatchedKinds() }, "ctrlx: WithUnwatchedKinds: give at least one kind"},
		"UnwatchedAll":   {"nothing would wake any object", func() { ctrlx.WithUnwatchedKinds(schema.GroupKind{Group: "*", Kind: "*"}) }, `ctrlx: WithUnwatchedKinds: "*.*": give the name of a kind`},
		"UnfollowedAll":  {"no option would be needed then", func() { ctrlx.WithUnfollowedKinds(schema.GroupKind{Kind: "*"}) }, `ctrlx: WithUnfollowedKinds: "*": give the name of a kind`},
		"WakeNone":       {"no waiter would be requeued", func() { ctrlx.WithWakeLimit(0, time.Second) }, "ctrlx: WithWakeLimit(0, 1s): give at least 1"},
		"WakeNever":      {"a rate without a time", func() { ctrlx.WithWakeLimit(1, 0) }, "and a positive duration"},
		"ForeignNil":     {"it would panic in the first pass", func() { ctrlx.WithForeignReferences(nil) }, "ctrlx: WithForeignReferences: the function is nil"},
		"KeepingNil":     {"it would panic in the first pass", func() { ctrlx.WithKeeping[*testv1.Database](nil) }, "ctrlx: WithKeeping: the function is nil"},
		"TokenKeyTwice":  {"the first key would be ignored", with(ctrlx.WithTokenKey(make([]byte, 32)), ctrlx.WithTokenKey(make([]byte, 32))), "ctrlx: WithTokenKey is given twice"},
		"OptionsTwice":   {"the fields of the first would be lost", with(ctrlx.WithController(controller.Options{}), ctrlx.WithController(controller.Options{})), "ctrlx: WithController is given twice"},
		"KeepingTwice":   {"two guards would remove each other's finalizers", with(ctrlx.WithKeeping(keepsNone), ctrlx.WithKeeping(keepsNone)), "ctrlx: WithKeeping is given twice"},
		"OtherKeeping":   {"it could not be called", with(ctrlx.WithKeeping(func(*testv1.Cluster, checks.Ref, client.Object) bool { return false })), "WithKeeping was given a func(*testv1.Cluster, checks.Ref, "},
		"OwnsNothing":    {"nothing could be watched", func() { ctrlx.WithOwns(nil) }, "ctrlx: WithOwns: the object is nil"},
		"OwnsNil":        {"its kind is not enough", func() { ctrlx.WithOwns((*testv1.Cluster)(nil)) }, "ctrlx: WithOwns: the object is nil"},
		"OwnsNilFilter":  {"it would panic at the first event", func() { ctrlx.WithOwns(&testv1.Cluster{}, predicate.GenerationChangedPredicate{}, nil) }, "ctrlx: WithOwns: predicate 2 is nil"},
		"WatchesNothing": {"nothing could be watched", func() { ctrlx.WithWatches(nil, &handler.EnqueueRequestForObject{}) }, "ctrlx: WithWatches: the object is nil"},
		"WatchesNil":     {"it would panic at the first event", func() { ctrlx.WithWatches(&testv1.Cluster{}, nil) }, "ctrlx: WithWatches: the event handler is nil"},
		"NilSource":      {"it would panic when the manager starts", func() { ctrlx.WithSource(source.Func(nil)) }, "ctrlx: WithSource: the source is nil"},
		"WrapNil":        {"nil", func() { ctrlx.Wrap(nil) }, "ctrlx: Wrap: the reconciler is nil"},
		"WrapNilLink": {"chain says so", func() {
			ctrlx.Wrap(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil }), nil)
		}, "nil"},
		"WrapNilFunc": {"it would panic in the first pass", func() { ctrlx.Wrap(reconcile.Func(nil)) }, "ctrlx: Wrap: the reconciler is nil"},

		"ReporterSpace":  {"the API server refuses it", func() { ctrlx.WithEventReporter("my operator") }, `ctrlx: WithEventReporter("my operator"): `},
		"ReporterEmpty":  {"the API server refuses it", func() { ctrlx.WithEventReporter("") }, `ctrlx: WithEventReporter(""): name part must be non-empty; name part must`},
		"ReporterLong":   {"the host name has to fit", func() { ctrlx.WithEventReporter("a.example.com/" + strings.Repeat("x", 51)) }, "the name has more than 64 bytes"},
		"ReporterUnused": {"one of them would be ignored", with(ctrlx.WithoutEvents(), ctrlx.WithEventReporter("a")), "WithEventReporter and WithoutEvents are both given"},

		"IndexNoField":   {"no query could name it", func() { ctrlx.WithIndex(clustersOf(checks.Query{Field: " "}), byState) }, `ctrlx: WithIndex: " ": give the kind and the field of the set, and a function`},
		"IndexNoKind":    {"it is the set of no kind", func() { ctrlx.WithIndex(checks.Query{Field: "state"}, byState) }, `ctrlx: WithIndex: "state": give the kind and the field of the set, and a function`},
		"IndexNoFunc":    {"it would panic at the first event", func() { ctrlx.WithIndex[*testv1.Cluster](state, nil) }, `ctrlx: WithIndex: "state": give the kind and the field of the set, and a function`},
		"IndexInterface": {"it names no kind", func() { ctrlx.WithIndex(state, func(client.Object) []string { return nil }) }, fmt.Sprintf("ctrlx: WithIndex: %q: %s is no pointer to a struct", state.Field, reflect.TypeFor[client.Object]())},

		"TargetAndAs": {"there is one client for the target", with(target, as), "WithImpersonation is given, and WithTargetClient is, too"},
		"TargetTwice": {"there is one client for the target", with(target, target), "WithTargetClient is given, and WithTargetClient is, too"},
		"AsTwice":     {"there is one client for the target", with(as, as), "WithImpersonation is given, and WithImpersonation is, too"},
		"OtherAs": {"it could not be called", with(ctrlx.WithImpersonation(func(*App) rest.ImpersonationConfig { return rest.ImpersonationConfig{} })),
			"Database: WithImpersonation was given a func"},
		"OtherTarget": {"it could not be called", with(ctrlx.WithTargetClient(func(context.Context, client.Client, *App) (client.Client, error) { return nil, nil })),
			"Database: WithTargetClient was given a func"},
		"TargetNil": {"nil", func() { ctrlx.WithTargetClient[*App](nil) }, "ctrlx: WithTargetClient: the function is nil"},
		"AsNil":     {"nil", func() { ctrlx.WithImpersonation[*App](nil) }, "ctrlx: WithImpersonation: the function is nil"},

		"PassTimeout": {"no pass would do anything", func() { ctrlx.WithPassTimeout(0) }, "ctrlx: WithPassTimeout(0s): give a positive duration"},
		"PassTimeoutTwice": {"one of them would be ignored", with(ctrlx.WithPassTimeout(time.Minute), ctrlx.WithController(controller.Options{ReconciliationTimeout: time.Hour})),
			"ctrlx: New: Database: WithPassTimeout and the ReconciliationTimeout of WithController are both given: leave one of them out"},
		"TelemetryBoth": {"they contradict each other", with(ctrlx.WithTelemetry(), ctrlx.WithoutTelemetry()),
			"Database: WithTelemetry and WithoutTelemetry are both given: leave one of them out"},
		"TelemetryTwice": {"each line would be written twice", with(flow.WithObserver(otelx.New())),
			"both write the log lines of each pass: leave one of them out, or give it otelx.WithoutLogs; ctrlx adds an observer, whose options ctrlx.WithTelemetry sets"},
		"ReadinessNoKind":  {"it names no kind", func() { ctrlx.WithReadiness(schema.GroupKind{}, ctrlx.Exists) }, "ctrlx: WithReadiness: \"\": give a kind and a function"},
		"ReadinessNoFunc":  {"it would panic in the first pass", func() { ctrlx.WithReadiness(schema.GroupKind{Kind: "Secret"}, nil) }, `ctrlx: WithReadiness: "Secret": give a kind and a function`},
		"KstatusNoKind":    {"it is no kind", func() { ctrlx.Kstatus(schema.GroupVersionKind{Version: "v1"}) }, "ctrlx: Kstatus: \"/v1, Kind=\": give a kind and a version"},
		"KstatusNoVersion": {"its rules are those of a version", func() { ctrlx.Kstatus(schema.GroupVersionKind{Kind: "Job"}) }, `ctrlx: Kstatus: "/, Kind=Job": give a kind and a version`},
		"KeyNil":           {"no key signs nothing", func() { ctrlx.WithTokenKey(nil) }, "key 1 has 0 bytes"},
		"KeyShort":         {"a short key can be guessed", func() { ctrlx.WithTokenKey(key[:31]) }, "key 1 has 31 bytes: give at least 32 random bytes"},
		"KeyShortPrevious": {"a short key can be guessed", func() { ctrlx.WithTokenKey(key, []byte{}) }, "key 2 has 0 bytes"},
		"WhyValue":         {"a copy of a manager has no identity", func() { ctrlx.Why(notAPointer{}) }, "ctrlx: Why: the manager is a ctrlx_test.notAPointer: give a pointer"},
		"OtherInterrupt":   {"it could not be called", with(ctrlx.WithInterrupt(func(_, _ *App) bool { return false })), "WithInterrupt was given a func"},
		"InterruptNil":     {"it would panic in the first Apply", func() { ctrlx.WithInterrupt[*testv1.Database](nil) }, "ctrlx: WithInterrupt"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.reason)
			panicsWith(t, tc.want, tc.do)
		})
	}
}

func newManager(t *testing.T, s *runtime.Scheme) manager.Manager {
	m := newHarness(t).manager
	m.scheme = s
	return m
}

func TestSetupWithManager(t *testing.T) {
	t.Parallel()
	make := func() *ctrlx.Reconciler[*testv1.Database] {
		return ctrlx.New("Database", databases{Apply: put}, extensions{})
	}
	cases := map[string]struct {
		reason string
		do     func() error
		want   string // empty: no error
	}{
		"Twice": {"a reconciler has one manager", func() error {
			r, mgr := make(), newManager(t, scheme)
			if err := r.SetupWithManager(mgr); err != nil {
				return fmt.Errorf("the first time: %w", err)
			}
			return r.SetupWithManager(mgr)
		}, "ctrlx: Database was set up already: make a Reconciler for each manager"},
		"SameKind": {"two of them would undo what the other has done", func() error {
			mgr := newManager(t, scheme)
			if err := make().SetupWithManager(mgr); err != nil {
				return fmt.Errorf("the first one: %w", err)
			}
			return make().SetupWithManager(mgr)
		}, "ctrlx: Database: the kind Database has the reconciler Database already"},
		"OtherManager": {"one for each", func() error {
			if err := make().SetupWithManager(newManager(t, scheme)); err != nil {
				return err
			}
			return make().SetupWithManager(newManager(t, scheme))
		}, ""},
		"Unknown": {"the kind is not in the scheme", func() error { return make().SetupWithManager(newManager(t, runtime.NewScheme())) },
			"ctrlx: Database: add the type to the manager's scheme"},
		"UnknownOwned": {"controller-runtime would only log it, for two minutes", func() error {
			r := ctrlx.New("Database", databases{Apply: put}, extensions{}, ctrlx.WithOwns(&App{}))
			s := runtime.NewScheme()
			if err := testv1.AddToScheme(s); err != nil {
				return err
			}
			return r.SetupWithManager(newManager(t, s))
		}, "ctrlx: Database: WithOwns(*ctrlx_test.App): add the type to the manager's scheme"},
		"Again": {"what went wrong can be mended and tried again", func() error {
			r := make()
			if r.SetupWithManager(newManager(t, runtime.NewScheme())) == nil {
				return fmt.Errorf("the first time there is no error")
			}
			return r.SetupWithManager(newManager(t, scheme))
		}, ""},
		"Nil":         {"there is no manager", func() error { return make().SetupWithManager(nil) }, "ctrlx: Database: the manager is nil"},
		"NilPointer":  {"there is no manager", func() error { return make().SetupWithManager((*idleManager)(nil)) }, "ctrlx: Database: the manager is nil"},
		"NotAPointer": {"two copies would not share a cache", func() error { return make().SetupWithManager(struct{ manager.Manager }{newManager(t, scheme)}) }, "ctrlx: Database: the manager is a struct"},
		"Refused": {"nothing would report the orphans", func() error {
			return make().SetupWithManager(&refusing{newHarness(t).manager, func(n int, r manager.Runnable) bool { _, ok := r.(reconcile.Reconciler); return n == 4 && !ok }})
		}, "ctrlx: Database: the cloud is broken"},
		"NoController": {"nothing would call it", func() error {
			return make().SetupWithManager(&refusing{newHarness(t).manager, func(_ int, r manager.Runnable) bool { _, ok := r.(reconcile.Reconciler); return ok }})
		}, "ctrlx: Database: the cloud is broken"},
		"NotSetUp": {"it has nothing to read from", func() error {
			_, err := make().Reconcile(t.Context(), reconcile.Request{})
			return err
		}, "ctrlx: Database was not set up: call SetupWithManager"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.do()
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)) {
				t.Errorf("%s: it should be %q and is: %v", tc.reason, tc.want, err)
			}
		})
	}
}

// refusing is a manager that refuses the n-th runnable, from 1, if refuses says so.
type refusing struct {
	*idleManager
	refuses func(n int, r manager.Runnable) bool
}

func (m *refusing) Add(r manager.Runnable) error {
	if m.refuses(len(m.added)+1, r) {
		return errBroken
	}
	return m.idleManager.Add(r)
}

// A webhook is told to ask another process until the controller of this one runs.
func TestElectedOf(t *testing.T) {
	yes, no := new(true), new(false)
	cases := map[string]struct {
		reason           string
		manager, options *bool
		leads, want      bool
	}{
		"Default":  {"a controller needs the leader", nil, nil, false, false},
		"Leads":    {"this process is the leader", nil, nil, true, true},
		"Manager":  {"no controller of the manager needs a leader", no, nil, false, true},
		"Option":   {"this controller needs none", yes, no, false, true},
		"Contrary": {"this controller needs one", no, yes, false, false},
	}
	for name, tc := range cases {
		m := &idleManager{elects: tc.manager, standby: !tc.leads}
		got := false
		elected, needsLeader := ctrlx.ElectedOf(m, controller.Options{NeedLeaderElection: tc.options})
		select {
		case <-elected():
			got = true
		default:
		}
		if got != tc.want || needsLeader != (tc.leads || !tc.want) {
			t.Errorf("%s: %s: the controller may run: %t, needs the leader: %t", name, tc.reason, got, needsLeader)
		}
	}
}

// foreignOption is an option of a package that New does not know.
type foreignOption struct{}

func (foreignOption) ForReconciler() {}

// setUp is a function as what start takes.
type setUp func(manager.Manager) error

func (f setUp) SetupWithManager(mgr manager.Manager) error { return f(mgr) }

// All registered kinds run, each with its own extensions.
func TestSetupAll(t *testing.T) {
	owner := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c", UID: "c"}}
	d := newHarness(t, owner, &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "d", UID: "d"}, Spec: testv1.DatabaseSpec{Cluster: "c", Size: 5}})
	gate := func(what string) checks.Chain[*testv1.Database] {
		return chain.New(checks.Gate(what, func(context.Context, *checks.Request[*testv1.Database]) (checks.Result, error) {
			d.note("%s", what)
			return checks.Proceed(), nil
		}))
	}
	var registry flow.Registry[client.Object]
	flow.Register(&registry, "Cluster", flow.Extensions[*testv1.Cluster]{})
	flow.Register(&registry, "Database", extensions{EntryCheck: gate("entry"), OwnerCheck: chain.New(checks.OwnerReady()), PostCheck: gate("post")})
	must(t, ctrlx.SetupAll(d.manager, &registry,
		ctrlx.NewKind("Cluster", flow.Operations[*testv1.Cluster]{Apply: func(context.Context, *flow.Request[*testv1.Cluster]) (flow.Progress, error) {
			d.note("cluster")
			return flow.Done(), nil
		}}),
		ctrlx.NewKind("Database", databases{Apply: func(context.Context, *flow.Request[*testv1.Database]) (flow.Progress, error) {
			d.note("database")
			return flow.Done(), nil
		}}, ctrlx.WithOwner(clusterOf)),
	))
	var passes []reconcile.Reconciler
	for _, r := range d.manager.added {
		if r, ok := r.(reconcile.Reconciler); ok {
			passes = append(passes, r)
		}
	}
	for _, of := range []struct {
		kind int
		name string
	}{{1, "d"}, {0, "c"}, {1, "d"}} { // the cluster is not ready at first
		if _, err := passes[of.kind].Reconcile(t.Context(), reconcile.Request{NamespacedName: named(of.name)}); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "the calls", "entry, cluster, entry, database, post", d.took())
}

// What does not fit is an error that names the kind, before anything is set up.
func TestSetupAllRefuses(t *testing.T) {
	t.Parallel()
	var registry flow.Registry[client.Object]
	flow.Register(&registry, "Cluster", flow.Extensions[*testv1.Cluster]{})
	flow.Register(&registry, "Database", flow.Extensions[*testv1.Database]{})
	flow.Register(&registry, "Any", flow.Extensions[client.Object]{})
	clusters := ctrlx.NewKind("Cluster", flow.Operations[*testv1.Cluster]{
		Apply: func(ctxt, *flow.Request[*testv1.Cluster]) (flow.Progress, error) { return flow.Done(), nil }})
	databases := ctrlx.NewKind("Database", databases{Apply: put})
	missing := func(kind string) string {
		return fmt.Sprintf("ctrlx: SetupAll: kind %q is registered and not given: add ctrlx.NewKind(%q, ...)", kind, kind)
	}
	cases := map[string]struct {
		reason string
		kinds  []ctrlx.Kind
		want   []string
	}{
		"Missing": {"a registered kind would not be reconciled", []ctrlx.Kind{clusters, databases}, []string{missing("Any")}},
		"All":     {"all of them are named", nil, []string{missing("Any"), missing("Cluster"), missing("Database")}},
		"Unknown": {"it would run without its links", []ctrlx.Kind{clusters, databases, ctrlx.NewKind("any", databasesOps())},
			[]string{`ctrlx: SetupAll: flow: kind "any" is not registered: call flow.Register, with the zero Extensions if the kind needs none`, missing("Any")}},
		"OtherType": {"its extensions are for another type", []ctrlx.Kind{clusters, databases, ctrlx.NewKind("Any", databasesOps())},
			[]string{`ctrlx: SetupAll: flow: kind "Any" is registered for client.Object, and is used for *testv1.Database: register it for *testv1.Database`}},
		"Twice": {"one of them would be lost", []ctrlx.Kind{clusters, databases, clusters},
			[]string{`ctrlx: SetupAll: kind "Cluster" is given twice: remove one`, missing("Any")}},
		"Zero": {"it names no kind", []ctrlx.Kind{clusters, {}, databases}, []string{"ctrlx: SetupAll: kind 2 is the zero Kind: make it with NewKind", missing("Any")}},
	}
	for _, tc := range cases {
		d := newHarness(t)
		err := ctrlx.SetupAll(d.manager, &registry, tc.kinds...)
		same(t, tc.reason,
			strings.Join(tc.want, "\n"), strings.ReplaceAll(fmt.Sprint(err), "cacheapi.Object", "client.Object"))
		if err := ctrlx.New("Database", databasesOps(), extensions{}).SetupWithManager(d.manager); err != nil {
			t.Errorf("%s: something was set up: %v", tc.reason, err)
		}
	}
	var two flow.Registry[client.Object]
	flow.Register(&two, "Database", flow.Extensions[*testv1.Database]{})
	err := ctrlx.SetupAll(newManager(t, runtime.NewScheme()), &two, databases)
	if err == nil || !strings.HasPrefix(err.Error(), "ctrlx: Database: add the type to the manager's scheme") {
		t.Errorf("an error of the manager names the kind: %v", err)
	}
	if err := ctrlx.SetupAll(newHarness(t).manager, nil); err != nil {
		t.Errorf("no registry has no kinds: %v", err)
	}
}

func databasesOps() databases { return databases{Apply: put} }

var state = clustersOf(checks.Query{Field: "state"})

func byState(c *testv1.Cluster) []string { return []string{c.Status.State} }

func TestWithIndexSetup(t *testing.T) {
	databases := func(opts ...ctrlx.Option) *ctrlx.Reconciler[*testv1.Database] {
		return ctrlx.New("Database", databases{Apply: put}, extensions{}, opts...)
	}
	index := ctrlx.WithIndex(state, byState)
	cases := map[string]struct {
		reason string
		do     func(d *harness) error
		want   string // empty: no error
	}{
		"Twice": {"one function would replace the other", func(d *harness) error { return databases(index, index).SetupWithManager(d.manager) },
			`ctrlx: Database: the field "state" of the kind Cluster.test.windlass-go.github.io has an index already`},
		"OtherReconciler": {"all reconcilers of a manager share it", func(d *harness) error {
			if err := databases(index).SetupWithManager(d.manager); err != nil {
				return fmt.Errorf("the first one: %w", err)
			}
			return d.reconciler(flow.Extensions[*App]{}, index).SetupWithManager(d.manager)
		}, `ctrlx: App: the field "state" of the kind Cluster.test.windlass-go.github.io has an index already`},
		"OtherField": {"a kind has several fields", func(d *harness) error {
			return databases(index, ctrlx.WithIndex(clustersOf(checks.Query{Field: "name"}), func(c *testv1.Cluster) []string { return []string{c.Name} })).SetupWithManager(d.manager)
		}, ""},
		"Unknown": {"the scheme does not have the type", func(d *harness) error {
			return databases(ctrlx.WithIndex(clustersOf(checks.Query{Field: "x"}), func(*unknownKind) []string { return nil })).SetupWithManager(d.manager)
		}, `ctrlx: Database: WithIndex: "x": add the type to the manager's scheme`},
		"SetOfOther": {"the queries would find an index of another kind", func(d *harness) error {
			return databases(ctrlx.WithIndex(databasesOf(checks.Query{Field: "state"}), byState)).SetupWithManager(d.manager)
		}, `ctrlx: Database: WithIndex: "state": the set is of Database.test.windlass-go.github.io, and the function takes a *testv1.Cluster, which is Cluster.test.windlass-go.github.io: give one kind`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.do(newHarness(t))
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// unknownKind is a type that no scheme has.
type unknownKind struct{ testv1.Cluster }

func (u *unknownKind) DeepCopyObject() runtime.Object { c := *u; return &c }

// A query of a set check over a field without an index is found when the manager
// starts, and not in the first pass that needs it, such as the first deletion.
func TestMissingIndex(t *testing.T) {
	const missing = `ctrlx: App: the check Unused(databases) queries Database.test.windlass-go.github.io: no index has the field "spec.cluster" of the kind`
	unused := func(field func(a *App) string) checks.Middleware[*App] {
		return checks.Unused("databases", func(a *App) checks.Query {
			return checks.Query{Group: testv1.GroupVersion.Group, Kind: "Database", Field: field(a), Value: a.Name}
		})
	}
	byCluster := func(*App) string { return "spec.cluster" }
	atDelete := flow.Extensions[*App]{DeleteCheck: chain.New(unused(byCluster))}
	index := ctrlx.WithIndex(databasesOf(checks.Query{Field: "spec.cluster"}), func(d *testv1.Database) []string { return []string{d.Spec.Cluster} })
	converted := checks.Convert(chain.New(unused(byCluster)), func(*testv1.Database) (*App, error) { return &App{}, nil })
	cases := map[string]struct {
		reason   string
		ext      flow.Extensions[*App]
		app      []ctrlx.Option
		database flow.Extensions[*testv1.Database]
		options  []ctrlx.Option
		want     string // empty: the manager starts
	}{
		"Missing":   {"no reconciler defines it", atDelete, nil, extensions{}, nil, missing},
		"Inside":    {"a check inside others lists it, too", flow.Extensions[*App]{PreCheck: chain.New(chain.When(func(context.Context, *checks.Request[*App]) bool { return false }, checks.All(unused(byCluster), unused(byCluster))))}, nil, extensions{}, nil, `no index has the field "spec.cluster"`},
		"Converted": {"the check is for another type", flow.Extensions[*App]{}, nil, extensions{PostCheck: converted}, nil, "ctrlx: Database: the check Unused(databases)"},
		"OtherKind": {"another kind has an index of that name", atDelete, []ctrlx.Option{ctrlx.WithIndex(clustersOf(checks.Query{Field: "spec.cluster"}), byState)}, extensions{}, nil, missing},
		"Here":      {"the reconciler defines it", atDelete, []ctrlx.Option{index}, extensions{}, nil, ""},
		"There":     {"a reconciler that is set up later defines it", atDelete, nil, extensions{}, []ctrlx.Option{index}, ""},
		"NoField":   {"a query without a field needs none", flow.Extensions[*App]{DeleteCheck: chain.New(unused(func(*App) string { return "" }))}, nil, extensions{}, nil, ""},
		"Panics":    {"the query of an empty object is not known", flow.Extensions[*App]{DeleteCheck: chain.New(unused(func(a *App) string { return a.Finalizers[0] }))}, nil, extensions{}, nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t)
			d.use(d.reconciler(tc.ext, tc.app...))
			must(t, ctrlx.New("Database", databases{Apply: put}, tc.database, tc.options...).SetupWithManager(d.manager))
			err := d.manager.starts(t.Context())
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

var errRefused = errors.New("refused")

// An existing reconciler gets links around it, and stays what it is.
func TestWrap(t *testing.T) {
	request := reconcile.Request{NamespacedName: keyOf("team", "db")}
	cases := map[string]struct {
		reason   string
		existing reconcile.Func
		links    []ctrlx.Middleware
		want     reconcile.Result
		check    func(err error) bool
	}{
		"Plain": {
			reason: "without links nothing changes",
			existing: func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{RequeueAfter: time.Hour}, nil
			},
			want:  reconcile.Result{RequeueAfter: time.Hour},
			check: func(err error) bool { return err == nil },
		},
		"Error": {
			reason: "controller-runtime looks for errors of its own",
			existing: func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, reconcile.TerminalError(errRefused)
			},
			links: []ctrlx.Middleware{recovers},
			check: func(err error) bool {
				return errors.Is(err, reconcile.TerminalError(nil)) && errors.Is(err, errRefused)
			},
		},
		"Outermost": {
			reason:   "the first link is the outermost: it sees what Recover made of the panic",
			existing: func(context.Context, reconcile.Request) (reconcile.Result, error) { panic("lost") },
			links:    []ctrlx.Middleware{forgive, recovers},
			want:     reconcile.Result{RequeueAfter: time.Minute},
			check:    func(err error) bool { return err == nil },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got reconcile.Request
			r := ctrlx.Wrap(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				got = req
				return tc.existing(ctx, req)
			}), tc.links...)
			result, err := r.Reconcile(t.Context(), request)
			if got != request || result != tc.want || !tc.check(err) {
				t.Errorf("%s: %v, %+v, %v", tc.reason, got, result, err)
			}
		})
	}
}

var recovers ctrlx.Middleware = chain.Recover

func forgive(next ctrlx.Handler) ctrlx.Handler {
	return func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		result, err := next(ctx, req)
		if err != nil {
			return reconcile.Result{RequeueAfter: time.Minute}, nil
		}
		return result, nil
	}
}

// An operation that puts another object into its request has failed, since nothing of that would be written. The
// token of an operation under way is kept.
func TestReplaced(t *testing.T) {
	cases := map[string]struct {
		reason           string
		do               func(*flow.Request[*App]) error
		replaced, broken bool // the errors
	}{
		"InPlace":    {"as it should be", func(req *flow.Request[*App]) error { *req.Resource = App{}; return nil }, false, false},
		"Fails":      {"its error is its own", func(*flow.Request[*App]) error { return errBroken }, false, true},
		"Other":      {"another object", func(req *flow.Request[*App]) error { req.Resource = &App{}; return nil }, true, false},
		"None":       {"no object", func(req *flow.Request[*App]) error { req.Resource = nil; return nil }, true, false},
		"OtherFails": {"both are said", func(req *flow.Request[*App]) error { req.Resource = &App{}; return errBroken }, true, true},
	}
	for name, tc := range cases {
		for _, where := range []string{"get", "apply", "delete"} {
			t.Run(name+"/"+where, func(t *testing.T) {
				d := newHarness(t, anApp(AppSpec{}))
				does := func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
					return flow.InProgress("token", 0), tc.do(req)
				}
				called := false
				check := func(before *App, req *flow.Request[*App], err error) {
					if called = true; errors.Is(err, ctrlx.ErrReplaced) != tc.replaced || tc.replaced && !strings.Contains(err.Error(), "ctrlx: the operation replaced req.Resource") || errors.Is(err, errBroken) != tc.broken {
						t.Errorf("%s: %v", tc.reason, err)
					}
					if req.Resource != before {
						t.Errorf("%s: the link after it has another object", tc.reason)
					}
				}
				link := chain.New(chain.Named("link", func(next flow.Handler[*App]) flow.Handler[*App] {
					return func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
						before := req.Resource
						p, err := next(ctx, req)
						if check(before, req, err); p.Token() != "token" {
							t.Errorf("%s: the token of the operation under way is %q", tc.reason, p.Token())
						}
						return flow.Progress{}, errBroken
					}
				}))
				ops := flow.Operations[*App]{Apply: does, Delete: does}
				ext := flow.Extensions[*App]{Apply: link, Delete: link}
				switch where {
				case "get":
					ops.Get = func(ctx context.Context, req *flow.Request[*App]) (flow.Observation, error) {
						_, err := does(ctx, req)
						return flow.Observation{}, err
					}
					ext.Get = chain.New(chain.Named("link", func(next flow.GetHandler[*App]) flow.GetHandler[*App] {
						return func(ctx context.Context, req *flow.Request[*App]) (flow.Observation, error) {
							before := req.Resource
							_, err := next(ctx, req)
							check(before, req, err)
							return flow.Observation{}, errBroken
						}
					}))
				case "delete":
					ops.Deleting, ext = func(*App) bool { return true }, flow.Extensions[*App]{Delete: link}
				}
				d.use(ctrlx.New("App", ops, ext, d.clock()...))
				if _ = d.try(); !called {
					t.Errorf("%s: it was not called", where)
				}
			})
		}
	}
}

// What needs a pass says so outside of one.
func TestOutsideOfAPass(t *testing.T) {
	_, target := ctrlx.ClientFromContext(t.Context())
	_, data := ctrlx.Read[*corev1.Secret](t.Context(), theKey)
	d := ctrlx.New("Database", databases{Apply: put}, extensions{})
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"WriteAhead":        {ctrlx.WriteAhead(t.Context(), anApp(AppSpec{}), "note", "1"), "the context is that of no pass: hand on the context that the link was given"},
		"SetFinalizers":     {ctrlx.SetFinalizers(t.Context(), &testv1.Cluster{}, nil), "the context is that of no pass: hand on the context that the link was given"},
		"ClientFromContext": {target, "the context has no pass"},
		"Report":            {ctrlx.Report(t.Context(), &testv1.Database{}, "Installing", ""), "pass"},
		"Read":              {data, "pass"},
		"Owner":             {d.Flow().Reconcile(t.Context(), &testv1.Database{}).Err(), "the resolver was called outside of a pass"},
	} {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("%s returns %v, want %q", name, tc.err, tc.want)
		}
	}
	if links := d.Flow().Extensions().Pass.Links(); len(links) > 0 { // a type that does not say whether it is suspended has no link for it
		t.Errorf("there are links on Pass: %v", links)
	}
}

// A link that hands on a context of its own is an error that says so: without the pass, no finalizer could be written.
func TestContextDropped(t *testing.T) {
	drops := map[string]flow.Extensions[*App]{
		"Apply": {Apply: chain.New(chain.Named("drops", func(next flow.Handler[*App]) flow.Handler[*App] {
			return func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				return next(context.Background(), req)
			}
		}))},
		"Hook": {PreCheck: chain.New(chain.Named("drops", func(next checks.Handler[*App]) checks.Handler[*App] {
			return func(_ context.Context, req *checks.Request[*App]) (checks.Result, error) {
				return next(context.Background(), req)
			}
		}))},
	}
	asks := func(ask func(*checks.Request[*App]) error) flow.Extensions[*App] {
		return checking(flow.PointPreCheck, func(_ context.Context, req *checks.Request[*App]) (checks.Result, error) {
			return checks.Proceed(), ask(req)
		})
	}
	drops["Resolver"] = asks(func(req *checks.Request[*App]) error {
		_, err := req.Resolver(context.Background(), dataOf("d0"))
		return err
	})
	drops["Lister"] = asks(func(req *checks.Request[*App]) error { _, err := req.Lister(context.Background(), inSet); return err })
	for name, ext := range drops {
		d := newHarness(t, freshApp("uid"))
		d.use(d.reconciler(ext).WithPreReconcileHook(func(context.Context, client.Client, *App) error { return nil }))
		if d.pass(); !strings.Contains(d.message(), "outside of a pass: hand on the context") || d.took() != "" {
			t.Errorf("%s: the object says %q with %q", name, d.says(), d.message())
		}
	}
}

// The flow of a reconciler that runs by itself has no pass. Nothing panics, and the flow says so in its line and its span.
func TestFlowByItself(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	var log lines
	rec := &spans{}
	r := d.reconciler(flow.Extensions[*App]{}, ctrlx.WithTelemetry(otelx.WithTracerProvider(rec), otelx.WithMeterProvider(nil)))
	d.use(r)
	out := r.Flow().Reconcile(log.context(t.Context(), 0), d.read())
	if err := out.Err(); err == nil || !strings.Contains(err.Error(), "outside of a pass: hand on the context") || out.State() != flow.StateFailed {
		t.Errorf("the outcome is %v: %v", out, err)
	}
	if got := log.took(); len(got) != 1 || !strings.Contains(got[0], "outside of a pass") {
		t.Errorf("the lines are %q", got)
	}
	if all := rec.passes("default", "a"); len(all) != 1 || all[0] != "error" {
		t.Errorf("the spans are %q", all)
	}
	for _, tc := range []struct {
		res  checks.Result
		want int
	}{{checks.Ignore("another operator has it"), 0}, {checks.Block("Busy", "it is busy"), 1}} {
		d.reconciler(checking(flow.PointEntryCheck, answers(&tc.res))).Flow().Reconcile(log.context(t.Context(), 0), d.read())
		if got := log.took(); len(got) != tc.want {
			t.Errorf("the lines of an object with the result %v are %q", tc.res, got)
		}
	}
	if r.Observer() == nil || d.reconciler(flow.Extensions[*App]{}, ctrlx.WithoutTelemetry()).Observer() != nil {
		t.Error("Observer does not return the observer of New")
	}

	d.restart()
	goesOn(d)
	d.remove = d.apply
	deleted(d)
	d.with(flow.Extensions[*App]{})
	if err := d.app.Flow().Reconcile(t.Context(), d.read()).Err(); err == nil || !strings.Contains(err.Error(), "outside of a pass") || d.stored() != "" {
		t.Errorf("the deletion returns %v, and stores %q", err, d.stored())
	}
}

// A wrong use of WriteAhead, of Report and of Read is an error that names the fix.
func TestWrongUse(t *testing.T) {
	apply := func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }
	whole := flow.Operations[*App]{Apply: apply, Delete: apply}
	cases := map[string]struct {
		reason string
		ops    flow.Operations[*App]
		do     func(context.Context, *App) error
		want   string
	}{
		"NoDelete": {"nothing would undo what the link does", flow.Operations[*App]{Apply: apply},
			func(ctx context.Context, a *App) error { return ctrlx.WriteAhead(ctx, a, "note", "1") }, "WriteAhead needs Operations.Delete"},
		"Other": {"another object has another finalizer", whole,
			func(ctx context.Context, _ *App) error { return ctrlx.WriteAhead(ctx, aCluster(), "note", "1") }, "the resource is a *testv1.Cluster: give the resource of the request"},
		"Report": {"another object has another status", whole,
			func(ctx context.Context, _ *App) error { return ctrlx.Report(ctx, aCluster(), "Installing", "") }, "Report: the resource is a *testv1.Cluster: give the resource of the request"},
		"Missing": {"an object that does not exist is awaited", whole, read[*testv1.Cluster]("", "none"), "ctrlx: Cluster.test.windlass-go.github.io default/none: "},
		"NotInScheme": {"the kind of the object is not known", whole,
			func(ctx context.Context, _ *App) error { return ctrlx.SetFinalizers(ctx, &unknownKind{}, nil) }, "ctrlx: SetFinalizers: add the type to the scheme: "},
		"Gone": {"the finalizers are not written", whole,
			func(ctx context.Context, _ *App) error { return ctrlx.SetFinalizers(ctx, aDatabase("none"), nil) }, `"none" not found`},
		"OtherType": {"the type must be that of the scheme", whole, read[*testv1.Database]("", "c"),
			"default/c is a *testv1.Cluster, and not a *testv1.Database: give Read the type that the scheme of the manager has for the kind"},
		"Foreign": {"another namespace needs an option", whole, read[*testv1.Cluster]("kube-system", "c"), "kube-system"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}), aCluster())
			d.use(ctrlx.New("App", tc.ops, checking(flow.PointPreCheck, func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
				return checks.Proceed(), tc.do(ctx, req.Resource)
			}), d.clock()...))
			d.pass()
			if !strings.Contains(d.message(), tc.want) {
				t.Errorf("%s: the object says %q with %q", tc.reason, d.says(), d.message())
			}
		})
	}
}

// unreadable is an API server that answers no live read.
type unreadable struct{ client.Reader }

func (unreadable) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errBroken
}

// A Secret whose data cannot be read is not one that is missing.
func TestReadUnreadable(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}})
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{testv1.GroupVersion, corev1.SchemeGroupVersion})
	mapper.Add(testv1.GroupVersion.WithKind("App"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	d.manager.mapper = mapper
	d.manager.live = unreadable{d.api}
	withMetadata := runtime.NewScheme() // the manager watches only the metadata of Secrets
	must(t, errors.Join(metav1.AddMetaToScheme(withMetadata), testv1.AddToScheme(withMetadata)))
	d.manager.cache.(*fakeCache).Scheme = withMetadata
	d.with(checking(flow.PointPreCheck, func(ctx context.Context, _ *checks.Request[*App]) (checks.Result, error) {
		_, err := ctrlx.Read[*corev1.Secret](ctx, checks.Ref{Kind: "Secret", Name: "s"})
		if !errors.Is(err, errBroken) {
			t.Errorf("Read returns %v", err)
		}
		return checks.Proceed(), err
	})).pass()
	if !strings.Contains(d.message(), errBroken.Error()) {
		t.Errorf("it says %q", d.message())
	}
}

// read reads a Cluster as an object of a type.
func read[W client.Object](namespace, name string) func(context.Context, *App) error {
	return func(ctx context.Context, _ *App) error {
		_, err := ctrlx.Read[W](ctx, checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: namespace, Name: name})
		return err
	}
}
