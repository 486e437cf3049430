package component_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/manifests"
)

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
	links, err := component.New[*Shop](name, manifests.GeneratorFunc[*ShopSpec](nil)).Links(fakeCluster{fake.NewClientBuilder().WithScheme(scheme).Build()})
	must(t, err)
	var want []string
	for _, link := range links {
		link, _, _ = strings.Cut(link, "(")
		if !slices.Contains([]string{"Recover", "Component", "Read", "ReadLive"}, link) {
			want = append(want, link)
		}
	}
	for _, all := range []*[]string{&want, &listed} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}
	same(t, want, listed, "the table of the page")
}

type fakeCluster struct{ client.Client }

func (c fakeCluster) GetClient() client.Client    { return c.Client }
func (c fakeCluster) GetAPIReader() client.Reader { return c.Client }
