package checks_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/run"
	"github.com/windlass-go/windlass/internal/slot"
)

func TestFollow(t *testing.T) {
	var notes []string
	traced := run.WithNotes(t.Context(), func(text string) { notes = append(notes, text) })
	req := &checks.Request[*Database]{}
	early := *req
	req.Follow(traced, lan, checks.Ref{}, prod, lan)
	copied := *req
	copied.Follow(traced, claims.Ref())
	want := []checks.Ref{lan, prod, claims.Ref()}
	if diff := cmp.Diff(want, req.Following()); diff != "" {
		t.Errorf("a copy follows for its request, each object once, and not the zero Ref: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"follows Network lan", "follows Cluster prod", "follows Network lan", "follows every Database with spec.host=a"}, notes); diff != "" {
		t.Errorf("the notes: -want, +got:\n%s", diff)
	}
	if got := early.Following(); got != nil {
		t.Errorf("an earlier copy follows %v", got)
	}
	req.Following()[0] = prod
	if diff := cmp.Diff(want, req.Following()); diff != "" {
		t.Errorf("the caller owns the list: -want, +got:\n%s", diff)
	}
	slots := &checks.OwnerRequest{}
	region.Set(slots, "north")
	for name, got := range map[string][]checks.Ref{"Slots": slots.Following(), "Nil": ownerRequest(nil).Following(), "Nothing": (&checks.OwnerRequest{}).Following()} {
		if got != nil {
			t.Errorf("%s follows %v", name, got)
		}
	}
	if text := panicOf(func() { ownerRequest(nil).Follow(ctx, lan) }); !strings.HasPrefix(text, "checks: Follow at checks/follow_test.go:") || !strings.HasSuffix(text, ": the request is nil") {
		t.Errorf("the panic of a nil request is %q", text)
	}
}

// TestFollowClone: a clone of the values of a pass follows the same objects, and
// shares no list.
func TestFollowClone(t *testing.T) {
	req, other := &checks.OwnerRequest{}, &checks.OwnerRequest{}
	var want []checks.Ref
	for n := range 12 {
		want = append(want, checks.Ref{Kind: "Network", Name: fmt.Sprint(n)})
		req.Follow(ctx, want[n])
		*slot.Of(other) = (*slot.Of(req)).Clone()
		if diff := cmp.Diff(want, other.Following()); diff != "" {
			t.Fatalf("the clone: -want, +got:\n%s", diff)
		}
		other.Follow(ctx, prod, want[n])
		if diff := cmp.Diff(append(slices.Clone(want), prod), other.Following()); diff != "" {
			t.Fatalf("the clone follows more: -want, +got:\n%s", diff)
		}
		if diff := cmp.Diff(want, req.Following()); diff != "" {
			t.Fatalf("the original: -want, +got:\n%s", diff)
		}
	}
}

// TestFollowingChecks: each check follows the same objects whether it runs or a
// pass leaves it out.
func TestFollowingChecks(t *testing.T) {
	refs := func(d *Database) []checks.Ref { return []checks.Ref{d.Network, {}, arm} }
	fits := func(*Cluster) string { return "" }
	on := func(link ownerLink) link { return checks.OnOwner[*Database](link) }
	follow, network, owner, set := checks.WithFollowing(true), []checks.Ref{lan, arm}, []checks.Ref{prod}, []checks.Ref{claims.Ref()}
	remembered := checks.Cached(time.Hour, func(request) int { return 1 }, checks.ReferenceReady("network", refs))
	ready := passing()
	ready.Resource.Network = lan
	if a, _ := ask(t, remembered, ready); !a.Result.Proceeds() {
		t.Fatal(a)
	}
	cases := map[string]struct {
		reason string
		link   link
		want   []checks.Ref
	}{
		"ReferenceReady":           {"references are followed", checks.ReferenceReady("network", refs), network},
		"ReferenceReady/Without":   {"WithoutFollowing follows nothing", checks.ReferenceReady("network", refs, checks.WithFollowing(false)), nil},
		"ReferenceIs/Without":      {"WithoutFollowing follows nothing", checks.ReferenceIs("network", refs, func(*Database, *Cluster) string { return "no" }, checks.WithFollowing(false)), nil},
		"OwnerReady":               {"owners are not followed", on(checks.OwnerReady()), nil},
		"OwnerReady/With":          {"WithFollowing follows the owner", on(checks.OwnerReady(follow)), owner},
		"OwnerFound/With":          {"WithFollowing follows the owner", on(checks.OwnerFound(follow)), owner},
		"OwnerIs/With":             {"WithFollowing follows the owner", on(checks.OwnerIs("is", fits, follow)), owner},
		"OwnerProvisioningState/W": {"WithFollowing follows the owner", on(checks.OwnerProvisioningState(func(*Cluster) *string { return nil }, follow)), owner},
		"OwnerFits/With":           {"WithFollowing follows the owner", checks.OwnerFits("fits", func(*Database, *Cluster) string { return "" }, follow), owner},
		"Unused":                   {"sets are not followed", checks.Unused("a", claimsOf), nil},
		"Unused/With":              {"WithFollowing follows the set", checks.Unused("a", claimsOf, follow), set},
		"Unique/With":              {"WithFollowing follows the set", checks.Unique("a", claimsOf, follow), set},
		"All":                      {"All follows for its checks", checks.All(checks.Unused("a", claimsOf, follow), checks.ReferenceReady("network", refs)), append(slices.Clone(set), network...)},
		"Cached":                   {"a remembered check still follows", remembered, network},
		"When":                     {"When follows for its links", chain.When(func(context.Context, request) bool { return true }, checks.ReferenceReady("network", refs)), network},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			run := func(link link) []checks.Ref {
				req := passing()
				req.Resource.Network = lan
				req.Resolver = func(_ context.Context, ref checks.Ref) (checks.Object, error) {
					return checks.Object{Ref: ref}, errDown
				}
				_, _ = ask(t, link, req)
				return req.Following()
			}
			leftOut := func(link chain.Link) []checks.Ref {
				req := passing()
				req.Resource.Network = lan
				tag, _ := link.Tag.(linktag.Check)
				tag.Follow(t.Context(), req)
				tag.Follow(t.Context(), &checks.Request[*newer]{}) // a request of another type
				return req.Following()
			}
			if diff := cmp.Diff(tc.want, run(tc.link)); diff != "" {
				t.Errorf("%s, also if it fails: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, leftOut(chain.New(tc.link).Links()[0])); diff != "" {
				t.Errorf("%s, also if it is left out: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	t.Run("Convert", func(t *testing.T) {
		type newer struct{ old *Database }
		c := checks.Convert(chain.New(checks.ReferenceReady("network", refs)), func(n *newer) (*Database, error) {
			if n.old == nil {
				return &Database{Network: lan}, errTest
			}
			return n.old, nil
		})
		link := c.Links()[0]
		for _, req := range []*checks.Request[*newer]{{Resource: &newer{&Database{Network: lan}}}, {Resource: &newer{}}} {
			link.Tag.(linktag.Check).Follow(t.Context(), req)
			want := network
			if req.Resource.old == nil {
				want = nil
			}
			if diff := cmp.Diff(want, req.Following()); diff != "" {
				t.Errorf("a converted check that is left out: -want, +got:\n%s", diff)
			}
		}
		if link.Name != "ReferenceReady(network)" || !strings.HasPrefix(link.Source, "checks/follow_test.go:") {
			t.Errorf("the converted link is %s, made at %s", link.Name, link.Source)
		}
	})
	t.Run("Nil", func(t *testing.T) {
		link := chain.New(checks.ReferenceReady("network", func(d *Deep) []checks.Ref { return []checks.Ref{{Name: string(*d.Status.Properties.State)}} })).Links()[0]
		req := &checks.Request[*Deep]{Resource: &Deep{}}
		link.Tag.(linktag.Check).Follow(t.Context(), req)
		if got := req.Following(); got != nil {
			t.Errorf("a function that panics follows %v", got)
		}
	})
	t.Run("NoOwner", func(t *testing.T) {
		for _, owner := range []checks.Object{{}, {Ref: checks.Ref{Kind: "Cluster"}}} {
			req := &checks.OwnerRequest{Owner: owner}
			_, _ = ask(t, checks.OwnerReady(follow), req)
			if got := req.Following(); got != nil {
				t.Errorf("an owner that no reference names is followed: %v", got)
			}
		}
	})
}
