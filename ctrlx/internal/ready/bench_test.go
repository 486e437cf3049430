package ready_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/ratio"
)

const threeConditions = `{"metadata":{"uid":"7d1f1b5e-3f5c-4f5e-9d8b-1a2b3c4d5e6f","resourceVersion":"123456","generation":3,"labels":{"app":"db"}},"status":{"observedGeneration":3,"conditions":[
	{"type":"Reconciling","status":"False","reason":"Succeeded","message":"m","observedGeneration":3,"lastTransitionTime":"2026-11-21T10:00:00Z"},
	{"type":"Stalled","status":"False","reason":"Succeeded","message":"m","observedGeneration":3,"lastTransitionTime":"2026-11-21T10:00:00Z"},
	{"type":"Ready","status":"True","reason":"Succeeded","message":"m","observedGeneration":3,"lastTransitionTime":"2026-11-21T10:00:00Z"}]}}`

// byHand is the simple code for one type.
func byHand(c *Cluster) checks.Readiness {
	for i := range c.Status.Conditions {
		if c := &c.Status.Conditions[i]; c.Type == "Ready" {
			r := checks.Readiness{Reason: c.Reason, Message: c.Message, Observed: c.ObservedGeneration}
			switch c.Status {
			case "True":
				r.State = checks.Ready
			case "False":
				r.State = checks.NotReady
			}
			return r
		}
	}
	return checks.Readiness{}
}

var sink checks.Readiness

func BenchmarkOf(b *testing.B) {
	cluster := from(b, threeConditions, new(Cluster))
	hand := func() { sink = byHand(cluster) }
	kstatus := ready.Kstatus(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Cluster"})
	for _, c := range []struct {
		name string
		of   ready.Func
		obj  client.Object
	}{
		{"standard", ready.Of, cluster},
		{"ASO", ready.Of, from(b, threeConditions, new(ManagedCluster))},
		{"Crossplane", ready.Of, from(b, threeConditions, new(VPC))},
		{"unstructured", ready.Of, loose(b, threeConditions)},
		{"kstatus", kstatus, cluster},
		{"kstatus-cached", ready.Cached(kstatus, 1024), cluster},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = c.of(c.obj)
			}
			of := func() { sink = c.of(c.obj) }
			b.ReportMetric(ratio.Of(of, hand, ratio.Options{Samples: 100}), "x-by-hand")
			b.ReportMetric(ratio.Of(func() { sink = kstatus(cluster) }, of, ratio.Options{Samples: 100}), "x-faster-than-kstatus")
		})
	}
}

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
