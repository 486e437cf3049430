package ctrlx_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
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

// What others write into the status stays, whenever they do, and so does what the operation found out.
func TestConditionsOfOthers(t *testing.T) {
	t.Parallel()
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
			t.Parallel()
			o := newOperator(t)
			o.database("db", "")
			if !tc.during {
				o.others("db")
			}
			var once sync.Once
			o.start(ctrlx.New("Database", flow.Operations[*testv1.Database]{
				Apply: func(_ ctxt, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
					if tc.during {
						once.Do(func() { o.others("db") })
					}
					req.Resource.Status.Size = 7
					if tc.token && req.Token == "" {
						return flow.InProgress("token", 10*time.Millisecond), nil
					}
					return flow.Done(), nil
				},
			}, flow.Extensions[*testv1.Database]{}))
			d := o.until("db", "True Succeeded")
			if d.Status.Size != 7 {
				t.Errorf("%s: %+v", tc.reason, d.Status)
			}
			o.checkOthers(d)
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

// An event reports a changed verdict, and not each attempt.
func TestEvents(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	var n atomic.Int64
	long := strings.Repeat("Reason", 50)
	o.start(ctrlx.New("Database", flow.Operations[*testv1.Database]{
		Apply: func(ctxt, *flow.Request[*testv1.Database]) (flow.Progress, error) {
			_ = o.note("put")
			if i := n.Add(1); i < 4 {
				return flow.Progress{}, fmt.Errorf("attempt %d%s", i, strings.Repeat(" éé", 1000))
			}
			return flow.Done(), nil
		},
	}, flow.Extensions[*testv1.Database]{PostCheck: chain.New(checks.Check("long", func(ctxt, *checks.Request[*testv1.Database]) (checks.Result, error) {
		if n.Load() == 4 {
			return checks.Block(long, "a reason that is none for an event", checks.WithAfter(time.Millisecond)), nil
		}
		return checks.Proceed(), nil
	}))}, flow.WithBackoff(flow.NewBackoff(flow.WithBackoffSteps(classify.Slow, time.Millisecond, time.Millisecond)))))
	o.database("db", "")
	o.until("db", "True Succeeded")
	list := &eventsv1.EventList{}
	if err := apiserver.Until(t.Context(), func(ctx ctxt) (bool, error) {
		err := api.List(ctx, list, client.InNamespace(o.namespace))
		return len(list.Items) >= 3, err
	}); err != nil {
		t.Fatal(err, list.Items)
	}
	got := map[string]string{}
	for _, e := range list.Items {
		got[e.Reason] = e.Type + " of " + e.Regarding.Kind + " " + e.Regarding.Name
		if len(e.Note) > 1024 || e.Note == "" {
			t.Errorf("the note of %s has %d bytes", e.Reason, len(e.Note))
		}
	}
	if diff := cmp.Diff(map[string]string{"Unknown": "Warning of Database db", long[:128]: "Normal of Database db", "Succeeded": "Normal of Database db"}, got); diff != "" {
		t.Errorf("the events: -want, +got:\n%s", diff)
	}
	if got := len(o.asked()); got != 5 || len(list.Items) != 3 {
		t.Errorf("%d attempts and %d events", got, len(list.Items))
	}
}

// A definition without a status is a mistake that is easily made. Its objects are not taken to be gone.
func TestNoStatusSubresource(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.traffic.answers(refusing("PATCH databases/status", 404, metav1.StatusReasonNotFound, -1)) // as the API server does
	r := ctrlx.New("Database", o.operations(), flow.Extensions[*testv1.Database]{})
	o.start(r)
	d := o.database("db", "")
	o.called(1)
	_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(d)})
	if err == nil || !strings.Contains(err.Error(), "+kubebuilder:subresource:status") {
		t.Errorf("the error says what to do: %v", err)
	}
	o.traffic.answers(nil)
	o.until("db", "True Succeeded")
}

// The condition reports once that the definition does not allow a status, and the old
// status stays.
func TestInvalidStatus(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	ops := o.operations()
	put := ops.Apply
	ops.Apply = func(ctx ctxt, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
		p, err := put(ctx, req)
		if req.Resource.Spec.Size == 2 {
			req.Resource.Status.Size = 99
		}
		return p, err
	}
	o.start(ctrlx.New("Database", ops, flow.Extensions[*testv1.Database]{}))
	o.database("db", "")
	d := o.until("db", "True Succeeded")
	o.traffic.answers(func(what string, req *http.Request) *http.Response {
		if what != "PATCH databases/status" {
			return nil
		}
		body, _ := io.ReadAll(req.Body)
		req.Body = io.NopCloser(bytes.NewReader(body))
		if !bytes.Contains(body, []byte(`"size":99`)) {
			return nil
		}
		return refusal(req, 422, metav1.StatusReasonInvalid)
	})
	d.Spec.Size = 2
	if err := api.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	d = o.until("db", "False StatusInvalid")
	stalled := meta.FindStatusCondition(d.Status.Conditions, "Stalled")
	if d.Status.Size != 1 || stalled == nil || !strings.Contains(stalled.Message, "refused by the test") || stalled.ObservedGeneration != 2 {
		t.Errorf("the condition has the server's words, and the rest stays as it was: %+v", d.Status)
	}
	o.called(4) // it is tried again, and nothing is written for that
	if got := o.until("db", "False StatusInvalid"); got.ResourceVersion != d.ResourceVersion {
		t.Errorf("it is written in each pass: %s, %s", d.ResourceVersion, got.ResourceVersion)
	}
	o.traffic.answers(nil)
	if d = o.until("db", "True Succeeded"); d.Status.Size != 99 {
		t.Errorf("what is allowed by now is written: %+v", d.Status)
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
