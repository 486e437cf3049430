package aso_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// Vault is reconciled. A GET of the vault does not show its lock.
type Vault struct{ Name string }

// VaultLock is a client for the lock.
type VaultLock struct {
	created bool
	state   string
	err     error
}

// State reads the lock from Azure.
func (l *VaultLock) State(_ context.Context, req *checks.Request[*Vault]) (string, error) {
	fmt.Println("reading the state of", req.Resource.Name)
	return l.state, l.err
}

// Example_preCheckLiveState: a vault is not changed while it is locked or being
// deleted.
func Example_preCheckLiveState() {
	lock := &VaultLock{}
	vaults := flow.New("Vault", flow.Operations[*Vault]{
		Key: func(v *Vault) string { return v.Name },
		Get: func(context.Context, *flow.Request[*Vault]) (flow.Observation, error) {
			return flow.Observation{Presence: checks.PresenceOf(lock.created)}, nil
		},
		Apply: func(_ context.Context, req *flow.Request[*Vault]) (flow.Progress, error) {
			fmt.Println("PUT", req.Resource.Name)
			return flow.Done(), nil
		},
	}, flow.Extensions[*Vault]{
		PreCheck: chain.New(checks.LiveState(lock.State, checks.WithDenied("Locked", "Deleting"))),
	}, flow.WithErrors(azure.Errors()))
	reconcile := func() {
		out := vaults.Reconcile(context.Background(), &Vault{Name: "keys"})
		fmt.Println(out)
		if out.State() != flow.StateReady {
			fmt.Println("  retried", out.Retry())
		}
	}
	lock.created, lock.state = true, "Locked"
	reconcile()

	// A state that cannot be read is an error, not a block. A rule for the
	// error sets the delay.
	lock.err = &azcore.ResponseError{ErrorCode: "InternalServerError", StatusCode: http.StatusInternalServerError}
	reconcile()

	lock.state, lock.err = "Online", nil
	reconcile()

	// A vault that is gone since the GET counts as absent.
	lock.err = &azcore.ResponseError{ErrorCode: "ResourceNotFound", StatusCode: http.StatusNotFound}
	reconcile()

	// The state of an absent vault is not read.
	lock.created = false
	reconcile()
	// Output:
	// reading the state of keys
	// blocked at PreCheck by LiveState: ResourceState: the resource is in state "Locked": it must not be Locked or Deleting
	//   retried slow
	// reading the state of keys
	// failed at PreCheck by LiveState: InternalServerError: check LiveState failed: the service gave no message (HTTP 500 Internal Server Error)
	//   retried slow
	// reading the state of keys
	// PUT keys
	// ready
	// reading the state of keys
	// PUT keys
	// ready
	// PUT keys
	// ready
}
