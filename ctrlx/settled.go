package ctrlx

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/view"
	"github.com/windlass-go/windlass/flow"
)

// WithoutQuietRestart reconciles every object in its first pass after a start
// of the operator, and stores no success in [ConditionRecord]. Use it if each start must
// call the cloud for every object. See docs/ctrlx/restart.md.
func WithoutQuietRestart() Option { return option(func(o *options) { o.restarts = true }) }

// WithRevision names what Apply depends on besides the object, its owner and its
// references: the contents of a configuration file or of an environment
// variable, for example, or a digest of them. After a restart with another
// revision, every object is reconciled in its first pass. The executable and
// the arguments of the operator count without this option. An empty revision is
// the default. Do not give a secret: users can compare digests of the revision.
func WithRevision(revision string) Option {
	return option(func(o *options) { o.revision = revision })
}

const (
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
func quietRestart[T client.Object](r *core, ext flow.Extensions[T]) flow.Extensions[T] {
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
			p.readFollowed(ctx, req.Following())
			stored, later := r.memory.Success(name)
			if later {
				p.stored = stored
				if !r.fresh(p, time.Unix(stored.Unix, 0)) { // this pass may store it again, and must know as much
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
			r.memory.Succeeded(name, memory.Success{})
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
		if p := passOf(ctx); p != nil && p.settledFor != 0 {
			return checks.Skip("nothing has changed since the last success"), nil
		}
		return checks.Proceed(), nil
	})))
	return ext
}

// last returns the stored success of the object of a pass, and how long the
// object is settled, unless an owner or a reference has changed. why says why
// the object is not settled; empty: it is.
func (r *core) last(p *pass) (was record.Success, left time.Duration, why string) {
	obj := p.read
	ready := meta.FindStatusCondition(r.kind.Conditions(obj), "Ready")
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != obj.GetGeneration() {
		return was, 0, "the object is not Ready for its generation" // without decoding
	}
	switch rec, err := r.recordOf(obj); {
	case r.finalizes && !controllerutil.ContainsFinalizer(obj, r.opt.finalizer):
		why = "the finalizer is missing"
	case err != nil || rec.Success == nil || rec.Operation != nil:
		why = "no success of the object is stored"
	case len(rec.Success.Read) > record.MaxRead: // written by a user who may write the status
		why = "the stored success names too many objects"
	default:
		was = *rec.Success
		if left = r.left(p, was.Time.Time); was.Self != r.selfOf(obj) {
			why = "the object, the executable, its arguments or the revision changed"
		} else if left <= 0 {
			why = "the success is older than the resync, or in the future"
		}
	}
	return was, left, why
}

// undecided reports whether the first pass over an object could not find out
// whether the object is settled, because a kind is not watched yet. Then the
// object keeps its status until the next pass, and until the resync at most:
// after a start, the first list of a large kind takes a while.
func (r *core) undecided(p *pass, out flow.Outcome) bool {
	if out.State() != flow.StateFailed || !r.settles || !engine.NotWatchedYet(out.Err()) || p.orphan || view.Deleting(p.read) {
		return false
	}
	if _, later := r.memory.Success(client.ObjectKeyFromObject(p.read)); later {
		return false
	}
	_, _, why := r.last(p)
	return why == ""
}

// changed returns the first difference between the objects that the last
// success read and the same objects now; empty: there is none. It reads the
// objects that the pass has not read. It returns an error if the kind of one is
// not watched yet.
func (p *pass) changed(ctx context.Context, was []record.Read) (why string, err error) {
	now, ok := p.reads()
	if !ok {
		return "the pass read too many objects, or one that cannot be compared", nil
	}
	for _, s := range now {
		if record.DigestIn(was, s.Ref) == "" {
			return s.Ref.String() + " was not read before the last success", nil
		}
	}
	for _, s := range was {
		is := record.DigestIn(now, s.Ref)
		if is == "" {
			switch is, err = p.readAgain(ctx, s.Ref); {
			case engine.NotWatchedYet(err):
				return "", err
			case err != nil:
				return err.Error(), nil
			}
		}
		if is != s.Digest || is == undigested {
			return s.Ref.String() + " changed", nil
		}
	}
	return "", nil
}

// left returns how long an object with a success at a time needs no pass
// without an event; 0 or less: it needs one now. The time differs from object to
// object, and is the same after each restart.
func (r *core) left(p *pass, last time.Time) time.Duration {
	age := r.now().Sub(last)
	interval := r.resync
	if age < 0 {
		return 0
	}
	u := shareOf(p.read.GetUID())
	if p.Requeue != 0 {
		interval = p.Requeue + time.Duration(float64(p.Requeue)*requeueJitter*u)
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

// stores reports whether the record shows the success of a pass. A restarted operator
// could not compare what operations follow and no check does.
func (r *core) stores(p *pass, out flow.Outcome) bool {
	return r.settles && out.State() == flow.StateReady && r.program != "" && r.interval(p) >= minSettled && p.checksFollow(out)
}

// successOf returns the success of a pass; nil: the inputs of the object are not known.
// A success that was stored within half of the resync stays, so that it causes no write
// of its own.
func (r *core) successOf(p *pass, last *record.Success) *record.Success {
	b, ok := r.basis(p)
	switch {
	case !ok:
		return nil
	case last != nil && last.Covers(b) && r.fresh(p, last.Time.Time):
		return last
	}
	return &record.Success{Time: metav1.NewTime(r.now().Truncate(time.Second)), Basis: b}
}

// interval returns the time between two passes over a Ready object.
func (r *core) interval(p *pass) time.Duration { return cmp.Or(p.Requeue, r.resync) }

// fresh reports whether a success that was stored at a time stays: it was stored
// within half of the interval.
func (r *core) fresh(p *pass, at time.Time) bool {
	began := time.Unix(0, p.at)
	return at.After(began.Add(-r.interval(p)/2)) && !at.After(began)
}

// executable identifies the running program: by a digest of its file and of its
// arguments. Build information does not identify it: a program that was built
// without version control has none.
var executable = sync.OnceValues(func() (string, error) {
	path, _ := os.Executable() // an empty path cannot be opened
	return programIn(path)
})

// programIn returns a digest of a file and of the arguments.
func programIn(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%q", os.Args[1:])
	return hex.EncodeToString(h.Sum(nil)), nil
}

// identify finds out which program runs. If that fails, each restart
// reconciles every object.
func (r *core) identify(logger logr.Logger) {
	if !r.settles {
		return
	}
	var err error
	if r.program, err = r.opt.program(); err != nil {
		logger.Info("a restart reconciles every object, because the executable cannot be read", "reconciler", r.name, "error", err.Error())
	}
}

// next returns the record of an object after a pass, with the clock before it; nil: the
// record stays as it is. handled is the retry that the record shows.
func (r *core) next(p *pass, out flow.Outcome, handled string) *record.Record {
	var digest uint64
	var digested bool
	stores := r.stores(p, out)
	switch {
	case p.record == nil && !stores && p.Timeout == 0 && handled == "", stores && p.settledFor != 0:
		return nil
	case stores:
		digest, digested = p.digest()
		if p.record != nil && digested && p.stored.Digest == digest && r.fresh(p, time.Unix(p.stored.Unix, 0)) {
			return nil // almost always, without decoding
		}
	case record.MayHoldOperation(p.record) && !r.tokens:
		return nil // Operations.Token has replaced the record
	}
	rec, err := r.ownRecordOf(p.read)
	if err != nil {
		return nil // a refused record stays: without it, a second operation would begin
	}
	if rec.Handled = handled; !stores {
		rec.Success = nil
	} else if rec.Success = r.successOf(p, rec.Success); rec.Success != nil {
		p.succeeded = memory.Success{Digest: digest, Unix: rec.Success.Time.Unix()}
	}
	return &rec
}
