package ctrlx_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// flux is the annotation that "flux reconcile" writes.
const flux = "reconcile.fluxcd.io/requestedAt"

// asks changes annotations of the App "a", and tells its reconciler.
func asks(d *harness, annotations map[string]string) {
	d.t.Helper()
	was := d.read()
	for name, value := range annotations {
		annotate(name, value)(d)
	}
	ctrlx.Updated(d.app, was, d.read())
}

// A request resets the back-off once. The value is then in the status.
func TestRetry(t *testing.T) {
	const own = ctrlx.RetryAnnotation
	after := func(d time.Duration) []time.Duration { return []time.Duration{d, 2 * d} } // of the pass after the request, and of the next one
	stays := checks.Block("Locked", "", checks.WithStatusKept(), checks.WithRetry(classify.Fast))
	cases := map[string]struct {
		reason      string
		annotations []map[string]string // the requests, each after two failures
		check       *checks.Result      // at PreCheck
		want        []time.Duration
		handled     string
	}{
		"Own":        {reason: "it is retried as if it had not failed before", annotations: []map[string]string{{own: "1"}}, want: after(time.Second), handled: "1"},
		"Flux":       {reason: "flux reconcile does the same", annotations: []map[string]string{{flux: "1"}}, want: after(time.Second), handled: "1"},
		"Again":      {reason: "each new value is a request", annotations: []map[string]string{{own: "1"}, {own: "2"}}, want: after(time.Second), handled: "2"},
		"Both":       {reason: "no value hides the other", annotations: []map[string]string{{own: "1"}, {flux: "2"}}, want: after(time.Second), handled: "1,2"},
		"Same":       {reason: "the same value is no request", annotations: []map[string]string{{own: "1"}, {own: "1"}}, want: after(4 * time.Second), handled: "1"},
		"Removed":    {reason: "there is no request any more", annotations: []map[string]string{{own: "1"}, {own: ""}}, want: after(4 * time.Second), handled: "1"},
		"Other":      {reason: "another annotation causes a pass, and resets nothing", annotations: []map[string]string{{"example.com/a": "1"}}, want: after(4 * time.Second)},
		"Long":       {reason: "every user of the object can write the annotation", annotations: []map[string]string{{own: strings.Repeat("x", 300)}}, want: after(time.Second), handled: "digest:d24923841d"},
		"LongFlux":   {reason: "the plugin waits for its own value", annotations: []map[string]string{{own: "1"}, {flux: strings.Repeat("x", 300)}}, want: after(time.Second), handled: "1,digest:d24923841d"},
		"Odd":        {reason: "a line feed forges lines of output", annotations: []map[string]string{{own: "a\nb"}}, want: after(time.Second), handled: "digest:8cb67f89f9"},
		"StatusKept": {reason: "the pass writes nothing, and the request still counts once", annotations: []map[string]string{{own: "1"}}, check: &stays, want: after(time.Second)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(checks.Check("check", func(ctxt, *checks.Request[*App]) (checks.Result, error) {
				if tc.check != nil {
					return *tc.check, nil
				}
				return checks.Proceed(), nil
			}))}))
			fails(errBroken)(d)
			for _, annotations := range tc.annotations {
				d.pass()
				d.pass()
				asks(d, annotations)
			}
			got := []time.Duration{d.pass(), d.pass()}
			same(t, tc.reason+": the delays", tc.want, got)
			a := d.read()
			if a.Status.LastHandled != tc.handled || recordOf(a.Status.Conditions).Handled != "" {
				t.Errorf("%s: the handled request is %q, want %q: %+v", tc.reason, a.Status.LastHandled, tc.handled, a.Status.Conditions)
			}
			writes := d.writes
			d.restart()
			d.use(d.reconciler(flow.Extensions[*App]{}))
			if d.pass(); tc.check == nil && d.writes != writes {
				t.Errorf("%s: after a restart it is written again: %+v", tc.reason, d.read().Status)
			}
		})
	}
}

// A request does what the state of the object allows.
func TestRetryOfStates(t *testing.T) {
	request := func(d *harness) { asks(d, map[string]string{ctrlx.RetryAnnotation: "1"}) }
	cases := map[string]struct {
		reason  string
		spec    AppSpec
		before  func(*harness)
		after   func(*harness)
		says    string
		asked   string
		handled string
	}{
		"OnChange": {"a failure that waits for a change is retried, too", AppSpec{}, fails(reconcile.TerminalError(errBroken)), done, "True Succeeded", "apply", "1"},
		"UnderWay": {"the operation is polled, and not started again", AppSpec{}, goesOn, done, "True Succeeded", "poll token", "1"},
		"Finished": {"a finished object is not reconciled", AppSpec{}, func(d *harness) {
			d.apply = func(ctxt, *flow.Request[*App]) (flow.Progress, error) { return flow.Finished("Complete", ""), nil }
		}, done, "True Complete", "", ""},
		"Suspended": {"the pass that handles the request is blocked", AppSpec{Suspended: true}, done, done, "False Suspended Paused", "", "1"},
		"TimedOut":  {"the clock of the time-out starts again", AppSpec{Timeout: minutes(10)}, goesOn, later(time.Hour), "False InProgress Reconciling Processing", "poll token", "1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(tc.spec)).with(flow.Extensions[*App]{})
			tc.before(d)
			d.pass()
			d.took()
			tc.after(d)
			request(d)
			d.pass()
			if got, asked := d.read(), d.took(); d.says() != tc.says || asked != tc.asked || got.Status.LastHandled != tc.handled {
				t.Errorf("%s: it says %q, asked: %q, handled: %q", tc.reason, d.says(), asked, got.Status.LastHandled)
			}
		})
	}
}

// A request is not lost if the pass cannot read the object, and begins the back-off again.
func TestRetryAfterFailedRead(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.manager.client = &obedient{d.api}
	fails(errBroken)(d.with(flow.Extensions[*App]{}, ctrlx.WithInterrupt(func(_, _ *App) bool { return false })))
	d.pass()
	d.pass()
	asks(d, map[string]string{ctrlx.RetryAnnotation: "1"})
	ctrlx.Updated(d.app, nil, d.read())
	ctrlx.Updated(d.app, d.read(), nil)
	if _, err := d.app.Reconcile(endedContext{t.Context(), errBroken}, reconcile.Request{NamespacedName: named("a")}); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	if after := d.pass(); after != time.Second {
		t.Errorf("it is requeued after %s", after)
	}
	d.apply, d.refuse = nil, apierrors.NewConflict(schema.GroupResource{}, "a", errBroken)
	for range 12 {
		d.pass()
	}
	asks(d, map[string]string{ctrlx.RetryAnnotation: "2"})
	same(t, "the request drops the delay of conflicts in a row", 50*time.Millisecond, d.pass())
}

// On the API server, a request causes a pass at once, also of a resource that waits for an hour. A restart does not
// handle it again. The pass that ends the deletion shows its request, too.
func TestRetryOnTheServer(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	apply := func(_ ctxt, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
		_ = o.note("put")
		if req.Resource.Annotations == nil {
			return flow.Progress{}, errBroken
		}
		return flow.Done(), nil
	}
	hours := flow.WithBackoff(flow.NewBackoff(flow.WithBackoffSteps(classify.Slow, time.Hour, time.Hour), flow.WithBackoffJitter(0, 0)))
	o.start(ctrlx.New("Database", databases{Apply: apply}, extensions{}, hours))
	o.database("db", "")
	d := o.until("db", "False Unknown")
	asks := func(request string) {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q},"finalizers":[%q,%q]}}`, ctrlx.RetryAnnotation, request, ctrlx.Finalizer, theirFinalizer)
		must(t, api.Patch(t.Context(), d, client.RawPatch(types.MergePatchType, []byte(patch))))
	}
	asks("1")
	same(t, "the handled request", "1", recordOf(o.until("db", "True Succeeded").Status.Conditions).Handled)
	o.stop()
	o.traffic.take(t)
	r := ctrlx.New("Database", databases{Apply: apply}, extensions{}, hours)
	_, err := o.settle(o.start(r), r, "db")
	must(t, err)
	same(t, "the writes after a restart", map[string]int{}, writes(o.traffic.take(t)))
	o.stop()
	asks("2")
	must(t, api.Delete(t.Context(), d))
	o.start(ctrlx.New("Database", databases{Apply: apply, Delete: apply}, extensions{}, hours))
	same(t, "the handled request", "2", recordOf(o.until("db", "False Deleted").Status.Conditions).Handled)
}
