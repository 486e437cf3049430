package component_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// The keys of KEP-3659.
const (
	setID         = "applyset.kubernetes.io/id"
	setTooling    = "applyset.kubernetes.io/tooling"
	setKinds      = "applyset.kubernetes.io/contains-group-kinds"
	setNamespaces = "applyset.kubernetes.io/additional-namespaces"
	partOf        = "applyset.kubernetes.io/part-of"
)

// applySet is an ApplySet as another tool reads it.
type applySet struct {
	id                string
	kinds, namespaces []string
}

// readApplySet reads an ApplySet by the rules of KEP-3659, with which kubectl reads a
// parent: the tooling, the ID, the annotation of the kinds that may be empty but not
// absent, and that both lists are sorted.
func readApplySet(parent client.Object, tool string) (applySet, error) {
	set := applySet{id: dependents.ApplySetID(checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Shop", Namespace: parent.GetNamespace(), Name: parent.GetName()})}
	labels, annotations := parent.GetLabels(), parent.GetAnnotations()
	tooling := strings.Split(annotations[setTooling], "/")
	if n := len(tooling); n < 2 || strings.Join(tooling[:n-1], "/") != tool || !strings.HasPrefix(tooling[n-1], "v") {
		return set, fmt.Errorf("the tooling is %q", annotations[setTooling])
	}
	if labels[setID] != set.id {
		return set, fmt.Errorf("the ID is %q, want %q", labels[setID], set.id)
	}
	kinds, found := annotations[setKinds]
	if !found {
		return set, errors.New("the annotation of the kinds is absent")
	}
	if kinds != "" {
		set.kinds = strings.Split(kinds, ",")
	}
	namespaces, found := annotations[setNamespaces]
	if found && namespaces == "" {
		return set, errors.New("the annotation of the namespaces has the reserved value")
	}
	if found {
		set.namespaces = strings.Split(namespaces, ",")
	}
	if !slices.IsSorted(set.kinds) || !slices.IsSorted(set.namespaces) || slices.Contains(set.namespaces, parent.GetNamespace()) {
		return set, fmt.Errorf("the lists %q and %q are not sorted, or have the namespace of the parent", set.kinds, set.namespaces)
	}
	return set, nil
}

// members returns the objects of the ApplySet that a tool finds by the annotations of
// the parent, and those that it does not find.
func (w *world) members(kinds ...schema.GroupVersionKind) (found, lost []string) {
	w.t.Helper()
	shop := &Shop{}
	must(w.t, api.Get(w.t.Context(), clientKey(w.shop), shop))
	set, err := readApplySet(shop, name)
	for _, gvk := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk)
		must(w.t, api.List(w.t.Context(), list, client.MatchingLabels{partOf: set.id}))
		for _, obj := range list.Items {
			if err == nil && slices.Contains(set.kinds, gvk.GroupKind().String()) &&
				slices.Contains(append(set.namespaces, w.ns), obj.Namespace) {
				found = append(found, gvk.Kind+" "+obj.Name)
			} else {
				lost = append(lost, gvk.Kind+" "+obj.Name)
			}
		}
	}
	return found, lost
}

var (
	accounts = schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"} // not watched
	roles    = schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}
)

func object(gvk schema.GroupVersionKind, object, namespace string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: %s}\n", gvk.GroupVersion(), gvk.Kind, object, namespace)
}

// A tool that knows KEP-3659 finds each object of a component at each moment: the
// annotations name kinds and namespaces before the first object, and until the last
// one is gone. This holds, too, if the process crashes before it writes them. In
// sync, nothing is written.
func TestApplySet(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t, component.WithApplySet()), newWorld(t)
	const parent = "patch Shop shop"
	crash, written, crashed := errors.New("crash"), 0, false
	w.before = func(call string) error {
		if call != parent || crashed {
			return nil
		}
		crashed = true
		return crash
	}
	w.after = func(call string) error {
		if !isWrite(call) {
			return nil
		}
		if call == parent {
			written++
		}
		if _, lost := w.members(configMaps, accounts, roles); len(lost) > 0 {
			t.Errorf("after %s, the annotations lack %q", call, lost)
		}
		return nil
	}
	steps := []struct {
		manifests, want, kinds, namespaces []string
		writes                             int // of the component's metadata
	}{
		{[]string{}, nil, nil, nil, 1},
		{[]string{configMap("a", "1")}, []string{"ConfigMap a"}, []string{"ConfigMap"}, nil, 1},
		{[]string{configMap("a", "2"), configMap("b", "1")}, []string{"ConfigMap a", "ConfigMap b"}, []string{"ConfigMap"}, nil, 0},
		{
			[]string{configMap("a", "2"), object(roles, "r", other.ns), object(accounts, "s", w.ns)},
			[]string{"ConfigMap a", "ServiceAccount s", "Role r"}, []string{"ConfigMap", "Role.rbac.authorization.k8s.io", "ServiceAccount"}, []string{other.ns}, 1,
		},
		{ // the kinds change in both directions: the superset comes first, and the Role goes after the ConfigMap
			[]string{object(accounts, "s", w.ns), configMap("done", "1", "purge-order", "0")},
			[]string{"ServiceAccount s"}, []string{"ServiceAccount"}, nil, 2,
		},
	}
	for i, step := range steps {
		written, crashed = 0, false
		w.want(step.manifests...)
		for pass := 1; ; pass++ {
			res, err := w.pass()
			if err == nil && res.Done {
				break
			}
			if err != nil && !errors.Is(err, crash) || pass == 20 {
				t.Fatalf("step %d: %+v, %v", i, res, err)
			}
			w.restart()
		}
		found, lost := w.members(configMaps, accounts, roles)
		same(t, [][]string{step.want, nil}, [][]string{found, lost}, "step %d: the members", i)
		set, err := readApplySet(w.shop, name)
		if must(t, err); !slices.Equal(set.kinds, step.kinds) || !slices.Equal(set.namespaces, step.namespaces) {
			t.Errorf("step %d: the kinds %q and the namespaces %q, want %q and %q", i, set.kinds, set.namespaces, step.kinds, step.namespaces)
		}
		if written != step.writes || crashed != (step.writes > 0) {
			t.Errorf("step %d: %d writes of the component, want %d", i, written, step.writes)
		}
		w.writes()
		if w.settle(); len(w.writes()) > 0 {
			t.Errorf("step %d: a pass in sync writes", i)
		}
	}
	w.opts, w.before, w.after = nil, nil, nil
	w.restart()
	w.settle()
	if shop := w.shop; shop.Labels[setID] != "" || len(shop.Annotations) > 0 {
		t.Errorf("without the option, the labels are %v and the annotations %v", shop.Labels, shop.Annotations)
	}
}

// A component that lost its status finds its objects in the kinds and the namespaces
// of its ApplySet, and deletes none of them.
func TestRebuiltFromApplySet(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t, component.WithApplySet()), newWorld(t)
	w.want(configMap("a", "1"), object(accounts, "s", w.ns), object(roles, "r", other.ns))
	w.settle()
	w.forget()
	w.want(configMap("a", "1"))
	blocked := func(want ...string) {
		t.Helper()
		res, err := w.pass()
		must(t, err)
		got := sets.New[string]()
		for _, ref := range res.WaitingFor {
			got.Insert(ref.Name)
		}
		if diff := cmp.Diff(want, sets.List(got)); diff != "" || res.Done || !strings.Contains(res.Message, "the inventory was lost") {
			t.Errorf("%+v (-want +got):\n%s", res, diff)
		}
	}
	blocked("r", "s")
	w.forget() // again: the annotations still name what was found
	w.delete()
	blocked("a", "r", "s")
	if !w.exists(accounts, w.ns, "s") || !w.exists(roles, other.ns, "r") {
		t.Error("a rebuilt object was deleted")
	}
}

// The API server does not serve a kind of the ApplySet, so its objects are unknown: a
// component that lost its status stays.
func TestRebuiltHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, component.WithApplySet())
	crd, kind := w.definition()
	w.create(crd)
	w.serve(kind, map[string]bool{"v1": true})
	w.want(mill(kind, "ours"))
	w.settle()
	w.forget()
	w.serve(kind, nil)
	w.restart()
	w.delete()
	if res, err := w.pass(); !errors.Is(err, definition.ErrHidden) {
		t.Errorf("a kind that is not served: %+v, %v", res, err)
	}
	w.serve(kind, map[string]bool{"v1": true})
	if res, err := w.pass(); err != nil || len(res.WaitingFor) != 1 || res.WaitingFor[0].Name != "ours" {
		t.Errorf("the kind is served again: %+v, %v", res, err)
	}
}

// limited lists objects only in some namespaces.
type limited struct {
	client.Reader
	namespaces []string
}

func (l limited) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if ns := (&client.ListOptions{}).ApplyOptions(opts).Namespace; !slices.Contains(l.namespaces, ns) {
		return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("in the namespace %q", ns))
	}
	return l.Reader.List(ctx, list, opts...)
}

// An operator that may list objects in some namespaces finds those of the namespaces
// of the ApplySet. It fails if it may not list one of them.
func TestRebuiltInNamespaces(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t, component.WithApplySet()), newWorld(t)
	w.want(configMap("a", "1"), object(accounts, "s", other.ns))
	w.settle()
	pass := func(namespaces ...string) (component.Result, error) {
		w.forget()
		must(t, api.Get(t.Context(), clientKey(w.shop), w.shop))
		live := limited{w.ends.live, namespaces}
		return component.NewProcess(w.reconciler, ends{w.ends.client, live}, w.preferred).Pass(t.Context(), w.shop)
	}
	if _, err := pass(w.ns); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), other.ns) {
		t.Errorf("a namespace that may not be listed: %v", err)
	}
	w.change(func(s *Shop) {
		s.Spec.Manifests = []string{configMap("a", "1")}
		s.Annotations[setNamespaces] = strings.Join([]string{other.ns, w.ns, other.ns}, ",")
	})
	w.change(func(s *Shop) { s.Annotations[setNamespaces] = strings.Join([]string{other.ns, w.ns, other.ns}, ",") })
	res, err := pass(w.ns, other.ns)
	if must(t, err); res.Done || len(res.WaitingFor) != 1 || !strings.Contains(res.Message, "ServiceAccount "+other.ns+"/s: the inventory was lost") {
		t.Errorf("both namespaces: %+v", res)
	}
}

// vacant lists no object, and only in single namespaces.
type vacant struct{ client.Reader }

func (vacant) List(_ context.Context, _ client.ObjectList, opts ...client.ListOption) error {
	if (&client.ListOptions{}).ApplyOptions(opts).Namespace == "" {
		return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("in all namespaces"))
	}
	return nil
}

// An operator without rights in all namespaces sends a bounded number of requests.
func TestRebuildBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, component.WithApplySet())
	var many []string
	for i := range 10_000 {
		many = append(many, fmt.Sprintf("n%d", i))
	}
	w.change(func(s *Shop) {
		s.Annotations = map[string]string{setKinds: "ServiceAccount", setNamespaces: strings.Join(many, ",")}
		s.Spec.Manifests = []string{configMap("a", "1")}
	})
	_, err := component.NewProcess(w.reconciler, ends{w.ends.client, vacant{w.ends.live}}, w.preferred).Pass(t.Context(), w.shop)
	if !errors.Is(err, dependents.ErrInvalid) || !strings.Contains(err.Error(), "10000 lists") {
		t.Errorf("more namespaces than can be listed: %v", err)
	}
}

// A user who may edit a component may edit its annotations. They say where to
// look, and no more, and a list that makes no sense is refused.
func TestHostileApplySet(t *testing.T) {
	t.Parallel()
	many := func(n int, format string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(format, i))
		}
		return strings.Join(all, ",")
	}
	cases := map[string]struct {
		reason            string
		kinds, namespaces string
		want              string // of the error; empty: none
	}{
		"Absent":            {"no annotations name nothing", "", "", ""},
		"NotInstalled":      {"a kind that is not installed has no objects", "Mill.nowhere.example.com", "", ""},
		"Foreign":           {"objects without the label of the component are not found", "ServiceAccount", "default", ""},
		"TooManyKinds":      {"each kind costs a request", many(1001, "K%d.example.com"), "", "1001 kinds and 0 namespaces, and 1000 and 10000 are allowed"},
		"TooManyNamespaces": {"each namespace may cost a request for each kind", "ServiceAccount", many(10_001, "n%d"), "1 kinds and 10001 namespaces"},
		"Many":              {"an operator with rights everywhere makes one list for each kind", "ServiceAccount,Role.rbac.authorization.k8s.io", many(9000, "n%d"), ""},
		"Junk":              {"junk is no kind", "ConfigMap,../..", "", `contains-group-kinds has "../.."`},
		"Empty":             {"an empty entry names nothing", "ServiceAccount,,", ",", ""},
		"NoKind":            {"a kind has a name", "ServiceAccount,.apps", "", `contains-group-kinds has ".apps"`},
		"Wildcard":          {"a pattern is no kind", "*.example.com", "", `has "*.example.com"`},
		"Group":             {"a group is a name", "Role.RBAC", "", `has "Role.RBAC"`},
		"Long":              {"a message has not all of it", strings.Repeat("x", 100_000), "", `has "` + strings.Repeat("x", 100) + `"`},
		"JunkNamespace":     {"junk is no namespace", "ConfigMap", "a b", `additional-namespaces has "a b"`},
		"CannotBeListed":    {"a kind without lists cannot be searched", "SelfSubjectReview.authentication.k8s.io", "", "listing SelfSubjectReview.authentication.k8s.io"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, component.WithApplySet())
			w.change(func(s *Shop) {
				s.Annotations = map[string]string{setKinds: tc.kinds, setNamespaces: tc.namespaces}
				s.Spec.Manifests = []string{configMap("a", "1")}
			})
			_, err := w.pass()
			switch {
			case tc.want == "":
				must(t, err)
			case err == nil || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 1000:
				t.Errorf("%s: %v", tc.reason, err)
			case len(w.writes()) > 0:
				t.Errorf("%s: the pass writes", tc.reason)
			}
		})
	}
}

// A component that is the parent of another ApplySet writes nothing, and can be
// deleted.
func TestForeignParent(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason              string
		labels, annotations map[string]string
		want                string
	}{
		"Tool":      {"another tool manages the set", nil, map[string]string{setTooling: "kubectl/v1.37"}, `applyset.kubernetes.io/tooling is "kubectl/v1.37"`},
		"NoVersion": {"the name of another tool may begin as this one", nil, map[string]string{setTooling: name + "-copy/v1"}, `is "shop.example.com-copy/v1"`},
		"Copy":      {"a copy has the ID of the original", map[string]string{setID: "applyset-x-v1"}, map[string]string{setTooling: name + "/v1"}, `the label applyset.kubernetes.io/id is "applyset-x-v1"`},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, component.WithApplySet())
			w.change(func(s *Shop) {
				s.Labels, s.Annotations, s.Spec.Manifests = tc.labels, tc.annotations, []string{configMap("a", "1")}
			})
			if _, err := w.pass(); !errors.Is(err, dependents.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if writes := w.writes(); slices.Contains(writes, "patch Shop shop") || len(w.names()) > 0 {
				t.Errorf("%s: the writes %q", tc.reason, writes)
			}
			w.delete()
			w.settle() // a deletion does not need the set
		})
	}
}
