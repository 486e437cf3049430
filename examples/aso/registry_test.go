package aso_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/aso"
	"github.com/windlass-go/windlass/flow"
)

// anything is a resource of a kind without a type of its own.
type anything struct{}

func (*anything) GetName() string { return "" }

// typed has a resource of each kind with a type of its own.
var typed = map[string]aso.Object{
	"kusto Cluster": &aso.KustoCluster{}, "kusto Database": &aso.KustoDatabase{}, "containerservice ManagedCluster": &aso.ManagedCluster{},
	"containerservice ManagedClustersAgentPool": &aso.ManagedClustersAgentPool{}, "dbforpostgresql FlexibleServer": &aso.FlexibleServer{},
	"dbforpostgresql FlexibleServersDatabase": &aso.FlexibleServersDatabase{}, "dbforpostgresql FlexibleServersFirewallRule": &aso.FlexibleServersFirewallRule{},
	"documentdb CassandraDataCenter": &aso.CassandraDataCenter{}, "documentdb DatabaseAccount": &aso.DatabaseAccount{}, "documentdb SqlDatabase": &aso.SQLDatabase{},
	"redhatopenshift HcpOpenShiftCluster": &aso.HcpOpenShiftCluster{}, "keyvault VaultKey": &aso.VaultKey{}, "network PrivateEndpoint": &aso.PrivateEndpoint{},
	"network VirtualNetworksSubnet": &aso.VirtualNetworksSubnet{}, "databasewatcher SharedPrivateLink": &aso.SharedPrivateLink{},
	"databasewatcher Target": &aso.Target{}, "dataprotection BackupVaultsBackupInstance": &aso.BackupVaultsBackupInstance{},
}

// resource returns a resource of a kind.
func resource(kind string) aso.Object {
	if r := typed[kind]; r != nil {
		return r
	}
	return &anything{}
}

// TestRegister: each kind has the base and its own extensions. No kind sends a
// request before its owner is ready.
func TestRegister(t *testing.T) {
	var registry flow.Registry[aso.Object]
	aso.Register(&registry, aso.APIs{})
	kinds := registry.Kinds()
	for kind := range aso.Classifiers {
		if !slices.Contains(kinds, kind) {
			t.Errorf("%s has rules but is not registered", kind)
		}
	}
	if len(kinds) != 50 {
		t.Errorf("%d kinds, want 17 with checks and 33 with rules only", len(kinds))
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			r, err := registry.For(kind, flow.Operations[aso.Object]{
				Key: func(o aso.Object) string { return "r" + o.GetName() },
				Owner: func(context.Context, aso.Object) (checks.Object, error) {
					return checks.Object{Ref: checks.Ref{Kind: "Owner", Name: "o"}, Value: &anything{}, Readiness: checks.Readiness{State: checks.NotReady}}, nil
				},
				Get: func(context.Context, *flow.Request[aso.Object]) (flow.Observation, error) {
					t.Error("a request before the owner is ready")
					return flow.Observation{Presence: checks.Absent}, nil
				},
				Apply: func(context.Context, *flow.Request[aso.Object]) (flow.Progress, error) { return flow.Done(), nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			out := r.Reconcile(t.Context(), resource(kind))
			if diff := cmp.Diff([]string{"blocked", "OwnerCheck", "OwnerReady"}, []string{out.State().String(), out.Point(), out.Link()}); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
			flow := r.String()
			if !strings.Contains(flow, "OwnerCheck   OwnerReady") {
				t.Errorf("want the owner check of the base in:\n%s", flow)
			}
			if want := aso.Classifiers[kind] != nil; strings.Contains(flow, "Classify     Table(") != want {
				t.Errorf("want rules of the kind: %t:\n%s", want, flow)
			}
		})
	}
}
