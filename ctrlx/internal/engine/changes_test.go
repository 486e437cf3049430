package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// TestDigests verifies that the digests of a version are computed once, and that a
// follow digest that is not known is computed again.
func TestDigests(t *testing.T) {
	e, _ := indexedEngine()
	computed, panics := 0, true
	e.readiness[clusters] = []ready.Func{func(client.Object) checks.Readiness {
		computed++
		if panics {
			panic("no state")
		}
		return checks.Readiness{State: checks.Ready}
	}}
	at := func(version, state string) *testv1.Cluster {
		c := &testv1.Cluster{}
		c.UID, c.ResourceVersion, c.Status.State = "1", version, state
		return c
	}
	first := at("1", "Running")
	for range 2 {
		if h := e.follow(clusterKind, first); h != 0 {
			t.Errorf("the digest is %d, although the readiness is not known", h)
		}
	}
	panics = false
	known := e.follow(clusterKind, first)
	if again := e.follow(clusterKind, first); known == 0 || again != known || computed != 3 {
		t.Errorf("got %d, then %d after %d computations, want 3", known, again, computed)
	}
	if full := e.digest(clusterKind, first); full == known || e.digest(clusterKind, at("1", "Running")) != full {
		t.Errorf("a version has several full digests, or that of followers")
	}
	// The object of another version is digested, whatever it contains.
	if e.digest(clusterKind, at("2", "Stopped")) == e.digest(clusterKind, at("3", "Running")) {
		t.Error("two versions have one digest")
	}
	if e.follow(clusterKind, at("4", "Running")); computed != 4 {
		t.Errorf("%d computations, want 4", computed)
	}
}

// TestFollowed verifies which digest a pass remembers of each followed object.
func TestFollowed(t *testing.T) {
	c := newCluster(t)
	object := &testv1.Cluster{}
	set, foreign := setOf(checks.Query{Namespace: "a"}), index.ID{Group: thing.Group, Kind: thing.Kind, Name: "t"}
	p := c.Begin(index.ID{Kind: "Waiter", Name: "w"}, time.Second)
	cases := map[string]struct {
		reason string
		id     index.ID
		f      Followed
		want   uint64
	}{
		"Unread":      {"the pass has not read it", named("c"), Followed{Object: object, Number: 7}, 0},
		"Set":         {"the number of its last change", set, Followed{Read: true, Number: 7}, 7},
		"Object":      {"the part that wakes followers", named("c"), Followed{Read: true, Object: object, Number: 7}, c.follow(clusterKind, object)},
		"Missing":     {"it does not exist", named("c"), Followed{Read: true}, digest.NotFound},
		"Live":        {"no event reports a change", foreign, Followed{Read: true, Object: object}, 0},
		"LiveMissing": {"its kind may be installed", foreign, Followed{Read: true}, digest.NotFound},
	}
	for name, tc := range cases {
		if diff := cmp.Diff(index.Followed{ID: tc.id, Digest: tc.want}, p.followed(tc.id, tc.f)); diff != "" {
			t.Errorf("%s: %s: -want, +got:\n%s", name, tc.reason, diff)
		}
	}
	c.watch.policy = metadataOnly
	same(t, c.touches.digest(c.watch.kind, object), p.followed(named("c"), Followed{Read: true, Object: object}).Digest, "the version, if only the metadata is watched")
	seen := map[uint64]bool{}
	for _, state := range []checks.State{checks.Unknown, checks.NotReady, checks.Ready} {
		for _, observed := range []int64{1, 2} {
			seen[stateOfReadiness(checks.Readiness{State: state, Generation: 2, Observed: observed})] = true
		}
	}
	if len(seen) != 6 {
		t.Errorf("six states have %d numbers", len(seen))
	}
}
