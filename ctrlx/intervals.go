package ctrlx

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/flow"
)

// RequeueConfiguration is implemented by objects, or their spec, that say after how long to look at them again although
// nothing happened: after that time, or up to 5 % more, once they are ready. Zero and negative: at the resync of the
// [flow.Backoff].
type RequeueConfiguration interface {
	GetRequeueInterval() time.Duration
}

// RetryConfiguration is implemented by objects, or their spec, that say after how long to come back after a [RetriableError]
// that does not say so itself. Zero and negative: after the requeue interval.
type RetryConfiguration interface {
	GetRetryInterval() time.Duration
}

// TimeoutConfiguration is implemented by objects, or their spec, that are to be called failed if they are applied and not ready
// for that long; the package says when the clock runs. Zero and negative: for the requeue interval, or else for the resync.
// Objects of a type without it have no time-out, and no condition [ConditionProcessing].
type TimeoutConfiguration interface {
	GetTimeout() time.Duration
}

// SuspendConfiguration is implemented by objects, or their spec, that users can suspend: no pass reads or writes their
// resource, unless a user deletes them. To suspend or resume a finished object is a change of its spec, which starts its
// passes again.
type SuspendConfiguration interface {
	IsSuspended() bool
}

// configuration is what objects of type T say of themselves. What they do not say is nil.
type configuration[T client.Object] struct {
	requeue, retry, timeout func(T) time.Duration
	suspended               func(T) bool
}

func configurationOf[T client.Object]() configuration[T] {
	return configuration[T]{
		requeue:   saying[T](RequeueConfiguration.GetRequeueInterval),
		retry:     saying[T](RetryConfiguration.GetRetryInterval),
		timeout:   saying[T](TimeoutConfiguration.GetTimeout),
		suspended: saying[T](SuspendConfiguration.IsSuspended),
	}
}

// saying finds out who has a method of the interface I: objects of type T or else their field Spec. Nil: nobody. A Spec that
// is nil says the zero V.
func saying[T client.Object, I, V any](say func(I) V) func(T) V {
	t, want := reflect.TypeFor[T](), reflect.TypeFor[I]()
	if t.Implements(want) {
		return func(obj T) V { return say(any(obj).(I)) }
	}
	spec, ok := t.Elem().FieldByName("Spec")
	if !ok {
		return nil
	}
	direct := spec.Type.Kind() == reflect.Pointer || spec.Type.Kind() == reflect.Interface
	if direct && !spec.Type.Implements(want) || !direct && !reflect.PointerTo(spec.Type).Implements(want) {
		return nil
	}
	return func(obj T) (none V) {
		v, err := reflect.ValueOf(obj).Elem().FieldByIndexErr(spec.Index)
		if err != nil || direct && v.IsNil() {
			return none
		}
		if !direct {
			v = v.Addr()
		}
		return say(v.Interface().(I))
	}
}

// longest is what no interval goes above: 73 years, so that sums do not overflow.
const longest = time.Duration(math.MaxInt64 / 4)

// interval is what an object says; 0: nothing.
func interval[T client.Object](say func(T) time.Duration, obj T) time.Duration {
	if say == nil {
		return 0
	}
	return min(max(say(obj), 0), longest)
}

// intervals are those of an object during a pass.
type intervals struct{ requeue, retry, timeout time.Duration }

// intervals asks an object. What panics counts as not said.
func (r *Reconciler[T]) intervals(ctx context.Context, obj T) (i intervals) {
	if r.config.requeue == nil && r.config.retry == nil && r.config.timeout == nil {
		return i
	}
	defer func() {
		if v := recover(); v != nil {
			log.FromContext(ctx).Error(fmt.Errorf("panic: %v", v), "an interval that the object gives cannot be found out; the default is taken")
		}
		i.retry = firstOf(i.retry, i.requeue)
		if r.config.timeout != nil {
			i.timeout = firstOf(i.timeout, i.requeue, r.resync)
		}
	}()
	i.requeue = interval(r.config.requeue, obj)
	i.retry = interval(r.config.retry, obj)
	i.timeout = interval(r.config.timeout, obj)
	return i
}

// resyncOf is the resync of a back-off, the same for all passes. One that has jitter gives it with that.
func resyncOf(b *flow.Backoff) time.Duration {
	if b == nil {
		b = flow.NewBackoff(flow.WithBackoffJitter(0, 0))
	}
	return b.Resync()
}

// firstOf is the first that is given.
func firstOf(all ...time.Duration) time.Duration {
	for _, d := range all {
		if d > 0 {
			return d
		}
	}
	return 0
}

// requeueJitter is by how much an interval is lengthened at most, so that what became ready together does not come back
// together.
const requeueJitter = 0.05

// idle is after how long to look at an object again although nothing happened.
func (r *Reconciler[T]) idle(i intervals) time.Duration {
	if i.requeue == 0 {
		return r.opt.backoff.Resync()
	}
	return i.requeue + time.Duration(float64(i.requeue)*requeueJitter*min(max(r.opt.rand(), 0), 1))
}
