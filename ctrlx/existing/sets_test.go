package existing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/existing"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// fleet returns a client with databases of the clusters prod and test. With an
// index, it selects by spec.cluster.
func fleet(indexed bool) (c client.Client, first *testv1.Database) {
	b := fake.NewClientBuilder().WithScheme(scheme)
	if indexed {
		b = b.WithIndex(&testv1.Database{}, "spec.cluster", func(obj client.Object) []string { return []string{obj.(*testv1.Database).Spec.Cluster} })
	}
	for i, at := range []string{"team/first prod", "team/second prod", "team/third test", "other/fourth prod"} {
		var d testv1.Database
		key, cluster, _ := strings.Cut(at, " ")
		d.Namespace, d.Name, _ = strings.Cut(key, "/")
		d.UID, d.Spec.Cluster, d.CreationTimestamp = types.UID(d.Name), cluster, metav1.Unix(int64(i), 0)
		if i == 0 {
			first = d.DeepCopyObject().(*testv1.Database)
		}
		b = b.WithObjects(&d)
	}
	return &scoped{b.WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}).Build()}, first
}

func TestResolverLister(t *testing.T) {
	cases := map[string]struct {
		reason  string
		query   checks.Query
		indexed bool
		want    string // the names, or the error
	}{
		"Own":       {"no namespace is that of the resource", databasesOf(checks.Query{}), false, "first (self), second, third"},
		"All":       {"all namespaces", databasesOf(checks.Query{Namespace: checks.AllNamespaces}), false, "first (self), second, third, fourth"},
		"Field":     {"the reader has the index", databasesOf(checks.Query{Field: "spec.cluster", Value: "prod"}), true, "first (self), second"},
		"NamesOnly": {"the values have no content", databasesOf(checks.Query{Field: "spec.cluster", Value: "test", NamesOnly: true}), true, "third"},
		"NoIndex": {"a list of all objects would be a wrong answer", databasesOf(checks.Query{Field: "spec.cluster", Value: "prod"}), false,
			"ctrlx: every Database.test.windlass-go.github.io with spec.cluster=prod: "},
		"NoNamespace": {"the kind has no namespaces; without a UID, no object is the resource", checks.Query{Kind: "Namespace"}, false, "team"},
		"Selector":    {"it cannot be parsed", databasesOf(checks.Query{Selector: "a=b=c"}), false, "the selector is not valid, give one as for kubectl -l"},
		"Kind":        {"the scheme does not know the kind", checks.Query{Group: "none", Kind: "None"}, false, "the kind is not in the scheme"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, first := fleet(tc.indexed)
			if name == "NoNamespace" {
				first.UID = ""
			}
			all, err := existing.NewResolver(c, scheme).Lister(first)(t.Context(), tc.query)
			var names []string
			for _, obj := range all {
				name := obj.Ref.Name
				if obj.Self {
					name += " (self)"
				}
				names = append(names, name)
			}
			got := strings.Join(names, ", ")
			if err != nil {
				got = err.Error()
			}
			if got != tc.want && (err == nil || !strings.Contains(got, tc.want)) {
				t.Errorf("%s: got %s", tc.reason, got)
			}
		})
	}
}

// A program without a reconciler lists the databases of a team. A [checks.Query]
// with a Field would need an index of the client.
func ExampleResolver_Lister() {
	c, first := fleet(false)
	list := existing.NewResolver(c, scheme).Lister(first)
	all, err := list(context.Background(), checks.Query{Group: testv1.GroupVersion.Group, Kind: "Database"})
	for _, d := range all {
		fmt.Println(d.Ref.Name, d.Self)
	}
	fmt.Println(err)
	// Output:
	// first true
	// second false
	// third false
	// <nil>
}
