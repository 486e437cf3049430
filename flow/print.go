package flow

import (
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
)

// place is a point of the flow for printing: its links, and the operation inside them.
type place struct {
	point     string
	links     []chain.Link
	operation string // empty: there is none
}

// plan returns the flow in the order in which it runs: first the points that both kinds of pass share,
// then the points of each kind.
func (r *Reconciler[T]) plan() (both, applying, deleting []place, errors place) {
	op := func(given bool, name string) string {
		if !given {
			return ""
		}
		return "[" + name + "]"
	}
	e := &r.ext
	both = []place{
		{PointPass, e.Pass.Links(), ""},
		{PointOwner, nil, op(r.ops.Owner != nil, "resolve")},
	}
	applying = []place{
		{PointOwnerCheck, e.OwnerCheck.Links(), ""},
		{PointGet, e.Get.Links(), op(r.ops.Get != nil, "get")},
		{PointPreCheck, e.PreCheck.Links(), ""},
		{PointApply, e.Apply.Links(), op(true, "apply")},
		{PointPostCheck, e.PostCheck.Links(), ""},
	}
	if r.deleteGets {
		deleting = append(deleting, place{PointGet, e.Get.Links(), op(r.ops.Get != nil, "get")})
	}
	deleting = append(deleting, []place{
		{PointDeleteCheck, e.DeleteCheck.Links(), ""},
		{PointDelete, e.Delete.Links(), op(r.ops.Delete != nil, "delete")},
	}...)
	return both, applying, deleting, place{PointClassify, e.Classify.Links(), "[default]"}
}

// steps returns the names of a place's links and operation, in order.
func (p place) steps() []string {
	names := make([]string, 0, len(p.links)+1)
	for i := range p.links {
		names = append(names, p.links[i].String())
	}
	if p.operation != "" {
		names = append(names, p.operation)
	}
	return names
}

// String prints the whole flow, point by point and link by link, in the order in which it runs. An
// operation is in brackets. A point without links and without an operation shows "-".
func (r *Reconciler[T]) String() string {
	both, applying, deleting, errors := r.plan()
	var b strings.Builder
	lines := func(title string, places ...place) {
		b.WriteString(title + "\n")
		for _, p := range places {
			steps := "-"
			if names := p.steps(); len(names) > 0 {
				steps = strings.Join(names, " -> ")
			}
			fmt.Fprintf(&b, "  %-11s  %s\n", p.point, steps)
		}
	}
	lines(r.name, append(both, applying...)...)
	b.WriteString("  Ready\n")
	if r.ops.Deleting != nil {
		lines(r.name+", being deleted: from Owner on", deleting...)
		b.WriteString("  Gone\n")
	}
	lines("errors of every point", errors)
	return b.String()
}

// Mermaid draws the whole flow as a Mermaid flowchart. It leaves out points without links and without
// an operation.
func (r *Reconciler[T]) Mermaid() string {
	both, applying, deleting, errors := r.plan()
	d := drawing{}
	d.line(0, "flowchart TD")
	d.line(1, `begin(["%s"])`, r.name)
	last := d.places("begin", "", both)
	if r.ops.Deleting != nil {
		d.line(1, `deleting{"being deleted?"}`)
		d.line(1, "%s --> deleting", last)
		d.line(1, `gone(["Gone"])`)
		d.line(1, "%s --> gone", d.places("deleting", "yes", deleting))
		last = d.places("deleting", "no", applying)
	} else {
		last = d.places(last, "", applying)
	}
	d.line(1, `ready(["Ready"])`)
	d.line(1, "%s --> ready", last)
	d.line(1, `error(["an error of any point"])`)
	d.places("error", "", []place{errors})
	return d.b.String()
}

// drawing builds a Mermaid flowchart.
type drawing struct {
	b strings.Builder
	n int
}

// line writes one line. It escapes the characters of texts that would end a Mermaid string.
func (d *drawing) line(depth int, format string, texts ...any) {
	for i, t := range texts {
		if s, ok := t.(string); ok {
			texts[i] = strings.NewReplacer("#", "#35;", `"`, "#quot;", "`", "#96;", "<", "#lt;", ">", "#gt;", "\n", " ", "\r", " ").Replace(s)
		}
	}
	fmt.Fprintf(&d.b, strings.Repeat("  ", depth)+format+"\n", texts...)
}

// places draws places after the node last, and returns the new last node. label is the label of the
// first edge.
func (d *drawing) places(last, label string, places []place) string {
	for _, p := range places {
		names := p.steps()
		if len(names) == 0 {
			continue
		}
		first := d.n
		d.line(1, `subgraph p%d ["%s"]`, first, p.point)
		for i, name := range names {
			d.line(2, `n%d["%s"]`, d.n, name)
			if i > 0 {
				d.line(2, "n%d --> n%d", d.n-1, d.n)
			}
			d.n++
		}
		d.line(1, "end")
		edge := ""
		if label != "" {
			edge, label = "|"+label+"|", ""
		}
		d.line(1, "%s -->%s n%d", last, edge, first)
		last = fmt.Sprintf("n%d", d.n-1)
	}
	return last
}
