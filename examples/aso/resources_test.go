package aso

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// TestKustoDatabaseDelete: a DELETE is sent if the cluster runs, is gone or is
// being deleted. ASO always sends it.
func TestKustoDatabaseDelete(t *testing.T) {
	check := func(*world[*KustoDatabase]) checks.Chain[*KustoDatabase] {
		return KustoDatabaseExtensions().DeleteCheck
	}
	const of = "{deleting: true, owner: {value: {status: "
	decide[KustoCluster](t, check, map[string]row{
		"Running":     {"Azure can delete it", "{}", of + "{provisioningState: Succeeded, state: Running}}}}", "proceed", "", ""},
		"Stopped":     {"Azure refuses it", "{}", of + "{provisioningState: Succeeded, state: Stopped}}}}", "block ClusterNotRunning", "", ""},
		"Updating":    {"Azure refuses it", "{}", of + "{provisioningState: Updating, state: Running}}}}", "block OwnerState", "", ""},
		"NotReported": {"unknown is not ready", "{}", of + "{}}}}", "block OwnerStateUnknown", "", ""},
		"Deleting":    {"it is deleted with its cluster", "{}", of + "{state: Stopped}}, deleting: true}}", "proceed", "", ""},
		"Gone":        {"it was deleted with its cluster", "{}", "{deleting: true, owner: {}}", "proceed", "", ""},
	})
}

// TestManagedClustersAgentPool compares a wanted version with that of the
// cluster: the pool's, and the cluster's own.
func TestManagedClustersAgentPool(t *testing.T) {
	const wait, unknown = "block OwnerUnsuitable", "block OwnerStateUnknown"
	cases := map[string]struct{ reason, wants, runs, want string }{ // in YAML
		"the same":          {"the versions are equal", "1.31.2", "1.31.2", "proceed"},
		"an alias":          {"a minor version includes all its patches", "'1.31'", "1.31.2", "proceed"},
		"a later patch":     {"patches may differ", "1.31.9", "1.31.2", "proceed"},
		"an earlier minor":  {"a pool may be older", "1.30.9", "1.31.2", "proceed"},
		"a later minor":     {"a pool must not be newer", "1.32.0", "1.31.2", wait},
		"a later major":     {"the major version is compared first", "'2.0'", "1.31.2", wait},
		"space":             {"white space is ignored", "' 1.32.0 '", "1.31.2", wait},
		"not set":           {"Azure chooses one that fits", "null", "1.31.2", "proceed"},
		"current not known": {"the cluster's version is unknown", "'1.31'", "null", unknown},
		"a bad current one": {"an invalid version does not block", "'1.32'", "unknown", "proceed"},
		"not in the cloud":  {"the PUT that creates the pool would be refused, too", "'1.32'", "1.31.2", wait},
	}
	ext, rows := ManagedClustersAgentPoolExtensions(), map[string]row{}
	says := map[string]string{wait: "the pool needs", unknown: "has not reported"}
	for name, tc := range cases {
		status := "status: {provisioningState: Succeeded, currentKubernetesVersion: " + tc.runs + "}}"
		rows[name] = row{tc.reason, "{spec: {orchestratorVersion: " + tc.wants + "}, status: {provisioningState: Succeeded}}",
			fmt.Sprintf("{absent: %t, owner: {value: {%s}}", name == "not in the cloud", status), tc.want, says[tc.want], ""}
		cluster := owned(of[ManagedCluster]("{spec: {kubernetesVersion: " + tc.wants + "}, " + status))
		res := answer(t, ext.OwnerCheck, checkstest.OwnerRequest(checkstest.OwnedBy(cluster)))
		if decision(res) != tc.want || tc.want == wait && !strings.Contains(res.Message(), "its own spec needs") {
			t.Errorf("%s: %s: a cluster with its own spec: %v, want %s", name, tc.reason, res, tc.want)
		}
	}
	decide[ManagedCluster](t, func(*world[*ManagedClustersAgentPool]) checks.Chain[*ManagedClustersAgentPool] { return ext.PreCheck }, rows)
}

func TestSQLDatabase(t *testing.T) {
	type in = world[*SQLDatabase]
	const fixed, auto = "{spec: {options: {throughput: 400}}}", "{spec: {options: {autoscaleSettings: {maxThroughput: 4000}}}}"
	const migrating, busy = "block ThroughputMigrating", "block ThroughputPending"
	decide[any](t, func(w *in) checks.Chain[*SQLDatabase] { return SQLDatabaseExtensions(w).PreCheck }, map[string]row{
		"fixed, as wanted":         {"the mode is the wanted one", fixed, "{}", "proceed", "", "throughput"},
		"autoscale, as wanted":     {"the mode is the wanted one", auto, "{throughput: {autoscale: true}}", "proceed", "", "throughput"},
		"fixed, autoscale wanted":  {"a PUT cannot change the mode", auto, "{}", migrating, "", "throughput, migrate to autoscale"},
		"autoscale, fixed wanted":  {"a PUT cannot change the mode", fixed, "{throughput: {autoscale: true}}", migrating, "", "throughput, migrate to fixed"},
		"pending":                  {"Azure refuses other requests during a change", auto, "{throughput: {offerReplacePending: 'true'}}", busy, "Azure changes the throughput", "throughput"},
		"pending perhaps":          {"an unknown value counts as pending", fixed, "{throughput: {offerReplacePending: 'queued'}}", busy, "", "throughput"},
		"not pending":              {"case and white space do not matter", fixed, "{throughput: {offerReplacePending: ' False '}}", "proceed", "", "throughput"},
		"pending is blank":         {"a blank value is not reported", fixed, "{throughput: {offerReplacePending: ''}}", "proceed", "", "throughput"},
		"no throughput of its own": {"no mode to change", auto, "{errs: {throughput: 404 NotFound}}", "proceed", "", "throughput"},
		"migration of nothing":     {"the database is gone", auto, "{errs: {migrate: 404 NotFound}}", "fail", "404", "throughput, migrate to autoscale"},
		"nothing wanted":           {"Azure chooses the mode", "{spec: {options: {}}}", "{}", "proceed", "", ""},
		"not read":                 {"without a Get the database may exist", auto, "{unread: true}", migrating, "", "throughput, migrate to autoscale"},
		"not in the cloud":         {"the PUT creates the database with the wanted mode", auto, "{absent: true}", "proceed", "", ""},
	})
}

func TestVaultKey(t *testing.T) {
	type in = world[*VaultKey]
	const key, recovers = "{name: disk, spec: {kty: RSA, keySize: 2048}}", "{name: disk, spec: {whenDeleted: Recover}}"
	const purges = "{name: disk, spec: {whenDeleted: Purge}}"
	const live, deleted = "{live: {kty: RSA, keySize: 2048}}", "{deleted: true}"
	const created, immutable = "key, deleted", "block KeyImmutable on change"
	decide[any](t, func(w *in) checks.Chain[*VaultKey] { return VaultKeyExtensions(w).PreCheck }, map[string]row{
		"no key":               {"the PUT creates it", key, "{}", "proceed", "", created},
		"the key":              {"the key exists", key, live, "proceed", "", "key"},
		"no vault":             {"it may be created later", key, "{owner: {}, errs: {open: 404 None}}", "block VaultNotFound", "until it is created[Owner prod]", ""},
		"vault refuses":        {"the vault is unknown", key, "{errs: {open: 403 Forbidden}}", "fail", "RESPONSE 403", ""},
		"get refused":          {"the key is unknown", key, "{errs: {key: 403 Forbidden}}", "fail", "RESPONSE 403", "key"},
		"other type":           {"the type cannot change", "{name: disk, spec: {kty: EC}}", live, immutable, "type RSA", "key"},
		"other size":           {"the size cannot change", "{name: disk, spec: {keySize: 4096}}", live, immutable, "2048 bits", "key"},
		"other curve":          {"the curve cannot change", "{name: disk, spec: {curve: P-256}}", live, immutable, "become P-256", "key"},
		"nil fields":           {"Azure chooses nil fields", "{name: disk}", live, "proceed", "", "key"},
		"recover":              {"the recovery takes a while", recovers, deleted, "block KeyRecovering", "", "key, deleted, recover"},
		"purge":                {"the purge takes a while", purges, deleted, "block KeyPurging", "", "key, deleted, purge"},
		"neither":              {"a person has to choose", key, deleted, "block KeyDeleted on change", "", "key, deleted"},
		"purge, there":         {"an existing key is never purged", purges, "{deleted: true, live: {kty: RSA, keySize: 2048}}", "proceed", "", "key"},
		"recover refused":      {"the recovery did not begin", recovers, "{deleted: true, errs: {recover: 403 Forbidden}}", "fail", "", "key, deleted, recover"},
		"recover is under way": {"an earlier pass began it", recovers, "{deleted: true, errs: {recover: 409 Conflict}}", "block KeyRecovering", "", "key, deleted, recover"},
	})
}

// TestVaultKeyUpdate: the link sends a change after the PUT if a field differs.
func TestVaultKeyUpdate(t *testing.T) {
	const same, updated, ready, day = "put, key", "put, key, update ", "ready", "2027-01-02T03:04:05Z"
	const all, before = "enabled: true, notBefore: '" + day + "', expires: '" + day + "'", "enabled: true, notBefore: '" + day + "', expires: '2027-01-01T00:00:00Z'"
	update := func(t *testing.T, w *world[*VaultKey], req *checks.Request[*VaultKey]) (got, text string) {
		out := w.pass(t.Context(), flow.Extensions[*VaultKey]{Apply: VaultKeyExtensions(w).Apply}, req.Resource)
		return out.State().String(), fmt.Sprint(out.Link(), ": ", out.Reason())
	}
	spec := func(fields string) string { return "{name: disk, spec: {" + fields + "}}" }
	live := func(fields string) string { return "{live: {" + fields + "}}" }
	try[any](t, update, map[string]row{
		"nil fields":    {"Azure chooses nil fields", "{name: disk}", live("keyOps: [sign], expires: '" + day + "'"), ready, "", same},
		"the same":      {"no field differs", spec(all), live(strings.ReplaceAll(all, "03:04:05Z", "05:04:05+02:00")), ready, "", same},
		"disabled":      {"the key is disabled", spec("enabled: false"), live("enabled: true"), ready, "", updated + `{"Enabled":false}`},
		"begins":        {"the key had no begin", spec("notBefore: '" + day + "'"), live(""), ready, "", updated + `{"NotBefore":"` + day + `"}`},
		"expires":       {"the key had no end", spec("expires: '" + day + "'"), live(""), ready, "", updated + `{"Expires":"` + day + `"}`},
		"extended":      {"the key ends earlier", spec(all), live(before), ready, "", updated + `{"Expires":"` + day + `"}`},
		"operations":    {"one more", spec("keyOps: [sign, verify]"), live("keyOps: [sign]"), ready, "", updated + `{"KeyOps":["sign","verify"]}`},
		"another order": {"no order", spec("keyOps: [verify, sign, verify]"), live("keyOps: [sign, verify]"), ready, "", same},
		"under way":     {"the PUT is under way", spec("enabled: false"), "{underWay: true, live: {enabled: true}}", "in progress", "InProgress", "put"},
		"refused":       {"it is an error", spec("enabled: false"), "{live: {enabled: true}, errs: {update: 403 No}}", "failed", "UpdateKey: No", updated + `{"Enabled":false}`},
		"no vault":      {"it is gone after the PUT", spec("enabled: false"), "{live: {}, errs: {open: 404 VaultGone}}", "failed", "UpdateKey: VaultGone", "put"},
		"no key":        {"it is gone after the PUT", spec("enabled: false"), "{live: {}, errs: {key: 404 KeyGone}}", "failed", "UpdateKey: KeyGone", same},
	})
}

// endpoint returns an endpoint with the wanted and the reported connections, in YAML.
func endpoint(wanted, reported string) string {
	reported = strings.ReplaceAll(reported, "state:", "privateLinkServiceConnectionState:")
	return fmt.Sprintf("{spec: {manualPrivateLinkServiceConnections: [%s]}, status: {manualPrivateLinkServiceConnections: [%s]}}", wanted, reported)
}

func TestPrivateEndpoint(t *testing.T) {
	type in = world[*PrivateEndpoint]
	one := func(status string) string { return endpoint("{}", "{id: pe-1, state: {status: "+status+"}}") }
	const rejected, absent = "block ApprovalRejected on change", "block ApprovalAbsent"
	decide[any](t, func(*in) checks.Chain[*PrivateEndpoint] { return PrivateEndpointExtensions().PostCheck }, map[string]row{
		"none": {"no connection needs approval", "{}", "{}", "proceed", "", ""},
		"spelled otherwise": {"case and white space do not matter", endpoint("{}, {}", "{id: a, state: {status: approved}}, {id: b, state: {status: ' APPROVED '}}"),
			"{}", "proceed", "", ""},
		"pending":          {"a person has to approve it", one("Pending"), "{}", "block ApprovalPending", "pe-1", ""},
		"rejected":         {"a retry does not help", one("Rejected"), "{}", rejected, "pe-1 was rejected", ""},
		"a new word":       {"an unknown state is not approved", one("Reviewing"), "{}", "block ApprovalUnknown", "Reviewing", ""},
		"status nil":       {"the state is not reported", one("null"), "{}", absent, "pe-1", ""},
		"state nil":        {"the state is not reported", endpoint("{}", "{id: pe-1}"), "{}", absent, "pe-1", ""},
		"ID nil":           {"the index names the connection", endpoint("{}", "{state: {status: Pending}}"), "{}", "block ApprovalPending", "connection 1 of 1", ""},
		"description":      {"the message has the person's description", one("Rejected, description: not in this network"), "{}", rejected, "not in this network", ""},
		"one not reported": {"the spec has two, the status one", endpoint("{}, {}", "{id: a, state: {status: Approved}}"), "{}", absent, "connection 2 of 2", ""},
	})
	e := of[PrivateEndpoint](endpoint("{}, {}", "{id: reported}, {id: beyond}"))
	shared := e.Status.ManualPrivateLinkServiceConnections
	e.Status.ManualPrivateLinkServiceConnections = shared[:1]
	if e.manual(); shared[1].ID == nil {
		t.Error("manual writes into the array of the status")
	}
}

// TestVirtualNetworksSubnet: the link shortens the status at the end of every
// pass, and changes no outcome.
func TestVirtualNetworksSubnet(t *testing.T) {
	type subnet = VirtualNetworksSubnet
	for name, check := range map[string]checks.Result{"ready": checks.Proceed(), "stopped before": checks.Block("Busy", "later")} {
		for found, want := range map[int]int{0: 0, 2000: 2000, 2001: 0, 60000: 0} {
			ext, s := VirtualNetworksSubnetExtensions(), &subnet{}
			ext.PreCheck = chain.New(checks.Check("other", func(context.Context, *checks.Request[*subnet]) (checks.Result, error) { return check, nil }))
			s.Status.IPConfigurations, s.Status.ProvisioningState = make([]IPConfiguration, found), new("Succeeded")
			out := (&world[*subnet]{}).pass(t.Context(), ext, s)
			ready := out.State() == flow.StateReady
			if got := len(s.Status.IPConfigurations); ready != check.Proceeds() || got != want || s.Status.ProvisioningState == nil {
				t.Errorf("%s: %v: %d of %d addresses remain, want %d", name, out, got, found, want)
			}
		}
	}
}

func TestSharedPrivateLink(t *testing.T) {
	type in = world[*SharedPrivateLink]
	const link = "{name: sales, spec: {privateLinkResource: {kind: Server, name: sales}}}"
	const guid = "01234567-89ab-cdef-0123-456789ABCDEF"
	// there is the world with the target, connections of other links, and one for each status. more has more fields.
	there := func(more string, statuses ...string) string {
		links := "{id: c0, name: sales-eu-" + guid + ", status: Approved}, {name: sales, status: Approved}, {name: " + guid + ", status: Approved}"
		for i, status := range statuses {
			links += fmt.Sprintf(", {id: c%d, name: sales-%s, status: %q}", i+1, guid, status)
		}
		return "{target: {ref: {id: /servers/sales}, value: the server}, links: [{name: sales-" + guid + "0, status: Approved}, " + links + "]" + more + "}"
	}
	const list, approve, waits = "list /servers/sales", "list /servers/sales, approve c1", "block ApprovalPending"
	const stored, down = approve + ", store approval", ", errs: {store: 503 Down}"
	const unknown, absent, during = "block ApprovalUnknown", "block ApprovalAbsent", ", token: approval"
	decide[any](t, func(w *in) checks.Chain[*SharedPrivateLink] { return SharedPrivateLinkExtensions(w).PostCheck }, map[string]row{
		"two, approved": {"one of them is its own", link, there("", "Approved", "Approved"), "proceed", "", list},
		"two, pending": {"the other one may be of another watcher's link", link, there("", "Pending", "Pending"), unknown,
			"is one of 2 that may be of this link, and sales-" + guid + " is Pending; approve or delete each of them", list},
		"two, own pending":            {"the approved one may be of another link", link, there("", "Approved", "Pending"), unknown, "", list},
		"approved":                    {"the connection is approved", link, there("", "Approved"), "proceed", "", list},
		"approved, spelled otherwise": {"case and white space do not matter", link, there("", " APPROVED "), "proceed", "", list},
		"pending":                     {"the gate approves a pending connection", link, there("", "Pending"), waits, "to Server sales is being approved", stored},
		"rejected":                    {"a person rejected it", link, there("", "Rejected"), "block ApprovalRejected on change", "was rejected", list},
		"a new word":                  {"only Pending is approved", link, there("", "Reviewing"), unknown, "is in state Reviewing; waiting for Pending or Approved", list},
		"blank":                       {"only a pending connection is approved", link, there("", ""), absent, "", list},
		"none yet":                    {"Azure opens it after the PUT; all are of other links", link, there(""), absent, "does not exist yet: waiting for Azure", list},
		"may not approve":             {"a person has to", link, there(", errs: {approve: 403 AuthorizationFailed}", "Pending"), waits, "must be approved by a person", approve},
		"token not stored":            {"without the token it would be approved again", link, there(down, "Pending"), "fail", "Down", stored},
		"under way":                   {"the operation is polled", link, there(during, "Pending"), waits, "to Server sales is being approved", "poll approval"},
		"no answer":                   {"the operation may continue", link, there(during+", errs: {poll: 503 Down}", "Pending"), "fail", "Down", "poll approval"},
		"unknown to Azure":            {"it would be polled for ever", link, there(during+", errs: {poll: 404 No}", "Pending"), "fail", "404", "poll approval, forget"},
		"done":                        {"the connection decides", link, there(during+", ended: true", "Pending"), waits, "", "poll approval, forget, " + stored},
		"not forgotten":               {"the token remains", link, there(during+", ended: true"+down, "Approved"), "fail", "Down", "poll approval, forget"},
		"by ID":                       {"the target is not reconciled here", "{spec: {privateLinkResource: {id: /servers/x}}}", there("", "Pending"), "proceed", "", ""},
		"to nothing":                  {"Azure explains the missing target", "{}", there("", "Pending"), "proceed", "", ""},
		"not found":                   {"the target may be created later", link, "{target: {}}", "block ReferenceNotFound", "not found: waiting until it is created[Server sales]", ""},
		"not in Azure yet":            {"the target has no ID", link, "{target: {value: the server}}", "block ReferenceNotReady", "waiting until it is created there[Server sales]", ""},
		"cannot list":                 {"the connections are unknown", link, there(", errs: {list: 503 Down}"), "fail", "Down", list},
		"resolver fails":              {"the target is unknown", link, "{target: {}, errs: {resolve: 503 Down}}", "fail", "Down", ""},
		"no resolver":                 {"the target cannot be resolved", link, "{}", "fail", checks.ErrNoResolver.Error(), ""},
	})
}

func TestTarget(t *testing.T) {
	type in = world[*Target]
	const running, stopped, waits = ", state: Running}", "{owner: {value: {spec: {datastore: kusto}}}, state: Stopped", "block WatcherNotRunning"
	const owner = "{owner: {value: {spec: {datastore: kusto}}}"
	targets := func(w *in) checks.Chain[*Target] { return TargetExtensions(w).PostCheck }
	decide[Watcher](t, targets, map[string]row{
		"running":             {"the watcher runs", "{}", owner + running, "proceed", "", "state"},
		"spelled otherwise":   {"case and white space do not matter", "{}", owner + ", state: ' RUNNING '}", "proceed", "", "state"},
		"stopped":             {"as each new watcher", "{}", stopped + "}", waits, "Owner prod does not run yet", "state, start, store start"},
		"starting":            {"only a stopped watcher is started", "{}", owner + ", state: Starting}", waits, "", "state"},
		"started at once":     {"the next pass reads the state", "{}", stopped + ", atOnce: true}", waits, "", "state, start"},
		"cannot be started":   {"the start did not begin", "{}", stopped + ", errs: {start: 409 Conflict}}", "fail", "", "state, start"},
		"nowhere to write to": {"Azure refuses to start it", "{}", "{owner: {value: {}}, state: Stopped}", "block WatcherWithoutDatastore", "set its datastore[Owner prod]", "state"},
		"under way":           {"the operation is polled, whatever the state is", "{}", owner + ", token: start" + running, waits, "", "poll start"},
		"started":             {"the end counts, not the state", "{}", stopped + ", token: start, ended: true}", "proceed", "", "poll start, forget"},
		"owner by ID":         {"the watcher is not reconciled here", "{}", "{owner: {ref: {id: /watchers/w}}, state: Stopped}", "proceed", "", ""},
	})
	// The gate's chain checks the owner again: the owner check does not run while
	// an operation is polled. Package checks tests all owners.
	decide[ManagedCluster](t, targets, map[string]row{
		"another kind": {"the ref names an object of another kind", "{}", "{owner: {value: {}}" + running, "block OwnerWrongKind on change", "", ""},
		"none":         {"a target needs a watcher", "{}", "{state: Running}", "block OwnerNotSet very slow", "", ""},
	})
	wrong := checkstest.OwnerRequest(checkstest.OwnedBy(owned(&ManagedCluster{})))
	if res := answer(t, TargetExtensions(nil).OwnerCheck, wrong); decision(res) != "block OwnerWrongKind on change" {
		t.Errorf("another kind before the PUT: %v", res)
	}
}

func TestBackupVaultsBackupInstance(t *testing.T) {
	type in = world[*BackupVaultsBackupInstance]
	const syncs, unsettled, user = "block ProtectionSyncing", "block ProtectionNotSettled", "UserErrorMissingPermissions"
	status := func(protection string) string {
		return "{status: {id: /disk, properties: {protectionStatus: " + protection + "}}}"
	}
	mistaken := status("{status: ProtectionError, errorDetails: {code: " + user + "}}")
	gate := func(w *in) checks.Chain[*BackupVaultsBackupInstance] {
		return BackupVaultsBackupInstanceExtensions(w).PostCheck
	}
	decide[any](t, gate, map[string]row{
		"protection nil":              {"no status is reported", status("null"), "{}", unsettled, "", ""},
		"details nil":                 {"an error may have no details", status("{status: ProtectionError}"), "{}", unsettled, "", ""},
		"code nil":                    {"without a code it is not a user error", status("{status: ProtectionError, errorDetails: {}}"), "{}", unsettled, "", ""},
		"another's error":             {"neither the user nor a sync can fix it", status("{status: ProtectionError, errorDetails: {code: InternalError}}"), "{}", unsettled, "", ""},
		"ID nil, user error":          {"a sync needs an ID", strings.Replace(mistaken, "/disk", "null", 1), "{}", unsettled, "ProtectionError", ""},
		"owner by ARM ID, user error": {"a sync needs nothing of the vault", mistaken, "{owner: {ref: {id: /backupVaults/prod}}}", syncs, "", "sync, store sync"},
		"user error":                  {"Azure validates the instance again", mistaken, "{}", syncs, "", "sync, store sync"},
		"user error, otherwise":       {"case and white space do not matter", status(`{status: " protectionERROR\n", errorDetails: {code: bmsusererrorx}}`), "{}", syncs, "", "sync, store sync"},
		"synced at once":              {"the next pass reads the state", mistaken, "{atOnce: true}", syncs, "", "sync"},
		"refused":                     {"the sync did not begin", mistaken, "{errs: {sync: 409 Conflict}}", "fail", "RESPONSE 409", "sync"},
		"under way, and settled":      {"the operation is polled, whatever the state is", status("{status: ProtectionConfigured}"), "{token: sync}", syncs, "", "poll sync"},
		"done":                        {"the state is older than the sync; the next pass reads it", mistaken, "{token: sync, ended: true}", syncs, "", "poll sync, forget"},
	})
}

// stateCheck is a check that compares a state of the resource or of its owner.
type stateCheck struct {
	allowed       string // the states that proceed; "not X": all but X
	fields        string // of the resource or the owner in YAML, with %s for the state
	with, unknown string // the reason of a block, and of one without a state
	// ask runs the check. A check of the owner's state gets the owner, if it is not nil.
	ask func(t *testing.T, fields string, absent bool, owner *checks.Object) checks.Result
}

// own returns a check of the resource's own state.
func own[R any](allowed, fields string, c checks.Chain[*R]) stateCheck {
	ask := func(t *testing.T, fields string, absent bool, _ *checks.Object) checks.Result {
		cluster := of[ManagedCluster]("{status: {provisioningState: Succeeded, currentKubernetesVersion: 1.31.2}}")
		req := checkstest.Request(of[R](fields), checkstest.OwnedBy(owned(cluster)))
		req.Presence = checks.PresenceOf(!absent)
		return answer(t, c, req)
	}
	return stateCheck{allowed, fields, checks.ReasonState, checks.ReasonStateUnknown, ask}
}

// ofOwner returns a check of the owner's state.
func ofOwner[W any](allowed, fields string, c checks.OwnerChain) stateCheck {
	ask := func(t *testing.T, fields string, _ bool, owner *checks.Object) checks.Result {
		if owner == nil {
			owner = new(owned(of[W](fields)))
		}
		return answer(t, c, checkstest.OwnerRequest(checkstest.OwnedBy(*owner)))
	}
	return stateCheck{allowed, fields, checks.ReasonOwnerState, checks.ReasonOwnerStateUnknown, ask}
}

// stateChecks returns all checks of states.
func stateChecks() map[string]stateCheck {
	const set3, server = "Succeeded Failed Canceled", "Succeeded Failed Canceled Ready"
	const protection = "ConfiguringProtectionFailed Invalid NotProtected ProtectionConfigured SoftDeleted ProtectionStopped " +
		"BackupSchedulesSuspended RetentionSchedulesSuspended"
	const provisioning, nested, state = "{status: {provisioningState: %s}}", "{status: {properties: {provisioningState: %s}}}", "{status: {state: %s}}"
	kusto, database := KustoClusterExtensions().PreCheck, KustoDatabaseExtensions().OwnerCheck
	syncs := BackupVaultsBackupInstanceExtensions(&world[*BackupVaultsBackupInstance]{}).PostCheck
	all := map[string]stateCheck{
		"KustoCluster":                           own(set3, "{status: {provisioningState: %s, state: Stopped}}", kusto),
		"ManagedCluster":                         own(set3, provisioning, ManagedClusterExtensions().PreCheck),
		"ManagedClustersAgentPool":               own(set3, provisioning, ManagedClustersAgentPoolExtensions().PreCheck),
		"FlexibleServer":                         own(server, state, FlexibleServerExtensions().PreCheck),
		"DatabaseAccount":                        own("not Deleting", provisioning, DatabaseAccountExtensions().PreCheck),
		"HcpOpenShiftCluster":                    own("not Deleting", nested, HcpOpenShiftClusterExtensions().PreCheck),
		"KustoDatabase":                          ofOwner[KustoCluster](set3, "{status: {provisioningState: %s, state: Running}}", database),
		"FlexibleServersDatabase":                ofOwner[FlexibleServer](server, state, FlexibleServersDatabaseExtensions().OwnerCheck),
		"FlexibleServersFirewallRule":            ofOwner[FlexibleServer](server, state, FlexibleServersFirewallRuleExtensions().OwnerCheck),
		"CassandraDataCenter":                    ofOwner[CassandraCluster]("Succeeded", nested, CassandraDataCenterExtensions().OwnerCheck),
		"BackupVaultsBackupInstance":             own(protection, "{status: {id: /disk, properties: {protectionStatus: {status: %s}}}}", syncs),
		"KustoDatabase of one that is Succeeded": ofOwner[KustoCluster]("Running", "{status: {provisioningState: Succeeded, state: %s}}", database),
		"ManagedClustersAgentPool of": ofOwner[ManagedCluster](set3, "{spec: {kubernetesVersion: '1.31'}, status: "+
			"{provisioningState: %s, currentKubernetesVersion: 1.31.2}}", ManagedClustersAgentPoolExtensions().OwnerCheck),
	}
	for name, reason := range map[string]string{"BackupVaultsBackupInstance": "ProtectionNotSettled", "KustoDatabase of one that is Succeeded": "ClusterNotRunning"} {
		c := all[name]
		all[name] = stateCheck{c.allowed, c.fields, reason, reason, c.ask}
	}
	return all
}

// TestStates: each check decides on each state, in all spellings, and on states
// that are not reported, and of each kind of owner. A resource that does not exist
// has none. A reported one decides nevertheless, because Get has to clear it.
func TestStates(t *testing.T) {
	words := strings.Fields(`Succeeded Failed Canceled Ready Running Creating Updating Deleting Deleted Stopped Unknown nil Cancelled Suceeded
		Succeeded,Failed NotSucceeded 0 ConfiguringProtection ProtectionError SoftDeleting ProtectionConfigured ConfiguringProtectionFailed Invalid
		NotProtected SoftDeleted ProtectionStopped BackupSchedulesSuspended RetentionSchedulesSuspended`)
	by := func(value any) *checks.Object { return new(owned(value)) }
	owners := map[string]struct {
		reason            string
		owner             *checks.Object
		state, want, says string
	}{
		"none":          {"the check needs an owner", &checks.Object{}, "Succeeded", "block OwnerNotSet very slow", ""},
		"not found":     {"the owner may be created later", by(nil), "Succeeded", "block OwnerNotFound fast", "Owner prod was not found"},
		"a nil pointer": {"a nil owner is not found", by((*KustoCluster)(nil)), "Succeeded", "block OwnerNotFound fast", ""},
		"another kind":  {"the ref names another object", by(&struct{ Status string }{}), "Succeeded", "block OwnerWrongKind on change", ""},
		"by ID":         {"the state is unknown", &checks.Object{Ref: checks.Ref{ID: "/prod"}}, "Succeeded", "block OwnerKnownByIDOnly", "/prod"},
		"known":         {"the message names the owner", nil, "Updating", "block OwnerState", "owner Owner prod"},
	}
	for name, c := range stateChecks() {
		ask := func(around, state, want, says string) {
			t.Helper()
			res := c.ask(t, fmt.Sprintf(c.fields, state), around == "absent", owners[around].owner)
			if decision(res) != want || !strings.Contains(res.Message(), says) {
				t.Errorf("%s: %s, %s%s: %v, want %s with %q", name, state, around, owners[around].reason, res, want, says)
			}
		}
		allowed := strings.Fields(c.allowed)
		for _, word := range words {
			want, says := "block "+c.with, fmt.Sprintf("%q", word)
			if slices.Contains(allowed, word) != (allowed[0] == "not") {
				want, says = "proceed", ""
			}
			ask("as is", fmt.Sprintf("%q", word), want, says)
			ask("case", fmt.Sprintf("%q", strings.ToUpper(word)), want, "")
			ask("white space", fmt.Sprintf("%q", "\t "+strings.ToLower(word)+"\r\n"), want, "")
		}
		for _, none := range []string{"null", `""`, `" \n"`} {
			ask("not reported", none, "block "+c.unknown, "")
			if c.with == checks.ReasonState {
				ask("absent", none, "proceed", "")
			}
		}
		if c.with == checks.ReasonState {
			ask("absent", "Deleting", "block ResourceState", "Get should clear the reported state")
		}
		for around, tc := range owners {
			if c.with == checks.ReasonOwnerState {
				ask(around, tc.state, tc.want, tc.says)
			}
		}
		if c.with != "ClusterNotRunning" {
			if res := c.ask(t, "{}", false, nil); decision(res) != "block "+c.unknown {
				t.Errorf("%s, %s: %v", name, "properties nil", res)
			}
		}
	}
}

// around is the state of Azure and of the objects around a resource, in YAML.
type around struct {
	Absent, Unread bool              // the resource does not exist; without a Get, that is not known
	Deleting       bool              // the resource is being deleted
	Owner          *checks.Object    // with its fields as the value
	Target         *checks.Object    // the object that the resolver finds; nil: there is no resolver
	Errs           map[string]string // the error of a call, such as "404 NotFound"
	UnderWay       bool              // the PUT begins an operation
	Token          string            // the stored token of an operation that a gate began
	Ended, AtOnce  bool              // a poll finds its end; a new operation has ended when it begins
	State          string            // of the watcher
	Throughput     Throughput
	Links          []Connection
	Live           *LiveKey
	Deleted        bool // the vault has a deleted key
}

// world has the operations of a flow and the APIs of all gates, and records the
// calls.
type world[T any] struct {
	around
	calls  []string
	cancel func() // ends the context when an operation begins or is polled
	put    error  // the error of the PUT
}

func (w *world[T]) call(what string) error {
	w.calls = append(w.calls, what)
	return w.err(strings.Fields(what)[0])
}

func (a around) err(call string) error {
	status, code, found := strings.Cut(a.Errs[call], " ")
	if number, _ := strconv.Atoi(status); found {
		return refused(number, code, "")
	}
	return nil
}

func (w *world[T]) begin(what, token string) (string, error) {
	w.cancel()
	err := w.call(what)
	if w.AtOnce {
		return "", err
	}
	return token, err // also after an error, so that a caller must look at it
}

func (w *world[T]) Token(T) string { return w.around.Token }

func (w *world[T]) SetToken(ctx context.Context, _ T, token string) error {
	w.calls = append(w.calls, map[bool]string{true: "store " + token, false: "forget"}[token != ""])
	if err := errors.Join(ctx.Err(), w.err("store")); err != nil {
		return err
	}
	w.around.Token = token
	return nil
}

func (w *world[T]) Poll(_ context.Context, token string) (bool, error) {
	_, err := w.begin("poll "+token, "")
	return w.Ended, err
}

func (w *world[T]) Throughput(context.Context, *SQLDatabase) (Throughput, error) {
	return w.around.Throughput, w.call("throughput")
}
func (w *world[T]) Migrate(_ context.Context, _ *SQLDatabase, autoscale bool) error {
	return w.call("migrate to " + map[bool]string{true: "autoscale", false: "fixed"}[autoscale])
}
func (w *world[T]) Connections(_ context.Context, id string) ([]Connection, error) {
	return w.Links, w.call("list " + id)
}
func (w *world[T]) Approve(_ context.Context, c Connection) (string, error) {
	return w.begin("approve "+c.ID, "approval")
}
func (w *world[T]) State(context.Context, *Watcher) (string, error) {
	return w.around.State, w.call("state")
}
func (w *world[T]) Start(context.Context, *Watcher) (string, error) { return w.begin("start", "start") }
func (w *world[T]) Sync(context.Context, *BackupVaultsBackupInstance) (string, error) {
	return w.begin("sync", "sync")
}
func (w *world[T]) Open(context.Context, *VaultKey) (Keys, error) { return w, w.err("open") }
func (w *world[T]) Get(_ context.Context, name string) (*LiveKey, error) {
	return w.Live, w.key("key", name, w.Live != nil)
}
func (w *world[T]) GetDeleted(_ context.Context, name string) error {
	return w.key("deleted", name, w.Deleted)
}
func (w *world[T]) Recover(_ context.Context, name string) error { return w.key("recover", name, true) }
func (w *world[T]) Purge(_ context.Context, name string) error   { return w.key("purge", name, true) }
func (w *world[T]) Update(_ context.Context, name string, change KeyChange) error {
	text, err := json.Marshal(change)
	return errors.Join(err, w.key("update "+regexp.MustCompile(`,?"\w+":null,?`).ReplaceAllString(string(text), ""), name, true))
}

// key returns the error of a call about a key of the vault, which has keys named
// disk only.
func (w *world[T]) key(what, name string, there bool) error {
	if err := w.call(what); err != nil || there && name == "disk" {
		return err
	}
	return refused(404, "KeyNotFound", "")
}

// pass runs one pass of a resource, with a PUT.
func (w *world[T]) pass(ctx context.Context, ext flow.Extensions[T], resource T) flow.Outcome {
	ops := flow.Operations[T]{
		Key: func(T) string { return "a" },
		Apply: func(context.Context, *flow.Request[T]) (flow.Progress, error) {
			if w.calls = append(w.calls, "put"); w.UnderWay {
				return flow.InProgress("put", 0), w.put
			}
			return flow.Done(), w.put
		},
	}
	return flow.New("Test", ops, ext, flow.WithErrors(azure.Errors())).Reconcile(ctx, resource)
}

// of returns a value with fields in YAML.
func of[T any](fields string) *T {
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(fields), out); err != nil {
		panic(fields + ": " + err.Error())
	}
	return out
}

// row is a case: a resource, the world around it, and the decision of the check.
type row struct {
	reason       string
	resource, in string // in YAML
	want         string // "proceed", "fail", or "block REASON", and the retry of a block if it is not slow
	says         string // a part of the message with the awaited objects, or of the error
	calls        string
}

// decide runs a chain of checks for each row. W is the type of the owner.
func decide[W, R any](t *testing.T, c func(*world[*R]) checks.Chain[*R], rows map[string]row) {
	t.Helper()
	try[W](t, func(t *testing.T, w *world[*R], req *checks.Request[*R]) (got, text string) {
		var ctx context.Context
		ctx, w.cancel = context.WithCancel(t.Context()) // a token is stored and removed even after that
		res, err := checks.Compose(c(w))(ctx, req)
		if err != nil {
			return "fail", err.Error()
		}
		return decision(res), res.Message() + fmt.Sprint(res.WaitingFor())
	}, rows)
}

// try calls do for each row.
func try[W, R any](t *testing.T, do func(*testing.T, *world[*R], *checks.Request[*R]) (got, text string), rows map[string]row) {
	t.Helper()
	for name, tc := range rows {
		t.Run(name, func(t *testing.T) {
			w := &world[*R]{around: *of[around](tc.in)}
			req := &checks.Request[*R]{Resource: of[R](tc.resource), Presence: checks.PresenceOf(!w.Absent)}
			if w.Unread {
				req.Presence = checks.PresenceUnknown
			}
			if req.Deleting = w.Deleting; w.Owner != nil {
				req.Owner = checks.Object{Ref: cmp.Or(w.Owner.Ref, ownerRef), Deleting: w.Owner.Deleting}
			}
			if req.Owner.Ref == ownerRef && w.Owner.Value != nil {
				fields, _ := yaml.Marshal(w.Owner.Value)
				req.Owner.Value = of[W](string(fields))
			}
			if w.Target != nil {
				req.Resolver = func(_ context.Context, ref checks.Ref) (checks.Object, error) {
					ref.ID = w.Target.Ref.ID
					return checks.Object{Ref: ref, Value: w.Target.Value}, w.err("resolve")
				}
			}
			got, text := do(t, w, req)
			if calls := strings.Join(w.calls, ", "); got != tc.want || !strings.Contains(text, tc.says) || calls != tc.calls {
				t.Errorf("%s: %s: %s, after %q, want %q with %q, after %q", tc.reason, got, text, calls, tc.want, tc.says, tc.calls)
			}
		})
	}
}

// answer returns the result of a chain of checks, which must not fail.
func answer[R any](t *testing.T, c chain.Chain[R, checks.Result], req R) checks.Result {
	t.Helper()
	res, err := checks.Compose(c)(t.Context(), req)
	if err != nil {
		t.Error(err)
	}
	return res
}

// decision describes a result as a row does.
func decision(res checks.Result) string {
	verdict, reason := res.Describe()
	if res.Blocked() && res.Retry() != classify.Slow {
		reason += " " + res.Retry().String()
	}
	return strings.TrimSpace(verdict + " " + reason)
}

var ownerRef = checks.Ref{Kind: "Owner", Name: "prod"}

func owned(by any) checks.Object { return checks.Object{Ref: ownerRef, Value: by} }
