package ctrlx_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

var theirs = metav1.Condition{
	Type: "BackedUp", Status: metav1.ConditionTrue, Reason: "Daily", Message: "by others", ObservedGeneration: 1,
	LastTransitionTime: metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
}

// others writes the status of a database as another controller that does not know the
// operator.
func (o *operator) others(name string) {
	d := &testv1.Database{}
	if err := api.Get(o.t.Context(), keyOf(o.namespace, name), d); err != nil {
		o.t.Error(err)
	}
	patch := client.MergeFrom(d.DeepCopyObject().(client.Object))
	meta.SetStatusCondition(&d.Status.Conditions, theirs)
	if err := api.Status().Patch(o.t.Context(), d, patch); err != nil {
		o.t.Error(err)
	}
}

func (o *operator) checkOthers(d *testv1.Database) {
	o.t.Helper()
	got := meta.FindStatusCondition(d.Status.Conditions, theirs.Type)
	if got == nil || !got.LastTransitionTime.Equal(&theirs.LastTransitionTime) || got.Message != theirs.Message {
		o.t.Errorf("the condition of others is lost: %+v", d.Status.Conditions)
	}
}

// othersWrite adds their condition to the App "a".
func othersWrite(d *harness) {
	inApp(func(a *App) { meta.SetStatusCondition(&a.Status.Conditions, theirs) })(d)
}

// What others write into the status stays, whenever they do, and so does what the operation found out.
func TestConditionsOfOthers(t *testing.T) {
	cases := map[string]struct {
		reason string
		during bool // the pass
		token  bool // the pass keeps a token after that, which makes a new resource version
	}{
		"Before": {reason: "a patch of a list is the whole list"},
		"During": {reason: "what was read is old", during: true},
		"Token":  {reason: "what was read is old, though the resource version is known from the patch of the token", during: true, token: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			if !tc.during {
				othersWrite(d)
			}
			calls := 0
			d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				if calls++; tc.during && calls == 1 {
					othersWrite(d)
				}
				req.Resource.Status.LastHandled = "found"
				if tc.token && req.Token == "" {
					return flow.InProgress("token", time.Second), nil
				}
				return flow.Done(), nil
			}
			d.use(d.reconciler(flow.Extensions[*App]{}))
			for i := 0; i < 6 && d.says() != "True Succeeded"; i++ {
				_ = d.try()
			}
			got := meta.FindStatusCondition(d.read().Status.Conditions, theirs.Type)
			if got == nil || !got.LastTransitionTime.Equal(&theirs.LastTransitionTime) || d.read().Status.LastHandled != "found" || d.says() != "True Succeeded" {
				t.Errorf("%s: %+v", tc.reason, d.read().Status)
			}
		})
	}
}

// called waits until the cloud was asked n times.
func (o *operator) called(n int) {
	o.t.Helper()
	if err := apiserver.Until(o.t.Context(), func(ctxt) (bool, error) {
		return len(o.asked()) >= n, nil
	}); err != nil {
		o.t.Fatalf("the cloud should be asked %d times: %q", n, o.asked())
	}
}

// The condition reports once that the definition does not allow a status, and the old
// status stays. An object that is suspended is still paused.
func TestInvalidStatus(t *testing.T) {
	for name, suspended := range map[string]bool{"Applied": false, "Suspended": true} {
		d, size := newHarness(t, anApp(AppSpec{Suspended: suspended})), "1"
		d.use(d.reconciler(flow.Extensions[*App]{Pass: chain.New(chain.Named("size", func(next flow.PassHandler[*App]) flow.PassHandler[*App] {
			return func(ctx context.Context, a *App) (flow.Outcome, error) {
				a.Status.LastHandled = size
				return next(ctx, a)
			}
		}))}))
		d.pass()
		was := d.says()
		size = notAllowed
		d.change(func(*App) {})
		want := "False StatusInvalid Stalled"
		if suspended {
			want += " Paused"
		}
		var version string
		for range 2 { // it is tried again, and nothing is written for that
			if err := d.try(); !apierrors.IsInvalid(err) {
				t.Fatalf("%s: the error is %v", name, err)
			}
			a := d.read()
			stalled := meta.FindStatusCondition(a.Status.Conditions, "Stalled")
			if d.says() != want || a.Status.LastHandled != "1" || !strings.Contains(stalled.Message, "is invalid") || stalled.ObservedGeneration != 2 {
				t.Errorf("%s: the object says %q: %+v", name, d.says(), a.Status)
			}
			if version != "" && version != a.ResourceVersion {
				t.Errorf("%s: it is written in each pass", name)
			}
			version = a.ResourceVersion
		}
		size = "allowed by now"
		if d.pass(); d.says() != was || d.read().Status.LastHandled != size {
			t.Errorf("%s: the object says %q: %+v", name, d.says(), d.read().Status)
		}
	}
}

// A status that the API server drops is one error of the log, because no condition
// can say so.
func TestDroppedStatus(t *testing.T) {
	for name, drops := range map[string]bool{"Dropped": true, "Kept": false} {
		d := newHarness(t, anApp(AppSpec{}), aCluster())
		d.use(d.reconciler(flow.Extensions[*App]{}))
		d.drops = drops
		lines := 0
		log := funcr.New(func(_, args string) {
			if strings.Contains(args, "drops a part of the status") {
				lines++
			}
		}, funcr.Options{})
		for range 3 {
			d.passIn(logr.NewContext(t.Context(), log))
		}
		if want := map[bool]int{true: 1}[drops]; lines != want {
			t.Errorf("%s: %d lines, want %d", name, lines, want)
		}
	}
}
