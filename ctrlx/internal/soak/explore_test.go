package soak_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx/ctrltest"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// TestExplore explores the operator of the other tests, with its cloud and its
// wire. It replaces tests of lost wake-ups, of faults, of vanished objects, and of
// objects that are made anew.
func TestExplore(t *testing.T) {
	var c *cloud
	var of *ctrltest.Cloud
	starts := 0
	kind := func(name string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: testv1.GroupVersion.String(), Kind: name}
	}
	crds := t.TempDir()
	for _, d := range testv1.Definitions() {
		d.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
		data, err := json.Marshal(d)
		if err == nil {
			err = os.WriteFile(filepath.Join(crds, d.Name+".json"), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ctrltest.Explore(t, ctrltest.Operator{
		CRDs: []string{crds},
		World: []client.Object{
			&testv1.Cluster{TypeMeta: kind("Cluster"), ObjectMeta: metav1.ObjectMeta{Name: "c0"}},
			&testv1.Database{TypeMeta: kind("Database"), ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: testv1.DatabaseSpec{Cluster: "c0", Size: 1}},
		},
		Edit: func(t *rapid.T, o client.Object) {
			switch o := o.(type) {
			case *testv1.Cluster:
				o.Labels = map[string]string{"stopped": rapid.SampledFrom([]string{"no", "yes"}).Draw(t, "stopped")}
			case *testv1.Database:
				o.Spec.Size = rapid.IntRange(1, 9).Draw(t, "size")
			}
		},
		Cloud: func(to *ctrltest.Cloud) {
			of = to
			c = newCloud(t, rand.New(rand.NewPCG(1, 1)), time.Second, 5*time.Second)
		},
		Rules: map[string]func(*ctrltest.State) error{"observers": func(*ctrltest.State) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			var all []error
			for _, wrong := range c.wrong {
				all = append(all, errors.New(wrong))
			}
			return errors.Join(all...)
		}},
		Start: func(ctx context.Context, config *rest.Config) error {
			starts++
			s := setup{Process: fmt.Sprint("process ", starts), Namespace: "default", Get: true, Delete: true, Defers: true, Follows: true, Workers: 4}
			mgr, err := newOperator(s, func(ctx context.Context, q question) (a answer, err error) {
				if q.Do == "pass" || q.Do == "wrong" {
					return c.ask(ctx, q)
				}
				name := fmt.Sprint("database ", q.UID)
				asked := false
				err = of.Do(q.Do+" "+name, func() error {
					asked = true
					a, err = c.ask(ctx, q)
					of.End(name, a.Exists || a.Busy || a.Token != "")
					return err
				})
				if asked && errors.Is(err, ctrltest.ErrCloud) {
					c.unheard(q)
				}
				return a, err
			}).manager(config)
			if err != nil {
				return err
			}
			// The operator of the clusters reports what a label says.
			clusters := reconcile.Func(func(ctx context.Context, q ctrl.Request) (ctrl.Result, error) {
				o := &testv1.Cluster{}
				if err := mgr.GetClient().Get(ctx, q.NamespacedName, o); err != nil {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				state := map[bool]string{true: "Stopped", false: "Running"}[o.Labels["stopped"] == "yes"]
				if o.Status.State == state {
					return ctrl.Result{}, nil
				}
				return ctrl.Result{}, mgr.GetClient().Status().Patch(ctx, o, reported(state)) // not found may mean that the kind is not served
			})
			if err := ctrl.NewControllerManagedBy(mgr).Named("clusters").For(&testv1.Cluster{}).Complete(clusters); err != nil {
				return err
			}
			return mgr.Start(ctx)
		},
	})
}
