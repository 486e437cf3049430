package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/checks"
)

// The text of a cycle is one line of a bounded length.
func TestCycleText(t *testing.T) {
	if got, want := CycleText([]checks.Ref{{Kind: "A", Name: "a"}, {Kind: "B", Name: "b"}, {Kind: "A", Name: "a"}}), "dependency cycle: A a -> B b -> A a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var large []checks.Ref
	for i := range 1000 {
		large = append(large, checks.Ref{Kind: "Database", Namespace: strings.Repeat("n", 63), Name: strings.Repeat("x", 200) + fmt.Sprint(i)})
	}
	if got := CycleText(append(large, large[0])); len(got) > 8192 || strings.Contains(got, "x21 ") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
