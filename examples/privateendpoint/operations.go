package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/flow"
)

// The SDK's generic client serves here, since armnetwork, which has a type for each of the hundreds of resources of a
// network, takes most of a minute to compile. With armnetwork this file changes and no other.

// apiVersion is that of Microsoft.Network.
const apiVersion = "2024-05-01"

// location is where everything is.
const location = "westeurope"

// connect makes the SDK's client for a simulated cloud. For the real one it takes a credential of azidentity and no
// options, and nothing else in this example changes.
func connect(cloud *armsim.Server) (*armresources.Client, error) {
	return armresources.NewClient(subscription, &azfake.TokenCredential{}, armsim.ClientOptions(cloud))
}

// endpointOperations is how an endpoint is read from Azure and written to it. It has no owner.
func endpointOperations(api *armresources.Client) flow.Operations[*Endpoint] {
	return flow.Operations[*Endpoint]{
		Key: func(e *Endpoint) string { return e.Name },

		Get: func(ctx context.Context, req *flow.Request[*Endpoint]) (flow.Observation, error) {
			e := req.Resource
			found, err := api.GetByID(ctx, endpointID(e.Name), apiVersion, nil)
			var p properties
			if err == nil {
				p, err = propertiesOf(found.GenericResource)
			}
			return azure.Observe(err, nil, func() bool {
				e.observe(p)
				return p.sameAs(e.wanted())
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*Endpoint]) (flow.Progress, error) {
			e := req.Resource
			return azure.Advance(ctx, req.Token,
				func(ctx context.Context) (*runtime.Poller[armresources.ClientCreateOrUpdateByIDResponse], error) {
					wanted := armresources.GenericResource{Location: new(location), Properties: e.wanted()}
					return api.BeginCreateOrUpdateByID(ctx, endpointID(e.Name), apiVersion, wanted,
						&armresources.ClientBeginCreateOrUpdateByIDOptions{ResumeToken: req.Token})
				},
				func(made armresources.ClientCreateOrUpdateByIDResponse) {
					// The operation is done, even if its result cannot be read. The next Get then fails.
					if p, err := propertiesOf(made.GenericResource); err == nil {
						e.observe(p)
					}
				})
		},
	}
}

// properties are those of an endpoint, as they are sent and received.
type properties struct {
	ProvisioningState string       `json:"provisioningState,omitempty"`
	Subnet            resourceID   `json:"subnet"`
	Manual            []connection `json:"manualPrivateLinkServiceConnections,omitempty"`
	Automatic         []connection `json:"privateLinkServiceConnections,omitempty"`
}

type resourceID struct {
	ID string `json:"id"`
}

type connection struct {
	Name       string               `json:"name"`
	Properties connectionProperties `json:"properties"`
}

type connectionProperties struct {
	Service string           `json:"privateLinkServiceId"`
	Groups  []string         `json:"groupIds,omitempty"`
	Message string           `json:"requestMessage,omitempty"`
	State   *connectionState `json:"privateLinkServiceConnectionState,omitempty"` // nil: nothing is said yet
}

type connectionState struct {
	Status      string `json:"status"`
	Description string `json:"description"`
}

// propertiesOf reads the properties of what the generic client has got.
func propertiesOf(found armresources.GenericResource) (p properties, err error) {
	text, err := json.Marshal(found.Properties)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return p, fmt.Errorf("what Azure says is not the properties of a private endpoint: %w", err)
	}
	return p, nil
}

// wanted is the endpoint as Azure wants to be told.
func (e *Endpoint) wanted() properties {
	network, subnet, _ := strings.Cut(e.Spec.Subnet, "/")
	p := properties{Subnet: resourceID{resourceGroup + "/providers/Microsoft.Network/virtualNetworks/" + network + "/subnets/" + subnet}}
	for _, c := range e.Spec.Connections {
		sent := connection{c.Name, connectionProperties{
			Service: resourceGroup + "/providers/" + c.Service, Groups: []string{c.Group}, Message: c.Message,
		}}
		if c.Message == "" {
			p.Automatic = append(p.Automatic, sent)
		} else {
			p.Manual = append(p.Manual, sent)
		}
	}
	return p
}

// sameAs tells whether that is what is wanted. What Azure adds, the state of a connection, makes no difference.
func (p properties) sameAs(wanted properties) bool {
	same := func(a, b connection) bool {
		x, y := a.Properties, b.Properties
		return a.Name == b.Name && strings.EqualFold(x.Service, y.Service) && slices.Equal(x.Groups, y.Groups) && x.Message == y.Message
	}
	return strings.EqualFold(p.Subnet.ID, wanted.Subnet.ID) &&
		slices.EqualFunc(p.Manual, wanted.Manual, same) && slices.EqualFunc(p.Automatic, wanted.Automatic, same)
}

// observe takes over what Azure says of the endpoint.
func (e *Endpoint) observe(p properties) {
	e.Status = EndpointStatus{ProvisioningState: p.ProvisioningState}
	for _, c := range slices.Concat(p.Manual, p.Automatic) {
		seen := Connection{Name: c.Name}
		if state := c.Properties.State; state != nil {
			seen.Status, seen.Description = state.Status, state.Description
		}
		e.Status.Connections = append(e.Status.Connections, seen)
	}
}

// Where in Azure everything is.
const (
	subscription  = "00000000-0000-0000-0000-000000000000"
	resourceGroup = "/subscriptions/" + subscription + "/resourceGroups/windlass-example"
)

// endpointType is the type of the resources, for Azure.
const endpointType = "Microsoft.Network/privateEndpoints"

func endpointID(name string) string { return resourceGroup + "/providers/" + endpointType + "/" + name }
