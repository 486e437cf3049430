package main

import (
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/redis/armredis/v2"

	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/flow"
)

// Where in Azure everything is. One resource group is enough for an example.
const (
	subscription  = "00000000-0000-0000-0000-000000000000"
	resourceGroup = "windlass-example"
)

// apiVersion is the one that armredis/v2 asks for. Rows for API versions go by it.
const apiVersion = "2023-04-01"

// connect makes the SDK's clients for a simulated cloud. For the real one it takes a credential of azidentity and no
// options, and nothing else in this example changes.
func connect(cloud *armsim.Server) (*armredis.ClientFactory, error) {
	return armredis.NewClientFactory(subscription, &azfake.TokenCredential{}, armsim.ClientOptions(cloud))
}

// cacheID is the ID of the cache with that name.
func cacheID(name string) string {
	return "/subscriptions/" + subscription + "/resourceGroups/" + resourceGroup + "/providers/" + cacheType + "/" + name
}

// Types of resources, for Azure.
const (
	cacheType         = "Microsoft.Cache/redis"
	patchScheduleType = cacheType + "/patchSchedules"
	linkedServerType  = cacheType + "/linkedServers"
)

// done is the progress of a PUT that takes no time.
func done(err error) (flow.Progress, error) {
	if err != nil {
		return flow.Progress{}, err
	}
	return flow.Done(), nil
}
