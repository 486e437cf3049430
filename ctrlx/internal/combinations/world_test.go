package combinations_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/memoryserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/simulation"
	"github.com/windlass-go/windlass/flow"
)

var groupVersion = schema.GroupVersion{Group: "combinations.windlass-go.github.io", Version: "v1"}

const namespace = "default"

// object has the fields of all kinds.
type object struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              spec   `json:"spec"`
	Status            status `json:"status"`
}

type spec struct {
	Owner  string `json:"owner,omitempty"` // the name of an object of the kind above
	Uses   []use  `json:"uses,omitempty"`
	Size   int    `json:"size,omitempty"`
	Paused bool   `json:"paused,omitempty"`
	Claim  string `json:"claim,omitempty"`
	Role   string `json:"role,omitempty"` // of roles

	Limit metav1.Duration `json:"limit,omitzero"` // of the time until it is Ready; 0: none
}

// GetTimeout implements [ctrlx.TimeoutConfiguration].
func (s spec) GetTimeout() time.Duration { return s.Limit.Duration }

// use refers to an object of any kind.
type use struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

func (u use) String() string { return u.Kind + " " + u.Name }

func (u use) ref() checks.Ref {
	ref := checks.Ref{Kind: u.Kind, Name: u.Name}
	if u.Kind != secret {
		ref.Group = groupVersion.Group
	}
	return ref
}

type status struct {
	Size       int                `json:"size,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

func (o *object) base() *object                        { return o }
func (o *object) GetConditions() []metav1.Condition    { return o.Status.Conditions }
func (o *object) SetConditions(all []metav1.Condition) { o.Status.Conditions = all }

func (o *object) copied() object {
	out := *o
	o.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Uses = slices.Clone(o.Spec.Uses)
	out.Status.Conditions = slices.Clone(o.Status.Conditions)
	return out
}

// what names an object, as in "Database b".
func (o *object) what(kind string) use { return use{kind, o.Name} }

// resource is an object of a kind that the operator reconciles.
type resource interface {
	client.Object
	base() *object
}

// The kinds. Each one owns those of the next.
type (
	Network  struct{ object }
	Cluster  struct{ object }
	Database struct{ object }
)

func (n *Network) DeepCopyObject() runtime.Object  { return &Network{n.copied()} }
func (c *Cluster) DeepCopyObject() runtime.Object  { return &Cluster{c.copied()} }
func (d *Database) DeepCopyObject() runtime.Object { return &Database{d.copied()} }

// list is the list of a kind.
type list[T any] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []T `json:"items"`
}

func (l *list[T]) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = make([]T, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *any(&l.Items[i]).(runtime.Object).DeepCopyObject().(any).(*T)
	}
	return &out
}

// kindNames are the kinds that the operator reconciles. Each one owns those of
// the next.
var kindNames = []string{"Network", "Cluster", "Database"}

const secret = "Secret"

// newOf returns an empty object of a kind.
func newOf(kind string) client.Object {
	switch kind {
	case "Network":
		return &Network{}
	case "Cluster":
		return &Cluster{}
	case "Database":
		return &Database{}
	case secret:
		return &corev1.Secret{}
	}
	panic(fmt.Sprintf("unknown kind %q", kind))
}

func addToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(groupVersion, &Network{}, &Cluster{}, &Database{})
	s.AddKnownTypeWithName(groupVersion.WithKind("NetworkList"), &list[Network]{})
	s.AddKnownTypeWithName(groupVersion.WithKind("ClusterList"), &list[Cluster]{})
	s.AddKnownTypeWithName(groupVersion.WithKind("DatabaseList"), &list[Database]{})
	metav1.AddToGroupVersion(s, groupVersion)
	return corev1.AddToScheme(s)
}

// served are the kinds of the API server.
func served() []memoryserver.Kind {
	kinds := []memoryserver.Kind{
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), Plural: "namespaces"},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind(secret), Plural: "secrets"},
	}
	for _, plural := range []string{"networks", "clusters", "databases"} {
		kind := kindNames[len(kinds)-2]
		kinds = append(kinds, memoryserver.Kind{GroupVersionKind: groupVersion.WithKind(kind), Plural: plural, Status: true})
	}
	return kinds
}

// world is a run of an operator, with its users and its cloud.
type world struct {
	*simulation.Run
	t     *testing.T
	plan  plan
	cloud *cloud

	mu     sync.Mutex
	last   map[use]string     // the outcome of the last pass, in words
	did    map[string]bool    // what this process of the operator did
	free   map[types.UID]bool // released objects
	poke   map[string]func(string)
	passes int
}

const (
	// patience is the time after a story in which everything ends: an outage, and
	// the longest delay of a back-off. It is shorter than a resync, which would
	// hide a lost wake-up.
	patience = 40 * time.Minute
	// atRest is the time after it in which nothing happens but a resync.
	atRest = 80 * time.Minute
)

// run plays a plan and returns what does not hold, and what happened.
func run(t *testing.T, p plan) (faults []string, tale string) {
	problem := simulation.Bubble(t, func(t *testing.T) {
		s, err := simulation.New(served(), newScheme(), func(kind schema.GroupKind) time.Duration {
			if i := slices.Index(kindNames, kind.Kind); i >= 0 {
				return p.Lag[i]
			}
			return 0
		})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{Run: s, t: t, plan: p, cloud: &cloud{run: s, resources: map[types.UID]*inCloud{}}, last: map[use]string{}, poke: map[string]func(string){}, free: map[types.UID]bool{}}
		w.Operator, w.Ends = w.operator, w.cloud.loses
		w.Start()
		simulation.Settle()
		for _, s := range p.Steps {
			w.play(s)
			if !s.Race {
				simulation.Settle()
			}
		}
		w.EndFaults()
		time.Sleep(patience)
		synctest.Wait()
		passes, began := w.ran(), w.cloud.began()
		_, before, _ := w.Counts()
		w.Tell("run", "the story is over")
		time.Sleep(atRest)
		// A resync may have begun an operation, and watches may be late: each of a
		// line of waiters sees the end of the operation some seconds after it.
		for idle, limit := 0, time.Now().Add(time.Hour); idle < 30 && time.Now().Before(limit); idle++ {
			time.Sleep(time.Second)
			synctest.Wait() // the last look is at the end, so no operation begins after it
			if w.cloud.busy() {
				idle = 0
			}
		}
		_, after, _ := w.Counts()
		w.require(w.ran()-passes, writes(before, after), w.cloud.began()-began)
		w.End()
		for _, f := range w.Faults() {
			faults = append(faults, f.Text)
		}
		tale = w.Line()
	})
	if problem != "" {
		faults = append(faults, problem)
	}
	return faults, tale
}

// writes returns the writes of the operator after a moment, from the numbers of its requests.
func writes(before, after map[string]int) (all []string) {
	for _, what := range slices.Sorted(maps.Keys(after)) {
		if verb, _, _ := strings.Cut(what, " "); slices.Contains([]string{"create", "update", "patch", "delete"}, verb) {
			all = append(all, slices.Repeat([]string{what}, after[what]-before[what])...)
		}
	}
	return all
}

// releases notes that an object is gone without a Delete.
func (w *world) releases(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free[uid] = true
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
		w.Tell("operator", "%s: %s", what, text)
	}
}

// ran returns the number of the passes so far.
func (w *world) ran() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.passes
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

// operator runs a process of the operator.
func (w *world) operator(ctx context.Context, config *rest.Config) error {
	w.mu.Lock()
	w.did = map[string]bool{}
	w.mu.Unlock()
	skip := true
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: newScheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	})
	if err == nil {
		err = errors.Join(
			setUp[*Network](w, mgr, kindNames[0], w.plan.Designs[0]),
			setUp[*Cluster](w, mgr, kindNames[1], w.plan.Designs[1]),
			setUp[*Database](w, mgr, kindNames[2], w.plan.Designs[2]))
	}
	if err == nil {
		err = mgr.Start(ctx)
	}
	if err != nil {
		w.wrong("the operator ended: %v", err)
	}
	return err
}

// play plays a step, or lets it happen in the next call of the cloud.
func (w *world) play(s step) {
	at := s.simulated()
	if s.Do != restart {
		at.User = func() { w.act(s) }
	}
	if s.During {
		now := s
		now.During = false
		at = simulation.Step{Nth: 1, Call: true, User: func() { w.play(now) }}
	}
	w.Play(&at, s.String())
}

// act does what a user or the cloud does in a step.
func (w *world) act(s step) {
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
			simulation.Settle()
		}
	case poke:
		w.mu.Lock()
		poke := w.poke[s.On.Kind]
		w.mu.Unlock()
		if poke != nil { // no Secret is poked
			poke(s.On.Name)
		}
	}
}

// remove deletes an object as a user does.
func (w *world) remove(what use) {
	o := newOf(what.Kind)
	o.SetNamespace(namespace)
	o.SetName(what.Name)
	w.must(client.IgnoreNotFound(w.Users.Delete(context.Background(), o)))
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
		err := w.Users.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: s.On.Name}, o)
		missing := apierrors.IsNotFound(err)
		if err != nil && !missing {
			return err
		}
		if r, ok := o.(resource); ok {
			r.base().Spec = s.Spec
		} else {
			o.(*corev1.Secret).StringData = map[string]string{"changed": time.Now().String()}
		}
		if missing {
			o.SetNamespace(namespace)
			o.SetName(s.On.Name)
			return w.Users.Create(context.Background(), o)
		}
		if err := w.Users.Update(context.Background(), o); !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
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
			err := w.Users.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, o)
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

// plan is an operator and a story: all that is drawn.
type plan struct {
	Designs []design // by kindNames
	Lag     []time.Duration
	Steps   []step
}

// step is a step of a story.
type step struct {
	Do     string // of actions
	On     use
	Spec   spec
	For    time.Duration
	Last   bool // clear begins with the last kind
	During bool // it happens in the next call of the cloud, and not at once
	Write  int  // lose, crash, pause: which of the next writes of the operator it is
	Race   bool // the next step does not wait for the operator
}

// The actions of steps.
const (
	set     = "set"    // a user creates an object, or changes its spec
	remove  = "delete" // a user deletes an object
	clear   = "clear"  // a user deletes all objects, one after the other
	poke    = "poke"   // the operator about an object
	restart = simulation.Restart
	outage  = simulation.Outage
	wait    = simulation.Wait
	lose    = simulation.Lose
	crash   = simulation.Stop
	pause   = simulation.Pause
	revoke  = simulation.Revoke // the rights for Secrets
	vanish  = simulation.Vanish // the kind of Secrets
)

// names are the names of all objects.
var names = []string{"a", "b"}

func drawPlan(t *rapid.T) (p plan) {
	for _, kind := range kindNames {
		p.Designs = append(p.Designs, drawDesign(t, kind))
		p.Lag = append(p.Lag, rapid.SampledFrom([]time.Duration{0, 0, 20 * time.Millisecond, 3 * time.Second}).Draw(t, kind+" lag"))
	}
	w := writer{t: t}
	for range rapid.IntRange(1, 4).Draw(t, "objects") {
		p.Steps = append(p.Steps, w.write())
	}
	for range rapid.IntRange(0, 8).Draw(t, "steps") {
		p.Steps = append(p.Steps, w.step())
	}
	return p
}

// writer draws a story. It knows the objects that users have written, because
// steps about others say little.
type writer struct {
	t       *rapid.T
	written []use
}

// of draws one of several values with a weight for each.
func of[V any](w *writer, label string, weights []int, values ...V) V {
	var all []V
	for i, v := range values {
		for range weights[i] {
			all = append(all, v)
		}
	}
	return rapid.SampledFrom(all).Draw(w.t, label)
}

// known draws an object that a user has written, or any other one.
func (w *writer) known(label string) use {
	if len(w.written) > 0 && of(w, label+" is known", []int{4, 1}, true, false) {
		return rapid.SampledFrom(w.written).Draw(w.t, label)
	}
	return w.object(label)
}

func (w *writer) object(label string) use {
	return use{of(w, label+" kind", []int{2, 1, 1, 1}, secret, kindNames[0], kindNames[1], kindNames[2]), of(w, label+" name", []int{3, 1}, names[0], names[1])}
}

func (w *writer) write() step {
	s := step{Do: set, On: w.object("object")}
	w.written = append(w.written, s.On)
	return w.spec(s)
}

func (w *writer) step() step {
	s := step{Do: of(w, "do", []int{3, 3, 5, 5, 2, 1, 3, 4, 6, 4, 1, 1, 1}, "write", set, remove, clear, restart, outage, wait, lose, crash, pause, revoke, vanish, poke)}
	switch s.Do {
	case "write":
		s = w.write()
	case set:
		s.On = w.known("object")
		s = w.spec(s)
	case remove, poke:
		s.On = w.known("object")
	case clear:
		s.Last = rapid.Bool().Draw(w.t, "last first")
	case lose, crash, pause:
		s.Write = of(w, "which write", []int{4, 2, 1}, 1, 2, 4)
	case outage, wait, revoke, vanish:
		// An outage ends within patience.
		s.For = rapid.SampledFrom([]time.Duration{2 * time.Second, time.Minute, 20 * time.Minute}).Draw(w.t, "for")
	}
	s.During = (s.Do == set || s.Do == remove || s.Do == outage) && of(w, "during", []int{4, 1}, false, true)
	s.Race = of(w, "race", []int{4, 1}, false, true)
	return s
}

func (w *writer) spec(s step) step {
	if s.On.Kind == secret {
		return s
	}
	s.Spec = spec{
		Size:   of(w, "size", []int{6, 3, 1, 1}, 1, 2, 0, refusedSize),
		Paused: of(w, "paused", []int{9, 1}, false, true),
		Claim:  of(w, "claim", []int{3, 1}, "", "x"),
		Limit:  metav1.Duration{Duration: of(w, "limit", []int{6, 1, 1}, 0, 10*time.Second, 10*time.Minute)},
		Role:   of(w, "role", []int{8, 1, 1, 2}, "", foreign, finished, released),
	}
	if above(s.On.Kind) != "" {
		s.Spec.Owner = of(w, "owner", []int{1, 3, 1}, "", names[0], names[1])
	}
	for range of(w, "uses", []int{1, 3, 1}, 0, 1, 2) {
		if u := w.known("used"); u != s.On && !slices.Contains(s.Spec.Uses, u) { // package inuse refuses a reference to the resource itself
			s.Spec.Uses = append(s.Spec.Uses, u)
		}
	}
	return s
}

// String tells the operator and the story in words.
func (p plan) String() string {
	var b strings.Builder
	b.WriteString("the operator:\n")
	for i, d := range p.Designs {
		fmt.Fprintf(&b, "  %s: %+v", kindNames[i], d)
		if p.Lag[i] > 0 {
			fmt.Fprintf(&b, "; watches are %s late", p.Lag[i])
		}
		b.WriteString("\n")
	}
	b.WriteString("the story:\n")
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, s)
	}
	return b.String()
}

func (s step) String() string {
	text := s.simulated().String()
	switch s.Do {
	case set:
		spec, _ := json.Marshal(s.Spec)
		text = fmt.Sprintf("a user writes %s: %s", s.On, spec)
	case remove:
		text = fmt.Sprintf("a user deletes %s", s.On)
	case clear:
		text = fmt.Sprintf("a user deletes all objects, beginning with each %s", kindsInOrder(s.Last)[0])
	case poke:
		text = fmt.Sprintf("an event of the cloud is about %s", s.On)
	}
	if s.During {
		text = "in the next call of the cloud, " + text
	}
	if s.Race {
		text += ", and at the same time:"
	}
	return text
}

// simulated returns a step as it is played between two calls of the cloud.
func (s step) simulated() simulation.Step {
	at := simulation.Step{Do: s.Do, Kind: schema.GroupKind{Kind: secret}, Last: s.For}
	if s.Do == lose || s.Do == crash || s.Do == pause {
		at.Nth = s.Write
	}
	return at
}

// kindsInOrder returns all kinds, in the order in which a user deletes them.
func kindsInOrder(last bool) []string {
	all := append([]string{secret}, kindNames...)
	if last {
		slices.Reverse(all)
	}
	return all
}
