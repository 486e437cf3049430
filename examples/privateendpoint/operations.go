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

// This file uses the SDK's generic client, because armnetwork takes most of a
// minute to compile. With armnetwork, only this file changes.

// apiVersion is the API version of Microsoft.Network.
const apiVersion = "2024-05-01"

const location = "westeurope"

// connect returns the SDK's client for a simulated cloud. For Azure itself,
// pass a credential of azidentity and nil options. Nothing else changes.
func connect(cloud *armsim.Server) (*armresources.Client, error) {
	return armresources.NewClient(subscription, &azfake.TokenCredential{}, armsim.ClientOptions(cloud))
}

// endpointOperations returns the functions that read an endpoint from Azure and
// write it. It has no owner.
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
				return p.matches(e.desired())
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*Endpoint]) (flow.Progress, error) {
			e := req.Resource
			return azure.Advance(ctx, req.Token,
				func(ctx context.Context) (*runtime.Poller[armresources.ClientCreateOrUpdateByIDResponse], error) {
					desired := armresources.GenericResource{Location: new(location), Properties: e.desired()}
					return api.BeginCreateOrUpdateByID(ctx, endpointID(e.Name), apiVersion, desired,
						&armresources.ClientBeginCreateOrUpdateByIDOptions{ResumeToken: req.Token})
				},
				func(made armresources.ClientCreateOrUpdateByIDResponse) {
					// The operation is done even if its result is unreadable.
					// The next Get then fails.
					if p, err := propertiesOf(made.GenericResource); err == nil {
						e.observe(p)
					}
				})
		},
	}
}

// properties holds the properties of an endpoint in the form of Azure.
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
	State   *connectionState `json:"privateLinkServiceConnectionState,omitempty"` // nil: not reported
}

type connectionState struct {
	Status      string `json:"status"`
	Description string `json:"description"`
}

// propertiesOf reads the properties of the generic client's response.
func propertiesOf(found armresources.GenericResource) (p properties, err error) {
	text, err := json.Marshal(found.Properties)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return p, fmt.Errorf("the properties of the private endpoint cannot be read: %w", err)
	}
	return p, nil
}

// desired returns the endpoint in the form of Azure.
func (e *Endpoint) desired() properties {
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

// matches reports whether p has the properties of desired. It ignores the
// states that Azure adds.
func (p properties) matches(desired properties) bool {
	same := func(a, b connection) bool {
		x, y := a.Properties, b.Properties
		return a.Name == b.Name && strings.EqualFold(x.Service, y.Service) && slices.Equal(x.Groups, y.Groups) && x.Message == y.Message
	}
	return strings.EqualFold(p.Subnet.ID, desired.Subnet.ID) &&
		slices.EqualFunc(p.Manual, desired.Manual, same) && slices.EqualFunc(p.Automatic, desired.Automatic, same)
}

// observe stores the states that Azure reports.
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

// All resources of the example are in one resource group.
const (
	subscription  = "00000000-0000-0000-0000-000000000000"
	resourceGroup = "/subscriptions/" + subscription + "/resourceGroups/windlass-example"
)

// endpointType is the type of the resources in Azure.
const endpointType = "Microsoft.Network/privateEndpoints"

func endpointID(name string) string { return resourceGroup + "/providers/" + endpointType + "/" + name }
