package ctrlx_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

var tokenKey = bytes.Repeat([]byte{7}, 32)

// operationOf returns the stored operation of a database; "": none.
func operationOf(d *testv1.Database) string {
	if c := record.In(d.Status.Conditions); record.MayHoldOperation(c) {
		return c.Message
	}
	return ""
}

// Users make objects with the stored operation of another object: they copy a
// manifest, restore a backup, or write a token of their own. No such token
// reaches the cloud.
func TestForeignOperation(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		opts   []ctrlx.Option
		make   func(original, copied *testv1.Database) // writes into the status of the copy
		want   string                                  // the Ready condition of the copy
		event  string
		says   string // part of its message
	}{
		"Copied": {
			reason: "the status of an object whose operation is under way",
			make:   func(original, copied *testv1.Database) { copied.Status = original.Status },
			want:   "False InProgress", event: ctrlx.ReasonOperationCopied,
		},
		"CopiedWithKey": {
			reason: "a valid signature, for another object",
			opts:   []ctrlx.Option{ctrlx.WithTokenKey(tokenKey)},
			make:   func(original, copied *testv1.Database) { copied.Status = original.Status },
			want:   "False InProgress", event: ctrlx.ReasonOperationCopied,
		},
		"Forged": {
			reason: "a record for the object itself, made by a person who may write the status",
			opts:   []ctrlx.Option{ctrlx.WithTokenKey(tokenKey)},
			make: func(_, copied *testv1.Database) {
				forged := record.Encode(record.Record{UID: copied.UID, Kind: "Database." + testv1.GroupVersion.Group,
					Operation: &record.Operation{Generation: 1, Token: "https://evil.example.com"}}, nil, 1, time.Now())
				copied.Status.Conditions = []metav1.Condition{*forged}
			},
			want: "False " + ctrlx.ReasonOperationUnverified, says: "no valid signature",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, c := newOperator(t), newCloud()
			databases := func() *ctrlx.Reconciler[*testv1.Database] {
				return ctrlx.New("Database", flow.Operations[*testv1.Database]{Apply: c.apply}, flow.Extensions[*testv1.Database]{}, tc.opts...)
			}
			o.database("original", "")
			o.start(databases())
			original := o.when("original", func(d *testv1.Database) bool { return operationOf(d) != "" })
			o.stop()
			made := o.database("copy", "")
			tc.make(original, made)
			if err := api.Status().Update(t.Context(), made); err != nil {
				t.Fatal(err)
			}
			o.start(databases())
			if tc.event != "" { // the conditions of the original hide the progress of the copy
				o.when("copy", func(d *testv1.Database) bool { return strings.Contains(operationOf(d), string(made.UID)) })
				o.untilEvent("copy", tc.event)
			} else {
				d := o.until("copy", tc.want)
				if m := meta.FindStatusCondition(d.Status.Conditions, "Ready").Message; !strings.Contains(m, tc.says) {
					t.Errorf("%s: the message is %q", tc.reason, m)
				}
				c.mu.Lock()
				if c.begun[made.UID] > 0 || len(c.polled[made.UID]) > 0 {
					t.Errorf("%s: an operation was begun or polled", tc.reason)
				}
				c.mu.Unlock()
				// A person finds no operation in the cloud and removes the record.
				if diff := cmp.Diff(record.In(made.Status.Conditions).Message, record.In(d.Status.Conditions).Message); diff != "" {
					t.Errorf("%s: the refused record does not stay byte for byte:\n%s", tc.reason, diff)
				}
				o.writeStatus("copy", func(d *testv1.Database) { meta.RemoveStatusCondition(&d.Status.Conditions, ctrlx.ConditionRecord) })
			}
			c.finish()
			o.until("copy", "True Succeeded")
			c.check(t) // one operation for each object, polled with its own token
		})
	}
}

// untilEvent waits until there is an event about a database.
func (o *operator) untilEvent(name, reason string) {
	o.t.Helper()
	list := &eventsv1.EventList{}
	if err := apiserver.Until(o.t.Context(), func(ctx context.Context) (bool, error) {
		err := api.List(ctx, list, client.InNamespace(o.namespace))
		return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool { return e.Reason == reason && e.Regarding.Name == name }), err
	}); err != nil {
		o.t.Fatalf("there is no event %s of %s: %v", reason, name, err)
	}
}

// writeStatus changes the status of a database until no other writer is in between.
func (o *operator) writeStatus(name string, change func(*testv1.Database)) {
	o.t.Helper()
	o.when(name, func(d *testv1.Database) bool {
		change(d)
		return api.Status().Update(o.t.Context(), d) == nil
	})
}

// Another writer changes the status while an operation begins. The operation is
// stored all the same, and the other writer's change stays.
func TestOperationStoredDespiteConflict(t *testing.T) {
	t.Parallel()
	o, c := newOperator(t), newCloud()
	c.begins = func(d *testv1.Database) {
		now := &testv1.Database{}
		if err := api.Get(context.Background(), client.ObjectKeyFromObject(d), now); err != nil {
			t.Error(err)
		}
		meta.SetStatusCondition(&now.Status.Conditions, metav1.Condition{Type: "Theirs", Status: "True", Reason: "Other", Message: "another writer"})
		if err := api.Status().Update(context.Background(), now); err != nil {
			t.Error(err)
		}
	}
	o.database("db", "")
	o.start(ctrlx.New("Database", flow.Operations[*testv1.Database]{Apply: c.apply}, flow.Extensions[*testv1.Database]{}))
	c.next(t, "poll")
	c.finish()
	d := o.until("db", "True Succeeded")
	if !meta.IsStatusConditionTrue(d.Status.Conditions, "Theirs") || operationOf(d) != "" {
		t.Errorf("the status is %+v", d.Status)
	}
	c.check(t)
}

// An Apply that replaces the whole status in memory does not remove the stored
// operation. The next process polls it.
func TestOperationOutlivesTheStatus(t *testing.T) {
	t.Parallel()
	o, c := newOperator(t), newCloud()
	apply := func(ctx context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
		p, err := c.apply(ctx, req)
		c.mu.Lock()
		req.Resource.Status = testv1.DatabaseStatus{Size: len(c.polled[req.Resource.UID])} // each poll changes it
		c.mu.Unlock()
		return p, err
	}
	databases := func() *ctrlx.Reconciler[*testv1.Database] {
		return ctrlx.New("Database", flow.Operations[*testv1.Database]{Apply: apply}, flow.Extensions[*testv1.Database]{})
	}
	o.database("db", "")
	o.start(databases())
	o.when("db", func(d *testv1.Database) bool { return d.Status.Size >= 2 })
	o.stop()
	o.start(databases())
	c.next(t, "poll")
	c.finish()
	d := o.until("db", "True Succeeded")
	if operationOf(d) != "" {
		t.Errorf("the operation is done and still stored: %+v", d.Status)
	}
	c.check(t)
}
