package aso

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// VaultKey is a key in a key vault. What is nil in its spec is left to Azure.
type VaultKey struct {
	Name string
	Spec struct {
		Kty     *string // RSA, EC, ...; these three never change
		KeySize *int
		Curve   *string

		Enabled   *bool // these can be changed, at the vault only
		NotBefore *time.Time
		Expires   *time.Time
		KeyOps    []string

		WhenDeleted WhenDeleted
	}
}

// WhenDeleted says what to do where a key of that name was deleted and the vault still keeps it. The zero value leaves that to
// a person.
type WhenDeleted string

const (
	WhenDeletedRecover WhenDeleted = "Recover" // have it back, and go on with it
	WhenDeletedPurge   WhenDeleted = "Purge"   // destroy it for good, and make a new one
)

// LiveKey is a key as the vault has it.
type LiveKey struct {
	Kty                string
	KeySize            int
	Curve              string
	Enabled            bool
	NotBefore, Expires *time.Time
	KeyOps             []string
}

// KeyChange is what is to be changed of a key; nil: stays as it is.
type KeyChange struct {
	Enabled            *bool
	NotBefore, Expires *time.Time
	KeyOps             []string
}

// Vaults finds the vault of a key. An error of status 404 means that there is none.
type Vaults interface {
	Open(ctx context.Context, key *VaultKey) (Keys, error)
}

// Keys is the data plane of a vault, where keys are by their names. An error of status 404 means that there is no such key, or
// no such deleted one; 409 that it is being recovered or purged already.
type Keys interface {
	Get(ctx context.Context, name string) (*LiveKey, error)
	GetDeleted(ctx context.Context, name string) error
	Recover(ctx context.Context, name string) error // begins it; does not wait
	Purge(ctx context.Context, name string) error   // begins it; does not wait
	Update(ctx context.Context, name string, change KeyChange) error
}

// VaultKeyExtensions make up for a PUT that only ever creates: Azure answers it with success where there is a key of that name,
// and changes nothing. So before it comes a look at what is in the vault, and behind it the changes that can be made there.
// The Get of such a reconciler compares with the vault, too: what it calls in sync is not applied.
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

// mayCreate decides on what has the name of the key in the vault: nothing, the key, another key, or one that was deleted.
//
// A deleted key is recovered or purged as the spec says, which takes a while; a 409 means that an earlier pass has begun it. ASO
// goes on at once after a purge, with a PUT that is refused as long as the name is taken.
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
	return checks.Block("KeyDeleted", "a deleted key has the name: say Recover or Purge in whenDeleted", checks.WithRetry(classify.OnChange)), nil
}

// cannotBecome says what keeps a key in the vault from becoming what the spec says; "" if nothing does.
func (k *VaultKey) cannotBecome(live *LiveKey) string {
	switch s := k.Spec; {
	case s.Kty != nil && *s.Kty != live.Kty:
		return fmt.Sprintf("the vault has a key of type %s, which cannot become %s: choose another name", live.Kty, *s.Kty)
	case s.KeySize != nil && *s.KeySize != live.KeySize:
		return fmt.Sprintf("the vault has a key of %d bits, which cannot have %d: choose another name", live.KeySize, *s.KeySize)
	case s.Curve != nil && *s.Curve != live.Curve:
		return fmt.Sprintf("the vault has a key of curve %s, which cannot become %s: choose another name", live.Curve, *s.Curve)
	}
	return ""
}

// updateKey sends the vault what differs from the spec of what can be changed, if anything does.
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
	different := false
	if s := key.Spec.Enabled; s != nil && *s != live.Enabled {
		change.Enabled, different = s, true
	}
	if s := key.Spec.NotBefore; s != nil && (live.NotBefore == nil || !s.Equal(*live.NotBefore)) {
		change.NotBefore, different = s, true
	}
	if s := key.Spec.Expires; s != nil && (live.Expires == nil || !s.Equal(*live.Expires)) {
		change.Expires, different = s, true
	}
	if s := key.Spec.KeyOps; s != nil && !sameSet(s, live.KeyOps) {
		change.KeyOps, different = s, true
	}
	if !different {
		return nil
	}
	return keys.Update(ctx, key.Name, change)
}

// sameSet compares lists in which order does not matter.
func sameSet(a, b []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}
