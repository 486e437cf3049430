package dependents_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// TestConcurrency applies as many objects at the same time as the option says. The
// errors have the order of the objects. A panic ends no process.
func TestConcurrency(t *testing.T) {
	api := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme)).Build()
	cases := map[string]struct {
		reason string
		opts   []dependents.Option
		most   int // objects at the same time
	}{
		"Default": {"each object is handled after the one before", nil, 1},
		"Four":    {"four workers", []dependents.Option{dependents.WithConcurrency(4)}, 4},
		"Many":    {"no more workers than objects", []dependents.Option{dependents.WithConcurrency(100)}, 10},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var now, most int
				var order []string
				link := func(dependents.Handler) dependents.Handler {
					return func(_ context.Context, r *dependents.Request) (dependents.Result, error) {
						mu.Lock()
						now++
						most = max(most, now)
						order = append(order, r.Ref().Name)
						mu.Unlock()
						time.Sleep(time.Second) // of the bubble
						mu.Lock()
						now--
						mu.Unlock()
						if r.Ref().Name == "c" {
							panic("oops")
						}
						return dependents.Result{}, errors.New("failed")
					}
				}
				d := dependents.New("web.example.com", cluster{api, api}, append(tc.opts, dependents.WithApplyChain(func(c dependents.Chain) (dependents.Chain, error) {
					return chain.New(chain.Named("DryRun", link)), nil
				}))...)
				var objects []client.Object
				var want []string
				for i := range 10 {
					cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + i))}}
					objects, want = append(objects, cm), append(want, cm.Name)
				}
				owner := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "o", UID: "1"}}
				_, err := d.Apply(t.Context(), owner, objects...)
				if most != tc.most {
					t.Errorf("%s: %d at the same time, want %d", tc.reason, most, tc.most)
				}
				if diff := cmp.Diff(want, order); tc.most == 1 && diff != "" {
					t.Errorf("%s: the order: -want, +got:\n%s", tc.reason, diff)
				}
				var named []string
				for _, line := range strings.Split(fmt.Sprint(err), "\n") {
					if text, ok := strings.CutPrefix(line, "ConfigMap default/"); ok {
						named = append(named, text[:1])
					}
				}
				if diff := cmp.Diff(want, named); diff != "" {
					t.Errorf("%s: the errors: -want, +got:\n%s\n%v", tc.reason, diff, err)
				}
			})
		})
	}
}
