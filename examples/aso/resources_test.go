package aso

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/flow"
)

// errs is the errors of calls, in pairs of a call and its error.
func errs(call string, err error) map[string]error { return map[string]error{call: err} }

// TestKustoDatabaseDelete: a DELETE is sent if the cluster runs, is gone or is
// being deleted. ASO always sends it.
func TestKustoDatabaseDelete(t *testing.T) {
	of := func(provisioning, state *string) checks.Object { return owned(kustoCluster(provisioning, state)) }
	going := of(new("Succeeded"), new("Stopped"))
	going.Deleting = true
	for name, tc := range map[string]struct {
		reason string
		owner  checks.Object
		want   string
	}{
		"Running":     {"Azure can delete it", of(new("Succeeded"), new("Running")), "proceed"},
		"Stopped":     {"Azure refuses the DELETE", of(new("Succeeded"), new("Stopped")), "block ClusterNotRunning"},
		"Updating":    {"Azure refuses the DELETE", of(new("Updating"), new("Running")), "block OwnerState"},
		"NotReported": {"unknown is not ready", of(nil, nil), "block OwnerStateUnknown"},
		"Deleting":    {"the database is deleted with its cluster", going, "proceed"},
		"Gone":        {"the database was deleted with its cluster", owned(nil), "proceed"},
	} {
		req := checkstest.Request(&KustoDatabase{Name: "audit"}, checkstest.OwnedBy(tc.owner), checkstest.Deleting())
		if res := answer(t, KustoDatabaseExtensions().DeleteCheck, req); decision(res) != tc.want {
			t.Errorf("%s: %s: %v, want %s", name, tc.reason, res, tc.want)
		}
	}
}

// TestManagedClustersAgentPool compares a wanted version with that of the
// cluster: the pool's, and the cluster's own.
func TestManagedClustersAgentPool(t *testing.T) {
	const wait, unknown = "block OwnerUnsuitable", "block OwnerStateUnknown"
	cases := map[string]struct{ reason, wants, runs, want string }{
		"the same":          {"the versions are equal", "1.31.2", "1.31.2", "proceed"},
		"an alias":          {"a minor version includes all its patches", "1.31", "1.31.2", "proceed"},
		"a later patch":     {"patches may differ", "1.31.9", "1.31.2", "proceed"},
		"an earlier minor":  {"a pool may be older", "1.30.9", "1.31.2", "proceed"},
		"a later minor":     {"a pool must not be newer", "1.32.0", "1.31.2", wait},
		"a later major":     {"the major version is compared first", "2.0", "1.31.2", wait},
		"space":             {"white space is ignored", " 1.32.0 ", "1.31.2", wait},
		"not set":           {"Azure chooses one that fits", "", "1.31.2", "proceed"},
		"current not known": {"the cluster's version is unknown", "1.31", "", unknown},
		"a bad current one": {"an invalid version does not block", "1.32", "unknown", "proceed"},
	}
	says := map[string]string{wait: "it must be upgraded first", unknown: "has not reported"}
	own := map[string]string{wait: "but its own spec needs", unknown: "has not reported"}
	pool, ext := new("Succeeded"), ManagedClustersAgentPoolExtensions()
	for name, tc := range cases {
		decide(t, always(ext.PreCheck), map[string]row[*ManagedClustersAgentPool]{name: {tc.reason, agentPool(pool, tc.wants),
			world[*ManagedClustersAgentPool]{owner: owned(managedCluster(pool, "", tc.runs))}, tc.want, says[tc.want], ""}})
		res := answer(t, ext.OwnerCheck, checkstest.OwnerRequest(checkstest.OwnedBy(owned(managedCluster(pool, tc.wants, tc.runs)))))
		if decision(res) != tc.want || !strings.Contains(res.Message(), own[tc.want]) {
			t.Errorf("%s: %s: a cluster with its own spec: %v, want %s with %q", name, tc.reason, res, tc.want, own[tc.want])
		}
	}
	decide(t, always(ext.PreCheck), map[string]row[*ManagedClustersAgentPool]{"too new, and not in the cloud": {
		"the PUT that creates it would be refused, too", agentPool(nil, "1.32"),
		world[*ManagedClustersAgentPool]{absent: true, owner: owned(managedCluster(pool, "", "1.31.2"))}, wait, "the pool needs 1.32", ""}})
}

func sqlDatabase(fixed, autoscale bool) *SQLDatabase {
	db := &SQLDatabase{Name: "carts"}
	db.Spec.Options = &struct {
		Throughput        *int
		AutoscaleSettings *struct{ MaxThroughput *int }
	}{}
	if fixed {
		db.Spec.Options.Throughput = new(400)
	}
	if autoscale {
		db.Spec.Options.AutoscaleSettings = &struct{ MaxThroughput *int }{new(4000)}
	}
	return db
}

func TestSQLDatabase(t *testing.T) {
	type in = world[*SQLDatabase]
	fixed, auto := sqlDatabase(true, false), sqlDatabase(false, true)
	pending := func(s string) in { return in{throughput: Throughput{OfferReplacePending: &s}} }
	scaled := in{throughput: Throughput{Autoscale: true}}
	const migrating, busy = "block ThroughputMigrating", "block ThroughputPending"
	decide(t, func(w *in) checks.Chain[*SQLDatabase] { return SQLDatabaseExtensions(w).PreCheck }, map[string]row[*SQLDatabase]{
		"fixed, as wanted":         {"the mode is the wanted one", fixed, in{}, "proceed", "", "throughput"},
		"autoscale, as wanted":     {"the mode is the wanted one", auto, scaled, "proceed", "", "throughput"},
		"fixed, autoscale wanted":  {"a PUT cannot change the mode", auto, in{}, migrating, "", "throughput, migrate to autoscale"},
		"autoscale, fixed wanted":  {"a PUT cannot change the mode", fixed, scaled, migrating, "", "throughput, migrate to fixed"},
		"pending":                  {"Azure refuses other requests during a change", auto, pending("true"), busy, "Azure changes the throughput", "throughput"},
		"pending perhaps":          {"an unknown value counts as pending", fixed, pending("queued"), busy, "", "throughput"},
		"not pending":              {"case and white space do not matter", fixed, pending(" False "), "proceed", "", "throughput"},
		"pending is blank":         {"a blank value is not reported", fixed, pending(""), "proceed", "", "throughput"},
		"no throughput of its own": {"no mode to change", auto, in{errs: errs("throughput", refuse(404, "NotFound"))}, "proceed", "", "throughput"},
		"migration of nothing": {"a database that is gone between two requests is an error", auto, in{errs: errs("migrate", refuse(404, "NotFound"))}, "fail", "",
			"throughput, migrate to autoscale"},
		"nothing wanted":   {"Azure chooses the mode", sqlDatabase(false, false), in{}, "proceed", "", ""},
		"not in the cloud": {"the PUT creates the database with the wanted mode", auto, in{absent: true}, "proceed", "", ""},
	})
	w := &in{} // without a Get the database may exist
	res, err := checks.Compose(SQLDatabaseExtensions(w).PreCheck)(t.Context(), &checks.Request[*SQLDatabase]{Resource: auto})
	if err != nil || res.Reason() != "ThroughputMigrating" {
		t.Errorf("%v, %v after %q: want a migration of a database of unknown presence", res, err, w.calls)
	}
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
	type in = world[*VaultKey]
	wants := func(change func(*VaultKey)) *VaultKey {
		k := vaultKey("")
		change(k)
		return k
	}
	key, recovers, purges, deleted := vaultKey(""), vaultKey(WhenDeletedRecover), vaultKey(WhenDeletedPurge), in{deleted: rsa()}
	refused := func(call string, err error) in { return in{deleted: rsa(), errs: errs(call, err)} }
	const created, immutable = "key, deleted", "block KeyImmutable on change"
	decide(t, func(w *in) checks.Chain[*VaultKey] { return VaultKeyExtensions(w).PreCheck }, map[string]row[*VaultKey]{
		"no key":               {"the PUT creates it", key, in{}, "proceed", "", created},
		"the key":              {"the key exists", key, in{live: rsa()}, "proceed", "", "key"},
		"no vault":             {"the vault may be created later", key, in{errs: errs("open", refuse(404, "ResourceNotFound"))}, "block VaultNotFound", "the vault of the key was not found", ""},
		"vault refuses":        {"the vault is unknown", key, in{errs: errs("open", refuse(403, "Forbidden"))}, "fail", "RESPONSE 403", ""},
		"get refused":          {"the key is unknown", key, in{live: rsa(), errs: errs("key", refuse(403, "Forbidden"))}, "fail", "RESPONSE 403", "key"},
		"other type":           {"the type cannot change", wants(func(k *VaultKey) { k.Spec.Kty = new("EC") }), in{live: rsa()}, immutable, "type RSA", "key"},
		"other size":           {"the size cannot change", wants(func(k *VaultKey) { k.Spec.KeySize = new(4096) }), in{live: rsa()}, immutable, "2048 bits", "key"},
		"other curve":          {"the curve cannot change", wants(func(k *VaultKey) { k.Spec.Curve = new("P-256") }), in{live: rsa()}, immutable, "become P-256", "key"},
		"nil fields":           {"Azure chooses nil fields", &VaultKey{Name: "disk"}, in{live: rsa()}, "proceed", "", "key"},
		"recover":              {"the recovery takes a while", recovers, deleted, "block KeyRecovering", "", "key, deleted, recover"},
		"purge":                {"the purge takes a while", purges, deleted, "block KeyPurging", "", "key, deleted, purge"},
		"neither":              {"a person has to choose", key, deleted, "block KeyDeleted on change", "", "key, deleted"},
		"purge, there":         {"an existing key is never purged", purges, in{live: rsa(), deleted: rsa()}, "proceed", "", "key"},
		"recover refused":      {"the recovery did not begin", recovers, refused("recover", refuse(403, "Forbidden")), "fail", "", "key, deleted, recover"},
		"recover is under way": {"an earlier pass began it", recovers, refused("recover", refuse(409, "Conflict")), "block KeyRecovering", "", "key, deleted, recover"},
	})
	w := &in{owner: owned("the vault"), errs: errs("open", refuse(404, "ResourceNotFound"))}
	res, _ := w.ask(t.Context(), VaultKeyExtensions(w).PreCheck, key)
	if diff := cmp.Diff([]checks.Ref{ownerRef}, res.WaitingFor()); diff != "" {
		t.Errorf("a key without a vault waits for the vault: -want, +got:\n%s", diff)
	}
}

// TestVaultKeyUpdate: the link sends a change after the PUT if a field differs.
func TestVaultKeyUpdate(t *testing.T) {
	type in = world[*VaultKey]
	day := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	elsewhere := day.In(time.FixedZone("", 7200))
	refused := func(call string, status int, code string) in { return in{errs: errs(call, refuse(status, code))} }
	disable := func(k *VaultKey, _ *LiveKey) { k.Spec.Enabled = new(false) }
	const same, updated = "ready: Succeeded by : put, key", "ready: Succeeded by : put, key, update"
	cases := map[string]struct {
		reason string
		in     in
		differ func(*VaultKey, *LiveKey)
		want   string
		change KeyChange // the last request
	}{
		"nil fields": {"Azure chooses nil fields", in{}, func(_ *VaultKey, l *LiveKey) { l.KeyOps, l.Expires = []string{"sign"}, &day }, same, KeyChange{}},
		"the same": {"no field differs", in{}, func(k *VaultKey, l *LiveKey) {
			k.Spec.Enabled, k.Spec.NotBefore, k.Spec.Expires, l.NotBefore, l.Expires = new(true), &day, &day, &elsewhere, &elsewhere
		}, same, KeyChange{}},
		"disabled": {"the key is disabled", in{}, disable, updated, KeyChange{Enabled: new(false)}},
		"begins":   {"the key had no begin", in{}, func(k *VaultKey, _ *LiveKey) { k.Spec.NotBefore = &day }, updated, KeyChange{NotBefore: &day}},
		"expires":  {"the key had no end", in{}, func(k *VaultKey, _ *LiveKey) { k.Spec.Expires = &day }, updated, KeyChange{Expires: &day}},
		"extended": {"the key ends earlier", in{}, func(k *VaultKey, l *LiveKey) { k.Spec.Expires, l.Expires = &day, new(day.Add(-1)) }, updated, KeyChange{Expires: &day}},
		"operations": {"an additional operation", in{}, func(k *VaultKey, l *LiveKey) { k.Spec.KeyOps, l.KeyOps = []string{"sign", "verify"}, []string{"sign"} },
			updated, KeyChange{KeyOps: []string{"sign", "verify"}}},
		"another order": {"the order does not matter", in{}, func(k *VaultKey, l *LiveKey) {
			k.Spec.KeyOps, l.KeyOps = []string{"verify", "sign", "verify"}, []string{"sign", "verify"}
		}, same, KeyChange{}},
		"under way": {"no change is sent while the PUT is under way", in{underWay: true}, disable, "in progress: InProgress by : put", KeyChange{}},
		"refused":   {"the vault refuses the change", refused("update", 403, "Forbidden"), disable, "failed: Forbidden by UpdateKey: put, key, update", KeyChange{Enabled: new(false)}},
		"no vault":  {"the vault is gone after the PUT", refused("open", 404, "VaultGone"), disable, "failed: VaultGone by UpdateKey: put", KeyChange{}},
		"no key":    {"the key is gone after the PUT", refused("key", 404, "KeyGone"), disable, "failed: KeyGone by UpdateKey: put, key", KeyChange{}},
	}
	for name, tc := range cases {
		w, key := tc.in, vaultKey("")
		w.live = rsa()
		tc.differ(key, w.live["disk"])
		out := w.pass(t.Context(), flow.Extensions[*VaultKey]{Apply: VaultKeyExtensions(&w).Apply}, key)
		got := fmt.Sprintf("%s: %s by %s: %s", out.State(), out.Reason(), out.Link(), strings.Join(w.calls, ", "))
		if diff := cmp.Diff([]any{tc.want, tc.change}, []any{got, w.change}); diff != "" {
			t.Errorf("%s: %s: -want, +got:\n%s", name, tc.reason, diff)
		}
	}
}

// endpoint returns an endpoint with a manual connection for each state, named
// pe-1, pe-2, ... Its spec has wanted connections.
func endpoint(wanted int, states ...string) *PrivateEndpoint {
	e := &PrivateEndpoint{Name: "pe"}
	e.Spec.ManualPrivateLinkServiceConnections = make([]struct{ Name string }, wanted)
	for i, state := range states {
		e.Status.ManualPrivateLinkServiceConnections = append(e.Status.ManualPrivateLinkServiceConnections, PrivateLinkServiceConnection{
			ID: new(fmt.Sprintf("pe-%d", i+1)), PrivateLinkServiceConnectionState: &struct{ Status, Description *string }{Status: &state}})
	}
	return e
}

func TestPrivateEndpoint(t *testing.T) {
	type in = world[*PrivateEndpoint]
	with := func(state string, change func(*PrivateLinkServiceConnection)) *PrivateEndpoint {
		e := endpoint(1, state)
		change(&e.Status.ManualPrivateLinkServiceConnections[0])
		return e
	}
	noState := with("x", func(c *PrivateLinkServiceConnection) { c.PrivateLinkServiceConnectionState = nil })
	noStatus := with("x", func(c *PrivateLinkServiceConnection) { c.PrivateLinkServiceConnectionState.Status = nil })
	noID := func(state string) *PrivateEndpoint {
		return with(state, func(c *PrivateLinkServiceConnection) { c.ID = nil })
	}
	described := with("Rejected", func(c *PrivateLinkServiceConnection) {
		c.PrivateLinkServiceConnectionState.Description = new("not in this network")
	})
	const rejected, absent = "block ApprovalRejected on change", "block ApprovalAbsent"
	decide(t, always(PrivateEndpointExtensions().PostCheck), map[string]row[*PrivateEndpoint]{
		"none":              {"no connection needs approval", endpoint(0), in{}, "proceed", "", ""},
		"spelled otherwise": {"case and white space do not matter", endpoint(2, "approved", " APPROVED "), in{}, "proceed", "", ""},
		"pending":           {"a person has to approve it", endpoint(1, "Pending"), in{}, "block ApprovalPending", "pe-1", ""},
		"rejected":          {"a retry does not help", endpoint(1, "Rejected"), in{}, rejected, "pe-1 was rejected", ""},
		"a new word":        {"an unknown state is not approved", endpoint(1, "Reviewing"), in{}, "block ApprovalUnknown", "Reviewing", ""},
		"blank":             {"a blank state is not reported", endpoint(1, ""), in{}, absent, "pe-1", ""},
		"status nil":        {"the state is not reported", noStatus, in{}, absent, "pe-1", ""},
		"state nil":         {"the state is not reported", noState, in{}, absent, "pe-1", ""},
		"ID nil":            {"the index names the connection", noID("Pending"), in{}, "block ApprovalPending", "connection 1 of 1", ""},
		"description":       {"the message has the person's description", described, in{}, rejected, "not in this network", ""},
		"one not reported":  {"the spec has two connections, the status one", endpoint(2, "Approved"), in{}, absent, "connection 2 of 2", ""},
	})
	shared := make([]PrivateLinkServiceConnection, 1, 2)
	shared[:2][1].ID = new("another connection")
	e := endpoint(2)
	e.Status.ManualPrivateLinkServiceConnections = shared
	if e.manual(); shared[:2][1].ID == nil {
		t.Error("manual writes into the array of the status")
	}
}

// TestVirtualNetworksSubnet: the link shortens the status at the end of every
// pass, and changes no outcome.
func TestVirtualNetworksSubnet(t *testing.T) {
	cases := map[string]struct {
		reason string
		check  checks.Result // before the PUT
		state  flow.State
	}{
		"ready":          {"the status is written", checks.Proceed(), flow.StateReady},
		"stopped before": {"the status is written after a block, too", checks.Block("Busy", "later"), flow.StateBlocked},
	}
	for name, tc := range cases {
		for found, want := range map[int]int{0: 0, 2000: 2000, 2001: 0, 60000: 0} {
			ext := VirtualNetworksSubnetExtensions()
			ext.PreCheck = chain.New(checks.Check("other", func(_ context.Context, req *checks.Request[*VirtualNetworksSubnet]) (checks.Result, error) {
				req.Resource.Status.IPConfigurations = make([]IPConfiguration, found)
				return tc.check, nil
			}))
			s := &VirtualNetworksSubnet{Name: "pods"}
			s.Status.ProvisioningState = new("Succeeded")
			out := (&world[*VirtualNetworksSubnet]{}).pass(t.Context(), ext, s)
			if got := len(s.Status.IPConfigurations); out.State() != tc.state || got != want || s.Status.ProvisioningState == nil {
				t.Errorf("%s: %s: %v, %d of %d addresses remain, want %s and %d", name, tc.reason, out, got, found, tc.state, want)
			}
		}
	}
}

const someGUID = "01234567-89ab-cdef-0123-456789ABCDEF"

func opened(status string) []Connection {
	return []Connection{{ID: "c0", Name: "sales-eu-" + someGUID, Status: "Odd"}, {ID: "c1", Name: "sales-" + someGUID, Status: status}}
}

func sharedLink(to checks.Ref) *SharedPrivateLink {
	l := &SharedPrivateLink{Name: "sales"}
	l.Spec.PrivateLinkResource = to
	return l
}

// finds returns a resolver with one result.
func finds(value any, id string, err error) checks.Resolver {
	return func(_ context.Context, ref checks.Ref) (checks.Object, error) {
		ref.ID = id
		return checks.Object{Ref: ref, Value: value}, err
	}
}

func TestSharedPrivateLink(t *testing.T) {
	type in = world[*SharedPrivateLink]
	server := checks.Ref{Kind: "Server", Name: "sales"}
	link, there := sharedLink(server), finds("the server", "/servers/sales", nil)
	with := func(status string) in { return in{resolver: there, links: opened(status)} }
	failing := func(call string, err error) in {
		return in{resolver: there, links: opened("Pending"), errs: errs(call, err)}
	}
	polled := func(ended bool, err error) in {
		return in{resolver: there, links: opened("Pending"), token: "approval", ended: ended, errs: errs("poll", err)}
	}
	others := []Connection{{ID: "c2", Name: "sales-eu-" + someGUID, Status: "Approved"}, {ID: "c3", Name: "sales", Status: "Approved"}, {ID: "c5", Name: someGUID, Status: "Approved"},
		{ID: "c4", Name: "sales-" + someGUID + "0", Status: "Approved"}}
	const list, approve, waits = "list /servers/sales", "list /servers/sales, approve c1", "block ApprovalPending"
	links := func(w *in) checks.Chain[*SharedPrivateLink] { return SharedPrivateLinkExtensions(w).PostCheck }
	both := func(status, other string) in {
		return in{resolver: there, links: append(opened(other), opened(status)...)}
	}
	rows := map[string]row[*SharedPrivateLink]{
		"two, approved":               {"one of them is its own", link, both("Approved", "Approved"), "proceed", "", list},
		"two, pending":                {"the other one may be of another watcher's link", link, both("Pending", "Pending"), "block ApprovalUnknown", "is one of 2 that may be of this link, and sales-" + someGUID + " is Pending; approve or delete each of them", list},
		"two, own pending":            {"the approved one may be of another link", link, both("Pending", "Approved"), "block ApprovalUnknown", "", list},
		"approved":                    {"the connection is approved", link, with("Approved"), "proceed", "", list},
		"approved, spelled otherwise": {"case and white space do not matter", link, with(" APPROVED "), "proceed", "", list},
		"pending":                     {"the gate approves a pending connection", link, with("Pending"), waits, "the connection to Server sales is being approved", approve + ", store approval"},
		"rejected":                    {"a person rejected it", link, with("Rejected"), "block ApprovalRejected on change", "was rejected", list},
		"a new word":                  {"only a pending connection is approved", link, with("Reviewing"), "block ApprovalUnknown", "is in state Reviewing; waiting for Pending or Approved", list},
		"blank":                       {"only a pending connection is approved", link, with(""), "block ApprovalAbsent", "", list},
		"none yet":                    {"Azure opens the connection after the PUT", link, in{resolver: there}, "block ApprovalAbsent", "does not exist yet: waiting for Azure", list},
		"another link's":              {"sales-eu is another link", link, in{resolver: there, links: others}, "block ApprovalAbsent", "", list},
		"may not approve":             {"a person has to approve it", link, failing("approve", refuse(403, "AuthorizationFailed")), waits, "must be approved by a person", approve},
		"token not stored":            {"without the token it would be approved again", link, failing("store", errDown), "fail", "", approve + ", store approval"},
		"under way":                   {"the operation is polled", link, polled(false, nil), waits, "the connection to Server sales is being approved", "poll approval"},
		"under way, no answer":        {"the operation may continue", link, polled(false, errDown), "fail", "", "poll approval"},
		"unknown to Azure":            {"it would be polled for ever", link, polled(false, refuse(404, "OperationNotFound")), "fail", "", "poll approval, forget"},
		"done":                        {"the connection decides", link, polled(true, nil), waits, "", "poll approval, forget, " + approve + ", store approval"},
		"not forgotten": {"a token that cannot be removed is an error", link,
			in{resolver: there, links: opened("Approved"), token: "approval", ended: true, errs: errs("store", errDown)}, "fail", "", "poll approval, forget"},
		"by ID":            {"the target is not reconciled here", sharedLink(checks.Ref{ID: "/servers/x"}), with("Pending"), "proceed", "", ""},
		"to nothing":       {"Azure explains the missing target", sharedLink(checks.Ref{}), with("Pending"), "proceed", "", ""},
		"not found":        {"the target may be created later", link, in{resolver: finds(nil, "", nil)}, "block ReferenceNotFound", "Server sales was not found: waiting until it is created", ""},
		"not in Azure yet": {"the target has no ID", link, in{resolver: finds("x", "", nil)}, "block ReferenceNotReady", "Server sales has no ID in Azure yet: waiting until it is created there", ""},
		"resolver fails":   {"the target is unknown", link, in{resolver: finds(nil, "", errDown)}, "fail", "connection is down", ""},
		"no resolver":      {"the target cannot be resolved", link, in{}, "fail", checks.ErrNoResolver.Error(), ""},
	}
	decide(t, links, rows)
	for _, name := range []string{"not found", "not in Azure yet"} {
		w := rows[name].in
		res, _ := w.ask(t.Context(), links(&w), link)
		if diff := cmp.Diff([]checks.Ref{server}, res.WaitingFor()); diff != "" {
			t.Errorf("%s: awaited objects: -want, +got:\n%s", name, diff)
		}
	}
	// A token is stored and removed even after the context ends.
	for _, token := range []string{"", "approval"} {
		ctx, cancel := context.WithCancel(t.Context())
		w := in{resolver: there, links: opened("Pending"), token: token, ended: true, cancel: cancel}
		w.errs = errs("list", map[bool]error{true: errDown}[token != ""])
		if _, _ = w.ask(ctx, links(&w), link); w.token == token {
			t.Errorf("the token is still %q after %q", token, w.calls)
		}
	}
}

func watcher() *Watcher {
	w := &Watcher{Name: "w"}
	w.Spec.Datastore = new("kusto")
	return w
}

func TestTarget(t *testing.T) {
	type in = world[*Target]
	target := &Target{Name: "sales"}
	state := func(state string) in { return in{owner: owned(watcher()), state: state} }
	failing := func(call string, err error) in {
		return in{owner: owned(watcher()), state: "Stopped", errs: errs(call, err)}
	}
	polled := func(state string, ended bool, err error) in {
		return in{owner: owned(watcher()), state: state, token: "start", ended: ended, errs: errs("poll", err)}
	}
	const waits = "block WatcherNotRunning"
	targets := func(w *in) checks.Chain[*Target] { return TargetExtensions(w).PostCheck }
	decide(t, targets, map[string]row[*Target]{
		"running":             {"the watcher runs", target, state("Running"), "proceed", "", "state"},
		"spelled otherwise":   {"case and white space do not matter", target, state(" RUNNING "), "proceed", "", "state"},
		"stopped":             {"Azure creates each watcher stopped", target, state("Stopped"), waits, "Owner prod does not run yet; its targets are not watched", "state, start, store start"},
		"starting":            {"only a stopped watcher is started", target, state("Starting"), waits, "", "state"},
		"started at once":     {"the next pass reads the state", target, in{owner: owned(watcher()), state: "Stopped", atOnce: true}, waits, "", "state, start"},
		"cannot be started":   {"the start did not begin", target, failing("start", refuse(409, "Conflict")), "fail", "", "state, start"},
		"nowhere to write to": {"Azure refuses to start it", target, in{owner: owned(&Watcher{}), state: "Stopped"}, "block WatcherWithoutDatastore", "cannot start without a datastore; set its datastore", "state"},
		"under way":           {"the operation is polled, whatever the state is", target, polled("Running", false, nil), waits, "", "poll start"},
		"started":             {"the end of the operation counts, not the state", target, polled("Stopped", true, nil), "proceed", "", "poll start, forget"},
		"owner by ID":         {"the watcher is not reconciled here", target, in{owner: checks.Object{Ref: checks.Ref{ID: "/watchers/w"}}, state: "Stopped"}, "proceed", "", ""},
	})
	// The gate's chain checks the owner again: the owner check does not run while
	// an operation is polled. Package checks tests all owners.
	wrong := owned(&ManagedCluster{})
	decide(t, targets, map[string]row[*Target]{
		"another kind": {"the ref names an object of another kind", target, in{owner: wrong, state: "Running"}, "block OwnerWrongKind on change", "", ""},
		"none":         {"a target needs a watcher", target, in{state: "Running"}, "block OwnerNotSet very slow", "", ""},
	})
	if res := answer(t, TargetExtensions(nil).OwnerCheck, checkstest.OwnerRequest(checkstest.OwnedBy(wrong))); decision(res) != "block OwnerWrongKind on change" {
		t.Errorf("another kind before the PUT: %v", res)
	}
}

func TestBackupVaultsBackupInstance(t *testing.T) {
	type in = world[*BackupVaultsBackupInstance]
	const (
		syncs, unsettled, user = "block ProtectionSyncing", "block ProtectionNotSettled", "UserErrorMissingPermissions"
	)
	status := func(state, code string) *BackupVaultsBackupInstance { return backup(&state, code) }
	withoutID := func(b *BackupVaultsBackupInstance) *BackupVaultsBackupInstance { b.Status.ID = nil; return b }
	bare, none := status("ProtectionError", "x"), status("x", "")
	bare.Status.Properties.ProtectionStatus.ErrorDetails.Code, none.Status.Properties.ProtectionStatus = nil, nil
	mistaken, byARMID := status("ProtectionError", user), in{owner: checks.Object{Ref: checks.Ref{ID: "/backupVaults/prod"}}}
	polled := func(ended bool, err error) in { return in{token: "sync", ended: ended, errs: errs("poll", err)} }
	decide(t, func(w *in) checks.Chain[*BackupVaultsBackupInstance] {
		return BackupVaultsBackupInstanceExtensions(w).PostCheck
	}, map[string]row[*BackupVaultsBackupInstance]{
		"protection nil":              {"no status is reported", none, in{}, unsettled, "", ""},
		"details nil":                 {"an error may have no details", status("ProtectionError", ""), in{}, unsettled, "", ""},
		"code nil":                    {"without a code it is not a user error", bare, in{}, unsettled, "", ""},
		"another's error":             {"neither the user nor a sync can fix it", status("ProtectionError", "InternalError"), in{}, unsettled, "", ""},
		"ID nil, user error":          {"a sync needs an ID", withoutID(status("ProtectionError", user)), in{}, unsettled, "ProtectionError", ""},
		"owner by ARM ID, user error": {"a sync needs nothing of the vault", mistaken, byARMID, syncs, "", "sync, store sync"},
		"user error":                  {"Azure validates the instance again", mistaken, in{}, syncs, "", "sync, store sync"},
		"user error, otherwise":       {"case and white space do not matter", status(" protectionERROR\n", "bmsusererrorx"), in{}, syncs, "", "sync, store sync"},
		"synced at once":              {"the next pass reads the state", mistaken, in{atOnce: true}, syncs, "", "sync"},
		"refused":                     {"the sync did not begin", mistaken, in{errs: errs("sync", refuse(409, "Conflict"))}, "fail", "RESPONSE 409", "sync"},
		"under way, and settled":      {"the operation is polled, whatever the state is", status("ProtectionConfigured", ""), polled(false, nil), syncs, "", "poll sync"},
		"done":                        {"the state is older than the sync; the next pass reads it", mistaken, polled(true, nil), syncs, "", "poll sync, forget"},
	})
}
