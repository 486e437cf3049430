package flow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// A zero Object from a Lister is no owner and no member of a set: the pass
// fails. A resource without an owner would be Ready with OwnerReady.
func TestZeroObjectOfLister(t *testing.T) {
	lists := func(objects ...checks.Object) flow.Option {
		return flow.WithLister(func(context.Context, checks.Query) ([]checks.Object, error) { return objects, nil })
	}
	query := func(*pool) checks.Query { return checks.Query{Kind: "Fleet"} }
	ready := checks.Object{Ref: fleet, Value: &pool{}, Readiness: checks.Readiness{State: checks.Ready}}
	set := chain.New(checks.Unused("fleets", query))
	cases := map[string]struct {
		reason string
		owner  bool // the owner is from the set; otherwise a check lists it
		opt    flow.Option
		want   flow.State
	}{
		"Owner":       {"a ready owner", true, lists(ready), flow.StateReady},
		"ZeroOwner":   {"the zero Object is no owner", true, lists(checks.Object{}), flow.StateFailed},
		"ZeroAndSelf": {"the resource does not count", true, lists(checks.Object{Ref: fleet, Self: true}, checks.Object{}), flow.StateFailed},
		"Set":         {"a set with a member", false, lists(ready), flow.StateBlocked},
		"ZeroInSet":   {"the zero Object is no member", false, lists(ready, checks.Object{}), flow.StateFailed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{}
			o, e := c.operations(), ext{}
			o.Owner = nil
			if tc.owner {
				o.Owner, e.OwnerCheck = checks.OwnerFrom(query), chain.New(checks.OwnerReady())
			} else {
				e.PreCheck = set
			}
			out := flow.New("Pool", o, e, tc.opt).Reconcile(t.Context(), &pool{})
			mustEqual(t, tc.reason, tc.want, out.State())
			if out.State() == flow.StateFailed && !strings.Contains(out.Message(), "the lister returned the zero Object") {
				t.Errorf("%s: the message is %q", tc.reason, out.Message())
			}
		})
	}
}
