package ready_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

const threeConditions = `{"metadata":{"uid":"7d1f1b5e-3f5c-4f5e-9d8b-1a2b3c4d5e6f","resourceVersion":"123456","generation":3,"labels":{"app":"db"}},"status":{"observedGeneration":3,"conditions":[
	{"type":"Reconciling","status":"False","reason":"Succeeded","message":"m","observedGeneration":3,"lastTransitionTime":"2026-11-21T10:00:00Z"},
	{"type":"Stalled","status":"False","reason":"Succeeded","message":"m","observedGeneration":3,"lastTransitionTime":"2026-11-21T10:00:00Z"},
	{"type":"Ready","status":"True","reason":"Succeeded","message":"m","observedGeneration":3,"lastTransitionTime":"2026-11-21T10:00:00Z"}]}}`

var sink checks.Readiness

func TestKstatusRatio(t *testing.T) {
	ratio.InVerify(t)
	o := from(t, threeConditions, new(ManagedCluster))
	kstatus := ready.Kstatus(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Cluster"})
	for name, of := range map[string]ready.Func{"Of": ready.Of, "Cached": ready.Cached(kstatus, 8)} {
		if got := ratio.Of(func() { sink = kstatus(o) }, func() { sink = of(o) }, ratio.Options{}); got < 10 {
			t.Errorf("kstatus takes %.1f times as long as %s, want at least 10", got, name)
		}
	}
}
