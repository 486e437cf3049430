package cloud

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

// A client polls an operation to its end, with the tokens of the SDK. The output
// of the program shows the rules and faults.
func TestOperation(t *testing.T) {
	var tally sim.Tally
	cloud := New(func() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }, &tally)
	factory, err := armcontainerservice.NewClientFactory("sub", &azfake.TokenCredential{},
		&arm.ClientOptions{ClientOptions: policy.ClientOptions{Transport: cloud}, DisableRPRegistration: true})
	if err != nil {
		t.Fatal(err)
	}
	clusters := factory.NewManagedClustersClient()
	spec := armcontainerservice.ManagedCluster{Location: new("westeurope"), Properties: &armcontainerservice.ManagedClusterProperties{}}
	poller, err := clusters.BeginCreateOrUpdate(t.Context(), "rg", "demo", spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	var polls time.Duration
	for ; !poller.Done(); polls++ {
		token, err := poller.ResumeToken()
		if err != nil {
			t.Fatal(err)
		}
		options := &armcontainerservice.ManagedClustersClientBeginCreateOrUpdateOptions{ResumeToken: token}
		if poller, err = clusters.BeginCreateOrUpdate(t.Context(), "rg", "demo", spec, options); err != nil {
			t.Fatal(err)
		}
		response, err := poller.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if after := response.Header.Get("Retry-After"); (after == "30") == poller.Done() {
			t.Errorf("poll %d: Retry-After is %q, done is %t; want Retry-After until the end", polls+1, after, poller.Done())
		}
	}
	if polls*PollEvery != ClusterTakes {
		t.Errorf("%d polls every %s; want polls for %s", polls, PollEvery, ClusterTakes)
	}
	made, err := poller.Result(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Upgrading, *made.Properties.ProvisioningState); diff != "" {
		t.Errorf("the result has the state at the end of the operation: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"PUT": 1, "POLL": 4}, tally.Verbs); diff != "" {
		t.Errorf("a resumed poller sends no PUT: -want, +got:\n%s", diff)
	}
}
