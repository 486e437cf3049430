package why_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
)

func pageOf(t *testing.T, objects []why.Object, flows ...why.Flow) string {
	t.Helper()
	d := why.New(objects).Document(noon, flows...)
	var b bytes.Buffer
	if err := d.WritePage(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	linkTo = regexp.MustCompile(`href="#([^"]*)"`)
	anchor = regexp.MustCompile(` id="([^"]*)"`)
	inline = regexp.MustCompile(`(?s)<style>.*</style>`)
)

// The page names each cause and object, marks the deciding link, and each of its
// links leads to a place on the page.
func TestPage(t *testing.T) {
	objects := []why.Object{
		{Ref: ref("AgentPool", "batch"), Reconciler: "AgentPool", State: why.Blocked, Reason: "ReferenceNotFound", Point: "PreCheck", Link: "ReferenceReady(network)", Since: noon.Add(-150 * time.Second), Again: noon.Add(time.Minute),
			WaitingFor: []checks.Ref{ref("Subnet", "batch")},
			Passes: []flow.Explanation{{At: noon, State: "blocked", Point: "PreCheck", Link: "ReferenceReady(network)", Steps: []flow.Step{
				{Point: "OwnerCheck", Link: "OwnerReady", Verdict: "proceed", Elapsed: 3 * time.Millisecond, Own: time.Millisecond},
				{Point: "Get", Verdict: "proceed"}, {Point: "PreCheck", Verdict: "block"},
				{Point: "PreCheck", Link: "ReferenceReady(network)", Verdict: "block", Reason: "ReferenceNotFound", Elapsed: 2 * time.Millisecond, Own: 2 * time.Millisecond},
			}}}},
		{Ref: ref("Subnet", "batch"), State: why.Missing},
		{Ref: ref("Database", "a"), State: why.Blocked, WaitingFor: []checks.Ref{ref("Database", "b")}},
		{Ref: ref("Database", "b"), State: why.Blocked, WaitingFor: []checks.Ref{ref("Database", "a")}},
		{Ref: ref("Certificate", "x"), State: why.Blocked, Reason: "ApprovalPending", WaitsForSelf: true},
	}
	got := pageOf(t, objects, why.Flow{Name: "AgentPool", Text: "PreCheck  ReferenceReady(network)"})
	for _, want := range []string{
		"Subnet apps/batch is missing", "create it, or correct the reference",
		"dependency cycle: Database apps/a -&gt; Database apps/b -&gt; Database apps/a", "remove one of the references",
		"blocked for 2m30s: ReferenceNotFound", "in 1m0s", "<strong>block</strong>: ReferenceNotFound", "PreCheck  ReferenceReady(network)</pre>",
		"a change of its own status", `class="box bad cause"`, "<code>kubectl get Subnet -n apps</code>", "<code>kubectl edit Database a -n apps</code>",
		`<p>Subnet</p><p class="name">apps/batch</p><p>missing</p>`, "</meter> 1ms</td>", "the operation</td>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(got, `data-name="Link"`); n != 3 {
		t.Errorf("the pass has %d lines: a point without an operation has none", n)
	}
	places := map[string]bool{}
	for _, m := range anchor.FindAllStringSubmatch(got, -1) {
		if places[m[1]] {
			t.Errorf("two elements have the id %q", m[1])
		}
		places[m[1]] = true
	}
	for _, m := range linkTo.FindAllStringSubmatch(got, -1) {
		if !places[m[1]] {
			t.Errorf("a link leads to %q, which is not on the page", m[1])
		}
	}
	if strings.Contains(got, "<script") {
		t.Error("the page has a script")
	}
	if out := os.Getenv("WHY_PAGE"); out != "" {
		_ = os.WriteFile(out, []byte(got), 0o600)
	}
}

// Texts of others are text, in every place of the page.
func TestPageHostile(t *testing.T) {
	evil := `</script></style><script>alert(1)</script>"'><img src=x onerror=alert(1)>` + "\u202e\x00\x1b" + strings.Repeat("y", 10_000)
	bad := checks.Ref{Group: evil, Kind: evil, Namespace: evil, Name: evil}
	other := bad
	other.Name = "b"
	objects := []why.Object{
		{Ref: bad, Reconciler: evil, State: why.State(evil), Reason: evil, Message: evil, Point: evil, Link: evil, WaitingFor: []checks.Ref{other},
			Passes: []flow.Explanation{{State: evil, Point: evil, Link: evil, Steps: []flow.Step{{Point: evil, Link: evil, Verdict: evil, Message: evil, Error: evil}}}}},
		{Ref: other, State: why.Failed, Message: evil},
	}
	got := pageOf(t, objects, why.Flow{Name: evil, Text: evil, Mermaid: evil})
	for _, banned := range []string{"<script", "<img", "\u202e", "\x00", "\x1b"} {
		if strings.Contains(got, banned) {
			t.Errorf("the page has %q", banned)
		}
	}
	if len(got) > 200_000 {
		t.Errorf("the page has %d bytes", len(got))
	}
	tags := xml.NewDecoder(strings.NewReader(inline.ReplaceAllString(got, "")))
	tags.Strict, tags.AutoClose, tags.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		tok, err := tags.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
		if e, ok := tok.(xml.StartElement); ok {
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" {
					t.Errorf("<%s> has the attribute %s", e.Name.Local, a.Name.Local)
				}
			}
		}
	}
}

// The live page has the script that the policy allows, and nothing else.
func TestLivePage(t *testing.T) {
	d := why.New(nil).Document(noon)
	var b bytes.Buffer
	if err := d.WriteLivePage(&b); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Count(got, "<script>") != 1 || !strings.Contains(got, `data-refresh="5000"`) || !strings.Contains(got, "Every object is ready.") {
		t.Errorf("the page is\n%s", got)
	}
	d.Unseen = 3
	b.Reset()
	if err := d.WriteLivePage(&b); err != nil || strings.Contains(b.String(), "is ready.") || !strings.Contains(b.String(), "The waits of 3 objects are not known yet") {
		t.Errorf("error %v, objects are unseen, and the page is\n%s", err, b.String())
	}
	if strings.Contains(why.ContentSecurityPolicy, "unsafe") || strings.Count(why.ContentSecurityPolicy, "sha256-") != 2 {
		t.Errorf("the policy is %s", why.ContentSecurityPolicy)
	}
}

// The drawing of a crowd is small: waiters that are alike share a box.
func TestPageCrowd(t *testing.T) {
	got := pageOf(t, crowd(400, 3))
	if n := strings.Count(got, `class="box `); n != 7 { // the subnet, 3 clusters and the databases of each
		t.Errorf("there are %d boxes", n)
	}
	many := make([]why.Object, 300)
	for i := range many { // ten waiters of 30 causes, each for another reason
		many[i] = why.Object{Ref: name(i), State: why.Blocked, Reason: name(i).String(), WaitingFor: []checks.Ref{name(1000 + i/10)}}
	}
	if got := pageOf(t, many); strings.Count(got, `class="box `) != 200 || !strings.Contains(got, "more objects are not drawn") {
		t.Errorf("there are %d boxes", strings.Count(got, `class="box `))
	}
}
