package dependents

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

// once is the digest of an object with the policy Once.
const once = "once"

// manifestDigest returns the digest that the live object has after a write.
func (r *Request) manifestDigest() string {
	switch r.reconcile {
	case onlyOnce:
		return once
	case onObjectOrComponentChange:
		return r.contents + "@" + r.by.digest
	}
	return r.contents
}

// due reports whether the reapply interval has passed since the last write. The
// time of the write is an annotation, which users can change. So a time that
// cannot be read, or that is in the future, is due. If the process made a write
// within the interval, nothing is due: another writer that removes the
// annotation would cause writes without end.
func (r *Request) due(now, written time.Time) bool {
	if age := now.Sub(written); age >= 0 && age < r.Policies.ReapplyInterval {
		return false
	}
	applied, err := time.Parse(time.RFC3339, r.Live.GetAnnotations()[r.of.keys.applied])
	age := now.Sub(applied)
	return err != nil || age < 0 || age >= r.Policies.ReapplyInterval
}

// inSync leaves out the write if the live object has the digest of the manifest,
// this name owns all its fields, and the reapply interval has not passed. It also
// leaves out the correction of a contested field, and the creation of an object
// that was deleted too often. An object with the policy Recreate is written only
// if its manifest changes, because a correction would delete it.
//
// A mark that another writer removed counts as a changed field, if the process
// knows that the object has the manifest. An object that has only lost its
// digest is not overwritten under Once. Under Recreate it is not deleted, unless
// the process knows that the manifest is new.
func inSync(clock clock.PassiveClock) middleware {
	m := &memory{lru.New(mostRemembered)}
	return func(next handler) handler {
		return func(ctx context.Context, r *Request) (Result, error) {
			inner := *r
			if r.verdict == nil {
				v, res, err := m.decide(r, clock.Now())
				if v == nil {
					return res, err
				}
				inner.verdict = v
			}
			v := inner.verdict
			res, err := next(ctx, &inner)
			if err != nil || res.Outcome != Created && res.Outcome != Updated || res.Object == nil {
				return res, err
			}
			if res.Outcome == Updated {
				res.Fields = slices.Concat(v.fields, res.Fields)
			}
			if res.Pending != nil {
				return res, nil
			}
			m.wrote(res.Object.GetUID(), res.Object.GetResourceVersion(), v)
			if res.Outcome == Created {
				r.created(v.digest, v.at)
			}
			return res, nil
		}
	}
}

// decide returns the verdict about an object that needs a write. For any other
// object the verdict is nil, and the result says why.
func (m *memory) decide(r *Request, now time.Time) (*verdict, Result, error) {
	v := &verdict{digest: r.manifestDigest(), at: now}
	if r.Live == nil {
		made := r.creations()
		if wait := made.wait(r, v.digest, now); wait > 0 {
			return nil, r.deletedAgain(made.n, wait), nil
		}
		return v, Result{}, nil
	}
	uid, version := r.Live.GetUID(), r.Live.GetResourceVersion()
	o, mark := r.ownership(), r.Live.GetAnnotations()[r.of.keys.digest]
	recreates, seen := r.Policies.Update == UpdateRecreate, m.of(uid)
	known := seen.digest == v.digest
	if !known {
		seen.written = time.Time{}
	}
	lost := o.ours && mark == "" && (recreates || v.digest == once)
	applied := o.ours && mark == v.digest || lost && (known || v.digest == once)
	fought := known && !applied && !recreates && o.owner == "" // another writer changed the marks, but no owner took it
	quiet := (applied || fought) && (v.digest == once || recreates || !r.due(now, seen.written))
	if quiet && !fought && (v.digest == once || known && version != "" && seen.version == version) {
		return nil, r.result(InSync, ""), nil
	}
	marks := ""
	if fought {
		marks = v.digest
	}
	var err error
	if v.fields, err = r.drift(r.Live, marks); err != nil {
		return nil, Result{}, err
	}
	if quiet && (recreates || len(v.fields) == 0) {
		m.verify(uid, version, v.digest)
		res := r.result(InSync, "")
		res.Fields = v.fields
		return nil, res, nil
	}
	if wait := seen.contested(version, v.fields, now, r.Policies.ReapplyInterval); quiet && wait > 0 {
		res := r.result(Waiting, fmt.Sprintf("%s; the next correction is in %s: remove the field from the "+
			"manifest, or keep the manager from changing it", listed(v.fields), wait.Round(time.Second)))
		res.Fields, res.After = v.fields, wait
		return nil, res, nil
	}
	if v.replaced = version; applied || fought {
		v.corrected = v.fields // a new manifest corrects nothing
	}
	v.lost = lost && seen.digest == ""
	return v, Result{}, nil
}

// memory holds what the process has seen of objects. After a restart it is
// empty, and a contested field is corrected once more.
type memory struct{ seen *lru.Cache } // of remembered, by types.UID

// of returns what is known of an object.
func (m *memory) of(uid types.UID) remembered {
	seen, _ := m.seen.Get(uid)
	r, _ := seen.(remembered)
	return r
}

// remembered holds what the process has seen of one object; zero: nothing.
type remembered struct {
	version, digest string               // the object was in sync in this version, with the manifest of this digest
	corrected       map[string]time.Time // when the process corrected a field, by path; it never changes
	replaced        string               // the version before the last write, which a cache may still have
	written         time.Time            // when the process wrote the object; zero: it did not
}

// verify records that a version of an object is in sync with a manifest.
func (m *memory) verify(uid types.UID, version, digest string) {
	r := m.of(uid)
	r.version, r.digest = version, digest
	m.seen.Add(uid, r)
}

// contested returns the time until the next correction, if each of the fields
// was corrected within the interval; otherwise zero. In the version that the
// last write replaced, no field is contested: the write will be a conflict.
func (r remembered) contested(version string, fields []string, now time.Time, interval time.Duration) (wait time.Duration) {
	if r.replaced == version {
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
func (m *memory) wrote(uid types.UID, version string, v *verdict) {
	r := m.of(uid)
	r.version, r.replaced, r.digest, r.written = version, v.replaced, v.digest, v.at
	if len(v.corrected) > 0 {
		corrected := map[string]time.Time{}
		maps.Copy(corrected, r.corrected)
		for _, f := range v.corrected {
			corrected[pathOf(f)] = v.at
		}
		r.corrected = corrected
	}
	m.seen.Add(uid, r)
}

// pathOf returns the path of a field of [Result.Fields].
func pathOf(field string) string {
	path, _, _ := strings.Cut(field, " is ")
	return path
}
