package dependents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// RecreateImmutable is a link that deletes an object if the API server refuses to
// change it, only because each field that the write would change is immutable. A
// later pass creates the object. It is in no chain: add it inside DryRun, as in
//
//	c.InsertAfter("DryRun", chain.Named("RecreateImmutable", dependents.RecreateImmutable))
//
// It deletes no Namespace, no definition, no volume and no claim of one, because
// they hold data of others. For them, and for any other refusal, it returns the
// error of next.
func RecreateImmutable(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		res, err := next(ctx, r)
		holds := []string{"Namespace", "CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim"}
		if r.Live == nil || !isImmutable(err) || slices.Contains(holds, r.gvk.Kind) {
			return res, err
		}
		return r.removeToCreate(ctx)
	}
}

// isImmutable reports whether a write was refused only because fields are
// immutable. The end of a cause has no value of the manifest.
func isImmutable(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	causes := status.Status().Details.Causes
	for _, cause := range causes {
		text := cause.Message
		end := text[strings.LastIndex(text, ": ")+1:]
		if !strings.Contains(end, "immutable") && !strings.HasPrefix(text, "Forbidden: updates to statefulset spec for fields other than") &&
			!strings.HasPrefix(text, "Forbidden: pod updates may not change fields other than") {
			return false
		}
	}
	return len(causes) > 0
}
