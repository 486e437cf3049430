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
// pass; so the definitions of kinds are watched, their metadata only, from the first kind on that is missing. Who may not
// watch them, or waits for a kind that has no definition since another server has it, is asked again from time to time.

var definitionKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// How long it is taken for granted that a kind is not installed: where definitions are watched, and where they are not.
const (
	missingIfWatched = 10 * time.Minute
	missingIfNot     = 5 * time.Second
)

// miss notes that a kind is missing, and sees to it that whoever waits for it is woken when it is there.
func (e *engine) miss(ctx context.Context, gk schema.GroupKind, k *kind) (*kind, error) {
	e.mu.Lock()
	may := e.definitions
	e.mu.Unlock()
	may = may || e.allowed(ctx, definitionKind, "") == nil
	e.mu.Lock()
	defer e.mu.Unlock()
	if k := e.kinds[gk]; k != nil && k.informer != nil { // it came meanwhile
		return k, nil
	}
	if may {
		if err := e.watchDefinitions(ctx); err != nil {
			return nil, err
		}
	}
	e.kinds[gk] = k
	e.install(gk.Group, missTries) // it may have come since it was asked for, when nobody knew that it is wanted
	return k, nil
}

// watchDefinitions starts to watch which kinds are installed. It is called with the lock held.
func (e *engine) watchDefinitions(ctx context.Context) error {
	if e.definitions {
		return nil
	}
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(definitionKind)
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
			e.mu.Lock()
			defer e.mu.Unlock()
			e.install(group, installTries)
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
	missTries    = 4
	installTries = 20
	installPause = 250 * time.Millisecond
)

// install looks for the kinds of a group that are missing, in a goroutine of its own, one for each group. It is called with
// the lock held.
func (e *engine) install(group string, tries int) {
	if len(e.missing(group)) == 0 {
		return
	}
	left, runs := e.installs[group]
	e.installs[group] = max(left, tries)
	if !runs {
		go e.installing(group)
	}
}

func (e *engine) installing(group string) {
	pause := time.NewTicker(installPause)
	defer pause.Stop()
	for {
		e.mu.Lock()
		missing := e.missing(group)
		if e.installs[group]--; e.installs[group] < 0 || len(missing) == 0 {
			delete(e.installs, group)
			e.mu.Unlock()
			return
		}
		e.mu.Unlock()
		for _, gk := range missing {
			if k, err := e.discover(gk); err == nil && k.gvk.Version != "" {
				e.installed(gk)
			}
		}
		select {
		case <-e.stopped:
			return
		case <-pause.C:
		}
	}
}

// missing are the kinds of a group that were asked for and are not installed. It is called with the lock held.
func (e *engine) missing(group string) (missing []schema.GroupKind) {
	for gk, k := range e.kinds {
		if gk.Group == group && k.informer == nil {
			missing = append(missing, gk)
		}
	}
	return missing
}

// installed forgets that a kind was missing, and lets whoever waits for one look again: that begins to watch it. Where a
// kind has no namespaces, it was registered under a wrong one. A pass under way that has not begun to wait finds that the kind
// is not watched, and comes back.
func (e *engine) installed(gk schema.GroupKind) {
	e.mu.Lock()
	if k := e.kinds[gk]; k != nil && k.informer == nil {
		delete(e.kinds, gk)
	}
	e.mu.Unlock()
	for id := range e.index.Refs() {
		if id.Group == gk.Group && id.Kind == gk.Kind {
			e.index.Changed(id, 0) // which nobody has seen, nor is it NotFound
		}
	}
}
