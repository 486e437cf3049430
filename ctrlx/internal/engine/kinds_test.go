package engine

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// Users name kinds; only the developer's choices decide how they are read.
func TestPolicy(t *testing.T) {
	all, apps := schema.GroupKind{Group: "*", Kind: "*"}, schema.GroupKind{Group: "apps", Kind: "*"}
	deployment, secret, pod := schema.GroupKind{Group: "apps", Kind: "Deployment"}, schema.GroupKind{Kind: "Secret"}, schema.GroupKind{Kind: "Pod"}
	foreign := schema.GroupKind{Group: "x.example", Kind: "Thing"}
	cases := map[string]struct {
		reason string
		config Config
		kind   schema.GroupKind
		want   policy
		open   bool
	}{
		"Scheme":         {"the developer registered the type", Config{}, clusters, watched, false},
		"Own":            {"it has a reconciler", Config{Kind: foreign}, foreign, watched, false},
		"BuiltIn":        {"almost every scheme has it", Config{}, pod, refuseKind, false},
		"Foreign":        {"the scheme does not know it", Config{}, foreign, refuseKind, false},
		"Secret":         {"existence needs no option", Config{}, secret, metadataOnly, false},
		"SecretNamed":    {"a check reads the data", Config{Watched: []schema.GroupKind{secret}}, secret, watched, false},
		"OtherSecret":    {"only the core group has that Secret", Config{}, schema.GroupKind{Group: "x.example", Kind: "Secret"}, refuseKind, false},
		"Named":          {"an option names it", Config{Watched: []schema.GroupKind{pod}}, pod, watched, false},
		"Group":          {"an option names the group; other code may watch a type of the scheme", Config{Watched: []schema.GroupKind{apps}}, deployment, watched, false},
		"OtherGroup":     {"a group is not another group", Config{Watched: []schema.GroupKind{apps}}, pod, refuseKind, false},
		"All":            {"users choose the kind", Config{Watched: []schema.GroupKind{all}}, foreign, watched, true},
		"AllAndNamed":    {"the developer knows the kind", Config{Watched: []schema.GroupKind{all, foreign}}, foreign, watched, false},
		"Unwatched":      {"the developer forbids the watch", Config{Unwatched: []schema.GroupKind{clusters}}, clusters, unwatched, false},
		"UnwatchedAtAll": {"a wildcard allows less than a name forbids", Config{Watched: []schema.GroupKind{all}, Unwatched: []schema.GroupKind{foreign}}, foreign, unwatched, false},
		"Written":        {"the informer of a kind without a type may stop, because its definition may go", Config{}, foreign, watched, true},
		"WrittenTyped":   {"other code may use the informer", Config{}, pod, watched, false},
		"WrittenSecret":  {"the content is compared, and not the version", Config{}, secret, watched, false},
		"WrittenOwn":     {"its controller uses the informer", Config{Kind: foreign}, foreign, watched, false},
		"WrittenNot":     {"the developer forbids the watch", Config{Unwatched: []schema.GroupKind{foreign}}, foreign, unwatched, false},
		"Both":           {"forbidden is stronger", Config{Watched: []schema.GroupKind{pod}, Unwatched: []schema.GroupKind{pod}}, pod, unwatched, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := runtime.NewScheme()
			if err := clientgoscheme.AddToScheme(s); err != nil {
				t.Fatal(err)
			}
			if err := testv1.AddToScheme(s); err != nil {
				t.Fatal(err)
			}
			e := &Engine{scheme: s, names: map[schema.GroupKind]string{}, policy: map[schema.GroupKind]policy{}}
			e.written = map[schema.GroupKind][]func(client.Object) uint64{}
			if _, err := e.Add(tc.config); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "Written") {
				e.Writes(tc.kind, func(client.Object) uint64 { return 0 })
			}
			if got, open := e.policyOf(tc.kind); got != tc.want || open != tc.open {
				t.Errorf("%s: the policy is %d, open: %v", tc.reason, got, open)
			}
		})
	}
}

// TestReached verifies that an informer of client-go reports the version of its
// store, which passes read, and that an informer of several namespaces is divided.
func TestReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := fcache.NewFakeControllerSource()
		defer source.Shutdown()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		actual := toolscache.NewSharedIndexInformer(source, &testv1.Cluster{}, 0, toolscache.Indexers{})
		w := &watch{kind: clusterKind, informer: actual, everywhere: true}
		go actual.RunWithContext(ctx)
		synctest.Wait()
		for _, name := range []string{"a", "b"} {
			c := &testv1.Cluster{}
			c.Name = name
			source.Add(c)
			version := c.ResourceVersion
			synctest.Wait()
			if !w.reached(version) || w.reached(version+"0") || len(actual.GetStore().List()) == 0 {
				t.Errorf("the store has the version %q, want %s", actual.GetIndexer().LastStoreSyncResourceVersion(), version)
			}
		}
		if several := (&watch{informer: unversioned{}, everywhere: true}); w.divided() || !several.divided() || several.reached("") {
			t.Errorf("the informers are divided: %t and %t", w.divided(), several.divided())
		}
	})
}
