package ctrlx_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// resourceManager is a manager whose API server lists resources, or fails.
type resourceManager struct {
	*idleManager
	resources *metav1.APIResourceList
	asked     int
}

func (m *resourceManager) APIResources(context.Context) (*metav1.APIResourceList, error) {
	if m.asked++; m.resources == nil {
		return nil, errBroken
	}
	return m.resources, nil
}

// Apply is called only for a kind that has the subresource status, also after a new version of the definition.
// A refusal holds for some seconds.
func TestStatusServed(t *testing.T) {
	without := &metav1.APIResourceList{
		GroupVersion: testv1.GroupVersion.String(),
		APIResources: []metav1.APIResource{{Name: "apps", Kind: "App"}, {Name: "apps/scale", Kind: "Scale"}, {Name: "clusters/status", Kind: "Cluster"}},
	}
	cases := map[string]struct {
		reason    string
		resources *metav1.APIResourceList
		says      string
	}{
		"Missing": {"the definition has no status", without, "has no status subresource"},
		"Unknown": {"discovery fails", nil, errBroken.Error()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			m := &resourceManager{idleManager: d.manager, resources: tc.resources}
			d.app = d.reconciler(flow.Extensions[*App]{})
			must(t, d.app.SetupWithManager(m))
			refused := func(asked int) {
				t.Helper()
				if err := d.try(); err == nil || !strings.Contains(err.Error(), tc.says) || m.asked != asked || d.took() != "" {
					t.Errorf("%s: after %d requests, the error is %v", tc.reason, m.asked, err)
				}
			}
			refused(1)
			refused(1)
			d.now = d.now.Add(engine.RefusedFor)
			refused(2)
			m.resources = allServed
			d.now = d.now.Add(engine.RefusedFor)
			d.pass()
			if d.took() != "apply" || d.says() != "True Succeeded" {
				t.Errorf("%s: the object says %q: %s", tc.reason, d.says(), d.message())
			}
			// The next pass after a write that failed for that reason does not call Apply.
			m.resources = tc.resources
			d.refuse = notServed()
			d.change(func(*App) {})
			if err := d.try(); err == nil || d.took() != "apply" {
				t.Errorf("%s: the write fails: %v", tc.reason, err)
			}
			refused(4)
		})
	}
}

// slowDiscovery is a manager whose API server does not answer before release is
// closed.
type slowDiscovery struct {
	*inMemory
	asked, release chan struct{}
}

func (m *slowDiscovery) APIResources(ctx context.Context) (*metav1.APIResourceList, error) {
	m.asked <- struct{}{}
	<-m.release
	return m.inMemory.APIResources(ctx)
}

// A pass that waits for the discovery of another pass can be canceled, and sends
// no request of its own.
func TestStatusServedCanceled(t *testing.T) {
	m := &slowDiscovery{inMemory: newInMemory(), asked: make(chan struct{}, 2), release: make(chan struct{})}
	r := measured(false)
	must(t, r.SetupWithManager(m))
	first := make(chan error)
	go func() { first <- ctrlx.HasStatus(t.Context(), r) }()
	<-m.asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ctrlx.HasStatus(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	close(m.release)
	if err := <-first; err != nil || len(m.asked) > 0 {
		t.Errorf("error %v, and %d more requests", err, len(m.asked))
	}
}
