package aso

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// Makers of resources in a state. Nil and "" are not reported.

func kustoCluster(provisioning, state *string) *KustoCluster {
	c := &KustoCluster{Name: "logs"}
	c.Status.ProvisioningState, c.Status.State = provisioning, state
	return c
}

func managedCluster(state *string, wants, runs string) *ManagedCluster {
	c := &ManagedCluster{Name: "prod"}
	c.Status.ProvisioningState, c.Spec.KubernetesVersion, c.Status.CurrentKubernetesVersion = state, orNil(wants), orNil(runs)
	return c
}

func agentPool(state *string, wants string) *ManagedClustersAgentPool {
	p := &ManagedClustersAgentPool{Name: "system"}
	p.Status.ProvisioningState, p.Spec.OrchestratorVersion = state, orNil(wants)
	return p
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func flexibleServer(state *string) *FlexibleServer {
	s := &FlexibleServer{Name: "orders"}
	s.Status.State = (*ServerState)(state)
	return s
}

func cassandraCluster(state *string) *CassandraCluster {
	c := &CassandraCluster{Name: "events"}
	c.Status.Properties = &struct{ ProvisioningState *string }{state}
	return c
}

func databaseAccount(state *string) *DatabaseAccount {
	a := &DatabaseAccount{Name: "carts"}
	a.Status.ProvisioningState = state
	return a
}

func openShiftCluster(state *string) *HcpOpenShiftCluster {
	c := &HcpOpenShiftCluster{Name: "shop"}
	c.Status.Properties = &struct{ ProvisioningState *string }{state}
	return c
}

// backup returns an instance with a protection. An empty code means no error.
func backup(status *string, code string) *BackupVaultsBackupInstance {
	p := &ProtectionStatus{Status: status}
	if code != "" {
		p.ErrorDetails = &struct{ Code *string }{&code}
	}
	b := &BackupVaultsBackupInstance{Name: "disk"}
	b.Status.ID, b.Status.Properties = new("/backupInstances/disk"), &struct{ ProtectionStatus *ProtectionStatus }{p}
	return b
}

// stateCheck is a check that compares a state of the resource or of its owner.
type stateCheck struct {
	point   string
	allowed string // the states that proceed; "not X": all but X
	with    string // the reason of a block
	unknown string // the reason if no state is reported
	// pass runs a pass. around is empty or a case of the owner.
	pass func(t *testing.T, state *string, around string) flow.Outcome
}

// own returns a check of the resource's own state. zero has no status at all.
func own[T any](point, allowed string, ext flow.Extensions[T], zero T, in func(state *string) T) stateCheck {
	return stateCheck{
		point: point, allowed: allowed, with: checks.ReasonState, unknown: checks.ReasonStateUnknown,
		pass: func(t *testing.T, state *string, around string) flow.Outcome {
			w, resource := world[T]{inSync: point == flow.PointPostCheck}, in(state)
			switch around {
			case "properties nil":
				resource = zero
			case "absent":
				w.absent = true
			}
			if _, ok := any(resource).(*ManagedClustersAgentPool); ok {
				w.owner = owned(managedCluster(new("Succeeded"), "", "1.31.2"))
			}
			return w.pass(t.Context(), ext, resource)
		},
	}
}

// ofOwner returns a check of the owner's state.
func ofOwner[T, W any](allowed string, ext flow.Extensions[T], resource T, in func(state *string) *W) stateCheck {
	byID := checks.Ref{ID: "/subscriptions/s/owners/prod"}
	return stateCheck{
		point: flow.PointOwnerCheck, allowed: allowed, with: checks.ReasonOwnerState, unknown: checks.ReasonOwnerStateUnknown,
		pass: func(t *testing.T, state *string, around string) flow.Outcome {
			w := world[T]{owner: owned(in(state))}
			switch around {
			case "properties nil":
				w.owner = owned(new(W))
			case "none":
				w.owner = checks.Object{}
			case "not found":
				w.owner.Value = nil
			case "a nil pointer":
				w.owner.Value = (*W)(nil)
			case "another kind":
				w.owner.Value = &struct{ Status string }{"Succeeded"}
			case "by ID":
				w.owner = checks.Object{Ref: byID}
			case "by ID, resolved":
				w.owner = checks.Object{Ref: byID}
				w.resolver = func(_ context.Context, ref checks.Ref) (checks.Object, error) {
					return checks.Object{Ref: checks.Ref{Kind: "Owner", Name: "prod", ID: ref.ID}, Value: in(state)}, nil
				}
			}
			out := w.pass(t.Context(), ext, resource)
			if (len(w.calls) > 0) != (out.State() == flow.StateReady) {
				t.Errorf("%v after %q, want requests only if the owner is ready", out, w.calls)
			}
			return out
		},
	}
}

// but changes the reasons of a check.
func (c stateCheck) but(with, unknown string) stateCheck {
	c.with, c.unknown = with, unknown
	return c
}

// stateChecks has all checks of states.
func stateChecks() map[string]stateCheck {
	const set3, server, running = "Succeeded Failed Canceled", "Succeeded Failed Canceled Ready", "ClusterNotRunning"
	const protection = "ConfiguringProtectionFailed Invalid NotProtected ProtectionConfigured SoftDeleted ProtectionStopped BackupSchedulesSuspended RetentionSchedulesSuspended"
	return map[string]stateCheck{
		"KustoCluster": own(flow.PointPreCheck, set3, KustoClusterExtensions(), &KustoCluster{}, func(s *string) *KustoCluster { return kustoCluster(s, new("Stopped")) }),
		"ManagedCluster": own(flow.PointPreCheck, set3, ManagedClusterExtensions(), &ManagedCluster{},
			func(s *string) *ManagedCluster { return managedCluster(s, "", "") }),
		"ManagedClustersAgentPool": own(flow.PointPreCheck, set3, ManagedClustersAgentPoolExtensions(), &ManagedClustersAgentPool{},
			func(s *string) *ManagedClustersAgentPool { return agentPool(s, "") }),
		"FlexibleServer":      own(flow.PointPreCheck, server, FlexibleServerExtensions(), &FlexibleServer{}, flexibleServer),
		"DatabaseAccount":     own(flow.PointPreCheck, "not Deleting", DatabaseAccountExtensions(), &DatabaseAccount{}, databaseAccount),
		"HcpOpenShiftCluster": own(flow.PointPreCheck, "not Deleting", HcpOpenShiftClusterExtensions(), &HcpOpenShiftCluster{}, openShiftCluster),
		"BackupVaultsBackupInstance": own(flow.PointPostCheck, protection, BackupVaultsBackupInstanceExtensions(&world[*BackupVaultsBackupInstance]{}),
			&BackupVaultsBackupInstance{}, func(s *string) *BackupVaultsBackupInstance { return backup(s, "") }).but("ProtectionNotSettled", "ProtectionNotSettled"),
		"KustoDatabase": ofOwner(set3, KustoDatabaseExtensions(), &KustoDatabase{}, func(s *string) *KustoCluster { return kustoCluster(s, new("Running")) }),
		"KustoDatabase of a cluster that is Succeeded": ofOwner("Running", KustoDatabaseExtensions(), &KustoDatabase{},
			func(s *string) *KustoCluster { return kustoCluster(new("Succeeded"), s) }).but(running, running),
		"ManagedClustersAgentPool of": ofOwner(set3, ManagedClustersAgentPoolExtensions(), agentPool(new("Succeeded"), ""),
			func(s *string) *ManagedCluster { return managedCluster(s, "1.31", "1.31.2") }),
		"FlexibleServersDatabase":     ofOwner(server, FlexibleServersDatabaseExtensions(), &FlexibleServersDatabase{}, flexibleServer),
		"FlexibleServersFirewallRule": ofOwner(server, FlexibleServersFirewallRuleExtensions(), &FlexibleServersFirewallRule{}, flexibleServer),
		"CassandraDataCenter":         ofOwner("Succeeded", CassandraDataCenterExtensions(), &CassandraDataCenter{}, cassandraCluster),
	}
}

// TestStates: each check decides on each state, in all spellings, and on states
// that are not reported.
func TestStates(t *testing.T) {
	words := strings.Fields(`Succeeded Failed Canceled Ready Running Creating Updating Deleting Deleted Stopped Unknown nil Cancelled Suceeded
		Succeeded,Failed NotSucceeded 0 ConfiguringProtection ProtectionError SoftDeleting ProtectionConfigured ConfiguringProtectionFailed Invalid
		NotProtected SoftDeleted ProtectionStopped BackupSchedulesSuspended RetentionSchedulesSuspended`)
	spellings := map[string]func(word string) string{
		"as is": func(w string) string { return w }, "case": strings.ToUpper, "white space": func(w string) string { return "\t " + strings.ToLower(w) + "\r\n" },
	}
	for name, c := range stateChecks() {
		t.Run(name, func(t *testing.T) {
			try := func(state *string, spelling, around, want string) {
				t.Helper()
				out := c.pass(t, state, around)
				if got := decision(t, c.point, out); got != want {
					t.Errorf("state %q, %s: %v, want %s", valueOf(state), spelling, out, want)
				}
				if want == "blocks "+c.with && spelling == "as is" && !strings.Contains(out.Message(), `"`+*state+`"`) {
					t.Errorf("state %q: the message %q does not name it", *state, out.Message())
				}
			}
			allowed := strings.Fields(c.allowed)
			for _, word := range words {
				want := "blocks " + c.with
				if slices.Contains(allowed, word) != (allowed[0] == "not") {
					want = "proceeds"
				}
				for spelling, of := range spellings {
					state := of(word)
					try(&state, spelling, "", want)
				}
			}
			for _, blank := range []string{"", " \n"} {
				try(&blank, "blank", "", "blocks "+c.unknown)
			}
			try(nil, "nil", "", "blocks "+c.unknown)
			if c.with != "ClusterNotRunning" {
				try(nil, "properties nil", "properties nil", "blocks "+c.unknown)
			}
		})
	}
}

// TestAbsent: a resource that does not exist has no state, and a blank one is
// none. A reported state decides nevertheless, because Get has to clear it.
func TestAbsent(t *testing.T) {
	for name, c := range stateChecks() {
		if c.point != flow.PointPreCheck {
			continue
		}
		for _, none := range []*string{nil, new(""), new(" \n")} { // blank
			if got := decision(t, c.point, c.pass(t, none, "absent")); got != "proceeds" {
				t.Errorf("%s with the state %q %s, want it to proceed", name, valueOf(none), got)
			}
		}
		out := c.pass(t, new("Deleting"), "absent")
		if got := decision(t, c.point, out); got != "blocks "+checks.ReasonState || !strings.Contains(out.Message(), "Get should clear the reported state") {
			t.Errorf("%s that is Deleting %s: %v", name, got, out)
		}
	}
}

// TestOwners: each check of an owner's state decides on each kind of owner.
func TestOwners(t *testing.T) {
	cases := map[string]struct{ reason, state, want, says string }{
		"none":            {"the check needs an owner", "Succeeded", "blocks OwnerNotSet very slow", ""},
		"not found":       {"the owner may be created later", "Succeeded", "blocks OwnerNotFound fast", "Owner prod was not found"},
		"a nil pointer":   {"a nil owner is not found", "Succeeded", "blocks OwnerNotFound fast", ""},
		"another kind":    {"the ref names an object of another kind", "Succeeded", "blocks OwnerWrongKind on change", ""},
		"by ID":           {"the owner's state is unknown", "Succeeded", "blocks OwnerKnownByIDOnly", "/subscriptions/s/owners/prod"},
		"by ID, resolved": {"the resolver reads the state from Azure, as ASO does", "Succeeded", "proceeds", ""},
		"":                {"the message names the owner", "Updating", "blocks OwnerState", "owner Owner prod"},
	}
	for name, c := range stateChecks() {
		if c.point != flow.PointOwnerCheck || c.with != checks.ReasonOwnerState {
			continue
		}
		for around, tc := range cases {
			t.Run(name+"/"+around, func(t *testing.T) {
				out := c.pass(t, &tc.state, around)
				if got := decision(t, c.point, out); got != tc.want || !strings.Contains(out.Message(), tc.says) {
					t.Errorf("%s: %v is %q, want %q with %q", tc.reason, out, got, tc.want, tc.says)
				}
			})
		}
		if got := decision(t, c.point, c.pass(t, new("Updating"), "by ID, resolved")); got != "blocks OwnerState" {
			t.Errorf("%s of a busy owner that the resolver found: %s", name, got)
		}
	}
}
