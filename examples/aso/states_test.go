package aso

import (
	"slices"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
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
	allowed       string // the states that proceed; "not X": all but X
	with, unknown string // the reason of a block, and of one without a state
	// ask runs the check. around is empty or a case of the resource or its owner.
	ask func(t *testing.T, state *string, around string) checks.Result
}

// own returns a check of the resource's own state. zero has no status at all.
func own[T any](allowed string, c checks.Chain[T], zero T, in func(state *string) T) stateCheck {
	return stateCheck{allowed, checks.ReasonState, checks.ReasonStateUnknown, func(t *testing.T, state *string, around string) checks.Result {
		req := checkstest.Request(in(state), checkstest.OwnedBy(owned(managedCluster(new("Succeeded"), "", "1.31.2"))))
		switch around {
		case "properties nil":
			req.Resource = zero
		case "absent":
			req.Presence = checks.Absent
		}
		return answer(t, c, req)
	}}
}

// ofOwner returns a check of the owner's state.
func ofOwner[W any](allowed string, c checks.OwnerChain, in func(state *string) *W) stateCheck {
	return stateCheck{allowed, checks.ReasonOwnerState, checks.ReasonOwnerStateUnknown, func(t *testing.T, state *string, around string) checks.Result {
		owner, found := map[string]checks.Object{
			"properties nil": owned(new(W)), "none": {}, "not found": owned(nil), "a nil pointer": owned((*W)(nil)),
			"another kind": owned(&struct{ Status string }{"Succeeded"}), "by ID": {Ref: checks.Ref{ID: "/subscriptions/s/owners/prod"}},
		}[around]
		if !found {
			owner = owned(in(state))
		}
		return answer(t, c, checkstest.OwnerRequest(checkstest.OwnedBy(owner)))
	}}
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
	syncs := BackupVaultsBackupInstanceExtensions(&world[*BackupVaultsBackupInstance]{})
	return map[string]stateCheck{
		"KustoCluster":   own(set3, KustoClusterExtensions().PreCheck, &KustoCluster{}, func(s *string) *KustoCluster { return kustoCluster(s, new("Stopped")) }),
		"ManagedCluster": own(set3, ManagedClusterExtensions().PreCheck, &ManagedCluster{}, func(s *string) *ManagedCluster { return managedCluster(s, "", "") }),
		"ManagedClustersAgentPool": own(set3, ManagedClustersAgentPoolExtensions().PreCheck, &ManagedClustersAgentPool{},
			func(s *string) *ManagedClustersAgentPool { return agentPool(s, "") }),
		"FlexibleServer": own(server, FlexibleServerExtensions().PreCheck, &FlexibleServer{}, flexibleServer),
		"DatabaseAccount": own("not Deleting", DatabaseAccountExtensions().PreCheck, &DatabaseAccount{}, func(s *string) *DatabaseAccount {
			return &DatabaseAccount{Status: struct{ ProvisioningState *string }{s}}
		}),
		"HcpOpenShiftCluster": own("not Deleting", HcpOpenShiftClusterExtensions().PreCheck, &HcpOpenShiftCluster{}, func(s *string) *HcpOpenShiftCluster {
			c := &HcpOpenShiftCluster{}
			c.Status.Properties = &struct{ ProvisioningState *string }{s}
			return c
		}),
		"BackupVaultsBackupInstance": own(protection, syncs.PostCheck, &BackupVaultsBackupInstance{},
			func(s *string) *BackupVaultsBackupInstance { return backup(s, "") }).but("ProtectionNotSettled", "ProtectionNotSettled"),
		"KustoDatabase": ofOwner(set3, KustoDatabaseExtensions().OwnerCheck, func(s *string) *KustoCluster { return kustoCluster(s, new("Running")) }),
		"KustoDatabase of a cluster that is Succeeded": ofOwner("Running", KustoDatabaseExtensions().OwnerCheck,
			func(s *string) *KustoCluster { return kustoCluster(new("Succeeded"), s) }).but(running, running),
		"ManagedClustersAgentPool of": ofOwner(set3, ManagedClustersAgentPoolExtensions().OwnerCheck,
			func(s *string) *ManagedCluster { return managedCluster(s, "1.31", "1.31.2") }),
		"FlexibleServersDatabase":     ofOwner(server, FlexibleServersDatabaseExtensions().OwnerCheck, flexibleServer),
		"FlexibleServersFirewallRule": ofOwner(server, FlexibleServersFirewallRuleExtensions().OwnerCheck, flexibleServer),
		"CassandraDataCenter": ofOwner("Succeeded", CassandraDataCenterExtensions().OwnerCheck, func(s *string) *CassandraCluster {
			c := &CassandraCluster{}
			c.Status.Properties = &struct{ ProvisioningState *string }{s}
			return c
		}),
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
		try := func(state *string, spelling, around, want string) {
			t.Helper()
			res := c.ask(t, state, around)
			names := want != "block "+c.with || spelling != "as is" || strings.Contains(res.Message(), `"`+*state+`"`)
			if got := decision(res); got != want || !names {
				t.Errorf("%s: state %q, %s: %v, want %s, with the state in the message", name, valueOf(state), spelling, res, want)
			}
		}
		allowed := strings.Fields(c.allowed)
		for _, word := range words {
			want := "block " + c.with
			if slices.Contains(allowed, word) != (allowed[0] == "not") {
				want = "proceed"
			}
			for spelling, of := range spellings {
				state := of(word)
				try(&state, spelling, "", want)
			}
		}
		for _, none := range []*string{nil, new(""), new(" \n")} {
			try(none, "not reported", "", "block "+c.unknown)
		}
		if c.with != "ClusterNotRunning" {
			try(nil, "properties nil", "properties nil", "block "+c.unknown)
		}
	}
}

// TestAbsent: a resource that does not exist has no state, and a blank one is
// none. A reported state decides nevertheless, because Get has to clear it.
func TestAbsent(t *testing.T) {
	for name, c := range stateChecks() {
		if c.with != checks.ReasonState {
			continue
		}
		for _, none := range []*string{nil, new(""), new(" \n")} { // blank
			if res := c.ask(t, none, "absent"); !res.Proceeds() {
				t.Errorf("%s with the state %q: %v, want it to proceed", name, valueOf(none), res)
			}
		}
		if res := c.ask(t, new("Deleting"), "absent"); decision(res) != "block ResourceState" || !strings.Contains(res.Message(), "Get should clear the reported state") {
			t.Errorf("%s that is Deleting: %v", name, res)
		}
	}
}

// TestOwners: each check of an owner's state decides on each kind of owner.
func TestOwners(t *testing.T) {
	cases := map[string]struct{ reason, state, want, says string }{
		"none":          {"the check needs an owner", "Succeeded", "block OwnerNotSet very slow", ""},
		"not found":     {"the owner may be created later", "Succeeded", "block OwnerNotFound fast", "Owner prod was not found"},
		"a nil pointer": {"a nil owner is not found", "Succeeded", "block OwnerNotFound fast", ""},
		"another kind":  {"the ref names an object of another kind", "Succeeded", "block OwnerWrongKind on change", ""},
		"by ID":         {"the owner's state is unknown", "Succeeded", "block OwnerKnownByIDOnly", "/subscriptions/s/owners/prod"},
		"":              {"the message names the owner", "Updating", "block OwnerState", "owner Owner prod"},
	}
	for name, c := range stateChecks() {
		for around, tc := range cases {
			if res := c.ask(t, &tc.state, around); c.with == checks.ReasonOwnerState && (decision(res) != tc.want || !strings.Contains(res.Message(), tc.says)) {
				t.Errorf("%s/%s: %s: got %v, want %q with %q", name, around, tc.reason, res, tc.want, tc.says)
			}
		}
	}
}
