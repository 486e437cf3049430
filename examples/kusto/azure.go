package main

import (
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"

	"github.com/windlass-go/windlass/examples/internal/armsim"
)

// All resources of the example are in one resource group.
const (
	subscription  = "00000000-0000-0000-0000-000000000000"
	resourceGroup = "windlass-example"
)

// connect returns the SDK's clients for a simulated cloud. For Azure itself,
// pass a credential of azidentity and nil options. Nothing else changes.
func connect(cloud *Kusto) (*armkusto.ClientFactory, error) {
	return armkusto.NewClientFactory(subscription, &azfake.TokenCredential{}, armsim.ClientOptions(cloud))
}

// clusterID returns the ID of a cluster.
func clusterID(name string) string {
	return "/subscriptions/" + subscription + "/resourceGroups/" + resourceGroup + "/providers/" + clusterType + "/" + name
}
