package sim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

func TestWithoutChecks(t *testing.T) {
	check := chain.New(checks.Paused(func(string) bool { return true }))
	all := flow.Extensions[string]{
		Pass:        chain.Chain[string, flow.Outcome]{}.Append(chain.Recover),
		OwnerCheck:  chain.New(checks.OwnerReady()),
		Get:         chain.Chain[*flow.Request[string], flow.Observation]{}.Append(chain.Recover),
		PreCheck:    check,
		Apply:       chain.Chain[*flow.Request[string], flow.Progress]{}.Append(chain.Recover),
		PostCheck:   check,
		DeleteCheck: check,
		Delete:      chain.Chain[*flow.Request[string], flow.Progress]{}.Append(chain.Recover),
		Classify:    classify.Table{{Name: "Busy", Code: "Busy", Retry: classify.Fast}}.Chain(),
	}
	lengths := func(e flow.Extensions[string]) map[string]int {
		return map[string]int{
			"Pass": len(e.Pass.Links()), "OwnerCheck": len(e.OwnerCheck.Links()), "Get": len(e.Get.Links()),
			"PreCheck": len(e.PreCheck.Links()), "Apply": len(e.Apply.Links()), "PostCheck": len(e.PostCheck.Links()),
			"DeleteCheck": len(e.DeleteCheck.Links()), "Delete": len(e.Delete.Links()), "Classify": len(e.Classify.Links()),
		}
	}
	want := lengths(all)
	for _, point := range []string{"OwnerCheck", "PreCheck", "PostCheck", "DeleteCheck"} {
		want[point] = 0
	}
	if diff := cmp.Diff(want, lengths(sim.WithoutChecks(all))); diff != "" {
		t.Errorf("want all links except the checks: -want, +got:\n%s", diff)
	}
}
