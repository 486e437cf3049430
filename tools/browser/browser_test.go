package browser

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func ref(kind, name string) checks.Ref {
	return checks.Ref{Group: "example.com", Kind: kind, Namespace: "apps", Name: name}
}

func other(kind, name string) checks.Ref {
	r := ref(kind, name)
	r.Namespace = "team"
	return r
}

// story is a state with each kind of root cause.
func story() []why.Object {
	pass := flow.Explanation{Name: "AgentPool", At: now, State: "blocked", Point: "PreCheck", Link: "ReferenceReady(network)", Steps: []flow.Step{
		{Point: "OwnerCheck", Link: "OwnerReady", Verdict: "proceed", Own: 40 * time.Microsecond},
		{Point: "Get", Verdict: "proceed", Own: 30 * time.Millisecond},
		{Point: "PreCheck", Link: "ReferenceReady(network)", Verdict: "block", Reason: "ReferenceNotFound", Message: "network Subnet apps/batch was not found", Own: 90 * time.Microsecond},
	}}
	return []why.Object{
		{Ref: ref("Subnet", "batch"), State: why.Missing},
		{Ref: ref("ManagedCluster", "demo"), Reconciler: "ManagedCluster", State: why.Blocked, Reason: "ReferenceNotFound", Since: now.Add(-time.Hour), WaitingFor: []checks.Ref{ref("Subnet", "batch")}},
		{Ref: ref("AgentPool", "batch"), Reconciler: "AgentPool", State: why.Blocked, Reason: "OwnerNotReady", Link: "OwnerReady", Point: "OwnerCheck", Since: now.Add(-time.Minute), Again: now.Add(time.Minute),
			WaitingFor: []checks.Ref{ref("ManagedCluster", "demo")}, Passes: []flow.Explanation{pass, pass}},
		{Ref: ref("Database", "a"), State: why.Blocked, WaitingFor: []checks.Ref{ref("Database", "b")}},
		{Ref: ref("Database", "b"), State: why.Blocked, WaitingFor: []checks.Ref{ref("Database", "a")}},
		{Ref: ref("Certificate", "x"), State: why.Blocked, Reason: "ApprovalPending", WaitsForSelf: true},
		{Ref: other("Registry", "r"), State: why.InProgress}, {Ref: ref("Subnet", "good"), State: why.Ready}, {Ref: other("Subnet", "fine"), State: why.Ready},
		{Ref: ref("Vault", "v"), State: why.Failed, Reason: "Forbidden", Message: "the operator has no right to create vaults"},
	}
}

// hostile is a state whose texts try to break out of the page.
func hostile() []why.Object {
	evil := `</script></style></svg><script>alert(1)</script>"'><img src=https://example.com/x onerror=alert(1)>` + "\u202e\x00\x1b" + strings.Repeat("y", 10_000)
	a, b := checks.Ref{Group: evil, Kind: evil, Namespace: evil, Name: evil}, checks.Ref{Kind: evil, Name: "b"}
	return []why.Object{
		{Ref: a, Reconciler: evil, State: why.State(evil), Reason: evil, Message: evil, Point: evil, Link: evil, WaitingFor: []checks.Ref{b},
			Passes: []flow.Explanation{{State: evil, Point: evil, Link: evil, Steps: []flow.Step{{Point: evil, Link: evil, Verdict: evil, Message: evil}}}}},
		{Ref: b, State: why.Failed, Message: evil},
	}
}

// crowd is a state of 300 waiters with 30 root causes.
func crowd() (all []why.Object) {
	for i := range 300 {
		all = append(all, why.Object{Ref: ref("Database", fmt.Sprint(i)), State: why.Blocked, Reason: fmt.Sprint("Reason", i), WaitingFor: []checks.Ref{ref("Cluster", fmt.Sprint(i/10))}})
	}
	return all
}

// server serves the present page of each path under the page's own policy.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string][]byte
	// refuse makes the server answer with the code 403.
	refuse bool
}

func serve(t *testing.T) *server {
	s := &server{pages: map[string][]byte{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.refuse {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		content, ok := s.pages[r.URL.Path]
		if !ok {
			w.Header().Set("Content-Type", "image/x-icon")
			return
		}
		w.Header().Set("Content-Security-Policy", why.ContentSecurityPolicy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(content)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) set(t *testing.T, path string, objects []why.Object, live bool) {
	t.Helper()
	d := why.New(objects).Document(now, why.Flow{Name: "AgentPool", Text: "AgentPool\n  PreCheck  ReferenceReady(network)"})
	var b bytes.Buffer
	write := d.WritePage
	if live {
		write = d.WriteLivePage
	}
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = bytes.ReplaceAll(b.Bytes(), []byte(`data-refresh="5000"`), []byte(`data-refresh="20"`))
}

// browser starts Chromium. A dialog, an error on the console and a request to
// another host fail the test.
func browser(t *testing.T, home string) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("Chromium is not installed: the page was not tested in a browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	var faults atomic.Value
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *page.EventJavascriptDialogOpening:
			faults.Store("a dialog: " + e.Message)
		case *log.EventEntryAdded:
			faults.Store("the console: " + e.Entry.Text)
		case *runtime.EventExceptionThrown:
			faults.Store("an exception: " + e.ExceptionDetails.Text)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, home) && !strings.HasPrefix(e.Request.URL, "data:") {
				faults.Store("a request: " + e.Request.URL)
			}
		}
	})
	t.Cleanup(func() {
		if f := faults.Load(); f != nil {
			t.Errorf("the page caused %v", f)
		}
	})
	if err := chromedp.Run(ctx, network.Enable(), log.Enable(), runtime.Enable()); err != nil {
		t.Fatal(err)
	}
	return ctx
}

func run(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// The page has no violation of the rules of axe-core, in both color schemes, on
// a wide and on a narrow screen. A narrow page does not scroll sideways.
func TestAccessible(t *testing.T) {
	rules, err := os.ReadFile("../../bin/axe/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("axe-core is not installed: the page was not tested for accessibility")
	}
	s := serve(t)
	ctx := browser(t, s.URL)
	states := map[string][]why.Object{"/story": story(), "/hostile": hostile(), "/crowd": crowd(), "/empty": nil}
	for path, objects := range states {
		s.set(t, path, objects, false)
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{1280, 420, 360} {
				if path == "/crowd" && (scheme == "dark" || width < 1000) {
					continue // axe-core takes ten seconds for 300 objects
				}
				t.Run(fmt.Sprintf("%s-%s-%d", path[1:], scheme, width), func(t *testing.T) {
					var violations string
					var overflow int
					var shot []byte
					run(t, ctx,
						emulation.SetDeviceMetricsOverride(width, 900, 1, false),
						emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
						chromedp.Navigate(s.URL+path),
						chromedp.Evaluate(string(rules), nil),
						chromedp.Evaluate(`axe.run().then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(" | ")).join("\n"))`,
							&violations, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }),
						chromedp.Evaluate(`document.documentElement.scrollWidth - window.innerWidth`, &overflow),
						chromedp.FullScreenshot(&shot, 100),
					)
					if violations != "" {
						t.Errorf("violations:\n%s", violations)
					}
					if overflow > 0 {
						t.Errorf("the page is %d pixels too wide", overflow)
					}
					if dir := os.Getenv("SCREENSHOTS"); dir != "" {
						_ = os.WriteFile(fmt.Sprintf("%s%s-%s-%d.png", dir, path, scheme, width), shot, 0o600)
					}
				})
			}
		}
	}
}

// Each label of the drawing is inside its box, in the fonts of this machine. The
// names of ordinary objects are shown whole.
func TestDrawing(t *testing.T) {
	s := serve(t)
	wide := ref("Record", strings.Repeat("W", 60))
	wide.Group = "dns.example.com"
	record := checks.Ref{Group: "dns.example.com", Kind: "Record", Namespace: "edge", Name: "www-primary"}
	s.set(t, "/", append(story(), why.Object{Ref: record, State: why.Blocked, Reason: "ReferenceNotFound", WaitingFor: []checks.Ref{wide}},
		why.Object{Ref: wide, State: why.Failed, Reason: strings.Repeat("W", 60)}), false)
	ctx := browser(t, s.URL)
	var outside []string
	var boxes string
	var shot []byte
	run(t, ctx, emulation.SetDeviceMetricsOverride(1280, 900, 1, false), chromedp.Navigate(s.URL+"/"),
		chromedp.Evaluate(`Array.from(document.querySelectorAll(".box")).flatMap(b => {
			const r = b.querySelector("rect").getBoundingClientRect();
			return Array.from(b.querySelectorAll("text, p")).filter(t => {
				const at = t.getBoundingClientRect();
				return at.right > r.right || at.left < r.left || at.bottom > r.bottom || at.top < r.top;
			}).map(t => t.textContent);
		})`, &outside),
		chromedp.Evaluate(`Array.from(document.querySelectorAll(".box")).map(b => Array.from(b.querySelectorAll("p")).map(t =>
			t.scrollWidth > t.clientWidth ? "(cut)" : t.textContent).join("|")).join("\n")`, &boxes),
		chromedp.FullScreenshot(&shot, 100))
	if len(outside) > 0 {
		t.Errorf("labels leave their boxes: %q", outside)
	}
	for _, want := range []string{"Record.dns.example.com|edge/www-primary|blocked: ReferenceNotFound", "AgentPool.example.com|apps/batch|blocked: OwnerNotReady"} {
		if !strings.Contains(boxes, want) {
			t.Errorf("the drawing lacks %s:\n%s", want, boxes)
		}
	}
	if dir := os.Getenv("SCREENSHOTS"); dir != "" {
		_ = os.WriteFile(dir+"/drawing.png", shot, 0o600)
	}
}

// The keyboard reaches the boxes of the graph, and Enter leads to the object.
func TestKeyboard(t *testing.T) {
	s := serve(t)
	s.set(t, "/", story(), false)
	ctx := browser(t, s.URL)
	var first, hash, heading string
	run(t, ctx, chromedp.Navigate(s.URL+"/"), chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(`document.activeElement.className`, &first))
	if first != "skip" {
		t.Errorf("the first key focuses %q", first)
	}
	for range 100 {
		var inGraph bool
		run(t, ctx, chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(`document.activeElement.matches("svg a")`, &inGraph))
		if inGraph {
			break
		}
	}
	run(t, ctx, chromedp.KeyEvent(kb.Enter), chromedp.Evaluate(`location.hash`, &hash),
		chromedp.Evaluate(`(document.getElementById(decodeURIComponent(location.hash.slice(1))) || {textContent: ""}).textContent`, &heading))
	if hash == "" || !strings.Contains(heading, "Subnet.example.com apps/batch") {
		t.Errorf("Enter leads to %q: %s", hash, heading)
	}
}

// Without scripts the whole page is there.
func TestWithoutScripts(t *testing.T) {
	s := serve(t)
	s.set(t, "/", story(), true)
	ctx := browser(t, s.URL)
	var text string
	run(t, ctx, emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(s.URL+"/"), chromedp.Text("main", &text, chromedp.ByQuery))
	for _, want := range []string{"Subnet.example.com apps/batch is missing", "remove one of the references", "ReferenceReady(network)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}

// With scripts a live page shows the next state by itself, and keeps the open
// parts and the focus with their objects, also if another object comes before them.
func TestLive(t *testing.T) {
	s := serve(t)
	s.set(t, "/", story(), true)
	ctx := browser(t, s.URL)
	const open = `Array.from(document.querySelectorAll("td > details[open], article > details[open]")).map(d => {
		const of = d.closest("tr[data-root], article");
		return (of.id || of.dataset.root) + " " + d.querySelector("summary").textContent;
	}).join(", ")`
	var before, after, focus string
	run(t, ctx, chromedp.Navigate(s.URL+"/"), chromedp.Evaluate(`document.querySelector("td details").open = true`, nil),
		chromedp.Evaluate(`(d => { d.open = true; d.querySelector("summary").focus() })(document.querySelector("article > details"))`, nil), chromedp.Evaluate(open, &before))
	if strings.Count(before, ", ") != 1 {
		t.Fatalf("before the update these parts are open: %s", before)
	}
	next := append([]why.Object{{Ref: checks.Ref{Kind: "Network", Name: "new"}, State: why.Missing}}, story()...)
	next[3].Reason = "OwnerDeleting"
	next = append(next, why.Object{Ref: checks.Ref{Kind: "Server", Name: "new"}, State: why.Blocked, WaitingFor: []checks.Ref{next[0].Ref}, Since: now.Add(-1000 * time.Hour)})
	s.set(t, "/", next, true)
	run(t, ctx, chromedp.Poll(`document.body.textContent.includes("OwnerDeleting")`, nil), chromedp.Evaluate(open, &after),
		chromedp.Evaluate(`document.activeElement.closest("article").id + " " + document.activeElement.textContent`, &focus))
	if after != before || !strings.HasSuffix(before, focus) {
		t.Errorf("before the update these parts are open: %s; after it: %s, and the focus is on %q", before, after, focus)
	}
}

// shown reads the names of the objects and of the causes that the page shows, the
// boxes of the drawing that stand out, and the text about their number.
const shown = `[Array.from(document.querySelectorAll("article")).filter(a => !a.hidden).map(a => a.querySelector("h3").textContent),
	Array.from(document.querySelectorAll("tr[data-root]")).filter(r => !r.hidden).map(r => r.querySelector("small").textContent),
	[document.querySelectorAll("svg a:not(.out)").length + " boxes", document.getElementById("count").textContent]].map(l => l.join(", ")).join("; ")`

// The search and the choices leave the objects that match, and their causes. They
// survive a refresh. A command is copied, or selected where the browser refuses.
func TestFilter(t *testing.T) {
	s := serve(t)
	s.set(t, "/", story(), true)
	ctx := browser(t, s.URL)
	run(t, ctx, chromedp.Navigate(s.URL+"/"))
	type into struct{ search, kind, namespace string }
	cases := map[string]struct {
		reason string
		into
		want string
	}{
		"Words":     {"each word occurs in the object", into{search: "AGENTPOOL ownernotready"}, "AgentPool.example.com apps/batch; Subnet.example.com apps/batch; 1 boxes, 1 of 10 objects match"},
		"Kind":      {"objects of a kind, the ready ones too", into{kind: "Subnet.example.com"}, "Subnet.example.com apps/batch, Subnet.example.com apps/good, Subnet.example.com team/fine; Subnet.example.com apps/batch; 1 boxes, 3 of 10 objects match"},
		"Namespace": {"objects of a namespace", into{namespace: "team"}, "Registry.example.com team/r, Subnet.example.com team/fine; Registry.example.com team/r; 1 boxes, 2 of 10 objects match"},
		"None":      {"nothing matches", into{search: "batch", namespace: "team"}, "; ; 0 boxes, No object matches"},
		"Code":      {"a search is a text, and no pattern or page", into{search: "<img src=x onerror=alert(1)> .*"}, "; ; 0 boxes, No object matches"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var before, after string
			set := fmt.Sprintf(`(f => { f.search.value = %q; f.kind.value = %q; f.namespace.value = %q; f.dispatchEvent(new Event("input")); })(document.getElementById("filter").elements.search.form)`,
				tc.search, tc.kind, tc.namespace)
			run(t, ctx, chromedp.Evaluate(set, nil), chromedp.Evaluate(shown, &before),
				chromedp.Evaluate(`document.getElementById("main").dataset.old = "1"`, nil), chromedp.Evaluate(`document.getElementById("refresh").click()`, nil),
				chromedp.Poll(`!document.getElementById("main").dataset.old`, nil), chromedp.Evaluate(shown, &after))
			if before != tc.want || after != tc.want {
				t.Errorf("%s: the page shows\n%s\nand after a refresh\n%s\nwant\n%s", tc.reason, before, after, tc.want)
			}
		})
	}
	var copied string
	run(t, ctx, chromedp.Evaluate(`(f => { f.reset(); f.auto.checked = false; f.dispatchEvent(new Event("input")) })(document.getElementById("filter"))`, nil),
		chromedp.Evaluate(`(b => { b.click(); return b.textContent + ": " + getSelection() })(document.querySelector("button.copy"))`, &copied))
	if !strings.HasPrefix(copied, "selected: kubectl ") {
		t.Errorf("the button and the selection are %q", copied)
	}
	var labels []string
	run(t, ctx, chromedp.Evaluate(`Array.from(document.querySelectorAll("#filter input, #filter select")).map(e => e.labels.length + " " + e.name)`, &labels))
	if got := strings.Join(labels, ", "); got != "1 search, 1 kind, 1 namespace, 1 auto" {
		t.Errorf("the labels are %s", got)
	}
}

// A server that refuses an answer, as to a user who lost his rights, is named, and
// the page keeps the last state.
func TestRefused(t *testing.T) {
	s := serve(t)
	s.set(t, "/", story(), true)
	ctx, cancel := chromedp.NewContext(browser(t, s.URL))
	defer cancel()
	var text string
	run(t, ctx, chromedp.Navigate(s.URL+"/"))
	s.mu.Lock()
	s.refuse = true
	s.mu.Unlock()
	run(t, ctx, chromedp.Poll(`document.getElementById("live").textContent === "not updated: the server answered 403"`, nil), chromedp.Text("main", &text, chromedp.ByQuery))
	if !strings.Contains(text, "Subnet.example.com apps/batch is missing") {
		t.Errorf("the page shows\n%s", text)
	}
}
