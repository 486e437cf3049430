package ctrlx_test

import (
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// The last passes over an object that is not ready are kept without an option.
func TestLastPasses(t *testing.T) {
	repeat := func(n int, what string) (all []string) {
		for range n {
			all = append(all, what)
		}
		return all
	}
	cases := map[string]struct {
		reason string
		passes []string
		opts   []ctrlx.Option
		want   []string // the latest first
	}{
		"All":    {"each pass, with its time and its duration", []string{"block", "fail"}, nil, []string{"12:01 failed Quota CheckFailed 1s 0", "12:00 blocked Quota NoQuota 1s 0"}},
		"Ready":  {"a pass that leaves the object ready is not recorded", []string{"block", "", "", "", "block"}, nil, []string{"12:04 blocked Quota NoQuota 1s 0", "12:01 ready   1s 0", "12:00 blocked Quota NoQuota 1s 0"}},
		"Many":   {"the last five", append([]string{"fail"}, repeat(5, "block")...), nil, []string{"12:05 blocked Quota NoQuota 1s 0", "12:04 blocked Quota NoQuota 1s 0", "12:03 blocked Quota NoQuota 1s 0", "12:02 blocked Quota NoQuota 1s 0", "12:01 blocked Quota NoQuota 1s 0"}},
		"Traced": {"the steps of the last pass", []string{"fail", "block"}, []ctrlx.Option{flow.WithExplanations(1)}, []string{"12:01 blocked Quota NoQuota 1s 10", "12:00 failed Quota CheckFailed 1s 0"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, does := newHarness(t, anApp(AppSpec{})), ""
			check := checks.Check("Quota", func(ctxt, *checks.Request[*App]) (checks.Result, error) {
				d.now = d.now.Add(time.Second)
				switch does {
				case "block":
					return checks.Block("NoQuota", "no quota is left"), nil
				case "fail":
					return checks.Result{}, errBroken
				}
				return checks.Proceed(), nil
			})
			d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(check)}, tc.opts...))
			for i, what := range tc.passes {
				d.now, does = noon.Add(time.Duration(i)*time.Minute), what
				d.pass()
			}
			var got []string
			for _, p := range whyDocument(t, ctrlx.Why(d.manager), "?group="+testv1.GroupVersion.Group+"&kind=App&namespace=default&name=a").Objects[0].Passes {
				got = append(got, fmt.Sprint(p.At.UTC().Format("15:04"), " ", p.State, " ", p.Link, " ", p.Reason, " ", p.Elapsed, " ", len(p.Steps)))
			}
			same(t, tc.reason, tc.want, got)
			e, err := d.app.Explain(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"})
			if err != nil || e.State != "blocked" && e.State != "failed" {
				t.Errorf("Explain returns %+v, %v", e, err)
			}
		})
	}
}
