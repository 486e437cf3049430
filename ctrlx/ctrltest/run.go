package ctrltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/memoryserver"
)

// run is a run under way.
type run struct {
	*explorer
	plan  plan
	api   *memoryserver.Server
	users client.Client
	cloud *Cloud
	begin time.Time
	stop  func()         // ends the process, and returns when it has ended
	again sync.WaitGroup // the starts after a stop or a pause

	mu       sync.Mutex
	number   int  // of the process that runs
	ending   bool // by restart: no fault ends the process, because each one starts another process
	armed    []*step
	acts     []*step // of users, during a request
	revoked  map[schema.GroupKind]time.Time
	vanished map[schema.GroupKind]time.Time
	down     time.Time      // until when the cloud does not answer
	requests int            // of the operator
	sent     map[string]int // the requests and calls of each description
	writes   map[string]int // changes by the operator, by object
	exits    int
	rule     string
	faults   []string

	lines sync.Mutex // is taken last
	line  []string
}

const (
	user     = "user"
	restTime = 80 * time.Minute // when nothing changes
	hangs    = 30 * time.Second // a request that times out, and a leader that is paused

	mostRequests = 3000 // in a run
	mostExits    = 10
)

var (
	errDead = errors.New("the process has ended")
	errSpin = errors.New("too many requests in this run")
	errLost = errors.New("the connection is closed before the answer")
	errTime = errors.New("time-out: no answer")
)

// run runs a plan. nil: all rules hold.
func (e *explorer) run(t *testing.T, p plan) (f *failure) {
	stuck := time.AfterFunc(2*time.Minute, func() {
		stacks := make([]byte, 1<<20)
		panic("ctrltest: a run does not end within two minutes of real time. The operator waits for something outside of the run, " +
			"such as a listener or a connection, or for a mutex whose owner waits for an answer, or runs without end:\n" + string(stacks[:runtime.Stack(stacks, true)]))
	})
	defer stuck.Stop()
	defer func() {
		// The bubble says that goroutines are left when it cannot end.
		if problem := recover(); problem != nil {
			f = &failure{RuleExit, []string{fmt.Sprintf("%s: %v:\n%s", RuleExit, problem, left())}, p.GoString(), ""}
		}
	}()
	// One of these sleeps until the time of the last error, which may be the end of
	// another bubble.
	defer func(all []utilruntime.ErrorHandler) { utilruntime.ErrorHandlers = all }(utilruntime.ErrorHandlers)
	utilruntime.ErrorHandlers = nil
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // fewer orders of goroutines
	synctest.Test(t, func(t *testing.T) {
		r := &run{explorer: e, plan: p, begin: time.Now(), cloud: &Cloud{}, writes: map[string]int{}, sent: map[string]int{}, revoked: map[schema.GroupKind]time.Time{}, vanished: map[schema.GroupKind]time.Time{}}
		r.cloud.before, r.cloud.after, r.cloud.tell = r.beforeCall, r.afterCall, r.tell
		if e.Cloud != nil {
			e.Cloud(r.cloud)
		}
		r.api = memoryserver.NewServer(e.kinds...)
		r.api.Lag = func(kind schema.GroupKind) time.Duration {
			lag, ok := p.lags[kind]
			if !ok {
				lag = p.lags[schema.GroupKind{}]
			}
			// Events of kinds never arrive at the same time.
			return lag + time.Millisecond + time.Duration(slices.Index(e.watched, kind)+1)*137*time.Microsecond
		}
		r.api.Before, r.api.After, r.api.Refused, r.api.Stored, r.api.Arrived = r.before, r.after, r.refused, r.stored, r.arrived
		var err error
		if r.users, err = client.New(r.api.Config(user), client.Options{Scheme: kruntime.NewScheme()}); err != nil {
			t.Fatal(err)
		}
		r.story(t)
		r.stop()
		synctest.Wait()
		if len(r.faults) > 0 {
			f = &failure{r.rule, r.faults, p.GoString(), strings.Join(r.line, "\n")}
		}
	})
	return f
}

// left returns the stacks of the goroutines in bubbles.
func left() string {
	all := make([]byte, 1<<20)
	var of []string
	for stack := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
		if strings.Contains(stack, "synctest bubble") {
			of = append(of, stack)
		}
	}
	return strings.Join(of, "\n\n")
}

// story runs the steps, and requires the rules.
func (r *run) story(t *testing.T) {
	for _, crd := range r.definitions {
		o := plain(crd)
		status, err := kruntime.DefaultUnstructuredConverter.ToUnstructured(crd)
		must(t, err)
		must(t, r.users.Create(t.Context(), o.DeepCopy()))
		o.Object["status"] = status["status"]
		must(t, r.users.Status().Update(t.Context(), o))
	}
	r.start()
	time.Sleep(settles)
	for i := range r.plan.steps {
		s := r.plan.steps[i]
		r.play(&s)
		time.Sleep(s.then)
	}
	time.Sleep(settles)
	r.mu.Lock()
	acts := r.acts
	r.acts, r.armed = nil, nil
	r.mu.Unlock()
	for _, s := range acts {
		r.act(s)
	}
	time.Sleep(settles)
	r.again.Wait()
	r.quiet("the steps and the faults are over")
	if r.requireQuiet(); r.broken() {
		return
	}

	before := r.snapshot()
	r.mu.Lock()
	clear(r.writes)
	requests := r.requests
	r.mu.Unlock()
	_, began, _ := r.cloud.state()
	r.tell("run", "nothing changes for %s", restTime)
	time.Sleep(restTime)
	settle()
	if r.requireRest(requests, began); r.broken() {
		return
	}

	r.restart(nil)
	r.quiet("the operator was restarted")
	if r.requireSame(before); r.broken() {
		return
	}

	order := slices.Clone(r.World)
	if len(r.plan.steps)%2 == 1 {
		slices.Reverse(order)
	}
	for _, o := range order {
		r.delete(o)
		settle()
	}
	r.quiet("users have deleted all objects")
	r.requireGone()
}

// broken reports whether a rule does not hold.
func (r *run) broken() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.faults) > 0
}

func must(t *testing.T, err error) {
	if err != nil {
		t.Fatalf("ctrltest: %v", err)
	}
}

// settle waits until nothing but timers can happen.
func settle() {
	time.Sleep(10 * time.Millisecond)
	synctest.Wait()
}

// quiet waits until the operator has had enough time for everything.
func (r *run) quiet(why string) {
	r.tell("run", "%s", why)
	time.Sleep(r.Patience)
	settle()
}

// tell adds to the time line.
func (r *run) tell(who, format string, args ...any) {
	r.lines.Lock()
	defer r.lines.Unlock()
	r.line = append(r.line, fmt.Sprintf("  %10s  %-10s  ", time.Since(r.begin).Round(time.Millisecond), who)+fmt.Sprintf(format, args...))
}

// wrong notes that a rule does not hold.
func (r *run) wrong(rule, format string, args ...any) {
	if check, has := r.Rules[rule]; has && check == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rule == "" {
		r.rule = rule
	}
	r.faults = append(r.faults, rule+": "+fmt.Sprintf(format, args...))
}

// agent names a process of the operator.
func agent(number int) string { return fmt.Sprint("operator ", number) }

// start starts a process of the operator, and starts it again when it ends.
func (r *run) start() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	number := r.number
	r.stop = func() { cancel(); <-ended }
	r.tell(agent(number), "starts")
	go func() {
		defer close(ended)
		for {
			err := r.Start(ctx, r.api.Config(agent(number)))
			if ctx.Err() != nil || r.process() != number {
				return
			}
			r.tell(agent(number), "ends: %v", err)
			r.mu.Lock()
			r.exits++
			most := r.exits >= mostExits
			r.mu.Unlock()
			if most {
				r.wrong(RuleExit, "the operator ended %d times, the last time with: %v", mostExits, err)
				return
			}
			select {
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
				return
			}
		}
	}()
}

func (r *run) process() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.number
}

// restart ends the process in good order, and starts another one after what a user
// does. nil: nothing.
func (r *run) restart(down *step) {
	r.mu.Lock()
	r.ending = true
	r.mu.Unlock()
	r.again.Wait()
	r.stop()
	if down != nil {
		r.act(down)
	}
	r.mu.Lock()
	r.ending = false
	r.number++
	r.mu.Unlock()
	r.start()
}

// play begins a step.
func (r *run) play(s *step) {
	text, _, _ := strings.Cut(r.describe(*s), "; ")
	r.tell("run", "%s", text)
	later := func(do func()) {
		r.mu.Lock()
		defer r.mu.Unlock()
		do()
	}
	until := time.Now().Add(s.last)
	switch {
	case slices.Contains(faults, s.do):
		later(func() { r.armed = append(r.armed, s) })
	case s.nth > 0:
		later(func() { r.acts = append(r.acts, s) })
	case s.do == revoke:
		later(func() { r.revoked[s.kind] = until })
		r.api.Expire(s.kind) // the watches end, and cannot be opened again
	case s.do == vanish:
		later(func() { r.vanished[s.kind] = until })
	case s.do == outage:
		later(func() { r.down = until })
	case s.do == restart:
		r.restart(s.down)
	case s.do == wait:
		time.Sleep(s.last)
	case s.do == expire:
		r.api.Expire(s.kind)
	default:
		r.act(s)
	}
}

// act does what a user does in a step.
func (r *run) act(s *step) {
	o := r.World[s.on]
	if s.do == remove {
		r.delete(o)
		return
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
	err := r.users.Get(context.Background(), client.ObjectKeyFromObject(o), live)
	if apierrors.IsNotFound(err) {
		err = r.users.Create(context.Background(), s.state.DeepCopy())
	} else if err == nil {
		err = r.users.Patch(context.Background(), live, client.RawPatch(types.MergePatchType, s.patch))
	}
	if err != nil {
		r.tell(user, "the write of %s failed: %v", name(o), err)
	}
}

// during lets a user act during a request, and the events arrive before it ends.
func (r *run) during(s *step) {
	if s != nil {
		r.act(s)
		time.Sleep(s.takes)
	}
}

func (r *run) delete(o client.Object) {
	if err := r.users.Delete(context.Background(), plain(o)); err != nil && !apierrors.IsNotFound(err) {
		r.tell(user, "the deletion of %s failed: %v", name(o), err)
	}
}

func writes(q memoryserver.Request) bool {
	return !slices.Contains([]string{"get", "list", "watch"}, q.Verb)
}

func short(s string) string {
	const most = 300
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// next finds the fault of a request, or the user who acts during it.
func next(all *[]*step, of func(*step) bool) *step {
	for i, s := range *all {
		if !of(s) {
			continue
		}
		if s.nth--; s.nth == 0 {
			*all = slices.Delete(*all, i, i+1)
			return s
		}
	}
	return nil
}

// hits reports whether a fault can be one of a request.
func (r *run) hits(s *step, q memoryserver.Request) bool {
	if q.Verb == "watch" || !writes(q) && slices.Contains(ofWrites, s.do) || slices.Contains(ofCloud, s.do) || r.ending && (s.do == stop || s.do == pause) {
		return false
	}
	return s.on < 0 || q.Name == client.ObjectKeyFromObject(r.World[s.on]) && q.Kind == r.World[s.on].GetObjectKind().GroupVersionKind().GroupKind()
}

// what describes a request.
func what(q memoryserver.Request) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s", q.Verb, q.Kind.Kind, q.Name.Name, q.Subresource)), " ")
}

// latency returns how long a request or a call takes. Different ones end at
// different times, so that the order of goroutines matters less.
func (r *run) latency(what string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent[what]++
	h := fnv.New32()
	fmt.Fprint(h, what, r.sent[what])
	return time.Millisecond + time.Duration(h.Sum32()%5000)*time.Microsecond
}

// before is called before each request.
func (r *run) before(q memoryserver.Request) error {
	if q.Agent == user {
		return nil
	}
	time.Sleep(r.latency(what(q)))
	r.mu.Lock()
	if q.Agent != agent(r.number) {
		r.mu.Unlock()
		return errDead
	}
	if q.Kind.Kind == leaseKind {
		r.mu.Unlock()
		return nil
	}
	resource := schema.GroupResource{Group: q.Kind.Group, Resource: strings.ToLower(q.Kind.Kind)}
	now := time.Now()
	switch r.requests++; {
	case r.requests > mostRequests:
		first := r.requests == mostRequests+1
		r.mu.Unlock()
		if first {
			r.wrong(RuleSpin, "the operator sent %d requests", mostRequests)
		}
		return errSpin
	case now.Before(r.vanished[q.Kind]):
		r.mu.Unlock()
		return memoryserver.ErrNotServed
	case now.Before(r.revoked[q.Kind]):
		r.mu.Unlock()
		return apierrors.NewForbidden(resource, q.Name.Name, errors.New("the rights are revoked"))
	}
	act := next(&r.acts, func(s *step) bool { return q.Verb != "watch" && !s.after })
	fault := next(&r.armed, func(s *step) bool { return s.do != lose && s.do != stop && r.hits(s, q) })
	old := r.stop
	if fault != nil {
		r.tell(q.Agent, "%s: %s", what(q), fault.do)
		if fault.do == pause {
			r.number++
			r.again.Go(r.start)
			r.again.Go(func() { time.Sleep(hangs + time.Second); old() })
		}
	}
	r.mu.Unlock()
	r.during(act)
	if fault == nil {
		return nil
	}
	switch fault.do {
	case conflict:
		return apierrors.NewConflict(resource, q.Name.Name, errors.New("the object has been modified"))
	case busy:
		return apierrors.NewTooManyRequests("the server is busy", 1)
	case broken:
		return apierrors.NewInternalError(errors.New("the store does not answer"))
	case timeOut:
		time.Sleep(hangs)
		return errTime
	}
	// The process is paused. Another one begins to lead, and then the write comes.
	r.cloud.loses()
	time.Sleep(hangs)
	r.tell(q.Agent, "sends its %s late, and ends", what(q))
	return nil
}

// after is called after each request that succeeded.
func (r *run) after(q memoryserver.Request) error {
	if q.Agent == user || q.Kind.Kind == leaseKind {
		return nil
	}
	r.mu.Lock()
	if q.Agent != agent(r.number) {
		r.mu.Unlock()
		return nil // the late write of a paused process
	}
	act := next(&r.acts, func(s *step) bool { return q.Verb != "watch" && s.after })
	fault := next(&r.armed, func(s *step) bool { return (s.do == lose || s.do == stop) && r.hits(s, q) })
	if fault != nil {
		r.tell(q.Agent, "%s: %s", what(q), fault.do)
		if fault.do == stop {
			r.number++
			r.cloud.loses()
			old := r.stop
			r.again.Go(func() { old(); r.start() })
		}
	}
	r.mu.Unlock()
	r.during(act)
	if fault != nil {
		return errLost
	}
	return nil
}

// beforeCall is called before each call of the cloud.
func (r *run) beforeCall(call string) error {
	time.Sleep(r.latency(call))
	r.mu.Lock()
	down := time.Now().Before(r.down)
	act := next(&r.acts, func(s *step) bool { return !s.after })
	r.mu.Unlock()
	r.tell("cloud", "%s%s", call, map[bool]string{true: ": the cloud is down"}[down])
	r.during(act)
	if down {
		return ErrCloud
	}
	return nil
}

// afterCall is called after each call of the cloud that succeeded.
func (r *run) afterCall(call string) error {
	r.mu.Lock()
	act := next(&r.acts, func(s *step) bool { return s.after })
	fault := next(&r.armed, func(s *step) bool { return s.do == loseCall })
	r.mu.Unlock()
	r.during(act)
	if fault == nil {
		return nil
	}
	r.cloud.loses()
	r.tell("cloud", "%s: lost answer", call)
	return ErrCloud
}

// refused is called after each request that the server refused.
func (r *run) refused(q memoryserver.Request, err error) {
	if q.Agent != user && q.Kind.Kind != leaseKind {
		r.tell(q.Agent, "%s is refused: %v", what(q), err)
	}
}

// stored is called with the server's lock when an object changes.
func (r *run) stored(agent, event string, was, now *unstructured.Unstructured) {
	if slices.Contains([]string{leaseKind, definitionKind}, now.GetKind()) {
		return
	}
	if agent != user {
		r.mu.Lock()
		r.writes[name(now)]++
		r.mu.Unlock()
	}
	switch {
	case event == "DELETED":
		r.tell(agent, "%s is gone", name(now))
	case was == nil:
		r.tell(agent, "creates %s", name(now))
	default:
		r.tell(agent, "changes %s: %s", name(now), short(changes(was, now)))
	}
}

// arrived is called with the server's lock when a watch reads an event.
func (r *run) arrived(agent, event string, o *unstructured.Unstructured) {
	if agent != user && o.GetKind() != leaseKind {
		r.tell(agent, "sees %s of %s, version %s", event, name(o), o.GetResourceVersion())
	}
}

// changes describes a write of an object: its conditions in words, all else as a
// merge patch.
func changes(was, now *unstructured.Unstructured) string {
	old := map[string]string{}
	for _, c := range conditions(was) {
		old[c.Type] = inWords(c)
	}
	var words []string
	for _, c := range conditions(now) {
		if old[c.Type] != inWords(c) {
			words = append(words, inWords(c))
		}
		delete(old, c.Type)
	}
	for _, kind := range slices.Sorted(maps.Keys(old)) {
		words = append(words, "without "+kind)
	}
	patch := string(mergePatch(stripped(was, true), stripped(now, true)))
	if patch != "{}" {
		words = append(words, patch)
	}
	if len(words) == 0 {
		return "metadata"
	}
	return strings.Join(words, "; ") + ", version " + now.GetResourceVersion()
}

// mergePatch returns the merge patch between two objects.
func mergePatch(was, now *unstructured.Unstructured) []byte {
	a, errA := json.Marshal(was.Object)
	b, errB := json.Marshal(now.Object)
	patch, err := jsonpatch.CreateMergePatch(a, b)
	if err := errors.Join(errA, errB, err); err != nil {
		panic(err) // both are JSON
	}
	return patch
}
