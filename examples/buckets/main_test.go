package main

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/classify/grpc"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// TestOutput compares the whole output of the program. A run of neither kind starts
// a second operation for logs and media, and each starts one for archive.
func TestOutput(t *testing.T) {
	simtest.Prints(t, program.Run, "", "-h", "-explain logs -at 4m", "-explain backup -at 8m", "-explain account/acme")
}

// TestFlow runs the flow of buckets without a service. A failed poll keeps
// the operation, with and without the reader of gRPC.
func TestFlow(t *testing.T) {
	acme := (&Account{Name: "acme"}).Ref()
	for reason, opts := range map[string][]flow.Option{"Unavailable": {flow.WithErrors(grpc.Errors())}, "Unknown": nil} {
		t.Run(reason, func(t *testing.T) {
			w := &flowtest.World[*Bucket]{Kind: "Bucket", Resource: &Bucket{Name: "logs"}, Extensions: bucketExtensions(), Options: opts}
			w.Owner.From(0, checkstest.Ready(acme, &Account{State: "VERIFYING"})).
				From(time.Second, checkstest.Ready(acme, &Account{State: "ACTIVE"}))
			w.Get.From(0, flow.Observation{Presence: checks.Absent})
			w.Apply.Then(flow.InProgress("op-1", time.Minute)).Fail(status.Error(codes.Unavailable, "the region restarts")).Then(flow.Done())
			w.Run(t).Want(t, `
				00:00 blocked at OwnerCheck by OwnerProvisioningState: OwnerState again in 1s or with Account acme [Owner]
				00:01 * Account acme changes
				00:01 in progress at Apply again in 1m [Owner Get Apply]
				01:01 failed at Apply: `+reason+` again in 2s [Owner Apply(op-1)]
				01:03 ready again in 1h [Owner Apply(op-1)]`)
		})
	}
}
