package ctrlx_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// What kinds without a Ready condition are ready by is chosen for each kind.
func TestReadiness(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		opts   []ctrlx.Option
		want   string // as long as the ConfigMap is there
	}{
		"Default": {"a ConfigMap has no condition", nil, "True Succeeded"},
		"Strict":  {"the developer asks for the condition", []ctrlx.Option{ctrlx.WithReadiness(schema.GroupKind{Kind: "ConfigMap"}, ctrlx.AnyGeneration)}, "False ReferenceNotReady"},
		"Exists":  {"it is there, which is all there is to it", []ctrlx.Option{ctrlx.WithReadiness(schema.GroupKind{Kind: "ConfigMap"}, ctrlx.Exists)}, "True Succeeded"},
		"Kstatus": {"kstatus calls it current", []ctrlx.Option{
			ctrlx.WithReadiness(schema.GroupKind{Kind: "ConfigMap"}, ctrlx.Kstatus(corev1.SchemeGroupVersion.WithKind("ConfigMap")))}, "True Succeeded"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			settings := flow.Extensions[*testv1.Database]{PreCheck: chain.New(checks.ReferenceReady("settings", func(d *testv1.Database) []checks.Ref {
				return []checks.Ref{{Kind: "ConfigMap", Name: d.Spec.Cluster}}
			}))}
			o.start(ctrlx.New("Database", o.operations(), settings, append(tc.opts,
				ctrlx.WithOwner(func(*testv1.Database) checks.Ref { return checks.Ref{} }))...))
			o.database("db", "settings")
			o.until("db", "False ReferenceNotFound")
			if err := api.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "settings"}}); err != nil {
				t.Fatal(err)
			}
			o.until("db", tc.want)
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
