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

// onlySucceeded is ASO's rule, which does not fold case.
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
			tc.because = "with another spelling than today's it would wait for ever"
			cases[name] = tc
		}
	}
	cases["properties nil"] = row[*CassandraDataCenter]{
		reason: "nothing at all is reported", in: ownedBy(center, &CassandraCluster{}), want: blocks, with: checks.ReasonOwnerStateUnknown,
		aso: panics, because: "a nil on the way to a state is a state that is not reported",
	}
	decide(t, flow.PointOwnerCheck, CassandraDataCenterExtensions(), cases)
}

// With the options WithExactStates and WithUnknownAllowed the rule is ASO's, letter by letter.
func TestCassandraDataCenterExact(t *testing.T) {
	exact := flow.Extensions[*CassandraDataCenter]{
		OwnerCheck: chain.New(checks.OwnerProvisioningState(cassandraClusterState, checks.WithAllowed("Succeeded"), checks.WithExactStates(), checks.WithUnknownAllowed())),
	}
	cases := map[string]row[*CassandraDataCenter]{}
	for _, word := range words {
		for _, state := range spellings(word) {
			tc := row[*CassandraDataCenter]{
				reason: "letter by letter", in: ownedBy(&CassandraDataCenter{}, cassandraCluster(&state)),
				want: onlySucceeded(state), aso: onlySucceeded(state),
			}
			if tc.want == blocks {
				tc.with = checks.ReasonOwnerState
			}
			cases[state] = tc
		}
	}
	cases["nil"] = row[*CassandraDataCenter]{
		reason: "this one, too", in: ownedBy(&CassandraDataCenter{}, cassandraCluster(nil)), want: proceeds, aso: proceeds,
	}
	cases["properties nil"] = row[*CassandraDataCenter]{
		reason: "but for the panic", in: ownedBy(&CassandraDataCenter{}, &CassandraCluster{}), want: proceeds,
		aso: panics, because: "a nil on the way to a state is a state that is not reported",
	}
	decide(t, flow.PointOwnerCheck, exact, cases)
}

func TestDatabaseAccount(t *testing.T) {
	decide(t, flow.PointPreCheck, DatabaseAccountExtensions(), ownState("not Deleting", deny("Deleting"), func(state *string) *DatabaseAccount {
		a := &DatabaseAccount{Name: "carts"}
		a.Status.ProvisioningState = state
		return a
	}))
}

// offers is Cosmos DB, as far as throughput goes.
type offers struct {
	throughput Throughput
	refuses    map[string]error // what a call gives, by its name
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
			reason: "there is nothing to change", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)},
			want: proceeds, aso: proceeds,
		}, calls: "throughput"},
		"autoscale, as wanted": {row: row[*SQLDatabase]{
			reason: "there is nothing to change", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)},
			want: proceeds, aso: proceeds,
		}, has: Throughput{Autoscale: true}, calls: "throughput"},
		"fixed, autoscale wanted": {row: row[*SQLDatabase]{
			reason: "a PUT cannot change it", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)}, want: blocks,
			with: "ThroughputMigrating", aso: blocks,
		}, calls: "throughput, to autoscale"},
		"autoscale, fixed wanted": {row: row[*SQLDatabase]{
			reason: "nor back", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)}, want: blocks,
			with: "ThroughputMigrating", aso: blocks,
		}, has: Throughput{Autoscale: true}, calls: "throughput, to fixed"},
		"pending": {row: row[*SQLDatabase]{
			reason: "Azure refuses all else meanwhile", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)},
			want: blocks, with: "ThroughputPending", aso: blocks,
		}, has: Throughput{OfferReplacePending: new("true")}, calls: "throughput"},
		"pending, as wanted": {row: row[*SQLDatabase]{
			reason: "the amount is being changed", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)},
			want: blocks, with: "ThroughputPending", aso: blocks,
		}, has: Throughput{OfferReplacePending: new("true")}, calls: "throughput"},
		"pending in capitals": {row: row[*SQLDatabase]{
			reason: "that is pending, too", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)}, want: blocks,
			with: "ThroughputPending",
			aso:  proceeds, because: "it is a truth value in a string, of any spelling",
		}, has: Throughput{OfferReplacePending: new("TRUE")}, calls: "throughput"},
		"pending perhaps": {row: row[*SQLDatabase]{
			reason: "what is not known is not over", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)},
			want: blocks, with: "ThroughputPending",
			aso: proceeds, because: "only false is known to be over",
		}, has: Throughput{OfferReplacePending: new("queued")}, calls: "throughput"},
		"not pending": {row: row[*SQLDatabase]{
			reason: "it says so", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)}, want: proceeds, aso: proceeds,
		}, has: Throughput{OfferReplacePending: new(" False ")}, calls: "throughput"},
		"pending is blank": {row: row[*SQLDatabase]{
			reason: "nothing is said", in: subject[*SQLDatabase]{resource: sqlDatabase(true, false)}, want: proceeds, aso: proceeds,
		}, has: Throughput{OfferReplacePending: new("")}, calls: "throughput"},
		"no throughput of its own": {row: row[*SQLDatabase]{
			reason: "there is nothing to change", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)},
			want: proceeds, aso: proceeds,
		}, refuses: map[string]error{"throughput": refuse(404, "NotFound")}, calls: "throughput"},
		"refused": {row: row[*SQLDatabase]{
			reason: "nothing is known", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)}, want: fails, aso: fails,
		}, refuses: map[string]error{"throughput": refuse(403, "AuthorizationFailed")}, calls: "throughput"},
		"no answer": {row: row[*SQLDatabase]{
			reason: "nothing is known", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)}, want: fails, aso: fails,
		}, refuses: map[string]error{"throughput": errDown}, calls: "throughput"},
		"migration refused": {row: row[*SQLDatabase]{
			reason: "nothing was begun", in: subject[*SQLDatabase]{resource: sqlDatabase(false, true)}, want: fails, aso: fails,
		}, refuses: map[string]error{"migrate": refuse(429, "TooManyRequests")}, calls: "throughput, to autoscale"},
		"migration of nothing": {row: row[*SQLDatabase]{
			reason: "that it is gone between two calls is not what the spec says",
			in:     subject[*SQLDatabase]{resource: sqlDatabase(false, true)}, want: fails, aso: fails,
		}, refuses: map[string]error{"migrate": refuse(404, "NotFound")}, calls: "throughput, to autoscale"},
		"not in the cloud": {row: row[*SQLDatabase]{
			reason: "the PUT makes it as it is wanted",
			in:     subject[*SQLDatabase]{resource: sqlDatabase(false, true), absent: true}, want: proceeds, aso: proceeds,
		}},
		"nothing wanted": {row: row[*SQLDatabase]{
			reason: "it is left to Azure", in: subject[*SQLDatabase]{resource: sqlDatabase(false, false)}, want: proceeds,
		}},
		"options nil": {row: row[*SQLDatabase]{
			reason: "it is left to Azure", in: subject[*SQLDatabase]{resource: &SQLDatabase{}}, want: proceeds,
		}},
		"both wanted": {row: row[*SQLDatabase]{
			reason: "Azure says what is wrong with that", in: subject[*SQLDatabase]{resource: sqlDatabase(true, true)}, want: proceeds,
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.in.lone = true // a second time the fake is in another state
			api := &offers{throughput: tc.has, refuses: tc.refuses}
			decide(t, flow.PointPreCheck, SQLDatabaseExtensions(api), map[string]row[*SQLDatabase]{"alone": tc.row})
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

// A database that a GET has not looked for may be in the cloud.
func TestSQLDatabaseOfUnknownPresence(t *testing.T) {
	api := &offers{}
	res, err := checks.Compose(SQLDatabaseExtensions(api).PreCheck)(t.Context(), &checks.Request[*SQLDatabase]{Resource: sqlDatabase(false, true)})
	if got := strings.Join(api.take(), ", "); err != nil || res.Reason() != "ThroughputMigrating" || got != "throughput, to autoscale" {
		t.Errorf("%v, %v, calls %q: want that Azure is asked", res, err, got)
	}
}

// A migration is begun once, however long it takes, and the PUT comes after it.
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
	come(t, "it could not be begun", out, flow.StateFailed, out.Reason(), calls, "get", "throughput", "to autoscale")
	api.refuses = nil
	out, calls = run()
	come(t, "it is begun", out, flow.StateBlocked, "ThroughputMigrating", calls, "get", "throughput", "to autoscale")
	for range 3 {
		out, calls = run()
		come(t, "it goes on", out, flow.StateBlocked, "ThroughputPending", calls, "get", "throughput")
	}
	api.end(true)
	out, calls = run()
	come(t, "it is over", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", "put", "throughput")
	db.Spec.Options = sqlDatabase(true, false).Spec.Options
	out, calls = run()
	come(t, "and back", out, flow.StateBlocked, "ThroughputMigrating", calls, "get", "throughput", "to fixed")
}
