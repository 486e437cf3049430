package ctrlx_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/flow"
)

// A leader that was paused inside of an operation resumes after another process
// has led. It changes the stored operation only if it is the one that its pass
// read. The next pass continues what the other process has stored.
func TestOvertaken(t *testing.T) {
	other := func(token string) func(*harness) { return func(d *harness) { d.recorded(operating(token)) } }
	cases := map[string]struct {
		reason   string
		before   string         // the stored token that the pass reads
		deleting bool           // a user deletes the object
		during   func(*harness) // another process, while the operation is called
		returns  flow.Progress  // of the operation
		stored   string         // the token after the pass
		says     string         // Ready after the pass
		polls    string         // the token that the next pass gives to the operation
	}{
		"Started": {reason: "both processes started an operation: the stored one is known to the leader", during: other("theirs"),
			returns: flow.InProgress("ours", 0), stored: "theirs", says: "nothing", polls: "theirs"},
		"Polled": {reason: "the cloud gave a new token for an operation that the leader has replaced", before: "ours", during: other("theirs"),
			returns: flow.InProgress("ours again", 0), stored: "theirs", says: "nothing", polls: "theirs"},
		"Done": {reason: "the end of our operation is not the end of theirs, so the object is not Ready", before: "ours", during: other("theirs"),
			returns: flow.Done(), stored: "theirs", says: "nothing", polls: "theirs"},
		"Ended": {reason: "the leader has seen the end of the operation", before: "ours", during: other(""),
			returns: flow.InProgress("ours again", 0), stored: "", says: "nothing", polls: ""},
		"DeletedOurs": {reason: "the end of our DELETE is not the end of theirs, so the finalizer stays", before: "delete:ours", deleting: true, during: other("delete:theirs"),
			returns: flow.Done(), stored: "delete:theirs", says: "nothing", polls: "theirs"},
		"Unrelated": {reason: "another controller wrote a condition of its own", before: "ours",
			during: func(d *harness) {
				a := d.read()
				meta.SetStatusCondition(&a.Status.Conditions, metav1.Condition{Type: "Theirs", Status: "True", Reason: "Other", LastTransitionTime: metav1.NewTime(noon)})
				if err := d.api.Status().Update(context.Background(), a); err != nil {
					d.t.Fatal(err)
				}
			},
			returns: flow.InProgress("ours again", 0), stored: "ours again", says: "nothing", polls: "ours again"},
		"Clock": {reason: "the other process changed another part of the record", before: "ours",
			during: func(d *harness) {
				d.recorded(func(r *record.Record) { r.Clock = &record.Clock{Since: metav1.NewTime(noon), Self: "x"} })
			},
			returns: flow.InProgress("ours again", 0), stored: "ours again", says: "nothing Processing", polls: "ours again"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			if tc.before != "" {
				d.recorded(operating(tc.before))
			}
			if tc.deleting {
				if err := d.api.Delete(t.Context(), d.read()); err != nil {
					t.Fatal(err)
				}
			}
			var tokens []string
			operation := func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				if tokens = append(tokens, req.Token); len(tokens) > 1 {
					return flow.InProgress("next", 0), nil
				}
				tc.during(d)
				return tc.returns, nil
			}
			d.apply, d.remove = operation, operation
			d.use(d.reconciler(flow.Extensions[*App]{}))
			if again := d.pass(); again <= 0 || again > minutes(1).Duration {
				t.Errorf("%s: the next pass comes in %s", tc.reason, again)
			}
			if got := d.stored(); got != tc.stored {
				t.Errorf("%s: the stored token is %q, want %q", tc.reason, got, tc.stored)
			}
			if got := d.says(); got != tc.says {
				t.Errorf("%s: the object says %q, want %q", tc.reason, got, tc.says)
			}
			d.pass()
			if len(tokens) != 2 || tokens[1] != tc.polls {
				t.Errorf("%s: the operation got the tokens %q, and then wants %q", tc.reason, tokens, tc.polls)
			}
		})
	}
}
