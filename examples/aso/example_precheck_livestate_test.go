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

// Vault is reconciled. Its lock is nothing that the GET of the vault shows: it has to be asked for.
type Vault struct{ Name string }

// VaultLock is a client for that.
type VaultLock struct {
	created bool
	state   string
	err     error
}

// State asks Azure just now.
func (l *VaultLock) State(_ context.Context, req *checks.Request[*Vault]) (string, error) {
	fmt.Println("asking for the state of", req.Resource.Name)
	return l.state, l.err
}

// A vault is left alone while Azure says that it is locked or being deleted.
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
			fmt.Println("  looked at again", out.Retry())
		}
	}
	lock.created, lock.state = true, "Locked"
	reconcile()

	// That it could not be found out is an error, not a block: the error's own rule says how soon to try again.
	lock.err = &azcore.ResponseError{ErrorCode: "InternalServerError", StatusCode: http.StatusInternalServerError}
	reconcile()

	lock.state, lock.err = "Online", nil
	reconcile()

	// Gone since the GET is as good as not there yet.
	lock.err = &azcore.ResponseError{ErrorCode: "ResourceNotFound", StatusCode: http.StatusNotFound}
	reconcile()

	// And nothing is asked about what the GET did not find.
	lock.created = false
	reconcile()
	// Output:
	// asking for the state of keys
	// blocked at PreCheck by LiveState: ResourceState: the resource is in state "Locked": it must not be Locked or Deleting
	//   looked at again slow
	// asking for the state of keys
	// failed at PreCheck by LiveState: InternalServerError: check LiveState failed: the service gave no message (HTTP 500 Internal Server Error)
	//   looked at again slow
	// asking for the state of keys
	// PUT keys
	// ready
	// asking for the state of keys
	// PUT keys
	// ready
	// PUT keys
	// ready
}
