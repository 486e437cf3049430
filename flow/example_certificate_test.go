package flow_test

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// Site is a web site. The service accepts it at once, and then orders a
// certificate for its domain.
type Site struct{ Domain string }

// Certificates is the part of the service's client that the check needs.
type Certificates interface {
	// Order returns the state of the certificate's order, and the service's
	// text about it.
	Order(ctx context.Context, domain string) (state, text string, err error)
}

// Issued defers Ready until the certificate of the site is issued.
func Issued(certificates Certificates) checks.Middleware[*Site] {
	return checks.Check("Issued", func(ctx context.Context, req *checks.Request[*Site]) (checks.Result, error) {
		domain := req.Resource.Domain
		state, text, err := certificates.Order(ctx, domain)
		switch {
		case err != nil:
			return checks.Result{}, fmt.Errorf("reading the certificate of %s: %w", domain, err)
		case state == "issued":
			return checks.Proceed(), nil
		case state == "refused":
			// Only another spec, or another DNS record and the next resync, can
			// help.
			return checks.Block("CertificateRefused", "the certificate of "+domain+" was refused: "+text, checks.WithRetry(classify.OnChange)), nil
		}
		// No state, and an unknown one, are not issued either.
		return checks.Block("CertificatePending", "the certificate of "+domain+" is not issued yet: "+text, checks.WithAfter(time.Minute)), nil
	})
}

// orders replaces the service in this example.
type orders struct{ state, text string }

func (o *orders) Order(context.Context, string) (state, text string, err error) {
	return o.state, o.text, nil
}

// PostCheck runs after the PUT has succeeded, and also for a resource in sync.
// The site is not Ready before its certificate is issued, and no second PUT is
// sent.
func ExampleExtensions_postCheck() {
	order := &orders{state: "pending", text: "waiting for the DNS record"}
	inSync := false
	sites := flow.New("Site", flow.Operations[*Site]{
		Key: func(s *Site) string { return s.Domain },
		Get: func(context.Context, *flow.Request[*Site]) (flow.Observation, error) {
			return flow.Observation{Presence: checks.PresenceOf(inSync), InSync: inSync}, nil
		},
		Apply: func(_ context.Context, req *flow.Request[*Site]) (flow.Progress, error) {
			fmt.Println("PUT", req.Resource.Domain)
			inSync = true
			return flow.Done(), nil
		},
	}, flow.Extensions[*Site]{PostCheck: chain.New(Issued(order))})

	reconcile := func() {
		out := sites.Reconcile(context.Background(), &Site{Domain: "shop.example"})
		fmt.Println(out)
		for _, c := range out.Conditions() {
			fmt.Printf("  %s is %s\n", c.Type, c.Status)
		}
	}
	reconcile()

	order.state, order.text = "refused", "the DNS record has another value"
	reconcile()

	order.state, order.text = "issued", ""
	reconcile()
	// Output:
	// PUT shop.example
	// blocked at PostCheck by Issued: CertificatePending: the certificate of shop.example is not issued yet: waiting for the DNS record
	//   Ready is False
	//   Reconciling is True
	// blocked at PostCheck by Issued: CertificateRefused: the certificate of shop.example was refused: the DNS record has another value
	//   Ready is False
	//   Stalled is True
	// ready
	//   Ready is True
}
