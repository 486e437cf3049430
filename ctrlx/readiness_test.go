package ctrlx_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// The developer chooses for each kind without a Ready condition what makes its objects ready.
func TestReadiness(t *testing.T) {
	kind := schema.GroupKind{Group: testv1.GroupVersion.Group, Kind: "Database"}
	cases := map[string]struct {
		reason string
		opts   []ctrlx.Option
		says   string
	}{
		"Default": {"a custom resource has a condition", nil, "False ReferenceNotReady Reconciling"},
		"Strict":  {"the developer asks for the condition", []ctrlx.Option{ctrlx.WithReadiness(kind, ctrlx.AnyGeneration)}, "False ReferenceNotReady Reconciling"},
		"Exists":  {"it is there, which is all there is to it", []ctrlx.Option{ctrlx.WithReadiness(kind, ctrlx.Exists)}, "True Succeeded"},
		"Kstatus": {"kstatus calls it current", []ctrlx.Option{ctrlx.WithReadiness(kind, ctrlx.Kstatus(testv1.GroupVersion.WithKind("Database")))}, "True Succeeded"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}), &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "d0"}})
			d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(reading(1))}, tc.opts...))
			d.pass()
			same(t, tc.reason, tc.says, d.says())
		})
	}
}

func TestReadinessFunctions(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: appsv1.DeploymentStatus{ObservedGeneration: 1}}
	old := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	old.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Done"}}
	cases := map[string]struct {
		reason string
		of     func(client.Object) checks.Readiness
		obj    client.Object
		want   checks.State
	}{
		"Exists":        {"whatever its status says", ctrlx.Exists, deployment, checks.Ready},
		"Kstatus":       {"its replicas are not there yet", ctrlx.Kstatus(appsv1.SchemeGroupVersion.WithKind("Deployment")), deployment, checks.NotReady},
		"AnyGeneration": {"its controller reports no generation", ctrlx.AnyGeneration, old, checks.Ready},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			owner := checks.Object{Ref: checks.Ref{Kind: "Owner", Name: "o"}, Value: tc.obj, Readiness: tc.of(tc.obj)}
			if got := owner.Readiness; got.State != tc.want {
				t.Errorf("%s: %+v", tc.reason, got)
			}
			res, err := checks.Compose(chain.New(checks.OwnerReady()))(context.Background(), &checks.OwnerRequest{Owner: owner})
			if err != nil || res.Proceeds() != (tc.want == checks.Ready) {
				t.Errorf("%s: OwnerReady says %v, %v", tc.reason, res, err)
			}
		})
	}
	for name, do := range map[string]func(){
		"NoKind":     func() { ctrlx.WithReadiness(schema.GroupKind{}, ctrlx.Exists) },
		"NoVersion":  func() { ctrlx.Kstatus(schema.GroupVersionKind{Kind: "Job"}) },
		"NoFunction": func() { ctrlx.WithReadiness(schema.GroupKind{Kind: "Secret"}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if v := recover(); v == nil || fmt.Sprint(v)[:7] != "ctrlx: " {
					t.Errorf("it panics: %v", v)
				}
			}()
			do()
		})
	}
}
