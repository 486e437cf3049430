package checkstest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

type cluster struct{ State *string }

// The listers of the variants find the objects of the drawn one, changed.
func TestListerVariants(t *testing.T) {
	objects := []checks.Object{Ready(checks.Ref{Kind: "Cluster", Name: "a"}, &cluster{}), Self(Ready(checks.Ref{Kind: "Cluster", Name: "b"}, &cluster{}))}
	want := map[string]func(*checks.Object){
		"with a lister that finds objects without a value":        func(o *checks.Object) { o.Value = nil },
		"with a lister that finds objects that are being deleted": func(o *checks.Object) { o.Deleting = true },
	}
	for _, v := range variants(OwnerRequest(ListedBy(ListerOf(objects...)))) {
		change := want[v.what]
		if change == nil {
			continue
		}
		delete(want, v.what)
		changed := slices.Clone(objects)
		for i := range changed {
			change(&changed[i])
		}
		got, err := v.req.Lister(t.Context(), checks.Query{Kind: "Cluster"})
		if diff := cmp.Diff(changed, got); err != nil || diff != "" {
			t.Errorf("%s: %v, -want, +got:\n%s", v.what, err, diff)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestVariants(t *testing.T) {
	state := "Succeeded"
	ref := checks.Ref{Kind: "Cluster", Name: "prod"}
	none := []string{
		"with no owner", "with an owner that no reference names yet", "with an owner that is not found", "with an owner known by its ID only",
		"with an owner of another kind",
	}
	there := []string{
		"with an owner that is a nil pointer", "with an owner that does not report its readiness", "with an owner that is not ready",
		"with an owner that was ready for an older generation", "with an owner that is being deleted",
	}
	resolver := []string{"with no resolver", "with a resolver that finds nothing", "with a resolver that fails"}
	lister := []string{
		"with an owner that an empty set names", "with no lister", "with a lister that finds nothing", "with a lister that fails",
		"with a lister that finds objects without a value", "with a lister that finds objects that are being deleted",
	}
	cases := map[string]struct {
		reason string
		got    []string
		want   [][]string
	}{
		"Owner": {
			"each variant of an owner check with an owner", of(t, OwnerRequest(OwnedBy(Ready(ref, &cluster{&state})), ResolvedBy(ResolverOf()))),
			[][]string{none, there, {"about to be deleted", "after Apply"}, resolver, {"without Owner.Value.State"}},
		},
		"Applied": {"variants of a check after Apply, with a vocabulary", of(t, &checks.OwnerRequest{Applied: true, Vocabulary: &checks.Vocabulary{}}), [][]string{none, {"about to be deleted", "before Apply", "with no vocabulary"}}},
		"Lister":  {"variants of a check with a lister", of(t, OwnerRequest(ListedBy(ListerOf()))), [][]string{none, {"about to be deleted", "after Apply"}, lister}},
		"Root":    {"without an owner no variant has a nil pointer as owner", of(t, OwnerRequest()), [][]string{none, {"about to be deleted", "after Apply"}}},
		"Resource": {
			"each variant of a check of a resource", of(t, Request(&cluster{&state}, NotInCloud())),
			[][]string{none, {"about to be deleted", "after Apply", "with presence unknown", "with presence present", "without Resource.State"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, w := range tc.want {
				want = append(want, w...)
			}
			if diff := cmp.Diff(want, tc.got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// of returns the names of the variants of a request. Each must differ from it
// and leave it unchanged.
func of[R any](t *testing.T, req R) (names []string) {
	t.Helper()
	before := snapshot.Of(req)
	for _, v := range variants(req) {
		names = append(names, v.what)
		if before.Diff(v.req) == "" && v.what != "with no owner" {
			t.Errorf("%s: the variant equals the request", v.what)
		}
	}
	if diff := before.Diff(req); diff != "" {
		t.Errorf("the request was changed: %s", diff)
	}
	return names
}
