package why

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/text"
)

// Version is the version of the JSON of a [Document]. A later version of this
// package may add fields to it. It gets another name if a field changes its
// meaning.
const Version = "v1"

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of a [Document].
func Schema() string { return schema }

// The bounds of a Document.
const (
	maxCauses  = 100
	maxObjects = 500
	maxTraced  = 100 // objects with passes
	maxPasses  = 10  // of one object
	maxSteps   = 100 // of one pass, and lines of a flow
	maxAwaited = 50  // of one object
	maxIndent  = 40  // spaces before a line of a flow
	maxBytes   = 16 << 20
)

// Document says why objects wait. [Schema] describes its JSON. Make it
// with [Graph.Document] or [Graph.DocumentOf], or read it with [Read].
type Document struct {
	Version string    `json:"version"` // see [Version]
	At      time.Time `json:"at"`      // the time of the document
	// Namespace is the namespace of the waiters; empty: all namespaces.
	Namespace string `json:"namespace,omitempty"`
	// Waiting is the number of objects that are not ready.
	Waiting int `json:"waiting"`
	// Unseen is the number of objects of unknown state: no pass over them has ended
	// since the start of the program, and their conditions do not say that they are
	// ready. The document lacks their waits, so other root causes are possible.
	Unseen int `json:"unseen,omitempty"`
	// Ready is the number of objects that are ready, and for which no object waits.
	// The handler of ctrlx counts those of all namespaces.
	Ready int `json:"ready,omitempty"`
	// Causes holds the root causes, the oldest first. OmittedCauses is the
	// number of those left out.
	Causes        []Cause `json:"causes"`
	OmittedCauses int     `json:"omittedCauses,omitempty"`
	// Objects holds the objects of the root causes, some of their waiters, the
	// objects between them, and then those of Ready that the graph has, by their
	// names. OmittedObjects is the number of those left out.
	Objects        []Object `json:"objects"`
	OmittedObjects int      `json:"omittedObjects,omitempty"`
	// Flows holds the flows of the reconcilers.
	Flows []Flow `json:"flows,omitempty"`
}

// Flow is the flow of a reconciler, as text and as a Mermaid flowchart
// ([flow.Reconciler.String], [flow.Reconciler.Mermaid]).
type Flow struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Mermaid string `json:"mermaid,omitempty"`
}

// Document returns the root causes of a graph, with a sample of their waiters.
// at is the time of the objects.
func (g *Graph) Document(at time.Time, flows ...Flow) Document { return g.DocumentIn("", at, flows...) }

// DocumentIn is [Graph.Document] for the objects of one namespace: the root
// causes that concern these objects, with the number, the age and a sample of
// these waiters only. Document.Namespace is the namespace. An empty namespace
// selects all objects.
func (g *Graph) DocumentIn(namespace string, at time.Time, flows ...Flow) Document {
	d := documentAt(at, flows)
	d.Namespace = namespace
	inside := func(i int) bool { return namespace == "" || g.nodes[i].Ref.Namespace == namespace }
	causes := g.causes
	if namespace != "" {
		causes = g.causesOf(inside)
	}
	var wanted []int
	for _, r := range causes[:min(len(causes), maxCauses)] {
		d.Causes = append(d.Causes, g.cause(r))
		wanted = append(wanted, r.nodes...)
	}
	for _, r := range causes[:len(d.Causes)] { // after all root causes, which count more
		for _, i := range r.sample {
			wanted = append(wanted, g.pathTo(r, i)...)
		}
	}
	d.OmittedCauses = len(causes) - len(d.Causes)
	concerned := map[int]struct{}{}
	for _, i := range wanted {
		concerned[i] = struct{}{}
	}
	var alone []int
	for i := range g.nodes {
		switch n := &g.nodes[i]; {
		case !inside(i):
		case n.alone():
			alone = append(alone, i)
		default:
			concerned[i] = struct{}{}
			if n.State != Ready {
				d.Waiting++
			}
		}
	}
	slices.SortFunc(alone, func(a, b int) int { return compareRefs(g.nodes[a].Ref, g.nodes[b].Ref) })
	d.Ready = len(alone)
	g.addObjects(&d, causes[:len(d.Causes)], append(wanted, alone...), len(concerned)+len(alone))
	return d
}

// causesOf returns the root causes of some nodes, as if these were their only
// waiters.
func (g *Graph) causesOf(inside func(int) bool) []*root {
	var causes []*root
	of := map[*root]*root{}
	for i := range g.nodes {
		n := &g.nodes[i]
		if n.cause == nil || !inside(i) {
			continue
		}
		r := of[n.cause]
		if r == nil {
			r = &root{nodes: n.cause.nodes}
			of[n.cause], causes = r, append(causes, r)
		}
		r.add(g, i)
	}
	slices.SortFunc(causes, g.compareCauses)
	return causes
}

// DocumentOf returns the waits of one object: the object, and the objects that it
// waits for, directly or not. Its root cause is the first of the causes. ok is
// false if the graph does not have the object.
func (g *Graph) DocumentOf(ref checks.Ref, at time.Time, flows ...Flow) (d Document, ok bool) {
	start, ok := g.at[key(ref)]
	if !ok {
		return Document{}, false
	}
	d = documentAt(at, flows)
	wanted, seen := []int{start}, map[int]bool{start: true}
	var causes []*root
	for k := 0; k < len(wanted); k++ {
		n := &g.nodes[wanted[k]]
		if n.State != Ready {
			d.Waiting++
		}
		if n.cause != nil && !slices.Contains(causes, n.cause) {
			causes = append(causes, n.cause)
		}
		for _, to := range g.awaited(wanted[k]) {
			if !seen[to] {
				seen[to] = true
				wanted = append(wanted, to)
			}
		}
	}
	for _, r := range causes[:min(len(causes), maxCauses)] {
		d.Causes = append(d.Causes, g.cause(r))
	}
	d.OmittedCauses = len(causes) - len(d.Causes)
	g.addObjects(&d, causes, wanted, len(wanted))
	return d, true
}

func documentAt(at time.Time, flows []Flow) Document {
	d := Document{Version: Version, At: at, Causes: []Cause{}, Objects: []Object{}}
	for _, f := range flows {
		d.Flows = append(d.Flows, f.safe())
	}
	return d
}

// addObjects adds the wanted nodes to d, each once. all is the number of nodes
// that could be added.
//
// An object that is left out is not among the awaited ones: a reader of the
// document would take it for one that reports no state, and so for a root cause.
// An object that would await no other one then awaits its root cause directly,
// for the same reason. So a document that is cut has the first objects of the causes.
func (g *Graph) addObjects(d *Document, causes []*root, wanted []int, all int) {
	if len(wanted) > maxObjects {
		for _, r := range causes[:min(len(causes), maxObjects)] {
			wanted = slices.Insert(wanted, 1, r.nodes[0])
		}
	}
	var added []int
	has := map[int]bool{}
	for _, i := range wanted {
		if !has[i] && len(added) < maxObjects {
			has[i] = true
			added = append(added, i)
		}
	}
	for _, i := range added {
		n := &g.nodes[i]
		o := *n.Object
		o.WaitingFor = slices.DeleteFunc(slices.Clone(o.WaitingFor), func(ref checks.Ref) bool {
			to := g.at[key(ref)]
			return !has[to] && (len(g.nodes[to].out) > 0 || g.nodes[to].State.rank() != Unknown.rank())
		})
		if len(o.WaitingFor) == 0 && len(n.out) > 0 && n.cause.nodes[0] != i && has[n.cause.nodes[0]] {
			o.WaitingFor = []checks.Ref{g.nodes[n.cause.nodes[0]].Ref}
		}
		slices.SortStableFunc(o.WaitingFor, func(a, b checks.Ref) int { return g.compareAwaited(n, g.at[key(a)], g.at[key(b)]) })
		if o = o.safe(); len(d.Objects) >= maxTraced {
			o.Passes = nil
		}
		d.Objects = append(d.Objects, o)
	}
	d.OmittedObjects = all - len(d.Objects)
}

// Graph returns the graph of the objects of a document. Objects that the document
// leaves out are not in it.
func (d *Document) Graph() *Graph { return New(d.Objects) }

// Read reads the JSON of a Document of at most 16 MB. The texts become safe to
// show. A root cause that names no object is left out. Read returns an error for
// another version.
func Read(r io.Reader) (d Document, err error) {
	limited := &io.LimitedReader{R: r, N: maxBytes + 1}
	err = json.NewDecoder(limited).Decode(&d)
	switch {
	case limited.N == 0:
		return Document{}, fmt.Errorf("why: the document is larger than %s bytes", text.Thousands(maxBytes))
	case err != nil:
		return Document{}, fmt.Errorf("why: the document cannot be read: %w", err)
	case d.Version != Version:
		return Document{}, fmt.Errorf("why: the document has the version %q, and this program reads %s: use a program of the same release", text.Line(d.Version, text.Word), Version)
	}
	d.Causes = slices.DeleteFunc(d.Causes, func(c Cause) bool { return len(c.Objects) == 0 }) // its methods would panic
	return d.safe(), nil
}

// safe returns d with texts that are safe to show.
func (d Document) safe() Document {
	d.Namespace = text.Line(d.Namespace, text.Name)
	for i := range d.Objects {
		o := &d.Objects[i]
		*o = o.safe()
	}
	for i := range d.Flows {
		d.Flows[i] = d.Flows[i].safe()
	}
	for i := range d.Causes {
		c := &d.Causes[i]
		c.State, c.Reason, c.Message = State(text.Line(string(c.State), text.Word)), text.Line(c.Reason, text.Name), text.Line(c.Message, text.Quote)
		c.Objects, c.Sample = safeRefs(c.Objects), safeRefs(c.Sample)
	}
	return d
}

// FlowOf returns the Flow of a reconciler.
func FlowOf(name string, f interface{ String() string }) Flow {
	out := Flow{Name: name, Text: f.String()}
	if m, ok := f.(interface{ Mermaid() string }); ok {
		out.Mermaid = m.Mermaid()
	}
	return out.safe()
}

// safe returns f with texts that are safe to show. Its texts keep their lines.
func (f Flow) safe() Flow {
	return Flow{text.Line(f.Name, text.Name), safeLines(f.Text), safeLines(f.Mermaid)}
}

func safeLines(s string) string {
	lines := strings.Split(s, "\n")
	if len(lines) > maxSteps {
		lines = append(lines[:maxSteps], "and more")
	}
	for i, l := range lines {
		indent := min(len(l)-len(strings.TrimLeft(l, " ")), maxIndent)
		lines[i] = l[:indent] + text.Line(l[indent:], maxLine)
	}
	return strings.Join(lines, "\n")
}
