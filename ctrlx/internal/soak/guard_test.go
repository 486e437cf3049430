package soak_test

import (
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// guard looks at each database that a process reads or writes. It outlives the processes.
type guard struct {
	c *cloud

	mu   sync.Mutex
	seen map[types.UID]*watched
	once map[string]bool
}

// watched is the record of an object.
type watched struct {
	specs   map[int64]int // sizes by generation
	sizes   map[int]bool
	version int
	foreign string
}

func newGuard(c *cloud) *guard {
	return &guard{c: c, seen: map[types.UID]*watched{}, once: map[string]bool{}}
}

// first reports whether it is called for the first time with what.
func (g *guard) first(what string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.once[what]
	g.once[what] = true
	return !was
}

func (g *guard) look(d database) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.seen[d.UID]
	if s == nil {
		s = &watched{specs: map[int64]int{}, sizes: map[int]bool{0: true}}
		g.seen[d.UID] = s
	}
	s.specs[d.Generation], s.sizes[d.Spec.Size] = d.Spec.Size, true
	if d.DeletionTimestamp != nil && len(d.Finalizers) == 0 {
		if err := g.c.isAs(d.UID, 0); err != nil {
			g.c.says("%s is gone: %v", d.Name, err)
		}
	}
	record := meta.FindStatusCondition(d.Status.Conditions, ctrlx.ConditionRecord)
	if record != nil && record.Reason == ctrlx.ReasonOperationUnderWay && strings.Count(record.Message, string(d.UID)) < 2 { // the UID, and the UID in the token
		g.c.says("%s %s has the operation of another object: %s", d.Name, d.UID, record.Message)
	}
	if !s.sizes[d.Status.Size] {
		g.c.says("%s %s has the status of another object: size %d", d.Name, d.UID, d.Status.Size)
	}
	c := meta.FindStatusCondition(d.Status.Conditions, "Ready")
	isReady := c != nil && c.Status == metav1.ConditionTrue
	if isReady {
		if want, ok := s.specs[c.ObservedGeneration]; ok && want != d.Status.Size {
			g.c.says("%s %s is ready for generation %d of size %d, but its status has size %d", d.Name, d.UID, c.ObservedGeneration, want, d.Status.Size)
		}
	}
	kind := testv1.GroupVersion.WithKind("Database")
	if c != nil && c.ObservedGeneration == d.Generation && d.DeletionTimestamp == nil && (ready.Kstatus(kind)(d).State == checks.Ready) != isReady {
		g.c.says("kstatus is wrong about %s at generation %d: %+v", d.Name, d.Generation, d.Status.Conditions)
	}
	version, _ := strconv.Atoi(d.ResourceVersion)
	if version < s.version {
		return // of a stale cache
	}
	now := ""
	if c := meta.FindStatusCondition(d.Status.Conditions, foreignCondition); c != nil {
		now = c.Message
	}
	if now < s.foreign {
		g.c.says("%s %s: the condition of another controller was reset from %q to %q", d.Name, d.UID, s.foreign, now)
	}
	s.version, s.foreign = version, now
}
