package flow_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/text"
)

// All points are listed, with their links in order and the operations at the end.
// Example has a flow without a deletion.
func TestString(t *testing.T) {
	c := &cloud{}
	full := c.extensions()
	full.PreCheck = full.PreCheck.Append(returns[*checks.Request[*pool]]("gate", checks.Proceed(), nil))
	full.Classify = classify.Table{{Code: "X", Retry: classify.Fast}, {Name: "Quota", Status: 403, Retry: classify.Slow, After: time.Hour, KeepStatus: true}}.Chain().
		Append(classify.Table{{Message: classify.Contains("busy"), Retry: classify.Fast}}.Link())
	mustEqual(t, "all points", lines(
		"Pool",
		"  Pass         notePass",
		"  EntryCheck   noteEntryCheck",
		"  Owner        [resolve]",
		"  OwnerCheck   noteOwnerCheck",
		"  GetCheck     -",
		"  Get          noteGet -> [get]",
		"  PreCheck     notePreCheck -> gate",
		"  Apply        noteApply -> [apply]",
		"  PostCheck    notePostCheck",
		"  Ready",
		"Pool, being deleted: from Owner on",
		"  Get          noteGet -> [get]",
		"  DeleteCheck  noteDeleteCheck",
		"  Delete       noteDelete -> [delete]",
		"  Gone",
		"errors of every point",
		"  Classify     Table(2 rules) -> Table(1 rule) -> [default]",
		"                 X: fast",
		"                 Quota: slow after 1h0m0s, keeps the status",
		"                 message contains \"busy\": fast"), flow.New("Pool", c.operations(), full).String())
}

// The checks of a deletion that need no Get are listed before it.
func TestStringOfDeleteCheck(t *testing.T) {
	early, late := checks.Paused(func(*pool) bool { return false }), returns[*checks.Request[*pool]]("late", checks.Proceed(), nil)
	for want, links := range map[string]checks.Chain[*pool]{
		"  Get          [get]\n  DeleteCheck  late\n  Delete":                          chain.New(late),
		"Owner on\n  DeleteCheck  Paused\n  Delete":                                    chain.New(early),
		"Owner on\n  DeleteCheck  Paused\n  Get          [get]\n  DeleteCheck  late\n": chain.New(early, late),
	} {
		if got := flow.New("Pool", (&cloud{}).operations(), ext{DeleteCheck: links}).String(); !strings.Contains(got, want) {
			t.Errorf("the listing lacks\n%s\n\nin\n%s", want, got)
		}
	}
}

// A drawing has a pass that applies and a pass that deletes.
// ExampleReconciler_Mermaid has no deletion.
func TestMermaid(t *testing.T) {
	c := &cloud{}
	all := c.extensions()
	mustEqual(t, "both passes", lines(
		`flowchart TD`,
		`  begin(["Pool"])`,
		`  subgraph p0 ["Owner"]`,
		`    n0["[resolve]"]`,
		`  end`,
		`  begin --> n0`,
		`  deleting{"being deleted?"}`,
		`  n0 --> deleting`,
		`  gone(["Gone"])`,
		`  subgraph p1 ["Get"]`,
		`    n1["noteGet"]`,
		`    n2["[get]"]`,
		`    n1 --> n2`,
		`  end`,
		`  deleting -->|yes| n1`,
		`  subgraph p3 ["DeleteCheck"]`,
		`    n3["noteDeleteCheck"]`,
		`  end`,
		`  n2 --> n3`,
		`  subgraph p4 ["Delete"]`,
		`    n4["[delete]"]`,
		`  end`,
		`  n3 --> n4`,
		`  n4 --> gone`,
		`  subgraph p5 ["Get"]`,
		`    n5["noteGet"]`,
		`    n6["[get]"]`,
		`    n5 --> n6`,
		`  end`,
		`  deleting -->|no| n5`,
		`  subgraph p7 ["Apply"]`,
		`    n7["[apply]"]`,
		`  end`,
		`  n6 --> n7`,
		`  ready(["Ready"])`,
		`  n7 --> ready`,
		`  error(["an error of any point"])`,
		`  subgraph p8 ["Classify"]`,
		`    n8["[default]"]`,
		`  end`,
		`  error --> n8`), flow.New("Pool", c.operations(), ext{Get: all.Get, DeleteCheck: all.DeleteCheck}).Mermaid())
}

// The drawing escapes characters that end a text or start markup.
func TestMermaidEscapes(t *testing.T) {
	o := ops{Key: (&cloud{}).operations().Key, Apply: (&cloud{}).operations().Apply}
	drawing := flow.New("a#b\"c<d>e`f\r\ng&h\\n", o, ext{}).Mermaid()
	mustEqual(t, "the escapes of Mermaid", `  begin(["a#35;b#quot;c#lt;d#gt;e#96;f; g#amp;h#92;n"])`, strings.Split(drawing, "\n")[1])
}

// mermaidLine matches the lines that a drawing may have.
var mermaidLine = regexp.MustCompile(`^(flowchart TD|  +[a-z]+\d*(\[|\{|\(\[)"[^"<>\x60\r\n]*"(\]|\}|\]\))|  subgraph p\d+ \["[^"<>\x60\r\n]*"\]|  end| +[a-z]+\d* -->(\|(yes|no)\|)? [a-z]+\d*)$`)

// A long name is cut, to the byte.
func TestLongNames(t *testing.T) {
	name := strings.Repeat("x", text.Name+1)
	r := flow.New(name, (&cloud{}).operations(), ext{})
	first, _, _ := strings.Cut(r.String(), "\n")
	mustEqual(t, "in the list", text.Line(name, text.Name), first)
	mustEqual(t, "in the drawing", `  begin(["`+text.Line(name, text.Name)+`"])`, strings.Split(r.Mermaid(), "\n")[1])
}
