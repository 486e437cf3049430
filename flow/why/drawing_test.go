package why_test

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// graphOf reads "a>b,c b c": a waits for b and c. Each object is older than the next
// one, and has a reason of its own.
func graphOf(s string) (all []why.Object) {
	for i, word := range strings.Fields(s) {
		of, awaited, blocked := strings.Cut(word, ">")
		o := why.Object{Ref: checks.Ref{Kind: "N", Name: of}, State: why.Missing, Reason: of, Since: noon.Add(time.Duration(i) * time.Second)}
		if blocked {
			o.State = why.Blocked
			for name := range strings.SplitSeq(awaited, ",") {
				o.WaitingFor = append(o.WaitingFor, checks.Ref{Kind: "N", Name: name})
			}
		}
		all = append(all, o)
	}
	return all
}

var drawn = regexp.MustCompile(`<a href="#o~~N~~(\w+)~~".*translate\((\d+) (\d+)\)`)

// The boxes of a drawing are in the order of the root causes. Each is to the left of
// the awaited objects, and in its column in the order of their mean position.
func TestDrawing(t *testing.T) {
	cases := map[string]struct{ reason, graph, order, columns string }{
		"Chain":  {"a column for each step", "a>b b>c c", "c a b", "a | b | c"},
		"Long":   {"the greatest number of steps counts", "a>c,b b>c c d>a", "c a b d", "d | a | b | c"},
		"Causes": {"the oldest cause comes first, and then its waiters do", "w>d y>c x>d c d", "d c w x y", "w x y | d c"},
		"Mean":   {"three awaited objects have the same mean as the one in the middle", "b a c x>a y>a,b,c z>a", "b a c x y z", "x y z | b a c"},
		"Cycle":  {"its objects share a column, and do not count for their mean", "p q r z>q x>r,y y>x", "p q r x y z", "y z x | p q r"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := (&why.Document{Objects: graphOf(tc.graph)}).WritePage(&b); err != nil {
				t.Fatal(err)
			}
			var order, columns []string
			at := map[int]map[int]string{} // the name at x and y
			for _, m := range drawn.FindAllStringSubmatch(b.String(), -1) {
				x, _ := strconv.Atoi(m[2])
				y, _ := strconv.Atoi(m[3])
				if at[x] == nil {
					at[x] = map[int]string{}
				}
				order, at[x][y] = append(order, m[1]), m[1]
			}
			for _, x := range slices.Sorted(maps.Keys(at)) {
				var column []string
				for _, y := range slices.Sorted(maps.Keys(at[x])) {
					column = append(column, at[x][y])
				}
				columns = append(columns, strings.Join(column, " "))
			}
			got := fmt.Sprint(strings.Join(order, " "), ": ", strings.Join(columns, " | "))
			if diff := cmp.Diff(tc.order+": "+tc.columns, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
