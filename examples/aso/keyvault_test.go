package aso

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// vault fakes a key vault. A deleted key stays until settle ends its recovery
// or purge.
type vault struct {
	live    map[string]*LiveKey
	deleted map[string]*LiveKey
	busy    string           // the operation on the deleted key: "recover", "purge" or ""
	refuses map[string]error // the error of a call, by its name
	calls   []string
}

func (v *vault) call(name string) error {
	v.calls = append(v.calls, name)
	return v.refuses[name]
}

func (v *vault) Open(context.Context, *VaultKey) (Keys, error) {
	if err := v.refuses["open"]; err != nil {
		return nil, err
	}
	return v, nil
}

func (v *vault) Get(_ context.Context, name string) (*LiveKey, error) {
	if err := v.call("get key"); err != nil {
		return nil, err
	}
	if k := v.live[name]; k != nil {
		return k, nil
	}
	return nil, refuse(404, "KeyNotFound")
}

func (v *vault) GetDeleted(_ context.Context, name string) error {
	if err := v.call("get deleted"); err != nil {
		return err
	}
	if v.deleted[name] == nil {
		return refuse(404, "KeyNotFound")
	}
	return nil
}

func (v *vault) begin(name string) error {
	if err := v.call(name); err != nil {
		return err
	}
	if v.busy != "" {
		return refuse(409, "Conflict")
	}
	v.busy = name
	return nil
}

func (v *vault) Recover(context.Context, string) error { return v.begin("recover") }

func (v *vault) Purge(context.Context, string) error { return v.begin("purge") }

func (v *vault) settle(name string) {
	if v.busy == "recover" {
		v.live = map[string]*LiveKey{name: v.deleted[name]}
	}
	v.deleted, v.busy = nil, ""
}

func (v *vault) Update(_ context.Context, name string, change KeyChange) error {
	if err := v.call("update"); err != nil {
		return err
	}
	k := v.live[name]
	if change.Enabled != nil {
		k.Enabled = *change.Enabled
	}
	if change.NotBefore != nil {
		k.NotBefore = change.NotBefore
	}
	if change.Expires != nil {
		k.Expires = change.Expires
	}
	if change.KeyOps != nil {
		k.KeyOps = change.KeyOps
	}
	return nil
}

func (v *vault) take() []string {
	calls := v.calls
	v.calls = nil
	return calls
}

func vaultKey(when WhenDeleted) *VaultKey {
	k := &VaultKey{Name: "disk"}
	k.Spec.Kty, k.Spec.KeySize, k.Spec.WhenDeleted = new("RSA"), new(2048), when
	return k
}

func rsa() map[string]*LiveKey {
	return map[string]*LiveKey{"disk": {Kty: "RSA", KeySize: 2048, Enabled: true}}
}

func TestVaultKey(t *testing.T) {
	const taken = "the vault refuses a PUT until the purge ends"
	cases := map[string]struct {
		reason  string
		when    WhenDeleted
		spec    func(*VaultKey)
		vault   vault
		calls   string
		want    decision
		with    string
		retry   classify.Retry
		aso     decision
		because string
	}{
		"no key":  {reason: "the PUT creates it", calls: "get key, get deleted", want: proceeds, aso: proceeds},
		"the key": {reason: "the key exists", vault: vault{live: rsa()}, calls: "get key", want: proceeds, aso: proceeds},
		"another vault's": {reason: "another key has another name", vault: vault{live: map[string]*LiveKey{"tape": {}}},
			calls: "get key, get deleted", want: proceeds, aso: proceeds},
		"no vault": {reason: "the vault may be created later",
			vault: vault{refuses: map[string]error{"open": refuse(404, "ResourceNotFound")}}, want: blocks,
			with: "VaultNotFound", retry: classify.Slow, aso: blocks},
		"vault refuses": {reason: "the vault is unknown",
			vault: vault{refuses: map[string]error{"open": refuse(403, "Forbidden")}}, want: fails, aso: fails},
		"vault is down": {reason: "the vault is unknown", vault: vault{refuses: map[string]error{"open": errDown}}, want: fails, aso: fails},
		"get refused": {reason: "the key is unknown",
			vault: vault{live: rsa(), refuses: map[string]error{"get key": refuse(403, "Forbidden")}}, calls: "get key",
			want: fails, aso: fails},
		"get deleted down": {reason: "the deleted key is unknown", vault: vault{refuses: map[string]error{"get deleted": errDown}},
			calls: "get key, get deleted", want: fails, aso: fails},
		"other type": {reason: "the type cannot change", spec: func(k *VaultKey) { k.Spec.Kty = new("EC") },
			vault: vault{live: rsa()}, calls: "get key", want: blocks, with: "KeyImmutable", retry: classify.OnChange, aso: blocks},
		"other size": {reason: "the size cannot change", spec: func(k *VaultKey) { k.Spec.KeySize = new(4096) },
			vault: vault{live: rsa()}, calls: "get key", want: blocks, with: "KeyImmutable", retry: classify.OnChange, aso: blocks},
		"other curve": {reason: "the curve cannot change", spec: func(k *VaultKey) { k.Spec.Curve = new("P-256") },
			vault: vault{live: rsa()}, calls: "get key", want: blocks, with: "KeyImmutable", retry: classify.OnChange, aso: blocks},
		"nil fields": {reason: "Azure chooses nil fields", spec: func(k *VaultKey) { k.Spec.Kty, k.Spec.KeySize = nil, nil },
			vault: vault{live: rsa()}, calls: "get key", want: proceeds, aso: proceeds},
		"recover": {reason: "the recovery takes a while", when: WhenDeletedRecover, vault: vault{deleted: rsa()},
			calls: "get key, get deleted, recover", want: blocks, with: "KeyRecovering", retry: classify.Slow, aso: blocks},
		"purge": {reason: "the purge takes a while", when: WhenDeletedPurge, vault: vault{deleted: rsa()},
			calls: "get key, get deleted, purge", want: blocks, with: "KeyPurging", retry: classify.Slow, aso: proceeds,
			because: taken},
		"neither": {reason: "a person has to choose", vault: vault{deleted: rsa()}, calls: "get key, get deleted",
			want: blocks, with: "KeyDeleted", retry: classify.OnChange},
		"an unknown word": {reason: "a person has to choose", when: "Bury", vault: vault{deleted: rsa()},
			calls: "get key, get deleted", want: blocks, with: "KeyDeleted", retry: classify.OnChange},
		"recover, nothing": {reason: "no key was deleted", when: WhenDeletedRecover, calls: "get key, get deleted",
			want: proceeds, aso: proceeds},
		"purge, there": {reason: "an existing key is never purged", when: WhenDeletedPurge,
			vault: vault{live: rsa(), deleted: rsa()}, calls: "get key", want: proceeds, aso: proceeds},
		"recover refused": {reason: "the recovery did not begin", when: WhenDeletedRecover,
			vault: vault{deleted: rsa(), refuses: map[string]error{"recover": refuse(403, "Forbidden")}},
			calls: "get key, get deleted, recover", want: fails, aso: fails},
		"purge refused": {reason: "the vault may be protected against purges", when: WhenDeletedPurge,
			vault: vault{deleted: rsa(), refuses: map[string]error{"purge": refuse(403, "Forbidden")}},
			calls: "get key, get deleted, purge", want: fails, aso: fails},
		"recover is under way": {reason: "an earlier pass began the recovery", when: WhenDeletedRecover,
			vault: vault{deleted: rsa(), busy: "recover"}, calls: "get key, get deleted, recover", want: blocks,
			with: "KeyRecovering", retry: classify.Slow},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			key := vaultKey(tc.when)
			if tc.spec != nil {
				tc.spec(key)
			}
			v := tc.vault
			runCases(t, flow.PointPreCheck, VaultKeyExtensions(&v), map[string]row[*VaultKey]{"alone": {
				reason: tc.reason, in: subject[*VaultKey]{resource: key, checkOnly: true}, want: tc.want, with: tc.with,
				retry: tc.retry, aso: tc.aso, because: tc.because,
			}})
			if got := strings.Join(v.take(), ", "); got != tc.calls {
				t.Errorf("%s: calls %q, want %q", tc.reason, got, tc.calls)
			}
		})
	}
}

// TestVaultKeyWaitsForVault: a key without a vault waits for its owner, the
// vault.
func TestVaultKeyWaitsForVault(t *testing.T) {
	v := &vault{refuses: map[string]error{"open": refuse(404, "ResourceNotFound")}}
	res, err := runPoint(t, flow.PointPreCheck, VaultKeyExtensions(v), ownedBy(vaultKey(""), "the vault"))
	if diff := cmp.Diff([]checks.Ref{ownerRef}, res.WaitingFor()); diff != "" || err != nil {
		t.Errorf("%v, awaited objects: -want, +got:\n%s", err, diff)
	}
}

// TestVaultKeyDeleted: a deleted key is recovered or purged once, and the PUT
// follows.
func TestVaultKeyDeleted(t *testing.T) {
	cases := map[string]struct {
		reason    string
		when      WhenDeleted
		act, with string
	}{
		"Recover": {"the old key is back", WhenDeletedRecover, "recover", "KeyRecovering"},
		"Purge":   {"a new key is created", WhenDeletedPurge, "purge", "KeyPurging"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := &vault{deleted: rsa(), refuses: map[string]error{tc.act: errDown}}
			key, c := vaultKey(tc.when), &cloud[*VaultKey]{in: subject[*VaultKey]{absent: true}}
			r := c.reconciler(VaultKeyExtensions(v))
			run := func() (flow.Outcome, []string) {
				out := r.Reconcile(t.Context(), key)
				return out, append(c.take(), v.take()...)
			}
			out, calls := run()
			expectPass(t, "the operation did not begin", out, flow.StateFailed, out.Reason(), calls, "get", "get key", "get deleted", tc.act)
			v.refuses = nil
			for range 3 { // the vault responds with 409 during the operation
				out, calls = run()
				expectPass(t, "the operation is under way", out, flow.StateBlocked, tc.with, calls, "get", "get key", "get deleted", tc.act)
			}
			v.settle(key.Name)
			looks := []string{"get key"}
			if v.live == nil { // purged
				looks = append(looks, "get deleted")
			}
			c.puts = []flow.Progress{flow.InProgress("t", 0)}
			out, calls = run()
			expectPass(t, "the PUT begins", out, flow.StateInProgress, flow.ReasonInProgress, calls, append([]string{"get", "put"}, looks...)...)
			v.live = rsa()
			out, calls = run()
			expectPass(t, tc.reason, out, flow.StateReady, flow.ReasonSucceeded, calls, "put", "get key")
		})
	}
}

// TestVaultKeyUpdate: the link sends a change after the PUT if a field differs.
func TestVaultKeyUpdate(t *testing.T) {
	day := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	elsewhere := day.In(time.FixedZone("", 7200))
	cases := map[string]struct {
		reason string
		spec   func(*VaultKey)
		live   func(*LiveKey)
		want   func(*LiveKey) // the change; nil: no request
	}{
		"nil fields": {"Azure chooses nil fields", func(*VaultKey) {},
			func(k *LiveKey) { k.KeyOps, k.Expires = []string{"sign"}, &day }, nil},
		"the same": {"no field differs", func(k *VaultKey) { k.Spec.Enabled, k.Spec.NotBefore = new(true), &day },
			func(k *LiveKey) { k.NotBefore = &elsewhere }, nil},
		"disabled": {"the key is disabled", func(k *VaultKey) { k.Spec.Enabled = new(false) }, nil,
			func(k *LiveKey) { k.Enabled = false }},
		"enabled again": {"the key is enabled", func(k *VaultKey) { k.Spec.Enabled = new(true) }, func(k *LiveKey) { k.Enabled = false },
			func(k *LiveKey) { k.Enabled = true }},
		"begins": {"the key had no beginning", func(k *VaultKey) { k.Spec.NotBefore = &day }, nil,
			func(k *LiveKey) { k.NotBefore = &day }},
		"expires later": {"the key had another end", func(k *VaultKey) { k.Spec.Expires = &day },
			func(k *LiveKey) { k.Expires = new(day.Add(-time.Hour)) }, func(k *LiveKey) { k.Expires = &day }},
		"operations": {"an additional operation", func(k *VaultKey) { k.Spec.KeyOps = []string{"sign", "verify"} },
			func(k *LiveKey) { k.KeyOps = []string{"sign"} }, func(k *LiveKey) { k.KeyOps = []string{"sign", "verify"} }},
		"no operations": {"an empty list removes all operations", func(k *VaultKey) { k.Spec.KeyOps = []string{} },
			func(k *LiveKey) { k.KeyOps = []string{"sign"} }, func(k *LiveKey) { k.KeyOps = []string{} }},
		"another order": {"the order does not matter", func(k *VaultKey) { k.Spec.KeyOps = []string{"sign", "verify", "sign"} },
			func(k *LiveKey) { k.KeyOps = []string{"verify", "sign"} }, nil},
		"all at once": {"one request changes all fields", func(k *VaultKey) {
			k.Spec.Enabled, k.Spec.Expires, k.Spec.NotBefore, k.Spec.KeyOps = new(false), &day, &day, []string{"wrapKey"}
		}, nil, func(k *LiveKey) { k.Enabled, k.Expires, k.NotBefore, k.KeyOps = false, &day, &day, []string{"wrapKey"} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v, key, c := &vault{live: rsa()}, vaultKey(""), &cloud[*VaultKey]{}
			tc.spec(key)
			if tc.live != nil {
				tc.live(v.live["disk"])
			}
			want := *v.live["disk"]
			sent := []string{"put", "get key", "get key"}
			if tc.want != nil {
				tc.want(&want)
				sent = append(sent, "update")
			}
			ops := slices.Clone(key.Spec.KeyOps)
			r := c.reconciler(VaultKeyExtensions(v))
			out := r.Reconcile(t.Context(), key)
			expectPass(t, tc.reason, out, flow.StateReady, flow.ReasonSucceeded, append(c.take(), v.take()...), append([]string{"get"}, sent...)...)
			if diff := cmp.Diff(&want, v.live["disk"]); diff != "" {
				t.Errorf("%s: the key: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(ops, key.Spec.KeyOps); diff != "" {
				t.Errorf("the spec was changed: -want, +got:\n%s", diff)
			}
			out = r.Reconcile(t.Context(), key)
			expectPass(t, "no field differs in the second pass", out, flow.StateReady, flow.ReasonSucceeded, append(c.take(), v.take()...), "get", "put", "get key", "get key")
		})
	}
}

// TestVaultKeyUpdateFails: a failed change fails the pass, and the next pass
// sends it again. No change is sent while the PUT is under way.
func TestVaultKeyUpdateFails(t *testing.T) {
	v, key := &vault{live: rsa()}, vaultKey("")
	key.Spec.Enabled = new(false)
	c := &cloud[*VaultKey]{puts: []flow.Progress{flow.InProgress("t", 0)}}
	r := c.reconciler(VaultKeyExtensions(v))
	run := func() (flow.Outcome, []string) {
		out := r.Reconcile(t.Context(), key)
		return out, append(c.take(), v.take()...)
	}
	out, calls := run()
	expectPass(t, "the PUT is under way", out, flow.StateInProgress, flow.ReasonInProgress, calls, "get", "put", "get key")
	v.refuses = map[string]error{"update": refuse(403, "Forbidden")}
	out, calls = run()
	expectPass(t, "the vault refuses the change", out, flow.StateFailed, "Forbidden", calls, "put", "get key", "update")
	if out.Link() != "UpdateKey" {
		t.Errorf("%v, want the link UpdateKey", out)
	}
	v.refuses = map[string]error{"get key": errDown}
	out, calls = run()
	expectPass(t, "the vault does not respond", out, flow.StateFailed, out.Reason(), calls, "get", "get key")
	v.refuses = nil
	out, calls = run()
	expectPass(t, "the next pass sends the change", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", "put", "get key", "get key", "update")
	if v.live["disk"].Enabled {
		t.Error("the key is still enabled")
	}
}
