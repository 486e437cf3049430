package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

var longMessage = "owner Cluster.example.com apps/cluster is not ready: Creating" + strings.Repeat(" and waits", 1000)

// passes are more passes than a document shows, with long texts.
var passes = slices.Repeat([]flow.Explanation{{Name: "Database", State: "failed", Error: strings.Repeat("no answer ", 3000)}}, 20)

// crowd reports n objects that wait for 100 others.
type crowd int

func (n crowd) Unready(_ context.Context, _ bool, add func(why.Object)) (int, int, error) {
	for i := range int(n) {
		id := index.ID{Group: "example.com", Kind: "Database", Namespace: "apps", Name: fmt.Sprintf("database-%06d", i)}
		add(why.Object{
			Ref: id, Reconciler: "Database", State: why.Blocked, Reason: "OwnerNotReady", Point: "OwnerCheck", Link: "OwnerReady", Since: time.Unix(1, 0),
			Message: longMessage, Passes: passes,
		})
	}
	return 0, 0, nil
}

func (crowd) View(client.Object, checks.Ref) checks.Object { return checks.Object{} }
func (crowd) Keeps(context.Context, types.NamespacedName, checks.Ref, client.Object) bool {
	return false
}
func (crowd) Decided(context.Context, types.NamespacedName) bool { return false }
func (crowd) Describe() why.Flow                                 { return why.Flow{Name: "Database"} }

// crowdedEngine has n waiters of 100 objects.
func crowdedEngine(n int) *Engine {
	e := &Engine{index: index.New(func(index.ID) {}, nil), catalog: &catalog{}, reporters: []Reporter{crowd(n)}}
	_, _, _ = crowd(n).Unready(context.Background(), false, func(o why.Object) {
		id := o.Ref
		var at int
		_, _ = fmt.Sscanf(id.Name, "database-%d", &at)
		p := e.index.Begin(id)
		owner := index.ID{Group: "example.com", Kind: "Cluster", Namespace: "apps", Name: fmt.Sprintf("cluster-%d", at%100)}
		p.Register(owner).Saw(1)
		p.End(index.End{Awaited: []index.ID{owner}})
	})
	return e
}

// answer returns the answer of the endpoint.
func answer(e *Engine) []byte {
	all, _, _, err := e.Unready(context.Background(), false)
	if err != nil {
		panic(err)
	}
	data, err := json.Marshal(why.New(all).Document(time.Unix(100, 0)))
	if err != nil {
		panic(err)
	}
	return data
}

// An answer has all root causes and at most 2 MB, of however many waiters.
func TestWhyOfManyWaiters(t *testing.T) {
	const n = 10_000
	data := answer(crowdedEngine(n))
	d, err := why.Read(bytes.NewReader(data))
	if err != nil || len(data) > 2_000_000 || len(d.Causes) != 100 || d.Causes[0].Waiters != n/100 || d.Waiting < n {
		t.Errorf("the answer has %d bytes and %d causes: %v", len(data), len(d.Causes), err)
	}
}

// The time of an answer is proportional to the number of the waiters.
func TestWhyRatio(t *testing.T) {
	ratio.InVerify(t)
	few, many := crowdedEngine(10_000), crowdedEngine(100_000)
	if got := ratio.Of(func() { answer(many) }, func() { answer(few) }, ratio.Options{Samples: 1}); got > 40 {
		t.Errorf("ten times as many waiters take %.0f times as long", got)
	}
}

// reports is a reconciler of objects that wait.
type reports struct {
	crowd
	objects []why.Object
	err     error
}

func (r reports) Unready(_ context.Context, healthy bool, add func(why.Object)) (int, int, error) {
	for _, o := range r.objects {
		if healthy || o.State != why.Ready {
			add(o)
		}
	}
	return 2, 3, r.err
}

func (reports) View(obj client.Object, ref checks.Ref) checks.Object {
	if obj.GetName() == "panics" {
		panic("no state")
	}
	o := clusterThat(checks.NotReady, "Busy")
	if strings.HasPrefix(obj.GetName(), "fit") {
		o = clusterThat(checks.Ready, "Running")
	}
	o.Ref, o.Readiness.Message, o.Deleting = ref, "it works", !obj.GetDeletionTimestamp().IsZero()
	return o
}

func (reports) Keeps(_ context.Context, name types.NamespacedName, _ checks.Ref, at client.Object) bool {
	return name.Name == "w" && at.GetName() != "busy"
}

// TestWhy verifies what the engine says of awaited objects and sets, and how the endpoint answers.
func TestWhy(t *testing.T) {
	c := newCluster(t)
	c.catalog = &catalog{kinds: map[schema.GroupKind]servedKind{}}
	for _, name := range []string{"busy", "going", "panics", "member", "rival", "leaving"} {
		c.cached.put(name, "1", "")
		c.cached.objects[name].Namespace = "a"
	}
	c.cached.objects["going"].DeletionTimestamp = new(metav1.Now())
	c.cached.objects["leaving"].DeletionTimestamp = new(metav1.Now())
	c.cached.objects["member"].Labels = map[string]string{"app": "web"}
	for i := range maxMembers { // the set waits for none of these, and they come first by name
		name := fmt.Sprintf("fit-%d", i)
		c.cached.put(name, "1", "")
		c.cached.objects[name].Namespace, c.cached.objects[name].Labels = "a", map[string]string{"app": "web"}
	}
	c.cached.objects["rival"].Labels = map[string]string{"app": "web"}
	c.cached.refuse["down"] = errDown
	awaits := func(waiter index.ID, refs ...index.ID) {
		p := c.index.Begin(waiter)
		for _, ref := range refs {
			p.Register(ref).Saw(1)
		}
		p.End(index.End{Awaited: refs})
	}
	web, empty := setOf(checks.Query{Namespace: "a", Selector: "app=web"}), setOf(checks.Query{Namespace: "a", Selector: "app=none"})
	foreign := index.ID{Group: thing.Group, Kind: thing.Kind, Namespace: "a", Name: "foreign"}
	setOfThings := index.ID{Group: thing.Group, Kind: thing.Kind, Namespace: "a", Set: web.Set}
	waiter, other := index.ID{Kind: "Waiter", Namespace: "a", Name: "w"}, index.ID{Kind: "Waiter", Namespace: "a", Name: "v"}
	awaits(waiter, clusterID("busy"), clusterID("going"), clusterID("panics"), clusterID("gone"), clusterID("down"), foreign, web, empty, setOfThings, other, clusterID("member"), clusterID("leaving"))
	awaits(other, clusterID("going"))
	awaits(clusterID("rival"), web)
	r := reports{objects: []why.Object{{Ref: waiter, State: why.Blocked}, {Ref: index.ID{Kind: "Waiter", Namespace: "b", Name: "fine"}, State: why.Ready}}}
	c.reporters = []Reporter{r, reports{objects: []why.Object{{Ref: other, State: why.Blocked}}}}
	says := func(healthy bool) (texts []string, ready, unseen int) {
		all, ready, unseen, err := c.Unready(t.Context(), healthy)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			s := fmt.Sprintf("%s%s %s", o.Ref.Name, map[string]string{web.Set: "web", empty.Set: "empty"}[o.Ref.Set], o.State)
			if o.Ref.Set != "" {
				s = o.Ref.Kind + " " + s
			}
			if o.Reason+o.Message != "" {
				s += fmt.Sprintf(" %s: %s", o.Reason, o.Message)
			}
			last := ""
			for _, ref := range o.WaitingFor {
				last = max(last, ref.Name)
			}
			if last != "" {
				s += fmt.Sprintf(", %d, the last %s", len(o.WaitingFor), last)
			}
			texts = append(texts, s)
		}
		slices.Sort(texts)
		return texts, ready, unseen
	}
	want := []string{
		"Cluster empty missing", "Cluster web blocked, 1, the last member", "Thing web unknown",
		"busy blocked Busy: it works", "down unknown", "foreign missing KindNotFound: its kind is not installed", "going deleting Busy: it works, 1, the last w",
		"gone missing", "leaving deleting Busy: it works, 1, the last w", "member blocked Busy: it works", "panics unknown : its readiness is not known: the function of ctrlx.WithReadiness panicked: no state",
		"v blocked, 1, the last going", "w blocked, 12, the last v",
	}
	for _, healthy := range []bool{false, true} {
		if healthy {
			want = slices.Insert(want, slices.Index(want, "foreign missing KindNotFound: its kind is not installed"), "fine ready")
		}
		texts, ready, unseen := says(healthy)
		if same(t, want, texts, "healthy: %t", healthy); ready != 4 || unseen != 6 {
			t.Errorf("%d are ready, and %d unseen", ready, unseen)
		}
	}
	leads := false
	c.leads = []func() bool{func() bool { return true }, func() bool { return leads }}
	h := c.Handler()
	ask := func(method, query, accept string) *httptest.ResponseRecorder {
		req := httptest.NewRequestWithContext(t.Context(), method, "/?"+query, nil)
		req.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		return w
	}
	if w := ask("GET", "", ""); w.Code != http.StatusMisdirectedRequest || !strings.Contains(w.Body.String(), "not the leader") {
		t.Errorf("a replica that is not the leader answers %d: %s", w.Code, w.Body)
	}
	leads = true
	cases := map[string]struct {
		reason, method, query, accept string
		code                          int
		has, lacks                    string
	}{
		"All":       {"the objects of all namespaces that are not ready", "GET", "", "", 200, `"name":"busy"`, `"name":"fine"`},
		"Counts":    {"the other objects are counted", "GET", "", "", 200, `"unseen":6,"ready":4`, "<"},
		"Flows":     {"the flows of the reconcilers", "GET", "", "", 200, `"flows":[{"name":"Database"`, "<"},
		"Head":      {"the same without a body", "HEAD", "", "", 200, "", "use GET"},
		"Ready":     {"the ready objects, too", "GET", "ready=true", "", 200, `"name":"fine"`, "<"},
		"Elsewhere": {"the objects of a namespace", "GET", "namespace=b", "", 200, `"objects":`, `"name":"busy"`},
		"One":       {"an object and its awaited object", "GET", "kind=Waiter&namespace=a&name=v", "", 200, `"name":"going"`, `"name":"fine"`},
		"OneReady":  {"one object is not asked about the others", "GET", "kind=Waiter&namespace=b&name=fine&ready=true", "", 404, "Waiter b/fine is ready", "{"},
		"Group":     {"the group is part of the kind", "GET", "group=x&kind=Waiter&namespace=a&name=w", "", 404, "Waiter.x a/w is ready", "{"},
		"NoName":    {"a kind names no object", "GET", "kind=Waiter", "", 400, "give kind and name", "{"},
		"NoKind":    {"a name names no object", "GET", "name=w", "", 400, "give kind and name", "{"},
		"Post":      {"nothing can be changed", "POST", "", "", 405, "use GET", "{"},
		"Page":      {"a browser", "GET", "", "text/html", 200, "<html", `"version":`},
	}
	for name, tc := range cases {
		w := ask(tc.method, tc.query, tc.accept)
		head := w.Header()
		if body := w.Body.String(); w.Code != tc.code || !strings.Contains(body, tc.has) || strings.Contains(body, tc.lacks) {
			t.Errorf("%s: %s: the code is %d: %s", name, tc.reason, w.Code, body)
		}
		kind := map[bool]string{true: "application/json", false: "text/plain; charset=utf-8"}[w.Code == 200]
		if tc.accept != "" {
			kind = "text/html; charset=utf-8"
		}
		if head.Get("Content-Type") != kind || head.Get("Cache-Control") != "no-store" || head.Get("X-Content-Type-Options") != "nosniff" ||
			(head.Get("Content-Security-Policy") == why.ContentSecurityPolicy) != (tc.accept != "") || (head.Get("Allow") == "GET, HEAD") != (w.Code == 405) {
			t.Errorf("%s: %s: the headers are %v", name, tc.reason, head)
		}
	}
	c.reporters[1] = reports{objects: []why.Object{{Ref: other, Passes: []flow.Explanation{{At: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}}}}}
	if w := ask("GET", "", ""); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "no JSON form") {
		t.Errorf("a time of another year: %d: %s", w.Code, w.Body)
	}
	c.reporters = append(c.reporters, reports{err: errDown})
	if w := ask("GET", "", ""); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "it is down; ask again") {
		t.Errorf("a cache that cannot be listed: %d: %s", w.Code, w.Body)
	}
}
