package component_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
)

// An operator without the right to list and watch a kind, or one that must not watch
// it, applies objects of the kind, and corrects their drift in the next pass. The log
// names a forbidden kind once.
func TestUnwatched(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		opt    component.Option
		lines  int // of the log
	}{
		"Forbidden": {"the rights lack list and watch", component.WithReconciler(), 1},
		"Option":    {"the developer does not want the watch", component.WithReconciler(ctrlx.WithUnwatchedKinds(schema.GroupKind{Kind: "ConfigMap"})), 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			startServer(t)
			var mu sync.Mutex
			var lines []string
			o := &operator{t: t, api: api, ns: apiserver.Namespace(t, api), shops: component.New[*Shop]("shop.example.com", inSpec, tc.opt)}
			o.log = funcr.New(func(_, args string) {
				mu.Lock()
				defer mu.Unlock()
				if strings.Contains(args, "are not watched") {
					lines = append(lines, args)
				}
			}, funcr.Options{})
			o.start(o.limited(), cache.Options{DefaultNamespaces: map[string]cache.Config{o.ns: {}}})
			shop := o.create(configMap("a", "1"), configMap("b", "1"))
			o.ready("True Succeeded", "")
			cm := &corev1.ConfigMap{}
			must(t, api.Get(t.Context(), client.ObjectKey{Namespace: o.ns, Name: "a"}, cm))
			cm.Data["k"] = "drift"
			must(t, api.Update(t.Context(), cm, client.FieldOwner("kubectl-edit")))
			must(t, api.Get(t.Context(), client.ObjectKeyFromObject(shop), shop))
			shop.Spec.Size++
			must(t, api.Update(t.Context(), shop)) // the next pass
			o.data("a", "1")
			must(t, api.Delete(t.Context(), shop))
			o.gone(shop)
			o.data("a", "")
			mu.Lock()
			defer mu.Unlock()
			if n := len(lines); n != tc.lines || slices.ContainsFunc(lines, func(l string) bool { return !strings.Contains(l, `"kind"="ConfigMap"`) }) {
				t.Errorf("%s: %d lines of the log, want %d: %q", tc.reason, n, tc.lines, lines)
			}
		})
	}
}

// limited returns the configuration of a user who has all rights to Shops, and who may
// neither list nor watch ConfigMaps.
func (o *operator) limited() *rest.Config {
	o.t.Helper()
	w := &world{t: o.t, ns: o.ns}
	w.create(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAMESPACE-limited}
rules:
- {apiGroups: ['*'], resources: [shops, shops/status, events], verbs: ['*']}
- {apiGroups: [''], resources: [configmaps], verbs: [get, create, update, patch, delete]}
- {apiGroups: [''], resources: [namespaces], verbs: [get]}
- {apiGroups: [apiextensions.k8s.io, apiregistration.k8s.io], resources: ['*'], verbs: [get, list]}
`)
	w.create(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAMESPACE-limited}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAMESPACE-limited}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: NAMESPACE-limited}]
`)
	user := rest.CopyConfig(config)
	user.Impersonate.UserName = o.ns + "-limited"
	limited, err := client.New(user, client.Options{Scheme: scheme})
	must(o.t, err)
	eventually(o.t, "the API server learns of the rights", func() bool { return limited.List(o.t.Context(), &ShopList{}) == nil })
	return user
}
