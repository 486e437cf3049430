package soak_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// TestOddField verifies that a change of any field that a check reads wakes the
// waiter. A change on which no check can depend wakes no waiter.
func TestOddField(t *testing.T) {
	cases := map[string]struct {
		reason string
		value  func(*testv1.Cluster) string // blocks unless it is "yes"
		patch  string
		status bool
	}{
		"Annotation": {
			"users and other operators write annotations", func(c *testv1.Cluster) string { return c.Annotations["example.com/open"] },
			`{"metadata":{"annotations":{"example.com/open":"yes"}}}`, false,
		},
		"Label": {"likewise", func(c *testv1.Cluster) string { return c.Labels["open"] }, `{"metadata":{"labels":{"open":"yes"}}}`, false},
		"Finalizer": {"finalizers show which controllers are at work", func(c *testv1.Cluster) string {
			if len(c.Finalizers) > 0 {
				return "yes"
			}
			return ""
		}, `{"metadata":{"finalizers":["example.com/open"]}}`, false},
		"Message": {
			"deep in the status, and not of the condition Ready", func(c *testv1.Cluster) string {
				for _, condition := range c.Status.Conditions {
					if condition.Type == "Open" {
						return condition.Message
					}
				}
				return ""
			},
			`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Running","message":"","observedGeneration":1,"lastTransitionTime":"2026-01-01T00:00:00Z"},` +
				`{"type":"Open","status":"Unknown","reason":"Odd","message":"yes","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, random(t), 0, 0)
			ns := namespace(t)
			makeCluster(t, ns, "prod", "Running")
			o := start(t, setup{Process: "one", Namespace: ns, Workers: 2}, c, func(o *operator) {
				o.checks = chain.New(checks.OwnerIs("open", func(c *testv1.Cluster) string {
					if tc.value(c) != "yes" {
						return "it is not open"
					}
					return ""
				}))
			})
			l := &load{t: t, namespace: ns}
			l.create(t.Context(), "db", "prod")
			key := client.ObjectKey{Namespace: ns, Name: "db"}
			until(t, time.Minute, func() error {
				d := &testv1.Database{}
				if err := api.Get(t.Context(), key, d); err != nil || len(d.Status.Conditions) == 0 {
					return fmt.Errorf("the database is not blocked: %+v: %w", d.Status, err)
				}
				return nil
			})
			o.wire.quiet(t, time.Second)
			waiting := c.counts()

			// Another client writes the present value. The API server records
			// this client as a manager of the field, and changes nothing else.
			prod := &testv1.Cluster{}
			if err := api.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "prod"}, prod); err != nil {
				t.Fatal(err)
			}
			before := prod.ResourceVersion
			claim := fmt.Appendf(nil, `{"apiVersion":%q,"kind":"Cluster","metadata":{"name":"prod"},"status":{"state":"Running"}}`, testv1.GroupVersion)
			if err := api.Status().Patch(t.Context(), prod, client.RawPatch(types.ApplyPatchType, claim), client.FieldOwner("somebody-else"), client.ForceOwnership); err != nil {
				t.Fatal(err)
			}
			if prod.ResourceVersion == before {
				t.Error("the write had no effect, so this test proves nothing")
			}
			// The operator is expected to see this write before it sees a later
			// object.
			l.create(t.Context(), "marker", "prod")
			until(t, time.Minute, func() error {
				if got := c.counts().Passes; got == waiting.Passes {
					return errors.New("the operator does not see the new object")
				}
				return nil
			})
			o.wire.quiet(t, time.Second)
			waiting.Passes++
			if diff := cmp.Diff(waiting, c.counts()); diff != "" {
				t.Errorf("a change on which no check can depend wakes no waiter: -want, +got:\n%s", diff)
			}

			err, patch := error(nil), client.RawPatch(types.MergePatchType, []byte(tc.patch))
			if tc.status {
				err = api.Status().Patch(t.Context(), prod, patch)
			} else {
				err = api.Patch(t.Context(), prod, patch)
			}
			if err != nil {
				t.Fatal(err)
			}
			until(t, 10*time.Second, func() error {
				d := &testv1.Database{}
				if err := api.Get(t.Context(), key, d); err != nil || !readyNow(d) {
					return fmt.Errorf("%s: it was not woken: %+v: %w", tc.reason, d.Status, err)
				}
				return nil
			})
		})
	}
}
