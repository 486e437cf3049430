package component_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/manifests"
)

// TestTelemetry verifies that the observer of a reconciler sees the links of its
// sets, waves and changed dependents, and no link of a dependent in sync.
func TestTelemetry(t *testing.T) {
	l := newLarge(t, 4)
	var seen []string
	log := funcr.New(func(_, args string) {
		var at [3]string
		for i, key := range []string{`"point"="`, `"link"="`, `"verdict"="`} {
			_, text, _ := strings.Cut(args, key)
			at[i], _, _ = strings.Cut(text, `"`)
		}
		if slices.Contains([]string{"Set", "Wave", "Dependent"}, at[0]) && at[2] != "" {
			seen = append(seen, strings.Join(at[:], " "))
		}
	}, funcr.Options{Verbosity: 2})
	pass := func(want ...string) {
		t.Helper()
		seen = nil
		l.passIn(t, logr.NewContext(t.Context(), log))
		slices.Sort(seen)
		same(t, want, slices.Compact(seen), "it differs")
	}
	sets := []string{
		"Set Inventory proceed", "Set Recover proceed", "Set Redundant proceed",
		"Wave Look proceed", "Wave Namespaces proceed", "Wave Preflight proceed", "Wave Recover proceed",
	}
	pass(sets...)
	if err := l.manager.client.Delete(t.Context(), l.objects[1]); err != nil {
		t.Fatal(err)
	}
	pass(append([]string{
		"Dependent Adopt proceed", "Dependent Create proceed", "Dependent DryRun proceed", "Dependent InSync proceed", "Dependent Read proceed",
		"Dependent Ready proceed", "Dependent Recover proceed", "Dependent Terminating proceed",
	}, sets...)...)
}

// TestTable compares the table of the page with the links of a component. Links
// that only read, recover or carry settings have no row.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/from-component-operator-runtime.md")
	must(t, err)
	_, section, found := strings.Cut(string(text), "\n## The links of a component\n")
	if !found {
		t.Fatal("the page has no section about the links")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for _, name := range regexp.MustCompile("`([A-Z][A-Za-z]+)`").FindAllStringSubmatch(section, -1) {
		listed = append(listed, name[1])
	}
	var want []string
	for _, link := range regexp.MustCompile("[A-Z][A-Za-z]+").FindAllString(component.New[*Shop](name, manifests.GeneratorFunc[*ShopSpec](nil)).String(), -1) {
		if !slices.Contains([]string{"Recover", "Read", "ReadLive"}, link) {
			want = append(want, link)
		}
	}
	for _, all := range []*[]string{&want, &listed} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}
	same(t, want, listed, "the table of the page")
}
