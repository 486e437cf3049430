package ctrlx_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
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

// TestOneClusterOfTheNamespace verifies that a database finds its owner by a
// query, and is woken when the owner comes, changes, and is joined by another.
func TestOneClusterOfTheNamespace(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	ops := o.operations()
	ops.Owner = checks.OwnerFrom(func(*testv1.Database) checks.Query { return clustersOf(checks.Query{}) })
	o.start(ctrlx.New("Database", ops, extensions{OwnerCheck: chain.New(checks.OwnerReady(checks.WithFollowing(true)))}, noPolling))
	o.database("db", "")
	o.until("db", "False OwnerNotFound")
	c := o.cluster("one", "Creating")
	o.until("db", "False OwnerNotReady")
	o.report(c, "Running")
	o.until("db", "True Succeeded")
	o.report(c, "Stopped") // it follows the owner
	o.until("db", "False OwnerNotReady")
	o.report(c, "Running")
	o.until("db", "True Succeeded")
	other := o.cluster("two", "Running")
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

// TestNoOtherClaimsThisName verifies that the first of two databases that claim
// a name is made, and the second one when the first is gone.
func TestNoOtherClaimsThisName(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	unique := checks.Unique("claim", func(d *testv1.Database) checks.Query {
		return databasesOf(checks.Query{Selector: "claim=" + d.Labels["claim"], NamesOnly: true})
	})
	o.start(ctrlx.New("Database", o.operations(), extensions{PreCheck: chain.New(unique)}, noPolling))
	claim := func(name string) *testv1.Database {
		d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name, Labels: map[string]string{"claim": "orders"}}}
		must(t, api.Create(t.Context(), d))
		return d
	}
	first := claim("a")
	o.until("a", "True Succeeded")
	claim("b")
	d := o.until("b", "False NotUnique")
	if m := meta.FindStatusCondition(d.Status.Conditions, "Ready").Message; !strings.Contains(m, o.namespace+"/a") {
		t.Errorf("the message does not name the first claim: %s", m)
	}
	o.remove(first)
	o.until("b", "True Succeeded")
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
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}), &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "d0"}})
			d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(reading(1))}, tc.opts...))
			d.pass()
			same(t, tc.reason, tc.says, d.says())
		})
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
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			owner := checks.Object{Ref: checks.Ref{Kind: "Owner", Name: "o"}, Value: tc.obj, Readiness: tc.of(tc.obj)}
			if got := owner.Readiness; got.State != tc.want {
				t.Errorf("%s: %+v", tc.reason, got)
			}
			res, err := checks.Compose(chain.New(checks.OwnerReady()))(context.Background(), &checks.OwnerRequest{Owner: owner})
			if err != nil || res.Proceeds() != (tc.want == checks.Ready) {
				t.Errorf("%s: OwnerReady says %v, %v", tc.reason, res, err)
			}
		})
	}
	for name, do := range map[string]func(){
		"NoKind":     func() { ctrlx.WithReadiness(schema.GroupKind{}, ctrlx.Exists) },
		"NoVersion":  func() { ctrlx.Kstatus(schema.GroupVersionKind{Kind: "Job"}) },
		"NoFunction": func() { ctrlx.WithReadiness(schema.GroupKind{Kind: "Secret"}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if v := recover(); v == nil || fmt.Sprint(v)[:7] != "ctrlx: " {
					t.Errorf("it panics: %v", v)
				}
			}()
			do()
		})
	}
}
