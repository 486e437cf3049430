package aso_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/aso"
	"github.com/windlass-go/windlass/flow"
)

// anything is a resource of a kind without a type of its own.
type anything struct{}

func (*anything) GetName() string { return "" }

// registryEngine is an engine for all kinds, which it learns at run time.
type registryEngine struct {
	registry flow.Registry[aso.Object]
	owner    checks.Object
	put      error    // the error of a PUT
	requests []string // the sent requests
}

func newRegistryEngine() *registryEngine {
	e := &registryEngine{}
	aso.Register(&e.registry, aso.APIs{})
	return e
}

func (e *registryEngine) runner(kind string) flow.Runner[aso.Object] {
	send := func(verb string, o aso.Object) { e.requests = append(e.requests, verb+" "+kind) }
	runner, err := e.registry.For(kind, flow.Operations[aso.Object]{
		Key:   func(o aso.Object) string { return "r" + o.GetName() },
		Owner: func(context.Context, aso.Object) (checks.Object, error) { return e.owner, nil },
		Get: func(_ context.Context, req *flow.Request[aso.Object]) (flow.Observation, error) {
			send("GET", req.Resource)
			return flow.Observation{Presence: checks.Absent}, nil
		},
		Apply: func(_ context.Context, req *flow.Request[aso.Object]) (flow.Progress, error) {
			send("PUT", req.Resource)
			return flow.Done(), e.put
		},
	}, flow.WithErrors(azure.Errors()))
	if err != nil {
		panic(err)
	}
	return runner
}

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
	e := newRegistryEngine()
	kinds := e.registry.Kinds()
	for kind := range aso.Classifiers {
		if !slices.Contains(kinds, kind) {
			t.Errorf("%s has rules but is not registered", kind)
		}
	}
	if len(kinds) != 50 {
		t.Errorf("%d kinds, want 17 with checks and 33 with rules only", len(kinds))
	}
	e.owner = checks.Object{Ref: checks.Ref{Kind: "Owner", Name: "o"}, Value: &anything{}, Readiness: checks.Readiness{State: checks.NotReady}}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			if r := typed[kind]; r != nil {
				reflect.ValueOf(r).Elem().FieldByName("Name").SetString("r")
				if r.GetName() != "r" {
					t.Errorf("GetName returns %q, want the name", r.GetName())
				}
			}
			e.requests, e.put = nil, nil
			r := e.runner(kind)
			out := r.Reconcile(t.Context(), resource(kind))
			if diff := cmp.Diff([]string{"blocked", "OwnerCheck", "OwnerReady"}, []string{out.State().String(), out.Point(), out.Link()}); diff != "" || len(e.requests) > 0 {
				t.Errorf("want no request before the owner is ready: %s, %q", diff, e.requests)
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

// TestRegistered: the extensions of a kind decide first, then the base and the
// default.
func TestRegistered(t *testing.T) {
	busy := refused("Conflict", http.StatusConflict, "Please try again later.")
	quota := refused("QuotaExceeded", http.StatusConflict, "No cores are left.")
	cases := map[string]struct {
		reason string
		kind   string
		put    error
		want   flow.State
		retry  classify.Retry
		rule   string
	}{
		"Typed":   {"a kind with checks applies", "kusto Cluster", nil, flow.StateReady, classify.Unset, ""},
		"Rules":   {"the kind's rule decides", "cache Redis", busy, flow.StateFailed, classify.Fast, "Redis is busy"},
		"Other":   {"a rule of another kind does not decide", "network PublicIPAddress", busy, flow.StateFailed, classify.Slow, "Conflict"},
		"Quota":   {"an exceeded quota is Slow, as in ASO", "compute Disk", quota, flow.StateFailed, classify.Slow, "Unknown"},
		"Unknown": {"an unregistered kind has no rules", "storage Account", busy, flow.StateFailed, classify.Slow, "Conflict"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := newRegistryEngine()
			e.put = tc.put
			out := e.runner(tc.kind).Reconcile(t.Context(), resource(tc.kind))
			if out.State() != tc.want || out.Retry() != tc.retry || out.Rule() != tc.rule {
				t.Errorf("%s: %s, %s by %q; want %s, %s by %q", tc.reason, out, out.Retry(), out.Rule(), tc.want, tc.retry, tc.rule)
			}
			if diff := cmp.Diff([]string{"GET " + tc.kind, "PUT " + tc.kind}, e.requests); diff != "" {
				t.Errorf("%s: -want, +sent:\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("Misfit", func(t *testing.T) {
		e := newRegistryEngine()
		out := e.runner("kusto Database").Reconcile(t.Context(), &anything{})
		if !errors.Is(out.Err(), flow.ErrMisuse) || len(e.requests) > 0 {
			t.Errorf("want a failure for a resource of another type: %s, %q", out, e.requests)
		}
	})
}
