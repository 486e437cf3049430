package engine

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"time"
	"weak"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// engines holds the engine of each manager. Neither a key nor a value keeps its
// manager in memory: the links of a reconciler may hold the manager, and the engine
// holds the reconciler. So nothing remains of a manager that was never started. The
// manager itself holds its engine, as one of its runnables.
var engines = struct {
	sync.Mutex
	of map[weak.Pointer[byte]]weak.Pointer[Engine]
}{of: map[weak.Pointer[byte]]weak.Pointer[Engine]{}}

// Of returns the engine of a manager. The first call adds it to the manager. mgr
// must be a pointer, as every manager of controller-runtime is.
func Of(mgr manager.Manager) (*Engine, error) {
	v := reflect.ValueOf(mgr)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil, fmt.Errorf("the manager is a %T: give a pointer", mgr)
	}
	object := (*byte)(v.UnsafePointer())
	key := weak.Make(object)
	engines.Lock()
	defer engines.Unlock()
	if e := engines.of[key].Value(); e != nil {
		return e, nil
	}
	e, err := add(mgr, func() { forget(key) })
	if err != nil {
		return nil, err
	}
	engines.of[key] = weak.Make(e)
	runtime.AddCleanup(object, forget, key)
	return e, nil
}

// forget drops the engine of a manager that has stopped, or that is gone.
func forget(key weak.Pointer[byte]) {
	engines.Lock()
	defer engines.Unlock()
	delete(engines.of, key)
}

// add makes an engine, and adds it to a manager. The engine stops together with the
// controllers: a manager stops the runnables that need the leader after the others.
func add(mgr manager.Manager, forget func()) (*Engine, error) {
	stopped, stop := context.WithCancel(context.Background())
	e := &Engine{
		cache: mgr.GetCache(), live: mgr.GetAPIReader(), scheme: mgr.GetScheme(), stopped: stopped,
		names: map[schema.GroupKind]string{}, policy: map[schema.GroupKind]policy{},
		watches: map[schema.GroupKind]*watch{}, refused: map[schema.GroupKind]refusal{},
		fields: map[fieldKey]*field{}, readiness: map[schema.GroupKind][]ready.Func{},
		written:     map[schema.GroupKind][]func(client.Object) uint64{},
		definitions: definitions{events: make(chan struct{}, 1)},
	}
	e.index = index.New(e.wake, e.sets.exists)
	e.index.WakeFor = e.wakeFor
	e.catalog = &catalog{
		list: discover(mgr.GetConfig(), mgr.GetHTTPClient()), listed: e.installed, stopped: stopped, defined: map[string]time.Time{},
	}
	end := func() {
		stop()
		forget() // controller-runtime starts no manager twice
	}
	err := mgr.Add(beforeElection(func(ctx context.Context) error {
		e.fallback(ctx)
		select {
		case <-mgr.Elected():
		default: // the last runnable never starts
			end()
		}
		return nil
	}))
	if err == nil {
		err = mgr.Add(beforeElection(func(context.Context) error { return e.allIndexed() }))
	}
	if err == nil {
		err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
			<-ctx.Done()
			end()
			return nil
		}))
	}
	if err != nil {
		stop()
		return nil, err
	}
	return e, nil
}

// beforeElection is a runnable that does not need to be the leader.
type beforeElection func(context.Context) error

func (f beforeElection) Start(ctx context.Context) error { return f(ctx) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (beforeElection) NeedLeaderElection() bool { return false }

// Config describes a reconciler.
type Config struct {
	Name      string                          // of the reconciler, for errors
	Kind      schema.GroupKind                // whose objects wait
	Interval  time.Duration                   // in which the fallback notices a broken watch
	Watched   []schema.GroupKind              // kinds that references may name; "*" stands for all kinds of a group, or of all groups
	Unwatched []schema.GroupKind              // kinds that are read live and never watched
	Limit     *rate.Limiter                   // of wake-ups; nil: none
	Indexes   []Index                         // by which queries select; their kinds are watched
	Listed    []FieldQuery                    // the queries by a field that are known; the manager starts only if all have an index
	Readiness map[schema.GroupKind]ready.Func // of kinds that do not use ready.Of
	Reporter  Reporter                        // reports the objects that are not ready
	Leads     func() bool                     // whether the reconciler may run: this process is the leader, or it needs none; nil: it may
}

// Add adds a reconciler, before the manager is started. The shortest interval of
// all reconcilers counts. Add returns an error if the kind has a reconciler, or
// if a field of a kind has another index.
func (e *Engine) Add(c Config) (*Waker, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if other, ok := e.names[c.Kind]; ok {
		return nil, fmt.Errorf("ctrlx: %s: the kind %s has the reconciler %s already", c.Name, c.Kind.Kind, other)
	}
	for i, x := range c.Indexes {
		twice := slices.ContainsFunc(c.Indexes[:i], func(y Index) bool { return y.Kind == x.Kind && y.Field == x.Field })
		if twice || e.fields[fieldKey{x.Kind, x.Field}] != nil {
			return nil, fmt.Errorf("ctrlx: %s: the field %q of the kind %s has an index already: give WithIndex once, to one reconciler", c.Name, x.Field, x.Kind)
		}
	}
	e.names[c.Kind] = c.Name
	e.listed = append(e.listed, c.Listed...)
	for _, x := range c.Indexes {
		e.fields[fieldKey{x.Kind, x.Field}] = &field{Index: x}
		e.policy[x.Kind] = max(e.policy[x.Kind], watched)
	}
	for gk, of := range c.Readiness {
		e.readiness[gk] = append(e.readiness[gk], of)
	}
	if c.Leads != nil {
		e.leads = append(e.leads, c.Leads)
	}
	if c.Reporter != nil {
		e.reporters = append(e.reporters, c.Reporter)
		e.reporterOfKind.Store(c.Kind, c.Reporter)
	}
	e.interval = min(cmp.Or(e.interval, c.Interval), c.Interval)
	for _, gk := range c.Watched {
		e.policy[gk] = max(e.policy[gk], watched)
	}
	for _, gk := range c.Unwatched {
		e.policy[gk] = unwatched
	}
	return &Waker{engine: e, kind: c.Kind, limit: c.Limit, delayed: map[types.NamespacedName]time.Time{}, loops: map[types.NamespacedName]*loops{}}, nil
}

// allIndexed returns an error if a known query selects by a field that has no index.
// All reconcilers have been added when it runs, and each of them may define the index.
func (e *Engine) allIndexed() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.listed {
		if e.fields[fieldKey{l.Kind, l.Field}] == nil {
			return fmt.Errorf("ctrlx: %s queries %s: %w", l.By, l.Kind, &FieldError{Field: l.Field})
		}
	}
	return nil
}
