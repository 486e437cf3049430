package ctrlx

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// A kind that is waited for may not be installed yet. To ask the API server for it in each pass would cost a request in each
// pass; so the definitions of kinds are watched, their metadata only, from the first kind on that is missing.

// watchDefinitions starts to watch which kinds are installed. It is called with the lock held.
func (e *engine) watchDefinitions(ctx context.Context) error {
	if e.definitions {
		return nil
	}
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	informer, err := e.cache.GetInformer(ctx, crd, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching which kinds are installed: %w", err)
	}
	defined := func(o any) {
		crd, ok := o.(*metav1.PartialObjectMetadata)
		if !ok {
			return
		}
		if _, group, ok := strings.Cut(crd.Name, "."); ok {
			go e.install(group) // a handler must not call the API server
		}
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: defined, UpdateFunc: func(_, o any) { defined(o) },
	}); err != nil {
		return fmt.Errorf("watching which kinds are installed: %w", err)
	}
	e.definitions = true
	return nil
}

// What is known of a kind lags behind its definition a little.
const (
	installTries = 20
	installPause = 250 * time.Millisecond
)

// install watches the kinds of a group that were missing and are there now.
func (e *engine) install(group string) {
	for try := range installTries {
		if try > 0 {
			time.Sleep(installPause)
		}
		if e.installNow(group) {
			return
		}
	}
}

// installNow tells whether no kind of the group is missing any more.
func (e *engine) installNow(group string) (all bool) {
	all = true
	for _, gk := range e.missing(group) {
		k, err := e.discover(gk)
		if err != nil || k.gvk.Version == "" || !e.installed(gk, k) {
			all = false
			continue
		}
		// Whoever waits for one looks again: where a kind has no namespaces, it was registered under a wrong one.
		for id := range e.index.Refs() {
			if id.Group == gk.Group && id.Kind == gk.Kind {
				e.index.Changed(id, 0) // which nobody has seen, nor is it NotFound
			}
		}
	}
	return all
}

// missing are the kinds of a group that were asked for and are not installed.
func (e *engine) missing(group string) (missing []schema.GroupKind) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for gk, k := range e.kinds {
		if gk.Group == group && k.informer == nil {
			missing = append(missing, gk)
		}
	}
	return missing
}

// installed begins to watch a kind that was missing, and tells whether that went well.
func (e *engine) installed(gk schema.GroupKind, k *kind) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kinds[gk].informer == nil {
		if e.inform(context.Background(), k) != nil {
			return false
		}
		e.kinds[gk] = k
	}
	return true
}
