package checks_test

import (
	"context"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/testing/race"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

// five runs five prebuilt checks: two of the owner and three of the resource.
func five() func(ctx context.Context, req request) (checks.Result, error) {
	owner := checks.Compose(chain.New(
		checks.OwnerReady(),
		checks.OwnerProvisioningState(func(c *Cluster) *string { return c.Status.ProvisioningState }),
	))
	resource := checks.Compose(chain.New(
		checks.ProvisioningState(func(d *Database) *string { return d.Status.ProvisioningState }),
		checks.ReferenceReady("network", func(d *Database) []checks.Ref { return d.Status.networks() }),
		checks.ApprovalPending(func(d *Database) []Connection { return d.Status.Connections },
			func(c Connection) checks.Approval { return checks.Approval{Name: c.Name, Status: c.Status} }),
	))
	return func(ctx context.Context, req request) (checks.Result, error) {
		if res, err := owner(ctx, &req.OwnerRequest); err != nil || !res.Proceeds() {
			return res, err
		}
		return resource(ctx, req)
	}
}

var networks = []checks.Ref{lan}

func (*DatabaseStatus) networks() []checks.Ref { return networks }

// fiveByHand has the same five conditions as nested closures, without guards,
// names, messages that name the object, and lists of all missing objects.
func fiveByHand() handler {
	condition := func(holds func(context.Context, request) string) link {
		return func(next handler) handler {
			return func(ctx context.Context, req request) (checks.Result, error) {
				if why := holds(ctx, req); why != "" {
					return checks.Block("NotYet", why), nil
				}
				return next(ctx, req)
			}
		}
	}
	unready := func(o *checks.Object) string {
		switch {
		case o.Value == nil:
			return "it was not found"
		case o.Deleting:
			return "it is being deleted"
		case o.Readiness.State != checks.Ready:
			return "it is not ready"
		case o.Readiness.Observed < o.Readiness.Generation:
			return "it was ready before its spec changed"
		}
		return ""
	}
	settled := func(state *string) string {
		switch {
		case state == nil:
			return "no state is reported"
		case strings.EqualFold(*state, "Succeeded"), strings.EqualFold(*state, "Failed"), strings.EqualFold(*state, "Canceled"):
			return ""
		}
		return "it is " + *state
	}
	conditions := []link{
		condition(func(_ context.Context, req request) string { return unready(&req.Owner) }),
		condition(func(_ context.Context, req request) string {
			c, ok := req.Owner.Value.(*Cluster)
			if !ok || c == nil || c.Status == nil {
				return "its state is unknown"
			}
			return settled(c.Status.ProvisioningState)
		}),
		condition(func(_ context.Context, req request) string {
			switch {
			case req.Presence != checks.Present:
				return ""
			case req.Resource.Status == nil:
				return "no state is reported"
			}
			return settled(req.Resource.Status.ProvisioningState)
		}),
		condition(func(ctx context.Context, req request) string {
			for _, ref := range req.Resource.Status.networks() {
				if req.Resolver == nil {
					return "there is no resolver"
				}
				o, err := req.Resolver(ctx, ref)
				if err != nil {
					return err.Error()
				}
				if why := unready(&o); why != "" {
					return why
				}
			}
			return ""
		}),
		condition(func(_ context.Context, req request) string {
			for _, c := range req.Resource.Status.Connections {
				if !strings.EqualFold(c.Status, "Approved") {
					return c.Name
				}
			}
			return ""
		}),
	}
	h := handler(proceeds)
	for i := len(conditions) - 1; i >= 0; i-- {
		h = conditions[i](h)
	}
	return h
}

// passing returns a request for which all five proceed.
func passing() request {
	req := ofDatabase(&Database{Status: &DatabaseStatus{ProvisioningState: &succeeded, Connections: []Connection{{"office", "Approved"}}}})
	req.Owner = checks.Object{Ref: prod, Value: &Cluster{Status: &ClusterStatus{ProvisioningState: &succeeded}}, Readiness: checks.Readiness{State: checks.Ready, Generation: 1, Observed: 1}}
	network := any(&Cluster{})
	req.Resolver = func(_ context.Context, ref checks.Ref) (checks.Object, error) {
		return checks.Object{Ref: ref, Value: network, Readiness: checks.Readiness{State: checks.Ready}}, nil
	}
	return req
}

func BenchmarkFive(b *testing.B) {
	req := passing()
	bench := func(h func(context.Context, request) (checks.Result, error)) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if res, err := h(ctx, req); err != nil || !res.Proceeds() {
					b.Fatal(res, err)
				}
			}
		}
	}
	b.Run("checks", bench(five()))
	b.Run("by hand", bench(fiveByHand()))
	b.Run("ratio", func(b *testing.B) {
		var r float64
		for b.Loop() {
			r = ratioOfFive()
		}
		b.ReportMetric(r, "x-by-hand")
		b.ReportMetric(0, "ns/op")
	})
}

// ratioOfFive returns the time of the five checks divided by that of
// fiveByHand.
func ratioOfFive() float64 {
	req, h, byHand := passing(), five(), fiveByHand()
	repeat := func(h func(context.Context, request) (checks.Result, error)) func() {
		return func() {
			for range 100 {
				if res, err := h(ctx, req); err != nil || !res.Proceeds() {
					panic(res.String())
				}
			}
		}
	}
	return ratio.Of(repeat(h), repeat(byHand), ratio.Options{})
}

// TestFiveRatio has a loose bound, because machines are busy. The benchmark
// shows the figure.
func TestFiveRatio(t *testing.T) {
	ratio.InVerify(t)
	const bound = 4
	var r float64
	for range 3 { // a busy machine may disturb one measurement
		if r = ratioOfFive(); r <= bound {
			return
		}
	}
	t.Errorf("five checks take %.2f times as long as nested closures, want at most %d", r, bound)
}

func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	type in = request
	on := func(links ...ownerLink) link { return checks.OnOwner[*Database](links...) }
	state := func(c *Cluster) *string { return c.Status.ProvisioningState }
	pass := func(change func(in)) in {
		req := passing()
		change(req)
		return req
	}
	reference := checks.ReferenceReady("network", func(*Database) []checks.Ref { return networks })
	suitable := checks.ReferenceIs("network", func(*Database) []checks.Ref { return networks }, func(d *Database, c *Cluster) string {
		if c.Version > d.Version {
			return "too new"
		}
		return ""
	})
	approvals := checks.ApprovalPending(func(d *Database) []Connection { return d.Status.Connections },
		func(c Connection) checks.Approval {
			return checks.Approval{Name: c.Name, Status: c.Status, Description: "by mail"}
		})
	live := func(state string, opts ...checks.Option) link {
		return checks.LiveState(func(context.Context, request) (string, error) { return state, nil }, opts...)
	}

	cases := map[string]struct {
		reason string
		link   link
		req    in
		want   string // the reason of the block; empty: the check proceeds
		max    float64
	}{
		"Folded":              {"a state in odd case is compared without a copy", live("sUCCEEDED "), passing(), "", 0},
		"Vocabulary":          {"another Vocabulary allocates nothing", live("READY", words), passing(), "", 0},
		"OwnerReady/NotFound": {"OnOwner copies the block to name the check inside", on(checks.OwnerReady()), pass(func(r in) { r.Owner.Value = nil }), "OwnerNotFound", 3},

		"OwnerFits/Objection": {"a block is a decision and its text", checks.OwnerFits("suits", func(*Database, *Cluster) string { return "too old" }), passing(), "OwnerUnsuitable", 2},
		"Options":             {"the options need no allocation", checks.Paused(func(*Database) bool { return true }, checks.WithAfter(1), checks.WithWaitingFor(lan)), passing(), "Paused", 2},
		"All/OneBlock":        {"All returns a single block unchanged", checks.All(reference, checks.Paused(func(*Database) bool { return true })), passing(), "Paused", 2},
		"Own": {"a block of a user's check", checks.Check("own", func(context.Context, request) (checks.Result, error) {
			return checks.Block("NotYet", "wait", checks.WithWaitingFor()), nil
		}), passing(), "NotYet", 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := checks.Compose(chain.New(tc.link))
			res, err := h(ctx, tc.req)
			if err != nil || res.Reason() != tc.want || res.Proceeds() != (tc.want == "") {
				t.Fatalf("%s: %v, %v, want a block with reason %q", tc.reason, res, err, tc.want)
			}
			if n := testing.AllocsPerRun(100, func() { _, _ = h(ctx, tc.req) }); n > tc.max {
				t.Errorf("%s: %v allocations, want at most %v", tc.reason, n, tc.max)
			}
		})
	}

	proceed := map[string]func(context.Context, request) (checks.Result, error){
		"Five": five(),
		"Every": checks.Compose(chain.New(
			on(checks.OwnerFound(), checks.OwnerReady(), checks.OwnerProvisioningState(state), checks.OwnerIs("fits", func(*Cluster) string { return "" })),
			checks.OwnerFits("suits", func(*Database, *Cluster) string { return "" }),
			checks.ProvisioningState(func(d *Database) *string { return d.Status.ProvisioningState }), live("Succeeded"),
			reference, suitable, approvals, checks.All(reference, approvals),
			checks.ResourceIs("fine", func(*Database) string { return "" }), checks.Paused(func(d *Database) bool { return d.Paused }))),
	}
	for name, h := range proceed {
		req := passing()
		if n := testing.AllocsPerRun(100, func() { _, _ = h(ctx, req) }); n != 0 {
			t.Errorf("%s: checks that proceed: %v allocations, want none", name, n)
		}
	}
}
