package ctrlx_test

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
