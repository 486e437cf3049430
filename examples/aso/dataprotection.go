package aso

import (
	"context"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// BackupVaultsBackupInstance is a backed-up resource.
type BackupVaultsBackupInstance struct {
	Status struct {
		ID         *string // nil: not reported yet
		Properties *struct{ ProtectionStatus *ProtectionStatus }
	}
}

// ProtectionStatus is the state of the backup. Azure reports it some time after
// the PUT.
type ProtectionStatus struct {
	Status       *string
	ErrorDetails *struct{ Code *string }
}

// SyncAPI makes Azure validate a backup instance again.
type SyncAPI interface {
	Operation[*BackupVaultsBackupInstance]
	// Sync begins a synchronisation of the instance, whose Status.ID is not
	// nil. It returns the operation's token, or "" if the operation has already
	// ended.
	Sync(ctx context.Context, instance *BackupVaultsBackupInstance) (token string, err error)
}

// protectionSettled are the states that do not change by themselves, good or
// bad.
var protectionSettled = checks.WithAllowed("ProtectionConfigured", "ConfiguringProtectionFailed", "Invalid", "NotProtected", "SoftDeleted",
	"ProtectionStopped", "BackupSchedulesSuspended", "RetentionSchedulesSuspended")

// BackupVaultsBackupInstanceExtensions defer Ready until the protection has
// settled. A user error, such as a missing role, stays in the status until
// Azure validates the instance again. The gate starts that.
//
// ASO proceeds with a status that is not reported, with an instance without an
// ID, and with a vault that is known only by its ARM ID. Here all of them block
// until the protection has settled. The gate needs the ID of the instance but
// nothing of the vault. An error without a code blocks; ASO panics.
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

// synchronise begins a synchronisation if the instance has a user error, and
// blocks until it has ended. The next pass reads the status again.
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
	return checks.Block("ProtectionSyncing", "the protection had an error; Azure validates the instance again"), nil
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
