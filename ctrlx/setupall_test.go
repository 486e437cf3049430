package ctrlx_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// setUp is a function as what start takes.
type setUp func(manager.Manager) error

func (f setUp) SetupWithManager(mgr manager.Manager) error { return f(mgr) }

// All registered kinds run, each with its own extensions.
func TestSetupAll(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	var registry flow.Registry[client.Object]
	flow.Register(&registry, "Cluster", flow.Extensions[*testv1.Cluster]{})
	flow.Register(&registry, "Database", flow.Extensions[*testv1.Database]{
		EntryCheck: chain.New(checks.Gate("mine", func(_ context.Context, req *checks.Request[*testv1.Database]) (checks.Result, error) {
			return checks.Proceed(), o.note("entry of %s", req.Resource.Name)
		})),
		OwnerCheck: chain.New(checks.OwnerReady()),
		PostCheck: chain.New(checks.Gate("typed", func(_ context.Context, req *checks.Request[*testv1.Database]) (checks.Result, error) {
			return checks.Proceed(), o.note("size %d", req.Resource.Status.Size)
		})),
	})
	apply := func(_ context.Context, req *flow.Request[*testv1.Cluster]) (flow.Progress, error) {
		return flow.Done(), o.note("cluster %s", req.Resource.Name)
	}
	o.start(setUp(func(mgr manager.Manager) error {
		return ctrlx.SetupAll(mgr, &registry,
			ctrlx.NewKind("Cluster", flow.Operations[*testv1.Cluster]{Apply: apply}),
			ctrlx.NewKind("Database", o.operations(), ctrlx.WithOwner(clusterOf)),
		)
	}))
	for _, obj := range []client.Object{
		&testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "d"}, Spec: testv1.DatabaseSpec{Cluster: "c", Size: 5}},
		&testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "c"}},
	} {
		must(t, api.Create(t.Context(), obj))
	}
	o.when("d", func(d *testv1.Database) bool { return meta.IsStatusConditionTrue(d.Status.Conditions, "Ready") })
	var calls []string // each once: an event may cause a second pass
	for _, call := range o.asked() {
		if !slices.Contains(calls, call) {
			calls = append(calls, call)
		}
	}
	slices.Sort(calls) // a database may be looked at before or after its cluster
	if diff := cmp.Diff("cluster c, entry of d, put d 5, size 5", strings.Join(calls, ", ")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
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
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t)
			err := ctrlx.SetupAll(d.manager, &registry, tc.kinds...)
			same(t, tc.reason,
				strings.Join(tc.want, "\n"), strings.ReplaceAll(fmt.Sprint(err), "cacheapi.Object", "client.Object"))
			if err := ctrlx.New("Database", databasesOps(), extensions{}).SetupWithManager(d.manager); err != nil {
				t.Errorf("%s: something was set up: %v", tc.reason, err)
			}
		})
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
