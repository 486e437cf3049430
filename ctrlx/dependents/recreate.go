package dependents

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/checks"
)

// creationMemory holds what the process has created. An object that another
// writer deletes again and again would be created without end, each time with
// another UID.
type creationMemory struct {
	mu sync.Mutex
	of map[creation]*creations
}

// creation names an object of an owner, whatever its UID.
type creation struct {
	owner types.UID
	mark  string // of the owner
	ref   checks.Ref
}

// creations counts those of one manifest, each within the reapply interval of
// the one before.
type creations struct {
	digest string
	n      int
	last   time.Time
}

func (r *Request) creation() creation { return creation{r.Owner.UID, r.Owner.mark, r.ref} }

// freeCreations are the creations without a delay. Each later one waits twice as
// long as the one before.
const (
	freeCreations = 3
	firstDelay    = 10 * time.Second
)

// wait returns the time until the object of a request may be created, and how
// often it was.
func (m *creationMemory) wait(r *Request, digest string, now time.Time) (wait time.Duration, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.of[r.creation()]
	if c == nil || c.digest != digest || c.n < freeCreations {
		return 0, 0
	}
	delay := r.Policies.ReapplyInterval
	if doubled := firstDelay << min(c.n-freeCreations, 20); doubled < delay {
		delay = doubled
	}
	return c.last.Add(delay).Sub(now), c.n
}

// add records a creation.
func (m *creationMemory) add(r *Request, digest string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := r.creation()
	c := m.of[key]
	if c == nil || c.digest != digest || now.Sub(c.last) >= r.Policies.ReapplyInterval {
		makeRoom(m.of)
		c = &creations{digest: digest}
		m.of[key] = c
	}
	c.n, c.last = c.n+1, now
}

// forget drops the creations of an object that this name deletes.
func (m *creationMemory) forget(r *Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, r.creation())
}

// deletedAgain returns the result about an object that was created n times.
func (r *Request) deletedAgain(n int, wait time.Duration) Result {
	remedy := "find the writer that deletes it, or remove it from the manifests"
	if u, err := r.manifest(); err == nil && r.gvk.GroupKind() == (schema.GroupKind{Group: "batch", Kind: "Job"}) {
		if _, found, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "ttlSecondsAfterFinished"); found {
			remedy = "a Job that deletes itself is created again: remove spec.ttlSecondsAfterFinished; a component " +
				"deletes a complete Job with the annotation " + r.of.name + "/purge-order"
		}
	}
	res := r.result(Waiting, fmt.Sprintf("it was created %d times, and deleted each time; the next creation is in %s: %s",
		n, wait.Round(time.Second), remedy))
	res.Contested, res.After = true, wait
	return res
}
