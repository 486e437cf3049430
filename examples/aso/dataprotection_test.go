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

// syncs is Azure Backup, as far as synchronising goes. One that begins gets the token "sync".
type syncs struct {
	kept[*BackupVaultsBackupInstance]
	atOnce bool // it is over when it has begun
	refuse error
}

func (s *syncs) Sync(context.Context, *BackupVaultsBackupInstance) (string, error) {
	s.calls = append(s.calls, "sync")
	if s.refuse != nil || s.atOnce {
		return "", s.refuse
	}
	return "sync", nil
}

// backup has a protection in a state; code is "" for one without error details.
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

// terminal are the states that ASO has for final, in lower case as there.
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
	const noWait = "Azure reports it shortly after the PUT, and until then it is not known to be backed up"

	states := rows{}
	without := func(state *string) subject[*BackupVaultsBackupInstance] { return in(backup(state, "")) }
	cross(states, "-", terminal, notSettled, without)
	nothing(states, notSettled, terminal, without)
	for _, settled := range []string{
		"ConfiguringProtectionFailed", "Invalid", "NotProtected", "ProtectionConfigured", "SoftDeleted", "ProtectionStopped",
		"BackupSchedulesSuspended", "RetentionSchedulesSuspended",
	} {
		for _, state := range spellings(settled) {
			tc := row[*BackupVaultsBackupInstance]{reason: "it does not change by itself", in: without(&state), want: proceeds, aso: terminal(state)}
			if tc.aso != tc.want && state != strings.TrimSpace(state) {
				tc.because = padded
			}
			states[fmt.Sprintf("state %q", state)] = tc
		}
	}
	for _, going := range []string{"ConfiguringProtection", "ProtectionError", "SoftDeleting"} {
		states["state "+going] = row[*BackupVaultsBackupInstance]{reason: "it is not settled", in: without(&going), want: blocks, with: notSettled, says: going,
			aso: terminal(going)}
		if going == "ProtectionError" {
			tc := states["state "+going]
			tc.aso, tc.because = panics, "an error need not have details"
			states["state "+going] = tc
		}
	}
	add(syncs{}, nil, states)

	bare := backup(new("ProtectionError"), "")
	bare.Status.Properties.ProtectionStatus.ErrorDetails = &fault{}
	add(syncs{}, nil, rows{
		"properties nil": {reason: "nothing is reported", in: in(&BackupVaultsBackupInstance{}), want: blocks,
			with: notSettled, aso: proceeds, because: noWait},
		"protection nil": {reason: "nothing is reported", want: blocks, with: notSettled, aso: proceeds, because: noWait,
			in: in(func() *BackupVaultsBackupInstance {
				b := backup(nil, "")
				b.Status.Properties.ProtectionStatus = nil
				return b
			}())},
		"code nil": {reason: "nobody is blamed", in: in(bare), want: blocks, with: notSettled, aso: panics,
			because: "an error need not have a code"},
		"another's error": {reason: "a user cannot mend it, nor a sync",
			in: in(backup(new("ProtectionError"), "InternalError")), want: blocks, with: notSettled, aso: blocks},
		"an error, and configuring": {reason: "Azure is at it", in: in(backup(new("ConfiguringProtection"), userError)),
			want: blocks, with: notSettled, aso: blocks},
		"an old error": {reason: "it is settled", in: in(backup(new("ProtectionConfigured"), userError)),
			want: proceeds, aso: proceeds},
	})
	withoutID := func(b *BackupVaultsBackupInstance) subject[*BackupVaultsBackupInstance] {
		b.Status.ID = nil
		return in(b)
	}
	const noID = "without an ID no sync can be sent, and the backup is not protected either"
	add(syncs{}, nil, rows{
		"ID nil, user error": {reason: "there is nothing to address a sync to", in: withoutID(backup(new("ProtectionError"), userError)),
			want: blocks, with: notSettled, says: "ProtectionError", aso: proceeds, because: noID},
		"ID nil, configuring": {reason: "it is not settled", in: withoutID(backup(new("ConfiguringProtection"), "")),
			want: blocks, with: notSettled, aso: proceeds, because: noID},
		"ID nil, settled": {reason: "the check needs no ID", in: withoutID(backup(new("ProtectionConfigured"), "")),
			want: proceeds, aso: proceeds},
	})
	byARMID := func(b *BackupVaultsBackupInstance) subject[*BackupVaultsBackupInstance] {
		return subject[*BackupVaultsBackupInstance]{resource: b, owner: checks.Object{Ref: checks.Ref{ID: "/backupVaults/prod"}}}
	}
	const sameVault = "a sync needs the ID of the instance only, so it does not matter how its vault is known"
	add(syncs{}, []string{"sync"}, rows{
		"owner by ARM ID, user error": {reason: "a sync needs nothing of the vault", in: byARMID(backup(new("ProtectionError"), userError)),
			want: blocks, with: "ProtectionSyncing", aso: proceeds, because: sameVault},
	})
	add(syncs{}, nil, rows{
		"owner by ARM ID, configuring": {reason: "the state is that of the instance", in: byARMID(backup(new("ConfiguringProtection"), "")),
			want: blocks, with: notSettled, aso: proceeds, because: sameVault},
		"owner by ARM ID, settled": {reason: "the state is that of the instance", in: byARMID(backup(new("ProtectionConfigured"), "")),
			want: proceeds, aso: proceeds},
	})
	for _, status := range spellings("ProtectionError") {
		tc := row[*BackupVaultsBackupInstance]{
			reason: "it is made to look again", in: in(backup(&status, userError)), want: blocks, with: "ProtectionSyncing", aso: blocks,
		}
		add(syncs{}, []string{"sync"}, rows{fmt.Sprintf("user error, %q", status): tc})
	}
	mistaken := in(backup(new("ProtectionError"), userError))
	add(syncs{}, []string{"sync"}, rows{
		"user error in lower case": {reason: "a code is a word", in: in(backup(new("ProtectionError"), "bmsusererrorx")),
			want: blocks, with: "ProtectionSyncing", aso: blocks},
	})
	add(syncs{refuse: refuse(409, "Conflict")}, []string{"sync"}, rows{
		"refused": {reason: "nothing was begun", in: mistaken, want: fails, aso: fails},
	})
	add(syncs{kept: kept[*BackupVaultsBackupInstance]{lost: errDown}}, []string{"sync"}, rows{
		"token not kept": {reason: "it would be begun again", in: mistaken, want: fails},
	})
	under := func(p polled) syncs {
		return syncs{kept: kept[*BackupVaultsBackupInstance]{token: "sync", polls: map[string]polled{"sync": p}}}
	}
	add(under(polled{}), []string{"poll sync"}, rows{
		"under way": {reason: "it is followed to its end", in: mistaken, want: blocks, with: "ProtectionSyncing", aso: blocks},
		"under way, and settled": {reason: "it is followed to its end, whatever the state says",
			in: in(backup(new("ProtectionConfigured"), "")), want: blocks,
			with: "ProtectionSyncing", aso: proceeds, because: "a token that is left behind would be taken for that of the next one"},
	})
	add(under(polled{err: errDown}), []string{"poll sync"}, rows{
		"under way, no answer": {reason: "it may still go on", in: mistaken, want: fails, aso: fails},
	})
	add(under(polled{done: true, err: refuse(200, "SyncFailed")}), []string{"poll sync"}, rows{
		"failed": {reason: "the next pass begins anew", in: mistaken, want: fails, aso: fails},
	})
	add(under(polled{done: true}), []string{"poll sync"}, rows{
		"done": {reason: "the state is from before, and is read anew first", in: mistaken, want: blocks,
			with: "ProtectionSyncing", aso: blocks},
	})

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.in.lone = true
			alone, whole := tc.api, tc.api
			decide(t, flow.PointPostCheck, BackupVaultsBackupInstanceExtensions(&alone), rows{"alone": tc.row})
			pass(t, flow.PointPostCheck, BackupVaultsBackupInstanceExtensions(&whole), tc.row)
			for how, calls := range map[string][]string{"alone": alone.take(), "in a pass": whole.take()} {
				if !slices.Equal(tc.calls, calls) {
					t.Errorf("%s: calls %s, -want, +got:\n%s", tc.reason, how, cmp.Diff(tc.calls, calls))
				}
			}
		})
	}
}

// One synchronisation is begun for one error, and the PUT is not sent again meanwhile.
func TestBackupVaultsBackupInstanceSync(t *testing.T) {
	api := &syncs{kept: kept[*BackupVaultsBackupInstance]{polls: map[string]polled{}}, refuse: errDown}
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
	come(t, "Azure is at it", out, flow.StateBlocked, "ProtectionNotSettled", calls, "get")
	status, code = "ProtectionError", "UserErrorMissingPermissions"
	out, calls = run()
	come(t, "it could not be begun", out, flow.StateFailed, out.Reason(), calls, "get", "sync")
	api.refuse = nil
	out, calls = run()
	come(t, "it is begun", out, flow.StateBlocked, "ProtectionSyncing", calls, "get", "sync")
	for range 3 {
		out, calls = run()
		come(t, "it goes on", out, flow.StateBlocked, "ProtectionSyncing", calls, "get", "poll sync")
	}
	api.polls["sync"] = polled{done: true}
	out, calls = run()
	come(t, "it is done", out, flow.StateBlocked, "ProtectionSyncing", calls, "get", "poll sync")
	out, calls = run()
	come(t, "the error is still there", out, flow.StateBlocked, "ProtectionSyncing", calls, "get", "sync")
	out, calls = run()
	come(t, "it is done", out, flow.StateBlocked, "ProtectionSyncing", calls, "get", "poll sync")
	status, code = "ProtectionConfigured", ""
	out, calls = run()
	come(t, "a person has mended it", out, flow.StateReady, flow.ReasonSucceeded, calls, "get")
	status, code, api.atOnce = "ProtectionError", "UserErrorX", true
	out, calls = run()
	come(t, "over at once, and read anew by the next pass", out, flow.StateBlocked, "ProtectionSyncing", calls, "get", "sync")
	if api.token != "" {
		t.Errorf("the token %q is left", api.token)
	}
}
