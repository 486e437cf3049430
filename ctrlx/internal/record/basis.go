package record

import (
	"cmp"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
)

// MaxRead is the maximum number of owners and references in a [Basis].
const MaxRead = 20

// Basis holds digests of the inputs of an operation when it began.
type Basis struct {
	Self string // of the object, the executable and the revision
	Read []Read // the owner and the references, sorted
}

// Read is an owner or a reference as a pass read it. The ref has no ID.
type Read struct {
	checks.Ref
	Digest string
}

// Sort sorts reads, each of another object.
func Sort(all []Read) {
	slices.SortFunc(all, func(a, b Read) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Set, b.Set))
	})
}

// DigestIn returns the digest of ref in all; empty: it is not there.
func DigestIn(all []Read, ref checks.Ref) string {
	for i := range all {
		if all[i].Ref == ref {
			return all[i].Digest
		}
	}
	return ""
}

// Since returns the basis of an operation that began from another basis, and ended
// in a pass that read b. ok is false if something changed meanwhile.
func (b Basis) Since(from *Basis) (_ Basis, ok bool) {
	if from == nil || from.Self != b.Self {
		return b, false
	}
	all := slices.Clone(b.Read)
	for _, s := range from.Read {
		switch DigestIn(b.Read, s.Ref) {
		case "":
			all = append(all, s)
		case s.Digest:
		default:
			return b, false
		}
	}
	Sort(all)
	return Basis{b.Self, all}, len(all) <= MaxRead
}

// Covers reports whether an object that was applied from b was applied from other,
// too: b may have read more.
func (b Basis) Covers(other Basis) bool {
	return b.Self == other.Self && !slices.ContainsFunc(other.Read, func(o Read) bool { return !slices.Contains(b.Read, o) })
}

// Clock is the clock of the time-out of an object that is not ready. It starts
// again if one of the inputs changes.
type Clock struct {
	Since metav1.Time
	Self  string            // a digest of the object
	Read  map[string]string // digests of the owner and the references, by the digest of the ref
}

// maxInputs is the maximum number of references in a clock.
const maxInputs = 200

// Continue reports whether c continues the clock was: the inputs of c equal those
// of was. Then it sets Since, and adds the inputs of was that this pass has not
// read: a pass that polls an operation reads less than the pass that began it.
func (c *Clock) Continue(was *Clock) bool {
	if was == nil || was.Self != c.Self {
		return false
	}
	for ref, digest := range was.Read {
		if now, read := c.Read[ref]; read && now != digest {
			return false
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(was.Read)) { // in the same order in each pass
		c.Add(ref, was.Read[ref])
	}
	c.Since = was.Since
	return true
}

// Add adds the digest of a reference, unless there are too many.
func (c *Clock) Add(ref, digest string) {
	if c.Read == nil {
		c.Read = map[string]string{}
	}
	if len(c.Read) < maxInputs {
		c.Read[ref] = digest
	}
}
