package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
)

// ownerByName is a cluster if the name says so, and a database otherwise.
func ownerByName(d *testv1.Database) checks.Ref {
	if d.Spec.Cluster == "" {
		return checks.Ref{}
	}
	kind := "Database"
	if strings.HasPrefix(d.Spec.Cluster, "cluster-") {
		kind = "Cluster"
	}
	return checks.Ref{Group: testv1.GroupVersion.Group, Kind: kind, Name: d.Spec.Cluster}
}

// settles waits until differs returns no difference. The cache of the operator
// may be stale.
func settles(t *testing.T, differs func() string) {
	t.Helper()
	diff := ""
	err := apiserver.Until(t.Context(), func(context.Context) (bool, error) {
		diff = differs()
		return diff == "", nil
	})
	if err != nil {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func whyDocument(t *testing.T, h http.Handler, query string) why.Document {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, ctrlx.WhyPath+query, nil))
	d, err := why.Read(w.Body)
	if err != nil || w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("the answer to %q has the code %d: %v", query, w.Code, err)
	}
	return d
}

// liveReads counts the reads of a client that reads live.
type liveReads struct {
	client.Client
	n int
}

func (c *liveReads) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	c.n++
	return c.Client.Get(ctx, key, obj, opts...)
}

// An answer reads the cache, also if the manager's client does not, and survives
// the panics of the user's functions: of the readiness of an awaited object, and of
// the key of a waiter.
func TestWhyReadsCaches(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{Cluster: "c"}), aCluster())
	live := &liveReads{Client: d.api}
	d.manager.client = live
	panics, state, generations := false, checks.NotReady, 0
	readiness := func(client.Object) checks.Readiness {
		if panics {
			panic("no state")
		}
		return checks.Readiness{State: state, Reason: "Starting"}
	}
	key := func(a *App) string {
		if panics {
			panic("no key")
		}
		return a.Name
	}
	d.use(ctrlx.New("App", flow.Operations[*App]{
		Key: key, Generation: func(a *App) int64 { generations++; return a.Generation }, Apply: func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[*App]{OwnerCheck: chain.New(checks.OwnerReady())}, append(d.clock(),
		ctrlx.WithReadiness(schema.GroupKind{Group: testv1.GroupVersion.Group, Kind: "Cluster"}, readiness), flow.WithExplanations(1))...))
	d.pass()
	h := ctrlx.Why(d.manager)
	message := func(kind string) string {
		t.Helper()
		doc := whyDocument(t, h, "?ready=true")
		i := slices.IndexFunc(doc.Objects, func(o why.Object) bool { return o.Ref.Kind == kind })
		if i < 0 {
			t.Fatalf("the answer has no %s: %+v", kind, doc.Objects)
		}
		return doc.Objects[i].Reason + " " + doc.Objects[i].Message
	}
	live.n = 0
	if app := message("App"); !strings.Contains(app, "OwnerNotReady owner Cluster") || live.n > 0 || generations == 0 {
		t.Errorf("the waiter says %q, after %d live reads and %d calls of Operations.Generation", app, live.n, generations)
	}
	if cluster := message("Cluster"); cluster != "Starting " {
		t.Errorf("the owner says %q", cluster)
	}
	panics = true
	if app := message("App"); !strings.HasSuffix(app, "panicked: no key") {
		t.Errorf("the waiter says %q", app)
	}
	if cluster := message("Cluster"); !strings.HasSuffix(cluster, "the function of ctrlx.WithReadiness panicked: no state") {
		t.Errorf("the owner says %q", cluster)
	}
	panics, state = false, checks.Ready
	d.pass()
	panics = true
	if app := message("App"); app != "Succeeded the object cannot be described: a function of the reconciler panicked: no key" {
		t.Errorf("the ready object says %q", app)
	}
}

type notAPointer struct{ ctrl.Manager }

// The start of a block survives a restart of the operator, as long as the reason
// stays.
func TestWhySince(t *testing.T) {
	for _, tc := range []struct {
		reason string // of the condition
		at     time.Time
		want   time.Time
		write  error // controller-runtime requeues the object, so the next pass is not known
	}{{"OwnerNotFound", noon.Add(-time.Hour), noon.Add(-time.Hour), nil}, {"OwnerNotFound", noon.Add(time.Hour), noon, nil}, {"OwnerNotReady", noon.Add(-time.Hour), noon, nil}, {"OwnerNotReady", noon, noon, errBroken}} {
		a := anApp(AppSpec{Cluster: "c"})
		a.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: tc.reason, LastTransitionTime: metav1.NewTime(tc.at)}}
		d := newHarness(t, a).with(flow.Extensions[*App]{OwnerCheck: chain.New(checks.OwnerReady())})
		d.refuse = tc.write
		res, err := d.app.Reconcile(t.Context(), reconcile.Request{NamespacedName: named("a")})
		again := noon.Add(res.RequeueAfter)
		if err != nil {
			again = time.Time{}
		}
		objects := whyDocument(t, ctrlx.Why(d.manager), "?group="+testv1.GroupVersion.Group+"&kind=App&namespace=default&name=a").Objects
		if o := objects[0]; !o.Since.Equal(tc.want) || o.Reason != "OwnerNotFound" || !o.Again.Equal(again) || again.Equal(noon) || !errors.Is(err, tc.write) {
			t.Errorf("after a restart with the condition %s of %s, the object is %+v", tc.reason, tc.at, o)
		}
	}
}

// An object that has failed for good is a root cause without waiters, also after a
// restart, although no pass goes over it.
func TestWhyFinal(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	for _, when := range []string{"after the pass", "after a restart"} {
		denied := checks.Block("Busy", "it waits until the pass that denies it", checks.WithWaitingFor(dataOf("none")))
		d.with(checking(flow.PointPreCheck, answers(&denied))).pass()
		denied = checks.Block("Denied", "the approver denied it", checks.WithRetry(classify.Never), checks.WithWaitingFor(dataOf("none")))
		d.pass()
		h := ctrlx.Why(d.manager)
		all, one := whyDocument(t, h, ""), whyDocument(t, h, "?group="+testv1.GroupVersion.Group+"&kind=App&namespace=default&name=a")
		if len(all.Causes) != 1 || all.Causes[0].Reason != "Denied" || all.Causes[0].State != why.Failed || all.Waiting != 1 || len(one.Objects) != 1 || len(all.Flows) != 1 || all.Flows[0].Name != "App" {
			t.Errorf("%s: the causes are %+v, and the object is %+v", when, all.Causes, one.Objects)
		}
		d.restart()
	}
	inApp(func(a *App) { meta.RemoveStatusCondition(&a.Status.Conditions, "Ready") })(d)
	if doc := whyDocument(t, ctrlx.Why(d.with(flow.Extensions[*App]{}).manager), ""); len(doc.Objects) > 0 || doc.Unseen > 0 {
		t.Errorf("a person removed the condition: %+v", doc)
	}
}

// listHook calls a function before each list.
type listHook struct {
	client.Reader
	do func()
}

func (l listHook) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	l.do()
	return l.Reader.List(ctx, list, opts...)
}

// An object whose first pass ends while an answer is made is not unseen.
func TestWhySeenMeanwhile(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	fails(errBroken)(d.with(flow.Extensions[*App]{}))
	d.manager.cache.(*fakeCache).reader = listHook{d.api, func() { d.pass() }}
	same(t, "the objects that no pass has reached", 0, whyDocument(t, ctrlx.Why(d.manager), "").Unseen)
}

// After a start, an answer counts the objects whose state is not known, until a
// pass over each of them has ended.
func TestWhyUnseen(t *testing.T) {
	ready := metav1.Condition{Type: "Ready", Status: "True", Reason: "Succeeded", ObservedGeneration: 1}
	blocked := metav1.Condition{Type: "Ready", Status: "False", Reason: "Waiting", ObservedGeneration: 1}
	proceed, ignore, waits := checks.Proceed(), checks.Ignore("another instance reconciles it"), checks.Block("Waiting", "it waits")
	cases := map[string]struct {
		reason     string
		conditions []metav1.Condition
		result     checks.Result
		want       int // before the pass
		drops      bool
		after      [2]int // the ready objects and the others
	}{
		"New":       {"it has no condition", nil, proceed, 1, false, [2]int{1, 0}},
		"Blocked":   {"the condition does not name its waits", []metav1.Condition{blocked}, waits, 1, false, [2]int{0, 1}},
		"Ready":     {"the condition is of its generation", []metav1.Condition{ready}, proceed, 0, false, [2]int{1, 0}},
		"Changed":   {"the condition is of an earlier generation", []metav1.Condition{{Type: "Ready", Status: "True"}}, proceed, 1, false, [2]int{1, 0}},
		"Ignored":   {"no pass writes its conditions", nil, ignore, 1, false, [2]int{0, 0}},
		"Finished":  {"no pass is needed any more", nil, checks.Finished("Sealed", "for good"), 1, false, [2]int{1, 0}},
		"Unwritten": {"the condition is not that of the last pass", []metav1.Condition{ready}, waits, 0, true, [2]int{0, 1}},
		"Never":     {"no pass could write a condition", nil, waits, 1, true, [2]int{0, 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := anApp(AppSpec{})
			a.Generation, a.Status.Conditions = 1, tc.conditions
			d := newHarness(t, a)
			d.use(d.reconciler(flow.Extensions[*App]{EntryCheck: chain.New(checks.Check("c", func(ctxt, *checks.Request[*App]) (checks.Result, error) { return tc.result, nil }))}))
			doc := whyDocument(t, ctrlx.Why(d.manager), "?ready=true")
			before := doc.Unseen
			if doc.Ready != 1-before || len(doc.Objects) != doc.Ready || doc.Ready == 1 && (doc.Objects[0].State != why.Ready || doc.Objects[0].Reason+doc.Objects[0].Message != "Succeeded") {
				t.Errorf("%s: %d objects are ready: %+v", tc.reason, doc.Ready, doc.Objects)
			}
			if doc := whyDocument(t, ctrlx.Why(d.manager), ""); doc.Ready != 1-before || len(doc.Objects) > 0 {
				t.Errorf("%s: the answer has objects that are ready, without the parameter: %+v", tc.reason, doc)
			}
			d.drops = tc.drops
			d.pass()
			after := whyDocument(t, ctrlx.Why(d.manager), "")
			if before != tc.want || after.Unseen != 0 {
				t.Errorf("%s: %d objects are unseen before the pass, want %d, and %d after it", tc.reason, before, tc.want, after.Unseen)
			}
			if all := after.Objects; [2]int{after.Ready, len(all)} != tc.after || len(all) > 0 && strings.Contains(all[0].Message, "panicked") {
				t.Errorf("%s: %d objects are ready after the pass, and the others are %+v", tc.reason, after.Ready, all)
			}
		})
	}
}

// An answer counts neither an object that is deleted without our finalizer, nor one that left the cache. It fails if the
// cache cannot be listed, if the request ends, or if another replica is the leader.
func TestWhyGone(t *testing.T) {
	blocked := checks.Block("Busy", "it is busy")
	d := newHarness(t, anApp(AppSpec{})).with(checking(flow.PointPreCheck, answers(&blocked)))
	d.pass()
	h := ctrlx.Why(d.manager)
	code := func(ctx context.Context, text ...string) int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, ctrlx.WhyPath, nil))
		if body := w.Body.String(); !strings.Contains(body, strings.Join(text, "")) {
			t.Errorf("the answer is %s", body)
		}
		return w.Code
	}
	reads := d.manager.cache.(*fakeCache).reader
	d.manager.cache.(*fakeCache).reader = noLists{reads}
	if got := code(t.Context(), "the objects of App cannot be listed from the cache: "+errBroken.Error()); got != http.StatusServiceUnavailable {
		t.Errorf("the cache cannot be listed: the code is %d", got)
	}
	d.manager.cache.(*fakeCache).reader = reads
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := code(ctx); got != http.StatusServiceUnavailable {
		t.Errorf("the request ended: the code is %d", got)
	}
	d.vanish()
	if all := whyDocument(t, h, "").Objects; len(all) != 1 || all[0].Reason != "Busy" || all[0].Message != "" || len(all[0].Passes) != 0 {
		t.Errorf("the object left the cache: %+v", all)
	}

	needsNone := controller.Options{NeedLeaderElection: new(false)}
	for want, opts := range map[int][]ctrlx.Option{http.StatusMisdirectedRequest: nil, http.StatusOK: {ctrlx.WithController(needsNone)}} {
		d = newHarness(t, anApp(AppSpec{}))
		d.manager.standby = true
		d.with(flow.Extensions[*App]{}, opts...)
		if h = ctrlx.Why(d.manager); code(t.Context()) != want {
			t.Errorf("another replica is the leader: the code is %d, want %d", code(t.Context()), want)
		}
		for _, r := range d.manager.added {
			if l, ok := r.(manager.LeaderElectionRunnable); ok && fmt.Sprintf("%T", r) == "ctrlx.companion" && l.NeedLeaderElection() != (len(opts) == 0) {
				t.Errorf("the report of the orphans needs the leader: %t, unlike the controller", l.NeedLeaderElection())
			}
		}
	}

	d = newHarness(t, keptApp()).with(flow.Extensions[*App]{})
	inApp(func(a *App) { a.Status.LastHandled = "panics" })(d) // in GetConditions
	if doc := whyDocument(t, ctrlx.Why(d.manager), ""); doc.Unseen != 1 || doc.Ready != 0 {
		t.Errorf("no pass has reached the object: %+v", doc)
	}
	deleted(d)
	if doc := whyDocument(t, ctrlx.Why(d.manager), ""); doc.Unseen != 0 || doc.Ready != 0 {
		t.Errorf("no pass goes over the object: %+v", doc)
	}
}

// noLists is a cache whose lists fail.
type noLists struct{ client.Reader }

func (noLists) List(context.Context, client.ObjectList, ...client.ListOption) error { return errBroken }

// Texts of users and clouds stay texts in the condition, the JSON and the page.
func TestWhyHostile(t *testing.T) {
	hostile := "<script>alert(1)</script>\u202ekcab\x1b[2J\n\x00" + strings.Repeat("long ", 2000) + "\xff"
	c := clusterWith("Creating")
	c.Status.Conditions[0].Message = hostile
	for name, check := range map[string]checks.Middleware[*App]{
		"Blocks": checks.OnOwner[*App](checks.OwnerReady()),
		"Says":   checks.Check(hostile, func(ctxt, *checks.Request[*App]) (checks.Result, error) { return checks.Block("Busy", hostile), nil }),
		"Fails": checks.Check("Quota", func(ctxt, *checks.Request[*App]) (checks.Result, error) {
			return checks.Result{}, errors.New(hostile)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			d, pass := chained(t, c.DeepCopyObject().(*testv1.Cluster), check, flow.WithExplanations(5))
			pass("b", "a")
			texts := []string{d.message()}
			h := ctrlx.Why(d.manager)
			for _, accept := range []string{"", "text/html"} {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, ctrlx.WhyPath, nil)
				r.Header.Set("Accept", accept)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != http.StatusOK || w.Body.Len() > 100_000 {
					t.Errorf("the code is %d, the size is %d", w.Code, w.Body.Len())
				}
				texts = append(texts, w.Body.String())
			}
			if strings.Contains(texts[2], "<script>alert") || !strings.Contains(texts[2], "&lt;script&gt;alert") {
				t.Error("the page has the script, or lacks its text")
			}
			for i, text := range texts {
				odd := func(r rune) bool { return r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }
				if at := strings.IndexFunc(text, odd); at >= 0 || !utf8.ValidString(text) || i == 0 && strings.Contains(text, "\n") {
					t.Errorf("text %d has an odd character at %d: %.300q", i, at, text)
				}
			}
		})
	}
}

// Why an object is in its state can be asked for by its name. The steps of one pass are kept, and the verdict of each.
func TestExplain(t *testing.T) {
	b := anApp(AppSpec{Cluster: "c"})
	b.Name, b.UID = "b", "b"
	d := newHarness(t, anApp(AppSpec{Cluster: "c"}), b)
	r := d.reconciler(d.held(), flow.WithExplanations(1))
	if _, err := r.Explain(t.Context(), named("a")); err == nil || !strings.Contains(err.Error(), "call SetupWithManager") {
		t.Errorf("it has nothing to read from: %v", err)
	}
	d.use(r)
	d.pass()
	e, err := r.Explain(t.Context(), named("a"))
	if err != nil || e.Reason != "OwnerNotFound" || e.Link != "OwnerReady" || len(e.WaitingFor) != 1 || len(e.Steps) == 0 {
		t.Errorf("it waits for its cluster: %+v, %v", e, err)
	}
	if _, err := r.Explain(t.Context(), named("other")); !apierrors.IsNotFound(err) {
		t.Errorf("there is none: %v", err)
	}
	d.passOver(t.Context(), "b")
	e, err = r.Explain(t.Context(), named("a"))
	root := "root cause   Cluster." + testv1.GroupVersion.Group + " default/c was not found; 1 other waits for this\n"
	if err != nil || e.Reason != "OwnerNotFound" || len(e.Steps) > 0 || !strings.Contains(e.String(), root) {
		t.Errorf("the steps of another pass are kept: %v\n%s", err, e)
	}
	ready := anApp(AppSpec{})
	ready.Name, ready.UID = "ready", "ready"
	d.create(ready)
	d.passOver(t.Context(), "ready")
	d.pass()
	if _, err := r.Explain(t.Context(), named("ready")); err == nil || !strings.Contains(err.Error(), "flow.WithExplanations(n)") {
		t.Errorf("no pass over an object that is ready is kept: %v", err)
	}
}

// The event of a block names the check that blocked, also inside of a group.
func TestEventNamesTheCheck(t *testing.T) {
	check := checks.OwnerReady(checks.WithReason("Busy"))
	for name, ext := range map[string]flow.Extensions[*App]{"Alone": {OwnerCheck: chain.New(check)}, "InGroup": {PreCheck: chain.New(checks.OnOwner[*App](check))}} {
		d := newHarness(t, anApp(AppSpec{Cluster: "c"}), clusterWith("Creating")).with(ext, flow.WithExplanations(1))
		d.pass()
		e, err := d.app.Explain(t.Context(), named("a"))
		must(t, err)
		same(t, name, []string{"Normal Busy " + e.Link + ": " + d.message()}, d.reported())
		if !strings.Contains(e.Link, "OwnerReady") {
			t.Errorf("%s: the check is %q", name, e.Link)
		}
	}
}

// The last passes over an object that is not ready are kept without an option.
func TestLastPasses(t *testing.T) {
	repeat := func(n int, what string) (all []string) {
		for range n {
			all = append(all, what)
		}
		return all
	}
	cases := map[string]struct {
		reason string
		passes []string
		opts   []ctrlx.Option
		want   []string // the latest first
	}{
		"All":        {"each pass, with its time and its duration", []string{"block", "fail"}, nil, []string{"12:01 failed Quota CheckFailed 1s 0", "12:00 blocked Quota NoQuota 1s 0"}},
		"Ready":      {"a pass that leaves the object ready is not recorded", []string{"block", "", "", "", "block"}, nil, []string{"12:04 blocked Quota NoQuota 1s 0", "12:01 ready   1s 0", "12:00 blocked Quota NoQuota 1s 0"}},
		"Many":       {"the last five", append([]string{"fail"}, repeat(5, "block")...), nil, []string{"12:05 blocked Quota NoQuota 1s 0", "12:04 blocked Quota NoQuota 1s 0", "12:03 blocked Quota NoQuota 1s 0", "12:02 blocked Quota NoQuota 1s 0", "12:01 blocked Quota NoQuota 1s 0"}},
		"TracedOnce": {"the first pass", []string{"block"}, []ctrlx.Option{flow.WithExplanations(1)}, []string{"12:00 blocked Quota NoQuota 1s 10"}},
		"Traced":     {"the steps of the last pass", []string{"fail", "block"}, []ctrlx.Option{flow.WithExplanations(1)}, []string{"12:01 blocked Quota NoQuota 1s 10", "12:00 failed Quota CheckFailed 1s 0"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, does := newHarness(t, anApp(AppSpec{})), ""
			check := checks.Check("Quota", func(ctxt, *checks.Request[*App]) (checks.Result, error) {
				d.now = d.now.Add(time.Second)
				switch does {
				case "block":
					return checks.Block("NoQuota", "no quota is left", checks.WithWaitingForSelf()), nil
				case "fail":
					return checks.Result{}, errBroken
				}
				return checks.Proceed(), nil
			})
			d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(check)}, tc.opts...))
			for i, what := range tc.passes {
				d.now, does = noon.Add(time.Duration(i)*time.Minute), what
				d.pass()
			}
			var got []string
			o := whyDocument(t, ctrlx.Why(d.manager), "?group="+testv1.GroupVersion.Group+"&kind=App&namespace=default&name=a").Objects[0]
			for _, p := range o.Passes {
				got = append(got, fmt.Sprint(p.At.UTC().Format("15:04"), " ", p.State, " ", p.Link, " ", p.Reason, " ", p.Elapsed, " ", len(p.Steps)))
			}
			same(t, tc.reason, tc.want, got)
			same(t, "the steps say whether the object waits for itself", strings.HasPrefix(name, "Traced"), o.WaitsForSelf)
			e, err := d.app.Explain(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"})
			if err != nil || e.State != "blocked" && e.State != "failed" {
				t.Errorf("Explain returns %+v, %v", e, err)
			}
		})
	}
}

// A user deletes what an object guards, and keeps the object: each waits for the
// other. That is a cycle, in the conditions, in the event and in the answer of Why.
func TestGuardCycle(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{Cluster: "c"}), aCluster())
	refs := func(a *App) []checks.Ref { return []checks.Ref{clusterOfApp(a)} }
	d.guards = refs
	d.use(d.reconciler(flow.Extensions[*App]{EntryCheck: chain.New(checks.ReferenceReady("cluster", refs))}))
	d.pass()
	if got := d.says(); got != "True Succeeded" {
		t.Fatalf("the object says %q: %s", got, d.message())
	}
	must(t, d.api.Delete(t.Context(), d.cluster()))
	if c := d.cluster(); c.DeletionTimestamp.IsZero() {
		t.Fatal("the guard does not keep the cluster")
	}
	d.reported()
	d.pass()
	const app, cluster = "App.test.windlass-go.github.io default/a", "Cluster.test.windlass-go.github.io default/c"
	path := "dependency cycle: " + app + " -> " + cluster + " -> " + app
	if got, want := d.says(), "False DependencyCycle Stalled"; got != want || d.message() != path {
		t.Errorf("the object says %q with %q, want %q with %q", got, d.message(), want, path)
	}
	if got := d.reported(); !slices.ContainsFunc(got, func(e string) bool {
		return strings.HasPrefix(e, "Warning DependencyCycle ") && strings.Contains(e, path)
	}) {
		t.Errorf("the events are %q", got)
	}
	d.pass()
	if got := d.reported(); len(got) > 0 {
		t.Errorf("an event comes once: %q", got)
	}
	causes := whyDocument(t, ctrlx.Why(d.manager), "").Causes
	if len(causes) != 1 || !strings.HasPrefix(causes[0].String(), path+"; ") {
		t.Errorf("the root causes are %v", causes)
	}
	// Another object waits for the cluster, and does not keep it.
	other := newHarness(t, anApp(AppSpec{Cluster: "c"}), d.cluster()).with(d.held(), ctrlx.WithKeeping(func(*App, checks.Ref, client.Object) bool { return false }))
	must(t, other.api.Delete(t.Context(), other.cluster()))
	other.pass()
	if causes := whyDocument(t, ctrlx.Why(other.manager), "").Causes; len(causes) != 1 || strings.Contains(causes[0].String(), "cycle") {
		t.Errorf("the root causes are %v", causes)
	}
	// The user refers to no cluster any more.
	d.change(func(a *App) { a.Spec.Cluster = "" })
	d.pass()
	if err := d.api.Get(t.Context(), named("c"), &testv1.Cluster{}); !apierrors.IsNotFound(err) || d.says() != "True Succeeded" {
		t.Errorf("without the reference the object says %q, and the cluster is kept: %v", d.says(), err)
	}
}
