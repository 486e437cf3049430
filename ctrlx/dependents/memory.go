package dependents

import (
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// memory holds what the process has seen of objects. After a restart it is
// empty, and a contested field is corrected once more.
type memory struct {
	mu sync.Mutex
	of map[types.UID]*remembered
}

// remembered holds what the process has seen of one object.
type remembered struct {
	version, digest string               // the object was in sync in this version, with the manifest of this digest
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

// verify records that a version of an object is in sync with a manifest.
func (m *memory) verify(uid types.UID, version, digest string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.get(uid)
	r.version, r.digest = version, digest
}

// seen returns what the process has seen of an object; zero: nothing.
func (m *memory) seen(uid types.UID) remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.of[uid]; r != nil {
		return *r // the map corrected is not read
	}
	return remembered{}
}

// contested returns the time until the next correction, if each of the fields
// was corrected within the interval; otherwise zero. In the version that the
// last write replaced, no field is contested: the write will be a conflict.
func (m *memory) contested(
	uid types.UID, version string, fields []string, now time.Time, interval time.Duration,
) (wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of[uid]
	if r == nil || r.replaced == version {
		return 0
	}
	for _, d := range fields {
		left := r.corrected[pathOf(d)].Add(interval).Sub(now)
		if left <= 0 {
			return 0
		}
		if wait == 0 || left < wait {
			wait = left
		}
	}
	return wait
}

// wrote records a write of a manifest: the version that it made, the one that it
// replaced, and the fields that it corrected.
func (m *memory) wrote(uid types.UID, version, replaced, digest string, corrected []string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.get(uid)
	r.version, r.replaced, r.digest, r.written = version, replaced, digest, now
	for _, f := range corrected {
		r.corrected[pathOf(f)] = now
	}
}

// pathOf returns the path of a field of [Result.Fields].
func pathOf(field string) string {
	path, _, _ := strings.Cut(field, " is ")
	return path
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
