package chaintest_test

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain/chaintest"
)

// TestLinks is the complete test in doc.go.
func TestLinks(t *testing.T) {
	clusters := rapid.Custom(func(t *rapid.T) *Cluster {
		return &Cluster{Name: rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), Nodes: rapid.IntRange(1, 9).Draw(t, "nodes")}
	})
	links := Links()

	chaintest.Laws(t, links, clusters, rapid.Make[Outcome](),
		chaintest.WithKeptResult("lock", "quota"),
		chaintest.WithExcuse("NextOnce", "retry", "retries once when the cloud is busy"),
	)
	chaintest.Order(t, links, "lock", "retry", "quota")
}

// doc.go contains TestLinks.
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	usage, err := os.ReadFile("usage_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(usage), "func TestLinks(")
	body, _, _ := strings.Cut(rest, "\n}\n")
	var want strings.Builder
	for line := range strings.Lines("func TestLinks(" + body + "\n}\n") {
		want.WriteString(strings.TrimRight("//\t"+line, " \t\n") + "\n")
	}
	if !strings.Contains(string(manual), want.String()) {
		t.Errorf("doc.go does not contain TestLinks as it is:\n%s", want.String())
	}
}
