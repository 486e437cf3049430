package why

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/text"
)

// Cause is a root cause, with the objects that wait for it. An object with
// several root causes counts for the first of them.
type Cause struct {
	// Objects holds the object that waits for no other one. For a cycle it holds
	// the objects of the cycle: each waits for the next one, and the last one
	// waits for the first. Omitted is the number of the last objects of a long
	// cycle, which are left out.
	Objects []checks.Ref `json:"objects"`
	Omitted int          `json:"omitted,omitempty"`
	State   State        `json:"state"` // of the first object
	Reason  string       `json:"reason,omitempty"`
	Message string       `json:"message,omitempty"`
	// Waiters is the number of the objects that wait, directly or not. It
	// includes those of a cycle, and excludes a single object.
	Waiters int `json:"waiters"`
	// Since is the earliest start of the state of these objects; zero: unknown.
	Since time.Time `json:"since,omitzero"`
	// Sample holds some of the waiters, the first ones by name.
	Sample []checks.Ref `json:"sample,omitempty"`
}

// Cycle reports whether the cause is a cycle.
func (c *Cause) Cycle() bool { return len(c.Objects) > 1 }

// String says what is wrong, how many objects wait, and what unblocks them, on
// one line.
func (c *Cause) String() string {
	return text.Line(c.problem()+"; "+waiting(c.Waiters, c.Cycle())+": "+c.Advice(), text.Message)
}

// problem says what is wrong.
func (c *Cause) problem() string {
	if c.Cycle() {
		s := "dependency cycle: "
		for _, ref := range c.Objects {
			s += ref.String() + " -> "
		}
		if c.Omitted > 0 {
			s += text.Thousands(c.Omitted) + " more -> "
		}
		return s + c.Objects[0].String()
	}
	s := c.Objects[0].String() + " " + c.State.verb()
	if why := text.Join(c.Reason, c.Message); why != "" {
		s += ": " + why
	}
	return s
}

// waiting says how many objects wait.
func waiting(n int, cycle bool) string {
	switch {
	case n == 0:
		return "no object waits for it"
	case n == 1:
		return "1 object waits for it"
	case cycle:
		return text.Thousands(n) + " objects wait for each other or for one of these"
	}
	return text.Thousands(n) + " objects wait for it"
}

// verb returns the state as it reads after a name.
func (s State) verb() string {
	switch s {
	case Failed:
		return "has failed"
	case Unknown:
		return "has not reported a state"
	default:
		return "is " + string(s)
	}
}

// Advice says what a person can do to unblock the waiters.
func (c *Cause) Advice() string {
	switch {
	case c.Cycle():
		return "remove one of the references"
	case c.State == Missing && c.Message != "":
		return "correct the error that its message names, or create it"
	case c.State == Missing:
		return "create it, or correct the reference"
	case c.State == Failed:
		return "correct the error that its message names"
	case c.State == Blocked:
		return "meet the requirement that its message names"
	case c.State == InProgress:
		return "wait until its operation ends, or look at its events"
	case c.State == Deleting:
		return "wait until it is deleted, or look at its finalizers"
	case c.State == Ready:
		return "change it, or its waiters: their messages say what they require" // they want more than a ready object
	}
	return "look at the object: no reconciler of this program reports its state"
}

// Command returns the command of kubectl with which to follow the Advice. It is
// empty if the object has no kind and name of Kubernetes.
func (c *Cause) Command() string {
	ref, verb, output := c.Objects[0], "describe", ""
	switch {
	case c.Cycle():
		verb = "edit"
	case c.State == Missing:
		verb, ref.Name = "get", "" // the objects that exist, among which may be the one that is meant
	case c.State == Deleting:
		verb, output = "get", "yaml"
	case c.State == Ready && len(c.Sample) > 0:
		ref = c.Sample[0]
	}
	if ref.Set != "" || ref.Kind == "" || ref.Name == "" && c.State != Missing {
		return ""
	}
	words := []string{"kubectl", verb, (&Object{Ref: ref}).kind(), ref.Name}
	if ref.Namespace != "" {
		words = append(words, "-n", ref.Namespace)
	}
	if output != "" {
		words = append(words, "-o", output)
	}
	return command(words...)
}

// command joins the words of a command that are not empty. It returns an empty text
// if the shell might run a part of one of them.
func command(words ...string) string {
	for _, w := range words {
		if !plainWord.MatchString(w) {
			return ""
		}
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " ")
}

// plainWord matches flags, and the names of kinds and objects of Kubernetes, which have
// no meaning in a shell.
var plainWord = regexp.MustCompile(`^(-n|-o|--for|[A-Za-z0-9][A-Za-z0-9.:-]{0,252}(/[A-Za-z0-9][A-Za-z0-9.:-]{0,252})?)?$`)

// The numbers of waiters of a cause, and of objects of a cycle, that are named.
const maxSample, maxCycle = 10, 20

// root is a root cause of a graph.
type root struct {
	nodes   []int // one object, or the objects of a cycle
	waiters int
	since   time.Time
	sample  []int
}

func (r *root) cycle() bool { return len(r.nodes) > 1 }

// Causes returns the root causes, the oldest first. Causes of an unknown age
// follow, and of two causes of one age the one with more waiters comes first.
func (g *Graph) Causes() []Cause {
	all := make([]Cause, len(g.causes))
	for i, r := range g.causes {
		all[i] = g.cause(r)
	}
	return all
}

func (g *Graph) compareCauses(a, b *root) int {
	return cmp.Or(cmp.Compare(oneIf(a.since.IsZero()), oneIf(b.since.IsZero())), a.since.Compare(b.since), cmp.Compare(b.waiters, a.waiters),
		compareRefs(g.nodes[a.nodes[0]].Ref, g.nodes[b.nodes[0]].Ref))
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cause returns the view of a root cause.
func (g *Graph) cause(r *root) Cause {
	first := g.nodes[r.nodes[0]].safe()
	if !r.cycle() && first.Reconciler == "" && first.Reason == "" && first.Message == "" {
		first.Reason, first.Message = g.reasonOfWaiter(r)
	}
	named := r.nodes[:min(len(r.nodes), maxCycle)]
	return Cause{
		Objects: g.refs(named), Omitted: len(r.nodes) - len(named), State: first.State, Reason: first.Reason, Message: first.Message,
		Waiters: r.waiters, Since: r.since, Sample: g.refs(r.sample),
	}
}

// reasonOfWaiter returns why the first direct waiter of a cause is not done: it may be
// the one that should have made the object, and was refused. The conditions of a waiter
// do not say whether it is blocked, so only its reconciler counts.
func (g *Graph) reasonOfWaiter(r *root) (reason, message string) {
	for _, i := range g.nodes[r.nodes[0]].in {
		if w := g.nodes[i].safe(); g.nodes[i].cause == r && w.Reconciler != "" && (w.State == Failed || w.State == InProgress) && text.Join(w.Reason, w.Message) != "" {
			return w.Reason, w.Ref.String() + " " + w.State.verb() + ": " + w.Message
		}
	}
	return "", ""
}

func (g *Graph) refs(nodes []int) []checks.Ref {
	var refs []checks.Ref
	for _, i := range nodes {
		refs = append(refs, safeRef(g.nodes[i].Ref))
	}
	return refs
}

// findCause finds the first root cause of the members of a strongly connected
// component. Those of the awaited objects are found already: each has one.
func (g *Graph) findCause(members []int) {
	r := g.ownCause(members)
	if r != nil {
		g.causes = append(g.causes, r)
		for _, i := range r.nodes {
			g.nodes[i].isCause = true
		}
	} else { // one object
		for _, to := range g.nodes[members[0]].out {
			if c := g.nodes[to].cause; r == nil || g.compareSeverity(c, r) < 0 {
				r = c
			}
		}
	}
	if r == nil {
		return
	}
	for _, i := range members {
		g.nodes[i].cause = r
		r.add(g, i)
	}
}

// add counts a node as a waiter, or as a part of the cause.
func (r *root) add(g *Graph, i int) {
	if since := safeTime(g.nodes[i].Since); !since.IsZero() && (r.since.IsZero() || since.Before(r.since)) {
		r.since = since
	}
	if g.nodes[i].Ref.Set != "" {
		return // the waiters of the set count
	}
	isCause := g.nodes[i].isCause
	if !isCause || r.cycle() {
		r.waiters++
	}
	if isCause {
		return
	}
	at, _ := slices.BinarySearchFunc(r.sample, i, func(a, b int) int { return compareRefs(g.nodes[a].Ref, g.nodes[b].Ref) })
	if at < maxSample {
		r.sample = slices.Insert(r.sample, at, i)
		r.sample = r.sample[:min(len(r.sample), maxSample)]
	}
}

// ownCause returns the root cause that the members of a component are themselves,
// or nil.
func (g *Graph) ownCause(members []int) *root {
	n := &g.nodes[members[0]]
	switch {
	case len(members) > 1:
		return &root{nodes: g.cycle(members)}
	case len(n.out) == 0 && (n.State != Ready || len(n.in) > 0):
		return &root{nodes: []int{members[0]}}
	}
	return nil
}

// cycle returns a shortest cycle in a component, from the first name on.
func (g *Graph) cycle(members []int) []int {
	start := slices.MinFunc(members, func(a, b int) int { return compareRefs(g.nodes[a].Ref, g.nodes[b].Ref) })
	return g.path(start, func(i int) bool { return slices.Contains(g.nodes[i].out, start) })
}

// compareSeverity orders root causes: the one that is least likely to end by
// itself comes first.
func (g *Graph) compareSeverity(a, b *root) int {
	x, y := &g.nodes[a.nodes[0]], &g.nodes[b.nodes[0]]
	return cmp.Or(-cmp.Compare(oneIf(a.cycle()), oneIf(b.cycle())), x.State.Compare(y.State), compareRefs(x.Ref, y.Ref))
}
