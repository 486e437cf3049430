package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// MailDomain is reconciled. It can be created at any time but needs its DNS
// record.
type MailDomain struct {
	Name   string
	Record checks.Ref // zero: no record
}

// mailRecords holds the readiness of the DNS records.
type mailRecords map[string]checks.Readiness

// Find is the resolver.
func (r mailRecords) Find(_ context.Context, ref checks.Ref) (checks.Object, error) {
	o := checks.Object{Ref: ref}
	if readiness, ok := r[ref.Name]; ok {
		o.Value, o.Readiness = ref.Name, readiness
	}
	return o, nil
}

// Example_postCheckDependents: a domain is sent to Azure at once and is Ready
// when the record that depends on it is ready. As a PreCheck, the same check
// would make each wait for the other for ever.
func Example_postCheckDependents() {
	records := mailRecords{}
	applied := map[string]bool{}
	domains := flow.New("Domain", flow.Operations[*MailDomain]{
		Key: func(d *MailDomain) string { return d.Name },
		Get: func(_ context.Context, req *flow.Request[*MailDomain]) (flow.Observation, error) {
			there := applied[req.Resource.Name]
			return flow.Observation{Presence: checks.PresenceOf(there), InSync: there}, nil
		},
		Apply: func(_ context.Context, req *flow.Request[*MailDomain]) (flow.Progress, error) {
			fmt.Println("PUT", req.Resource.Name)
			applied[req.Resource.Name] = true
			return flow.Done(), nil
		},
	}, flow.Extensions[*MailDomain]{
		PostCheck: chain.New(
			checks.ReferenceReady("record", func(d *MailDomain) []checks.Ref { return []checks.Ref{d.Record} })),
	}, flow.WithResolver(records.Find))

	reconcile := func(d *MailDomain) {
		out := domains.Reconcile(context.Background(), d)
		fmt.Println(out)
		if out.State() == flow.StateBlocked {
			fmt.Println("  waits for", out.WaitingFor(), "and is retried", out.Retry())
		}
	}
	shop := &MailDomain{Name: "shop", Record: checks.Ref{Kind: "Record", Name: "mx"}}
	reconcile(shop)

	records["mx"] = checks.Readiness{State: checks.NotReady, Reason: "Verifying"}
	reconcile(shop)

	records["mx"] = checks.Readiness{State: checks.Ready}
	reconcile(shop)

	reconcile(&MailDomain{Name: "plain"})
	// Output:
	// PUT shop
	// blocked at PostCheck by ReferenceReady(record): ReferenceNotFound: record Record mx was not found: waiting until it is created
	//   waits for [Record mx] and is retried fast
	// blocked at PostCheck by ReferenceReady(record): ReferenceNotReady: record Record mx is not ready: Verifying
	//   waits for [Record mx] and is retried fast
	// ready
	// PUT plain
	// ready
}
