package aso

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// errs is the errors of calls, in pairs of a call and its error.
func errs(call string, err error) map[string]error { return map[string]error{call: err} }

// TestKustoDatabaseDelete: a DELETE is sent if the cluster runs, is gone or is
// being deleted. ASO always sends it.
func TestKustoDatabaseDelete(t *testing.T) {
	running, notRunning := kustoCluster(new("Succeeded"), new("Running")), kustoCluster(new("Succeeded"), new("Stopped"))
	going := owned(notRunning)
	going.Deleting = true
	cases := map[string]struct {
		reason string
		owner  checks.Object
		want   string
	}{
		"Running":     {"Azure can delete it", owned(running), "sent"},
		"Stopped":     {"Azure refuses the DELETE", owned(notRunning), "blocks ClusterNotRunning"},
		"Updating":    {"Azure refuses the DELETE", owned(kustoCluster(new("Updating"), new("Running"))), "blocks OwnerState"},
		"NotReported": {"unknown is not ready", owned(kustoCluster(nil, nil)), "blocks OwnerStateUnknown"},
		"Deleting":    {"the database is deleted with its cluster", going, "sent"},
		"Gone":        {"the database was deleted with its cluster", owned(nil), "sent"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &world[*KustoDatabase]{deleting: true, owner: tc.owner}
			out := w.pass(t.Context(), KustoDatabaseExtensions(), &KustoDatabase{Name: "audit"})
			got, calls := "sent", []string{"delete"}
			if out.State() != flow.StateGone {
				got, calls = decision(t, flow.PointDeleteCheck, out), nil
			}
			if diff := cmp.Diff(calls, w.calls); diff != "" || got != tc.want {
				t.Errorf("%s: %v is %q, want %q; calls: -want, +got:\n%s", tc.reason, out, got, tc.want, diff)
			}
		})
	}
}

// TestManagedClustersAgentPool compares a wanted version with that of the
// cluster: the pool's, and the cluster's own.
func TestManagedClustersAgentPool(t *testing.T) {
	const wait, unknown = "blocks OwnerUnsuitable", "blocks OwnerStateUnknown"
	cases := map[string]struct{ reason, wants, runs, want string }{
		"the same":          {"the versions are equal", "1.31.2", "1.31.2", "proceeds"},
		"an alias":          {"a minor version includes all its patches", "1.31", "1.31.2", "proceeds"},
		"a later patch":     {"patches may differ", "1.31.9", "1.31.2", "proceeds"},
		"an earlier minor":  {"a pool may be older", "1.30.9", "1.31.2", "proceeds"},
		"a later minor":     {"a pool must not be newer", "1.32.0", "1.31.2", wait},
		"a later major":     {"the major version is compared first", "2.0", "1.31.2", wait},
		"space":             {"white space is ignored", " 1.32.0 ", "1.31.2", wait},
		"not set":           {"Azure chooses one that fits", "", "1.31.2", "proceeds"},
		"current not known": {"the cluster's version is unknown", "1.31", "", unknown},
		"a bad current one": {"an invalid version does not block", "1.32", "unknown", "proceeds"},
	}
	says := map[string]string{wait: "it must be upgraded first", unknown: "has not reported"}
	own := map[string]string{wait: "but its own spec needs", unknown: "has not reported"}
	pool, ext := new("Succeeded"), without(ManagedClustersAgentPoolExtensions())
	for name, tc := range cases {
		decide(t, flow.PointPreCheck, ext, map[string]row[*ManagedClustersAgentPool]{name: {tc.reason, agentPool(pool, tc.wants),
			world[*ManagedClustersAgentPool]{owner: owned(managedCluster(pool, "", tc.runs))}, tc.want, says[tc.want], ""}})
		decide(t, flow.PointOwnerCheck, ext, map[string]row[*ManagedClustersAgentPool]{name: {tc.reason, agentPool(pool, ""),
			world[*ManagedClustersAgentPool]{owner: owned(managedCluster(pool, tc.wants, tc.runs))}, tc.want, own[tc.want], ""}})
	}
	decide(t, flow.PointPreCheck, ext, map[string]row[*ManagedClustersAgentPool]{"too new, and not in the cloud": {
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
	const migrating, busy = "blocks ThroughputMigrating", "blocks ThroughputPending"
	decide(t, flow.PointPreCheck, func(w *in) flow.Extensions[*SQLDatabase] { return SQLDatabaseExtensions(w) }, map[string]row[*SQLDatabase]{
		"fixed, as wanted":         {"the mode is the wanted one", fixed, in{}, "proceeds", "", "throughput"},
		"autoscale, as wanted":     {"the mode is the wanted one", auto, scaled, "proceeds", "", "throughput"},
		"fixed, autoscale wanted":  {"a PUT cannot change the mode", auto, in{}, migrating, "", "throughput, migrate to autoscale"},
		"autoscale, fixed wanted":  {"a PUT cannot change the mode", fixed, scaled, migrating, "", "throughput, migrate to fixed"},
		"pending":                  {"Azure refuses other requests during a change", auto, pending("true"), busy, "Azure changes the throughput", "throughput"},
		"pending perhaps":          {"an unknown value counts as pending", fixed, pending("queued"), busy, "", "throughput"},
		"pending is blank":         {"a blank value is not reported", fixed, pending(""), "proceeds", "", "throughput"},
		"no throughput of its own": {"no mode to change", auto, in{errs: errs("throughput", refuse(404, "NotFound"))}, "proceeds", "", "throughput"},
		"migration of nothing": {"a database that is gone between two requests is an error", auto, in{errs: errs("migrate", refuse(404, "NotFound"))}, "fails", "",
			"throughput, migrate to autoscale"},
		"nothing wanted":   {"Azure chooses the mode", sqlDatabase(false, false), in{}, "proceeds", "", ""},
		"not in the cloud": {"the PUT creates the database with the wanted mode", auto, in{absent: true}, "proceeds", "", ""},
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

func vaultExtensions(w *world[*VaultKey]) flow.Extensions[*VaultKey] { return VaultKeyExtensions(w) }

func TestVaultKey(t *testing.T) {
	type in = world[*VaultKey]
	wants := func(change func(*VaultKey)) *VaultKey {
		k := vaultKey("")
		change(k)
		return k
	}
	key, recovers, purges, deleted := vaultKey(""), vaultKey(WhenDeletedRecover), vaultKey(WhenDeletedPurge), in{deleted: rsa()}
	refused := func(call string, err error) in { return in{deleted: rsa(), errs: errs(call, err)} }
	const created, immutable = "key, deleted, put, key", "blocks KeyImmutable on change"
	decide(t, flow.PointPreCheck, vaultExtensions, map[string]row[*VaultKey]{
		"no key":               {"the PUT creates it", key, in{}, "proceeds", "", created},
		"the key":              {"the key exists", key, in{live: rsa()}, "proceeds", "", "key, put, key"},
		"no vault":             {"the vault may be created later", key, in{errs: errs("open", refuse(404, "ResourceNotFound"))}, "blocks VaultNotFound", "", ""},
		"vault refuses":        {"the vault is unknown", key, in{errs: errs("open", refuse(403, "Forbidden"))}, "fails", "HTTP 403", ""},
		"get refused":          {"the key is unknown", key, in{live: rsa(), errs: errs("key", refuse(403, "Forbidden"))}, "fails", "HTTP 403", "key"},
		"other type":           {"the type cannot change", wants(func(k *VaultKey) { k.Spec.Kty = new("EC") }), in{live: rsa()}, immutable, "type RSA", "key"},
		"other curve":          {"the curve cannot change", wants(func(k *VaultKey) { k.Spec.Curve = new("P-256") }), in{live: rsa()}, immutable, "become P-256", "key"},
		"nil fields":           {"Azure chooses nil fields", &VaultKey{Name: "disk"}, in{live: rsa()}, "proceeds", "", "key, put, key"},
		"recover":              {"the recovery takes a while", recovers, deleted, "blocks KeyRecovering", "", "key, deleted, recover"},
		"purge":                {"the purge takes a while", purges, deleted, "blocks KeyPurging", "", "key, deleted, purge"},
		"neither":              {"a person has to choose", key, deleted, "blocks KeyDeleted on change", "", "key, deleted"},
		"purge, there":         {"an existing key is never purged", purges, in{live: rsa(), deleted: rsa()}, "proceeds", "", "key, put, key"},
		"recover refused":      {"the recovery did not begin", recovers, refused("recover", refuse(403, "Forbidden")), "fails", "", "key, deleted, recover"},
		"recover is under way": {"an earlier pass began it", recovers, refused("recover", refuse(409, "Conflict")), "blocks KeyRecovering", "", "key, deleted, recover"},
	})
	w := &in{owner: owned("the vault"), errs: errs("open", refuse(404, "ResourceNotFound"))}
	out := w.pass(t.Context(), VaultKeyExtensions(w), key)
	if diff := cmp.Diff([]checks.Ref{ownerRef}, out.WaitingFor()); diff != "" {
		t.Errorf("a key without a vault waits for the vault: -want, +got:\n%s", diff)
	}
}

// TestVaultKeyUpdate: the link sends a change after the PUT if a field differs.
func TestVaultKeyUpdate(t *testing.T) {
	day := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	elsewhere := day.In(time.FixedZone("", 7200))
	type spec = func(*VaultKey)
	type live = func(*LiveKey)
	cases := map[string]struct {
		reason string
		spec   spec
		live   live
		want   live // the change; nil: no request
	}{
		"nil fields": {"Azure chooses nil fields", func(*VaultKey) {}, func(k *LiveKey) { k.KeyOps, k.Expires = []string{"sign"}, &day }, nil},
		"the same": {"no field differs", func(k *VaultKey) { k.Spec.Enabled, k.Spec.NotBefore, k.Spec.Expires = new(true), &day, &day },
			func(k *LiveKey) { k.NotBefore, k.Expires = &elsewhere, &elsewhere }, nil},
		"disabled": {"the key is disabled", func(k *VaultKey) { k.Spec.Enabled = new(false) }, func(*LiveKey) {}, func(k *LiveKey) { k.Enabled = false }},
		"expires":  {"the key had no end", func(k *VaultKey) { k.Spec.Expires = &day }, func(*LiveKey) {}, func(k *LiveKey) { k.Expires = &day }},
		"operations": {"an additional operation", func(k *VaultKey) { k.Spec.KeyOps = []string{"sign", "verify"} }, func(k *LiveKey) { k.KeyOps = []string{"sign"} },
			func(k *LiveKey) { k.KeyOps = []string{"sign", "verify"} }},
		"another order": {"the order does not matter", func(k *VaultKey) { k.Spec.KeyOps = []string{"verify", "sign", "verify"} },
			func(k *LiveKey) { k.KeyOps = []string{"sign", "verify"} }, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, key := &world[*VaultKey]{live: rsa()}, vaultKey("")
			tc.spec(key)
			tc.live(w.live["disk"])
			want, calls, ops := *w.live["disk"], []string{"get", "key", "put", "key"}, slices.Clone(key.Spec.KeyOps)
			if tc.want != nil {
				tc.want(&want)
				calls = append(calls, "update")
			}
			out := w.pass(t.Context(), VaultKeyExtensions(w), key)
			if diff := cmp.Diff([]any{flow.StateReady, calls, &want, ops}, []any{out.State(), w.calls, w.live["disk"], key.Spec.KeyOps}); diff != "" {
				t.Errorf("%s: state, calls, key, and operations of the spec: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	fails := map[string]struct {
		reason string
		in     world[*VaultKey]
		want   string
	}{
		"under way": {"no change is sent while the PUT is under way", world[*VaultKey]{underWay: true}, "in progress: InProgress by : get, key, put"},
		"refused":   {"the vault refuses the change", world[*VaultKey]{errs: errs("update", refuse(403, "Forbidden"))}, "failed: Forbidden by UpdateKey: get, key, put, key, update"},
		"no vault": {"the vault is gone after the PUT", world[*VaultKey]{later: errs("open", refuse(404, "VaultGone"))},
			"failed: VaultGone by UpdateKey: get, key, put"},
		"no key": {"the key is gone after the PUT", world[*VaultKey]{later: errs("key", refuse(404, "KeyGone"))},
			"failed: KeyGone by UpdateKey: get, key, put, key"},
	}
	for name, tc := range fails {
		t.Run(name, func(t *testing.T) {
			w, key := tc.in, vaultKey("")
			w.live, key.Spec.Enabled = rsa(), new(false)
			out := w.pass(t.Context(), VaultKeyExtensions(&w), key)
			if got := fmt.Sprintf("%s: %s by %s: %s", out.State(), out.Reason(), out.Link(), strings.Join(w.calls, ", ")); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		})
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
	const rejected, absent = "blocks ApprovalRejected on change", "blocks ApprovalAbsent"
	decide(t, flow.PointPostCheck, without(PrivateEndpointExtensions()), map[string]row[*PrivateEndpoint]{
		"none":              {"no connection needs approval", endpoint(0), in{}, "proceeds", "", ""},
		"spelled otherwise": {"case and white space do not matter", endpoint(2, "approved", " APPROVED "), in{}, "proceeds", "", ""},
		"pending":           {"a person has to approve it", endpoint(1, "Pending"), in{}, "blocks ApprovalPending", "pe-1", ""},
		"rejected":          {"a retry does not help", endpoint(1, "Rejected"), in{}, rejected, "pe-1 was rejected", ""},
		"a new word":        {"an unknown state is not approved", endpoint(1, "Reviewing"), in{}, "blocks ApprovalUnknown", "Reviewing", ""},
		"blank":             {"a blank state is not reported", endpoint(1, ""), in{}, absent, "pe-1", ""},
		"status nil":        {"the state is not reported", noStatus, in{}, absent, "pe-1", ""},
		"state nil":         {"the state is not reported", noState, in{}, absent, "pe-1", ""},
		"ID nil":            {"the index names the connection", noID("Pending"), in{}, "blocks ApprovalPending", "connection 1 of 1", ""},
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
		check  checks.Result
		before bool // the check is before the PUT
		state  flow.State
	}{
		"ready":          {"the status is written", checks.Proceed(), false, flow.StateReady},
		"stopped before": {"the status is written after a block, too", checks.Block("Busy", "later"), true, flow.StateBlocked},
	}
	for name, tc := range cases {
		for found, want := range map[int]int{0: 0, 2000: 2000, 2001: 0, 60000: 0} {
			ext := VirtualNetworksSubnetExtensions()
			check := chain.New(checks.Check("other", func(_ context.Context, req *checks.Request[*VirtualNetworksSubnet]) (checks.Result, error) {
				req.Resource.Status.IPConfigurations = make([]IPConfiguration, found)
				return tc.check, nil
			}))
			if tc.before {
				ext.PreCheck = check
			} else {
				ext.PostCheck = check
			}
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
	const list, approve, waits = "list /servers/sales", "list /servers/sales, approve c1", "blocks ApprovalPending"
	ext := func(w *in) flow.Extensions[*SharedPrivateLink] { return SharedPrivateLinkExtensions(w) }
	rows := map[string]row[*SharedPrivateLink]{
		"approved":                    {"the connection is approved", link, with("Approved"), "proceeds", "", list},
		"approved, spelled otherwise": {"case and white space do not matter", link, with(" APPROVED "), "proceeds", "", list},
		"pending":                     {"the gate approves a pending connection", link, with("Pending"), waits, "the connection to Server sales is being approved", approve + ", store approval"},
		"rejected":                    {"a person rejected it", link, with("Rejected"), "blocks ApprovalRejected on change", "was rejected", list},
		"a new word":                  {"only a pending connection is approved", link, with("Reviewing"), "blocks ApprovalUnknown", "is in state Reviewing; waiting for Pending or Approved", list},
		"blank":                       {"only a pending connection is approved", link, with(""), "blocks ApprovalAbsent", "", list},
		"none yet":                    {"Azure opens the connection after the PUT", link, in{resolver: there}, "blocks ApprovalAbsent", "does not exist yet: waiting for Azure", list},
		"another link's":              {"sales-eu is another link", link, in{resolver: there, links: others}, "blocks ApprovalAbsent", "", list},
		"may not approve":             {"a person has to approve it", link, failing("approve", refuse(403, "AuthorizationFailed")), waits, "must be approved by a person", approve},
		"token not stored":            {"without the token it would be approved again", link, failing("store", errDown), "fails", "", approve + ", store approval"},
		"under way":                   {"the operation is polled", link, polled(false, nil), waits, "the connection to Server sales is being approved", "poll approval"},
		"under way, no answer":        {"the operation may continue", link, polled(false, errDown), "fails", "", "poll approval"},
		"unknown to Azure":            {"it would be polled for ever", link, polled(false, refuse(404, "OperationNotFound")), "fails", "", "poll approval, forget"},
		"done":                        {"the connection decides", link, polled(true, nil), waits, "", "poll approval, forget, " + approve + ", store approval"},
		"not forgotten": {"a token that cannot be removed is an error", link,
			in{resolver: there, links: opened("Approved"), token: "approval", ended: true, errs: errs("store", errDown)}, "fails", "", "poll approval, forget"},
		"by ID":            {"the target is not reconciled here", sharedLink(checks.Ref{ID: "/servers/x"}), with("Pending"), "proceeds", "", ""},
		"to nothing":       {"Azure explains the missing target", sharedLink(checks.Ref{}), with("Pending"), "proceeds", "", ""},
		"not found":        {"the target may be created later", link, in{resolver: finds(nil, "", nil)}, "blocks ReferenceNotFound", "Server sales was not found: waiting until it is created", ""},
		"not in Azure yet": {"the target has no ID", link, in{resolver: finds("x", "", nil)}, "blocks ReferenceNotReady", "Server sales has no ID in Azure yet: waiting until it is created there", ""},
		"resolver fails":   {"the target is unknown", link, in{resolver: finds(nil, "", errDown)}, "fails", "connection is down", ""},
		"no resolver":      {"the target cannot be resolved", link, in{}, "fails", checks.ErrNoResolver.Error(), ""},
	}
	decide(t, flow.PointPostCheck, ext, rows)
	for _, name := range []string{"not found", "not in Azure yet"} {
		w := rows[name].in
		if diff := cmp.Diff([]checks.Ref{server}, w.pass(t.Context(), ext(&w), link).WaitingFor()); diff != "" {
			t.Errorf("%s: awaited objects: -want, +got:\n%s", name, diff)
		}
	}
	// A token is stored and removed even after the context ends.
	for _, token := range []string{"", "approval"} {
		ctx, cancel := context.WithCancel(t.Context())
		w := in{resolver: there, links: opened("Pending"), token: token, ended: true, inSync: true, cancel: cancel}
		w.errs = errs("list", map[bool]error{true: errDown}[token != ""])
		if w.pass(ctx, ext(&w), link); w.token == token {
			t.Errorf("the token is still %q after %q", token, w.calls)
		}
	}
}

func watcher() *Watcher {
	w := &Watcher{Name: "w"}
	w.Spec.Datastore = new("kusto")
	return w
}

func targetExtensions(w *world[*Target]) flow.Extensions[*Target] { return TargetExtensions(w) }

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
	const waits = "blocks WatcherNotRunning"
	decide(t, flow.PointPostCheck, targetExtensions, map[string]row[*Target]{
		"running":             {"the watcher runs", target, state("Running"), "proceeds", "", "state"},
		"spelled otherwise":   {"case and white space do not matter", target, state(" RUNNING "), "proceeds", "", "state"},
		"stopped":             {"Azure creates each watcher stopped", target, state("Stopped"), waits, "Owner prod does not run yet; its targets are not watched", "state, start, store start"},
		"starting":            {"only a stopped watcher is started", target, state("Starting"), waits, "", "state"},
		"started at once":     {"the next pass reads the state", target, in{owner: owned(watcher()), state: "Stopped", atOnce: true}, waits, "", "state, start"},
		"cannot be started":   {"the start did not begin", target, failing("start", refuse(409, "Conflict")), "fails", "", "state, start"},
		"nowhere to write to": {"Azure refuses to start it", target, in{owner: owned(&Watcher{}), state: "Stopped"}, "blocks WatcherWithoutDatastore", "cannot start without a datastore; set its datastore", "state"},
		"under way":           {"the operation is polled, whatever the state is", target, polled("Running", false, nil), waits, "", "poll start"},
		"started":             {"the end of the operation counts, not the state", target, polled("Stopped", true, nil), "proceeds", "", "poll start, forget"},
		"owner by ID":         {"the watcher is not reconciled here", target, in{owner: checks.Object{Ref: checks.Ref{ID: "/watchers/w"}}, state: "Stopped"}, "proceeds", "", ""},
	})
	of := func(o checks.Object) in { return in{owner: o, state: "Running"} }
	rows := map[string]row[*Target]{
		"none":          {"a target needs a watcher", target, of(checks.Object{}), "blocks OwnerNotSet very slow", "", ""},
		"not found":     {"the watcher may be created later", target, of(owned(nil)), "blocks OwnerNotFound fast", "", ""},
		"a nil pointer": {"a nil watcher is not found", target, of(owned((*Watcher)(nil))), "blocks OwnerNotFound fast", "", ""},
		"another kind":  {"the ref names an object of another kind", target, of(owned(&ManagedCluster{})), "blocks OwnerWrongKind on change", "", ""},
	}
	decide(t, flow.PointOwnerCheck, targetExtensions, rows)
	// The gate's chain checks the owner again: the owner check does not run
	// while an operation is polled.
	alone := func(w *in) flow.Extensions[*Target] {
		return flow.Extensions[*Target]{PostCheck: TargetExtensions(w).PostCheck}
	}
	delete(rows, "none") // without owner checks, a flow has no owner
	decide(t, flow.PointPostCheck, alone, rows)
}

func backupExtensions(w *world[*BackupVaultsBackupInstance]) flow.Extensions[*BackupVaultsBackupInstance] {
	return BackupVaultsBackupInstanceExtensions(w)
}

func TestBackupVaultsBackupInstance(t *testing.T) {
	type in = world[*BackupVaultsBackupInstance]
	const (
		syncs, unsettled, user = "blocks ProtectionSyncing", "blocks ProtectionNotSettled", "UserErrorMissingPermissions"
	)
	status := func(state, code string) *BackupVaultsBackupInstance { return backup(&state, code) }
	withoutID := func(b *BackupVaultsBackupInstance) *BackupVaultsBackupInstance { b.Status.ID = nil; return b }
	bare, none := status("ProtectionError", "x"), status("x", "")
	bare.Status.Properties.ProtectionStatus.ErrorDetails.Code, none.Status.Properties.ProtectionStatus = nil, nil
	mistaken, byARMID := status("ProtectionError", user), in{owner: checks.Object{Ref: checks.Ref{ID: "/backupVaults/prod"}}}
	polled := func(ended bool, err error) in { return in{token: "sync", ended: ended, errs: errs("poll", err)} }
	decide(t, flow.PointPostCheck, backupExtensions, map[string]row[*BackupVaultsBackupInstance]{
		"protection nil":              {"no status is reported", none, in{}, unsettled, "", ""},
		"details nil":                 {"an error may have no details", status("ProtectionError", ""), in{}, unsettled, "", ""},
		"code nil":                    {"without a code it is not a user error", bare, in{}, unsettled, "", ""},
		"another's error":             {"neither the user nor a sync can fix it", status("ProtectionError", "InternalError"), in{}, unsettled, "", ""},
		"ID nil, user error":          {"a sync needs an ID", withoutID(status("ProtectionError", user)), in{}, unsettled, "ProtectionError", ""},
		"owner by ARM ID, user error": {"a sync needs nothing of the vault", mistaken, byARMID, syncs, "", "sync, store sync"},
		"user error":                  {"Azure validates the instance again", mistaken, in{}, syncs, "", "sync, store sync"},
		"user error, otherwise":       {"case and white space do not matter", status(" protectionERROR\n", "bmsusererrorx"), in{}, syncs, "", "sync, store sync"},
		"synced at once":              {"the next pass reads the state", mistaken, in{atOnce: true}, syncs, "", "sync"},
		"refused":                     {"the sync did not begin", mistaken, in{errs: errs("sync", refuse(409, "Conflict"))}, "fails", "HTTP 409", "sync"},
		"under way, and settled":      {"the operation is polled, whatever the state is", status("ProtectionConfigured", ""), polled(false, nil), syncs, "", "poll sync"},
		"done":                        {"the state is older than the sync; the next pass reads it", mistaken, polled(true, nil), syncs, "", "poll sync, forget"},
	})
}
