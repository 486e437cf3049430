package flow

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/text"
)

// section is a printed point of the flow. Its steps are the names of its links,
// and then its operation. Its rules are those of its tables.
type section struct {
	point string
	steps []string
	rules []string
}

func sectionOf(point string, links []chain.Link) section {
	p := section{point: point}
	for _, l := range links {
		p.steps = append(p.steps, l.String())
		rules, _ := l.Tag.(linktag.Rules)
		p.rules = append(p.rules, rules...)
	}
	return p
}

func (p section) with(operation string, given bool) section {
	if given {
		p.steps = append(p.steps, "["+operation+"]")
	}
	return p
}

// plan returns the points in the order in which they run: the points of every
// pass, and then the points of an applying and of a deleting pass.
func (r *Reconciler[T]) plan() (both, applying, deleting []section, errors section) {
	e, o := &r.ext, &r.ops
	get := sectionOf(PointGet, e.Get.Links()).with("get", o.Get != nil)
	both = []section{
		sectionOf(PointPass, e.Pass.Links()),
		sectionOf(PointEntryCheck, e.EntryCheck.Links()),
		sectionOf(PointOwner, nil).with("resolve", o.Owner != nil),
	}
	applying = []section{
		sectionOf(PointOwnerCheck, e.OwnerCheck.Links()),
		sectionOf(PointGetCheck, e.GetCheck.Links()),
		get,
		sectionOf(PointPreCheck, e.PreCheck.Links()),
		sectionOf(PointApply, e.Apply.Links()).with("apply", true),
		sectionOf(PointPostCheck, e.PostCheck.Links()),
	}
	if links := e.DeleteCheck.Links(); r.early == len(links) {
		deleting = append(deleting, sectionOf(PointDeleteCheck, links))
	} else {
		if r.early > 0 {
			deleting = append(deleting, sectionOf(PointDeleteCheck, links[:r.early]))
		}
		deleting = append(deleting, get, sectionOf(PointDeleteCheck, links[r.early:]))
	}
	deleting = append(deleting,
		sectionOf(PointDelete, e.Delete.Links()).with("delete", o.Delete != nil))
	return both, applying, deleting, sectionOf(PointClassify, e.Classify.Links()).with("default", true)
}

// String returns the whole flow, point by point and link by link, in the order
// in which they run. It lists Get once, although Get also runs before PostCheck.
// The rules of your tables follow the links of Classify, each with its verdict.
// An operation is in brackets. A point without links and without an operation
// shows "-".
func (r *Reconciler[T]) String() string {
	both, applying, deleting, errors := r.plan()
	var b strings.Builder
	lines := func(title string, sections ...section) {
		b.WriteString(title + "\n")
		for _, p := range sections {
			fmt.Fprintf(&b, "  %-11s  %s\n", p.point, cmp.Or(strings.Join(p.steps, " -> "), "-"))
			for _, rule := range p.rules {
				fmt.Fprintf(&b, "  %-11s  %s\n", "", "  "+rule)
			}
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

// Mermaid returns the whole flow as a Mermaid flowchart. It leaves out points
// without links and without an operation.
func (r *Reconciler[T]) Mermaid() string {
	both, applying, deleting, errors := r.plan()
	d := drawing{}
	d.line("flowchart TD")
	d.line(`  begin(["%s"])`, r.name)
	from := d.sections("begin -->", both...)
	if r.ops.Deleting != nil {
		d.line(`  deleting{"being deleted?"}`)
		d.line("  " + from + " deleting")
		d.line(`  gone(["Gone"])`)
		d.line("  " + d.sections("deleting -->|yes|", deleting...) + " gone")
		from = "deleting -->|no|"
	}
	from = d.sections(from, applying...)
	d.line(`  ready(["Ready"])`)
	d.line("  " + from + " ready")
	d.line(`  error(["an error of any point"])`)
	d.sections("error -->", errors)
	return d.b.String()
}

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

// sections draws sections. from is the start of the edge to the first section. It returns the start
// of an edge from the last one.
func (d *drawing) sections(from string, sections ...section) string {
	for _, p := range sections {
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
