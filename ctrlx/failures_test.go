package ctrlx_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

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

// A failed pass of a manager counts in the metrics of controller-runtime, which
// neither logs it nor replaces its delay.
func TestFailuresAreMeasured(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	reconciler := "Failing" + o.namespace // no other test has its metrics
	ops := o.operations()
	o.refuse = errBroken
	var mu sync.Mutex
	var log []string
	logger := funcr.New(func(_, args string) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, args)
	}, funcr.Options{})
	o.start(ctrlx.New(reconciler, ops, extensions{}, ctrlx.WithController(controller.Options{LogConstructor: func(*reconcile.Request) logr.Logger { return logger }}),
		flow.WithBackoff(flow.NewBackoff(flow.WithBackoffSteps(classify.Slow, 5*time.Millisecond, 5*time.Millisecond)))))
	o.database("db", "")
	o.until("db", "False Unknown")
	o.called(5)
	if got := seriesOf(t, reconciler); got["windlass_failed_resources Unknown"] != 1 || got["reconcile_errors_total"] < 3 || got["reconcile_total requeue_after"] == 0 || got["terminal_reconcile_errors_total"] != 0 {
		t.Errorf("after five failed passes: %v", got)
	}
	o.mu.Lock()
	o.refuse = nil
	o.mu.Unlock()
	o.until("db", "True Succeeded")
	o.traffic.take(t)
	got := seriesOf(t, reconciler)
	if failed := float64(len(o.asked()) - 1); got["reconcile_errors_total"] != failed || got["reconcile_total error"] != failed || got["windlass_failed_resources Unknown"] != 0 {
		t.Errorf("after %v failed passes and one that is ready: %v", failed, got)
	}
	mu.Lock()
	defer mu.Unlock()
	want := []string{`"error"="the cloud is broken"`, `"verdict"="ready" "reason"="Succeeded" "previous"="failed Unknown"`}
	ended := 0
	for _, line := range log {
		if strings.Contains(line, "Reconciler error") {
			t.Errorf("controller-runtime logs %s", line)
		}
		if strings.Contains(line, `"msg"="pass ended"`) {
			if ended >= len(want) || !strings.Contains(line, want[ended]) {
				t.Errorf("line %d is %s, want %q", ended+1, line, want)
			}
			ended++
		}
	}
	if ended != len(want) {
		t.Errorf("%d changes are logged: %q", ended, log)
	}
}

// Only a failure counts. A pass whose error Reconcile returns is counted by
// controller-runtime.
func TestWhichPassesFail(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "s", errors.New("it was changed"))
	block := flow.Extensions[*App]{PreCheck: chain.New(checks.Check("c", func(ctxt, *checks.Request[*App]) (checks.Result, error) {
		return checks.Block("Busy", "busy", checks.WithRetry(classify.OnChange)), nil
	}))}
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
		"Conflict": {"the object is read again", conflict, flow.Extensions[*App]{}, nil, map[string]float64{}},
		"Written":  {"controller-runtime counts the error of the write", errBroken, flow.Extensions[*App]{}, errBroken, map[string]float64{"windlass_failed_resources Unknown": 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.refuse = tc.write
			reconciler := "Counts" + name
			r := ctrlx.New(reconciler, flow.Operations[*App]{Apply: failure(tc.err), Delete: failure(nil)}, tc.ext, d.clock()...)
			if tc.err == nil {
				r = ctrlx.New(reconciler, flow.Operations[*App]{Apply: func(ctxt, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }}, tc.ext, d.clock()...)
			}
			d.use(r)
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(d.read())}); !errors.Is(err, tc.write) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, seriesOf(t, reconciler)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
