package ctrlx

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/flow"
)

// RequeueConfiguration is implemented by an object, or its spec, that sets its
// requeue interval: the time from Ready to the next pass, if nothing happens. ctrlx
// adds up to 5 %. Zero and negative mean the resync of the [flow.Backoff].
type RequeueConfiguration interface {
	GetRequeueInterval() time.Duration
}

// RetryConfiguration is implemented by an object, or its spec, that sets the delay
// after a [RetriableError] without a delay. Zero and negative mean the requeue
// interval.
type RetryConfiguration interface {
	GetRetryInterval() time.Duration
}

// TimeoutConfiguration is implemented by an object, or its spec, that sets a
// time-out: the object has failed if it was applied and is not ready for that long.
// The package documentation says when the clock runs. Zero and negative mean the
// requeue interval, or else the resync. An object of a type without the method has
// no time-out.
type TimeoutConfiguration interface {
	GetTimeout() time.Duration
}

// SuspendConfiguration is implemented by an object, or its spec, that users can
// suspend: no pass reads or writes its resource, unless a user deletes the object.
// Suspending or resuming a finished object changes its spec, which starts its passes
// again.
type SuspendConfiguration interface {
	IsSuspended() bool
}

// configuration holds the settings that objects of type T give. A function is nil
// if the type has no such method.
type configuration[T client.Object] struct {
	requeue, retry, timeout func(T) time.Duration
	suspended               func(T) bool
}

func configurationOf[T client.Object](name string) configuration[T] {
	types := []reflect.Type{reflect.TypeFor[T]()}
	if spec, ok := types[0].Elem().FieldByName("Spec"); ok {
		t := spec.Type
		if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
			t = reflect.PointerTo(t)
		}
		types = append(types, t)
	}
	for _, t := range types {
		for _, of := range []reflect.Type{
			reflect.TypeFor[RequeueConfiguration](), reflect.TypeFor[RetryConfiguration](), reflect.TypeFor[TimeoutConfiguration](),
			reflect.TypeFor[SuspendConfiguration](),
		} {
			setup.MustFit("ctrlx: New: "+name, t, of)
		}
	}
	return configuration[T]{
		requeue:   saying[T](RequeueConfiguration.GetRequeueInterval),
		retry:     saying[T](RetryConfiguration.GetRetryInterval),
		timeout:   saying[T](TimeoutConfiguration.GetTimeout),
		suspended: saying[T](SuspendConfiguration.IsSuspended),
	}
}

// saying returns the method of the interface I, of objects of type T or else of
// their field Spec. It returns nil if neither has it. A nil Spec gives the zero V.
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

// longest is the longest interval: 73 years, so that sums do not overflow.
const longest = time.Duration(math.MaxInt64 / 4)

// interval returns the interval that an object gives; 0: none.
func interval[T client.Object](say func(T) time.Duration, obj T) time.Duration {
	if say == nil {
		return 0
	}
	return min(max(say(obj), 0), longest)
}

// intervals holds the intervals of an object during a pass.
type intervals struct{ requeue, retry, timeout time.Duration }

// intervals returns the intervals of an object. A method that panics gives none.
func (r *Reconciler[T]) intervals(ctx context.Context, obj T) (i intervals) {
	if r.config.requeue == nil && r.config.retry == nil && r.config.timeout == nil {
		return i
	}
	defer func() {
		if v := recover(); v != nil {
			log.FromContext(ctx).Error(fmt.Errorf("panic: %v", v), "a method of the object for an interval panicked; the default interval is used")
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

// resyncOf returns the resync of a back-off, the same for all passes. A back-off
// with jitter gives it with jitter.
func resyncOf(b *flow.Backoff) time.Duration {
	if b == nil {
		b = flow.NewBackoff(flow.WithBackoffJitter(0, 0))
	}
	return b.Resync()
}

// firstOf returns the first positive duration; 0: there is none.
func firstOf(all ...time.Duration) time.Duration {
	for _, d := range all {
		if d > 0 {
			return d
		}
	}
	return 0
}

// requeueJitter bounds the part by which an interval is lengthened, so that objects
// that became ready together are not requeued together.
const requeueJitter = 0.05

// idle returns the time after which to requeue an object if nothing happens.
func (r *Reconciler[T]) idle(i intervals) time.Duration {
	if i.requeue == 0 {
		return r.opt.backoff.Resync()
	}
	return i.requeue + time.Duration(float64(i.requeue)*requeueJitter*min(max(r.opt.rand(), 0), 1))
}
