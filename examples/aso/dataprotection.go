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
		ID         *string // nil: not reported yet
		Properties *struct{ ProtectionStatus *ProtectionStatus }
	}
}

// ProtectionStatus says whether the instance is backed up. Azure reports it some time after the PUT has succeeded.
type ProtectionStatus struct {
	Status       *string
	ErrorDetails *struct{ Code *string }
}

// SyncAPI lets Azure validate a backup instance again.
type SyncAPI interface {
	Operation[*BackupVaultsBackupInstance]
	// Sync begins a synchronisation of the instance, whose Status.ID is not nil. It returns the operation's token; empty: it
	// has already ended.
	Sync(ctx context.Context, instance *BackupVaultsBackupInstance) (token string, err error)
}

// protectionSettled are the states that do not change by themselves, good or bad: which it is, the status says.
var protectionSettled = checks.WithAllowed("ProtectionConfigured", "ConfiguringProtectionFailed", "Invalid", "NotProtected", "SoftDeleted",
	"ProtectionStopped", "BackupSchedulesSuspended", "RetentionSchedulesSuspended")

// BackupVaultsBackupInstanceExtensions defer Ready until the protection has settled. A user error, such as a missing role,
// stays in the status after its cause is gone, until Azure validates the instance again. The gate starts that.
//
// ASO proceeds with a status that is not reported, with an instance without an ID, and with a vault that is known only by its
// ARM ID. Here all of them block until the protection has settled. A sync needs the ID of the instance, so the gate does not
// start one without it; it needs nothing of the vault. An error without a code blocks, and is no panic.
func BackupVaultsBackupInstanceExtensions(api SyncAPI) flow.Extensions[*BackupVaultsBackupInstance] {
	return flow.Extensions[*BackupVaultsBackupInstance]{
		PostCheck: chain.New(
			checks.Gate("Sync", func(ctx context.Context, req *checks.Request[*BackupVaultsBackupInstance]) (checks.Result, error) {
				return synchronise(ctx, api, req.Resource)
			}),
			checks.ProvisioningState(func(b *BackupVaultsBackupInstance) *string { return b.Status.Properties.ProtectionStatus.Status },
				protectionSettled, checks.WithReason("ProtectionNotSettled")),
		),
	}
}

// synchronise begins a synchronisation if the instance has a user error, and blocks until it has ended. The next pass then
// reads the status again.
func synchronise(ctx context.Context, api SyncAPI, instance *BackupVaultsBackupInstance) (checks.Result, error) {
	switch underWay, _, err := follow(ctx, api, instance); {
	case err != nil:
		return checks.Result{}, err
	case !underWay && (instance.Status.ID == nil || !instance.blamesUser()):
		return checks.Proceed(), nil
	case !underWay:
		token, err := api.Sync(ctx, instance)
		if err := begin(ctx, api, instance, token, err); err != nil {
			return checks.Result{}, err
		}
	}
	return checks.Block("ProtectionSyncing", "the protection had an error: Azure is looking at it again"), nil
}

// blamesUser reports whether the protection has an error that the user can fix.
func (b *BackupVaultsBackupInstance) blamesUser() bool {
	p := b.Status.Properties
	if p == nil || p.ProtectionStatus == nil || p.ProtectionStatus.ErrorDetails == nil {
		return false
	}
	status, code := valueOf(p.ProtectionStatus.Status), valueOf(p.ProtectionStatus.ErrorDetails.Code)
	return strings.EqualFold(strings.TrimSpace(status), "ProtectionError") && strings.Contains(strings.ToLower(code), "usererror")
}
