package component_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component"
)

// definition returns the manifest of a definition of a kind of this test, and the
// kind. The names of two tests differ, because definitions have no namespace.
func (w *world) definition(annotations ...string) (string, schema.GroupVersionKind) {
	group := w.ns + ".example.com"
	var lines []string
	for i := 0; i < len(annotations); i += 2 {
		lines = append(lines, fmt.Sprintf("    %s/%s: %q\n", name, annotations[i], annotations[i+1]))
	}
	text := fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: mills.%[1]s
  annotations:
    a: b
%[2]sspec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Mill, listKind: MillList, plural: mills, singular: mill}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, group, strings.Join(lines, ""))
	return text, schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Mill"}
}

func mill(kind schema.GroupVersionKind, object string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: Mill\nmetadata: {name: %s}\nspec: {size: 1}\n", kind.GroupVersion(), object)
}

// The instances of a type of the set come after its definition, and go before it.
// A foreign instance blocks the deletion, and the condition names it. The definition
// gets no finalizer: that of component-operator-runtime gets one, which the deletion
// removes. docs/from-component-operator-runtime.md lists all differences.
func TestManagedTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	crd, kind := w.definition()
	w.want(mill(kind, "ours"), configMap("z", "1"), crd)
	w.settle()
	same(t, []string{"write CustomResourceDefinition mills." + kind.Group, "write ConfigMap z", "write Mill ours"}, w.wrote("write"), "the creates")
	same(t, 0, len(w.object(definitions, "mills."+kind.Group).GetFinalizers()), "the number of finalizers of the definition")
	clone := w.object(kind, "ours")
	clone.SetName("foreign") // a clone has our labels
	clone.SetResourceVersion("")
	must(t, api.Create(t.Context(), clone))
	w.delete()
	res := w.passes(1)
	want := "DeletionBlocked: objects of managed types would be lost, because this component does not own them; delete them first: Mill." + kind.Group + " " + w.ns + "/foreign"
	if got := res.Reason() + ": " + res.Message(); got != want || len(res.WaitingFor()) != 1 {
		t.Errorf("blocked: %s, want %s", got, want)
	}
	if writes := w.writes(); len(writes) > 0 {
		t.Errorf("a blocked deletion writes %q", writes)
	}
	must(t, api.Delete(t.Context(), w.object(kind, "foreign")))
	passes := 0
	for res = (checks.Result{}); !res.Proceeds(); passes++ {
		res = w.passes(1)
	}
	lists := len(slices.DeleteFunc(slices.Clone(w.calls), func(c string) bool { return c != "live list MillList" }))
	if lists > passes {
		t.Errorf("%d passes list the instances %d times", passes, lists)
	}
	same(t, []string{"delete Mill ours", "delete ConfigMap z", "delete CustomResourceDefinition mills." + kind.Group}, w.wrote("delete"), "the deletions")
}

// An object of a managed type that the component does not own blocks the deletion of the
// component, and that of a redundant definition. Nothing is deleted before. A definition
// that another owner has blocks nothing.
func TestGuard(t *testing.T) {
	t.Parallel()
	types := func(group, kind string) func(*Shop) {
		return func(s *Shop) { s.Spec.ManagedTypes = []metav1.GroupVersionKind{{Group: group, Kind: kind}} }
	}
	release := func(w *world, kind schema.GroupVersionKind) { // a person keeps the instance, as the messages advise
		u := w.object(kind, "m")
		u.SetLabels(nil)
		u.SetFinalizers([]string{"mills.example.com/operator"})
		must(w.t, api.Update(w.t.Context(), u))
	}
	otherKind := func(w *world, crd string, kind schema.GroupVersionKind) {
		w.want(crd)
		w.settle()
		w.create(mill(kind, "foreign"))
		w.want(strings.NewReplacer("kind: Mill,", "kind: Windmill,", "MillList", "WindmillList").Replace(crd))
		w.refused("names.kind")
	}
	cases := map[string]struct {
		reason  string
		do      func(w *world, crd string, kind schema.GroupVersionKind)
		message string // a part; empty: the deletion ends
	}{
		"Redundant": {"a foreign instance exists", func(w *world, crd string, kind schema.GroupVersionKind) {
			w.want(crd)
			w.settle()
			w.create(mill(kind, "foreign"))
			w.want()
		}, "/foreign"},
		"Released": {"the operator of the type is needed", func(w *world, crd string, kind schema.GroupVersionKind) {
			w.want(crd, configMap("operator", "1"), mill(kind, "m"))
			w.settle()
			release(w, kind)
			w.delete()
		}, "/m"},
		"ReleasedAdditional": {"the same, of a type that the set lacks", func(w *world, crd string, kind schema.GroupVersionKind) {
			w.create(crd)
			w.change(types(kind.Group, "Mill"))
			w.want(configMap("operator", "1"), mill(kind, "m"))
			w.settle()
			release(w, kind)
			w.delete()
		}, "/m"},
		"Purged": {"a foreign instance has the name of a purged one", func(w *world, crd string, kind schema.GroupVersionKind) {
			m := strings.Replace(mill(kind, "m"), "{name: m}", "{name: m, annotations: {shop.example.com/purge-order: '0'}}", 1)
			w.want(crd, m, configMap("a", "1"))
			w.settle()
			w.create(mill(kind, "m")) // it was purged
			w.want(m, configMap("a", "1"))
		}, "/m"},
		"LiveKind": {"the kind is immutable, so the manifest does not count", func(w *world, crd string, kind schema.GroupVersionKind) {
			otherKind(w, crd, kind)
			w.delete()
		}, "/foreign"},
		"LiveKindDropped": {"the same, of a redundant definition", func(w *world, crd string, kind schema.GroupVersionKind) {
			otherKind(w, crd, kind)
			w.want()
		}, "/foreign"},
		"Core": {"the group * has the core group", func(w *world, _ string, _ schema.GroupVersionKind) {
			w.create("apiVersion: v1\nkind: PodTemplate\nmetadata: {name: foreign}\ntemplate: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}\n")
			w.change(types("*", "PodTemplate"))
			w.want(configMap("a", "1"))
			w.settle()
			w.delete()
		}, "/foreign"},
		"Pages": {"it is on the second page of a list", func(w *world, crd string, kind schema.GroupVersionKind) {
			w.want(crd, mill(kind, "a"), mill(kind, "b"), mill(kind, "c"))
			w.settle()
			w.create(mill(kind, "z-foreign"))
			w.process = component.NewProcess(w.reconciler, ends{w.ends.client, pages{w.ends.live}}, w.preferred)
			w.delete()
		}, "/z-foreign"},
		"Many": {"the message names some of many objects", func(w *world, crd string, kind schema.GroupVersionKind) {
			w.want(crd)
			w.settle()
			for _, m := range []string{"a", "b", "c", "d", "e", "f", "g"} {
				w.create(mill(kind, m))
			}
			w.delete()
		}, "/e, more of Mill."},
		"WithoutGuard": {"the developer accepts the loss", func(w *world, crd string, kind schema.GroupVersionKind) {
			w.opts = append(w.opts, component.WithDeleteChain(func(c component.Chain) (component.Chain, error) { return c.Without("Guard") }))
			w.restart()
			w.want(crd)
			w.settle()
			w.create(mill(kind, "foreign"))
			w.delete()
		}, ""},
		"OfAnother": {"the instances of another component are none of this one", func(w *world, crd string, kind schema.GroupVersionKind) {
			first := newWorld(w.t)
			first.want(crd, mill(kind, "theirs"))
			first.settle()
			w.want(crd)
			w.refused("it belongs to")
			w.delete()
		}, ""},
		"Taken": {"another owner has taken the redundant definition", func(w *world, crd string, kind schema.GroupVersionKind) {
			w.want(crd)
			w.settle()
			w.create(mill(kind, "foreign"))
			u := w.object(definitions, "mills."+kind.Group)
			u.SetLabels(map[string]string{name + "/owner-id": "thief"})
			must(w.t, api.Update(w.t.Context(), u))
			w.want()
		}, ""},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			crd, kind := w.definition()
			tc.do(w, crd, kind)
			w.writes()
			if tc.message == "" {
				w.settle()
				return
			}
			for range 3 {
				if res, err := w.pass(); err != nil || res.Proceeds() || !strings.Contains(res.Message(), tc.message) {
					t.Errorf("%s: %+v, %v", tc.reason, res, err)
				}
			}
			same(t, []string(nil), w.wrote("delete"), "%s: the deletions", tc.reason)
		})
	}
}

// pages is a reader whose lists have pages of two objects.
type pages struct{ client.Reader }

func (p pages) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return p.Reader.List(ctx, list, append(opts, client.Limit(2))...)
}

// Additional managed types are patterns. Kinds that cannot be listed do not count,
// and a group that cannot be discovered matters only if a pattern matches it.
func TestAdditionalManagedTypes(t *testing.T) {
	t.Parallel()
	broken := error(&discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{{Group: "metrics.example.com", Version: "v1"}: errors.New("no answer")}})
	all := []metav1.GroupVersionKind{{Group: "GROUP", Kind: "*"}}
	cases := map[string]struct {
		reason string
		types  []metav1.GroupVersionKind
		broken error // of the discovery
		orphan bool
		want   string // part of the message or the error; empty: not blocked
	}{
		"Suffix":       {"a group under the suffix matches", []metav1.GroupVersionKind{{Group: "*.example.com", Kind: "*"}}, nil, false, "/foreign"},
		"Exact":        {"one kind", []metav1.GroupVersionKind{{Group: "GROUP", Kind: "Mill"}}, nil, false, "/foreign"},
		"NotListable":  {"the kinds of this group have only create", []metav1.GroupVersionKind{{Group: "authorization.k8s.io", Kind: "*"}}, nil, false, ""},
		"Measurements": {"objects that cannot be deleted hold no data, as those of metrics.k8s.io", all, nil, false, ""},
		"BrokenInside": {"a broken group that the pattern matches is an error", []metav1.GroupVersionKind{{Group: "*.example.com", Kind: "*"}}, broken, false, "metrics.example.com/v1"},
		"BrokenAway":   {"a broken group that no pattern matches does not matter", []metav1.GroupVersionKind{{Group: "GROUP", Kind: "*"}}, broken, false, "/foreign"},
		"Down":         {"nothing is discovered", all, errors.New("no route"), false, "finding the managed types: no route"},
		"NoMapping":    {"the kind cannot be found", []metav1.GroupVersionKind{{Group: "GROUP", Kind: "Lost"}}, nil, false, "finding the managed type Lost.GROUP: no route"},
		"NoList":       {"the objects cannot be listed", all, nil, false, "listing objects of the managed type Mill.GROUP: it fails"},
		"NoDefinition": {"the definitions cannot be listed", all, nil, false, "finding the managed types: "},
		"BadVersion":   {"the answer of the discovery has another form", all, nil, false, "finding the managed types: unexpected GroupVersion"},
		"AllKept":      {"a component that keeps all objects loses nothing", []metav1.GroupVersionKind{{Group: "GROUP", Kind: "*"}}, nil, true, ""},
	}
	base := newWorld(t)
	crd, kind := base.definition()
	base.create(crd)
	base.change(func(s *Shop) { s.Spec.ManagedTypes = []metav1.GroupVersionKind{{Group: kind.Group, Kind: "*"}} })
	base.want(mill(kind, "ours")) // a kind that only the pattern knows is waited for
	base.settle()
	base.create(mill(kind, "foreign"))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.preferred = func() ([]*metav1.APIResourceList, error) {
				lists, _ := found.ServerPreferredResources()
				for i := 0; name == "Measurements" && i < len(lists); i++ {
					if lists[i].GroupVersion == kind.GroupVersion().String() {
						lists[i].APIResources[0].Verbs = metav1.Verbs{"get", "list"}
					}
				}
				if name == "BadVersion" {
					lists = append(lists, &metav1.APIResourceList{GroupVersion: "a/b/c", APIResources: []metav1.APIResource{{Kind: "A", Verbs: metav1.Verbs{"list", "delete"}}}})
				}
				return lists, tc.broken
			}
			w.restart()
			fails := map[string]string{"NoList": "live list MillList", "NoDefinition": "live list CustomResourceDefinitionList"}[name]
			policy := "Delete"
			if tc.orphan {
				policy = "Orphan"
			}
			var types []metav1.GroupVersionKind
			for _, ti := range tc.types {
				ti.Group = strings.ReplaceAll(ti.Group, "GROUP", kind.Group)
				types = append(types, ti)
			}
			w.change(func(s *Shop) {
				s.Spec.ManagedTypes, s.Spec.Manifests = types, []string{configMap("a", "1", "delete-policy", policy)}
			})
			w.settle()
			w.delete()
			if name == "NoMapping" {
				w.process = component.NewProcess(w.reconciler, ends{lacking{api}, api}, w.preferred)
			}
			w.fail(fails, errors.New("it fails"))
			res, err := w.pass()
			got := res.Message()
			if err != nil {
				got = err.Error()
			}
			if blocked := res.Reason() == "DeletionBlocked" || err != nil; blocked != (tc.want != "") || !strings.Contains(got, strings.ReplaceAll(tc.want, "GROUP", kind.Group)) {
				t.Errorf("%s: %s: %+v, %v; want %q", name, tc.reason, res, err, tc.want)
			}
		})
	}
}

// serve changes which versions of a definition are served, and waits until the API
// server does so.
func (w *world) serve(kind schema.GroupVersionKind, served map[string]bool) {
	w.t.Helper()
	crd := &apiextensions.CustomResourceDefinition{}
	u := w.object(definitions, "mills."+kind.Group)
	must(w.t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, crd))
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Served = served[crd.Spec.Versions[i].Name]
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"versions": crd.Spec.Versions}})
	must(w.t, err)
	must(w.t, api.Patch(w.t.Context(), u, client.RawPatch("application/merge-patch+json", patch)))
	for _, v := range crd.Spec.Versions {
		eventually(w.t, fmt.Sprintf("%s is served: %t", v.Name, v.Served), func() bool {
			_, err := found.RESTClient().Get().AbsPath("/apis", kind.Group, v.Name, "mills").DoRaw(w.t.Context())
			return (err == nil) == v.Served
		})
	}
}

// A type whose definition serves no version may have objects, so it blocks.
func TestUnservedType(t *testing.T) {
	t.Parallel()
	for name, additional := range map[string]string{"Definition": "", "AdditionalType": "Mill", "Pattern": "*"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			crd, kind := w.definition()
			w.want(crd)
			if additional != "" {
				w.create(crd)
				w.change(func(s *Shop) { s.Spec.ManagedTypes = []metav1.GroupVersionKind{{Group: kind.Group, Kind: additional}} })
				w.want(configMap("a", "1"))
			}
			w.settle()
			w.create(mill(kind, "foreign"))
			w.serve(kind, nil)
			w.delete()
			for range 2 {
				res := w.passes(1)
				if res.Reason() != "DeletionBlocked" || !strings.Contains(res.Message(), "objects of Mill."+kind.Group+" may exist") {
					t.Errorf("the type is not served: %+v", res)
				}
				w.restart()
			}
			w.serve(kind, map[string]bool{"v1": true})
			if res, err := w.pass(); err != nil || !strings.Contains(res.Message(), w.ns+"/foreign") {
				t.Errorf("the type is served again: %+v, %v", res, err)
			}
		})
	}
}

// lacking is a client that does not find the kind Lost.
type lacking struct{ client.Client }

func (l lacking) RESTMapper() meta.RESTMapper { return lackingMapper{l.Client.RESTMapper()} }

type lackingMapper struct{ meta.RESTMapper }

func (m lackingMapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if gk.Kind == "Lost" {
		return nil, errors.New("no route")
	}
	return m.RESTMapper.RESTMapping(gk, versions...)
}
