package flow

import (
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
)

// place is a point of the flow as it is printed: its links, and the operation at its end.
type place struct {
	point     string
	links     []chain.Link
	operation string // empty: there is none
}

// plan is the flow in the order in which it runs: what both kinds of pass have in common, then each of them.
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
	deleting = []place{
		{PointDeleteCheck, e.DeleteCheck.Links(), ""},
		{PointDelete, e.Delete.Links(), op(r.ops.Delete != nil, "delete")},
	}
	return both, applying, deleting, place{PointClassify, e.Classify.Links(), "[default]"}
}

// steps are the names of what a place consists of, in order.
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

// String prints the whole flow, point by point and link by link, in the order in which it runs. What stands in brackets
// is an operation, "-" is a point at which nothing happens.
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

// Mermaid draws the whole flow as a Mermaid flowchart, for a page that renders such. Points at which nothing happens are
// left out.
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

// drawing is a Mermaid flowchart that grows.
type drawing struct {
	b strings.Builder
	n int
}

// line writes a line. Its texts must not end a Mermaid string.
func (d *drawing) line(depth int, format string, texts ...any) {
	for i, t := range texts {
		if s, ok := t.(string); ok {
			texts[i] = strings.NewReplacer("#", "#35;", `"`, "#quot;", "`", "#96;", "<", "#lt;", ">", "#gt;", "\n", " ", "\r", " ").Replace(s)
		}
	}
	fmt.Fprintf(&d.b, strings.Repeat("  ", depth)+format+"\n", texts...)
}

// places draws places behind the node last, and gives the node that is then the last. label is that of the first edge.
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
