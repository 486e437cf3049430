package aso

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// VaultKey is a key in a key vault. Azure chooses the nil fields of its spec.
type VaultKey struct {
	Name string
	Spec struct {
		Kty     *string // RSA, EC, ...; type, size and curve cannot change
		KeySize *int
		Curve   *string

		Enabled   *bool // these can change, but only with an update at the vault
		NotBefore *time.Time
		Expires   *time.Time
		KeyOps    []string

		WhenDeleted WhenDeleted
	}
}

// WhenDeleted is the action if the vault still has a deleted key with the name.
// Zero blocks until a person decides.
type WhenDeleted string

const (
	WhenDeletedRecover WhenDeleted = "Recover" // recover the deleted key
	WhenDeletedPurge   WhenDeleted = "Purge"   // destroy the deleted key and create a new one
)

// LiveKey is a key in the vault.
type LiveKey struct {
	Kty                string
	KeySize            int
	Curve              string
	Enabled            bool
	NotBefore, Expires *time.Time
	KeyOps             []string
}

// KeyChange is a change of a key. Nil fields stay unchanged.
type KeyChange struct {
	Enabled            *bool
	NotBefore, Expires *time.Time
	KeyOps             []string
}

// Vaults opens the vault of a key. An error with status 404 means that the
// vault does not exist.
type Vaults interface {
	Open(ctx context.Context, key *VaultKey) (Keys, error)
}

// Keys accesses the keys of a vault by name. An error with status 404 means
// that the key, or the deleted key, does not exist. Status 409 means that it is
// already being recovered or purged.
type Keys interface {
	Get(ctx context.Context, name string) (*LiveKey, error)
	GetDeleted(ctx context.Context, name string) error
	Recover(ctx context.Context, name string) error // begins and does not wait
	Purge(ctx context.Context, name string) error   // begins and does not wait
	Update(ctx context.Context, name string, change KeyChange) error
}

// VaultKeyExtensions complete a PUT that only creates: if the key exists, Azure
// reports success and changes nothing. A gate before the PUT reads the vault,
// and a link after the PUT sends the changes. The reconciler's Get must compare
// the key in the vault, too, because a key in sync is not applied.
func VaultKeyExtensions(vaults Vaults) flow.Extensions[*VaultKey] {
	return flow.Extensions[*VaultKey]{
		PreCheck: chain.New(checks.Gate("VaultKey", func(ctx context.Context, req *checks.Request[*VaultKey]) (checks.Result, error) {
			return mayCreate(ctx, vaults, req)
		})),
		Apply: chain.New(chain.Named("UpdateKey", chain.After(func(ctx context.Context, req *flow.Request[*VaultKey], p flow.Progress) error {
			if !p.IsDone() {
				return nil
			}
			return updateKey(ctx, vaults, req.Resource)
		}))),
	}
}

// mayCreate decides whether the PUT may create the key. The name may be free,
// or that of the key, of a key that cannot become it, or of a deleted key.
//
// A deleted key is recovered or purged as the spec says. A 409 means that an
// earlier pass began it. ASO proceeds at once after a purge, with a PUT that
// the vault refuses until the purge ends.
func mayCreate(ctx context.Context, vaults Vaults, req *checks.Request[*VaultKey]) (checks.Result, error) {
	key := req.Resource
	keys, err := vaults.Open(ctx, key)
	if azure.Errors().NotFound(err) {
		return checks.Block("VaultNotFound", "the vault of the key was not found: waiting until it is created",
			checks.WithWaitingFor(req.Owner.Ref)), nil
	}
	if err != nil {
		return checks.Result{}, err
	}

	live, err := keys.Get(ctx, key.Name)
	if err == nil {
		if why := key.cannotBecome(live); why != "" {
			return checks.Block("KeyImmutable", why, checks.WithRetry(classify.OnChange)), nil
		}
		return checks.Proceed(), nil
	}
	if !azure.Errors().NotFound(err) {
		return checks.Result{}, err
	}

	if err := keys.GetDeleted(ctx, key.Name); azure.Errors().NotFound(err) {
		return checks.Proceed(), nil
	} else if err != nil {
		return checks.Result{}, err
	}
	switch key.Spec.WhenDeleted {
	case WhenDeletedRecover:
		if err := keys.Recover(ctx, key.Name); err != nil && failure(err).Status != http.StatusConflict {
			return checks.Result{}, err
		}
		return checks.Block("KeyRecovering", "the key was deleted: waiting until the vault has recovered it"), nil
	case WhenDeletedPurge:
		if err := keys.Purge(ctx, key.Name); err != nil && failure(err).Status != http.StatusConflict {
			return checks.Result{}, err
		}
		return checks.Block("KeyPurging", "a deleted key has the name: waiting until the vault has purged it"), nil
	}
	return checks.Block("KeyDeleted", "a deleted key has the name; set whenDeleted to Recover or Purge", checks.WithRetry(classify.OnChange)), nil
}

// cannotBecome returns why the key in the vault cannot get the spec, or "".
func (k *VaultKey) cannotBecome(live *LiveKey) string {
	switch s := k.Spec; {
	case s.Kty != nil && *s.Kty != live.Kty:
		return fmt.Sprintf("the vault has a key of type %s, which cannot become %s; use another name", live.Kty, *s.Kty)
	case s.KeySize != nil && *s.KeySize != live.KeySize:
		return fmt.Sprintf("the vault has a key of %d bits, which cannot become %d; use another name", live.KeySize, *s.KeySize)
	case s.Curve != nil && *s.Curve != live.Curve:
		return fmt.Sprintf("the vault has a key of curve %s, which cannot become %s; use another name", live.Curve, *s.Curve)
	}
	return ""
}

// updateKey updates the fields that differ from the spec and can change.
func updateKey(ctx context.Context, vaults Vaults, key *VaultKey) error {
	keys, err := vaults.Open(ctx, key)
	if err != nil {
		return err
	}
	live, err := keys.Get(ctx, key.Name)
	if err != nil {
		return err
	}
	var change KeyChange
	if s := key.Spec.Enabled; s != nil && *s != live.Enabled {
		change.Enabled = s
	}
	if s := key.Spec.NotBefore; s != nil && (live.NotBefore == nil || !s.Equal(*live.NotBefore)) {
		change.NotBefore = s
	}
	if s := key.Spec.Expires; s != nil && (live.Expires == nil || !s.Equal(*live.Expires)) {
		change.Expires = s
	}
	if s := key.Spec.KeyOps; s != nil && !sameSet(s, live.KeyOps) {
		change.KeyOps = s
	}
	if reflect.ValueOf(change).IsZero() {
		return nil
	}
	return keys.Update(ctx, key.Name, change)
}

// sameSet compares two lists without order.
func sameSet(a, b []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}
