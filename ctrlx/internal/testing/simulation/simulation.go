// Package simulation runs an operator against the API server of
// [memoryserver.Server], in a bubble of testing/synctest. It starts and ends the
// processes of the operator, makes requests fail, and writes a time line. Package
// ctrltest and the test of combinations use it.
package simulation

import (
	"context"
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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/memoryserver"
)

// Step is a step of a run.
type Step struct {
	Do    string               // one of the constants below, or the action of a user
	User  func()               // what the user does; Restart: while the operator is down; nil: nothing
	Kind  schema.GroupKind     // Revoke, Vanish, Expire
	Name  types.NamespacedName // faults: only requests for this object of Kind; empty: all objects
	Nth   int                  // faults and users: which one of the next requests; 0: at once
	Call  bool                 // users: only calls of the cloud count
	After bool                 // users: it happens after that request, and not before
	Takes time.Duration        // users: that request takes so long
	Last  time.Duration        // how long it lasts
}

// What happens in steps.
const (
	Wait    = "wait"
	Restart = "restart"
	Revoke  = "revoke" // the rights for a kind
	Vanish  = "vanish" // a kind is not served
	Expire  = "expire" // the watches of a kind end with 410 Gone
	Outage  = "outage" // of the cloud

	// The faults of a request.
	Conflict = "conflict (409)"
	Busy     = "too many requests (429)"
	Broken   = "internal error (500)"
	TimeOut  = "time-out"
	Lose     = "lost answer"
	Stop     = "stop"       // the process ends after a write
	Pause    = "pause"      // the process is paused before a write, and another one leads
	LoseCall = "lost cloud" // the answer to a call of the cloud
)

var (
	faults   = []string{Conflict, Busy, Broken, TimeOut, Lose, Stop, Pause, LoseCall}
	ofWrites = []string{Conflict, Lose, Stop, Pause}
)

// String describes a step that is not one of users.
func (s Step) String() string {
	switch s.Do {
	case Wait:
		return s.Last.String() + " pass"
	case Restart:
		return "the operator is restarted"
	case Revoke:
		return fmt.Sprintf("the operator has no rights for %s for %s", s.Kind, s.Last)
	case Vanish:
		return fmt.Sprintf("%s is not served for %s", s.Kind, s.Last)
	case Expire:
		return fmt.Sprintf("the watches of %s end with 410 Gone", s.Kind)
	case Outage:
		return fmt.Sprintf("the cloud is down for %s", s.Last)
	case LoseCall:
		return fmt.Sprintf("the answer to call %d of the cloud is lost", s.Nth)
	}
	what, of := "request", "any object"
	if slices.Contains(ofWrites, s.Do) {
		what = "write"
	}
	if s.Name.Name != "" {
		of = named(s.Kind, s.Name)
	}
	return fmt.Sprintf("%s at %s %d of the operator, of %s", s.Do, what, s.Nth, of)
}

const (
	user = "user" // the client of users

	// Settles is longer than the lag of a watch.
	Settles = 5 * time.Second

	hangs        = 30 * time.Second // a request that times out; a leader is paused for a second less
	leads        = 15 * time.Second // after this time, another process leads
	mostRequests = 3000             // in a run
	mostExits    = 10
)

// The rules that a run requires.
const (
	Spin = "spin"
	Exit = "exit"
)

var (
	errDead = errors.New("the process has ended")
	errSpin = errors.New("too many requests in this run")
	errLost = errors.New("the connection is closed before the answer")
	errTime = errors.New("time-out: no answer")
)

// Bubble runs story in a bubble. It returns the goroutines that are left at its end.
// Empty: none.
func Bubble(t *testing.T, story func(t *testing.T)) (problem string) {
	stuck := time.AfterFunc(2*time.Minute, func() {
		stacks := make([]byte, 1<<20)
		panic("ctrltest: a run does not end within two minutes of real time. The operator waits for something outside of the run, " +
			"such as a listener or a connection, or for a mutex whose owner waits for an answer, or runs without end:\n" + string(stacks[:runtime.Stack(stacks, true)]))
	})
	defer stuck.Stop()
	defer func() {
		// The bubble says that goroutines are left when it cannot end.
		if p := recover(); p != nil {
			problem = fmt.Sprintf("%v:\n%s", p, left())
		}
	}()
	// One of these sleeps until the time of the last error, which may be the end of
	// another bubble.
	defer func(all []utilruntime.ErrorHandler) { utilruntime.ErrorHandlers = all }(utilruntime.ErrorHandlers)
	utilruntime.ErrorHandlers = nil
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // fewer orders of goroutines
	synctest.Test(t, story)
	return ""
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

// Run is a run under way. Make it with [New], and set Operator before Start.
type Run struct {
	API   *memoryserver.Server
	Users client.Client
	// Operator runs a process of the operator until the context ends.
	Operator func(ctx context.Context, config *rest.Config) error
	// Ends is called when a process ends or is paused. It may not have stored the last
	// answers of the cloud.
	Ends func()
	// Latency: requests and calls take some milliseconds. Different ones end at
	// different times, so that the order of goroutines matters less.
	Latency bool
	// Spins: the operator may send any number of requests.
	Spins bool

	begin time.Time
	stop  func()         // ends the process, and returns when it has ended
	again sync.WaitGroup // the starts after a stop or a pause

	mu       sync.Mutex
	number   int  // of the process that runs
	ending   bool // by restart: no fault ends the process, because each one starts another process
	armed    []*Step
	acts     []*Step // of users, during a request
	revoked  map[schema.GroupKind]time.Time
	vanished map[schema.GroupKind]time.Time
	down     time.Time // until when the cloud does not answer
	dead     bool      // each call of the cloud is one of a process that was stopped or is paused, and is never sent
	exits    int
	requests int            // of the operator
	sent     map[string]int // the requests and calls of each description
	writes   map[string]int // changes by the operator, by object
	wrong    []Fault

	lines sync.Mutex // is taken last
	line  []string
}

// Fault is a rule that does not hold.
type Fault struct{ Rule, Text string }

// New makes a run. Users use scheme, and lag is the delay of the watches.
func New(kinds []memoryserver.Kind, scheme *kruntime.Scheme, lag func(schema.GroupKind) time.Duration) (*Run, error) {
	r := &Run{
		API: memoryserver.NewServer(kinds...), Ends: func() {}, begin: time.Now(), sent: map[string]int{}, writes: map[string]int{},
		revoked: map[schema.GroupKind]time.Time{}, vanished: map[schema.GroupKind]time.Time{},
	}
	r.API.Lag, r.API.Before, r.API.After, r.API.Refused, r.API.Stored, r.API.Arrived = lag, r.before, r.after, r.refused, r.stored, r.arrived
	var err error
	r.Users, err = client.New(r.API.Config(user), client.Options{Scheme: scheme})
	return r, err
}

// Wrong notes that a rule does not hold.
func (r *Run) Wrong(rule, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = append(r.wrong, Fault{rule, fmt.Sprintf(format, args...)})
}

// Faults returns the rules that do not hold.
func (r *Run) Faults() []Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.wrong)
}

// Counts returns the number of requests of the operator, of those that were sent by
// their descriptions, and of the changes by the operator, by object.
func (r *Run) Counts() (requests int, sent, writes map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests, maps.Clone(r.sent), maps.Clone(r.writes)
}

// runs reports whether this process of the operator is the one that runs.
func (r *Run) runs(number int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.number == number
}

// Dead reports whether the process was stopped or is paused. It stores no answer then.
func (r *Run) Dead() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dead
}

// agent names a process of the operator.
func agent(number int) string { return fmt.Sprint("operator ", number) }

// Settle waits until nothing but timers can happen.
func Settle() {
	time.Sleep(10 * time.Millisecond)
	synctest.Wait()
}

// Start starts a process of the operator, and starts it again when it ends.
func (r *Run) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	number := r.number
	r.dead = false
	r.stop = func() { cancel(); <-ended }
	r.Tell(agent(number), "starts")
	go func() {
		defer close(ended)
		for {
			err := r.Operator(ctx, r.API.Config(agent(number)))
			if ctx.Err() != nil || !r.runs(number) {
				return
			}
			r.Tell(agent(number), "ends: %v", err)
			r.mu.Lock()
			r.exits++
			exits, pause := r.exits, 10*time.Second
			r.mu.Unlock()
			if exits == mostExits {
				r.Wrong(Exit, "the operator ended %d times, the last time with: %v", mostExits, err)
			}
			if exits >= mostExits {
				pause = 5 * time.Minute
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
		}
	}()
}

// Restart ends the process in good order, and starts another one after down. nil: at
// once.
func (r *Run) Restart(down func()) {
	r.mu.Lock()
	r.ending = true
	r.mu.Unlock()
	r.again.Wait()
	r.stop()
	if down != nil {
		down()
	}
	r.mu.Lock()
	r.ending = false
	r.number++
	r.mu.Unlock()
	r.Start()
}

// EndFaults ends all faults, also those that no request has met. Users do now what they
// would have done during a request.
func (r *Run) EndFaults() {
	r.mu.Lock()
	acts := r.acts
	r.acts, r.armed, r.down = nil, nil, time.Time{}
	clear(r.revoked)
	clear(r.vanished)
	r.mu.Unlock()
	for _, s := range acts {
		s.User()
	}
	time.Sleep(Settles)
	r.again.Wait()
}

// End ends the operator.
func (r *Run) End() {
	r.stop()
	synctest.Wait()
}

// Play begins a step. text describes it.
func (r *Run) Play(s *Step, text string) {
	r.Tell("run", "%s", text)
	later := func(do func()) {
		r.mu.Lock()
		defer r.mu.Unlock()
		do()
	}
	until := time.Now().Add(s.Last)
	switch {
	case slices.Contains(faults, s.Do):
		later(func() { r.armed = append(r.armed, s) })
	case s.Nth > 0:
		later(func() { r.acts = append(r.acts, s) })
	case s.Do == Revoke:
		later(func() { r.revoked[s.Kind] = until })
		r.API.Expire(s.Kind) // the watches end, and cannot be opened again
	case s.Do == Vanish:
		later(func() { r.vanished[s.Kind] = until })
	case s.Do == Outage:
		later(func() { r.down = until })
	case s.Do == Restart:
		r.Restart(s.User)
	case s.Do == Wait:
		time.Sleep(s.Last)
	case s.Do == Expire:
		r.API.Expire(s.Kind)
	default:
		s.User()
	}
}

// during lets a user act during a request, and the events arrive before it ends.
func during(s *Step) {
	if s != nil {
		s.User()
		time.Sleep(s.Takes)
	}
}

// next finds the fault of a request, or the user who acts during it.
func next(all *[]*Step, of func(*Step) bool) *Step {
	for i, s := range *all {
		if !of(s) {
			continue
		}
		if s.Nth--; s.Nth == 0 {
			*all = slices.Delete(*all, i, i+1)
			return s
		}
	}
	return nil
}

// hits reports whether a fault can be one of a request.
func (r *Run) hits(s *Step, q memoryserver.Request) bool {
	write := !slices.Contains([]string{"get", "list", "watch"}, q.Verb)
	if q.Verb == "watch" || !write && slices.Contains(ofWrites, s.Do) || s.Do == LoseCall || r.ending && (s.Do == Stop || s.Do == Pause) {
		return false
	}
	return s.Name.Name == "" || q.Name == s.Name && q.Kind == s.Kind
}

// what describes a request.
func what(q memoryserver.Request) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", q.Verb, named(q.Kind, q.Name), q.Subresource)), " ")
}

// send counts a request or a call, and waits for its latency.
func (r *Run) send(what string) {
	r.mu.Lock()
	r.sent[what]++
	h := fnv.New32()
	fmt.Fprint(h, what, r.sent[what])
	r.mu.Unlock()
	if r.Latency {
		time.Sleep(time.Millisecond + time.Duration(h.Sum32()%5000)*time.Microsecond)
	}
}

// before is called before each request.
func (r *Run) before(q memoryserver.Request) error {
	if q.Agent == user {
		return nil
	}
	r.send(what(q))
	r.mu.Lock()
	if q.Agent != agent(r.number) {
		r.mu.Unlock()
		return errDead
	}
	if q.Kind == lease {
		r.mu.Unlock()
		return nil
	}
	resource := schema.GroupResource{Group: q.Kind.Group, Resource: strings.ToLower(q.Kind.Kind)}
	now := time.Now()
	switch r.requests++; {
	case r.requests > mostRequests && !r.Spins:
		first := r.requests == mostRequests+1
		r.mu.Unlock()
		if first {
			r.Wrong(Spin, "the operator sent %d requests", mostRequests)
		}
		return errSpin
	case now.Before(r.vanished[q.Kind]):
		r.mu.Unlock()
		return memoryserver.ErrNotServed
	case now.Before(r.revoked[q.Kind]):
		r.mu.Unlock()
		return apierrors.NewForbidden(resource, q.Name.Name, errors.New("the rights are revoked"))
	}
	act := next(&r.acts, func(s *Step) bool { return q.Verb != "watch" && !s.After && !s.Call })
	fault := next(&r.armed, func(s *Step) bool { return s.Do != Lose && s.Do != Stop && r.hits(s, q) })
	old := r.stop
	if fault != nil {
		r.Tell(q.Agent, "%s: %s", what(q), fault.Do)
		if fault.Do == Pause {
			r.number++
			r.dead = true
			r.again.Go(old)
			r.again.Go(func() { time.Sleep(leads); r.Start() })
		}
	}
	r.mu.Unlock()
	if fault != nil && fault.Do == Pause {
		r.Ends()
	}
	during(act)
	if fault == nil {
		return nil
	}
	switch fault.Do {
	case Conflict:
		return apierrors.NewConflict(resource, q.Name.Name, errors.New("the object has been modified"))
	case Busy:
		return apierrors.NewTooManyRequests("the server is busy", 1)
	case Broken:
		return apierrors.NewInternalError(errors.New("the store does not answer"))
	case TimeOut:
		time.Sleep(hangs)
		return errTime
	}
	// The process is paused. Another one begins to lead, and then the write comes, before the manager ends without it.
	time.Sleep(hangs - time.Second)
	r.Tell(q.Agent, "sends its %s late, and ends", what(q))
	return nil
}

// after is called after each request that succeeded.
func (r *Run) after(q memoryserver.Request) error {
	if q.Agent == user || q.Kind == lease {
		return nil
	}
	r.mu.Lock()
	if q.Agent != agent(r.number) {
		r.mu.Unlock()
		return errDead
	}
	act := next(&r.acts, func(s *Step) bool { return q.Verb != "watch" && s.After })
	fault := next(&r.armed, func(s *Step) bool { return (s.Do == Lose || s.Do == Stop) && r.hits(s, q) })
	var start func()
	if fault != nil {
		r.Tell(q.Agent, "%s: %s", what(q), fault.Do)
		if fault.Do == Stop {
			r.number++
			r.dead = true
			old := r.stop
			start = func() { old(); r.Start() }
			r.again.Add(1)
		}
	}
	r.mu.Unlock()
	if start != nil {
		r.Ends() // before the next process begins an operation
		go func() { defer r.again.Done(); start() }()
	}
	during(act)
	if fault != nil {
		return errLost
	}
	return nil
}

// BeforeCall must be called before each call of the cloud. down: the call is not
// sent.
func (r *Run) BeforeCall(call string) (down bool) {
	r.send(call)
	r.mu.Lock()
	if r.dead {
		r.mu.Unlock()
		return true
	}
	down = time.Now().Before(r.down)
	act := next(&r.acts, func(s *Step) bool { return !s.After })
	r.mu.Unlock()
	r.Tell("cloud", "%s%s", call, map[bool]string{true: ": the cloud is down"}[down])
	during(act)
	return down
}

// AfterCall must be called after each call of the cloud that succeeded. lost: the
// operator gets no answer.
func (r *Run) AfterCall(call string) (lost bool) {
	r.mu.Lock()
	act := next(&r.acts, func(s *Step) bool { return s.After })
	fault := next(&r.armed, func(s *Step) bool { return s.Do == LoseCall })
	lost = fault != nil || r.dead
	r.mu.Unlock()
	during(act)
	if lost {
		r.Tell("cloud", "%s: lost answer", call)
	}
	return lost
}
