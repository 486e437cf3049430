package cloud

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

// faults is the script. Its keys are the numbers of the PUTs of agent pools
// that the rules of [Cloud.admit] accept.
var faults = map[int]*sim.Refusal{
	// Azure works on the cluster although its state is Succeeded.
	1: {Status: http.StatusConflict, Code: "OperationNotAllowed",
		Message: "Operation is not allowed: Another operation (Reconcile) is in progress, please wait for it to finish before starting a new operation."},
	// The subscription's limit for writes is reached.
	3: {Status: http.StatusTooManyRequests, Code: "TooManyRequests", RetryAfter: 20 * time.Second,
		Message: "The request is being throttled as the limit has been reached for operation type - PutAgentPoolHandler.PUT."},
	// The upgrade has not reached all replicas of the control plane.
	4: {Status: http.StatusBadRequest, Code: "NodePoolMcVersionIncompatible",
		Message: "Node pool version and control plane version are incompatible. Minor version of node pool cannot be bigger than control plane version."},
}

// admit applies the rules of the service to the PUT of an agent pool, and then
// the script of faults.
func (c *Cloud) admit(owner string, spec armcontainerservice.AgentPool) *sim.Refusal {
	parent := c.clusters[strings.ToLower(owner)]
	if parent == nil {
		return noParent(owner)
	}
	if state := parent.state(c.now()); state != Succeeded {
		return busy(state)
	}
	if p := spec.Properties; p != nil && p.VnetSubnetID != nil && !c.subnets[strings.ToLower(*p.VnetSubnetID)] {
		return &sim.Refusal{Status: http.StatusBadRequest, Code: "SubnetNotFound", Message: "The subnet " + *p.VnetSubnetID + " could not be found."}
	}
	c.admitted++
	return faults[c.admitted]
}

func notFound(kind, name string) *sim.Refusal {
	return &sim.Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: fmt.Sprintf("The %s %s was not found.", kind, name)}
}

func noParent(name string) *sim.Refusal {
	return &sim.Refusal{Status: http.StatusNotFound, Code: "ParentResourceNotFound", Message: fmt.Sprintf("The managed cluster %s was not found.", name)}
}

func busy(state string) *sim.Refusal {
	return &sim.Refusal{Status: http.StatusConflict, Code: "OperationNotAllowed",
		Message: fmt.Sprintf("Operation is not allowed: Another operation (%s) is in progress, please wait for it to finish before starting a new operation.", state)}
}
