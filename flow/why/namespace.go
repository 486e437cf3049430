package why

import (
	"slices"
	"time"
)

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
		anywhere := func(int) bool { return true }
		for _, i := range r.sample {
			wanted = append(wanted, g.path(i, anywhere, func(to int) bool { return slices.Contains(r.nodes, to) })...)
		}
	}
	d.OmittedCauses = len(causes) - len(d.Causes)
	concerned := map[int]bool{}
	for _, i := range wanted {
		concerned[i] = true
	}
	for i := range g.nodes {
		if !inside(i) {
			continue
		}
		if g.nodes[i].cause != nil {
			concerned[i] = true
		}
		if g.nodes[i].State != Ready {
			d.Waiting++
		}
	}
	g.addObjects(&d, wanted, len(concerned))
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
