package why_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
)

func pageOf(t *testing.T, objects []why.Object, flows ...why.Flow) string {
	t.Helper()
	d := why.New(objects).Document(noon, flows...)
	return written(t, d.WritePage)
}

// written returns the page that write writes.
func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	linkTo = regexp.MustCompile(`href="#([^"]*)"`)
	anchor = regexp.MustCompile(` id="([^"]*)"`)
	inline = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>`)
)

// situation has an object of each kind that the page and the document describe.
func situation() []why.Object {
	pool := func(name string) checks.Ref {
		return checks.Ref{Group: "example.com", Kind: "Pool", Namespace: "apps", Name: name}
	}
	withID := ref("Subnet", "batch")
	withID.ID = "/subscriptions/1"
	return []why.Object{
		{Ref: ref("AgentPool", "batch"), Reconciler: "AgentPool", State: why.Blocked, Reason: "ReferenceNotFound", Point: "PreCheck", Link: "ReferenceReady(network)", Since: noon.Add(-150 * time.Second), Again: noon.Add(time.Minute),
			WaitingFor: []checks.Ref{ref("Subnet", "batch"), ref("Cluster", "ready")},
			Passes: []flow.Explanation{{At: noon, State: "blocked", Point: "PreCheck", Link: "ReferenceReady(network)", Reason: "ReferenceNotFound", Elapsed: 5123456,
				WaitingFor: []checks.Ref{ref("Subnet", "batch")}, Following: []checks.Ref{ref("Subnet", "batch")}, Steps: []flow.Step{
					{Point: "OwnerCheck", Link: "OwnerReady", Verdict: "proceed", Elapsed: 3 * time.Millisecond, Own: time.Millisecond, Notes: []string{"seen"}},
					{Point: "EntryCheck", Link: "ReferenceReady(network)", Verdict: "skip", Own: time.Microsecond},
					{Point: "Get", Verdict: "proceed"}, {Point: "PreCheck", Verdict: "block"},
					{Point: "PreCheck", Link: "ReferenceReady(network)", Verdict: "block", Reason: "ReferenceNotFound", Elapsed: 2 * time.Millisecond, Own: 2 * time.Millisecond},
				}},
				{At: noon.Add(-time.Minute), State: "in progress", Point: flow.PointApply, Elapsed: 1, Steps: []flow.Step{
					{Point: flow.PointOwner, Verdict: "proceed", Own: 1}, {Point: flow.PointApply, Verdict: "proceed"}, {Point: flow.PointDelete, Verdict: "proceed"},
				}},
				{At: noon.Add(-time.Hour), State: "blocked", Point: "PreCheck", Steps: []flow.Step{{Point: "PreCheck", Verdict: "block"}}},
			}},
		{Ref: ref("Subnet", "batch"), State: why.Missing},
		{Ref: ref("Cluster", "beside"), State: why.Ready},
		{Ref: ref("Cluster", "ready"), State: why.Ready, Since: noon.Add(-30 * time.Second)},
		{Ref: ref("Cluster", "alone"), State: why.Ready},
		{Ref: ref("Database", "a"), State: why.Blocked, WaitingFor: []checks.Ref{ref("Database", "b")}},
		{Ref: ref("Database", "b"), State: why.Blocked, WaitingFor: []checks.Ref{ref("Database", "a")}},
		{Ref: ref("Database", "c"), State: why.InProgress, Since: noon.Add(-50 * time.Hour), Again: noon.Add(-time.Second)},
		{Ref: ref("Database", strings.Repeat("long-", 20)), State: why.Deleting, Reason: "Deleting", WaitingFor: []checks.Ref{ref("Database", "c")}},
		{Ref: ref("Certificate", "x"), State: why.Blocked, Reason: "ApprovalPending", WaitsForSelf: true},
		{Ref: ref("Certificate", "y"), State: why.Blocked, Reason: "ApprovalPending", WaitsForSelf: true}, // alike, but root causes
		{Ref: pool("p"), State: why.Blocked, WaitingFor: []checks.Ref{withID}},
		{Ref: pool("q"), State: why.Blocked, WaitingFor: []checks.Ref{withID}},
		{Ref: checks.Ref{Kind: "Zone", Name: "cluster-wide-zone-of-28-bytes"[:28]}, State: why.Unknown, WaitingFor: []checks.Ref{ref("Subnet", "batch")}},
		{Ref: checks.Ref{Kind: "Zone", Name: "cluster-wide-zone-of-29-bytes"}, State: "odd", WaitingFor: []checks.Ref{ref("Subnet", "batch")}},
		{Ref: checks.Ref{ID: "/subscriptions/./-09:@AZ[`az{"}, State: why.Failed},
		{Ref: checks.Query{Kind: "Zone"}.Ref(), State: why.Failed},
	}
}

// golden compares text with a file of testdata. WHY_GOLDEN=1 writes the file: look
// at it in a browser, and at its difference.
func golden(t *testing.T, name, text string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if os.Getenv("WHY_GOLDEN") != "" {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text, "\n")); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", name, diff)
	}
}

// The page and the document of a situation are those of testdata. Each link of
// the page leads to a place on it.
func TestPage(t *testing.T) {
	got := pageOf(t, situation(), why.Flow{Name: "AgentPool", Text: "PreCheck  ReferenceReady(network)"})
	golden(t, "page.html", inline.ReplaceAllString(got, ""))
	linked(t, got)
	objects := situation()
	d := why.New(objects).Document(noon)
	data, err := json.MarshalIndent(d, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "document.json", string(data)+"\n")
	if diff := cmp.Diff(situation(), objects, cmpopts.IgnoreUnexported(flow.Explanation{})); diff != "" {
		t.Errorf("a document changes the objects: -want, +got:\n%s", diff)
	}
}

// linked tests that each link of a page leads to a place on it.
func linked(t *testing.T, page string) {
	t.Helper()
	places := map[string]bool{}
	for _, m := range anchor.FindAllStringSubmatch(page, -1) {
		if places[m[1]] {
			t.Errorf("two elements have the id %q", m[1])
		}
		places[m[1]] = true
	}
	for _, m := range linkTo.FindAllStringSubmatch(page, -1) {
		if !places[m[1]] {
			t.Errorf("a link leads to %q, which is not on the page", m[1])
		}
	}
}

// A page that cannot be made or written is an error, and nothing is written of the former.
func TestPageError(t *testing.T) {
	var b bytes.Buffer
	if err := (&why.Document{Causes: []why.Cause{{}}}).WritePage(&b); err == nil || b.Len() > 0 {
		t.Errorf("a cause without an object has a page: %v\n%s", err, b.String())
	}
	closed, w := io.Pipe()
	_ = closed.CloseWithError(io.ErrShortWrite)
	d := why.Document{}
	if page, live := d.WritePage(w), d.WriteLivePage(w); page != io.ErrShortWrite || live != io.ErrShortWrite {
		t.Errorf("the errors of the writer are %v and %v", page, live)
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
	if objects[0].WaitingFor[0] != other {
		t.Error("a document changes the objects")
	}
	if strings.Count(got, "<script>") != 1 {
		t.Error("the page has another script than its own")
	}
	for _, banned := range []string{"<script>alert", "<img", "\u202e", "\x00", "\x1b"} {
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
	got := written(t, d.WriteLivePage)
	if strings.Count(got, "<script>") != 1 || !strings.Contains(got, `data-refresh="5000"`) || !strings.Contains(got, "every 5s") || !strings.Contains(got, "Every object is ready.") {
		t.Errorf("the page is\n%s", got)
	}
	for namespace, want := range map[string]string{"": "1 object is ready.", "a&b": "1 object is ready, in all namespaces."} {
		d := d
		d.Ready, d.Namespace = 1, namespace
		got := written(t, d.WriteLivePage)
		if !strings.Contains(got, want) || !strings.Contains(got, `<button name="ready" value="true">`) ||
			strings.Contains(got, `name="namespace" value="a&amp;b"`) != (namespace != "") {
			t.Errorf("the page lacks %q or its button:\n%s", want, got)
		}
	}
	d.Unseen = 3
	got = written(t, d.WriteLivePage)
	if strings.Contains(got, "is ready.") || !strings.Contains(got, "The waits of 3 objects are not known yet") {
		t.Errorf("objects are unseen, and the page is\n%s", got)
	}
	policy := "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	for _, tag := range []string{"style", "script"} {
		_, inside, _ := strings.Cut(got, "<"+tag+">")
		inside, _, _ = strings.Cut(inside, "</"+tag+">")
		sum := sha256.Sum256([]byte(inside))
		policy += "; " + tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	if diff := cmp.Diff(policy, why.ContentSecurityPolicy); diff != "" {
		t.Errorf("the policy allows the style and the script of the page: -want, +got:\n%s", diff)
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
	if got := pageOf(t, many); strings.Count(got, `class="box `) != 200 || !strings.Contains(got, ">130 more objects are not drawn") {
		t.Errorf("there are %d boxes", strings.Count(got, `class="box `))
	}
	for i := range many { // a chain
		many[i] = why.Object{Ref: name(i), State: why.Blocked, WaitingFor: []checks.Ref{name(i + 1)}}
	}
	d, _ := why.New(many).DocumentOf(name(0), noon)
	if n := strings.Count(written(t, d.WritePage), "<path d="); n != 199 { // the tip of an arrow, and 198 arrows
		t.Errorf("there are %d arrows", n)
	}
}

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
			page := written(t, (&why.Document{Objects: graphOf(tc.graph)}).WritePage)
			var order, columns []string
			at := map[int]map[int]string{} // the name at x and y
			for _, m := range drawn.FindAllStringSubmatch(page, -1) {
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
