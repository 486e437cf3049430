package ctrlx_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

func byState(c *testv1.Cluster) []string { return []string{c.Status.State} }

func TestWithIndexPanics(t *testing.T) {
	cases := map[string]struct {
		reason string
		do     func()
		want   string
	}{
		"NoField":   {"no query could name it", func() { ctrlx.WithIndex(" ", byState) }, "give the name of the field and a function"},
		"NoFunc":    {"it would panic at the first event", func() { ctrlx.WithIndex[*testv1.Cluster]("state", nil) }, "give the name of the field and a function"},
		"Interface": {"it names no kind", func() { ctrlx.WithIndex("state", func(client.Object) []string { return nil }) }, "Object is no pointer to a struct"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "ctrlx: WithIndex: ") || !strings.Contains(got, tc.want) {
					t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
				}
			}()
			tc.do()
		})
	}
}

func TestWithIndexSetup(t *testing.T) {
	databases := func(opts ...ctrlx.Option) *ctrlx.Reconciler[*testv1.Database] {
		return ctrlx.New("Database", databases{Apply: put}, extensions{}, opts...)
	}
	index := ctrlx.WithIndex("state", byState)
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
			return databases(index, ctrlx.WithIndex("name", func(c *testv1.Cluster) []string { return []string{c.Name} })).SetupWithManager(d.manager)
		}, ""},
		"Unknown": {"the scheme does not have the type", func(d *harness) error {
			return databases(ctrlx.WithIndex("x", func(*unknownKind) []string { return nil })).SetupWithManager(d.manager)
		}, `ctrlx: Database: WithIndex: "x": add the type to the manager's scheme`},
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
