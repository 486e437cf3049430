package aso

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/flow"
)

type draws = *rapid.T

func anyState(t draws) *string { return checkstest.ProvisioningStates[string]().Draw(t, "state") }

func oneOf[V any](t draws, values ...V) V { return rapid.SampledFrom(values).Draw(t, "one of") }

func anyCluster(t draws) any {
	return managedCluster(anyState(t), oneOf(t, "1.31", "2.0", "latest", ""), oneOf(t, "1.30", "1.31.2", ""))
}

// TestConform: all checks follow the laws of checkstest, whatever Azure
// answers. Checks with a side effect follow those of gates.
func TestConform(t *testing.T) {
	server := func(t draws) any { return flexibleServer(anyState(t)) }
	kusto := func(t draws) any { return kustoCluster(anyState(t), anyState(t)) }
	user := []string{"", "UserErrorMissingPermissions", "Other"}
	conform(t, without(KustoClusterExtensions()), nil, func(t draws) *KustoCluster { return kustoCluster(anyState(t), anyState(t)) })
	conform(t, without(KustoDatabaseExtensions()), kusto, func(draws) *KustoDatabase { return &KustoDatabase{} })
	conform(t, without(ManagedClusterExtensions()), nil, func(t draws) *ManagedCluster { return managedCluster(anyState(t), "", "") })
	conform(t, without(ManagedClustersAgentPoolExtensions()), anyCluster,
		func(t draws) *ManagedClustersAgentPool {
			return agentPool(anyState(t), oneOf(t, "1.30", "1.31.2", "latest", ""))
		})
	conform(t, without(FlexibleServerExtensions()), nil, func(t draws) *FlexibleServer { return flexibleServer(anyState(t)) })
	conform(t, without(FlexibleServersDatabaseExtensions()), server, func(draws) *FlexibleServersDatabase { return &FlexibleServersDatabase{} })
	conform(t, without(FlexibleServersFirewallRuleExtensions()), server, func(draws) *FlexibleServersFirewallRule { return &FlexibleServersFirewallRule{} })
	conform(t, without(CassandraDataCenterExtensions()), func(t draws) any { return cassandraCluster(anyState(t)) },
		func(draws) *CassandraDataCenter { return &CassandraDataCenter{} })
	conform(t, without(DatabaseAccountExtensions()), nil, func(t draws) *DatabaseAccount { return databaseAccount(anyState(t)) })
	conform(t, func(w *world[*SQLDatabase]) flow.Extensions[*SQLDatabase] { return SQLDatabaseExtensions(w) }, nil,
		func(t draws) *SQLDatabase { return sqlDatabase(oneOf(t, true, false), oneOf(t, true, false)) })
	conform(t, without(HcpOpenShiftClusterExtensions()), nil, func(t draws) *HcpOpenShiftCluster { return openShiftCluster(anyState(t)) })
	conform(t, vaultExtensions, nil, func(t draws) *VaultKey { return vaultKey(oneOf(t, "", WhenDeletedRecover, WhenDeletedPurge)) })
	conform(t, without(PrivateEndpointExtensions()), nil,
		func(t draws) *PrivateEndpoint {
			return endpoint(2, oneOf(t, "Approved", "Pending", "Rejected"), oneOf(t, "Approved", "Odd", ""))
		})
	conform(t, func(w *world[*SharedPrivateLink]) flow.Extensions[*SharedPrivateLink] {
		return SharedPrivateLinkExtensions(w)
	}, nil,
		func(draws) *SharedPrivateLink { return sharedLink(checks.Ref{Kind: "Server", Name: "sales"}) },
		checkstest.ResolvedBy(finds("the server", "/servers/sales", nil)))
	conform(t, targetExtensions, func(draws) any { return watcher() }, func(draws) *Target { return &Target{} })
	conform(t, backupExtensions, nil,
		func(t draws) *BackupVaultsBackupInstance {
			return backup(orNil(oneOf(t, "ProtectionError", "ProtectionConfigured", "Odd", "")), oneOf(t, user...))
		})
}

// conform checks the chain of each point in a new world for each request. A nil
// owner function means no owner.
func conform[T any](t *testing.T, ext func(*world[T]) flow.Extensions[T], owner func(draws) any, resource func(draws) T, parts ...checkstest.Part) {
	t.Helper()
	w := &world[T]{}
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
	requests := rapid.Custom(func(t draws) *checks.Request[T] {
		call := oneOf(t, "throughput", "migrate", "open", "key", "deleted", "recover", "purge", "list", "approve", "state", "start", "sync", "poll", "store")
		*w = world[T]{
			errs:  errs(call, oneOf(t, nil, refuse(404, "Refused"), refuse(409, "Refused"), refuse(500, "Refused"))),
			token: oneOf(t, "", "", "token"), ended: oneOf(t, true, false), atOnce: oneOf(t, true, false),
			throughput: Throughput{Autoscale: oneOf(t, true, false)}, state: oneOf(t, "Running", "Stopped", "Starting", ""),
			links: opened(oneOf(t, "Approved", "Pending", "Rejected", "Odd", "")), live: oneOf(t, nil, rsa()), deleted: oneOf(t, nil, rsa()),
		}
		return checkstest.Request(resource(t), with(t)...)
	})
	tried := 0
	for point, c := range map[string]checks.Chain[T]{
		flow.PointPreCheck: ext(w).PreCheck, flow.PointPostCheck: ext(w).PostCheck, flow.PointDeleteCheck: ext(w).DeleteCheck,
	} {
		if c.Len() > 0 {
			tried++
			t.Run(point+" "+c.String(), func(t *testing.T) { checkstest.Conforms(t, c, requests) })
		}
	}
	if c := ext(w).OwnerCheck; c.Len() > 0 {
		tried++
		t.Run(flow.PointOwnerCheck+" "+c.String(), func(t *testing.T) {
			checkstest.Conforms(t, c, rapid.Custom(func(t draws) *checks.OwnerRequest { return checkstest.OwnerRequest(with(t)...) }))
		})
	}
	if tried == 0 {
		t.Errorf("no checks of %T", *new(T))
	}
}
