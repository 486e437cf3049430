package ctrlx_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// listsAny is a check that proceeds if a set has an object.
func listsAny(q checks.Query) checks.Chain[*testv1.Database] {
	return lists(func(*testv1.Database) checks.Query { return q }, func(all []checks.Object) string {
		if len(all) == 0 {
			return "the set is empty"
		}
		return ""
	})
}

// message waits until the condition of a database contains a text.
func (o *operator) message(name, text string) {
	o.t.Helper()
	o.when(name, func(d *testv1.Database) bool {
		c := meta.FindStatusCondition(d.Status.Conditions, "Ready")
		return c != nil && strings.Contains(c.Reason+": "+c.Message, text)
	})
}

// TestSetsForbidden verifies that a query over a kind that the operator may not
// list says so, and is answered when the operator gets the rights.
func TestSetsForbidden(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.user = o.namespace + "-guest"
	o.allow(testv1.GroupVersion.Group, "databases", "databases/status")
	o.cluster("prod", "Running")
	o.start(ctrlx.New("Database", o.operations(), extensions{PreCheck: listsAny(clustersOf(checks.Query{}))}, noPolling, ctrlx.WithSyncTimeout(time.Second)))
	o.database("db", "")
	o.message("db", `Forbidden: `)
	o.message("db", `cannot list resource "clusters" in API group "test.windlass-go.github.io"`)
	role := &rbacv1.ClusterRole{}
	if err := api.Get(t.Context(), keyOf("", o.user), role); err != nil {
		t.Fatal(err)
	}
	role.Rules[0].Resources = append(role.Rules[0].Resources, "clusters")
	if err := api.Update(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	o.until("db", "True Succeeded")
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
			role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: o.user}, Rules: []rbacv1.PolicyRule{
				{APIGroups: []string{testv1.GroupVersion.Group}, Resources: []string{"clusters"}, Verbs: []string{"get", "list", "watch"}},
			}}
			binding := &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: o.user},
				RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: o.user},
				Subjects:   []rbacv1.Subject{{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: o.user}},
			}
			if err := api.Create(t.Context(), role); err != nil {
				t.Fatal(err)
			}
			if err := api.Create(t.Context(), binding); err != nil {
				t.Fatal(err)
			}
			check := listsAny(clustersOf(checks.Query{Namespace: tc.namespace}))
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

// TestSetsInstalledLater verifies that a query over a missing kind is no empty
// set, and is answered when the kind is installed. No other test runs at the same
// time, as in TestInstalledLater.
func TestSetsInstalledLater(t *testing.T) {
	o := newOperator(t)
	definition := o.newKind(apiextensions.NamespaceScoped)
	gk := schema.GroupKind{Group: testv1.GroupVersion.Group, Kind: definition.Spec.Names.Kind}
	o.start(ctrlx.New("Database", o.operations(), extensions{PreCheck: listsAny(checks.Query{Group: gk.Group, Kind: gk.Kind})}, noPolling, ctrlx.WithWatchedKinds(gk)))
	o.database("db", "")
	o.message("db", fmt.Sprintf("the kind %q is not installed", gk))
	install(t, definition)
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(testv1.GroupVersion.WithKind(gk.Kind))
	widget.SetNamespace(o.namespace)
	widget.SetName("one")
	err := apiserver.Until(t.Context(), func(ctx ctxt) (bool, error) {
		return api.Create(ctx, widget) == nil, nil // the API server needs a moment until it serves the kind
	})
	if err != nil {
		t.Fatal(err)
	}
	o.until("db", "True Succeeded")
}
