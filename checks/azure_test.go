package checks_test

import (
	"context"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// azure is a resource of Azure, as far as checks look at it. It serves as the owner, too.
type azure struct {
	ProvisioningState *string
	State             *string
	Minor             int
	Properties        *struct{ ProvisioningState *State }
	Connections       []connection
	Protection        *struct{ Status *string }
}

type connection struct {
	ID    string
	State *struct{ Status, Description *string }
}

// TestAzure writes down the checks that operators of Azure have for real resources, each in one to three lines.
func TestAzure(t *testing.T) {
	provisioning := func(a *azure) *string { return a.ProvisioningState }
	state := func(a *azure) *string { return a.State }
	nested := func(a *azure) *State { return a.Properties.ProvisioningState }
	in := func(s string) *azure {
		return &azure{ProvisioningState: &s, State: &s, Properties: &struct{ ProvisioningState *State }{ptr(State(s))}, Protection: &struct{ Status *string }{&s}}
	}
	connected := func(status ...string) *azure {
		a := &azure{}
		for _, s := range status {
			a.Connections = append(a.Connections, connection{"pe-" + s, &struct{ Status, Description *string }{&s, ptr("")}})
		}
		return a
	}
	postgres := checks.Allow(append(checks.Settled(), "Ready")...)

	cases := map[string]struct {
		reason   string
		link     checks.Middleware[*azure]
		resource *azure
		owner    *azure
		blocked  string // with this reason
		retry    classify.Retry
	}{
		"ManagedCluster/Upgrading":   {"a cluster is not touched while Azure works on it", checks.ProvisioningState(provisioning), in("Upgrading"), nil, "ResourceState", classify.Slow},
		"ManagedCluster/Failed":      {"a failed one can be mended", checks.ProvisioningState(provisioning), in("Failed"), nil, "", 0},
		"AgentPool/Owner":            {"a pool waits for its cluster", checks.OnOwner[*azure](checks.OwnerProvisioningState(provisioning)), &azure{}, in("Creating"), "OwnerState", classify.Slow},
		"AgentPool/Version":          {"and for its version", checks.WithOwner("version", ahead), &azure{Minor: 31}, &azure{Minor: 30}, "OwnerUnsuitable", classify.Slow},
		"AgentPool/SameVersion":      {"up to which it may go", checks.WithOwner("version", ahead), &azure{Minor: 30}, &azure{Minor: 30}, "", 0},
		"FlexibleServer/Ready":       {"a state need not be the provisioning state", checks.ProvisioningState(state, postgres), in("ready"), nil, "", 0},
		"FlexibleServer/Stopping":    {"nor in the usual set", checks.ProvisioningState(state, postgres), in("Stopping"), nil, "ResourceState", classify.Slow},
		"FirewallRule/Owner":         {"the same of the owner", checks.OnOwner[*azure](checks.OwnerProvisioningState(state, postgres)), &azure{}, in("Starting"), "OwnerState", classify.Slow},
		"DataCenter/Failed":          {"one state alone, exactly as it is written", checks.OnOwner[*azure](checks.OwnerProvisioningState(nested, checks.Allow("Succeeded"), checks.Exact())), &azure{}, in("Failed"), "OwnerState", classify.Slow},
		"DataCenter/Folded":          {"another case is another state", checks.OnOwner[*azure](checks.OwnerProvisioningState(nested, checks.Allow("Succeeded"), checks.Exact())), &azure{}, in("succeeded"), "OwnerState", classify.Slow},
		"DataCenter/Nil":             {"nil properties are no panic", checks.OnOwner[*azure](checks.OwnerProvisioningState(nested, checks.Allow("Succeeded"), checks.Exact())), &azure{}, &azure{}, "OwnerStateUnknown", classify.Slow},
		"DataCenter/NilProceeds":     {"and may pass", checks.OnOwner[*azure](checks.OwnerProvisioningState(nested, checks.UnknownProceeds())), &azure{}, &azure{}, "", 0},
		"DatabaseAccount/Deleting":   {"one state that blocks, all others pass", checks.ProvisioningState(provisioning, checks.Deny("Deleting")), in("deleting"), nil, "ResourceState", classify.Slow},
		"DatabaseAccount/Updating":   {"in whatever state that is", checks.ProvisioningState(provisioning, checks.Deny("Deleting")), in("Updating"), nil, "", 0},
		"OpenShift/Nested":           {"a field of a field", checks.ProvisioningState(nested, checks.Deny("Deleting")), in("Deleting"), nil, "ResourceState", classify.Slow},
		"PrivateEndpoint/Approved":   {"all connections approved", private(), connected("Approved", "approved"), nil, "", 0},
		"PrivateEndpoint/Pending":    {"one is not", private(), connected("Approved", "Pending"), nil, "ApprovalPending", classify.Slow},
		"PrivateEndpoint/Rejected":   {"rejected is not pending", private(), connected("Pending", "Rejected"), nil, "ApprovalRejected", classify.OnChange},
		"PrivateEndpoint/NilState":   {"a nil state is no panic, and no approval", private(), &azure{Connections: []connection{{ID: "pe"}}}, nil, "ApprovalAbsent", classify.Slow},
		"BackupInstance/Protected":   {"a protection that has come to an end", protection(), in("ProtectionConfigured"), nil, "", 0},
		"BackupInstance/Configuring": {"one that has not", protection(), in("ConfiguringProtection"), nil, "NotProtected", classify.Slow},
		"BackupInstance/Nil":         {"one that is not reported may pass", protection(), &azure{}, nil, "", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &checks.Request[*azure]{Resource: tc.resource, Exists: true, OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: tc.owner}}}
			res, err := checks.Compose(chain.New(tc.link))(t.Context(), req)
			if err != nil || res.Reason() != tc.blocked || res.Retry() != tc.retry {
				t.Errorf("%s: %v, %v, want a block with reason %q, looked at again %s", tc.reason, res, err, tc.blocked, tc.retry)
			}
		})
	}
}

func ahead(pool, cluster *azure) string {
	if pool.Minor > cluster.Minor {
		return "it is upgraded first"
	}
	return ""
}

func private() checks.Middleware[*azure] {
	return checks.ApprovalPending(func(a *azure) []connection { return a.Connections }, func(c connection) checks.Approval {
		return checks.Approval{Name: c.ID, Status: *c.State.Status, Description: *c.State.Description}
	})
}

func protection() checks.Middleware[*azure] {
	return checks.ProvisioningState(func(a *azure) *string { return a.Protection.Status }, checks.Reason("NotProtected"), checks.UnknownProceeds(),
		checks.Allow("ProtectionConfigured", "ProtectionStopped", "SoftDeleted"))
}

// TestAzureMigration is a gate: what a database of Cosmos DB asks for before it can change how its throughput is given.
func TestAzureMigration(t *testing.T) {
	mode, started := "manual", 0
	gate := checks.Gate("throughput", func(context.Context, *checks.Request[*azure]) (checks.Result, error) {
		switch mode {
		case "autoscale":
			return checks.Proceed(), nil
		case "migrating":
			return checks.Block("Migrating", "the throughput is being migrated"), nil
		}
		mode = "migrating"
		started++
		return checks.Block("MigrationStarted", "the throughput is migrated to autoscale first"), nil
	})
	h := checks.Compose(chain.New(gate))
	for _, want := range []string{"MigrationStarted", "Migrating", ""} {
		res, err := h(t.Context(), &checks.Request[*azure]{Resource: &azure{}})
		if err != nil || res.Reason() != want {
			t.Errorf("%v, %v, want the reason %q", res, err, want)
		}
		if want == "Migrating" {
			mode = "autoscale"
		}
	}
	if started != 1 {
		t.Errorf("started %d times, want once", started)
	}
}
