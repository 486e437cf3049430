package ctrlx

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/settings"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/ctrlx/internal/sources"
)

// Option sets up what [New] makes: an option of this package or of package flow. One that makes no sense panics there or in
// the function that makes it, nil ones too.
//
// Of the options of flow, [flow.WithResolver], [flow.WithLister] and [flow.WithoutBackoff] panic in New, because New gives
// its own. The clock of [flow.WithClock] holds for time-outs and conditions, too, and the delays of [flow.WithBackoff] for
// every requeue. An observer of package otelx that writes log lines panics, because New adds one: use [WithTelemetry], or add
// [WithoutTelemetry].
type Option interface{ ForReconciler() }

// option is an option of [New] only.
type option func(*options)

// ForReconciler implements [Option].
func (option) ForReconciler() {}

type options struct {
	settings.Shared
	finalizer  string
	controller *controller.Options // of WithController
	sync       time.Duration
	passLimit  time.Duration      // 0: the controller's, or the default
	fromStart  bool               // of WithTimeoutFromStart
	watched    []schema.GroupKind // of WithWatchedKinds
	unwatched  []schema.GroupKind // of WithUnwatchedKinds
	rand       func() float64
	target     any // what WithTargetClient or WithImpersonation gave
	targetBy   string
	poll       time.Duration
	watches    []sources.Watch // of WithOwns, WithWatches and WithSource
	keeps      any             // of WithKeeping
	interrupts any             // of WithInterrupt
	wakes      *rate.Limiter   // of WithWakeLimit; nil: none
	keys       record.Keys     // of WithTokenKey
	silent     bool            // of WithoutEvents
	reporter   string          // of WithEventReporter; empty: the name of the reconciler
	restarts   bool            // of WithoutQuietRestart
	revision   string          // of WithRevision
	indexes    []indexOption
	unfollowed []schema.GroupKind     // of WithUnfollowedKinds
	program    func() (string, error) // identifies the running program
}

// apply applies options. maker is the function that was given them, with the name of the kind.
func (o *options) apply(maker string, opts []Option) {
	for i, opt := range opts {
		if mine, ok := opt.(option); ok {
			mine(o)
		} else if !o.Take(maker, i, opt) {
			panic(fmt.Sprintf("ctrlx: %s: option %d is a %T: give options of the packages ctrlx and flow", maker, i+1, opt))
		}
	}
	if o.passLimit != 0 && o.controller != nil && o.controller.ReconciliationTimeout != 0 {
		panic(fmt.Sprintf("ctrlx: %s: WithPassTimeout and the ReconciliationTimeout of WithController are both given: leave one of them out", maker))
	}
	if o.silent && o.reporter != "" {
		panic(fmt.Sprintf("ctrlx: %s: WithEventReporter and WithoutEvents are both given: leave one of them out", maker))
	}
}

// WithOwner says which object owns a resource, in place of the controlling owner reference: a typed reference of its
// spec, say. The zero Ref is no owner. A Ref that has a Kind, and neither a Name nor an ID, is an owner that the resource
// does not name yet: checks of the owner block. A Ref without a namespace is in the resource's own, or in none if its kind
// has none.
func WithOwner[T client.Object](owner func(resource T) checks.Ref) Option {
	setup.MustEdit("ctrlx: WithOwner", owner)
	return settings.Option(func(o *settings.Shared) { o.Owner = owner })
}

// WithConditions says where a resource has its conditions. It is needed unless the type has the methods of [Conditioned], or
// the field Conditions []metav1.Condition in its status.
func WithConditions[T client.Object](conditions func(resource T) *[]metav1.Condition) Option {
	setup.MustEdit("ctrlx: WithConditions", conditions)
	return settings.Option(func(o *settings.Shared) { o.Conditions = conditions })
}

// Conditioned is implemented by resources whose conditions are not in the field conditions of their status. It comes before
// the field.
type Conditioned interface {
	GetConditions() []metav1.Condition
	SetConditions([]metav1.Condition)
}

// WithFinalizer replaces the name of the finalizer, which is [Finalizer] without it. A name that Kubernetes refuses panics.
func WithFinalizer(name string) Option {
	if name == "" {
		panic("ctrlx: WithFinalizer: the name is empty: leave the option out, or give a name as in example.com/finalizer")
	}
	if problems := validation.IsQualifiedName(name); len(problems) > 0 {
		panic(fmt.Sprintf("ctrlx: WithFinalizer(%q): %s: give a name as in example.com/finalizer", name, strings.Join(problems, "; ")))
	}
	return option(func(o *options) { o.finalizer = name })
}

// WithController sets the options of the controller, such as the number of
// passes that run at once. Its rate limiter counts only for errors of the API
// server. Its ReconciliationTimeout is the deadline of [WithPassTimeout]. [New]
// panics if the option is given twice.
func WithController(opts controller.Options) Option {
	return option(func(o *options) {
		if o.controller != nil {
			panic("ctrlx: WithController is given twice: give all fields to one")
		}
		o.controller = &opts
	})
}

// WithSyncTimeout sets how long a pass waits for the first list of a kind that was not watched before. The default is 3
// seconds. A duration that is not positive panics.
func WithSyncTimeout(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("ctrlx: WithSyncTimeout(%s): give a positive duration", d))
	}
	return option(func(o *options) { o.sync = d })
}

// minPollInterval is the shortest interval of WithPollInterval. Each awaited kind
// costs two requests in an interval.
const minPollInterval = time.Second

// WithPollInterval sets the time in which the manager notices a change that a
// broken watch does not report; see docs/ctrlx/broken-watch.md. It costs two requests in each
// interval for each awaited kind and each reconciler. API servers confirm a watch
// about once a minute, so an interval below two minutes also compares objects while
// the watch works. The reconcilers of a manager share the requests, and the
// shortest interval counts. The default is 3 minutes. Less than a second panics.
func WithPollInterval(d time.Duration) Option {
	if d < minPollInterval {
		panic(fmt.Sprintf("ctrlx: WithPollInterval(%s): give at least %s", d, minPollInterval))
	}
	return option(func(o *options) { o.poll = d })
}

// WithTimeoutFromStart starts the clock of a time-out ([TimeoutConfiguration]) with the
// first pass that fails, that a check blocks, or that does not find the object ready.
// So errors before the first Apply become a time-out, too, and waiting for an owner or a
// reference takes time from it. A suspended or paused object starts no clock. [New]
// panics if the objects have no method GetTimeout.
func WithTimeoutFromStart() Option { return option(func(o *options) { o.fromStart = true }) }

// WithWakeLimit protects the cloud from many passes at once. When an awaited
// object changes, the passes over n of its waiters of this kind begin at once,
// and from then on n in each such time. Without the option, they begin as fast
// as the controller has workers. The limit holds for the kind, for all awaited
// objects together. Passes for other reasons do not count, and no delayed waiter
// is forgotten. An n below 1 and a time that is not positive panic.
func WithWakeLimit(n int, in time.Duration) Option {
	if n < 1 || in <= 0 {
		panic(fmt.Sprintf("ctrlx: WithWakeLimit(%d, %s): give at least 1 and a positive duration", n, in))
	}
	return option(func(o *options) { o.wakes = rate.NewLimiter(rate.Limit(float64(n)/in.Seconds()), n) })
}

// indexOption is an index of [WithIndex]. The scheme must have the kind for object.
type indexOption struct {
	engine.Index
	object client.Object
}
