package why

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/text"
)

//go:embed page.html
var pageHTML embed.FS

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// page is the template of the page. html/template escapes every text.
var page = template.Must(template.ParseFS(pageHTML, "page.html"))

// ContentSecurityPolicy is the header under which the page works: it loads
// nothing, and only its own style and script apply.
var ContentSecurityPolicy = "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; style-src '" +
	hashOf(pageCSS) + "'; script-src '" + hashOf(pageJS) + "'"

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Refresh is how often a page that [Document.WriteLivePage] wrote asks for its
// successor.
const Refresh = 5 * time.Second

// WritePage writes the document as a page of HTML. The page is one file: it needs
// no other file and no network. A browser that runs scripts can search and filter it.
func (d *Document) WritePage(w io.Writer) error { return d.writePage(w, false) }

// WriteLivePage writes a page that replaces its content every five seconds, if
// the browser runs scripts. It asks for the address from which it was loaded.
func (d *Document) WriteLivePage(w io.Writer) error { return d.writePage(w, true) }

func (d *Document) writePage(w io.Writer, live bool) error {
	g := d.Graph()
	v := view{Document: d, Live: live, Refresh: Refresh.Milliseconds(), Drawing: g.draw(), CSS: template.CSS(pageCSS), JS: template.JS(pageJS)} //nolint:gosec // both are constants
	for i := range d.Causes {
		v.Causes = append(v.Causes, causeView{Cause: &d.Causes[i], g: g, at: d.At})
	}
	for i := range g.nodes {
		to := &v.Objects
		if g.nodes[i].alone() {
			to = &v.Healthy
		}
		*to = append(*to, objectView{Object: g.nodes[i].Object, n: &g.nodes[i], g: g, d: d, i: i})
	}
	var b bytes.Buffer // so that an error leaves no half page
	if err := page.Execute(&b, v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// view holds the data of the template.
type view struct {
	*Document
	Live    bool
	Refresh int64
	Drawing *drawing
	Causes  []causeView
	Objects []objectView
	Healthy []objectView // ready, and no object waits for them
	CSS     template.CSS
	JS      template.JS
}

// Clock returns the time of the document.
func (v view) Clock() string { return v.At.UTC().Format("2006-01-02 15:04:05 UTC") }

// Every returns how often a live page refreshes.
func (v view) Every() string { return Refresh.String() }

// causeView is a root cause on the page.
type causeView struct {
	*Cause
	g  *Graph
	at time.Time
}

func (c causeView) Problem() string { return c.problem() }
func (c causeView) Age() string     { return ageOf(c.Since, c.at) }
func (c causeView) Class() string {
	if c.Cycle() {
		return "bad"
	}
	return classOf(c.State)
}

// ID returns the anchor of the first object of the cause.
func (c causeView) ID() string { return anchor(c.Objects[0]) }

// Links returns the objects of the cause that the page describes.
func (c causeView) Links() []link { return c.g.links(c.Objects) }

// Waiting returns the sample of the waiters.
func (c causeView) Waiting() []link { return c.g.links(c.Sample) }

// link is the name of an object, and the place that describes it.
type link struct {
	Name string
	ID   string // the anchor; empty: the page does not describe the object
}

func (g *Graph) links(refs []checks.Ref) []link {
	var all []link
	for _, ref := range refs {
		l := link{Name: ref.String()}
		if _, ok := g.at[key(ref)]; ok {
			l.ID = anchor(ref)
		}
		all = append(all, l)
	}
	return all
}

// anchor returns the place on a page that describes an object. It names the object,
// so that it is the same on the next page. An URL has it without an escape.
func anchor(ref checks.Ref) string {
	ref = key(ref)
	b := []byte("o")
	for _, part := range []string{ref.Group, ref.Kind, ref.Namespace, ref.Name, ref.ID, ref.Set} {
		b = append(b, '~')
		for _, c := range []byte(part) {
			if c == '.' || c == '-' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
				b = append(b, c)
			} else {
				b = fmt.Appendf(b, "_%02x", c)
			}
		}
	}
	return string(b)
}

// objectView is an object on the page.
type objectView struct {
	*Object
	n *node
	g *Graph
	d *Document
	i int // the position in g
}

func (o objectView) ID() string      { return anchor(o.Ref) }
func (o objectView) Name() string    { return o.Ref.String() }
func (o objectView) Kind() string    { return o.kind() }
func (o objectView) Class() string   { return classOf(o.State) }
func (o objectView) Age() string     { return ageOf(o.Since, o.d.At) }
func (o objectView) Next() string    { return o.NextPass(o.d.At) }
func (o objectView) Awaited() []link { return o.g.links(o.WaitingFor) }

// RootID returns the anchor of the first object of the root cause; empty: there is none.
func (o objectView) RootID() string {
	if o.n.cause == nil {
		return ""
	}
	return anchor(o.g.nodes[o.n.cause.nodes[0]].Ref)
}

// Events returns the command that shows the events of the object. It is empty if
// the object has none, or no kind and name of Kubernetes.
func (o objectView) Events() string {
	if o.State == Missing {
		return ""
	}
	return command("kubectl", "events", "-n", cmp.Or(o.Ref.Namespace, "default"), "--for", o.Kind()+"/"+o.Ref.Name)
}

// Root returns the text about the root cause; empty: the object is one, or has
// none.
func (o objectView) Root() string {
	if o.n.cause == nil || !o.n.cause.cycle() && o.n.cause.nodes[0] == o.i {
		return ""
	}
	c := o.g.cause(o.n.cause)
	return c.problem()
}

// Timeline returns the passes of the object.
func (o objectView) Timeline() []passView {
	var all []passView
	for i := range o.Passes {
		all = append(all, passView{&o.Passes[i], o.d.At})
	}
	return all
}

// Flow returns the flow of the object's reconciler.
func (o objectView) Flow() string {
	for _, f := range o.d.Flows {
		if f.Name == o.Reconciler {
			return f.Text
		}
	}
	return ""
}

// passView is a pass on the page.
type passView struct {
	*flow.Explanation
	now time.Time
}

func (p passView) Class() string    { return classOf(State(p.State)) }
func (p passView) Ago() string      { return ageOf(p.At, p.now) }
func (p passView) DateTime() string { return p.At.UTC().Format(time.RFC3339) }

// Clock returns the start of the pass.
func (p passView) Clock() string { return p.At.UTC().Format("15:04:05") }

// Ended says how the pass ended.
func (p passView) Ended() string {
	s := p.State
	if p.Link != "" {
		s += " by " + p.Link
	}
	s = text.Join(s, p.Reason)
	if p.Elapsed > 0 {
		s += " (" + p.Elapsed.Round(time.Microsecond).String() + ")"
	}
	return s
}

// stepView is a step of a pass as a bar.
type stepView struct {
	flow.Step
	Stops   bool
	Percent int // of the longest step
}

// Why returns the texts of the step.
func (s stepView) Why() string { return text.Join(s.Reason, s.Message, s.Error) }

// Took returns the duration without that of inner steps.
func (s stepView) Took() string { return s.Own.Round(time.Microsecond).String() }

// Bars returns the steps with links, and the operations.
func (p passView) Bars() []stepView {
	operations := []string{flow.PointOwner, flow.PointGet, flow.PointApply, flow.PointDelete}
	longest := time.Duration(1)
	for _, s := range p.Steps {
		longest = max(longest, s.Own)
	}
	var all []stepView
	for _, s := range p.Steps {
		stops := s.Point == p.Point && s.Link == p.Link && s.Verdict != "proceed"
		if s.Link == "" && !stops && !slices.Contains(operations, s.Point) {
			continue
		}
		all = append(all, stepView{s, stops, int(100 * s.Own / longest)})
	}
	return all
}
