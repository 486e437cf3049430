package ctrlx

import (
	"hash/maphash"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
)

// digest returns a digest of all that a basis depends on, for this process. It
// is much cheaper than a basis. ok is false if it cannot be computed.
func (p *pass) digest() (d uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d = digest.Metadata(p.read)
	for i := range p.seen {
		o := &p.seen[i]
		switch obj, isObject := o.Value.(client.Object); {
		case !o.Found():
			d += hashOf(o.Ref.Group, o.Ref.Kind, o.Ref.Namespace, o.Ref.Name)
		case !isObject:
			return 0, false
		default: // with the UID. A sum, because the order does not count
			d += digestInProcess(obj)
		}
	}
	return d, !p.polls || p.began
}

// digestInProcess returns a digest of all that a check can see of an object.
func digestInProcess(obj client.Object) uint64 {
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return digest.OfVersion(obj)
	}
	return digest.Of(obj)
}

var processSeed = maphash.MakeSeed()

func hashOf(texts ...string) (h uint64) {
	for _, t := range texts {
		h = h*31 + maphash.String(processSeed, t)
	}
	return h
}

// successes holds the objects whose first pass in this process has read the
// cloud or was left out, and the last stored success of each. The keys are
// digests of their names: of two names with one digest, the second object has no
// first pass, and is reconciled as in any other pass.
type successes struct {
	mu sync.Mutex
	of map[uint64]stored
}

// stored is a success that is stored in the status. The zero stored is none.
type stored struct {
	digest uint64 // of pass.digest
	unix   int64
}

// get returns what keep noted for the object of a name. later reports whether
// there is anything, so that the pass is not the first one.
func (s *successes) get(name types.NamespacedName) (last stored, later bool) {
	key := hashOf(name.Namespace, name.Name)
	s.mu.Lock()
	defer s.mu.Unlock()
	last, later = s.of[key]
	return last, later
}

// keep notes the stored success of an object; the zero time: it has none, and
// its first pass has begun to read the cloud.
func (s *successes) keep(name types.NamespacedName, digest uint64, at time.Time) {
	key := hashOf(name.Namespace, name.Name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[uint64]stored{}
	}
	s.of[key] = stored{digest, at.Unix()}
}

// forget forgets an object, because it is gone.
func (s *successes) forget(name types.NamespacedName) {
	key := hashOf(name.Namespace, name.Name)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, key)
}
