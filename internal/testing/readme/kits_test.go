package readme

import (
	"io"
	"log"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
)

var prod = checks.Ref{Kind: "Cluster", Name: "prod"}

func in(state string) *Cluster {
	c := &Cluster{}
	c.Status.ProvisioningState = &state
	return c
}

// README:
var running = checks.OwnerIs("Running", func(c *Cluster) string {
	if s := c.Status.ProvisioningState; s == nil || *s != "Running" {
		return "the cluster is not running"
	}
	return ""
}, checks.WithReason("ClusterNotRunning"))

func TestRunning(t *testing.T) { // the check
	checkstest.Run(t, running, checkstest.OwnerCases{
		"Running": {Reason: "it can work", Want: checkstest.Proceeds(),
			Request: checkstest.OwnerRequest(checkstest.OwnedBy(checkstest.Ready(prod, in("Running"))))},
		"Stopped": {Reason: "it is started first", Want: checkstest.Blocks("ClusterNotRunning", checks.WithWaitingFor(prod)),
			Request: checkstest.OwnerRequest(checkstest.OwnedBy(checkstest.Ready(prod, in("Stopped"))))},
	})
	states := checkstest.ProvisioningStates[string]()
	checkstest.Conforms(t, running, rapid.Custom(func(t *rapid.T) *checks.OwnerRequest {
		c := &Cluster{}
		c.Status.ProvisioningState = states.Draw(t, "state")
		return checkstest.OwnerRequest(checkstest.OwnedBy(checkstest.Ready(prod, c)))
	}))
}

func TestGuards(t *testing.T) { // a chain, with a link that is no check
	guards := chain.New(audit, checks.OnOwner[*AgentPool](running))
	requests := rapid.Custom(func(t *rapid.T) *checks.Request[*AgentPool] {
		pool := &AgentPool{Name: rapid.StringMatching(`[a-z]+`).Draw(t, "name")}
		return checkstest.Request(pool, checkstest.OwnedBy(checkstest.Ready(prod, in("Running"))))
	})
	checkstest.Laws(t, guards, requests)
	checkstest.Order(t, guards, requests, "readme.audit", "OnOwner(Running)")
}

// :README

// What audit logs of made-up resources is of no interest.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}
