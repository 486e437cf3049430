package ctrlx_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

var (
	someRefs = rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 20), clusterRef), 0, 40)
	// someObjects are in the order of their reads: the size of each is its place.
	someObjects = rapid.Map(rapid.SliceOfN(rapid.IntRange(-20, 20), 0, 40), func(numbers []int) (all []checks.Object) {
		for i, n := range numbers {
			all = append(all, checks.Object{Ref: clusterRef(max(n, -n)), Value: &testv1.Cluster{Spec: testv1.ClusterSpec{Size: i}}, Self: n < 0})
		}
		return all
	})
)

func clusterRef(n int) checks.Ref {
	return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: "team", Name: fmt.Sprint("cluster-", n)}
}

// TestSeen verifies that a pass finds the first read of an object, or else the first set that has it, among few and many.
func TestSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := someObjects.Draw(t, "objects")
		sets := rapid.SliceOfN(someObjects, 0, 3).Draw(t, "sets")
		var refs, clusters []checks.Ref
		for n := range 22 { // the last one is never read
			clusters = append(clusters, clusterRef(n))
		}
		for i := range sets { // a list has each object once
			slices.SortStableFunc(sets[i], func(a, b checks.Object) int { return strings.Compare(a.Ref.Name, b.Ref.Name) })
			sets[i] = slices.CompactFunc(sets[i], func(a, b checks.Object) bool { return a.Ref == b.Ref })
			refs = append(refs, checks.Query{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: fmt.Sprint("team-", i)}.Ref())
		}
		for _, ref := range append(slices.Clip(refs), clusters...) {
			want := engine.Followed{Ref: ref}
			is := func(o checks.Object) bool { return o.Ref == ref }
			for i := len(sets) - 1; i >= 0; i-- {
				if at := slices.IndexFunc(sets[i], is); ref == refs[i] || at >= 0 && !sets[i][at].Self {
					want = engine.Followed{Ref: refs[i], Read: true, Number: uint64(i)}
				}
			}
			if i := slices.IndexFunc(objects, is); i >= 0 && !objects[i].Self {
				want = engine.Followed{Ref: ref, Read: true, Object: objects[i].Value.(client.Object)}
			}
			if diff := cmp.Diff(want, ctrlx.SeenAs(objects, refs, sets, ref)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		}
	})
}

// TestUnion verifies that the union has each ref once, in the order of the calls.
func TestUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, want []checks.Ref
		for _, ref := range someRefs.Draw(t, "a") {
			if !slices.Contains(a, ref) {
				a = append(a, ref)
			}
		}
		b := someRefs.Draw(t, "b")
		for _, ref := range slices.Concat(a, b) {
			if !slices.Contains(want, ref) {
				want = append(want, ref)
			}
		}
		was := slices.Clone(a[:cap(a)])
		if diff := cmp.Diff(want, ctrlx.Union(a, b)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if diff := cmp.Diff(was, a[:cap(a)]); diff != "" {
			t.Errorf("the first list was changed: -was +is:\n%s", diff)
		}
	})
}
