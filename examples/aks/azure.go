package main

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
)

// All resources of the example are in one resource group.
const (
	subscription  = "00000000-0000-0000-0000-000000000000"
	resourceGroup = "windlass-example"
)

// connect returns the SDK's clients for a simulated cloud. For Azure itself,
// pass a credential of azidentity, leave out Transport, and keep Retry. Azure
// requires more properties of a cluster than this example has.
func connect(cloud policy.Transporter) (*armcontainerservice.ClientFactory, error) {
	return armcontainerservice.NewClientFactory(subscription, &azfake.TokenCredential{}, &arm.ClientOptions{
		ClientOptions: policy.ClientOptions{
			Transport: cloud,
			Retry:     policy.RetryOptions{MaxRetries: -1}, // the flow retries
		},
		DisableRPRegistration: true,
	})
}

// subnetID returns the ID of the subnet with the name "network/subnet".
func subnetID(name string) string {
	network, subnet, _ := strings.Cut(name, "/")
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Network/virtualNetworks/%s/subnets/%s",
		subscription, resourceGroup, network, subnet)
}

// same reports whether Azure has the wanted name of a location, a size or a
// subnet. It answers in a case of its own, and "westeurope" for "West Europe".
func same(found *string, wanted string) bool {
	return found != nil && strings.EqualFold(strings.ReplaceAll(*found, " ", ""), strings.ReplaceAll(wanted, " ", ""))
}
