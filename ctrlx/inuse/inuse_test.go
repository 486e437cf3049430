package inuse_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-go/windlass/checks"
	v1 "github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	"github.com/windlass-go/windlass/flow"
)

// What makes no sense panics where it is set up.
func TestAddPanics(t *testing.T) {
	refs := func(*v1.Database) []checks.Ref { return nil }
	ops, ext := flow.Operations[*v1.Database]{Apply: put[*v1.Database]}, flow.Extensions[*v1.Database]{}
	cases := map[string]struct {
		reason string
		do     func()
		want   string
	}{
		"Manager":    {"nothing could be read", func() { inuse.Add(nil, refs, &ops, &ext) }, "inuse: Add: an argument or Operations.Apply is nil"},
		"References": {"it would panic in the first pass", func() { inuse.Add(mgr, nil, &ops, &ext) }, "inuse: Add: an argument or Operations.Apply is nil"},
		"Operations": {"nothing would delete the resource", func() { inuse.Add(mgr, refs, nil, &ext) }, "inuse: Add: an argument or Operations.Apply is nil"},
		"Extensions": {"nothing would run the links", func() { inuse.Add(mgr, refs, &ops, nil) }, "inuse: Add: an argument or Operations.Apply is nil"},
		"Apply":      {"it would use what is not guarded", func() { inuse.Add(mgr, refs, &flow.Operations[*v1.Database]{}, &ext) }, "inuse: Add: an argument or Operations.Apply is nil"},
		"Scheme": {"the finalizer would have no name", func() {
			inuse.Add(mgr, func(*corev1.Pod) []checks.Ref { return nil }, &flow.Operations[*corev1.Pod]{Apply: put[*corev1.Pod]}, &flow.Extensions[*corev1.Pod]{})
		}, "inuse: Add: add the type to the manager's scheme"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, tc.want) {
					t.Errorf("%s: it should say %q and says %q", tc.reason, tc.want, got)
				}
			}()
			tc.do()
		})
	}
}
