package ctrlx

import (
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
)

// digest returns a digest of the versions of all objects that a basis depends
// on, for this process. It is much cheaper than a basis. An equal digest proves an
// equal basis; another digest proves nothing. ok is false if an object has no
// version.
func (p *pass) digest() (d uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, ok = digest.OfVersion(p.read), p.read.GetResourceVersion() != ""
	for i := range p.seen {
		o := &p.seen[i]
		switch obj, isObject := o.Value.(client.Object); {
		case !o.Found():
			d += hashOf(o.Ref.Group, o.Ref.Kind, o.Ref.Namespace, o.Ref.Name)
		case !isObject:
			return 0, false
		default: // with the UID. A sum, because the order does not count
			d += digest.OfVersion(obj)
			ok = ok && obj.GetResourceVersion() != ""
		}
	}
	for _, s := range p.sets {
		d += hashOf(s.ref.Group, s.ref.Kind, s.ref.Namespace, s.ref.Set)
		for i := range s.objects {
			o := &s.objects[i]
			switch obj, isObject := o.Value.(client.Object); {
			case o.Self:
			case !isObject: // names only
				d += hashOf(o.Ref.Namespace, o.Ref.Name, strconv.FormatBool(o.Deleting))
			default:
				d += digest.OfVersion(obj)
				ok = ok && obj.GetResourceVersion() != ""
			}
		}
	}
	return d, ok && (!p.polls || p.began)
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
	mu  sync.Mutex
	of  map[uint64]stored
	all bool // an event concerned any object, so no first pass may be left out
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
	return last, later || s.all
}

// caused notes that an event concerns the object of a name, and that a pass
// follows. If it is the first one, it must not be left out.
func (s *successes) caused(name types.NamespacedName) {
	if _, later := s.get(name); !later {
		s.keep(name, 0, time.Time{})
	}
}

// causedAll notes that an event concerns an object of any name.
func (s *successes) causedAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = true
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
