package dependents

import (
	"crypto/sha256"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// memory holds what the process has seen of objects. After a restart it is
// empty. An object with fields that the API server does not store is then
// written once more. A contested field is corrected once more.
type memory struct {
	mu sync.Mutex
	of map[types.UID]*remembered
}

// remembered holds what the process has seen of one object.
type remembered struct {
	version, digest string               // the object was in sync in this version, with the manifest of this digest
	stored          map[string]string    // values that the API server stored in place of those of the manifest, by path
	corrected       map[string]time.Time // when the process corrected a field, by path
	replaced        string               // the version before the last write, which a cache may still have
	written         time.Time            // when the process wrote the object; zero: it did not
}

// mostRemembered is the number of entries of a memory. For a further one, any
// other entry is dropped.
const mostRemembered = 16384

func newMemory() *memory { return &memory{of: map[types.UID]*remembered{}} }

// get returns the entry of an object. The caller holds the lock.
func (m *memory) get(uid types.UID) *remembered {
	r := m.of[uid]
	if r == nil {
		makeRoom(m.of)
		r = &remembered{corrected: map[string]time.Time{}}
		m.of[uid] = r
	}
	return r
}

// verify records that a version of an object is in sync with a manifest, except
// for the differences stored.
func (m *memory) verify(uid types.UID, version, digest string, stored []difference) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.get(uid)
	r.version, r.digest, r.stored = version, digest, valuesOf(stored)
}

// holds reports whether an object has a manifest, as the process has seen it,
// and when the process wrote the object; zero: it did not.
func (m *memory) holds(uid types.UID, digest string) (known bool, written time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of[uid]
	if r == nil || r.digest != digest {
		return false, time.Time{}
	}
	return true, r.written
}

// verified reports whether verify recorded this version and manifest.
func (m *memory) verified(uid types.UID, version, digest string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of[uid]
	return r != nil && version != "" && r.version == version && r.digest == digest
}

// split divides differences into those that were there right after the last
// write of the manifest, and the others. If the process has not seen the
// manifest, the ones that this name owns count as stored: the API server changes
// a quantity, for example.
func (m *memory) split(uid types.UID, digest string, all []difference) (stored, others []difference) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of[uid]
	for _, d := range all {
		known := d.owned
		if r != nil && r.digest == digest {
			live, ok := r.stored[d.Path]
			known = ok && live == d.live
		}
		if known {
			stored = append(stored, d)
		} else {
			others = append(others, d)
		}
	}
	return stored, others
}

// valuesOf returns the live values of differences by their paths.
func valuesOf(all []difference) map[string]string {
	var values map[string]string
	for _, d := range all {
		if values == nil {
			values = map[string]string{}
		}
		values[d.Path] = d.live
	}
	return values
}

// contested returns the time until the next correction, if each of the fields
// was corrected within the interval; otherwise zero. In the version that the
// last write replaced, no field is contested: the write will be a conflict.
func (m *memory) contested(
	uid types.UID, version string, fields []difference, now time.Time, interval time.Duration,
) (wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of[uid]
	if r == nil || r.replaced == version {
		return 0
	}
	for _, d := range fields {
		left := r.corrected[d.Path].Add(interval).Sub(now)
		if left <= 0 {
			return 0
		}
		if wait == 0 || left < wait {
			wait = left
		}
	}
	return wait
}

// wrote records a write of a manifest: the version that it replaced, the
// differences right after it, and the differences that it corrected.
func (m *memory) wrote(uid types.UID, replaced, digest string, after, corrected []difference, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.get(uid)
	r.version, r.replaced, r.digest, r.stored, r.written = "", replaced, digest, valuesOf(after), now
	for _, d := range corrected {
		r.corrected[d.Path] = now
	}
}

// fingerprint identifies a manifest as the caller gave it.
type fingerprint struct {
	text      [sha256.Size]byte // the digest of its JSON
	kind      *kind             // the JSON of a typed object lacks it
	namespace string            // that of the owner, if the JSON lacks it
}

// digests holds digests of manifests by their fingerprints.
type digests struct {
	mu sync.Mutex
	of map[fingerprint]string
}

func (d *digests) get(key fingerprint) (digest string, known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	digest, known = d.of[key]
	return digest, known
}

func (d *digests) put(key fingerprint, digest string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	makeRoom(d.of)
	d.of[key] = digest
}

// makeRoom drops any entries of a memory that is full.
func makeRoom[K comparable, V any](of map[K]V) {
	for key := range of {
		if len(of) < mostRemembered {
			return
		}
		delete(of, key)
	}
}
