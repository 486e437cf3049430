package aso

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// syncs fakes Azure Backup. A synchronisation gets the token "sync".
type syncs struct {
	tokenStore[*BackupVaultsBackupInstance]
	atOnce bool // a synchronisation has ended when it begins
	refuse error
}

func (s *syncs) Sync(context.Context, *BackupVaultsBackupInstance) (string, error) {
	s.calls = append(s.calls, "sync")
	if s.refuse != nil || s.atOnce {
		return "", s.refuse
	}
	return "sync", nil
}

// backup returns an instance with a protection. An empty code means no error
// details.
func backup(status *string, code string) *BackupVaultsBackupInstance {
	b := &BackupVaultsBackupInstance{Name: "disk"}
	b.Status.ID = new("/backupInstances/disk")
	b.protected(status, code)
	return b
}

func (b *BackupVaultsBackupInstance) protected(status *string, code string) {
	p := &ProtectionStatus{Status: status}
	if code != "" {
		p.ErrorDetails = &struct{ Code *string }{&code}
	}
	b.Status.Properties = &struct{ ProtectionStatus *ProtectionStatus }{p}
}

// terminal are ASO's final states, in lower case as there.
var terminal = set("configuringprotectionfailed", "invalid", "notprotected", "protectionconfigured", "softdeleted", "protectionstopped",
	"backupschedulessuspended", "retentionschedulessuspended")

func TestBackupVaultsBackupInstance(t *testing.T) {
	const (
		notSettled = "ProtectionNotSettled"
		userError  = "UserErrorMissingPermissions"
	)
	type fault = struct{ Code *string }
	cases := map[string]struct {
		row[*BackupVaultsBackupInstance]
		api   syncs
		calls []string
	}{}
	type rows = map[string]row[*BackupVaultsBackupInstance]
	add := func(api syncs, calls []string, all rows) {
		for name, tc := range all {
			cases[name] = struct {
				row[*BackupVaultsBackupInstance]
				api   syncs
				calls []string
			}{tc, api, calls}
		}
	}
	in := func(b *BackupVaultsBackupInstance) subject[*BackupVaultsBackupInstance] {
		return subject[*BackupVaultsBackupInstance]{resource: b}
	}
	const noWait = "Azure reports the status soon after the PUT; until then the backup is unknown"

	states := rows{}
	without := func(state *string) subject[*BackupVaultsBackupInstance] { return in(backup(state, "")) }
	cross(states, "-", terminal, notSettled, without)
	nothing(states, notSettled, terminal, without)
	for _, settled := range []string{
		"ConfiguringProtectionFailed", "Invalid", "NotProtected", "ProtectionConfigured", "SoftDeleted", "ProtectionStopped",
		"BackupSchedulesSuspended", "RetentionSchedulesSuspended",
	} {
		for _, state := range spellings(settled) {
			tc := row[*BackupVaultsBackupInstance]{reason: "the state does not change by itself", in: without(&state), want: proceeds, aso: terminal(state)}
			if tc.aso != tc.want && state != strings.TrimSpace(state) {
				tc.because = padded
			}
			states[fmt.Sprintf("state %q", state)] = tc
		}
	}
	for _, going := range []string{"ConfiguringProtection", "ProtectionError", "SoftDeleting"} {
		states["state "+going] = row[*BackupVaultsBackupInstance]{reason: "the state is not settled", in: without(&going), want: blocks, with: notSettled, message: going,
			aso: terminal(going)}
		if going == "ProtectionError" {
			tc := states["state "+going]
			tc.aso, tc.because = panics, "an error may have no details"
			states["state "+going] = tc
		}
	}
	add(syncs{}, nil, states)

	bare := backup(new("ProtectionError"), "")
	bare.Status.Properties.ProtectionStatus.ErrorDetails = &fault{}
	add(syncs{}, nil, rows{
		"properties nil": {reason: "no status is reported", in: in(&BackupVaultsBackupInstance{}), want: blocks,
			with: notSettled, aso: proceeds, because: noWait},
		"protection nil": {reason: "no status is reported", want: blocks, with: notSettled, aso: proceeds, because: noWait,
			in: in(func() *BackupVaultsBackupInstance {
				b := backup(nil, "")
				b.Status.Properties.ProtectionStatus = nil
				return b
			}())},
		"code nil": {reason: "without a code it is not a user error", in: in(bare), want: blocks, with: notSettled, aso: panics,
			because: "an error may have no code"},
		"another's error": {reason: "neither the user nor a sync can fix it",
			in: in(backup(new("ProtectionError"), "InternalError")), want: blocks, with: notSettled, aso: blocks},
		"an error, and configuring": {reason: "Azure configures the protection", in: in(backup(new("ConfiguringProtection"), userError)),
			want: blocks, with: notSettled, aso: blocks},
		"an old error": {reason: "the state is settled", in: in(backup(new("ProtectionConfigured"), userError)),
			want: proceeds, aso: proceeds},
	})
	withoutID := func(b *BackupVaultsBackupInstance) subject[*BackupVaultsBackupInstance] {
		b.Status.ID = nil
		return in(b)
	}
	const noID = "without an ID no sync is possible, and the backup does not work either"
	add(syncs{}, nil, rows{
		"ID nil, user error": {reason: "a sync needs an ID", in: withoutID(backup(new("ProtectionError"), userError)),
			want: blocks, with: notSettled, message: "ProtectionError", aso: proceeds, because: noID},
		"ID nil, configuring": {reason: "the state is not settled", in: withoutID(backup(new("ConfiguringProtection"), "")),
			want: blocks, with: notSettled, aso: proceeds, because: noID},
		"ID nil, settled": {reason: "the check needs no ID", in: withoutID(backup(new("ProtectionConfigured"), "")),
			want: proceeds, aso: proceeds},
	})
	byARMID := func(b *BackupVaultsBackupInstance) subject[*BackupVaultsBackupInstance] {
		return subject[*BackupVaultsBackupInstance]{resource: b, owner: checks.Object{Ref: checks.Ref{ID: "/backupVaults/prod"}}}
	}
	const sameVault = "a sync needs the ID of the instance and nothing of the vault"
	add(syncs{}, []string{"sync"}, rows{
		"owner by ARM ID, user error": {reason: "a sync needs nothing of the vault", in: byARMID(backup(new("ProtectionError"), userError)),
			want: blocks, with: "ProtectionSyncing", aso: proceeds, because: sameVault},
	})
	add(syncs{}, nil, rows{
		"owner by ARM ID, configuring": {reason: "the state belongs to the instance", in: byARMID(backup(new("ConfiguringProtection"), "")),
			want: blocks, with: notSettled, aso: proceeds, because: sameVault},
		"owner by ARM ID, settled": {reason: "the state belongs to the instance", in: byARMID(backup(new("ProtectionConfigured"), "")),
			want: proceeds, aso: proceeds},
	})
	for _, status := range spellings("ProtectionError") {
		tc := row[*BackupVaultsBackupInstance]{
			reason: "Azure validates the instance again", in: in(backup(&status, userError)), want: blocks, with: "ProtectionSyncing", aso: blocks,
		}
		add(syncs{}, []string{"sync"}, rows{fmt.Sprintf("user error, %q", status): tc})
	}
	mistaken := in(backup(new("ProtectionError"), userError))
	add(syncs{}, []string{"sync"}, rows{
		"user error in lower case": {reason: "the case of a code does not matter", in: in(backup(new("ProtectionError"), "bmsusererrorx")),
			want: blocks, with: "ProtectionSyncing", aso: blocks},
	})
	add(syncs{refuse: refuse(409, "Conflict")}, []string{"sync"}, rows{
		"refused": {reason: "the sync did not begin", in: mistaken, want: fails, aso: fails},
	})
	add(syncs{tokenStore: tokenStore[*BackupVaultsBackupInstance]{lost: errDown}}, []string{"sync"}, rows{
		"token not stored": {reason: "without the token it would begin again", in: mistaken, want: fails},
	})
	under := func(p pollResult) syncs {
		return syncs{tokenStore: tokenStore[*BackupVaultsBackupInstance]{token: "sync", polls: map[string]pollResult{"sync": p}}}
	}
	add(under(pollResult{}), []string{"poll sync"}, rows{
		"under way": {reason: "the operation is polled", in: mistaken, want: blocks, with: "ProtectionSyncing", aso: blocks},
		"under way, and settled": {reason: "the operation is polled, whatever the state is",
			in: in(backup(new("ProtectionConfigured"), "")), want: blocks,
			with: "ProtectionSyncing", aso: proceeds, because: "its token would be polled for the next sync"},
	})
	add(under(pollResult{err: errDown}), []string{"poll sync"}, rows{
		"under way, no answer": {reason: "the operation may continue", in: mistaken, want: fails, aso: fails},
	})
	add(under(pollResult{done: true, err: refuse(200, "SyncFailed")}), []string{"poll sync"}, rows{
		"failed": {reason: "the next pass begins a new sync", in: mistaken, want: fails, aso: fails},
	})
	add(under(pollResult{done: true}), []string{"poll sync"}, rows{
		"done": {reason: "the state is older than the sync; the next pass reads it", in: mistaken, want: blocks,
			with: "ProtectionSyncing", aso: blocks},
	})

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.in.checkOnly = true
			alone, whole := tc.api, tc.api
			runCases(t, flow.PointPostCheck, BackupVaultsBackupInstanceExtensions(&alone), rows{"alone": tc.row})
			pass(t, flow.PointPostCheck, BackupVaultsBackupInstanceExtensions(&whole), tc.row)
			for how, calls := range map[string][]string{"alone": alone.take(), "in a pass": whole.take()} {
				if !slices.Equal(tc.calls, calls) {
					t.Errorf("%s: calls %s, -want, +got:\n%s", tc.reason, how, cmp.Diff(tc.calls, calls))
				}
			}
		})
	}
}

// TestBackupVaultsBackupInstanceSync: one error causes one synchronisation, and
// the PUT is not sent again.
func TestBackupVaultsBackupInstanceSync(t *testing.T) {
	api := &syncs{tokenStore: tokenStore[*BackupVaultsBackupInstance]{polls: map[string]pollResult{}}, refuse: errDown}
	b := backup(nil, "")
	var status, code string
	c := &cloud[*BackupVaultsBackupInstance]{inSync: true, get: func(req *flow.Request[*BackupVaultsBackupInstance]) { req.Resource.protected(&status, code) }}
	r := c.reconciler(BackupVaultsBackupInstanceExtensions(api))
	run := func() (flow.Outcome, []string) {
		out := r.Reconcile(t.Context(), b)
		return out, append(c.take(), api.take()...)
	}
	status = "ConfiguringProtection"
	out, calls := run()
	expectPass(t, "Azure configures the protection", out, flow.StateBlocked, "ProtectionNotSettled", calls, "get")
	status, code = "ProtectionError", "UserErrorMissingPermissions"
	out, calls = run()
	expectPass(t, "the sync did not begin", out, flow.StateFailed, out.Reason(), calls, "get", "sync")
	api.refuse = nil
	out, calls = run()
	expectPass(t, "the sync begins", out, flow.StateBlocked, "ProtectionSyncing", calls, "get", "sync")
	for range 3 {
		out, calls = run()
		expectPass(t, "the operation is under way", out, flow.StateBlocked, "ProtectionSyncing", calls, "get", "poll sync")
	}
	api.polls["sync"] = pollResult{done: true}
	out, calls = run()
	expectPass(t, "the sync is done", out, flow.StateBlocked, "ProtectionSyncing", calls, "get", "poll sync")
	out, calls = run()
	expectPass(t, "the error remains", out, flow.StateBlocked, "ProtectionSyncing", calls, "get", "sync")
	out, calls = run()
	expectPass(t, "the sync is done", out, flow.StateBlocked, "ProtectionSyncing", calls, "get", "poll sync")
	status, code = "ProtectionConfigured", ""
	out, calls = run()
	expectPass(t, "a person fixed the cause", out, flow.StateReady, flow.ReasonSucceeded, calls, "get")
	status, code, api.atOnce = "ProtectionError", "UserErrorX", true
	out, calls = run()
	expectPass(t, "the sync ended at once; the next pass reads the status", out, flow.StateBlocked, "ProtectionSyncing", calls, "get", "sync")
	if api.token != "" {
		t.Errorf("the token %q remains", api.token)
	}
}
