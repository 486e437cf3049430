package flow

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/text"
)

// place is a point of the flow for printing. Its steps are the names of its
// links, and then its operation.
type place struct {
	point string
	steps []string
}

// placeAt returns a point with its links.
func placeAt(point string, links []chain.Link) place {
	p := place{point: point}
	for _, l := range links {
		p.steps = append(p.steps, l.String())
	}
	return p
}

// with returns p with its operation, if it is given.
func (p place) with(operation string, given bool) place {
	if given {
		p.steps = append(p.steps, "["+operation+"]")
	}
	return p
}

// plan returns the flow in the order in which it runs: first the points that
// both kinds of pass share, then the points of each kind.
func (r *Reconciler[T]) plan() (both, applying, deleting []place, errors place) {
	e, o := &r.ext, &r.ops
	get := placeAt(PointGet, e.Get.Links()).with("get", o.Get != nil)
	both = []place{
		placeAt(PointPass, e.Pass.Links()),
		placeAt(PointEntryCheck, e.EntryCheck.Links()),
		placeAt(PointOwner, nil).with("resolve", o.Owner != nil),
	}
	applying = []place{
		placeAt(PointOwnerCheck, e.OwnerCheck.Links()),
		get,
		placeAt(PointPreCheck, e.PreCheck.Links()),
		placeAt(PointApply, e.Apply.Links()).with("apply", true),
		placeAt(PointPostCheck, e.PostCheck.Links()),
	}
	if r.deleteGets {
		deleting = append(deleting, get)
	}
	deleting = append(deleting,
		placeAt(PointDeleteCheck, e.DeleteCheck.Links()),
		placeAt(PointDelete, e.Delete.Links()).with("delete", o.Delete != nil))
	return both, applying, deleting, placeAt(PointClassify, e.Classify.Links()).with("default", true)
}

// String prints the whole flow, point by point and link by link, in the order
// in which it runs. An operation is in brackets. A point without links and
// without an operation shows "-".
func (r *Reconciler[T]) String() string {
	both, applying, deleting, errors := r.plan()
	var b strings.Builder
	lines := func(title string, places ...place) {
		b.WriteString(title + "\n")
		for _, p := range places {
			fmt.Fprintf(&b, "  %-11s  %s\n", p.point, cmp.Or(strings.Join(p.steps, " -> "), "-"))
		}
	}
	name := text.Line(r.name, text.Name)
	lines(name, append(both, applying...)...)
	b.WriteString("  Ready\n")
	if r.ops.Deleting != nil {
		lines(name+", being deleted: from Owner on", deleting...)
		b.WriteString("  Gone\n")
	}
	lines("errors of every point", errors)
	return b.String()
}

// Mermaid draws the whole flow as a Mermaid flowchart. It leaves out points
// without links and without an operation.
func (r *Reconciler[T]) Mermaid() string {
	both, applying, deleting, errors := r.plan()
	d := drawing{}
	d.line("flowchart TD")
	d.line(`  begin(["%s"])`, r.name)
	from := d.places("begin -->", both...)
	if r.ops.Deleting != nil {
		d.line(`  deleting{"being deleted?"}`)
		d.line("  " + from + " deleting")
		d.line(`  gone(["Gone"])`)
		d.line("  " + d.places("deleting -->|yes|", deleting...) + " gone")
		from = "deleting -->|no|"
	}
	from = d.places(from, applying...)
	d.line(`  ready(["Ready"])`)
	d.line("  " + from + " ready")
	d.line(`  error(["an error of any point"])`)
	d.places("error -->", errors)
	return d.b.String()
}

// drawing builds a Mermaid flowchart.
type drawing struct {
	b strings.Builder
	n int // the number of nodes so far
}

// escaped replaces the characters that have a meaning in a Mermaid string.
var escaped = strings.NewReplacer("#", "#35;", `"`, "#quot;", "`", "#96;", "<", "#lt;", ">", "#gt;", "&", "#amp;", `\`, "#92;")

// line writes one line, and escapes the texts in it.
func (d *drawing) line(format string, texts ...any) {
	for i, t := range texts {
		if s, ok := t.(string); ok {
			texts[i] = escaped.Replace(text.Line(s, text.Name))
		}
	}
	fmt.Fprintf(&d.b, format+"\n", texts...)
}

// places draws places. from is the beginning of the edge to the first one. places returns the beginning
// of an edge from the last one.
func (d *drawing) places(from string, places ...place) string {
	for _, p := range places {
		if len(p.steps) == 0 {
			continue
		}
		d.line(`  subgraph p%d ["%s"]`, d.n, p.point)
		for i, name := range p.steps {
			d.line(`    n%d["%s"]`, d.n+i, name)
			if i > 0 {
				d.line("    n%d --> n%d", d.n+i-1, d.n+i)
			}
		}
		d.line("  end")
		d.line("  "+from+" n%d", d.n)
		d.n += len(p.steps)
		from = fmt.Sprintf("n%d -->", d.n-1)
	}
	return from
}
