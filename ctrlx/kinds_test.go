package ctrlx_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

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
