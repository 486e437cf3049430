package ctrlx

import (
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
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
			d += memory.Hash(o.Ref.Group, o.Ref.Kind, o.Ref.Namespace, o.Ref.Name)
		case !isObject:
			return 0, false
		default: // with the UID. A sum, because the order does not count
			d += digest.OfVersion(obj)
			ok = ok && obj.GetResourceVersion() != ""
		}
	}
	for _, s := range p.sets {
		d += memory.Hash(s.ref.Group, s.ref.Kind, s.ref.Namespace, s.ref.Set)
		for i := range s.objects {
			o := &s.objects[i]
			switch obj, isObject := o.Value.(client.Object); {
			case o.Self:
			case !isObject: // names only
				d += memory.Hash(o.Ref.Namespace, o.Ref.Name, strconv.FormatBool(o.Deleting))
			default:
				d += digest.OfVersion(obj)
				ok = ok && obj.GetResourceVersion() != ""
			}
		}
	}
	return d, ok && (!p.polls || p.began)
}
