package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"

	"github.com/windlass-go/windlass/examples/internal/armsim"
)

// The types of the resources in Azure.
const (
	clusterType  = "Microsoft.Kusto/clusters"
	databaseType = clusterType + "/databases"
)

// The durations of creates and updates, in virtual time.
const (
	clusterTakes  = 10 * time.Minute
	databaseTakes = time.Minute
)

// states holds the states that a cluster has here.
var states = []armkusto.State{
	armkusto.StateCreating, armkusto.StateRunning, armkusto.StateStopping, armkusto.StateStopped, armkusto.StateStarting,
}

// Kusto simulates Azure with the rules of Azure Data Explorer.
type Kusto struct {
	*armsim.Server
	// Requests counts the requests about databases by the state of their
	// cluster.
	Requests map[string]int
}

// NewKusto returns an Azure without clusters. now is its clock.
func NewKusto(now func() time.Time) *Kusto {
	k := &Kusto{Server: armsim.NewServer(now), Requests: map[string]int{}}
	k.Takes(clusterType, clusterTakes)
	k.Takes(databaseType, databaseTakes)
	k.Reports(clusterType, reportState)
	k.Rule(k.needsRunning)
	return k
}

// State returns the state of a cluster, or "" if it does not exist.
func (k *Kusto) State(clusterID string) armkusto.State {
	properties, _ := k.Shown(clusterID)
	state, _ := properties["state"].(string)
	return armkusto.State(state)
}

// SetState sets the state of a cluster, as Azure does when a person starts or
// stops it.
func (k *Kusto) SetState(clusterID string, state armkusto.State) {
	k.Change(clusterID, func(properties map[string]any) { properties["state"] = string(state) })
}

// Databases returns the requests about databases that were counted so far.
func (k *Kusto) Databases() armsim.Tally {
	return k.TallyOf(func(id string) bool { return strings.Contains(id, "/databases/") })
}

// reportState keeps the two states of a cluster consistent.
func reportState(_ string, properties map[string]any) {
	if properties["provisioningState"] == string(armkusto.ProvisioningStateCreating) {
		properties["state"] = string(armkusto.StateCreating)
		return
	}
	switch properties["state"] {
	case nil:
		properties["state"] = string(armkusto.StateRunning)
	case string(armkusto.StateStopping), string(armkusto.StateStarting):
		properties["provisioningState"] = string(armkusto.ProvisioningStateRunning) // during a start or a stop
	}
}

// needsRunning is the rule that this example is about: Azure refuses every
// request about the databases of a cluster that does not run.
func (k *Kusto) needsRunning(r armsim.Request) *armsim.Refusal {
	if !r.Is(databaseType) {
		return nil
	}
	state := k.State(r.ParentID)
	k.Requests[string(state)]++
	if state == armkusto.StateRunning || state == "" {
		return nil
	}
	return &armsim.Refusal{Status: http.StatusBadRequest, Code: "BadRequest",
		Message: fmt.Sprintf("Cannot fetch databases while resource is in state '%s'.", state)}
}
