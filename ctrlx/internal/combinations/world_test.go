package combinations_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/ctrlx/internal/memoryserver"
	"github.com/windlass-go/windlass/flow"
)

// world is a cluster with its users, an operator and a cloud.
type world struct {
	t     *testing.T
	plan  plan
	api   *memoryserver.Server
	user  client.Client
	cloud *cloud
	begin time.Time
	stop  func()         // the operator; it returns when the operator has ended
	again sync.WaitGroup // the starts after crashes

	mu     sync.Mutex
	tale   []string
	last   map[use]string     // the outcome of the last pass, in words
	did    map[string]bool    // what this process of the operator did
	number int                // of the process of the operator
	free   map[types.UID]bool // released objects
	armed  []step             // lose, crash and pause
	poke   map[string]func(string)
	barred time.Time // until when the operator has no rights for Secrets
	hidden time.Time // until when no Secrets are served
	passes int
	writes []string
	faults []string
}

const (
	// user is the name of the client of users in requests.
	user = "user"

	// patience is the time after a story in which everything ends: an outage, and
	// the longest delay of a back-off. It is shorter than a resync, which would
	// hide a lost wake-up.
	patience = 40 * time.Minute
	// rest is the time after it in which nothing happens but a resync.
	rest = 80 * time.Minute
)

// run plays a plan and returns what does not hold, and what happened.
func run(t *testing.T, p plan) (faults []string, tale string) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, plan: p, begin: time.Now(), last: map[use]string{}, poke: map[string]func(string){}, free: map[types.UID]bool{}}
		w.cloud = &cloud{resources: map[types.UID]*inCloud{}, tell: w.tell}
		w.api = memoryserver.NewServer(served()...)
		w.api.Lag = func(kind schema.GroupKind) time.Duration {
			if i := slices.Index(kindNames, kind.Kind); i >= 0 {
				return p.Lag[i]
			}
			return 0
		}
		w.api.Before, w.api.After = w.before, w.after
		var err error
		if w.user, err = client.New(w.api.Config(user), client.Options{Scheme: newScheme()}); err != nil {
			t.Fatal(err)
		}
		w.start()
		w.settle()
		for _, s := range p.Steps {
			w.play(s)
			if !s.Race {
				w.settle()
			}
		}
		w.cloud.mu.Lock()
		during := w.cloud.during
		w.cloud.during = nil
		w.cloud.mu.Unlock()
		for _, left := range during {
			left()
		}
		w.mu.Lock()
		w.armed = nil
		w.mu.Unlock()
		w.again.Wait()
		time.Sleep(patience)
		synctest.Wait()
		passes, writes, began := w.passes, len(w.writes), w.cloud.began()
		w.tell("the story is over")
		time.Sleep(rest)
		// A resync may have begun an operation, and watches may be late: each of a
		// line of waiters sees the end of the operation some seconds after it.
		for limit := time.Now().Add(time.Hour); time.Now().Before(limit); {
			for w.cloud.busy() && time.Now().Before(limit) {
				time.Sleep(time.Second)
			}
			if time.Sleep(30 * time.Second); !w.cloud.busy() {
				break
			}
		}
		w.settle()
		w.require(w.passes-passes, w.writes[writes:], w.cloud.began()-began)
		w.stop()
		synctest.Wait()
		faults, tale = w.faults, strings.Join(w.tale, "\n")
	})
	return faults, tale
}

// isWrite reports whether a request of the operator is a write.
func isWrite(r memoryserver.Request) bool {
	return r.Agent != user && !slices.Contains([]string{"get", "list", "watch"}, r.Verb)
}

var errDead = errors.New("the process does not run any more")

// before is called before each request.
func (w *world) before(r memoryserver.Request) error {
	if r.Agent == user {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case r.Agent != agent(w.number):
		return errDead
	case r.Kind.Kind == secret && time.Now().Before(w.hidden):
		w.sees("a request for a kind that is not served")
		return memoryserver.ErrNotServed
	case r.Kind.Kind == secret && time.Now().Before(w.barred):
		w.sees("a request without rights")
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, r.Name.Name, errors.New("revoked"))
	}
	if isWrite(r) {
		w.writes = append(w.writes, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Verb, r.Kind.Kind, r.Name.Name, r.Subresource)))
		w.pauses(r)
	}
	return nil
}

// pauseTime is the time for which a process is paused. Another process begins to
// lead at once.
const pauseTime = 30 * time.Second

// pauses pauses a process before a write, if a step says so. The write comes late,
// and the process can do nothing after it. It is called with the lock held.
func (w *world) pauses(r memoryserver.Request) {
	for i := range w.armed {
		s := w.armed[i]
		if s.Do != pause {
			continue
		}
		if w.armed[i].Write--; s.Write > 0 {
			continue
		}
		w.armed = slices.Delete(w.armed, i, i+1)
		w.sees(s.Do)
		w.tale = append(w.tale, fmt.Sprintf("  %10s  paused before %s %s %s %s", time.Since(w.begin).Round(time.Millisecond), r.Verb, r.Kind.Kind, r.Name.Name, r.Subresource))
		w.number++
		stop := w.stop
		w.again.Go(w.start)
		w.again.Go(func() { time.Sleep(pauseTime + time.Second); stop() })
		w.mu.Unlock()
		w.cloud.loses()
		time.Sleep(pauseTime)
		w.mu.Lock()
		return
	}
}

// after is called after each request that the server has done.
func (w *world) after(r memoryserver.Request) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !isWrite(r) || r.Agent != agent(w.number) {
		return nil
	}
	for i := range w.armed {
		s := w.armed[i]
		if s.Do == pause {
			continue
		}
		if w.armed[i].Write--; s.Write > 0 {
			continue
		}
		w.armed = slices.Delete(w.armed, i, i+1)
		text := fmt.Sprintf("%s after %s %s %s %s", s.Do, r.Verb, r.Kind.Kind, r.Name.Name, r.Subresource)
		w.sees(s.Do)
		w.tale = append(w.tale, fmt.Sprintf("  %10s  %s", time.Since(w.begin).Round(time.Millisecond), text))
		if s.Do == crash {
			w.number++ // no request of the old process does anything
			w.cloud.loses()
			stop := w.stop
			w.again.Go(func() { stop(); w.start() })
		}
		return errors.New("the answer is lost")
	}
	return nil
}

// agent names a process of the operator in requests.
func agent(number int) string { return fmt.Sprint("operator ", number) }

// process returns the number of the process of the operator that runs now.
func (w *world) process() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.number
}

// releases notes that an object is gone without a Delete.
func (w *world) releases(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free[uid] = true
}

// seen counts what happened in all draws, because what is drawn need not happen.
var seen = struct {
	sync.Mutex
	of map[string]int
}{of: map[string]int{}}

func (w *world) saw(what string) { w.sees(what) }

func (w *world) sees(what string) {
	seen.Lock()
	defer seen.Unlock()
	seen.of[what]++
}

// settle waits until the operator has nothing to do at this moment.
func (w *world) settle() {
	time.Sleep(10 * time.Millisecond)
	synctest.Wait()
}

// tell adds a line to the tale.
func (w *world) tell(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tale = append(w.tale, fmt.Sprintf("  %10s  ", time.Since(w.begin).Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

// passed reports the outcome of a pass.
func (w *world) passed(what use, out flow.Outcome, err error) {
	text := out.String()
	if err != nil {
		text = err.Error()
	}
	w.mu.Lock()
	w.passes++
	same := w.last[what] == text
	w.last[what] = text
	w.mu.Unlock()
	if !same {
		w.tell("operator: %s: %s", what, text)
	}
}

// pokes keeps the function that pokes an object of a kind in this process.
func (w *world) pokes(kind string, poke func(name string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.poke[kind] = poke
}

// once reports whether this process of the operator does something for the first
// time.
func (w *world) once(what string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	did := w.did[what]
	w.did[what] = true
	return !did
}

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := addToScheme(s); err != nil {
		panic(err)
	}
	return s
}

// start starts the operator.
func (w *world) start() {
	skip := true
	mgr, err := ctrl.NewManager(w.api.Config(agent(w.process())), ctrl.Options{
		Scheme: newScheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	})
	if err == nil {
		err = setUp[*Network](w, mgr, kindNames[0], w.plan.Designs[0])
	}
	if err == nil {
		err = setUp[*Cluster](w, mgr, kindNames[1], w.plan.Designs[1])
	}
	if err == nil {
		err = setUp[*Database](w, mgr, kindNames[2], w.plan.Designs[2])
	}
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.did = map[string]bool{}
	w.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("the operator ended: %v", err)
		}
	}
}

// play plays a step.
func (w *world) play(s step) {
	act := func() {
		w.tell("%s", s)
		switch s.Do {
		case set:
			w.must(w.write(s))
		case remove:
			w.remove(s.On)
		case clear:
			for _, kind := range kindsInOrder(s.Last) {
				for _, name := range names {
					w.remove(use{kind, name})
				}
				w.settle()
			}
		case restart:
			w.again.Wait()
			w.stop()
			w.mu.Lock()
			w.number++
			w.mu.Unlock()
			w.start()
		case lose, crash, pause:
			w.mu.Lock()
			w.armed = append(w.armed, s)
			w.mu.Unlock()
		case poke:
			w.mu.Lock()
			poke := w.poke[s.On.Kind]
			w.mu.Unlock()
			if poke != nil { // no Secret is poked
				poke(s.On.Name)
			}
		case vanish:
			w.mu.Lock()
			w.hidden = time.Now().Add(s.For)
			w.mu.Unlock()
		case revoke:
			w.mu.Lock()
			w.barred = time.Now().Add(s.For)
			w.mu.Unlock()
		case outage:
			w.cloud.mu.Lock()
			w.cloud.down = time.Now().Add(s.For)
			w.cloud.mu.Unlock()
		case wait:
			time.Sleep(s.For)
		}
	}
	if s.During {
		w.cloud.mu.Lock()
		w.cloud.during = append(w.cloud.during, act)
		w.cloud.mu.Unlock()
		return
	}
	act()
}

// remove deletes an object as a user does.
func (w *world) remove(what use) {
	o := newOf(what.Kind)
	o.SetNamespace(namespace)
	o.SetName(what.Name)
	w.must(client.IgnoreNotFound(w.user.Delete(context.Background(), o)))
}

func (w *world) must(err error) {
	if err != nil {
		w.t.Error(err)
	}
}

// write creates an object, or changes its spec. A Secret gets another content.
func (w *world) write(s step) error {
	for {
		o := newOf(s.On.Kind)
		err := w.user.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: s.On.Name}, o)
		missing := apierrors.IsNotFound(err)
		if err != nil && !missing {
			return err
		}
		if r, ok := o.(resource); ok {
			r.base().Spec = s.Spec
		} else {
			o.(*corev1.Secret).StringData = map[string]string{"changed": time.Since(w.begin).String()}
		}
		if missing {
			o.SetNamespace(namespace)
			o.SetName(s.On.Name)
			return w.user.Create(context.Background(), o)
		}
		if err := w.user.Update(context.Background(), o); !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
}

// all returns the objects of the cluster, by their names.
func (w *world) all() map[use]client.Object {
	all := map[use]client.Object{}
	for _, kind := range kindsInOrder(false) {
		for _, name := range names {
			o := newOf(kind)
			err := w.user.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, o)
			if err == nil {
				all[use{kind, name}] = o
			} else if !apierrors.IsNotFound(err) {
				w.t.Fatal(err)
			}
		}
	}
	return all
}

// conditionOf returns a condition of an object; the zero one: it has none.
func conditionOf(o *object, kind string) (c metav1.Condition) {
	for _, c := range o.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return c
}
