package soak_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/ctrltest"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	_ "github.com/windlass-go/windlass/internal/testing/draws"
)

// TestExplore explores the operator with its cloud, its wire and its guard.
func TestExplore(t *testing.T) {
	soaks(t)
	cases := map[string]struct {
		reason string
		gets   bool
	}{
		"Get":   {"the operator reads the cloud before each PUT, so no generation causes two PUTs", true},
		"NoGet": {"each pass without a Record repeats the PUT, and none begins it while it is under way", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { t.Log(tc.reason); ctrltest.Explore(t, explored(t, tc.gets)) })
	}
}

// explored returns the operator as ctrltest explores it.
func explored(t *testing.T, gets bool) ctrltest.Operator {
	var c *cloud
	var g *guard
	var to *ctrltest.Cloud
	starts, calls := 0, 0 // calls: until everything was settled; 0: it is not
	kind := func(name string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: testv1.GroupVersion.String(), Kind: name}
	}
	cluster := func(name string) client.Object { // a restart would notice a label that appears, though nothing follows it
		return &testv1.Cluster{TypeMeta: kind("Cluster"), ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{stopped: "no"}}}
	}
	return ctrltest.Operator{
		CRDs: []string{definitions(t)},
		World: []client.Object{
			cluster("c0"), cluster("c1"),
			&testv1.Database{TypeMeta: kind("Database"), ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: testv1.DatabaseSpec{Cluster: "c0", Size: 1}},
		},
		Edit: func(t *rapid.T, o client.Object) {
			switch o := o.(type) {
			case *testv1.Cluster:
				o.Labels = map[string]string{stopped: map[string]string{"no": "yes", "yes": "no"}[o.Labels[stopped]]}
			case *testv1.Database:
				o.Spec.Size = rapid.IntRange(1, 9).Draw(t, "size")
				if n := rapid.IntRange(-9, 9).Draw(t, "killed"); n > 0 {
					o.Labels = map[string]string{killLabel: strconv.Itoa(n)}
				}
			}
		},
		Cloud: func(of *ctrltest.Cloud) {
			to, calls, c = of, 0, newCloud(1, time.Second, 5*time.Second)
			g = newGuard(c)
		},
		Rules: map[string]func(*ctrltest.State) error{"observers": func(s *ctrltest.State) error {
			var all []error
			if now := c.counted(); calls == 0 {
				calls = now
			} else if now > calls && allReady(s) {
				all = append(all, fmt.Errorf("%d calls of the cloud and writes at rest and after a restart, of objects that are Ready", now-calls))
			}
			for _, wrong := range c.observed(gets) {
				all = append(all, errors.New(wrong))
			}
			return errors.Join(all...)
		}},
		Start: func(ctx context.Context, config *rest.Config) error {
			starts++
			c, to := c, to
			o := &operator{name: fmt.Sprint("process ", starts), namespace: "default", gets: gets, guard: g}
			o.ask = func(q question) (a answer, err error) {
				name := fmt.Sprint("database ", q.UID)
				asked := false
				err = to.Do(q.Do+" "+name, func() error {
					a, asked = c.ask(q), true
					to.End(name, a.Exists || a.Busy || a.Token != "")
					return nil
				})
				if asked && err != nil {
					c.unheard(q)
				}
				return a, err
			}
			return o.run(ctx, config)
		},
	}
}

// allReady reports whether all objects are Ready.
func allReady(s *ctrltest.State) bool {
	return !slices.ContainsFunc(s.Objects, func(o *unstructured.Unstructured) bool {
		ready, _ := ctrltest.ReadyCondition(o)
		return !ready
	})
}

// definitions returns a folder with the definitions of the kinds.
func definitions(t *testing.T) string {
	folder := t.TempDir()
	for _, d := range testv1.Definitions() {
		d.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
		data, err := json.Marshal(d)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, d.Name+".json"), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
