package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/classify"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
)

var (
	clusterX  = clusterID("here", "x")
	databaseY = databaseID("here", "x", "y")
)

// clock is a clock that the test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time        { return c.at }
func (c *clock) after(d time.Duration) { c.at = c.at.Add(d) }

// newTestCloud returns a cloud with a cluster in a state.
func newTestCloud(t *testing.T, state v1.State) (*Cloud, *clock) {
	t.Helper()
	c, at := NewCloud(), &clock{time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	c.now = at.now
	if state == "" {
		return c, at
	}
	must(t, second(c.Put(clusterX, Thing{SKU: "S", Size: 2}, "")))
	if state == v1.StateCreating {
		return c, at
	}
	at.after(clusterTakes + clusterServes)
	switch state {
	case v1.StateStopping, v1.StateStopped, v1.StateStarting:
		must(t, second(c.Post(clusterX, "stop", "")))
	case v1.StateDeleting:
		_, err := c.Delete(clusterX, "")
		must(t, err)
	}
	if state == v1.StateStopped || state == v1.StateStarting {
		at.after(clusterStops)
	}
	if state == v1.StateStarting {
		must(t, second(c.Post(clusterX, "start", "")))
	}
	return c, at
}

func second(_ Thing, _ string, err error) error { return err }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCloudRefuses(t *testing.T) {
	put := func(id string) func(*Cloud) error {
		return func(c *Cloud) error { return second(c.Put(id, Thing{}, "")) }
	}
	remove := func(id string) func(*Cloud) error {
		return func(c *Cloud) error { _, err := c.Delete(id, ""); return err }
	}
	get := func(id string) func(*Cloud) error {
		return func(c *Cloud) error { _, err := c.Get(id); return err }
	}
	cases := map[string]struct {
		reason string
		state  v1.State // of the cluster; empty: no cluster
		ask    func(*Cloud) error
		code   string
		status int
	}{
		"NoCluster":        {reason: "the cluster does not exist", ask: get(clusterX), code: "ResourceNotFound", status: 404},
		"NoOwner":          {reason: "a database needs a cluster", ask: put(databaseY), code: "ParentResourceNotFound", status: 404},
		"Creating":         {reason: "the cluster does not run yet", state: v1.StateCreating, ask: put(databaseY), code: "BadRequest", status: 400},
		"Stopping":         {reason: "the cluster does not run any more", state: v1.StateStopping, ask: get(databaseY), code: "BadRequest", status: 400},
		"Stopped":          {reason: "the cluster does not run", state: v1.StateStopped, ask: remove(databaseY), code: "BadRequest", status: 400},
		"Starting":         {reason: "the cluster does not run yet", state: v1.StateStarting, ask: get(databaseY), code: "BadRequest", status: 400},
		"OwnerDeleting":    {reason: "the cluster is being deleted", state: v1.StateDeleting, ask: get(databaseY), code: "BadRequest", status: 400},
		"NoDatabase":       {reason: "the database does not exist", state: v1.StateRunning, ask: get(databaseY), code: "ResourceNotFound", status: 404},
		"NothingToDelete":  {reason: "the database does not exist", state: v1.StateRunning, ask: remove(databaseY), code: "ResourceNotFound", status: 404},
		"Busy":             {reason: "the cluster has an operation under way", state: v1.StateCreating, ask: put(clusterX), code: "AnotherOperationInProgress", status: 409},
		"BusyStopping":     {reason: "the cluster has an operation under way", state: v1.StateStopping, ask: remove(clusterX), code: "AnotherOperationInProgress", status: 409},
		"UnknownOperation": {reason: "the operation was never started", ask: func(c *Cloud) error { _, err := c.Poll("rubbish"); return err }, code: "OperationNotFound", status: 404},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, _ := newTestCloud(t, tc.state)
			err := tc.ask(c)
			f := classify.NewFailure(err, "", time.Time{})
			if f.Code != tc.code || f.Status != tc.status {
				t.Errorf("%s: %s %d: %v", tc.reason, f.Code, f.Status, err)
			}
			all := c.Requests()
			if last := all[len(all)-1]; (last.Refused != "") != (tc.status != 404) {
				t.Errorf("%s: a 404 is recorded as refused: %+v", tc.reason, last)
			}
		})
	}
}

// TestCloudCluster follows the states of a cluster from its creation to its
// deletion.
func TestCloudCluster(t *testing.T) {
	c, at := newTestCloud(t, v1.StateCreating)
	want := func(state v1.State, provisioning v1.ProvisioningState) {
		t.Helper()
		found, err := c.Get(clusterX)
		must(t, err)
		if diff := cmp.Diff(Thing{SKU: "S", Size: 2, State: state, ProvisioningState: provisioning}, found, cmpopts.IgnoreUnexported(Thing{})); diff != "" {
			t.Errorf("-want +found:\n%s", diff)
		}
	}
	want(v1.StateCreating, v1.ProvisioningCreating)
	at.after(clusterTakes)
	want(v1.StateCreating, v1.ProvisioningSucceeded)
	at.after(clusterServes)
	want(v1.StateRunning, v1.ProvisioningSucceeded)

	must(t, second(c.Put(databaseY, Thing{RetentionDays: 3}, "")))
	at.after(databaseTakes)
	must(t, second(c.Post(clusterX, "stop", "")))
	want(v1.StateStopping, v1.ProvisioningUpdating)
	at.after(clusterStops)
	want(v1.StateStopped, v1.ProvisioningSucceeded)
	must(t, second(c.Post(clusterX, "start", "")))
	at.after(clusterStops)
	want(v1.StateStarting, v1.ProvisioningSucceeded)
	at.after(clusterServes)
	want(v1.StateRunning, v1.ProvisioningSucceeded)

	token, err := c.Delete(clusterX, "")
	must(t, err)
	want(v1.StateDeleting, v1.ProvisioningDeleting)
	if status, err := c.Poll(token); status != (Status{Again: askAgainIn}) || err != nil {
		t.Errorf("want an operation under way: %+v %v", status, err)
	}
	at.after(clusterDeleted)
	if status, err := c.Poll(token); status != (Status{Done: true}) || err != nil {
		t.Errorf("want a done operation: %+v %v", status, err)
	}
	if _, err := c.Get(databaseY); !notThere(err) || len(c.things) > 0 {
		t.Errorf("want the databases deleted with the cluster: %v, %v", err, c.things)
	}
}
