package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/write"
)

// resources reads the resources of a group and version from the API server.
type resources func(ctx context.Context) (*metav1.APIResourceList, error)

// discoverer is a manager that reads the resources itself. Tests implement it,
// because their managers have no API server.
type discoverer interface {
	APIResources(ctx context.Context) (*metav1.APIResourceList, error)
}

// resourcesOf returns the function that reads the resources of the kind of r.
func (r *core) resourcesOf(mgr manager.Manager) (resources, error) {
	if d, ok := mgr.(discoverer); ok {
		return d.APIResources, nil
	}
	d, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (*metav1.APIResourceList, error) {
		return d.ServerResourcesForGroupVersionWithContext(ctx, r.kind.GroupVersion().String())
	}, nil
}

// statusServed remembers whether a kind has the subresource status: a positive
// answer until a write of a status finds none, an error for engine.RefusedFor.
type statusServed struct {
	read  resources
	yes   atomic.Bool
	turn  chan struct{} // of the pass that sends the request, for err and until
	err   error
	until time.Time
}

// hasStatus returns an error unless the kind of r has the subresource status.
// Without it, a pass could store neither conditions nor an operation, and each
// pass would call Apply again. A pass that waits for the answer to another one
// can be canceled.
func (r *core) hasStatus(ctx context.Context) error {
	s := &r.served
	if s.yes.Load() {
		return nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return &finalizerError{context.Cause(ctx)}
	}
	if s.yes.Load() || r.now().Before(s.until) {
		return s.err
	}
	err := r.discoverStatus(ctx)
	if err != nil && ctx.Err() != nil { // of this pass, so it holds for no other pass
		return &finalizerError{err}
	}
	s.yes.Store(err == nil)
	if s.err = err; err != nil {
		s.err, s.until = &finalizerError{err}, r.now().Add(engine.RefusedFor)
	}
	return s.err
}

// wroteStatus takes the error of a write of the status: a new version of the
// definition may lack the subresource.
func (s *statusServed) wroteStatus(err error) error {
	if errors.Is(err, write.ErrNoStatus) {
		s.yes.Store(false)
	}
	return err
}

func (r *core) discoverStatus(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.opt.sync)
	defer cancel()
	list, err := r.served.read(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("ctrlx: %s: whether the kind has a status subresource: %w", r.name, err)
	case !slices.ContainsFunc(list.APIResources, func(a metav1.APIResource) bool { return a.Kind == r.kind.Kind && strings.HasSuffix(a.Name, "/status") }):
		return fmt.Errorf("ctrlx: %s: %w", r.name, write.ErrNoStatus)
	}
	return nil
}
