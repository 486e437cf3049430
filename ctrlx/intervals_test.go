package ctrlx_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// A Ready object is requeued after its requeue interval.
func TestRequeue(t *testing.T) {
	forever := time.Duration(1<<63 - 1)
	cases := map[string]struct {
		reason  string
		requeue time.Duration
		random  float64
		want    time.Duration
	}{
		"Given":    {"the object sets it", 20 * time.Minute, 0, 20 * time.Minute},
		"Longer":   {"or up to 5 % more, and never less", 20 * time.Minute, 0.5, 20*time.Minute + 30*time.Second},
		"Rubbish":  {"whatever the source of randomness says", 20 * time.Minute, -17, 20 * time.Minute},
		"Rubbish2": {"whatever the source of randomness says", 20 * time.Minute, 17, 21 * time.Minute},
		"Zero":     {"the resync", 0, 0.5, time.Hour},
		"Negative": {"the requeue would be lost", -time.Minute, 0.5, time.Hour},
		"Forever":  {"nothing overflows", forever, 1, forever/4 + time.Duration(float64(forever/4)*0.05)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{Requeue: metav1.Duration{Duration: tc.requeue}}))
			d.random = tc.random
			d.use(d.reconciler(flow.Extensions[*App]{}))
			if got := d.pass(); got != tc.want || d.says() != "True Succeeded" {
				t.Errorf("%s: it is requeued after %s, not %s", tc.reason, got, tc.want)
			}
		})
	}
}

// A waiter of watched objects is woken. Without an event, it is requeued after the
// requeue interval.
func TestRequeueWhileWaiting(t *testing.T) {
	owner := checks.Block("Waits", "", checks.WithWaitingFor(clusterOfApp(anApp(AppSpec{Cluster: "c"}))))
	self := checks.Block("Waits", "", checks.WithWaitingForSelf())
	cases := map[string]struct {
		reason  string
		res     checks.Result
		requeue int
		want    time.Duration
	}{
		"Given": {"its own interval", owner, 10, 10 * time.Minute},
		"None":  {"the resync", owner, 0, time.Hour},
		"Self":  {"an object that waits for itself is woken by an event, too", self, 0, time.Hour},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{Requeue: minutes(tc.requeue)}))
			d.use(d.reconciler(checking(flow.PointPreCheck, answers(&tc.res))))
			for range 2 {
				if got := d.pass(); got != tc.want || d.says() != "False Waits Reconciling" {
					t.Errorf("%s: it says %q and is requeued after %s, not %s", tc.reason, d.says(), got, tc.want)
				}
			}
		})
	}
}

type (
	every   time.Duration
	onSpec  struct{ Every every }
	byValue struct {
		testv1.Database
		Spec every
	}
	byPointer struct {
		testv1.Database
		Spec *onSpec
	}
	byInterface struct {
		testv1.Database
		Spec ctrlx.RequeueConfiguration
	}
	embedded struct{ byPointer }
	both     struct{ byPointer }
	silent   struct{ testv1.Database }
	panics   struct{ testv1.Database }
)

func (e every) GetRequeueInterval() time.Duration   { return time.Duration(e) }
func (s *onSpec) GetRequeueInterval() time.Duration { return time.Duration(s.Every) }
func (*both) GetRequeueInterval() time.Duration     { return 3 * time.Minute }
func (*panics) GetRequeueInterval() time.Duration   { panic("no") }

// An object says it itself, or its spec does, whatever that is.
func TestWhoSaysIt(t *testing.T) {
	const other = 7 * time.Minute
	two := 2 * time.Minute
	cases := map[string]struct {
		reason string
		got    time.Duration
		want   time.Duration
	}{
		"Value":        {"a spec that is a value", ctrlx.RequeueOf(&byValue{Spec: every(two)}), two},
		"Pointer":      {"a spec that is a pointer", ctrlx.RequeueOf(&byPointer{Spec: &onSpec{every(two)}}), two},
		"NilPointer":   {"a spec that is not there", ctrlx.RequeueOf(&byPointer{}), 0},
		"Interface":    {"a spec that is an interface", ctrlx.RequeueOf(&byInterface{Spec: every(two)}), two},
		"NilInterface": {"one that is nil", ctrlx.RequeueOf(&byInterface{}), 0},
		"Embedded":     {"the spec of an embedded object", ctrlx.RequeueOf(&embedded{byPointer{Spec: &onSpec{every(two)}}}), two},
		"Object":       {"the object knows better than its spec", ctrlx.RequeueOf(&both{byPointer{Spec: &onSpec{every(other)}}}), 3 * time.Minute},
		"Silent":       {"a spec that says nothing", ctrlx.RequeueOf(&silent{}), 0},
		"Panics":       {"what panics says nothing", ctrlx.RequeueOf(&panics{}), 0},
		"Negative":     {"a negative interval is none", ctrlx.RequeueOf(&byValue{Spec: -1}), 0},
	}
	for name, tc := range cases {
		if tc.got != tc.want {
			t.Errorf("%s: %s: %s, not %s", name, tc.reason, tc.got, tc.want)
		}
	}
}
