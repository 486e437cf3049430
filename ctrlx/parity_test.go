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

// The states of an object of component-operator-runtime, and the condition Ready
// here for the same trigger. differs is the reason for a difference.
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
		want    string
		after   time.Duration
	}{
		"FirstSeen": {"Pending, Unknown, FirstSeen, 1ms",
			"the pass continues, because a pass of its own would do nothing", func(*harness) {}, "True Succeeded", 20 * minute},
		"FinalizerAdded": {"unchanged, 1ms",
			"the pass continues with the answer of the API server", func(d *harness) { a := d.read(); a.Finalizers = nil; d.update(a) }, "True Succeeded", 20 * minute},
		"Suspended": {"Pending, Unknown, Suspended, back-off",
			"an object that is not ready has Ready=False, as kstatus expects; a change wakes it, so the requeue is the resync", suspend(true), "False Suspended Paused", time.Hour},
		"Restarting": {"Processing, Unknown, Restarting, 1ms",
			"the pass continues and reports its own result; the clock starts again, too",
			overdue(annotate("changed", "yes")), "False InProgress Reconciling Processing", minute},
		"Processing": {"Processing, Unknown, Processing, back-off",
			"all flows report InProgress with Ready=False; the operation sets the delay of the next poll", goesOn, "False InProgress Reconciling Processing", minute},
		"ProcessingTimeout": {"Error, False, Timeout, back-off",
			"", overdue(), "False Timeout Stalled Processing", minute},
		"ReadyAfterProcessing": {"Ready, True, Ready, 1ms for an extra pass",
			"all flows report Succeeded; one pass does both steps", overdue(done), "True Succeeded", 20 * minute},
		"Ready": {"Ready, True, Ready, requeue interval",
			"all flows report Succeeded", func(*harness) {}, "True Succeeded", 20 * minute},
		"RetriableError": {"Pending, Unknown, Retrying, retry interval",
			"an object that is not ready has Ready=False", fails(retriable), "False Retrying Reconciling", 3 * minute},
		"RetriableErrorTimeout": {"Pending, Unknown, Timeout, retry interval",
			"an object that is not ready has Ready=False", overdue(fails(retriable)), "False Timeout Reconciling Processing", 3 * minute},
		"Error": {"Error, False, Error, the error is returned",
			"the reason is the code of the error; its class sets the delay", fails(errBroken), "False Unknown Reconciling", time.Second},
		"ErrorTimeout": {"Error, False, Timeout, the error is returned",
			"the class of the error sets the delay", overdue(fails(errBroken)), "False Timeout Stalled Processing", time.Second},
		"DeletionBlocked": {"Deleting, Unknown, DeletionBlocked, 1s and back-off",
			"the check sets the reason", func(d *harness) { blocks(d); deleted(d) }, "False Held Reconciling", time.Second},
		"ForeignFinalizer": {"Deleting, Unknown, DeletionBlocked: nothing is deleted before foreign finalizers are gone",
			"it is deleted at once; a check on DeleteCheck can wait for finalizers", func(d *harness) {
				a := d.read()
				a.Finalizers = append(a.Finalizers, "example.com/foreign")
				d.update(a)
				deleted(d)
			}, "False Deleted Reconciling", 0},
		"DeletionProcessing": {"Deleting, Unknown, DeletionProcessing, back-off",
			"all flows report Deleting", func(d *harness) { d.remove = inProgress(d); deleted(d) }, "False Deleting Reconciling", minute},
		"DeletionRetrying": {"DeletionPending, Unknown, DeletionRetrying, retry interval",
			"Retrying: the deletion is visible in the metadata", func(d *harness) { d.remove = failure(retriable); deleted(d) }, "False Retrying Reconciling", 3 * minute},
		"DeletionError": {"Error, False, Error, the error is returned",
			"the reason is the code of the error", func(d *harness) { d.remove = failure(errBroken); deleted(d) }, "False Unknown Reconciling", time.Second},
		"Deleted": {"nothing is written",
			"", deleted, "gone", 0},

		"ErrorsFromTheStart": {"errors before the first apply never reach Timeout",
			"", func(d *harness) {
				fails(errBroken)(d)
				d.pass()
				d.now = d.now.Add(24 * time.Hour)
			}, "False Unknown Reconciling", time.Second},
		"FlickerAfterReady": {"an object that was ready and is not any more starts a new time-out",
			"", func(d *harness) {
				d.pass()
				d.now = d.now.Add(24 * time.Hour)
				goesOn(d)
			}, "False InProgress Reconciling Processing", minute},
		"ResumedStartsAgain": {"the clock runs while the object is suspended; resuming is a change, which starts it again",
			"a suspended object has no clock, because the suspension is a change", overdue(suspend(true), passed, suspend(false)), "False InProgress Reconciling Processing", minute},
		"NoTimeoutWhileDeleting": {"a deletion has no time-out",
			"", overdue(func(d *harness) { d.remove = inProgress(d) }, deleted), "False Deleting Reconciling", minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(timed))
			d.use(d.hooked(&d.fails))
			tc.do(d)
			after := d.pass()
			if got := d.saysOrGone(); got != tc.want || after != tc.after {
				t.Errorf("theirs: %s. ours (%s): the condition is %q, requeued after %s; want %q after %s", tc.theirs, tc.differs, got, after, tc.want, tc.after)
			}
		})
	}
}

// The messages of retriable errors differ from those of component-operator-runtime.
func TestMessagesOfComponents(t *testing.T) {
	retriable := ctrlx.NewRetriableError(errBroken, ptr.To(time.Minute))
	cases := map[string]struct {
		theirs, differs string // differs: the reason for the difference
		err             error
		want            string
	}{
		"Plain": {"The cloud is broken", "the message names the operation, and keeps the text of the error", retriable, "applying failed: the cloud is broken"},
		"Wrapped": {"The cloud is broken", "a wrapper names the step that failed",
			fmt.Errorf("reading the source: %w", retriable), "applying failed: reading the source: the cloud is broken"},
		"Joined": {"The cloud is broken", "no cause is hidden, also if a text then occurs twice",
			errors.Join(io.EOF, retriable, errBroken), "applying failed: EOF; the cloud is broken; the cloud is broken"},
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
