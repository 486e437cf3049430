package aso

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/flow"
	"pgregory.net/rapid"
)

// All checks conform to the rules of checkstest. Checks with a side effect
// conform as gates.

type draws = *rapid.T

func TestOwnStatesConform(t *testing.T) {
	conform(t, KustoClusterExtensions(), func(t draws) *KustoCluster { return kustoCluster(anyState(t), anyState(t)) }, nil)
	conform(t, ManagedClusterExtensions(), anyManagedCluster, nil)
	conform(t, FlexibleServerExtensions(), func(t draws) *FlexibleServer { return flexibleServer(anyState(t)) }, nil)
	conform(t, DatabaseAccountExtensions(), func(t draws) *DatabaseAccount {
		a := &DatabaseAccount{Name: "carts"}
		a.Status.ProvisioningState = anyState(t)
		return a
	}, nil)
	conform(t, HcpOpenShiftClusterExtensions(), func(t draws) *HcpOpenShiftCluster { return openShiftCluster(anyState(t)) }, nil)
	conform(t, PrivateEndpointExtensions(), func(t draws) *PrivateEndpoint {
		states := []string{"Approved", "approved ", "Pending", "Rejected", "Disconnected", "Odd", ""}
		return endpoint(rapid.SliceOfN(rapid.SampledFrom(states), 0, 3).Draw(t, "connections")...)
	}, nil)
}

func TestOwnersConform(t *testing.T) {
	server := func(t draws) any { return flexibleServer(anyState(t)) }
	conform(t, KustoDatabaseExtensions(), func(draws) *KustoDatabase { return &KustoDatabase{"logs"} },
		func(t draws) any { return kustoCluster(anyState(t), anyState(t)) })
	conform(t, ManagedClustersAgentPoolExtensions(), func(t draws) *ManagedClustersAgentPool { return agentPool(anyState(t), anyVersion(t)) },
		func(t draws) any { return anyManagedCluster(t) })
	conform(t, FlexibleServersDatabaseExtensions(), func(draws) *FlexibleServersDatabase { return &FlexibleServersDatabase{"orders"} }, server)
	conform(t, FlexibleServersFirewallRuleExtensions(), func(draws) *FlexibleServersFirewallRule { return &FlexibleServersFirewallRule{"office"} }, server)
	conform(t, CassandraDataCenterExtensions(), func(draws) *CassandraDataCenter { return &CassandraDataCenter{"north"} },
		func(t draws) any { return cassandraCluster(anyState(t)) })
}

// TestGatesConform creates a new state of each gate for each resource.
func TestGatesConform(t *testing.T) {
	cosmos := &offers{}
	conform(t, SQLDatabaseExtensions(cosmos), func(t draws) *SQLDatabase {
		*cosmos = offers{throughput: Throughput{Autoscale: rapid.Bool().Draw(t, "autoscale in the cloud")}, refuses: anyRefusals(t, "throughput", "migrate")}
		return sqlDatabase(rapid.Bool().Draw(t, "fixed"), rapid.Bool().Draw(t, "autoscale"))
	}, nil)

	keys := &vault{}
	conform(t, VaultKeyExtensions(keys), func(t draws) *VaultKey {
		*keys = vault{refuses: anyRefusals(t, "open", "get key", "get deleted", "recover", "purge")}
		switch rapid.IntRange(0, 2).Draw(t, "location of the key") {
		case 0:
			keys.live = rsa()
		case 1:
			keys.deleted = rsa()
		}
		return vaultKey(rapid.SampledFrom([]WhenDeleted{"", WhenDeletedRecover, WhenDeletedPurge}).Draw(t, "when deleted"))
	}, nil)

	links := &connections{}
	conform(t, SharedPrivateLinkExtensions(links), func(t draws) *SharedPrivateLink {
		*links = connections{
			all:        opened(rapid.SampledFrom([]string{"Approved", "Pending", "Rejected", "Disconnected", "Odd", ""}).Draw(t, "status")),
			tokenStore: anyTokenStore[*SharedPrivateLink](t), atOnce: rapid.Bool().Draw(t, "at once"), refuses: anyRefusals(t, "list", "approve"),
		}
		return sharedLink(sqlServer)
	}, nil, checkstest.ResolvedBy(finds(checks.Object{Ref: sqlServerID, Value: "the server"}, nil)))

	databases := &watchers{}
	conform(t, TargetExtensions(databases), func(t draws) *Target {
		*databases = watchers{
			state:      rapid.SampledFrom([]string{"Running", "Stopped", "Starting", ""}).Draw(t, "state"),
			tokenStore: anyTokenStore[*Target](t), atOnce: rapid.Bool().Draw(t, "at once"), refuses: anyRefusals(t, "state", "start"),
		}
		return &Target{"sales"}
	}, func(draws) any { return watcher() })

	backups := &syncs{}
	conform(t, BackupVaultsBackupInstanceExtensions(backups), func(t draws) *BackupVaultsBackupInstance {
		*backups = syncs{tokenStore: anyTokenStore[*BackupVaultsBackupInstance](t), atOnce: rapid.Bool().Draw(t, "at once"), refuse: anyRefusals(t, "sync")["sync"]}
		state := rapid.SampledFrom([]string{"ProtectionConfigured", "ProtectionError", "protectionError ", "ConfiguringProtection"}).Draw(t, "state")
		return backup(&state, rapid.SampledFrom([]string{"", "UserErrorMissingPermissions", "Other"}).Draw(t, "code"))
	}, nil)
}

// conform checks the chain of each point. A nil owner function means no owner.
func conform[T any](t *testing.T, ext flow.Extensions[T], resource func(draws) T, owner func(draws) any, parts ...checkstest.Part) {
	t.Helper()
	with := func(t draws) []checkstest.Part {
		with := parts[:len(parts):len(parts)]
		if owner != nil {
			with = append(with, checkstest.OwnedBy(checkstest.Ready(ownerRef, owner(t))))
		}
		if rapid.Bool().Draw(t, "deleting") {
			with = append(with, checkstest.Deleting())
		}
		return with
	}
	requests := rapid.Custom(func(t draws) *checks.Request[T] { return checkstest.Request(resource(t), with(t)...) })
	tried := 0
	for point, c := range map[string]checks.Chain[T]{
		flow.PointPreCheck: ext.PreCheck, flow.PointPostCheck: ext.PostCheck, flow.PointDeleteCheck: ext.DeleteCheck,
	} {
		if c.Len() > 0 {
			tried++
			t.Run(point+" "+c.String(), func(t *testing.T) { checkstest.Conforms(t, c, requests) })
		}
	}
	if c := ext.OwnerCheck; c.Len() > 0 {
		tried++
		t.Run(flow.PointOwnerCheck+" "+c.String(), func(t *testing.T) {
			checkstest.Conforms(t, c, rapid.Custom(func(t draws) *checks.OwnerRequest { return checkstest.OwnerRequest(with(t)...) }))
		})
	}
	if tried == 0 {
		t.Errorf("no checks of %T", *new(T))
	}
}

func anyState(t draws) *string { return checkstest.ProvisioningStates[string]().Draw(t, "state") }

func anyVersion(t draws) string {
	return rapid.SampledFrom([]string{"1.30", "1.31", "1.31.2", "2.0", "latest", ""}).Draw(t, "version")
}

func anyManagedCluster(t draws) *ManagedCluster {
	return managedCluster(anyState(t), anyVersion(t), anyVersion(t))
}

// anyRefusals makes some calls of a fake fail.
func anyRefusals(t draws, calls ...string) map[string]error {
	refusals := map[string]error{}
	for _, call := range calls {
		if status := rapid.SampledFrom([]int{0, 0, 0, 404, 409, 500}).Draw(t, call); status > 0 {
			refusals[call] = refuse(status, "Refused")
		}
	}
	return refusals
}

// anyTokenStore returns a store without a token, or with the token of an
// operation under way, done or failed.
func anyTokenStore[T any](t draws) tokenStore[T] {
	return tokenStore[T]{
		token: rapid.SampledFrom([]string{"", "going", "done", "failed", "lost"}).Draw(t, "token"),
		polls: map[string]pollResult{"done": {done: true}, "failed": {done: true, err: errDown}, "lost": {err: errDown}},
	}
}
