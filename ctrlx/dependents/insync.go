package dependents

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// once is the digest of an object with the policy Once.
const once = "once"

// Digest returns the digest that the live object has after a write. The reconcile
// policy asks for another write if it changes: two manifests that make the same
// object have one, and so have all manifests of the policy Once. It is empty if the
// API server does not serve the kind in the version of the manifest, for an object
// of metadata, and for a deletion.
func (r *Request) Digest() string {
	switch {
	case r.contents == "":
	case r.reconcile == onlyOnce:
		return once
	case r.reconcile == onObjectOrComponentChange:
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
	recent := func(at time.Time) bool { return !at.After(now) && now.Sub(at) < r.Policies.ReapplyInterval }
	applied, _ := time.Parse(time.RFC3339, r.Live.GetAnnotations()[r.of.keys.applied]) // zero if it cannot be read
	return !recent(written) && !recent(applied)
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
func inSync(next handler) handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		inner := *r
		if inner.verdict == nil {
			v, res, err := r.decide(r.of.clock.Now())
			if v == nil {
				return res, err
			}
			inner.verdict = v
		}
		v := inner.verdict
		res, err := next(ctx, &inner)
		if err == nil && res.Outcome == Updated {
			res.Fields = slices.Concat(v.fields, res.Fields)
		}
		if err == nil && (res.Outcome == Updated || res.Outcome == Created) && res.Pending == nil && res.Object != nil {
			r.wrote(res, v)
		}
		return res, err
	}
}

// decide returns the verdict about an object that needs a write. For any other
// object the verdict is nil, and the result says why.
func (r *Request) decide(now time.Time) (*verdict, Result, error) {
	v := &verdict{digest: r.Digest(), at: now}
	if r.Live == nil {
		made := r.of.creations.of(r.pair())
		if wait := made.wait(r, v.digest, now); wait > 0 {
			return nil, r.deletedAgain(made.n, wait), nil
		}
		return v, Result{}, nil
	}
	version := r.Live.GetResourceVersion()
	o, mark := r.ownership(), r.Live.GetAnnotations()[r.of.keys.digest]
	recreates, seen := r.Policies.Update == UpdateRecreate, r.of.objects.of(r.Live.GetUID())
	known := seen.digest == v.digest
	lost := o.ours && mark == "" && (recreates || v.digest == once)
	applied := o.ours && mark == v.digest || lost && (known || v.digest == once)
	fought := known && !applied && !recreates && o.owner == "" // another writer changed the marks, but no owner took it
	quiet := (applied || fought) && (v.digest == once || recreates || !r.due(now, seen.written))
	if quiet && !fought && (v.digest == once || known && version != "" && seen.version == version) {
		return nil, r.result(InSync, ""), nil
	}
	marks := ""
	if fought && version != seen.replaced { // else the cache does not have the last write yet
		marks = v.digest
	}
	var err error
	if v.fields, err = r.drift(r.Live, marks); err != nil {
		return nil, Result{}, err
	}
	if quiet && (recreates || len(v.fields) == 0) {
		r.of.objects.change(r.Live.GetUID(), func(seen *remembered) { seen.version, seen.digest = version, v.digest })
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

// wrote records a write of the manifest: the version that it made, the one that it
// replaced, the fields that it corrected, and a creation.
func (r *Request) wrote(res Result, v *verdict) {
	r.of.objects.change(res.Object.GetUID(), func(seen *remembered) {
		corrected := map[string]time.Time{}
		maps.Copy(corrected, seen.corrected)
		for _, f := range v.corrected {
			corrected[pathOf(f)] = v.at
		}
		*seen = remembered{res.Object.GetResourceVersion(), v.digest, corrected, v.replaced, v.at}
	})
	if res.Outcome == Created {
		r.of.creations.change(r.pair(), func(c *creations) {
			if c.digest != v.digest || v.at.Sub(c.last) >= r.Policies.ReapplyInterval {
				c.n = 0
			}
			*c = creations{v.digest, c.n + 1, v.at}
		})
	}
}
