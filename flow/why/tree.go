package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/text"
)

// The bounds of a tree.
const (
	maxLines    = 60
	maxChildren = 5 // of one object
	maxLine     = 400
)

// Tree returns the waits of an object as lines of text, down to the root
// causes, which are marked:
//
//	AgentPool apps/batch  blocked for 2m30s by ReferenceReady(network): ReferenceNotFound
//	└─ Subnet apps/batch  is missing  <- root cause: create it, or correct the reference
//
// now is the present time, for the ages. The tree is bounded: it expands an
// object once. It is empty if the graph
// does not have the object.
func (g *Graph) Tree(ref checks.Ref, now time.Time) string {
	i, ok := g.at[key(ref)]
	if !ok {
		return ""
	}
	t := tree{g: g, now: now, above: map[int]bool{}, shown: map[int]bool{}}
	t.add(i, "", "")
	if t.lines > maxLines {
		t.b.WriteString("and more\n")
	}
	return t.b.String()
}

// tree is a tree that is being printed.
type tree struct {
	g     *Graph
	now   time.Time
	b     strings.Builder
	lines int
	above map[int]bool // the objects between the first line and this one
	shown map[int]bool
}

// add prints a node and its awaited objects. first precedes its line, and rest
// precedes the lines below.
func (t *tree) add(i int, first, rest string) {
	t.lines++
	if t.lines > maxLines {
		return
	}
	n := &t.g.nodes[i]
	o := n.safe()
	mark := ""
	again := t.shown[i]
	switch {
	case t.above[i]:
		mark = "  <- dependency cycle: remove one of the references"
	case again && len(n.out) > 0:
		mark = "  (see above)"
	case n.isCause && !n.cause.cycle():
		c := t.g.cause(n.cause)
		mark = "  <- root cause: " + c.Advice()
	}
	t.b.WriteString(first + text.Line(o.Ref.String()+"  "+o.describe(t.now), maxLine-len(mark)) + mark + "\n")
	if again {
		return
	}
	t.shown[i], t.above[i] = true, true
	defer delete(t.above, i)
	awaited := t.g.awaited(i)
	for k, to := range awaited {
		last := k == len(awaited)-1
		if k == maxChildren && !last {
			fmt.Fprintf(&t.b, "%s└─ and %s more\n", rest, text.Thousands(len(awaited)-k))
			t.lines++
			return
		}
		if last {
			t.add(to, rest+"└─ ", rest+"   ")
		} else {
			t.add(to, rest+"├─ ", rest+"│  ")
		}
	}
}

// awaited returns the awaited objects of a node. Those that lead to the first root
// cause come first.
func (g *Graph) awaited(i int) []int {
	n := &g.nodes[i]
	return slices.SortedStableFunc(slices.Values(n.out), func(a, b int) int { return g.compareAwaited(n, a, b) })
}

func (g *Graph) compareAwaited(of *node, a, b int) int {
	return cmp.Compare(oneIf(g.nodes[a].cause != of.cause), oneIf(g.nodes[b].cause != of.cause))
}

// describe says what an object waits for or suffers from, without its name.
func (o *Object) describe(now time.Time) string {
	s := o.State.verb()
	if o.State == Blocked {
		s = "blocked"
	}
	if age := ageOf(o.Since, now); age != "" {
		s += " for " + age
	}
	if o.State == Blocked && o.Link != "" {
		s += " by " + o.Link
	}
	if why := text.Join(o.Reason, o.Message); why != "" {
		s += ": " + why
	}
	return s
}

// ageOf returns the time since t, rounded for people; empty: unknown.
func ageOf(t, now time.Time) string {
	d := now.Sub(t)
	if t.IsZero() || d < 0 {
		return ""
	}
	return text.Duration(d)
}
