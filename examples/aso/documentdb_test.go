package aso

import (
	"context"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

func cassandraCluster(state *string) *CassandraCluster {
	c := &CassandraCluster{Name: "events"}
	c.Status.Properties = &struct{ ProvisioningState *string }{state}
	return c
}

// onlySucceeded is ASO's rule, which compares case.
func onlySucceeded(state string) decision {
	if state == "Succeeded" {
		return proceeds
	}
	return blocks
}

func TestCassandraDataCenter(t *testing.T) {
	center := &CassandraDataCenter{Name: "north"}
	cases := ownerState("Succeeded", onlySucceeded, center, cassandraCluster)
	for name, tc := range cases {
		if tc.want == proceeds && tc.aso == blocks && tc.because == "" {
			tc.because = "in another case the data center would wait for ever"
			cases[name] = tc
		}
	}
	cases["properties nil"] = row[*CassandraDataCenter]{
		reason: "no status is reported", in: ownedBy(center, &CassandraCluster{}), want: blocks, with: checks.ReasonOwnerStateUnknown,
		aso: panics, because: "a nil pointer to a state means not reported",
	}
	runCases(t, flow.PointOwnerCheck, CassandraDataCenterExtensions(), cases)
}

// TestCassandraDataCenterExact: with WithExactStates and WithUnknownAllowed the
// check has ASO's rule.
func TestCassandraDataCenterExact(t *testing.T) {
	exact := flow.Extensions[*CassandraDataCenter]{
		OwnerCheck: chain.New(checks.OwnerProvisioningState(cassandraClusterState, checks.WithAllowed("Succeeded"), checks.WithExactStates(), checks.WithUnknownAllowed())),
	}
	cases := map[string]row[*CassandraDataCenter]{}
	for _, word := range words {
		for _, state := range spellings(word) {
			tc := row[*CassandraDataCenter]{
				reason: "states are compared with case", in: ownedBy(&CassandraDataCenter{}, cassandraCluster(&state)),
				want: onlySucceeded(state), aso: onlySucceeded(state),
			}
			if tc.want == blocks {
				tc.with = checks.ReasonOwnerState
			}
			cases[state] = tc
		}
	}
	cases["nil"] = row[*CassandraDataCenter]{
		reason: "a state that is not reported proceeds", in: ownedBy(&CassandraDataCenter{}, cassandraCluster(nil)), want: proceeds, aso: proceeds,
	}
	cases["properties nil"] = row[*CassandraDataCenter]{
		reason: "ASO panics", in: ownedBy(&CassandraDataCenter{}, &CassandraCluster{}), want: proceeds,
		aso: panics, because: "a nil pointer to a state means not reported",
	}
	runCases(t, flow.PointOwnerCheck, exact, cases)
}

func TestDatabaseAccount(t *testing.T) {
	runCases(t, flow.PointPreCheck, DatabaseAccountExtensions(), ownState("not Deleting", deny("Deleting"), func(state *string) *DatabaseAccount {
		a := &DatabaseAccount{Name: "carts"}
		a.Status.ProvisioningState = state
		return a
	}))
}

// offers fakes the throughput of Cosmos DB.
type offers struct {
	throughput Throughput
	refuses    map[string]error // the error of a call, by its name
	calls      []string
}

func (o *offers) Throughput(context.Context, *SQLDatabase) (Throughput, error) {
	o.calls = append(o.calls, "throughput")
	return o.throughput, o.refuses["throughput"]
}

func (o *offers) Migrate(_ context.Context, _ *SQLDatabase, autoscale bool) error {
	call := "to fixed"
	if autoscale {
		call = "to autoscale"
	}
	o.calls = append(o.calls, call)
	if err := o.refuses["migrate"]; err != nil {
		return err
	}
	o.throughput.OfferReplacePending = new("true")
	return nil
}

func (o *offers) take() []string {
	calls := o.calls
	o.calls = nil
	return calls
}

// end ends a migration.
func (o *offers) end(autoscale bool) { o.throughput = Throughput{Autoscale: autoscale} }

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
	cases := map[string]struct {
		row[*SQLDatabase]
		has     Throughput
		refuses map[string]error
		calls   string
	}{
		"fixed, as wanted": {row: row[*SQLDatabase]{
			reason: "the mode is the wanted one", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)},
			want: proceeds, aso: proceeds,
		}, calls: "throughput"},
		"autoscale, as wanted": {row: row[*SQLDatabase]{
			reason: "the mode is the wanted one", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)},
			want: proceeds, aso: proceeds,
		}, has: Throughput{Autoscale: true}, calls: "throughput"},
		"fixed, autoscale wanted": {row: row[*SQLDatabase]{
			reason: "a PUT cannot change the mode", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)}, want: blocks,
			with: "ThroughputMigrating", aso: blocks,
		}, calls: "throughput, to autoscale"},
		"autoscale, fixed wanted": {row: row[*SQLDatabase]{
			reason: "a PUT cannot change the mode", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)}, want: blocks,
			with: "ThroughputMigrating", aso: blocks,
		}, has: Throughput{Autoscale: true}, calls: "throughput, to fixed"},
		"pending": {row: row[*SQLDatabase]{
			reason: "Azure refuses other requests during a change", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)},
			want: blocks, with: "ThroughputPending", aso: blocks,
		}, has: Throughput{OfferReplacePending: new("true")}, calls: "throughput"},
		"pending, as wanted": {row: row[*SQLDatabase]{
			reason: "the amount is being changed", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)},
			want: blocks, with: "ThroughputPending", aso: blocks,
		}, has: Throughput{OfferReplacePending: new("true")}, calls: "throughput"},
		"pending in capitals": {row: row[*SQLDatabase]{
			reason: "the case does not matter", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)}, want: blocks,
			with: "ThroughputPending",
			aso:  proceeds, because: "the value is a boolean as text, in any case",
		}, has: Throughput{OfferReplacePending: new("TRUE")}, calls: "throughput"},
		"pending perhaps": {row: row[*SQLDatabase]{
			reason: "an unknown value counts as pending", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)},
			want: blocks, with: "ThroughputPending",
			aso: proceeds, because: "only false means that no replacement is pending",
		}, has: Throughput{OfferReplacePending: new("queued")}, calls: "throughput"},
		"not pending": {row: row[*SQLDatabase]{
			reason: "no replacement is pending", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)}, want: proceeds, aso: proceeds,
		}, has: Throughput{OfferReplacePending: new(" False ")}, calls: "throughput"},
		"pending is blank": {row: row[*SQLDatabase]{
			reason: "a blank value is not reported", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)}, want: proceeds, aso: proceeds,
		}, has: Throughput{OfferReplacePending: new("")}, calls: "throughput"},
		"no throughput of its own": {row: row[*SQLDatabase]{
			reason: "no mode to change", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)},
			want: proceeds, aso: proceeds,
		}, refuses: map[string]error{"throughput": refuse(404, "NotFound")}, calls: "throughput"},
		"refused": {row: row[*SQLDatabase]{
			reason: "the throughput is unknown", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)}, want: fails, aso: fails,
		}, refuses: map[string]error{"throughput": refuse(403, "AuthorizationFailed")}, calls: "throughput"},
		"no answer": {row: row[*SQLDatabase]{
			reason: "the throughput is unknown", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)}, want: fails, aso: fails,
		}, refuses: map[string]error{"throughput": errDown}, calls: "throughput"},
		"migration refused": {row: row[*SQLDatabase]{
			reason: "the migration did not begin", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)}, want: fails, aso: fails,
		}, refuses: map[string]error{"migrate": refuse(429, "TooManyRequests")}, calls: "throughput, to autoscale"},
		"migration of nothing": {row: row[*SQLDatabase]{
			reason: "a database that is gone between two requests is an error",
			in:     subject[*SQLDatabase]{resource: sqlDatabase(false, true)}, want: fails, aso: fails,
		}, refuses: map[string]error{"migrate": refuse(404, "NotFound")}, calls: "throughput, to autoscale"},
		"not in the cloud": {row: row[*SQLDatabase]{
			reason: "the PUT creates the database with the wanted mode",
			in:     subject[*SQLDatabase]{resource: sqlDatabase(false, true), absent: true}, want: proceeds, aso: proceeds,
		}},
		"nothing wanted": {row: row[*SQLDatabase]{
			reason: "Azure chooses the mode", in: subject[*SQLDatabase]{resource: sqlDatabase(false, false)}, want: proceeds,
		}},
		"options nil": {row: row[*SQLDatabase]{
			reason: "Azure chooses the mode", in: subject[*SQLDatabase]{resource: &SQLDatabase{}}, want: proceeds,
		}},
		"both wanted": {row: row[*SQLDatabase]{
			reason: "the error of Azure explains it", in: subject[*SQLDatabase]{resource: sqlDatabase(true, true)}, want: proceeds,
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.in.checkOnly = true // the first run changes the fake
			api := &offers{throughput: tc.has, refuses: tc.refuses}
			runCases(t, flow.PointPreCheck, SQLDatabaseExtensions(api), map[string]row[*SQLDatabase]{"alone": tc.row})
			if got := strings.Join(api.take(), ", "); got != tc.calls {
				t.Errorf("%s: calls %q, want %q", tc.reason, got, tc.calls)
			}
			api = &offers{throughput: tc.has, refuses: tc.refuses}
			pass(t, flow.PointPreCheck, SQLDatabaseExtensions(api), tc.row)
			if got := strings.Join(api.take(), ", "); got != tc.calls {
				t.Errorf("%s: calls of a pass %q, want %q", tc.reason, got, tc.calls)
			}
		})
	}
}

// TestSQLDatabaseOfUnknownPresence: without a Get the database may exist.
func TestSQLDatabaseOfUnknownPresence(t *testing.T) {
	api := &offers{}
	res, err := checks.Compose(SQLDatabaseExtensions(api).PreCheck)(t.Context(), &checks.Request[*SQLDatabase]{Resource: sqlDatabase(false, true)})
	if got := strings.Join(api.take(), ", "); err != nil || res.Reason() != "ThroughputMigrating" || got != "throughput, to autoscale" {
		t.Errorf("%v, %v, calls %q: want a request to Azure", res, err, got)
	}
}

// TestSQLDatabaseMigration: a migration begins once, and the PUT follows it.
func TestSQLDatabaseMigration(t *testing.T) {
	api := &offers{refuses: map[string]error{"migrate": errDown}}
	db := sqlDatabase(false, true)
	c := &cloud[*SQLDatabase]{}
	r := c.reconciler(SQLDatabaseExtensions(api))
	run := func() (flow.Outcome, []string) {
		out := r.Reconcile(t.Context(), db)
		return out, append(c.take(), api.take()...)
	}

	out, calls := run()
	expectPass(t, "the migration did not begin", out, flow.StateFailed, out.Reason(), calls, "get", "throughput", "to autoscale")
	api.refuses = nil
	out, calls = run()
	expectPass(t, "the migration begins", out, flow.StateBlocked, "ThroughputMigrating", calls, "get", "throughput", "to autoscale")
	for range 3 {
		out, calls = run()
		expectPass(t, "the migration is under way", out, flow.StateBlocked, "ThroughputPending", calls, "get", "throughput")
	}
	api.end(true)
	out, calls = run()
	expectPass(t, "the migration has ended", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", "put", "throughput")
	db.Spec.Options = sqlDatabase(true, false).Spec.Options
	out, calls = run()
	expectPass(t, "the migration back begins", out, flow.StateBlocked, "ThroughputMigrating", calls, "get", "throughput", "to fixed")
}
