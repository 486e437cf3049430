package ctrlx_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

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
