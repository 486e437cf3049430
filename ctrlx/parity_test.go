package ctrlx_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

// The states that an object of SAP component-operator-runtime goes through, and what becomes of each here. Both say the same of
// the same trigger in the condition Ready, unless differs says how, and why.
func TestStatesOfComponents(t *testing.T) {
	const minute = time.Minute
	retriable := ctrlx.NewRetriableError(errBroken, ptr.To(3*minute))
	timed := AppSpec{Timeout: minutes(10), Requeue: minutes(20)}
	overdue := func(and ...func(*harness)) func(*harness) {
		return func(d *harness) {
			goesOn(d)
			d.pass()
			d.now = d.now.Add(10 * minute)
			for _, do := range and {
				do(d)
			}
		}
	}
	blocks := func(d *harness) { d.fails = "delete check" }
	cases := map[string]struct {
		theirs  string // state, Ready, reason, requeue delay
		differs string
		do      func(*harness)
		says    string
		after   time.Duration
	}{
		"FirstSeen": {"Pending, Unknown, FirstSeen, 1ms",
			"the pass continues at once: a pass of its own would have nothing to do", func(*harness) {}, "True Succeeded", 20 * minute},
		"FinalizerAdded": {"unchanged, 1ms",
			"the pass continues at once, with the answer of the API server", func(d *harness) { a := d.read(); a.Finalizers = nil; d.update(a) }, "True Succeeded", 20 * minute},
		"Suspended": {"Pending, Unknown, Suspended, back-off",
			"False, as all that is not ready: tools read kstatus; a change wakes it, so that it is requeued at the resync only", suspend(true), "False Suspended Paused", time.Hour},
		"Restarting": {"Processing, Unknown, Restarting, 1ms",
			"the pass continues at once and reports its own result; the clock starts again all the same",
			overdue(annotate("changed", "yes")), "False InProgress Reconciling Processing", minute},
		"Processing": {"Processing, Unknown, Processing, back-off",
			"InProgress, as all flows say, and False, as all that is not ready; the operation says when to poll it", goesOn, "False InProgress Reconciling Processing", minute},
		"ProcessingTimeout": {"Error, False, Timeout, back-off",
			"", overdue(), "False Timeout Stalled Processing", minute},
		"ReadyAfterProcessing": {"Ready, True, Ready, 1ms for an extra pass",
			"Succeeded, as all flows say; no extra pass, since one pass sees both", overdue(done), "True Succeeded", 20 * minute},
		"Ready": {"Ready, True, Ready, requeue interval",
			"Succeeded, as all flows say", func(*harness) {}, "True Succeeded", 20 * minute},
		"RetriableError": {"Pending, Unknown, Retrying, retry interval",
			"False, as all that is not ready", fails(retriable), "False Retrying Reconciling", 3 * minute},
		"RetriableErrorTimeout": {"Pending, Unknown, Timeout, retry interval",
			"False, as all that is not ready", overdue(fails(retriable)), "False Timeout Reconciling Processing", 3 * minute},
		"Error": {"Error, False, Error, the error is returned",
			"the reason names the error; the back-off is the flow's, and the error is classified before: not every one is final", fails(errBroken), "False Unknown Reconciling", time.Second},
		"ErrorTimeout": {"Error, False, Timeout, the error is returned",
			"the back-off is the flow's", overdue(fails(errBroken)), "False Timeout Stalled Processing", time.Second},
		"DeletionBlocked": {"Deleting, Unknown, DeletionBlocked, 1s and back-off",
			"the reason is that of the check", func(d *harness) { blocks(d); deleted(d) }, "False Held Reconciling", time.Second},
		"ForeignFinalizer": {"Deleting, Unknown, DeletionBlocked: nothing is deleted before foreign finalizers are gone",
			"it is deleted at once, as finalizers mean it; who wants to wait has a check on DeleteCheck", func(d *harness) {
				a := d.read()
				a.Finalizers = append(a.Finalizers, "example.com/foreign")
				d.update(a)
				deleted(d)
			}, "nothing", 0},
		"DeletionProcessing": {"Deleting, Unknown, DeletionProcessing, back-off",
			"Deleting, as all flows say", func(d *harness) { d.remove = inProgress(d); deleted(d) }, "False Deleting Reconciling", minute},
		"DeletionRetrying": {"DeletionPending, Unknown, DeletionRetrying, retry interval",
			"Retrying: that it is deleted everybody can see", func(d *harness) { d.remove = failure(retriable); deleted(d) }, "False Retrying Reconciling", 3 * minute},
		"DeletionError": {"Error, False, Error, the error is returned",
			"the reason names the error", func(d *harness) { d.remove = failure(errBroken); deleted(d) }, "False Unknown Reconciling", time.Second},
		"Deleted": {"nothing is written",
			"", deleted, "gone", 0},

		"ErrorsFromTheStart": {"errors before anything was applied never reach Timeout",
			"", func(d *harness) {
				fails(errBroken)(d)
				d.pass()
				d.now = d.now.Add(24 * time.Hour)
			}, "False Unknown Reconciling", time.Second},
		"FlickerAfterReady": {"what is not ready any more after it was starts a new time-out",
			"", func(d *harness) {
				d.pass()
				d.now = d.now.Add(24 * time.Hour)
				goesOn(d)
			}, "False InProgress Reconciling Processing", minute},
		"ResumedStartsAgain": {"the clock runs on while suspended, and resuming is a change, which starts it again",
			"a suspended object has no clock, for the suspension is a change already", overdue(suspend(true), passed, suspend(false)), "False InProgress Reconciling Processing", minute},
		"NoTimeoutWhileDeleting": {"there is no time-out of a deletion",
			"", overdue(func(d *harness) { d.remove = inProgress(d) }, deleted), "False Deleting Reconciling", minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(timed))
			d.use(d.hooked(&d.fails))
			tc.do(d)
			after := d.pass()
			if got := d.saysOrGone(); got != tc.says || after != tc.after {
				t.Errorf("theirs: %s. ours (%s): it says %q and is requeued after %s, not %q after %s", tc.theirs, tc.differs, got, after, tc.says, tc.after)
			}
		})
	}
}

// The messages of retriable errors differ from those of SAP
// component-operator-runtime.
func TestMessagesOfComponents(t *testing.T) {
	retriable := ctrlx.NewRetriableError(errBroken, ptr.To(time.Minute))
	cases := map[string]struct {
		theirs, differs string // differs: the reason for the difference
		err             error
		want            string
	}{
		"Plain": {"The cloud is broken", "the text is that of the error, also its first letter", retriable, "the cloud is broken"},
		"Wrapped": {"The cloud is broken", "a wrapper names the step that failed",
			fmt.Errorf("reading the source: %w", retriable), "reading the source: the cloud is broken"},
		"Joined": {"The cloud is broken", "no cause stays hidden, even if a text then occurs twice",
			errors.Join(io.EOF, retriable, errBroken), "EOF; the cloud is broken; the cloud is broken"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.use(d.reconciler(flow.Extensions[*App]{}))
			fails(tc.err)(d)
			d.pass()
			if got := d.message(); got != tc.want {
				t.Errorf("theirs: %q. ours (%s): %q, want %q", tc.theirs, tc.differs, got, tc.want)
			}
		})
	}
}

func passed(d *harness) { d.pass() }
