package ctrlx_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

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
