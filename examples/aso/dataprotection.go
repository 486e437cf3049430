package aso

import (
	"context"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// BackupVaultsBackupInstance is something that is backed up to a vault.
type BackupVaultsBackupInstance struct {
	Name   string
	Status struct {
		Properties *struct{ ProtectionStatus *ProtectionStatus }
	}
}

// ProtectionStatus is whether it is really backed up, which Azure finds out after the PUT has succeeded.
type ProtectionStatus struct {
	Status       *string
	ErrorDetails *struct{ Code *string }
}

// SyncAPI makes Azure look at a backup instance again.
type SyncAPI interface {
	Operation[*BackupVaultsBackupInstance]
	// Sync begins it and gives the token to follow it with; empty: it was over at once.
	Sync(ctx context.Context, instance *BackupVaultsBackupInstance) (token string, err error)
}

// protectionSettled are the states that do not change by themselves, good or bad: which it is, the status says.
var protectionSettled = checks.Allow("ProtectionConfigured", "ConfiguringProtectionFailed", "Invalid", "NotProtected", "SoftDeleted",
	"ProtectionStopped", "BackupSchedulesSuspended", "RetentionSchedulesSuspended")

// BackupVaultsBackupInstanceExtensions defer Ready until the protection has settled. An error that Azure blames on the user,
// a missing role most often, stays in the status when its cause is gone, until Azure is asked to look again: that is the gate.
//
// ASO lets a status pass that is not reported. Azure reports it shortly after the PUT, so it is waited for here. An error
// without a code is one that is waited for, and no panic.
func BackupVaultsBackupInstanceExtensions(api SyncAPI) flow.Extensions[*BackupVaultsBackupInstance] {
	return flow.Extensions[*BackupVaultsBackupInstance]{
		PostCheck: chain.New(
			checks.Gate("Sync", func(ctx context.Context, req *checks.Request[*BackupVaultsBackupInstance]) (checks.Result, error) {
				return synchronise(ctx, api, req.Resource)
			}),
			checks.ProvisioningState(func(b *BackupVaultsBackupInstance) *string { return b.Status.Properties.ProtectionStatus.Status },
				protectionSettled, checks.Reason("ProtectionNotSettled")),
		),
	}
}

// synchronise begins a synchronisation where one helps, and waits for its end. The status is read anew after that, by the next pass.
func synchronise(ctx context.Context, api SyncAPI, instance *BackupVaultsBackupInstance) (checks.Result, error) {
	switch underWay, _, err := follow(ctx, api, instance); {
	case err != nil:
		return checks.Result{}, err
	case !underWay && !instance.blamesUser():
		return checks.Proceed(), nil
	case !underWay:
		token, err := api.Sync(ctx, instance)
		if err := begin(ctx, api, instance, token, err); err != nil {
			return checks.Result{}, err
		}
	}
	return checks.Block("ProtectionSyncing", "the protection had an error: Azure is looking at it again"), nil
}

// blamesUser tells whether the protection has an error that the user can mend.
func (b *BackupVaultsBackupInstance) blamesUser() bool {
	p := b.Status.Properties
	if p == nil || p.ProtectionStatus == nil || p.ProtectionStatus.ErrorDetails == nil {
		return false
	}
	status, code := valueOf(p.ProtectionStatus.Status), valueOf(p.ProtectionStatus.ErrorDetails.Code)
	return strings.EqualFold(strings.TrimSpace(status), "ProtectionError") && strings.Contains(strings.ToLower(code), "usererror")
}
