package snapshot

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// maxLines is the maximum number of listed differences.
const maxLines = 20

// Diff returns a line for each difference between s and now, such as
// "Spec.Nodes: was 3, is 4". It returns "" for equal values.
func (s Snapshot) Diff(now any) string {
	was := s.root
	if was == nil {
		was = &node{}
	}
	lines := differ{}.diff(was, Of(now).root, 0)
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], ".: ")
	}
	if more := len(lines) - maxLines; more > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// differ has the pairs of nodes that were compared, which ends cycles.
type differ map[[2]*node]bool

// diff returns a line for each difference, such as ".Spec.Nodes: was 3, is 4".
func (d differ) diff(was, now *node, depth int) []string {
	if was.typ != now.typ || was.null != now.null {
		return changed(was, now)
	}
	if was.skip || now.skip || depth > maxDepth {
		return nil
	}
	if len(was.children) > 0 {
		pair := [2]*node{was, now}
		if d[pair] {
			return nil
		}
		d[pair] = true
	}
	if was.typ == timeType {
		if was.text != now.text || len(d.fields(was, now, depth+1)) > 0 {
			return changed(was, now)
		}
		return nil
	}
	if was.text != now.text || was.id != now.id {
		return changed(was, now)
	}
	if was.typ == nil || len(was.children)+len(now.children) == 0 {
		return nil
	}
	switch was.typ.Kind() {
	case reflect.Struct:
		return d.fields(was, now, depth+1)
	case reflect.Slice, reflect.Array:
		return d.elements(was, now, depth+1)
	case reflect.Map:
		return d.entries(was, now, depth+1)
	}
	return d.diff(was.children[0], now.children[0], depth+1) // of a pointer or an interface
}

func changed(was, now *node) []string {
	before, after := Snapshot{was}.String(), Snapshot{now}.String()
	if was.typ != now.typ && was.typ != nil && now.typ != nil {
		before, after = was.typ.String()+"("+before+")", now.typ.String()+"("+after+")"
	}
	if before == after { // channels, functions, texts that are cut
		after = "another one"
	}
	return []string{fmt.Sprintf(": was %s, is %s", before, after)}
}

func (d differ) fields(was, now *node, depth int) (lines []string) {
	for i, child := range was.children {
		if inside := d.diff(child, now.children[i], depth); len(inside) > 0 {
			lines = append(lines, in("."+was.typ.Field(i).Name, inside)...)
		}
	}
	return lines
}

func (d differ) elements(was, now *node, depth int) (lines []string) {
	for i := range max(len(was.children), len(now.children)) {
		step := "[" + strconv.Itoa(i) + "]"
		switch {
		case i >= len(now.children):
			lines = append(lines, gone(step, was.children[i]))
		case i >= len(was.children):
			lines = append(lines, added(step, now.children[i]))
		default:
			lines = append(lines, in(step, d.diff(was.children[i], now.children[i], depth))...)
		}
	}
	return lines
}

func (d differ) entries(was, now *node, depth int) (lines []string) {
	i, j := 0, 0
	for i < len(was.names) || j < len(now.names) {
		switch {
		case j == len(now.names) || i < len(was.names) && was.names[i] < now.names[j]:
			lines = append(lines, gone("["+was.names[i]+"]", was.children[i]))
			i++
		case i == len(was.names) || now.names[j] < was.names[i]:
			lines = append(lines, added("["+now.names[j]+"]", now.children[j]))
			j++
		default:
			lines = append(lines, in("["+was.names[i]+"]", d.diff(was.children[i], now.children[j], depth))...)
			i++
			j++
		}
	}
	return lines
}

// in puts a step of the path before the differences of a child.
func in(step string, lines []string) []string {
	for i := range lines {
		lines[i] = step + lines[i]
	}
	return lines
}

func gone(step string, n *node) string  { return step + ": was " + Snapshot{n}.String() + ", is gone" }
func added(step string, n *node) string { return step + ": is new: " + Snapshot{n}.String() }
