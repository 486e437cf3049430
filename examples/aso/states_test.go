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
	// aso are the states in lower case that proceed in ASO, "not x" or "all".
	// ASO ignores case, and not white space. A state that is not reported
	// proceeds.
	aso string
	// differs has the reasons for other decisions than ASO's, by the spelling.
	differs map[string]string
	// pass runs a pass. around is empty or a case of the owner.
	pass func(t *testing.T, state *string, around string) flow.Outcome
}

const (
	set3    = "Succeeded Failed Canceled"
	padded  = "white space around a state is ignored"
	unknown = "unknown is not ready, and the check is retried in a second"
	noBlank = "a blank state is as unknown as none"
	anyCase = "in another case the data center would wait for ever"
	stopped = "Azure refuses a GET of a stopped cluster's database; ASO checks only the provisioning state"
)

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

// but changes the reasons of a check, and its decisions in ASO.
func (c stateCheck) but(with, unknown, aso string, differs map[string]string) stateCheck {
	c.with, c.unknown, c.aso, c.differs = with, unknown, aso, differs
	return c
}

// stateChecks has all checks of states.
func stateChecks() map[string]stateCheck {
	server := set3 + " Ready"
	protection := "ConfiguringProtectionFailed Invalid NotProtected ProtectionConfigured SoftDeleted ProtectionStopped BackupSchedulesSuspended RetentionSchedulesSuspended"
	denied := map[string]string{"white space": padded, "nil": unknown, "properties nil": unknown, "blank": noBlank}
	all := map[string]stateCheck{
		"KustoCluster": own(flow.PointPreCheck, set3, KustoClusterExtensions(), &KustoCluster{}, func(s *string) *KustoCluster { return kustoCluster(s, new("Stopped")) }),
		"ManagedCluster": own(flow.PointPreCheck, set3, ManagedClusterExtensions(), &ManagedCluster{},
			func(s *string) *ManagedCluster { return managedCluster(s, "", "") }),
		"ManagedClustersAgentPool": own(flow.PointPreCheck, set3, ManagedClustersAgentPoolExtensions(), &ManagedClustersAgentPool{},
			func(s *string) *ManagedClustersAgentPool { return agentPool(s, "") }),
		"FlexibleServer": own(flow.PointPreCheck, server, FlexibleServerExtensions(), &FlexibleServer{}, flexibleServer),
		"DatabaseAccount": own(flow.PointPreCheck, "not Deleting", DatabaseAccountExtensions(), &DatabaseAccount{}, databaseAccount).
			but(checks.ReasonState, checks.ReasonStateUnknown, "not deleting", denied),
		"HcpOpenShiftCluster": own(flow.PointPreCheck, "not Deleting", HcpOpenShiftClusterExtensions(), &HcpOpenShiftCluster{}, openShiftCluster).
			but(checks.ReasonState, checks.ReasonStateUnknown, "not deleting", denied),
		"BackupVaultsBackupInstance": own(flow.PointPostCheck, protection, BackupVaultsBackupInstanceExtensions(&world[*BackupVaultsBackupInstance]{}),
			&BackupVaultsBackupInstance{}, func(s *string) *BackupVaultsBackupInstance { return backup(s, "") }).
			but("ProtectionNotSettled", "ProtectionNotSettled", "", nil),

		"KustoDatabase": ofOwner(set3, KustoDatabaseExtensions(), &KustoDatabase{}, func(s *string) *KustoCluster { return kustoCluster(s, new("Running")) }),
		"KustoDatabase of a cluster that is Succeeded": ofOwner("Running", KustoDatabaseExtensions(), &KustoDatabase{},
			func(s *string) *KustoCluster { return kustoCluster(new("Succeeded"), s) }).
			but("ClusterNotRunning", "ClusterNotRunning", "all", map[string]string{"as is": stopped, "case": stopped, "white space": stopped, "blank": stopped, "nil": stopped}),
		"ManagedClustersAgentPool of": ofOwner(set3, ManagedClustersAgentPoolExtensions(), agentPool(new("Succeeded"), ""),
			func(s *string) *ManagedCluster { return managedCluster(s, "1.31", "1.31.2") }),
		"FlexibleServersDatabase":     ofOwner(server, FlexibleServersDatabaseExtensions(), &FlexibleServersDatabase{}, flexibleServer),
		"FlexibleServersFirewallRule": ofOwner(server, FlexibleServersFirewallRuleExtensions(), &FlexibleServersFirewallRule{}, flexibleServer),
		"CassandraDataCenter": ofOwner("Succeeded", CassandraDataCenterExtensions(), &CassandraDataCenter{}, cassandraCluster).
			but(checks.ReasonOwnerState, checks.ReasonOwnerStateUnknown, "Succeeded",
				map[string]string{"case": anyCase, "white space": padded, "nil": unknown, "properties nil": "a nil pointer to a state means not reported; ASO panics"}),
	}
	for name, c := range all {
		if c.aso == "" {
			c.aso, c.differs = strings.ToLower(c.allowed), map[string]string{"white space": padded, "nil": unknown, "properties nil": unknown}
			all[name] = c
		}
	}
	return all
}

// listed reports whether a list, or "not" and a list, has a state.
func listed(list, state string) bool {
	words := strings.Fields(list)
	return slices.Contains(words, state) != (words[0] == "not")
}

// inASO reports whether a state proceeds in ASO.
func (c stateCheck) inASO(state string) bool {
	if c.aso == strings.ToLower(c.aso) {
		state = strings.ToLower(state)
	}
	return c.aso == "all" || listed(c.aso, state)
}

// TestStates: each check decides on each state, in all spellings, and on states
// that are not reported. Each difference from ASO has a reason, and no other
// spelling has one.
func TestStates(t *testing.T) {
	words := []string{
		"Succeeded", "Failed", "Canceled", "Ready", "Running", "Creating", "Updating", "Upgrading", "Deleting", "Deleted", "Accepted", "Stopping", "Stopped",
		"Dropping", "Migrating", "InProgress", "Unknown", "nil", "Cancelled", "Suceeded", "Succeeded,Failed", "Succeeded Failed", "NotSucceeded", "0", "成功",
		"ConfiguringProtection", "ProtectionError", "SoftDeleting", "ProtectionConfigured", "ConfiguringProtectionFailed", "Invalid", "NotProtected",
		"SoftDeleted", "ProtectionStopped", "BackupSchedulesSuspended", "RetentionSchedulesSuspended",
	}
	spellings := map[string]func(word string) string{
		"as is": func(w string) string { return w }, "case": strings.ToUpper, "white space": func(w string) string { return "\t " + strings.ToLower(w) + "\r\n" },
	}
	for name, c := range stateChecks() {
		t.Run(name, func(t *testing.T) {
			differed := map[string]bool{}
			try := func(state *string, spelling, around, want string, aso bool) {
				t.Helper()
				out := c.pass(t, state, around)
				if got := decision(t, c.point, out); got != want {
					t.Errorf("state %q, %s: %v, want %s", valueOf(state), spelling, out, want)
				}
				if want == "blocks "+c.with && spelling == "as is" && !strings.Contains(out.Message(), `"`+*state+`"`) {
					t.Errorf("state %q: the message %q does not name it", *state, out.Message())
				}
				if aso != (want == "proceeds") {
					differed[spelling] = true
				}
			}
			for _, word := range words {
				want := "blocks " + c.with
				if listed(c.allowed, word) {
					want = "proceeds"
				}
				for spelling, of := range spellings {
					state := of(word)
					try(&state, spelling, "", want, c.inASO(state))
				}
			}
			for _, blank := range []string{"", " ", "\n"} {
				try(&blank, "blank", "", "blocks "+c.unknown, c.inASO(blank))
			}
			try(nil, "nil", "", "blocks "+c.unknown, true)
			if c.with != "ClusterNotRunning" {
				try(nil, "properties nil", "properties nil", "blocks "+c.unknown, true)
			}
			for spelling := range differed {
				if c.differs[spelling] == "" {
					t.Errorf("ASO decides on a state (%s) differently, without a reason", spelling)
				}
			}
			for spelling := range c.differs {
				if !differed[spelling] {
					t.Errorf("ASO decides on a state (%s) alike, and there is a reason for a difference", spelling)
				}
			}
		})
	}
}

// TestAbsent: a resource that does not exist has no state, and a blank one is
// none. ASO blocks on a blank state that is not allowed. A reported state
// decides nevertheless, because Get has to clear it.
func TestAbsent(t *testing.T) {
	for name, c := range stateChecks() {
		if c.point != flow.PointPreCheck {
			continue
		}
		if got := decision(t, c.point, c.pass(t, nil, "absent")); got != "proceeds" {
			t.Errorf("%s without a state %s, want it to proceed", name, got)
		}
		stale := "Deleting"
		for _, blank := range []string{"", " ", "\n"} {
			if got := decision(t, c.point, c.pass(t, &blank, "absent")); got != "proceeds" {
				t.Errorf("%s with the state %q %s, want it to proceed", name, blank, got)
			}
			if alike := c.inASO(blank); alike != strings.HasPrefix(c.allowed, "not ") {
				t.Errorf("%s: a blank state proceeds in ASO: %t, want it with denied states only", name, alike)
			}
		}
		out := c.pass(t, &stale, "absent")
		if got := decision(t, c.point, out); got != "blocks "+checks.ReasonState || !strings.Contains(out.Message(), "Get should clear the reported state") {
			t.Errorf("%s that is Deleting %s: %v", name, got, out)
		}
	}
}

// TestOwners: each check of an owner's state decides on each kind of owner.
func TestOwners(t *testing.T) {
	const noCluster = "fails: a mistake in the spec blocks; v2.13.0 returns an error for an owner that is no Cluster"
	good, busy := "Succeeded", "Updating"
	cases := map[string]struct {
		reason string
		state  *string
		want   string
		says   string
		aso    string
		kusto  string // the decision of ASO on a KustoDatabase; empty: as aso
	}{
		"none": {"the check needs an owner", &good, "blocks OwnerNotSet very slow", "",
			"proceeds: a missing owner is a mistake in the spec; ASO does not call the check", noCluster},
		"not found":     {"the owner may be created later", &good, "blocks OwnerNotFound fast", "Owner prod was not found", "fails: a missing owner blocks and is not an error", ""},
		"a nil pointer": {"a nil owner is not found", &good, "blocks OwnerNotFound fast", "", "panics: a panic ends the process for all resources", ""},
		"another kind": {"the ref names an object of another kind", &good, "blocks OwnerWrongKind on change", "",
			"proceeds: a mistake in the spec; the real owner is unknown", noCluster},
		"by ID":           {"the owner's state is unknown", &good, "blocks OwnerKnownByIDOnly", "/subscriptions/s/owners/prod", "", ""},
		"by ID, resolved": {"the resolver reads the state from Azure, as ASO does", &good, "proceeds", "", "", ""},
		"":                {"the message names the owner", &busy, "blocks OwnerState", "owner Owner prod", "", ""},
	}
	for name, c := range stateChecks() {
		if c.point != flow.PointOwnerCheck || c.with != checks.ReasonOwnerState {
			continue
		}
		for around, tc := range cases {
			t.Run(name+"/"+around, func(t *testing.T) {
				out := c.pass(t, tc.state, around)
				if got := decision(t, c.point, out); got != tc.want || !strings.Contains(out.Message(), tc.says) {
					t.Errorf("%s: %v is %q, want %q with %q", tc.reason, out, got, tc.want, tc.says)
				}
				aso := tc.aso
				if strings.HasPrefix(name, "KustoDatabase") && tc.kusto != "" {
					aso = tc.kusto
				}
				differs(t, tc.want, aso)
			})
		}
		if got := decision(t, c.point, c.pass(t, &busy, "by ID, resolved")); got != "blocks OwnerState" {
			t.Errorf("%s of a busy owner that the resolver found: %s", name, got)
		}
	}
}
