package dependents_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The drawing of the links in doc.go has the links of both chains, in their order.
func TestDrawing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, drawing, _ := strings.Cut(string(text), "//	Apply: one object           Delete: one object\n")
	drawing, _, _ = strings.Cut(drawing, "//\n")
	var applies, deletes []string
	for _, m := range regexp.MustCompile(`(?m)^//\t(?:└ | +└ |)(\w+)(?: {2,}(?:└ )?(\w+))?$`).FindAllStringSubmatch(drawing, -1) {
		applies = append(applies, m[1])
		if m[2] != "" {
			deletes = append(deletes, m[2])
		}
	}
	// The line of the end, which is no link.
	if m := regexp.MustCompile(`(?m)^//\t +└ (\w+) +└ the DELETE$`).FindStringSubmatch(drawing); m != nil {
		applies = append(applies[:len(deletes)], append([]string{m[1]}, applies[len(deletes):]...)...)
	}
	var links []string
	for _, l := range w.ApplyChain().Links() {
		links = append(links, l.Name)
	}
	if diff := cmp.Diff(links, applies); diff != "" {
		t.Errorf("apply (-chain +doc):\n%s", diff)
	}
	links = nil
	for _, l := range w.DeleteChain().Links() {
		links = append(links, l.Name)
	}
	if diff := cmp.Diff(links, deletes); diff != "" {
		t.Errorf("delete (-chain +doc):\n%s", diff)
	}
}
