package ctrlx

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/flow"
)

// ConditionSettled is the condition that stores the last success of an object,
// so that a restarted operator leaves the object alone. It is True while the
// object is Ready, and absent otherwise. A reconciler with [WithoutQuietRestart]
// or with Operations.Token leaves the condition as it is. Its message is JSON with the UID of the
// object, the time of the success, and digests of its inputs. The package says under "A restart" what a restarted operator compares.
// If another controller writes a condition of this type, give
// [WithoutQuietRestart]: then the reconciler leaves it alone.
const ConditionSettled = "Settled"

// WithoutQuietRestart reconciles every object in its first pass after a start
// of the operator, and stores no [ConditionSettled]. Use it if each start must
// call the cloud for every object. See "A restart" in the package.
func WithoutQuietRestart() Option { return func(o *options) { o.quiet.off = true } }

// WithRevision names what Apply depends on besides the object, its owner and its
// references: the contents of a configuration file or of an environment
// variable, for example, or a digest of them. After a restart with another
// revision, every object is reconciled in its first pass. The executable and
// the arguments of the operator count without this option. An empty revision is
// the default. Do not give a secret: users can compare digests of the revision.
func WithRevision(revision string) Option { return func(o *options) { o.quiet.revision = revision } }

// quietOptions holds the options of quiet restarts.
type quietOptions struct {
	off      bool
	revision string
}

const (
	// maxBasis is the maximum number of owners and references in a basis. The
	// message of a condition has at most 32,768 bytes.
	maxBasis = 20
	// maxSuccess is the largest size of a stored success, for the same reason.
	maxSuccess = 30_000
	// minSettled is the shortest resync at which a success is stored. Each
	// resync writes the status once, so shorter ones would cost more writes
	// than a restart costs calls.
	minSettled = 10 * time.Minute
	// resyncSpread is the share of the resync by which the next pass of a
	// settled object comes earlier at most. It is that of [flow.NewBackoff].
	resyncSpread = 0.25
)

// quietRestart adds the links of a quiet restart. The link on Get replaces Get,
// PreCheck and Apply for a settled object. It is outside of all others there,
// and exists also without Operations.Get. The link on PostCheck leaves out the
// checks there, if there are any: they proceeded after the last success.
func (r *Reconciler[T]) quietRestart(ext flow.Extensions[T]) flow.Extensions[T] {
	const name = "QuietRestart"
	if !r.settles {
		return ext
	}
	ext.Get = ext.Get.Prepend(chain.Named(name, func(next flow.GetHandler[T]) flow.GetHandler[T] {
		return func(ctx context.Context, req *flow.Request[T]) (flow.Observation, error) {
			p := passOf(ctx)
			if p == nil || req.Deleting || req.Applied {
				return next(ctx, req)
			}
			name := client.ObjectKeyFromObject(p.read)
			p.readFollowed(ctx, checks.Following(req))
			stored, later := r.successes.get(name)
			if later {
				p.stored = stored
				if !r.fresh(p, time.Unix(stored.unix, 0)) { // this pass may store it again, and must know as much
					if last, _, _ := r.last(p); last.Self == r.selfOf(p.read) {
						p.readBefore(ctx, last)
					}
				}
				return next(ctx, req)
			}
			last, left, why := r.last(p)
			if why == "" {
				var err error
				if why, err = p.changed(ctx, last.Read); err != nil {
					return flow.Observation{}, err
				}
			}
			r.successes.keep(name, 0, time.Time{})
			if why != "" {
				p.readBefore(ctx, last)
				log.FromContext(ctx).V(1).Info("the first pass over the object is not left out", "why", why)
				return next(ctx, req)
			}
			p.settledFor = left
			return flow.Observation{Presence: checks.Present, InSync: true, Skip: "nothing has changed since the success at " + last.Time.UTC().Format(time.RFC3339)}, nil
		}
	}))
	if ext.PostCheck.Len() == 0 { // the flow would call Get again after Apply
		return ext
	}
	ext.PostCheck = ext.PostCheck.Prepend(chain.Named(name, checks.Gate(name, func(ctx context.Context, _ *checks.Request[T]) (checks.Result, error) {
		if p := passOf(ctx); p != nil && p.settledFor > 0 {
			return checks.Skip("nothing has changed since the last success"), nil
		}
		return checks.Proceed(), nil
	})))
	return ext
}

// last returns the stored success of the object of a pass, and how long the
// object is settled, unless an owner or a reference has changed. why says why
// the object is not settled; empty: it is.
func (r *Reconciler[T]) last(p *pass) (was success, left time.Duration, why string) {
	obj := p.read.(T)
	all := r.conditions.get(obj)
	ready, c := meta.FindStatusCondition(all, "Ready"), meta.FindStatusCondition(all, ConditionSettled)
	switch {
	case ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != obj.GetGeneration():
		return was, 0, "the object is not Ready for its generation"
	case c == nil || c.Status != metav1.ConditionTrue:
		return was, 0, "no success is stored"
	case r.finalizes && !controllerutil.ContainsFinalizer(obj, r.opt.finalizer):
		return was, 0, "the finalizer is missing"
	}
	switch err := json.Unmarshal([]byte(c.Message), &was); {
	case err != nil:
		return was, 0, "the stored success cannot be read: " + err.Error()
	case was.UID != obj.GetUID():
		return was, 0, "the success is of another object"
	case len(was.Read) > maxBasis:
		return was, 0, "the stored success names too many objects"
	case was.Self != r.selfOf(obj):
		return was, 0, "the object, the executable, its arguments or the revision changed"
	}
	if left = r.left(p, was.Time.Time); left <= 0 {
		why = "the success is older than the resync, or in the future"
	}
	return was, left, why
}

// undecided reports whether the first pass over an object could not find out
// whether the object is settled, because a kind is not watched yet. Then the
// object keeps its status until the next pass, and until the resync at most:
// after a start, the first list of a large kind takes a while.
func (r *Reconciler[T]) undecided(p *pass, out flow.Outcome) bool {
	if out.State() != flow.StateFailed || !r.settles || !engine.NotWatchedYet(out.Err()) || p.orphan || deleting(p.read) {
		return false
	}
	if _, later := r.successes.get(client.ObjectKeyFromObject(p.read)); later {
		return false
	}
	_, _, why := r.last(p)
	return why == ""
}

// changed returns the first difference between the objects that the last
// success read and the same objects now; empty: there is none. It reads the
// objects that the pass has not read. It returns an error if the kind of one is
// not watched yet.
func (p *pass) changed(ctx context.Context, was []readObject) (why string, err error) {
	now, why := p.reads()
	if why != "" {
		return why, nil
	}
	for _, s := range now {
		if !slices.ContainsFunc(was, func(o readObject) bool { return o.ref() == s.ref() }) {
			return s.ref().String() + " was not read before the last success", nil
		}
	}
	for _, s := range was {
		i := slices.IndexFunc(now, func(o readObject) bool { return o.ref() == s.ref() })
		is := ""
		if i >= 0 {
			is = now[i].Digest
		} else {
			switch d, err := p.readAgain(ctx, s.ref()); {
			case engine.NotWatchedYet(err):
				return "", err
			case err != nil:
				return err.Error(), nil
			default:
				is = d
			}
		}
		if is != s.Digest || is == undigested {
			return s.ref().String() + " changed", nil
		}
	}
	return "", nil
}

// left returns how long an object with a success at a time needs no pass
// without an event; 0 or less: it needs one now. The time differs from object to
// object, and is the same after each restart.
func (r *Reconciler[T]) left(p *pass, last time.Time) time.Duration {
	age := r.opt.now().Sub(last)
	interval := r.resync
	if age < 0 {
		return 0
	}
	u := shareOf(p.read.GetUID())
	if p.requeue > 0 {
		interval = p.requeue + time.Duration(float64(p.requeue)*requeueJitter*u)
	} else {
		interval -= time.Duration(float64(interval) * resyncSpread * u)
	}
	return interval - age
}

// shareOf returns a number from 0 to below 1 for a UID, the same in every
// process.
func shareOf(uid types.UID) float64 {
	sum := sha256.Sum256([]byte(uid))
	return float64(binary.BigEndian.Uint32(sum[:])) / (math.MaxUint32 + 1)
}

// withSuccess returns conditions with the success of a pass, or without one if the
// pass was none. It does not change all. A success that was stored within half
// of the resync stays, so that it causes no write of its own.
func (r *Reconciler[T]) withSuccess(p *pass, out flow.Outcome, all []metav1.Condition) []metav1.Condition {
	switch {
	case !r.settles: // the condition is not ours
		return all
	case out.State() != flow.StateReady || r.program == "" || r.interval(p) < minSettled:
		return withCondition(all, ConditionSettled, nil)
	case p.settledFor > 0:
		return all
	case len(p.ofOperations(out)) > 0: // a restarted operator could not compare these objects
		return withCondition(all, ConditionSettled, nil)
	}
	name, now := client.ObjectKeyFromObject(p.read), r.opt.now()
	was := meta.FindStatusCondition(r.conditions.get(p.read.(T)), ConditionSettled)
	if was != nil && meta.FindStatusCondition(all, ConditionSettled) == nil { // an operation replaced the status
		all = withCondition(all, ConditionSettled, was)
	}
	digest, digested := p.digest()
	if was != nil && digested && p.stored.digest == digest && r.fresh(p, time.Unix(p.stored.unix, 0)) {
		return all // almost always, without JSON
	}
	b, ok := r.basis(p)
	if !ok {
		return withCondition(all, ConditionSettled, nil)
	}
	next := success{UID: p.read.GetUID(), Time: metav1.NewTime(now.Truncate(time.Second)), basis: b}
	if was != nil && was.Status == metav1.ConditionTrue {
		var last success
		err := json.Unmarshal([]byte(was.Message), &last)
		if err == nil && last.UID == next.UID && last.covers(b) && r.fresh(p, last.Time.Time) {
			r.successes.keep(name, digest, last.Time.Time)
			return all
		}
	}
	message, err := json.Marshal(next)
	if err != nil || len(next.Read) > maxBasis || len(message) > maxSuccess {
		return withCondition(all, ConditionSettled, nil)
	}
	r.successes.keep(name, digest, next.Time.Time)
	return withCondition(all, ConditionSettled, &metav1.Condition{
		Type: ConditionSettled, Status: metav1.ConditionTrue, Reason: ReasonSettled, Message: string(message),
		ObservedGeneration: p.read.GetGeneration(), LastTransitionTime: next.Time,
	})
}

// interval returns the time between two passes over a Ready object.
func (r *Reconciler[T]) interval(p *pass) time.Duration { return firstOf(p.requeue, r.resync) }

// fresh reports whether a success that was stored at a time stays: it was stored
// within half of the interval.
func (r *Reconciler[T]) fresh(p *pass, at time.Time) bool {
	now := r.opt.now()
	return at.After(now.Add(-r.interval(p)/2)) && !at.After(now)
}
