package flow

import (
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/keyed"
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/pass"
)

// Reconciler takes resources of type T through the flow. [New] makes it. It is
// safe for concurrent use. The engine must run at most one pass at a time for
// each resource. Between passes a Reconciler stores only explanations
// ([WithExplanations]), the counts of its [Backoff], and tokens that are not
// stored with the resource.
type Reconciler[T any] struct {
	name         string
	link         *chain.Link        // the pass as a whole
	keyOf        func(any) string   // key, for observers, which do not know T
	class        func(error) string // the class of an error, for observers
	ops          Operations[T]
	ext          Extensions[T]
	opt          options
	followsOf    struct{ owner, get, pre, delete linktag.Check } // the tags of all links of a point
	early        int                                             // the outermost links of DeleteCheck that run before Get
	plain        *points[T]                                      // the handlers of a pass without observers
	whole        PassHandler[T]                                  // a pass whose points and links no observer observes
	observed     func() *points[T]                               // the handlers of an observed pass, composed when they are first needed
	starters     []pass.Starter                                  // one for each observer; nil: it does not start passes
	tokens       keyed.Map[string, operation]                    // of resources that cannot store a token, or failed to
	explanations *keyed.Map[string, Explanation]                 // of WithExplanations
	refuse       func(T) error                                   // returns why no resource is reconciled; nil: all are
}

type points[T any] struct {
	pass                 PassHandler[T]
	around               PassHandler[T] // the chain of Pass; nil: it has no links
	owner                chain.Handler[*Request[T], checks.Object]
	ownerCheck           ownerHandler
	get                  GetHandler[T]
	entryCheck, getCheck checks.Handler[T]
	preCheck, postCheck  checks.Handler[T]
	early, deleteCheck   checks.Handler[T] // the links of DeleteCheck before and after Get
	apply, remove        Handler[T]
	classify             classify.Handler
}

// Name returns the name that New was given.
func (r *Reconciler[T]) Name() string { return r.name }

// Extensions returns the extensions that New was given. Each link has its point
// ([chain.Link]).
func (r *Reconciler[T]) Extensions() Extensions[T] { return r.ext }

// Backoff returns the Backoff of the reconciler, its own or that of
// [WithBackoff]; nil: [WithoutBackoff].
func (r *Reconciler[T]) Backoff() *Backoff { return r.opt.backoff }

// Clock returns the clock of the reconciler: time.Now, or that of [WithClock].
func (r *Reconciler[T]) Clock() func() time.Time { return r.opt.now }

// Forget drops the failure counts of resource, so that the next pass counts as
// the first one. Call it when a user asks for a retry. The token of an operation
// under way stays.
func (r *Reconciler[T]) Forget(resource T) {
	if b := r.opt.backoff; b != nil {
		b.Forget(r.backoffKey(r.key(resource)))
	}
}

// Remove drops everything that the reconciler stores in memory under the key of
// a resource that no longer exists: its token, failure counts and explanation.
// Call it when the engine learns that the resource is gone. Otherwise the token
// of an operation under way stays until the process ends.
func (r *Reconciler[T]) Remove(key string) {
	if b := r.opt.backoff; b != nil {
		b.Forget(r.backoffKey(key))
	}
	r.tokens.Delete(key)
	r.explanations.Delete(key)
}

// backoffKey returns the key of a resource in the Backoff, which several
// reconcilers may share.
func (r *Reconciler[T]) backoffKey(key string) string { return r.name + " " + key }

// about returns the facts about a resource outside of its pass. If a user's
// function panics, its value and the later values are zero.
func (r *Reconciler[T]) about(resource T) (about facts) {
	defer func() { _ = recover() }()
	about.generation = r.ops.Generation(resource)
	if r.ops.Deleting != nil {
		about.deleting = r.ops.Deleting(resource)
	}
	about.apiVersion = r.apiVersion(resource)
	return about
}

func (r *Reconciler[T]) apiVersion(resource T) string {
	if r.ops.APIVersion != nil {
		if version := r.ops.APIVersion(resource); version != "" {
			return version
		}
	}
	return r.opt.apiVersion
}

// key returns the resource's key. If Operations.Key panics, it returns a text
// that reports the panic, without its text: log lines have the key.
func (r *Reconciler[T]) key(resource T) (key string) {
	defer func() {
		if v := recover(); v != nil {
			key = fmt.Sprintf("(Operations.Key panics with a value of type %T)", v)
		}
	}()
	return r.ops.Key(resource)
}

// Explain returns the Explanation of the last pass of the resource with this
// key. ok is false if the reconciler has none: the resource was never
// reconciled, n other resources were reconciled since, or [WithExplanations] is
// not set.
func (r *Reconciler[T]) Explain(key string) (e Explanation, ok bool) {
	e, ok = r.explanations.Get(key)
	e.now = r.opt.now()
	return e, ok
}

// storeExplanation stores e under key. If there are more explanations than
// WithExplanations allows, it drops the oldest one. It does not reuse a Since
// that is later than the pass, which happens if the clock went back. Round
// removes the monotonic times, so that After compares the times that users
// read.
func (r *Reconciler[T]) storeExplanation(key string, e Explanation) {
	r.explanations.Put(key, func(old *Explanation) {
		same := old.State == e.State && old.Point == e.Point && old.Link == e.Link && old.Reason == e.Reason
		if same && !old.Since.Round(0).After(e.At) {
			e.Since = old.Since
		}
		*old = e
	}, func(n int, _ *Explanation) bool { return n > r.opt.explanations })
}

// facts are the facts about a resource that a pass reads before the first check.
type facts struct {
	generation int64
	deleting   bool
	apiVersion string
}

// Option sets up a [Reconciler]. The function that makes the Option panics on
// invalid arguments. ctrlx.New takes it, too.
type Option func(*options)

// ForReconciler marks an Option as one of those that ctrlx.New takes. It does
// nothing.
func (Option) ForReconciler() {}

type options struct {
	errors       classify.Errors
	resolver     checks.Resolver
	lister       checks.Lister
	apiVersion   string
	observers    []chain.Observer
	explanations int
	now          func() time.Time
	backoff      *Backoff
	stateless    bool   // WithoutBackoff was given
	twice        string // the option that was given twice, and may not be
}

// WithResolver sets the resolver with which checks find other objects. The flow
// also uses it to find an owner that is known only by its cloud ID. Nil gives
// none. [New] panics on two resolvers.
func WithResolver(resolver checks.Resolver) Option {
	return func(o *options) {
		if resolver == nil {
			return
		}
		if o.resolver != nil {
			o.twice = "WithResolver"
		}
		o.resolver = resolver
	}
}

// WithLister sets the lister with which checks list sets of objects. The flow
// also uses it to find an owner that a query names ([checks.OwnerFrom]). Nil
// gives none. [New] panics on two listers.
func WithLister(lister checks.Lister) Option {
	return func(o *options) {
		if lister == nil {
			return
		}
		if o.lister != nil {
			o.twice = "WithLister"
		}
		o.lister = lister
	}
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

// WithClock replaces time.Now, for explanations, Retry-After dates
// and the default [Backoff]. If the clock panics, that call uses time.Now. Nil
// panics.
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
