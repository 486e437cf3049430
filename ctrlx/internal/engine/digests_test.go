package engine

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
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
