package main

import (
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/redis/armredis/v2"

	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/flow"
)

// All resources of the example are in one resource group.
const (
	subscription  = "00000000-0000-0000-0000-000000000000"
	resourceGroup = "windlass-example"
)

// apiVersion is the API version of armredis/v2. Rows with APIVersions compare
// it.
const apiVersion = "2023-04-01"

// connect returns the SDK's clients for a simulated cloud. For Azure itself,
// pass a credential of azidentity and nil options. Nothing else changes.
func connect(cloud *armsim.Server) (*armredis.ClientFactory, error) {
	return armredis.NewClientFactory(subscription, &azfake.TokenCredential{}, armsim.ClientOptions(cloud))
}

// cacheID returns the ID of a cache.
func cacheID(name string) string {
	return "/subscriptions/" + subscription + "/resourceGroups/" + resourceGroup + "/providers/" + cacheType + "/" + name
}

// The types of the resources in Azure.
const (
	cacheType         = "Microsoft.Cache/redis"
	patchScheduleType = cacheType + "/patchSchedules"
	linkedServerType  = cacheType + "/linkedServers"
)

// done returns the progress of a PUT without an operation.
func done(err error) (flow.Progress, error) {
	if err != nil {
		return flow.Progress{}, err
	}
	return flow.Done(), nil
}
