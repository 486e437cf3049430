package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

var definitionKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// definitionsGap is the time between two requests whether the operator may watch
// definitions.
const definitionsGap = time.Minute

// watchDefinitions starts the watch of definitions, which wakes the waiters of
// missing kinds.
func (e *Engine) watchDefinitions(ctx context.Context) error {
	e.mu.Lock()
	ask := !e.definitions.watched && !time.Now().Before(e.definitions.next)
	if ask {
		e.definitions.next = time.Now().Add(definitionsGap)
	}
	e.mu.Unlock()
	if !ask {
		return nil
	}
	if _, err := e.allowed(ctx, definitionKind, ""); err != nil {
		return nil // the waiters are requeued
	}
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(definitionKind)
	informer, err := e.cache.GetInformer(ctx, crd, cache.BlockUntilSynced(false))
	if err == nil {
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: e.defined, UpdateFunc: func(_, o any) { e.defined(o) },
		})
	}
	if err != nil {
		return fmt.Errorf("watching which kinds are installed: %w", err)
	}
	e.mu.Lock()
	e.definitions.watched = true
	e.mu.Unlock()
	go e.settle(e.definitions.events)
	e.catalog.watch()
	return nil
}

// defined handles an event of a definition.
func (e *Engine) defined(o any) {
	_, group, _ := strings.Cut(o.(*metav1.PartialObjectMetadata).Name, ".")
	e.catalog.define(group)
	select {
	case e.definitions.events <- struct{}{}:
	default: // settle has not looked yet
	}
}

// settle reads discovery after events of definitions, as long as an object
// waits for a missing kind of their groups: several times, with growing pauses,
// because discovery shows a change with a delay.
func (e *Engine) settle(events <-chan struct{}) {
	for {
		select {
		case <-events:
		case <-e.stopped.Done():
			return
		}
		for pause := discoveryGap; pause <= settleTime && sleep(e.stopped, pause); pause *= 2 {
			select {
			case <-events:
				pause = discoveryGap / 2
			default:
			}
			if e.awaitsMissing(e.catalog.unsettled) {
				e.catalog.refreshNow(e.stopped)
			}
		}
	}
}

// awaitsMissing reports whether an object waits for a missing kind for which is returns true.
func (e *Engine) awaitsMissing(is func(schema.GroupKind) bool) bool {
	for id := range e.index.Refs() {
		if w, _ := e.watchOf(KindOf(id)); w == nil && is(KindOf(id)) {
			return true
		}
	}
	return false
}

// installed wakes the waiters of kinds that are new in discovery. Their pass
// watches the kind. If the kind has no namespaces, a waiter was registered
// under a wrong namespace. A pass under way that does not wait yet finds that
// the kind is not watched, and is requeued.
func (e *Engine) installed(added map[schema.GroupKind]bool) {
	for id := range e.index.Refs() {
		if added[KindOf(id)] {
			e.index.Changed(id, index.Change{}) // no pass has seen the digest 0
		}
	}
}

// sleep waits for d. It reports whether ctx is not done.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
