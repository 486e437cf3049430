package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"

	"github.com/windlass-go/windlass/examples/internal/armsim"
)

// The types of resources, as Azure calls them.
const (
	clusterType  = "Microsoft.Kusto/clusters"
	databaseType = clusterType + "/databases"
)

// How long things take, in virtual time.
const (
	clusterTakes  = 10 * time.Minute
	databaseTakes = time.Minute
)

// states are those that a cluster can be in here.
var states = []armkusto.State{
	armkusto.StateCreating, armkusto.StateRunning, armkusto.StateStopping, armkusto.StateStopped, armkusto.StateStarting,
}

// Kusto is the simulated Azure: what is special about Azure Data Explorer, on the server that all examples have.
type Kusto struct {
	*armsim.Server
	// Asked counts the requests about databases by the state that their cluster was in.
	Asked map[string]int
}

// NewKusto makes an Azure with no clusters that looks at its clock by now.
func NewKusto(now func() time.Time) *Kusto {
	k := &Kusto{Server: armsim.NewServer(now), Asked: map[string]int{}}
	k.Takes(clusterType, clusterTakes)
	k.Takes(databaseType, databaseTakes)
	k.Reports(clusterType, reportState)
	k.Rule(k.needsRunning)
	return k
}

// State is the state of a cluster; empty if there is none.
func (k *Kusto) State(clusterID string) armkusto.State {
	properties, _ := k.Shown(clusterID)
	state, _ := properties["state"].(string)
	return armkusto.State(state)
}

// SetState is what happens to a cluster when a person starts or stops it, and when Azure has done so.
func (k *Kusto) SetState(clusterID string, state armkusto.State) {
	k.Change(clusterID, func(properties map[string]any) { properties["state"] = string(state) })
}

// Databases is what was counted up to now of requests about databases.
func (k *Kusto) Databases() armsim.Tally {
	return k.TallyOf(func(id string) bool { return strings.Contains(id, "/databases/") })
}

// reportState is how a cluster's two states go together.
func reportState(_ string, properties map[string]any) {
	if properties["provisioningState"] == string(armkusto.ProvisioningStateCreating) {
		properties["state"] = string(armkusto.StateCreating)
		return
	}
	switch properties["state"] {
	case nil:
		properties["state"] = string(armkusto.StateRunning)
	case string(armkusto.StateStopping), string(armkusto.StateStarting):
		properties["provisioningState"] = string(armkusto.ProvisioningStateRunning) // an operation does
	}
}

// needsRunning is the rule of the service that this example is about: of the databases of a cluster that does not run
// nothing can be asked, not even whether they are there.
func (k *Kusto) needsRunning(r armsim.Request) *armsim.Refusal {
	if !r.Is(databaseType) {
		return nil
	}
	state := k.State(r.ParentID)
	k.Asked[string(state)]++
	if state == armkusto.StateRunning || state == "" {
		return nil
	}
	return &armsim.Refusal{Status: http.StatusBadRequest, Code: "BadRequest",
		Message: fmt.Sprintf("Cannot fetch databases while resource is in state '%s'.", state)}
}
