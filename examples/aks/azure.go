package main

import (
	"fmt"
	"strings"

	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/windlass-go/windlass/examples/internal/armsim"
)

// Where in Azure everything is. One resource group is enough for an example.
const (
	subscription  = "00000000-0000-0000-0000-000000000000"
	resourceGroup = "windlass-example"
)

// connect makes the SDK's clients for a simulated cloud. For the real one it takes a credential of azidentity and no
// options, and nothing else in this example changes.
func connect(cloud policy.Transporter) (*armcontainerservice.ClientFactory, error) {
	return armcontainerservice.NewClientFactory(subscription, &azfake.TokenCredential{}, armsim.ClientOptions(cloud))
}

// subnetID is the ID of the subnet called "network/subnet".
func subnetID(name string) string {
	network, subnet, _ := strings.Cut(name, "/")
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Network/virtualNetworks/%s/subnets/%s",
		subscription, resourceGroup, network, subnet)
}
