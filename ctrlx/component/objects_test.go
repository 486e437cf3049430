package component_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/manifests"
)

// Bad input is refused before any write, and the error names the object.
func TestBadInput(t *testing.T) {
	t.Parallel()
	crd := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x.NAMESPACE, annotations: {%s: %q}}\nspec: {group: g.NAMESPACE.io, names: {kind: X}, scope: Namespaced}\n"
	instance := "apiVersion: g.NAMESPACE.io/v1\nkind: X\nmetadata: {name: x, annotations: {%s: %q}}\n"
	annotated := func(text, key, value string) string { return fmt.Sprintf(text, name+"/"+key, value) }
	cases := map[string]struct {
		reason string
		change func(*ShopSpec)
		want   string
	}{
		"Twice": {"two objects of one name", func(s *ShopSpec) { s.Manifests = []string{configMap("a", "1"), configMap("a", "2")} },
			"ConfigMap NAMESPACE/a: it is given twice, as number 1 and number 2"},
		"TwiceUnserved": {"with a namespace and without, before the kind is served", func(s *ShopSpec) {
			s.ManagedTypes = []metav1.GroupVersionKind{{Group: "x.example.com", Kind: "*"}}
			s.Manifests = []string{"apiVersion: x.example.com/v1\nkind: X\nmetadata: {name: a}\n", "apiVersion: x.example.com/v1\nkind: X\nmetadata: {name: a, namespace: NAMESPACE}\n"}
		}, "X.x.example.com NAMESPACE/a: it is given twice, as number 1 and number 2"},
		"GenerateName": {"no pass finds the object again", func(s *ShopSpec) {
			s.Manifests = []string{"apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-, name: a}\n"}
		}, "ConfigMap NAMESPACE/a: metadata.generateName is set"},
		"UnknownKind": {"nothing installs the kind", func(s *ShopSpec) { s.Manifests = []string{"apiVersion: x.io/v1\nkind: X\nmetadata: {name: a}\n"} },
			"X.x.io a: the API server does not serve the kind X.x.io in the version v1"},
		"UnknownVersion": {"the kind has no such version", func(s *ShopSpec) {
			s.Manifests = []string{"apiVersion: apps/v9\nkind: Deployment\nmetadata: {name: a}\n"}
		}, "the API server does not serve the kind Deployment.apps in the version v9"},
		"Order": {"an order is an int16", func(s *ShopSpec) { s.Manifests = []string{configMap("a", "1", "apply-order", "32768")} },
			`ConfigMap NAMESPACE/a: shop.example.com/apply-order is "32768": it must be a whole number from -32768 to 32767`},
		"OrderText": {"a text is no order", func(s *ShopSpec) { s.Manifests = []string{configMap("a", "1", "delete-order", "first")} },
			`shop.example.com/delete-order is "first"`},
		"Policy": {"an annotation", func(s *ShopSpec) { s.Manifests = []string{configMap("a", "1", "update-policy", "Merge")} },
			`ConfigMap NAMESPACE/a: shop.example.com/update-policy is "Merge"`},
		"ComponentPolicy": {"a setting of the component", func(s *ShopSpec) { s.Update = "Merge" }, `the policies of the owner Shop.test.windlass-go.github.io NAMESPACE/shop: the update-policy of the spec or of an option is "Merge": it must be one of`},
		"ComponentNamespaces": {"a setting of the component", func(s *ShopSpec) { s.Namespaces = "Maybe" },
			`the policy for missing namespaces is "Maybe"`},
		"ComponentType": {"a pattern inside of a name", func(s *ShopSpec) { s.ManagedTypes = []metav1.GroupVersionKind{{Group: "a.*.io", Kind: "*"}} },
			`the group of the managed type "*.a.*.io" is no name, * or *.suffix`},
		"RecreateNamespace": {"an update would delete the objects of others, and no guard comes before it", func(s *ShopSpec) {
			s.Update, s.Manifests = "Recreate", []string{"apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-inner}\n"}
		}, "Namespace NAMESPACE-inner: the update policy Recreate would delete all objects in it: set shop.example.com/update-policy to another one"},
		"RecreateManaged": {"whatever types are managed", func(s *ShopSpec) {
			s.ManagedTypes, s.Update, s.Manifests = []metav1.GroupVersionKind{{Kind: "*"}}, "Recreate", []string{"apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-inner}\n"}
		}, "Namespace NAMESPACE-inner: the update policy Recreate would delete all objects in it"},
		"PurgeType": {"a definition with instances would be purged", func(s *ShopSpec) { s.Manifests = []string{annotated(crd, "purge-order", "1")} },
			"CustomResourceDefinition.apiextensions.k8s.io x.NAMESPACE: shop.example.com/purge-order is set"},
		"NoType": {"a definition without a group", func(s *ShopSpec) {
			s.Manifests = []string{"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x.NAMESPACE}\nspec: {names: {kind: X}}\n"}
		}, "object 1: invalid dependent: CustomResourceDefinition.apiextensions.k8s.io x.NAMESPACE: it names no group or no kind"},
		"NoTypeKind": {"a definition without a kind", func(s *ShopSpec) {
			s.Manifests = []string{"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x.NAMESPACE}\nspec: {group: x.io}\n"}
		}, "it names no group or no kind"},
		"OutlivesSpelled": {"the component spells the policy otherwise", func(s *ShopSpec) {
			s.Delete = "orphan"
			s.Manifests = []string{annotated(crd, "delete-policy", "Delete"), annotated(instance, "delete-order", "0")}
		}, "its delete policy Orphan keeps it"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.change(func(s *Shop) {
				s.Spec.Manifests = []string{configMap("good", "1")}
				tc.change(&s.Spec)
				s.Spec.Manifests = append(s.Spec.Manifests, configMap("good", "1"))
				if len(s.Spec.Manifests) == 2 && strings.HasPrefix(name, "Component") {
					s.Spec.Manifests = s.Spec.Manifests[:1]
				}
			})
			_, err := w.pass()
			want := strings.ReplaceAll(tc.want, "NAMESPACE", w.ns)
			if !errors.Is(err, dependents.ErrInvalid) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nwant %s", tc.reason, err, want)
			}
			if p, planned := w.plan(); p != nil || fmt.Sprint(planned) != fmt.Sprint(err) {
				t.Errorf("%s: the plan is %v, %v", tc.reason, p, planned)
			}
			if writes := w.writes(); len(writes) > 0 || w.shop.Status.Inventory != nil {
				t.Errorf("%s: the pass writes %q, the inventory is %v", tc.reason, writes, w.shop.Status.Inventory)
			}
		})
	}
}

// Under WithOwnNamespaceOnly a parameter cannot place an object elsewhere. The scope of a
// kind counts as soon as it is known.
func TestOwnNamespaceOnly(t *testing.T) {
	t.Parallel()
	unserved := "apiVersion: x.example.com/v1\nkind: X\nmetadata: {name: a}\n"
	role := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: NAMESPACE-role}\n"
	elsewhere := strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: default", 1)
	cases := map[string]struct {
		reason   string
		manifest string
		kinds    []schema.GroupKind
		want     string // the error; empty: none
	}{
		"Own":       {"the namespace of the component", configMap("a", "1"), nil, ""},
		"Elsewhere": {"another namespace", elsewhere, nil, `ConfigMap default/a: it is outside of the namespace "NAMESPACE" of the component`},
		"Cluster":   {"a kind without namespaces", role, nil, "its kind ClusterRole.rbac.authorization.k8s.io has no namespaces, and WithOwnNamespaceOnly does not name it"},
		"Named":     {"a kind that the option names", role, []schema.GroupKind{{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}}, ""},
		"Unserved":  {"its scope is not known yet", unserved, nil, ""},
		"UnservedElsewhere": {"it names another namespace", strings.Replace(unserved, "name: a", "name: a, namespace: default", 1), nil,
			`X.x.example.com default/a: it is outside of the namespace "NAMESPACE" of the component`},
		"Namespace": {"another kind than the named one", "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-x}\n", []schema.GroupKind{{Kind: "Node"}}, "its kind Namespace has no namespaces"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, component.WithOwnNamespaceOnly(tc.kinds...), component.WithOwnNamespaceOnly())
			w.change(func(s *Shop) { s.Spec.ManagedTypes = []metav1.GroupVersionKind{{Group: "x.example.com", Kind: "*"}} })
			w.want(configMap("good", "1"), tc.manifest)
			_, err := w.pass()
			if want := strings.ReplaceAll(tc.want, "NAMESPACE", w.ns); (err != nil) != (want != "") || err != nil && (!errors.Is(err, dependents.ErrInvalid) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, want %q", tc.reason, err, want)
			}
			if writes := w.writes(); (len(writes) > 0) != (tc.want == "") {
				t.Errorf("%s: the pass writes %q", tc.reason, writes)
			}
		})
	}
}

// A generator may return anything. An invalid set causes no write.
func TestGenerators(t *testing.T) {
	t.Parallel()
	many := make([]client.Object, 1001)
	for i := range many {
		many[i] = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("a", i)}}
	}
	failure := errors.New("no template")
	cases := map[string]struct {
		reason  string
		objects []client.Object
		err     error
		panics  bool
		want    string
	}{
		"Error":    {"of the generator", nil, failure, false, "the generator: no template"},
		"Panic":    {"becomes an error", nil, nil, true, "boom"},
		"Nil":      {"a forgotten result deletes nothing", nil, nil, false, "the generator returned nil"},
		"NilItem":  {"one of the most objects that the status may have", append(many[:999:999], nil), nil, false, "invalid dependent: object 1000 is nil"},
		"TypedNil": {"a nil pointer", []client.Object{(*corev1.ConfigMap)(nil)}, nil, false, "invalid dependent: object 1 is nil"},
		"Partial":  {"only metadata", []client.Object{&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}}}, nil, false, "it has only metadata"},
		"Many":     {"more than the status may have", many, nil, false, "the generator made 1001 objects"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.generator = manifests.GeneratorFunc[*ShopSpec](func(context.Context, string, string, *ShopSpec) ([]client.Object, error) {
				if tc.panics {
					panic("boom")
				}
				return tc.objects, tc.err
			})
			w.restart()
			_, err := chain.New(chain.Recover[string, checks.Result]).Then(func(context.Context, string) (checks.Result, error) { return w.pass() })(t.Context(), "")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %s", tc.reason, err, tc.want)
			}
			if _, err := w.plan(); tc.panics && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: the plan: %v, want %s", tc.reason, err, tc.want)
			}
			if writes := w.writes(); len(writes) > 0 {
				t.Errorf("%s: the pass writes %q", tc.reason, writes)
			}
		})
	}
}

// Passes at the same time may share the manifests of a generator. The race detector
// finds a write.
func TestSharedManifests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	crd, _ := w.definition()
	u, err := parsed(crd)
	must(t, err)
	w.generator = manifests.GeneratorFunc[*ShopSpec](func(context.Context, string, string, *ShopSpec) ([]client.Object, error) {
		return []client.Object{u}, nil
	})
	w.restart()
	must(t, api.Get(t.Context(), clientKey(w.shop), w.shop))
	var passes sync.WaitGroup
	for range 2 {
		passes.Go(func() {
			if p, err := w.reconciler.Plan(t.Context(), w.ends, w.shop); err != nil || len(p.Changes) != 1 {
				t.Errorf("the plan: %v, %v", p, err)
			}
		})
	}
	passes.Wait()
}

// An object of a kind without namespaces is accepted without its namespace, as kubectl
// accepts those of some charts. Its deletion finds it.
func TestNamespaceOfClusterKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	class := "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: NAMESPACE, namespace: elsewhere}\nvalue: 1\n"
	w.want(class)
	w.settle()
	items := w.shop.Status.Inventory
	if len(items) != 1 || items[0].Namespace != "" {
		t.Errorf("the inventory has %+v", items)
	}
	w.settle()
	w.writes()
	w.settle()
	same(t, []string(nil), w.writes(), "the writes of a pass in sync")
	w.want(class, strings.Replace(class, "elsewhere", "nowhere", 1))
	if _, err := w.pass(); err == nil || !strings.Contains(err.Error(), "it is given twice, as number 1 and number 2") {
		t.Errorf("two namespaces name one object: %v", err)
	}
	w.want(class)
	w.delete()
	w.settle()
	same(t, []string{"delete PriorityClass " + w.ns}, w.wrote("delete"), "the deletions")
}
