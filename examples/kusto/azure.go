package main

import (
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"

	"github.com/windlass-go/windlass/examples/internal/armsim"
)

// Where in Azure everything is. One resource group is enough for an example.
const (
	subscription  = "00000000-0000-0000-0000-000000000000"
	resourceGroup = "windlass-example"
)

// connect makes the SDK's clients for a simulated cloud. For the real one it takes a credential of azidentity and no
// options, and nothing else in this example changes.
func connect(cloud *Kusto) (*armkusto.ClientFactory, error) {
	return armkusto.NewClientFactory(subscription, &azfake.TokenCredential{}, armsim.ClientOptions(cloud))
}

// clusterID is the ID of the cluster with that name.
func clusterID(name string) string {
	return "/subscriptions/" + subscription + "/resourceGroups/" + resourceGroup + "/providers/" + clusterType + "/" + name
}
