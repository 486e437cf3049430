package why

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/windlass-go/windlass/internal/text"
)

// The measures of a drawing, in pixels.
const (
	boxWidth, boxHeight = 260, 66
	gapX, gapY          = 70, 14
	margin              = 12
	maxBoxes            = 200
	maxTitle            = 28 // runes of a name that fit into a box in the wide fonts; the page cuts wider text
)

// drawing is a graph of waits as boxes and arrows. Waiters are to the left of the
// objects that they wait for.
type drawing struct {
	Width, Height int
	Boxes         []box
	Arrows        []string // paths of SVG
	Omitted       int      // objects without a box
}

// box stands for one object, or for several of one kind that wait for the same
// objects for the same reason.
type box struct {
	X, Y, Width, Height int
	Kind, Title, Text   string // the lines
	Label               string // for screen readers and tooltips
	ID                  string // the anchor of the first object
	Class               string
	Cause               bool
	nodes               []int
	layer               int
}

// draw makes the drawing of a graph. Objects that are ready and that no object
// waits for have no box.
func (g *Graph) draw() *drawing {
	d := &drawing{}
	boxes, of := g.boxes()
	drawn := min(len(boxes), maxBoxes)
	for _, b := range boxes[drawn:] {
		d.Omitted += len(b.nodes)
	}
	boxes = boxes[:drawn]
	out := make([][]int, len(boxes)) // edges between boxes
	for i, b := range boxes {
		for _, to := range g.nodes[b.nodes[0]].out {
			if j := of[to]; j < len(boxes) {
				out[i] = append(out[i], j)
			}
		}
	}
	columns := g.layers(boxes, out)
	place(boxes, out, columns)
	for i := range boxes {
		b := &boxes[i]
		d.Width, d.Height = max(d.Width, b.X+boxWidth+margin), max(d.Height, b.Y+boxHeight+margin)
		for _, j := range out[i] {
			d.Arrows = append(d.Arrows, arrow(b, &boxes[j]))
		}
	}
	d.Boxes = boxes
	return d
}

// boxes returns a box for each object that waits or is awaited, the root causes
// first. Objects without waiters share a box if they are of one kind, and wait
// for the same objects for the same reason. of has the box of each awaited node.
func (g *Graph) boxes() (boxes []box, of map[int]int) {
	type likeness struct {
		kind, group   string
		state         State
		reason, waits string
	}
	of = map[int]int{}
	alike := map[likeness]int{}
	for _, i := range g.byCause() {
		n := &g.nodes[i]
		o := n.safe()
		if len(n.in) == 0 && len(n.out) > 0 {
			k := likeness{o.Ref.Kind, o.Ref.Group, o.State, o.Reason, fmt.Sprint(slices.Sorted(slices.Values(n.out)))}
			if b, ok := alike[k]; ok {
				boxes[b].nodes = append(boxes[b].nodes, i)
				continue
			}
			alike[k] = len(boxes)
		}
		of[i] = len(boxes)
		boxes = append(boxes, box{
			Width: boxWidth, Height: boxHeight, ID: anchor(o.Ref), Class: classOf(o.State), nodes: []int{i},
			Cause: n.isCause,
		})
	}
	for i := range boxes {
		b := &boxes[i]
		o := g.nodes[b.nodes[0]].safe()
		name := o.Ref
		name.Kind = "" // and with it the group
		b.Kind, b.Title, b.Text = o.kind(), name.String(), string(o.State)
		if n := len(b.nodes); n > 1 {
			b.Title = text.Thousands(n) + " objects"
			b.Label = text.Thousands(n) + " " + o.Ref.Kind + ", " + string(o.State)
		} else {
			b.Label = o.Ref.String() + " " + o.State.verb()
		}
		if o.Reason != "" {
			b.Text += ": " + o.Reason
		}
		if b.Cause {
			b.Label += ", root cause"
		}
		b.Title = shortened(b.Title)
	}
	return boxes, of
}

// shortened returns s with at most maxTitle runes. It keeps the end of a name,
// which tells objects apart.
func shortened(s string) string {
	r := []rune(s)
	if len(r) <= maxTitle {
		return s
	}
	return string(r[:maxTitle/2-1]) + "…" + string(r[len(r)-maxTitle/2:])
}

// byCause returns the nodes that wait or are awaited: the root causes in their
// order, and then the waiters of each.
func (g *Graph) byCause() (all []int) {
	waiters := map[*root][]int{}
	for i := range g.nodes {
		if n := &g.nodes[i]; n.cause != nil && !n.isCause {
			waiters[n.cause] = append(waiters[n.cause], i)
		}
	}
	for _, r := range g.causes {
		all = append(all, slices.Sorted(slices.Values(r.nodes))...)
	}
	for _, r := range g.causes {
		all = append(all, waiters[r]...)
	}
	return all
}

// layers sets the layer of each box: 0 for an object that waits for none, and
// otherwise one more than the greatest layer of the awaited objects. The objects
// of a cycle share a layer. It returns the boxes of each layer.
func (g *Graph) layers(boxes []box, out [][]int) (columns [][]int) {
	group := func(i int) int { return g.nodes[boxes[i].nodes[0]].group }
	order := make([]int, len(boxes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(group(a), group(b)) }) // the awaited groups come first
	layer := map[int]int{}                                                                      // of a group
	for _, i := range order {
		for _, j := range out[i] {
			if group(j) != group(i) {
				layer[group(i)] = max(layer[group(i)], layer[group(j)]+1)
			}
		}
	}
	for _, i := range order {
		b := &boxes[i]
		b.layer = layer[group(i)]
		for len(columns) <= b.layer {
			columns = append(columns, nil)
		}
		columns[b.layer] = append(columns[b.layer], i)
	}
	return columns
}

// place sets the position of each box. Within a column, boxes are in the order of
// the mean position of the objects that they wait for.
func place(boxes []box, out [][]int, columns [][]int) {
	for layer, column := range columns {
		mean := func(i int) int {
			sum, n := 0, 0
			for _, j := range out[i] {
				if boxes[j].layer < layer {
					sum += boxes[j].Y
					n++
				}
			}
			return sum / max(n, 1)
		}
		slices.SortFunc(column, func(a, b int) int { return cmp.Or(cmp.Compare(mean(a), mean(b)), cmp.Compare(a, b)) })
		for row, i := range column {
			boxes[i].X = margin + (len(columns)-1-layer)*(boxWidth+gapX)
			boxes[i].Y = margin + row*(boxHeight+gapY)
		}
	}
}

// arrow returns the path of an arrow from a waiter to an awaited object.
func arrow(from, to *box) string {
	x1, x2 := from.X+boxWidth, to.X
	mid := (x1 + x2) / 2
	if from.layer == to.layer { // of a cycle: an arc to the left of both
		x1, x2, mid = from.X, from.X, from.X-gapX/2
	}
	y1, y2 := from.Y+boxHeight/2, to.Y+boxHeight/2
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, mid, y1, mid, y2, x2, y2)
}

// classOf returns the CSS class of a state.
func classOf(s State) string {
	switch s {
	case Failed, Missing:
		return "bad"
	case InProgress, Deleting:
		return "busy"
	case Ready:
		return "good"
	}
	return "wait"
}
