package ctrlx_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
)

// Events of ordinary waits are Normal and name the awaited object. Events of
// failures are Warnings.
func TestEventTypes(t *testing.T) {
	block := func(opts ...checks.BlockOption) flow.Extensions[*App] {
		res := checks.Block("Busy", "busy", opts...)
		return checking(flow.PointPreCheck, answers(&res))
	}
	other := checks.WithWaitingFor(checks.Ref{Group: "other.example.com", Kind: "Other", Name: "o"})
	api := testv1.GroupVersion.String()
	owner := flow.Extensions[*App]{OwnerCheck: chain.New(checks.OwnerReady())}
	waits := func(ref checks.Ref) flow.Extensions[*App] {
		return checking(flow.PointPreCheck, func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
			ref.Group, ref.Kind = testv1.GroupVersion.Group, "Cluster"
			_, err := req.Resolver(ctx, clusterOfApp(&App{Spec: AppSpec{Cluster: "c"}})) // so that the manager watches the kind
			return checks.Block("Busy", "busy", checks.WithWaitingFor(ref)), err
		})
	}
	cases := map[string]struct {
		reason string
		spec   AppSpec
		ext    flow.Extensions[*App]
		err    error
		want   string
	}{
		"Owner":       {"it waits for the owner", AppSpec{Cluster: "c"}, owner, nil, "Normal OwnerNotFound " + api + " Cluster default/c"},
		"Wait":        {"it waits, and the check names no object", AppSpec{}, block(), nil, "Normal Busy"},
		"UnknownKind": {"the awaited kind is not installed", AppSpec{}, block(other), nil, "Normal Busy"},
		"Set":         {"a set has no name", AppSpec{}, waits(clustersOf(checks.Query{}).Ref()), nil, "Normal Busy"},
		"ID":          {"the awaited object has no name", AppSpec{}, waits(checks.Ref{ID: "7"}), nil, "Normal Busy"},
		"Named":       {"it is in the own namespace", AppSpec{}, waits(checks.Ref{Name: "x"}), nil, "Normal Busy " + api + " Cluster default/x"},
		"Foreign":     {"it is in another namespace", AppSpec{}, waits(checks.Ref{Namespace: "other", Name: "x"}), nil, "Normal Busy " + api + " Cluster other/x"},
		"OnChange":    {"only a change helps", AppSpec{}, block(checks.WithRetry(classify.OnChange)), nil, "Warning Busy"},
		"Final":       {"no pass follows", AppSpec{}, block(checks.WithRetry(classify.Never)), nil, "Warning Busy"},
		"Suspended":   {"a user asked for it", AppSpec{Suspended: true}, flow.Extensions[*App]{}, nil, "Normal Suspended"},
		"Failed":      {"a transient error is a failure, too", AppSpec{}, flow.Extensions[*App]{}, errBroken, "Warning Unknown"},
		"Terminal":    {"a terminal error is a failure", AppSpec{}, flow.Extensions[*App]{}, reconcile.TerminalError(errBroken), "Warning Terminal"},
		"Ready":       {"it is a success", AppSpec{}, flow.Extensions[*App]{}, nil, "Normal Succeeded"},
	}
	for _, tc := range cases {
		d := newHarness(t, anApp(tc.spec))
		if tc.err != nil {
			fails(tc.err)(d)
		}
		d.use(d.reconciler(tc.ext))
		d.pass()
		same(t, tc.reason+": the events", []string{tc.want}, d.manager.related)
	}
}

// An event reports a changed verdict, and not each attempt. The API server takes its reason.
func TestEvents(t *testing.T) {
	long := strings.Repeat("Reason", 50)
	d := newHarness(t, anApp(AppSpec{}))
	res := checks.Proceed()
	d.use(d.reconciler(checking(flow.PointPostCheck, answers(&res))))
	for _, text := range []string{"1", "2", "3"} {
		fails(errors.New(text))(d)
		d.pass()
	}
	done(d)
	res = checks.Block(long, "a reason that is none for an event")
	d.pass()
	res = checks.Proceed()
	d.pass()
	d.pass()
	res = checks.Block("Succeeded", "the same reason is no success")
	d.pass()
	want := []string{"Warning Unknown applying failed: 1", "Normal " + long[:128] + " check: a reason that is none for an event", "Normal Succeeded ready",
		"Normal Succeeded check: the same reason is no success"}
	same(t, "the events", want, d.reported())
}

// A time-out is no ordinary wait, even if a user paused the object. It says since when, for how long at most, and what there was.
func TestEventOfTimeout(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{Timeout: minutes(10)}))
	d.now = noon.Add(time.Nanosecond)
	d.use(d.reconciler(flow.Extensions[*App]{PostCheck: chain.New(checks.Paused(func(*App) bool { return true }))}))
	d.pass()
	was := d.message()
	d.reported()
	d.now = noon.Add(10*time.Minute + time.Second)
	d.pass()
	want := "not ready since 2026-11-21T12:00:01Z, for longer than the time-out of 10m0s: " + was
	same(t, "the events", []string{"Warning Timeout " + "Paused: " + want}, d.reported())
	same(t, "the message", want, d.message())
	same(t, "the conditions", "False Timeout Stalled Processing Paused", d.says())
	o := whyDocument(t, ctrlx.Why(d.manager), "?ready=true").Objects[0]
	same(t, "the answer of Why", why.Object{State: why.Failed, Reason: "Timeout"}, why.Object{State: o.State, Reason: o.Reason})
}

// The reporter of events is the reconciler, unless an option sets it.
func TestEventReporter(t *testing.T) {
	databases := func(name string, opts ...ctrlx.Option) *ctrlx.Reconciler[*testv1.Database] {
		return ctrlx.New(name, flow.Operations[*testv1.Database]{Apply: put}, flow.Extensions[*testv1.Database]{}, opts...)
	}
	cases := map[string]struct {
		reason string
		r      *ctrlx.Reconciler[*testv1.Database]
		want   []string
	}{
		"Name":    {"the default", databases("Database"), []string{"Database"}},
		"Option":  {"the option sets it", databases("Database", ctrlx.WithEventReporter("databases.example.com")), []string{"databases.example.com"}},
		"Refused": {"the API server refuses events of this name", databases("Database of ours"), []string{"windlass"}},
		"Longest": {"the host name fits", databases("Database", ctrlx.WithEventReporter("a.example.com/"+strings.Repeat("x", 50))), []string{"a.example.com/" + strings.Repeat("x", 50)}},
		"Without": {"there are no events", databases("Database", ctrlx.WithoutEvents()), nil},
	}
	for _, tc := range cases {
		m := newHarness(t).manager
		must(t, tc.r.SetupWithManager(m))
		same(t, tc.reason+": the reporters", tc.want, m.reporters)
	}
}

// Without events, the conditions are written as usual, and a release is silent.
func TestWithoutEvents(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	release := checks.Check("release", func(ctxt, *checks.Request[*App]) (checks.Result, error) { return checks.Release("retained"), nil })
	d.use(d.reconciler(flow.Extensions[*App]{DeleteCheck: chain.New(release)}, ctrlx.WithoutEvents()))
	if d.pass(); d.says() != "True Succeeded" {
		t.Errorf("the conditions are %q", d.says())
	}
	d.delete(d.read())
	d.pass()
	if got := d.reported(); len(got) > 0 {
		t.Errorf("the events are %q", got)
	}
}

// seriesOf returns the series of a controller or reconciler that are not zero, by
// name and the other label: "reconcile_total error".
func seriesOf(t *testing.T, name string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		if f.GetName() == ctrlx.MetricOldest { // a time
			continue
		}
		for _, m := range f.GetMetric() {
			key, mine := f.GetName(), false
			for _, l := range m.GetLabel() {
				switch {
				case l.GetName() != "controller" && l.GetName() != "reconciler":
					key += " " + l.GetValue()
				case l.GetValue() == name:
					mine = true
				}
			}
			if value := m.GetCounter().GetValue() + m.GetGauge().GetValue(); mine && value != 0 {
				all[strings.TrimPrefix(key, "controller_runtime_")] = value
			}
		}
	}
	return all
}

// Only a failure counts. A pass whose error Reconcile returns is counted by
// controller-runtime.
func TestWhichPassesFail(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "s", errors.New("it was changed"))
	busy := checks.Block("Busy", "busy", checks.WithRetry(classify.OnChange))
	block := checking(flow.PointPreCheck, answers(&busy))
	const errs, total, terminal = "reconcile_errors_total", "reconcile_total error", "terminal_reconcile_errors_total"
	cases := map[string]struct {
		reason string
		err    error
		ext    flow.Extensions[*App]
		write  error
		want   map[string]float64
	}{
		"Ready":    {"it succeeds", nil, flow.Extensions[*App]{}, nil, map[string]float64{}},
		"Blocked":  {"a block is no failure", nil, block, nil, map[string]float64{"windlass_blocked_resources Busy": 1}},
		"Failed":   {"a transient error", errBroken, flow.Extensions[*App]{}, nil, map[string]float64{errs: 1, total: 1, "windlass_failed_resources Unknown": 1}},
		"Terminal": {"a terminal error", reconcile.TerminalError(errBroken), flow.Extensions[*App]{}, nil, map[string]float64{errs: 1, total: 1, terminal: 1, "windlass_failed_resources Terminal": 1}},
		"Never": {"no pass follows", errBroken, flow.Extensions[*App]{
			Classify: chain.New(classify.Table{{Name: "never", Message: classify.Contains("broken"), Retry: classify.Never}}.Link()),
		}, nil, map[string]float64{errs: 1, total: 1, terminal: 1}},
		"Conflict": {"the object is read again", conflict, flow.Extensions[*App]{}, nil, map[string]float64{}},
		"Written":  {"controller-runtime counts the error of the write", errBroken, flow.Extensions[*App]{}, errBroken, map[string]float64{"windlass_failed_resources Unknown": 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.refuse = tc.write
			reconciler := "Counts" + name
			if tc.err != nil {
				fails(tc.err)(d)
			}
			r := ctrlx.New(reconciler, flow.Operations[*App]{Apply: func(ctx ctxt, req *flow.Request[*App]) (flow.Progress, error) {
				if d.apply != nil {
					return d.apply(ctx, req)
				}
				return flow.Done(), nil
			}}, tc.ext, d.clock()...)
			d.use(r)
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(d.read())}); !errors.Is(err, tc.write) {
				t.Fatal(err)
			}
			same(t, tc.reason, tc.want, seriesOf(t, reconciler))
			if tc.err == nil {
				return
			}
			d.refuse = nil
			d.apply = nil
			d.pass()
			for name := range seriesOf(t, reconciler) {
				if strings.HasPrefix(name, "windlass_") {
					t.Errorf("%s: after a pass that is ready, the series %s is not 0", tc.reason, name)
				}
			}
		})
	}
}
