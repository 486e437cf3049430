package ctrlx_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
)

// allow gives the operator's user rights to all of some resources of a group, and to events.
func (o *operator) allow(group string, resources ...string) {
	o.t.Helper()
	apiserver.RequireKube(o.t)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: o.user}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{group}, Resources: resources, Verbs: []string{"*"}},
		{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"*"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: o.user},
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: o.user},
		Subjects:   []rbacv1.Subject{{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: o.user}},
	}
	must(o.t, api.Create(o.t.Context(), role))
	must(o.t, api.Create(o.t.Context(), binding))
}

// The operator may not watch the kind of an awaited object. The condition has the words
// of the API server, also for a set, and a single worker still serves all other objects.
func TestForbidden(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.user = o.namespace + "-nobody"
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
	if took := time.Since(started); took > 15*syncs { // 31 of them if each database waits for the watch
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
