package ctrlx_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

func clustersOf(q checks.Query) checks.Query {
	q.Group, q.Kind = testv1.GroupVersion.Group, "Cluster"
	return q
}

func databasesOf(q checks.Query) checks.Query {
	q.Group, q.Kind = testv1.GroupVersion.Group, "Database"
	return q
}

// noPolling leaves the events as the one source of wake-ups.
var noPolling = ctrlx.WithPollInterval(time.Hour)

// TestOneClusterOfTheNamespace verifies that a database finds its owner by a query for a label,
// and is woken when the owner gets the label, changes, and is joined by another.
func TestOneClusterOfTheNamespace(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	ops := o.operations()
	ops.Owner = checks.OwnerFrom(func(*testv1.Database) checks.Query { return clustersOf(checks.Query{Selector: "env=prod"}) })
	label := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"env": "prod"}}}`))
	c := o.cluster("one", "Creating")
	o.start(ctrlx.New("Database", ops, extensions{OwnerCheck: chain.New(checks.OwnerReady(checks.WithFollowing(true)))}, noPolling))
	o.database("db", "")
	o.until("db", "False OwnerNotFound")
	must(t, api.Patch(t.Context(), c, label))
	o.until("db", "False OwnerNotReady")
	o.report(c, "Running")
	o.until("db", "True Succeeded")
	o.report(c, "Stopped") // it follows the owner
	o.until("db", "False OwnerNotReady")
	o.report(c, "Running")
	o.until("db", "True Succeeded")
	other := o.cluster("two", "Running")
	must(t, api.Patch(t.Context(), other, label))
	o.until("db", "False OwnerAmbiguous")
	must(t, api.Delete(t.Context(), other))
	o.until("db", "True Succeeded")
}

// TestNoDatabaseRefersToMe verifies that the deletion of a cluster waits for its
// last database, and is woken when that is gone.
func TestNoDatabaseRefersToMe(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	unused := checks.Unused("databases", func(c *testv1.Cluster) checks.Query {
		return databasesOf(checks.Query{Field: "spec.cluster", Value: c.Name, NamesOnly: true})
	})
	clusters := ctrlx.New("Cluster", flow.Operations[*testv1.Cluster]{
		Apply: func(context.Context, *flow.Request[*testv1.Cluster]) (flow.Progress, error) { return flow.Done(), nil },
		Delete: func(context.Context, *flow.Request[*testv1.Cluster]) (flow.Progress, error) {
			return flow.Done(), o.note("delete cluster")
		},
	}, flow.Extensions[*testv1.Cluster]{DeleteCheck: chain.New(unused)}, noPolling,
		ctrlx.WithIndex(databasesOf(checks.Query{Field: "spec.cluster"}), func(d *testv1.Database) []string { return []string{d.Spec.Cluster} }))
	mgr := o.start(clusters)
	c := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "prod"}}
	must(t, api.Create(t.Context(), c))
	first, second, other := o.database("first", "prod"), o.database("second", "prod"), o.database("other", "test")
	says := func(want string) func() bool {
		return func() bool {
			now := &testv1.Cluster{}
			err := api.Get(t.Context(), client.ObjectKeyFromObject(c), now)
			if want == "gone" {
				return client.IgnoreNotFound(err) == nil && err != nil
			}
			r := meta.FindStatusCondition(now.Status.Conditions, "Ready")
			return err == nil && r != nil && strings.Contains(r.Reason+" "+r.Message, want)
		}
	}
	o.eventually("the cluster is made", says("Succeeded"))
	must(t, api.Delete(t.Context(), c))
	o.eventually("both databases block", says(o.namespace+"/second"))
	query := "?kind=Cluster&group=" + testv1.GroupVersion.Group + "&namespace=" + o.namespace + "&name=prod"
	o.eventually("the root cause is a database of the set", func() bool {
		d := whyDocument(t, ctrlx.Why(mgr), query)
		path := d.Graph().Path(checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: o.namespace, Name: "prod"})
		return len(path) == 3 && path[1].Ref.Set != "" && len(path[1].WaitingFor) == 2 && path[2].Ref.Name == "first"
	})
	for _, d := range []*testv1.Database{other, first} {
		must(t, api.Delete(t.Context(), d))
	}
	o.eventually("one database is left", func() bool { return says("second")() && !says("first")() })
	second.Spec.Cluster = "test"
	must(t, api.Update(t.Context(), second))
	o.eventually("the last database refers to another cluster", says("gone"))
}

// TestSetsBadInput verifies that a query that cannot be answered says why.
func TestSetsBadInput(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		query  checks.Query
		opts   []ctrlx.Option
		want   string
	}{
		"Selector":   {"the selector cannot be parsed", clustersOf(checks.Query{Selector: "a=b=c"}), nil, "the selector is not valid"},
		"Missing":    {"the kind is not installed", checks.Query{Group: testv1.GroupVersion.Group, Kind: "Region"}, []ctrlx.Option{ctrlx.WithWatchedKinds(schema.GroupKind{Group: testv1.GroupVersion.Group, Kind: "Region"})}, `the kind "Region.test.windlass-go.github.io" is not installed`},
		"Unwatched":  {"the kind is not watched", checks.Query{Group: "apps", Kind: "Deployment"}, nil, "is not watched"},
		"Namespace":  {"the cache does not have the namespace", clustersOf(checks.Query{Namespace: "default"}), nil, `the namespace "default" is not in the manager's cache`},
		"Namespaces": {"the cache has some namespaces only, and a list of all would leave out objects", clustersOf(checks.Query{Namespace: checks.AllNamespaces}), nil, "the manager's cache has some namespaces only"},
		"Field":      {"no index has the field", clustersOf(checks.Query{Field: "spec.none", Value: "x"}), nil, `no index has the field "spec.none"`},
		"Panic": {"the function of the index panics, and that has its own reason", clustersOf(checks.Query{Field: "state", Value: "x"}), []ctrlx.Option{ctrlx.WithIndex(clustersOf(checks.Query{Field: "state"}), func(*testv1.Cluster) []string {
			panic("no state")
		})}, "Panic: check"},
		"NoKind": {"the query names no kind", checks.Query{}, nil, "Kind"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			o.cluster("prod", "Running")
			o.start(ctrlx.New("Database", o.operations(), extensions{PreCheck: listsAny(tc.query, "db")}, append(tc.opts, noPolling, anyNamespace)...))
			o.database("db", "")
			o.message("db", tc.want)
		})
	}
}

// message waits until the condition of a database contains a text.
func (o *operator) message(name, text string) {
	o.t.Helper()
	o.when(name, func(d *testv1.Database) bool {
		c := meta.FindStatusCondition(d.Status.Conditions, "Ready")
		return c != nil && strings.Contains(c.Reason+": "+c.Message, text)
	})
}

// listsAny is a check of the database of a name that proceeds if a set has an object.
func listsAny(q checks.Query, name string) checks.Chain[*testv1.Database] {
	return chain.New(checks.Check("Lists", func(ctx context.Context, req *checks.Request[*testv1.Database]) (checks.Result, error) {
		if req.Resource.Name != name {
			return checks.Proceed(), nil
		}
		switch all, err := req.Lister(ctx, q); {
		case err != nil:
			return checks.Result{}, err
		case len(all) == 0:
			return checks.Block("Lists", "the set is empty", checks.WithWaitingFor(q.Ref())), nil
		}
		return checks.Proceed(), nil
	}))
}

// TestSetsOfAllowedNamespace verifies that an operator with rights in one
// namespace lists and watches sets there, and that a query over all namespaces
// says what to do.
func TestSetsOfAllowedNamespace(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		namespace string
		want      string // at first
		answered  bool   // when a cluster is made
	}{
		"Own":     {"the operator may list the namespace", "", "Lists: the set is empty", true},
		"All":     {"the server names the missing right; TestSetsBadInput has the case of a cache with some namespaces", checks.AllNamespaces, `cannot list resource "clusters" in API group "test.windlass-go.github.io" at the cluster scope`, false},
		"Foreign": {"the operator has no rights there", "default", `cannot list resource "clusters"`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			o.user = o.namespace + "-local"
			o.allow(testv1.GroupVersion.Group, "databases", "databases/status")
			grant(t, o.namespace, o.user,
				rbacv1.PolicyRule{APIGroups: []string{testv1.GroupVersion.Group}, Resources: []string{"clusters"}, Verbs: []string{"get", "list", "watch"}})
			check := listsAny(clustersOf(checks.Query{Namespace: tc.namespace}), "db")
			o.start(ctrlx.New("Database", o.operations(), extensions{PreCheck: check}, noPolling, anyNamespace, ctrlx.WithSyncTimeout(time.Second)))
			o.database("db", "")
			o.message("db", tc.want)
			if tc.answered {
				o.cluster("prod", "Running")
				o.until("db", "True Succeeded")
			}
		})
	}
}

// The developer chooses for each kind without a Ready condition what makes its objects ready.
func TestReadiness(t *testing.T) {
	kind := schema.GroupKind{Group: testv1.GroupVersion.Group, Kind: "Database"}
	cases := map[string]struct {
		reason string
		opts   []ctrlx.Option
		says   string
	}{
		"Default": {"a custom resource has a condition", nil, "False ReferenceNotReady Reconciling"},
		"Strict":  {"the developer asks for the condition", []ctrlx.Option{ctrlx.WithReadiness(kind, ctrlx.AnyGeneration)}, "False ReferenceNotReady Reconciling"},
		"Exists":  {"it is there, which is all there is to it", []ctrlx.Option{ctrlx.WithReadiness(kind, ctrlx.Exists)}, "True Succeeded"},
		"Kstatus": {"kstatus calls it current", []ctrlx.Option{ctrlx.WithReadiness(kind, ctrlx.Kstatus(testv1.GroupVersion.WithKind("Database")))}, "True Succeeded"},
	}
	for _, tc := range cases {
		d := newHarness(t, anApp(AppSpec{}), &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "d0"}})
		d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(reading(1))}, tc.opts...))
		d.pass()
		same(t, tc.reason, tc.says, d.says())
	}
}

func TestReadinessFunctions(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: appsv1.DeploymentStatus{ObservedGeneration: 1}}
	old := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	old.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Done"}}
	cases := map[string]struct {
		reason string
		of     func(client.Object) checks.Readiness
		obj    client.Object
		want   checks.State
	}{
		"Exists":        {"whatever its status says", ctrlx.Exists, deployment, checks.Ready},
		"Kstatus":       {"its replicas are not there yet", ctrlx.Kstatus(appsv1.SchemeGroupVersion.WithKind("Deployment")), deployment, checks.NotReady},
		"AnyGeneration": {"its controller reports no generation", ctrlx.AnyGeneration, old, checks.Ready},
	}
	for _, tc := range cases {
		if got := tc.of(tc.obj); got.State != tc.want || got.Observed < got.Generation {
			t.Errorf("%s: %+v", tc.reason, got)
		}
	}
}

// A user names any kind in an owner reference. The manager watches only the kinds of the developer, by their exact names:
// an informer for another name would never have its first list, and would end a manager that gets a controller later.
func TestWatchedKinds(t *testing.T) {
	t.Parallel()
	secrets := schema.GroupKind{Kind: "Secret"}
	cases := map[string]struct {
		reason           string
		opts             []ctrlx.Option
		apiVersion, kind string
		want             string
		watch            string // the watch that the reference causes; empty: none
	}{
		"BuiltIn":   {"a scheme with the kinds of Kubernetes does not show what the operator uses", nil, "v1", "Pod", "False KindNotWatched", ""},
		"Metadata":  {"a Secret needs no option, and its data stay out of memory", nil, "v1", "Secret", "False OwnerNotFound", "WATCH metadata of secrets"},
		"Named":     {"the developer allows it", []ctrlx.Option{ctrlx.WithWatchedKinds(secrets)}, "v1", "Secret", "False OwnerNotFound", "WATCH secrets"},
		"Readiness": {"the developer knows how ready it is", []ctrlx.Option{ctrlx.WithReadiness(secrets, ctrlx.Exists)}, "v1", "Secret", "False OwnerNotFound", "WATCH secrets"},
		"Unwatched": {"the developer does not want it watched", []ctrlx.Option{ctrlx.WithUnwatchedKinds(secrets), anyKind}, "v1", "Secret", "False OwnerNotFound", ""},
		"LowerCase": {"discovery mappers know each kind in lower case, too", []ctrlx.Option{anyKind}, testv1.GroupVersion.String(), "cluster", "False OwnerNotFound", ""},
		"List":      {"discovery mappers guess a kind for lists", []ctrlx.Option{anyKind}, testv1.GroupVersion.String(), "ClusterList", "False OwnerNotFound", ""},
		"NoWatch":   {"the API server has no list of it", []ctrlx.Option{anyKind}, "authorization.k8s.io/v1", "SubjectAccessReview", "False MethodNotAllowed", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.kind == "SubjectAccessReview" {
				apiserver.RequireKube(t)
			}
			o := newOperator(t)
			o.ownedBy("db", tc.apiVersion, tc.kind, "prod")
			mgr := o.start(ctrlx.New("Database", o.operations(), waitsForCluster, tc.opts...))
			d := o.until("db", tc.want)
			if c := meta.FindStatusCondition(d.Status.Conditions, "Ready"); c.Reason == "KindNotWatched" && !strings.Contains(c.Message, "ctrlx.WithWatchedKinds") {
				t.Errorf("the message names no fix: %s", c.Message)
			}
			if !mgr.GetCache().WaitForCacheSync(t.Context()) {
				t.Errorf("%s: an informer waits for its first list for ever", tc.reason)
			}
			o.traffic.mu.Lock()
			defer o.traffic.mu.Unlock()
			for what := range o.traffic.counts {
				if strings.HasPrefix(what, "WATCH ") && what != "WATCH databases" && what != "WATCH metadata of customresourcedefinitions" && what != tc.watch {
					t.Errorf("%s: %s", tc.reason, what)
				}
			}
			if tc.watch != "" && o.traffic.counts[tc.watch] == 0 {
				t.Errorf("%s: there is no %s", tc.reason, tc.watch)
			}
		})
	}
}

// A reference into a namespace that the cache does not have is an error with a
// reason of its own, for a watched kind and for metadata.
func TestNamespaceNotWatched(t *testing.T) {
	t.Parallel()
	for name, ref := range map[string]checks.Ref{
		"Watched":  {Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: "default", Name: "prod"},
		"Metadata": {Kind: "Secret", Namespace: "default", Name: "key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			o.start(ctrlx.New("Database", o.operations(), waitsForCluster, anyNamespace, ctrlx.WithOwner(func(*testv1.Database) checks.Ref { return ref })))
			o.database("db", "")
			d := o.until("db", "False NamespaceNotWatched")
			c := meta.FindStatusCondition(d.Status.Conditions, "Ready")
			if want := `the namespace "default" is not in the manager's cache`; !strings.Contains(c.Message, want) {
				t.Errorf("the message names neither the namespace nor the fix: %s", c.Message)
			}
		})
	}
}

// anyNamespace allows references into all namespaces.
var anyNamespace = ctrlx.WithForeignReferences(func(string, checks.Ref) bool { return true })

// A user names an object in another namespace, where the user has no rights. The
// condition shows neither whether the object exists nor its texts.
func TestForeignNamespace(t *testing.T) {
	foreign := aCluster()
	foreign.Namespace, foreign.Name = "kube-system", "theirs"
	foreign.Status.Conditions[0] = metav1.Condition{Type: "Ready", Status: "False", Reason: "TheirReason", Message: "their text", ObservedGeneration: 1}
	to := func(namespace, name string) checks.Ref {
		return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: namespace, Name: name}
	}
	allow := ctrlx.WithForeignReferences(func(namespace string, ref checks.Ref) bool {
		return namespace == "default" && ref.Namespace == "kube-system"
	})
	const refused = `the namespace "kube-system" is not the namespace of the object`
	cases := map[string]struct {
		reason string
		ref    checks.Ref
		opts   []ctrlx.Option
		says   string
		text   string // part of the message
		made   bool   // the object makes the other one
	}{
		"Made":           {reason: "code names it", ref: to("kube-system", "theirs"), says: "False Made", text: "theirs", made: true},
		"Own":            {reason: "the default", ref: to("", "c"), says: "True Succeeded"},
		"OwnNamed":       {reason: "the own namespace, by its name", ref: to("default", "c"), says: "True Succeeded"},
		"Exists":         {reason: "the user must not learn that it exists", ref: to("kube-system", "theirs"), says: "False NamespaceNotAllowed", text: refused},
		"Missing":        {reason: "the same answer as for an object that exists", ref: to("kube-system", "none"), says: "False NamespaceNotAllowed", text: refused},
		"Allowed":        {reason: "the option allows it, and the texts stay there", ref: to("kube-system", "theirs"), opts: []ctrlx.Option{allow}, says: "False ReferenceNotReady", text: "kube-system/theirs is not ready"},
		"AllowedMissing": {reason: "the option allows it", ref: to("kube-system", "none"), opts: []ctrlx.Option{allow}, says: "False ReferenceNotFound", text: "kube-system/none was not found"},
		"OtherAllowed":   {reason: "the option allows another namespace only", ref: to("elsewhere", "none"), opts: []ctrlx.Option{allow}, says: "False NamespaceNotAllowed", text: `"elsewhere"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}), aCluster(), foreign.DeepCopyObject().(*testv1.Cluster))
			check := checks.ReferenceReady("cluster", func(*App) []checks.Ref { return []checks.Ref{tc.ref} })
			if tc.made {
				check = checks.Check("made", func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
					o, err := req.Resolver(engine.Dependent(ctx), tc.ref)
					return checks.Block("Made", o.Ref.Name), err
				})
			}
			d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(check)}, tc.opts...))
			d.pass()
			if got := d.says(); !strings.HasPrefix(got, tc.says) || !strings.Contains(d.message(), tc.text) {
				t.Errorf("%s: the object says %q with %q, want %q with %q", tc.reason, got, d.message(), tc.says, tc.text)
			}
			if m := d.message(); strings.Contains(m, "TheirReason") || strings.Contains(m, "their text") {
				t.Errorf("%s: the message quotes an object of another namespace: %s", tc.reason, m)
			}
		})
	}
	sets := map[string]struct {
		reason    string
		namespace string
		opts      []ctrlx.Option
		want      string // the members, or a part of the message
	}{
		"Own":     {"the default", "", nil, "default/c"},
		"Refused": {"the user must not learn which objects exist", "kube-system", nil, refused},
		"Allowed": {"the option allows it, and the texts stay there", "kube-system", []ctrlx.Option{allow}, "kube-system/theirs"},
		"Other":   {"the option allows another namespace only", "elsewhere", []ctrlx.Option{allow}, `"elsewhere"`},
		"All":     {"code names it", checks.AllNamespaces, nil, "default/c kube-system/theirs"},
	}
	for name, tc := range sets {
		t.Run("Set"+name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}), aCluster(), foreign.DeepCopyObject().(*testv1.Cluster))
			d.with(checking(flow.PointPreCheck, func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
				all, err := req.Lister(ctx, clustersOf(checks.Query{Namespace: tc.namespace}))
				var names []string
				for _, o := range all {
					names = append(names, o.Ref.Namespace+"/"+o.Ref.Name)
					if strings.Contains(fmt.Sprint(o.Readiness), "heir") {
						t.Errorf("%s: a member of another namespace has its texts: %+v", tc.reason, o.Readiness)
					}
				}
				slices.Sort(names)
				return checks.Block("Listed", strings.Join(names, " ")), err
			}), tc.opts...)
			d.pass()
			if m, allowed := d.message(), !strings.Contains(tc.want, `"`); allowed && m != tc.want || !strings.Contains(m, tc.want) ||
				allowed == strings.HasPrefix(d.says(), "False NamespaceNotAllowed") {
				t.Errorf("%s: the object says %q with %q, want %q", tc.reason, d.says(), m, tc.want)
			}
		})
	}
}

// A missing kind is awaited and then installed: its waiters are woken, also those of a
// set, and no pass asks for it meanwhile. No other test runs at the same time: each definition causes
// requests of all operators that wait for a missing kind.
func TestInstalledLater(t *testing.T) {
	cases := map[string]struct {
		reason string
		scope  apiextensions.ResourceScope
		user   string
	}{
		"Namespaced": {reason: "definitions are watched", scope: apiextensions.NamespaceScoped},
		"Cluster":    {reason: "while it is missing the operator cannot know that the kind has no namespaces", scope: apiextensions.ClusterScoped},
		"Unwatched":  {reason: "who may not watch definitions asks from time to time", scope: apiextensions.NamespaceScoped, user: "half"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := newOperator(t)
			definition := o.newKind(tc.scope)
			kind := definition.Spec.Names.Kind
			if tc.user != "" {
				o.user = o.namespace + "-" + tc.user
				o.allow("test.windlass-go.github.io", "*")
			}
			o.database("one", "thing")
			o.database("two", "thing")
			ext := waitsForCluster
			ext.EntryCheck = listsAny(checks.Query{Group: testv1.GroupVersion.Group, Kind: kind}, "set")
			o.database("set", "")
			o.start(ctrlx.New("Database", o.operations(), ext, ctrlx.WithOwner(func(d *testv1.Database) checks.Ref {
				if d.Spec.Cluster == "" {
					return checks.Ref{}
				}
				return checks.Ref{Group: testv1.GroupVersion.Group, Kind: kind, Name: d.Spec.Cluster}
			}), ctrlx.WithController(controller.Options{MaxConcurrentReconciles: 2}),
				ctrlx.WithWatchedKinds(schema.GroupKind{Group: testv1.GroupVersion.Group, Kind: kind})))
			o.until("one", "False OwnerNotFound")
			o.until("two", "False OwnerNotFound")
			o.message("set", fmt.Sprintf("the kind %q is not installed", kind+"."+testv1.GroupVersion.Group))
			o.traffic.take(t)
			if tc.user == "" {
				settles := cmpopts.IgnoreMapEntries(func(what string, _ int) bool { return what == "GET discovery" }) // after the first list of definitions
				same(t, "what is asked of the API server meanwhile", map[string]int{}, o.traffic.take(t), settles, cmpopts.EquateEmpty())
			}
			install(t, definition)
			thing := &unstructured.Unstructured{}
			thing.SetGroupVersionKind(testv1.GroupVersion.WithKind(kind))
			thing.SetName("thing")
			if tc.scope == apiextensions.NamespaceScoped {
				thing.SetNamespace(o.namespace)
			}
			if err := apiserver.Until(t.Context(), func(ctx ctxt) (bool, error) {
				return api.Create(ctx, thing) == nil, nil // it takes a moment until the API server has the kind
			}); err != nil {
				t.Fatal(err)
			}
			condition := map[string]any{
				"type": "Ready", "status": "True", "reason": "Done", "message": "", "observedGeneration": int64(1),
				"lastTransitionTime": "2026-01-01T00:00:00Z",
			}
			must(t, unstructured.SetNestedSlice(thing.Object, []any{condition}, "status", "conditions"))
			must(t, api.Status().Update(t.Context(), thing))
			o.until("one", "True Succeeded")
			o.until("two", "True Succeeded")
			if tc.scope == apiextensions.NamespaceScoped {
				o.until("set", "True Succeeded")
			}
		})
	}
}

// newKind defines a kind that no other test has, also on a server that earlier
// tests used.
func (o *operator) newKind(scope apiextensions.ResourceScope) *apiextensions.CustomResourceDefinition {
	suffix := strings.TrimPrefix(o.namespace, "test-")
	return testv1.Definition("Widget"+suffix, "widgets"+suffix, scope)
}

// install installs a definition until the test ends.
func install(t *testing.T, definition client.Object) {
	t.Helper()
	must(t, api.Create(t.Context(), definition))
	t.Cleanup(func() {
		if err := api.Delete(context.Background(), definition); err != nil {
			t.Error(err)
		}
	})
}

// Hooks and Apply are called only for a kind that has the subresource status, also after a new version of the definition.
func TestStatusServed(t *testing.T) {
	cases := map[string]struct {
		reason string
		served bool
		err    error // of discovery
		says   string
	}{
		"Missing": {"the definition has no status", false, nil, "has no status subresource"},
		"Unknown": {"discovery fails", false, errBroken, "ctrlx: App: whether the kind has a status subresource: "},
		"Removed": {"a later version of the definition has no status", true, nil, "has no status subresource"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, freshApp("uid"))
			served := tc.served
			d.manager.http = discovery(func() (bool, error) { return served, tc.err })
			d.use(d.reconciler(flow.Extensions[*App]{}).WithPreReconcileHook(func(ctxt, client.Client, *App) error { d.note("hook"); return nil }))
			if tc.served {
				d.pass()
				if d.took() != "hook, apply" || d.says() != "True Succeeded" {
					t.Errorf("%s: the object says %q: %s", tc.reason, d.says(), d.message())
				}
				served, d.refuse = false, notServed()
				d.change(func(*App) {})
				if err := d.try(); err == nil || d.took() != "hook, apply" {
					t.Errorf("%s: the write fails: %v", tc.reason, err)
				}
			}
			for range 2 {
				if err := d.try(); err == nil || !strings.Contains(err.Error(), tc.says) || d.took() != "" {
					t.Errorf("%s: %v", tc.reason, err)
				}
			}
			if f := d.read().Finalizers; !tc.served && len(f) > 0 {
				t.Errorf("%s: the object has the finalizers %q", tc.reason, f)
			}
			http := d.manager.http
			d.restart()
			d.manager.http = http
			d.use(ctrlx.New("App", flow.Operations[*App]{Apply: func(ctxt, *flow.Request[*App]) (flow.Progress, error) {
				d.note("apply")
				return flow.Done(), nil
			}}, flow.Extensions[*App]{}, d.clock()...))
			if err := d.try(); err == nil || tc.err != nil && !strings.Contains(err.Error(), tc.err.Error()) || d.took() != "" {
				t.Errorf("%s: without a finalizer: %v", tc.reason, err)
			}
		})
	}
}

// allow gives the operator's user rights to all of some resources of a group, and to events.
func (o *operator) allow(group string, resources ...string) {
	o.t.Helper()
	grant(o.t, "", o.user, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: []string{"*"}},
		rbacv1.PolicyRule{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"*"}})
}

// grant gives a user rights in a namespace, or in the cluster if it is empty.
func grant(t *testing.T, namespace, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	apiserver.RequireKube(t)
	at := metav1.ObjectMeta{Namespace: namespace, Name: user}
	to := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}
	objects := []client.Object{&rbacv1.ClusterRole{ObjectMeta: at, Rules: rules},
		&rbacv1.ClusterRoleBinding{ObjectMeta: at, Subjects: to, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user}}}
	if namespace != "" {
		objects = []client.Object{&rbacv1.Role{ObjectMeta: at, Rules: rules},
			&rbacv1.RoleBinding{ObjectMeta: at, Subjects: to, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user}}}
	}
	for _, obj := range objects {
		must(t, api.Create(t.Context(), obj))
	}
}

// The operator may not watch the kind of an awaited object. The condition has the words
// of the API server, also for a set, and a single worker still serves all other objects.
func TestForbidden(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.user = o.namespace + "-refused"
	o.allow("test.windlass-go.github.io", "databases", "databases/status")
	const syncs = 10 * time.Second
	for i := range 30 {
		o.database(fmt.Sprintf("blocked-%d", i), "prod")
	}
	ext := waitsForCluster
	ext.EntryCheck = listsAny(clustersOf(checks.Query{}), "set")
	mgr := o.start(ctrlx.New("Database", o.operations(), ext, ctrlx.WithOwner(clusterOf), ctrlx.WithSyncTimeout(syncs)))
	started := time.Now()
	for i := range 30 {
		d := o.until(fmt.Sprintf("blocked-%d", i), "False Forbidden")
		want := `cannot list resource "clusters" in API group "test.windlass-go.github.io"`
		if c := meta.FindStatusCondition(d.Status.Conditions, "Ready"); !strings.Contains(c.Message, want) {
			t.Errorf("the condition has the server's words: %s", c.Message)
		}
	}
	o.database("set", "")
	o.message("set", `cannot list resource "clusters" in API group "test.windlass-go.github.io"`)
	o.database("free", "")
	o.until("free", "True Succeeded")
	if took := time.Since(started); took > 30*syncs { // 31 of them if each database waits for the watch
		t.Errorf("they hold up each other: %s", took)
	}
	// What starts later, another controller say, waits for all that is watched.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Error("a kind that must not be watched stays in the cache, and holds up every controller that starts after it")
	}
	// The rights come later.
	o.cluster("prod", "Running")
	role := &rbacv1.ClusterRole{}
	must(t, api.Get(t.Context(), keyOf("", o.user), role))
	role.Rules[0].Resources = append(role.Rules[0].Resources, "clusters")
	must(t, api.Update(t.Context(), role))
	o.until("blocked-0", "True Succeeded")
	o.until("set", "True Succeeded")
}
