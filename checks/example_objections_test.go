package checks_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// A port gets its address from a subnet. The subnet must belong to the network
// of the port. ReferenceReady waits until the subnet is ready in the cloud, and
// ReferenceIs compares the networks.
func ExampleReferenceIs() {
	type Port struct{ Network, Subnet string }
	type Subnet struct{ Network string }

	subnets := func(p *Port) []checks.Ref { return []checks.Ref{{Kind: "Subnet", Name: p.Subnet}} }
	check := checks.Compose(chain.New(
		checks.ReferenceReady("subnet", subnets),
		checks.ReferenceIs("subnet", subnets, func(p *Port, s *Subnet) string {
			if s.Network != p.Network {
				return fmt.Sprintf("it belongs to network %s; name a subnet of network %s", s.Network, p.Network)
			}
			return ""
		}, checks.WithReason("OtherNetwork")),
	))

	cloud := map[string]*Subnet{"web-a": {Network: "web"}, "db-a": {Network: "db"}}
	resolver := func(_ context.Context, ref checks.Ref) (checks.Object, error) {
		if s := cloud[ref.Name]; s != nil {
			return checks.Object{Ref: ref, Value: s, Readiness: checks.Readiness{State: checks.Ready}}, nil
		}
		return checks.Object{Ref: ref}, nil
	}
	for _, subnet := range []string{"web-b", "db-a", "web-a"} {
		req := &checks.Request[*Port]{Resource: &Port{Network: "web", Subnet: subnet}}
		req.Resolver = resolver
		fmt.Println(check(ctx, req))
	}
	// Output:
	// block ReferenceNotFound: subnet Subnet web-b was not found: waiting until it is created [fast, waiting for Subnet web-b] <nil>
	// block OtherNetwork: subnet Subnet db-a: it belongs to network db; name a subnet of network web [slow, waiting for Subnet db-a] <nil>
	// proceed <nil>
}

// A HelmRelease of Flux waits for the releases that it depends on. A release may
// depend on one of another namespace only if that one is shared. Several
// references are checked by one function, so it asks which one it is called for.
func ExampleReferenceIs_object() {
	type Shared bool
	type HelmRelease struct {
		Namespace string
		DependsOn []checks.Ref
	}
	releases := func(r *HelmRelease) []checks.Ref { return r.DependsOn }
	check := checks.Compose(chain.New(
		checks.ReferenceIs("dependency", releases, func(r *HelmRelease, o checks.Object) string {
			if shared, _ := o.Value.(Shared); o.Ref.Namespace != r.Namespace && !bool(shared) {
				return "it is not shared; move it to namespace " + r.Namespace
			}
			return ""
		}),
	))
	req := &checks.Request[*HelmRelease]{Resource: &HelmRelease{Namespace: "shop", DependsOn: []checks.Ref{
		{Kind: "HelmRelease", Namespace: "shop", Name: "db"},
		{Kind: "HelmRelease", Namespace: "base", Name: "dns"},
	}}}
	req.Resolver = func(_ context.Context, ref checks.Ref) (checks.Object, error) {
		return checks.Object{Ref: ref, Value: Shared(false)}, nil
	}
	fmt.Println(check(ctx, req))
	// Output:
	// block ReferenceUnsuitable: dependency HelmRelease base/dns: it is not shared; move it to namespace shop [slow, waiting for HelmRelease base/dns] <nil>
}
