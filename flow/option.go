package flow

import (
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// Option sets up a [Reconciler]. The function that makes the Option panics on
// invalid arguments.
type Option func(*options)

type options struct {
	errors       classify.Errors
	vocabulary   *checks.Vocabulary
	resolver     checks.Resolver
	lister       checks.Lister
	apiVersion   string
	observers    []chain.Observer
	explanations int
	now          func() time.Time
	backoff      *Backoff
	stateless    bool // WithoutBackoff was given
	// readyWithin is the time that a resource may take to become Ready; 0: no
	// limit.
	readyWithin time.Duration
}

// WithResolver sets the resolver with which checks find other objects. The flow
// also uses it to find an owner that is known only by its cloud ID. Nil removes
// the resolver.
func WithResolver(resolver checks.Resolver) Option {
	return func(o *options) { o.resolver = resolver }
}

// WithLister sets the lister with which checks list sets of objects. The flow
// also uses it to find an owner that a query names ([checks.OwnerFrom]). Nil
// removes the lister.
func WithLister(lister checks.Lister) Option {
	return func(o *options) { o.lister = lister }
}

// WithErrors adds readers for the errors of a cloud: their code and message,
// whether an object is not found, and whether an operation under way has ended.
// It also adds the tables of errs to the classification. For Azure:
//
//	flow.WithErrors(azure.Errors())
//
// The readers run in the order of the arguments, over all calls of WithErrors.
// Without WithErrors a reconciler knows no service: see [classify.Errors].
func WithErrors(errs ...classify.Errors) Option {
	return func(o *options) { o.errors = o.errors.And(errs...) }
}

// WithVocabulary sets the words of the kind's cloud for states and approvals,
// for all checks of the reconciler. The default is Azure's words. It panics on
// an invalid Vocabulary ([checks.Vocabulary.Check]).
func WithVocabulary(words checks.Vocabulary) Option {
	if err := words.Check(); err != nil {
		panic("flow: WithVocabulary: " + err.Error())
	}
	return func(o *options) { o.vocabulary = &words }
}

// WithAPIVersion sets the API version of the resources, for checks,
// classification and traces. Operations.APIVersion overrides it for a resource.
// Rules for some versions only ([classify.Rule]) need a date, such as
// "2024-05-01". They match neither another form of version nor an empty one.
func WithAPIVersion(version string) Option {
	return func(o *options) { o.apiVersion = version }
}

// WithObserver reports each pass, each point and each link to o. The first
// observer is the outermost. [New] panics if an observer of package otelx is
// given twice, or if two of them write log lines (otelx.WithoutLogs). A pass
// for which no observer is enabled runs as if there were none. Nil adds no
// observer.
func WithObserver(o chain.Observer) Option {
	return func(opt *options) {
		if o != nil {
			opt.observers = append(opt.observers, o)
		}
	}
}

// WithExplanations records the last pass of each resource, and the start of its
// present state, for [Reconciler.Explain]. The reconciler has room for n
// resources; each further one replaces the one whose last pass is oldest. An n
// below 1 panics.
func WithExplanations(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("flow: WithExplanations(%d): give at least 1", n))
	}
	return func(o *options) { o.explanations = n }
}

// WithClock replaces time.Now, for traces, Retry-After dates,
// [WithReadyTimeout] and the default [Backoff]. If the clock panics, that call
// uses time.Now. Nil panics.
func WithClock(now func() time.Time) Option {
	if now == nil {
		panic("flow: WithClock: the function is nil")
	}
	return func(o *options) { o.now = func() time.Time { return timeOf(now) } }
}

// WithBackoff sets the [Backoff] that computes the delays of [Outcome.Again].
// By default each reconciler has its own, made by [NewBackoff]. The key of a
// resource in the Backoff is the reconciler's name, a space and Operations.Key.
// One Backoff can therefore serve all reconcilers of an engine, if their names
// differ. Nil panics, and so does a Backoff that NewBackoff did not make.
func WithBackoff(b *Backoff) Option {
	if b == nil || b.steps == nil {
		panic("flow: WithBackoff: the Backoff is nil or has no table: make it with NewBackoff, or use WithoutBackoff")
	}
	return func(o *options) { o.backoff = b }
}

// WithoutBackoff makes every delay of [Outcome.Again] the delay of a first
// failure. Use it only in an engine that counts failures itself: any other
// engine would retry a resource that cannot become Ready every second, for
// ever.
func WithoutBackoff() Option {
	return func(o *options) { o.backoff, o.stateless = nil, true }
}

// WithReadyTimeout sets the time that a resource may take to become Ready. The
// time starts with the first pass of a generation that does not end Ready. A
// restart of the process starts it again, because the reconciler stores it in
// memory. After d, each pass that does not end Ready fails with
// [ErrNotReadyInTime] and [ReasonTimeout], and sets Stalled. The resource is
// then requeued only at the resync, when its spec changes, or when an awaited
// object changes. Deletions have no time-out. A d that is not positive panics.
func WithReadyTimeout(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("flow: WithReadyTimeout(%s): give a positive duration", d))
	}
	return func(o *options) { o.readyWithin = d }
}
