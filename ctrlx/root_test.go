package ctrlx_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// silently returns a check that waits for the owner, and whose message does not
// name it.
func silently[T any]() checks.Middleware[T] {
	return checks.Check("Above", func(_ ctxt, req *checks.Request[T]) (checks.Result, error) {
		if req.Owner.Readiness.State == checks.Ready {
			return checks.Proceed(), nil
		}
		return checks.Block("Waiting", "it waits", checks.WithWaitingFor(req.Owner.Ref)), nil
	})
}

// databaseOf names the owner of an App, which is a database.
func databaseOf(a *App) checks.Ref {
	return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Database", Name: a.Spec.Cluster}
}

// An App waits for three databases and a cluster, whose reconcilers share a manager. Each message names the present root
// cause, also if the statuses between do not change. The answer of Why names the causes and the path.
func TestRootCause(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	db := ctrlx.New("Database", o.operations(), flow.Extensions[*testv1.Database]{PreCheck: chain.New(silently[*testv1.Database]())}, ctrlx.WithOwner(ownerByName), flow.WithExplanations(10))
	app := ctrlx.New("App", flow.Operations[*App]{Apply: func(ctxt, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }},
		flow.Extensions[*App]{PreCheck: chain.New(silently[*App]())}, ctrlx.WithOwner(databaseOf))
	mgr := o.start(db, app)
	<-mgr.Elected()
	short := func(s string) string {
		return strings.ReplaceAll(s, "."+testv1.GroupVersion.Group+" "+o.namespace+"/", " ")
	}
	says := func(reason, cause string, want map[string]string) {
		t.Helper()
		settles(t, func() string {
			got := map[string]string{}
			for name := range want {
				var conditions []metav1.Condition
				if name == "app" {
					conditions = o.app().Status.Conditions
				} else {
					conditions = o.when(name, func(*testv1.Database) bool { return true }).Status.Conditions
				}
				if c := meta.FindStatusCondition(conditions, "Ready"); c != nil {
					got[name] = short(c.Message)
				}
			}
			all := []string{}
			for _, c := range whyDocument(t, ctrlx.Why(mgr), "?namespace="+o.namespace).Causes {
				all = append(all, short(c.String()))
			}
			return cmp.Diff(want, got) + cmp.Diff(cause, strings.Join(all, "; "))
		})
		if t.Failed() {
			t.Fatal(reason)
		}
	}
	o.database("d1", "cluster-1")
	o.database("d2", "d1")
	o.database("d3", "d2")
	missing := "it waits; root cause: Cluster cluster-1 was not found"
	o.create(AppSpec{Cluster: "d3"})
	says("the cluster is missing", "Cluster cluster-1 is missing; 4 objects wait for it: create it, or correct the reference",
		map[string]string{"d1": "it waits", "d2": missing, "d3": missing, "app": missing})
	settles(t, func() string { return cmp.Diff([]string{"Database d3"}, o.relatedTo("a")) })
	d := whyDocument(t, ctrlx.Why(mgr), "?kind=App&group="+testv1.GroupVersion.Group+"&namespace="+o.namespace+"&name=a")
	path := d.Graph().Path(checks.Ref{Group: testv1.GroupVersion.Group, Kind: "App", Namespace: o.namespace, Name: "a"})
	var names []string
	for _, p := range path {
		names = append(names, p.Ref.Kind+" "+p.Ref.Name)
	}
	same(t, "the path", []string{"App a", "Database d3", "Database d2", "Database d1", "Cluster cluster-1"}, names)
	if d3 := path[1]; d3.Link != "Above" || d3.Point != flow.PointPreCheck || d3.Since.IsZero() || d3.Again.Before(d3.Since) || len(d3.Passes) == 0 || len(d3.Passes[0].Steps) == 0 {
		t.Errorf("d3 is described as %+v", d3)
	}

	was := o.until("d1", "False Waiting").ResourceVersion
	c := o.cluster("cluster-1", "Failed")
	failed := "it waits; root cause: Cluster cluster-1 is not ready"
	says("the cluster failed", "Cluster cluster-1 is blocked: Failed: it is Failed; 4 objects wait for it: meet the requirement that its message names",
		map[string]string{"d1": "it waits", "d2": failed, "d3": failed, "app": failed})
	if d := o.until("d1", "False Waiting"); d.ResourceVersion != was {
		t.Errorf("the status of d1 was written: %+v", d.Status)
	}

	o.respec("d1", "d3")
	cycle := "dependency cycle: Database d1 -> Database d3 -> Database d2 -> Database d1"
	says("a cycle", cycle+"; 4 objects wait for each other or for one of these: remove one of the references",
		map[string]string{"d1": cycle, "app": "it waits; root cause: " + cycle})

	o.report(c, "Running")
	o.respec("d1", "cluster-1")
	says("all are ready", "", map[string]string{"d1": "", "d2": "", "d3": "", "app": ""})
}

func (o *operator) app() *App {
	o.t.Helper()
	a := &App{}
	must(o.t, api.Get(o.t.Context(), client.ObjectKey{Namespace: o.namespace, Name: "a"}, a))
	return a
}

// respec names another owner of a database.
func (o *operator) respec(name, owner string) {
	o.t.Helper()
	d := o.when(name, func(*testv1.Database) bool { return true })
	patch := client.MergeFrom(d.DeepCopyObject().(client.Object))
	d.Spec.Cluster = owner
	must(o.t, api.Patch(o.t.Context(), d, patch))
}

// relatedTo returns the related objects of the events about an object.
func (o *operator) relatedTo(name string) (all []string) {
	o.t.Helper()
	var list eventsv1.EventList
	must(o.t, api.List(o.t.Context(), &list, client.InNamespace(o.namespace)))
	for _, e := range list.Items {
		if e.Regarding.Name == name && e.Related != nil {
			all = append(all, e.Related.Kind+" "+e.Related.Name)
		}
	}
	return all
}

// chainOf names the owner of an App: another App, or the cluster "c".
func chainOf(a *App) checks.Ref {
	if a.Spec.Cluster == "c" {
		return clusterOfApp(a)
	}
	return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "App", Name: a.Spec.Cluster}
}

// chained runs passes over the Apps "a", which waits for "b", which waits for the
// cluster "c".
func chained(t *testing.T, cluster *testv1.Cluster, check checks.Middleware[*App], opts ...ctrlx.Option) (d *harness, pass func(names ...string)) {
	b := anApp(AppSpec{Cluster: "c"})
	b.Name, b.UID = "b", "b"
	d = newHarness(t, anApp(AppSpec{Cluster: "b"}), b)
	if cluster != nil {
		d.create(cluster)
	}
	opts = append(opts, ctrlx.WithOwner(chainOf))
	ext := flow.Extensions[*App]{PreCheck: chain.New(check)}
	d.use(d.reconciler(ext, opts...))
	return d, func(names ...string) {
		t.Helper()
		for _, name := range names {
			if name == "restart" {
				d.restart()
				d.use(d.reconciler(ext, opts...))
				continue
			}
			d.passOver(t.Context(), name)
		}
	}
}

// clusterWith is the Cluster "c", which is not ready.
func clusterWith(reason string) *testv1.Cluster {
	c := aCluster()
	c.Status.Conditions[0] = metav1.Condition{Type: "Ready", Status: "False", Reason: reason, Message: "not yet", ObservedGeneration: 1}
	return c
}

// Explain has the reason of the root cause, which is foreign, on one line.
func TestRootCauseReason(t *testing.T) {
	d, pass := chained(t, clusterWith("A\n\u202eB\x1b[2J<script>"), silently[*App]())
	pass("b", "a")
	e, err := d.app.Explain(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"})
	want := "Cluster." + testv1.GroupVersion.Group + ` default/c is not ready: A; \u202eB\x1b[2J<script>`
	if err != nil || e.RootCause != want {
		t.Errorf("the root cause is %q, want %q (%v)", e.RootCause, want, err)
	}
}

// Nothing is written if the root cause stays, whatever lies between.
func TestRootCauseWrites(t *testing.T) {
	longer := func(d *harness) { // b waits for x, which waits for the cluster
		x := anApp(AppSpec{Cluster: "c"})
		x.Name, x.UID = "x", "x"
		d.create(x)
		b := d.appOf("b")
		b.Spec.Cluster = "x"
		d.update(b)
	}
	reason := inCluster(func(c *testv1.Cluster) {
		c.Status.Conditions[0].Status, c.Status.Conditions[0].Reason = "Unknown", "Throttled"
	})
	cases := map[string]struct {
		reason  string
		cluster *testv1.Cluster
		change  func(*harness)
		before  []string // the passes after the change that may write
		passes  []string
		want    string
	}{
		"Steady":    {"nothing changed", nil, nil, nil, []string{"a", "b", "a"}, "was not found"},
		"Distance":  {"the root is farther away", nil, longer, []string{"x", "b"}, []string{"a", "b"}, "was not found"},
		"Restart":   {"a new process has not seen the awaited object yet", nil, nil, nil, []string{"restart", "a", "b", "a"}, "was not found"},
		"Reason":    {"the root is not ready for another reason", clusterWith("Creating"), reason, nil, []string{"b", "a"}, "is not ready"},
		"NoPass":    {"the awaited object gets no pass in the new process", nil, nil, []string{"restart"}, []string{"a", "a"}, "was not found"},
		"Undecided": {"the new awaited object has had no pass", nil, longer, []string{"b", "a"}, []string{"a"}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, pass := chained(t, tc.cluster, silently[*App]())
			pass("b", "a")
			if tc.change != nil {
				tc.change(d)
			}
			pass(tc.before...)
			was := d.writes
			pass(tc.passes...)
			_, root, _ := strings.Cut(d.message(), "default/c ")
			if d.writes != was || root != tc.want {
				t.Errorf("%s: %d writes, the message is %q", tc.reason, d.writes-was, d.message())
			}
		})
	}
}

// A line of forty Apps waits for a cluster. A change of the cluster's message writes
// one status: that of the App that waits for the cluster itself. The others name the
// cluster, and quote no message.
func TestRootCauseLine(t *testing.T) {
	const n = 40
	var apps []client.Object
	name := func(i int) string { return fmt.Sprintf("l%02d", i) }
	for i := range n {
		app := anApp(AppSpec{Cluster: name(i + 1)})
		if i == n-1 {
			app.Spec.Cluster = "c"
		}
		app.Name, app.UID = name(i), types.UID(name(i))
		apps = append(apps, app)
	}
	d := newHarness(t, append(apps, clusterWith("Creating"))...)
	set := func() {
		d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(checks.OnOwner[*App](checks.OwnerReady()))}, ctrlx.WithOwner(chainOf)))
	}
	set()
	pass := func(i int) { d.passOver(t.Context(), name(i)) }
	up := func() { // the waiters of an object after it, as its events wake them
		for i := range n {
			pass(n - 1 - i)
		}
	}
	up()
	up()
	was := d.writes
	for i := range 3 {
		inCluster(func(c *testv1.Cluster) { c.Status.Conditions[0].Message = fmt.Sprint(i, " of 3 machines run") })(d)
		up()
	}
	same(t, "the writes of three changes of the message", 3, d.writes-was)
	was = d.writes
	d.restart()
	set()
	for i := range n { // each before the object that it waits for
		pass(i)
	}
	up()
	if d.writes != was {
		t.Errorf("a restart causes %d writes", d.writes-was)
	}
	group := testv1.GroupVersion.Group
	want := "owner App." + group + " default/l01 is not ready: OwnerNotReady; root cause: Cluster." + group + " default/c is not ready"
	same(t, "the message of the first App",
		want, meta.FindStatusCondition(d.appOf(name(0)).Status.Conditions, "Ready").Message)
}

// After a restart, the App "a" waits for "b", which waits for "l". Their passes end in
// any order. They write nothing, and the new App "x", which waits for "a", never
// names another root cause than "l".
func TestRootCauseRestart(t *testing.T) {
	all := []string{"a", "b", "l"}
	orders := [][]string{{"a", "b", "l"}, {"a", "l", "b"}, {"b", "a", "l"}, {"b", "l", "a"}, {"l", "a", "b"}, {"l", "b", "a"}}
	root := "it waits; root cause: App." + testv1.GroupVersion.Group + " default/l is not ready"
	cases := map[string]struct {
		reason string
		retry  classify.Retry
	}{
		"Slow":  {"the root has passes in the new process", classify.Slow},
		"Final": {"the root is final, so it gets no pass", classify.Never},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, order := range orders {
				check := checks.Check("Above", func(_ ctxt, req *checks.Request[*App]) (checks.Result, error) {
					if req.Resource.Name == "l" {
						return checks.Block("Broken", "it is broken", checks.WithRetry(tc.retry)), nil
					}
					return checks.Block("Waiting", "it waits", checks.WithWaitingFor(req.Owner.Ref)), nil
				})
				var apps []client.Object
				for name, owner := range map[string]string{"a": "b", "b": "l", "l": "c", "x": "a"} {
					app := anApp(AppSpec{Cluster: owner})
					app.Name, app.UID = name, types.UID(name)
					apps = append(apps, app)
				}
				d := newHarness(t, apps...)
				set := func() {
					d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(check)}, ctrlx.WithOwner(chainOf)))
				}
				pass := func(name string) (message string) {
					d.passOver(t.Context(), name)
					return meta.FindStatusCondition(d.appOf(name).Status.Conditions, "Ready").Message
				}
				set()
				for _, name := range []string{"l", "b", "a"} {
					pass(name)
				}
				if got := pass("a"); got != root {
					t.Fatalf("%s: before the restart, the message is %q", tc.reason, got)
				}
				d.restart()
				set()
				queue := ctrlx.Woken(d.app)
				was := d.writes
				ofX := func() (message string) {
					before := d.writes
					message = pass("x")
					was += d.writes - before
					return message
				}
				for _, name := range order {
					pass(name)
					if got := ofX(); got != "it waits" && got != root {
						t.Errorf("%s: %v, after %s: the message of x is %q", tc.reason, order, name, got)
					}
				}
				for range 20 {
					if queue.Len() == 0 {
						break
					}
					req, _ := queue.Get()
					queue.Done(req)
					if slices.Contains(all, req.Name) {
						pass(req.Name)
					}
				}
				if got := ofX(); queue.Len() > 0 || d.writes != was || d.message() != root || got != root {
					t.Errorf("%s: %v: %d wake-ups are left, %d writes, the messages are %q and %q", tc.reason, order, queue.Len(), d.writes-was, d.message(), got)
				}
			}
		})
	}
}

// A waiter learns that the root cause has ended. a waits for b, which waits for the missing cluster c. The process ends, and from then on b is
// ignored (another shard has it, as in docs/ctrlx/scale.md). c is created. No pass over a may say that c was not found.
func TestRootCauseOfIgnored(t *testing.T) {
	b := anApp(AppSpec{Cluster: "c"})
	b.Name, b.UID = "b", "b"
	d := newHarness(t, anApp(AppSpec{Cluster: "b"}), b)
	ignored := false
	ext := flow.Extensions[*App]{
		EntryCheck: chain.New(checks.Check("shard", func(_ ctxt, req *checks.Request[*App]) (checks.Result, error) {
			if ignored && req.Resource.Name == "b" {
				return checks.Ignore("another operator has it"), nil
			}
			return checks.Proceed(), nil
		})),
		PreCheck: chain.New(silently[*App]()),
	}
	d.use(d.reconciler(ext, ctrlx.WithOwner(chainOf)))
	pass := func(names ...string) {
		t.Helper()
		for _, name := range names {
			d.passOver(t.Context(), name)
		}
	}
	pass("b", "a", "b", "a")
	ignored = true
	d.restart()
	d.use(d.reconciler(ext, ctrlx.WithOwner(chainOf)))
	d.create(clusterWith("Starting"))
	pass("b", "a", "b", "a", "a")
	a := d.appOf("a")
	if m := meta.FindStatusCondition(a.Status.Conditions, "Ready").Message; strings.Contains(m, "was not found") {
		t.Errorf("the cluster exists, and a says: %s", m)
	}
}

// The note of an event ends with the whole root cause if there is room for it.
func TestShortNote(t *testing.T) {
	const most = 1024
	message := strings.Repeat("ä", 600)
	root := func(n int) string {
		const prefix = "; root cause: dependency cycle: "
		return prefix + strings.Repeat("x", n-len(prefix))
	}
	cases := map[string]struct {
		reason, note, want string
	}{
		"Short":   {"it fits", "it waits" + root(600), "it waits" + root(600)},
		"Cycle":   {"a cycle is longer than half of a note", message + root(900), strings.Repeat("ä", 60) + "..." + root(900)},
		"Longest": {"the root cause fills the note", message + root(most-3), "..." + root(most-3)},
		"Longer":  {"the root cause is longer than a note", "it waits" + root(most), "it waits" + root(most)[:most-8-3] + "..."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ctrlx.ShortNote(tc.note); got != tc.want || len(got) > most {
				t.Errorf("%s: got %d bytes, %q, want %q", tc.reason, len(got), got, tc.want)
			}
		})
	}
}

// Two Apps wait for each other at PostCheck. Without a Get, each pass applies again what the checks there blocked. An
// operation that begins so leaves the object in its cycle: the change would wake the other one, whose change would wake it.
func TestAppliesAgain(t *testing.T) {
	const cycle, progress = "False DependencyCycle Stalled", "False InProgress Reconciling"
	cases := map[string]struct {
		reason string
		of     string // the App that "b" waits for
		then   func(*harness)
		want   string
	}{
		"Cycle":   {"each would wake the other", "a", func(*harness) {}, cycle},
		"Line":    {"the other one does not wait", "", func(*harness) {}, progress},
		"Changed": {"the operation is for a new spec", "a", func(d *harness) { d.change(func(a *App) { a.Spec.Retry = minutes(1) }) }, progress},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := anApp(AppSpec{Cluster: tc.of})
			b.Name, b.UID = "b", "b"
			d := newHarness(t, anApp(AppSpec{Cluster: "b"}), b)
			long := false
			other := checks.ReferenceReady("other", func(a *App) []checks.Ref { return []checks.Ref{chainOf(a)} })
			d.use(ctrlx.New("App", flow.Operations[*App]{Apply: func(_ ctxt, req *flow.Request[*App]) (flow.Progress, error) {
				if long && req.Token == "" {
					return flow.InProgress("token", 0), nil
				}
				return flow.Done(), nil
			}}, flow.Extensions[*App]{PostCheck: chain.New(other)}, append(d.clock(), ctrlx.WithOwner(func(*App) checks.Ref { return checks.Ref{} }))...))
			queue := ctrlx.Woken(d.app)
			d.pass()
			if tc.of != "" {
				d.passOver(t.Context(), "b")
				if d.pass(); !strings.HasPrefix(d.says(), cycle) {
					t.Fatalf("%s: the object says %q: %s", tc.reason, d.says(), d.message())
				}
			}
			tc.then(d)
			for queue.Len() > 0 {
				req, _ := queue.Get()
				queue.Done(req)
			}
			long = true
			if d.pass(); !strings.HasPrefix(d.says(), tc.want) {
				t.Errorf("%s: the object says %q: %s", tc.reason, d.says(), d.message())
			}
			if d.stored() != "token" || tc.want == cycle && queue.Len() > 0 {
				t.Errorf("%s: the operation %q is stored, and %d objects are woken", tc.reason, d.stored(), queue.Len())
			}
			if d.pass(); tc.of != "" && !strings.HasPrefix(d.says(), cycle) { // it polls
				t.Errorf("%s: after the operation the object says %q: %s", tc.reason, d.says(), d.message())
			}
		})
	}
}
