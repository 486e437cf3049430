package ctrlx

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// What wakes is the watches. After an outage of the API server client-go comes back to it only after up to a minute; a
// connection may be dead for long before anybody notices. The cache lags with its watch, so that to look into it again finds
// nothing. Therefore each object that is waited for is read live from time to time, past the cache: once for all of its
// waiters, in one goroutine. A pass that is woken so must not read what is older in the cache; see behind.

const (
	pollGap      = 50 * time.Millisecond // between two reads: twenty a second at most, for each manager
	pollTimeout  = 10 * time.Second      // of a read
	pollAgain    = time.Second           // after a read that was not answered, doubling
	pollAgainMax = 15 * time.Second
)

// poll reads what is waited for until the manager stops.
func (e *engine) poll(ctx context.Context) {
	e.mu.Lock()
	every := e.every
	e.mu.Unlock()
	p := poller{e: e, every: every, tick: max(every/32, time.Millisecond), began: time.Now(), failed: map[index.ID]bool{}}
	for pause := p.tick; sleep(ctx, pause); {
		pause = p.round(ctx)
	}
}

// poller is the state of the one goroutine that reads live.
type poller struct {
	e           *engine
	every, tick time.Duration
	began       time.Time

	failed map[index.ID]bool // whose last read was not answered as it should be
	away   bool              // the API server did not answer
	again  time.Duration     // after which to try again
}

// round reads those whose turn it is, and says when the next round is.
func (p *poller) round(ctx context.Context) (pause time.Duration) {
	every := p.every
	if p.away {
		if !p.answers(ctx) {
			return p.later()
		}
		p.away, every = false, 0 // whatever has changed meanwhile
	}
	tried := len(p.failed)
	for id := range p.e.due(p.now(), every) { // first, so that one that hangs keeps no other one from being read
		if !p.read(ctx, id) {
			return p.later()
		}
	}
	for id := range p.failed {
		if !p.read(ctx, id) {
			return p.later()
		}
	}
	if len(p.failed) > 0 && len(p.failed) >= tried {
		return p.later()
	}
	p.again = 0
	return p.tick
}

// now is on a clock that does not go back and is above zero.
func (p *poller) now() time.Duration { return 1 + time.Since(p.began) }

// answers asks one of those that were not answered.
func (p *poller) answers(ctx context.Context) bool {
	for id := range p.failed {
		return p.read(ctx, id)
	}
	return true
}

func (p *poller) later() time.Duration {
	p.again = min(max(2*p.again, pollAgain), pollAgainMax, p.every)
	return p.again
}

// read reads one of them. It gives false if there is no use in asking for others in this round.
func (p *poller) read(ctx context.Context, id index.ID) bool {
	if p.e.index.Waiters(id) == 0 && !p.e.behind.has(id) {
		delete(p.failed, id)
		return true
	}
	err := p.e.readLive(ctx, id)
	var said apierrors.APIStatus
	switch {
	case err == nil:
		delete(p.failed, id)
	case ctx.Err() != nil:
		return false
	case errors.Is(err, context.DeadlineExceeded): // the API server, or a webhook that converts this kind only
		p.failed[id] = true
		return false
	case !errors.As(err, &said):
		p.failed[id], p.away = true, true
		return false
	case kubernetes.Transient(err):
		p.failed[id] = true
	default: // who may not read it is told so by its passes
		delete(p.failed, id)
	}
	if err != nil {
		log.FromContext(ctx).V(1).Info("what is waited for could not be read live", "object", id.String(), "error", err.Error())
	}
	return sleep(ctx, pollGap)
}

// due are those whose turn it is, first those of which the cache has something old.
func (e *engine) due(now, every time.Duration) func(yield func(index.ID) bool) {
	return func(yield func(index.ID) bool) {
		for _, id := range e.behind.due(now, every) {
			if !yield(id) {
				return
			}
		}
		for id := range e.index.Due(now, every) {
			if !yield(id) {
				return
			}
		}
	}
}

// readLive reads an object past the cache, and wakes whoever has not seen what it reads.
func (e *engine) readLive(ctx context.Context, id index.ID) error {
	k := e.kind(schema.GroupKind{Group: id.Group, Kind: id.Kind})
	if k == nil || !k.informer.HasSynced() {
		return nil // it is watched otherwise whether the kind is installed; who waits for a first list comes back by itself
	}
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	name := types.NamespacedName{Namespace: id.Namespace, Name: id.Name}
	live, d, err := get(ctx, e.live, name, newObject(e.scheme, k.gvk))
	if err != nil {
		return err
	}
	// In this order: an event that comes in between takes the mark away, or was there before the cache is looked at.
	e.behind.mark(id, live)
	cached, _, err := get(ctx, e.cache, name, newObject(e.scheme, k.gvk))
	if err == nil && !older(cached, live) {
		e.behind.clear(id)
	}
	e.index.Changed(id, d)
	return nil
}

// get reads an object. Not being there is the version "" and the digest of that.
func get(ctx context.Context, from client.Reader, name types.NamespacedName, into client.Object) (version string, d uint64, err error) {
	err = from.Get(ctx, name, into)
	switch {
	case apierrors.IsNotFound(err):
		return "", digest.NotFound, nil
	case err != nil:
		return "", 0, err
	}
	return into.GetResourceVersion(), digest.Of(into), nil
}

// sleep waits, and gives false if there is no time left.
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
