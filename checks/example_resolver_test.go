package checks_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Gateway refers to a network.
type Gateway struct{ Network checks.Ref }

// errForbidden is an error of the API that the resolver calls.
var errForbidden = errors.New("networks: get: forbidden")

// findNetwork is a Resolver. It returns the object, or an Object without a
// Value if the object does not exist, or an error if it could not find out.
func findNetwork(_ context.Context, ref checks.Ref) (checks.Object, error) {
	switch ref.Name {
	case "secret":
		return checks.Object{}, errForbidden
	case "lan":
		return checks.Object{Ref: ref, Value: "10.0.0.0/8", Readiness: checks.Readiness{State: checks.Ready}}, nil
	}
	return checks.Object{Ref: ref}, nil
}

// If the referenced object does not exist, the check blocks and waits for it.
// An error of the resolver is an error of the check. The flow retries it and
// waits for no object.
func ExampleReferenceReady() {
	check := checks.Compose(chain.New(
		checks.ReferenceReady("network", func(g *Gateway) []checks.Ref { return []checks.Ref{g.Network} }),
	))
	for _, name := range []string{"lan", "wan", "secret"} {
		res, err := check(context.Background(), &checks.Request[*Gateway]{
			OwnerRequest: checks.OwnerRequest{Resolver: findNetwork},
			Resource:     &Gateway{Network: checks.Ref{Kind: "Network", Name: name}},
		})
		if err != nil {
			fmt.Println(name, "- blocked:", res.Blocked(), "- forbidden:", errors.Is(err, errForbidden))
			continue
		}
		fmt.Println(name, "-", res)
	}
	// Output:
	// lan - proceed
	// wan - block ReferenceNotFound: network Network wan was not found: waiting until it is created [fast, waiting for Network wan]
	// secret - blocked: false - forbidden: true
}
