package component_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/manifests"
	"github.com/windlass-go/windlass/flow"
)

// trace is an operator whose passes are recorded. A pass is the list of its hooks
// and of its effects: the call of the generator, the guard, the finalizer, the stored
// inventory, the writes of dependents and the condition Ready.
type trace struct {
	*operator
	clock   time.Time
	failing string // the hook or generator that fails
	failure error  // nil: a retriable one

	mu      sync.Mutex
	passes  [][]string
	effects []bool // whether the pass has an effect
	reads   int    // the number of post-read hooks
	last    Shop   // as the API server answered
	changed chan struct{}
}

// begins begins a pass. controller-runtime makes a logger for each one.
func (tr *trace) begins(req *reconcile.Request) logr.Logger {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if req != nil {
		tr.passes, tr.effects = append(tr.passes, nil), append(tr.effects, false)
	}
	return logr.Discard()
}

// runs records a step of a pass. It returns the error of a step that fails.
func (tr *trace) runs(step string) error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.passes[len(tr.passes)-1] = append(tr.passes[len(tr.passes)-1], step)
	if tr.signal(); step == "post-read" {
		tr.reads++
	}
	if tr.failing == step && tr.failure == errPanic {
		panic("oops")
	} else if tr.failing == step {
		return cmp.Or(tr.failure, error(ctrlx.NewRetriableError(errors.New(step+" fails"), new(time.Hour))))
	}
	return nil
}

// has records effects of a pass.
func (tr *trace) has(effects ...string) {
	if len(effects) == 0 {
		return
	}
	n := len(tr.passes) - 1
	tr.passes[n], tr.effects[n] = append(tr.passes[n], effects...), true
	tr.signal()
}

// signal wakes the test.
func (tr *trace) signal() {
	close(tr.changed)
	tr.changed = make(chan struct{})
}

// answered records the effects of a request, without dry-runs and events.
func (tr *trace) answered(req *http.Request, resp *http.Response) {
	verb := map[string]string{http.MethodPost: "write", http.MethodPut: "write", http.MethodPatch: "patch", http.MethodDelete: "delete"}[req.Method]
	if strings.HasPrefix(req.Header.Get("Content-Type"), "application/apply-patch") {
		verb = "write"
	}
	if verb == "" || req.URL.Query().Has("dryRun") || strings.Contains(req.URL.Path, "/events") {
		return
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	tr.mu.Lock()
	defer tr.mu.Unlock()
	now := Shop{}
	switch {
	case resp.StatusCode == http.StatusConflict: // the user was faster, so another pass follows
	case err != nil || resp.StatusCode >= 300:
		tr.has(fmt.Sprintf("%s %s is refused: %d", verb, path.Base(req.URL.Path), resp.StatusCode))
	case strings.HasPrefix(req.Header.Get("Content-Type"), "application/json-patch"): // the answer may be no JSON
		tr.has("take over " + path.Base(req.URL.Path))
	case !strings.Contains(req.URL.Path, "/shops/"):
		obj := metav1.PartialObjectMetadata{}
		if err := json.Unmarshal(body, &obj); err != nil {
			tr.t.Error(err)
		}
		if obj.Kind == "Status" {
			obj.Name = path.Base(req.URL.Path)
		}
		obj.Name, _, _ = strings.Cut(obj.Name, ".")
		tr.has(verb + " " + obj.Name)
	case json.Unmarshal(body, &now) != nil:
		tr.t.Errorf("the answer is %s", body)
	default:
		tr.has(differences(&tr.last, &now)...)
		tr.last = now
	}
}

// differences returns the effects of a write of a Shop.
func differences(old, now *Shop) (all []string) {
	const finalizer = name + "/finalizer"
	if has := controllerutil.ContainsFinalizer(now, finalizer); has && !controllerutil.ContainsFinalizer(old, finalizer) {
		all = append(all, "finalizer")
	} else if !has && controllerutil.ContainsFinalizer(old, finalizer) {
		all = append(all, "no finalizer")
	}
	items := func(s *Shop) (names []string) {
		for _, i := range s.Status.Inventory {
			short, _, _ := strings.Cut(i.Name, ".")
			names = append(names, short)
		}
		return names
	}
	if is := items(now); !slices.Equal(is, items(old)) {
		all = append(all, fmt.Sprintf("inventory %s", is))
	}
	ready := func(s *Shop) string {
		c := meta.FindStatusCondition(s.Status.Conditions, "Ready")
		if c == nil {
			return ""
		}
		by := ""
		if c.Reason == "DeletionBlocked" {
			by = map[bool]string{true: " by finalizers", false: " by objects"}[strings.Contains(c.Message, "finalizers")]
		}
		return fmt.Sprintf("Ready=%s %s%s", c.Status, c.Reason, by)
	}
	if is := ready(now); is != ready(old) {
		all = append(all, is)
	}
	return all
}

// text returns the passes that have an effect. The channel is closed at the next step.
func (tr *trace) text() (lines []string, changed <-chan struct{}) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for n, steps := range tr.passes {
		if tr.effects[n] {
			lines = append(lines, strings.Join(steps, ", "))
		}
	}
	return lines, tr.changed
}

// errPanic stands for a panic.
var errPanic = errors.New("panic")

// raced is the size of a Shop whose first wave loses a race with another writer.
const raced = 9

// newTrace starts an operator with all hooks, whose passes are recorded.
func newTrace(t *testing.T) *trace {
	t.Helper()
	tr := &trace{clock: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), changed: make(chan struct{})}
	hook := func(step string) ctrlx.HookFunc[*Shop] {
		return func(context.Context, client.Client, *Shop) error { return tr.runs(step) }
	}
	generate := manifests.GeneratorFunc[*ShopSpec](func(ctx context.Context, namespace, name string, spec *ShopSpec) ([]client.Object, error) {
		if err := tr.runs("generate"); err != nil {
			return nil, err
		}
		return inSpec(ctx, namespace, name, spec)
	})
	guarding := chain.Named("guarding", chain.Before[*component.Set, checks.Result](func(context.Context, *component.Set) error { return tr.runs("guard") }))
	now := func() time.Time {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return tr.clock
	}
	race := sync.OnceFunc(func() { tr.touch() })
	racing := chain.Named("racing", chain.Before[*component.Set, checks.Result](func(_ context.Context, w *component.Set) error {
		if w.Component.(*Shop).Spec.Size == raced {
			race()
		}
		return nil
	}))
	tr.operator = startOperator(t, generate, tr.answered, func(r *component.Reconciler[*Shop]) {
		r.WithPostReadHook(hook("post-read")).WithPreReconcileHook(hook("pre-reconcile")).WithPostReconcileHook(hook("post-reconcile")).
			WithPreDeleteHook(hook("pre-delete")).WithPostDeleteHook(hook("post-delete"))
	}, component.WithReconciler(flow.WithClock(now), ctrlx.WithController(controller.Options{LogConstructor: tr.begins})),
		component.WithWaveChain(func(c component.Chain) (component.Chain, error) { return c.InsertAfter("Preflight", racing) }),
		component.WithDeleteChain(func(c component.Chain) (component.Chain, error) { return c.InsertBefore("Guard", guarding) }))
	return tr
}

func (tr *trace) remove() {
	tr.t.Helper()
	must(tr.t, api.Delete(tr.t.Context(), &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: tr.ns, Name: "shop"}}))
}

// fail sets the step that fails; empty: none does.
func (tr *trace) fail(step string) {
	tr.mu.Lock()
	tr.failing = step
	tr.mu.Unlock()
}

func (tr *trace) later(d time.Duration) {
	tr.mu.Lock()
	tr.clock = tr.clock.Add(d)
	tr.mu.Unlock()
}

func (tr *trace) poke() { tr.shops.Inner().Poke(client.ObjectKey{Namespace: tr.ns, Name: "shop"}) }

// step is an action of a user, and the passes that it causes.
type step struct {
	name string
	do   func(*trace)
	want []string
}

// TestTrace pins the order of hooks and states. Each line is a pass with its hooks and
// effects, so a line also shows which hooks a pass leaves out. A pass without an effect
// has no line, because the number of such passes depends on the time at which events
// arrive.
//
// The order is that of component-operator-runtime, with these exceptions, which
// docs/from-component-operator-runtime.md lists. There, a pass ends after the first
// look, a new finalizer, a changed component, a stored inventory, and the first
// readiness. The guard comes before foreign finalizers. A panic is raised again.
func TestTrace(t *testing.T) {
	t.Parallel()
	create := func(tr *trace) { tr.create(configMap("a", "1")) }
	created := step{"create", create, []string{"post-read, finalizer, pre-reconcile, generate, inventory [a], write a, post-reconcile, Ready=True Succeeded"}}
	failing := func(step string) func(*trace) { return func(tr *trace) { tr.fail(step); tr.poke() } }
	createFailing := func(step string) func(*trace) { return func(tr *trace) { tr.fail(step); create(tr) } }
	removeFailing := func(step string) func(*trace) { return func(tr *trace) { tr.fail(step); tr.remove() } }
	later := func(d time.Duration) func(*trace) { return func(tr *trace) { tr.later(d); tr.poke() } }
	const inSync = "post-read, pre-reconcile, generate, post-reconcile, Ready=True Succeeded"
	const lastDelete = "post-read, pre-delete, guard, inventory [], post-delete, no finalizer"
	cases := map[string]struct {
		reason string
		steps  []step
	}{
		"Life": {"post-hooks run when all is ready, or gone; events cause the passes", []step{
			{"create", func(tr *trace) { tr.create(web, configMap("a", "1")) }, []string{
				"post-read, finalizer, pre-reconcile, generate, inventory [a], write a, inventory [a web], write web, Ready=False Processing",
			}},
			{"the workload becomes ready", func(tr *trace) { tr.report(1) }, []string{inSync}},
			{"it loses its readiness", func(tr *trace) { tr.report(0) }, []string{"post-read, pre-reconcile, generate, Ready=False Processing"}},
			{"it is ready again", func(tr *trace) { tr.report(1) }, []string{inSync}},
			{"drift", func(tr *trace) { tr.world().edit("a", "drift") }, []string{"post-read, pre-reconcile, generate, take over a, write a, post-reconcile"}},
			{"a dependent is deleted", func(tr *trace) { must(tr.t, api.Delete(tr.t.Context(), tr.world().configMap("a"))) }, []string{
				"post-read, pre-reconcile, generate, write a, post-reconcile",
			}},
			{"change", func(tr *trace) { tr.edit(func(s *Shop) { s.Spec.Manifests = []string{configMap("a", "2")} }) }, []string{
				"post-read, pre-reconcile, generate, write a, delete web, Ready=False Processing",
				"post-read, pre-reconcile, generate, inventory [a], post-reconcile, Ready=True Succeeded",
			}},
			{"suspend", func(tr *trace) { tr.edit(func(s *Shop) { s.Spec.Suspended = true }) }, []string{"Ready=False Suspended"}},
			{"resume", func(tr *trace) { tr.edit(func(s *Shop) { s.Spec.Suspended = false }) }, []string{inSync}},
			{"suspend again", func(tr *trace) { tr.edit(func(s *Shop) { s.Spec.Suspended = true }) }, []string{"Ready=False Suspended"}},
			{"delete", (*trace).remove, []string{"post-read, pre-delete, guard, delete a, Ready=False DeletionProcessing", lastDelete}},
		}},
		"PostReadFails": {"nothing runs after it, and the component gets no finalizer", []step{
			{"create", createFailing("post-read"), []string{"post-read, Ready=False Retrying"}},
			{"mend", failing(""), created.want},
			{"delete", removeFailing("post-read"), []string{"post-read, Ready=False Retrying"}},
			{"mend again", failing(""), []string{"post-read, pre-delete, guard, delete a, Ready=False DeletionProcessing", lastDelete}},
		}},
		"PreReconcileFails": {"the generator does not run", []step{
			{"create", createFailing("pre-reconcile"), []string{"post-read, finalizer, pre-reconcile, Ready=False Retrying"}},
			{"mend", failing(""), []string{strings.Replace(created.want[0], "finalizer, ", "", 1)}},
		}},
		"GeneratorFails": {"nothing is written, and the live objects stay", []step{
			created,
			{"break", failing("generate"), []string{"post-read, pre-reconcile, generate, Ready=False Retrying"}},
			{"mend", failing(""), []string{inSync}},
		}},
		"GeneratorPanics": {"a panic is an error of the pass", []step{
			{"create", func(tr *trace) {
				tr.failure = errPanic
				createFailing("generate")(tr)
			}, []string{"post-read, finalizer, pre-reconcile, generate, Ready=False Panic"}},
			{"mend", failing(""), []string{strings.Replace(created.want[0], "finalizer, ", "", 1)}},
		}},
		"PostReconcileFails": {"the component is not ready, and its dependents are; the hook runs again", []step{
			{"create", createFailing("post-reconcile"), []string{strings.Replace(created.want[0], "True Succeeded", "False Retrying", 1)}},
			{"mend", failing(""), []string{inSync}},
		}},
		"PreDeleteFails": {"the guard does not run, and nothing is deleted", []step{
			created,
			{"delete", removeFailing("pre-delete"), []string{"post-read, pre-delete, Ready=False Retrying"}},
			{"mend", failing(""), []string{"post-read, pre-delete, guard, delete a, Ready=False DeletionProcessing", lastDelete}},
		}},
		"PostDeleteFails": {"the finalizer stays, and the next pass runs all hooks of the deletion again", []step{
			created,
			{"delete", removeFailing("post-delete"), []string{
				"post-read, pre-delete, guard, delete a, Ready=False DeletionProcessing",
				"post-read, pre-delete, guard, inventory [], post-delete, Ready=False Retrying",
			}},
			{"mend", failing(""), []string{"post-read, pre-delete, guard, post-delete, no finalizer"}},
		}},
		"Timeout": {"the clock starts at the first apply that is not ready, and again after a change", []step{
			{"create", func(tr *trace) {
				s := &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: tr.ns, Name: "shop"}, Spec: ShopSpec{Manifests: []string{web, configMap("a", "1")}, TimeoutSeconds: 600}}
				must(tr.t, api.Create(tr.t.Context(), s))
			}, []string{"post-read, finalizer, pre-reconcile, generate, inventory [a], write a, inventory [a web], write web, Ready=False Processing"}},
			{"time passes, and a dependent changes", func(tr *trace) {
				tr.later(5 * time.Minute)
				tr.touch()
				tr.quiet()
				tr.later(5 * time.Minute)
				tr.poke()
			}, []string{"post-read, pre-reconcile, generate, Ready=False Timeout"}},
			{"change", func(tr *trace) { tr.edit(func(s *Shop) { s.Spec.Size = 2 }) }, []string{"post-read, pre-reconcile, generate, Ready=False Processing"}},
			{"an error", failing("pre-reconcile"), []string{"post-read, pre-reconcile, Ready=False Retrying"}},
			{"time passes, and the error stays", later(10 * time.Minute), []string{"post-read, pre-reconcile, Ready=False Timeout"}},
			{"another change", func(tr *trace) { tr.edit(func(s *Shop) { s.Spec.Size = 3 }) }, []string{"post-read, pre-reconcile, Ready=False Retrying"}},
			{"no error", failing(""), []string{"post-read, pre-reconcile, generate, Ready=False Processing"}},
			{"time passes again", later(10 * time.Minute), []string{"post-read, pre-reconcile, generate, Ready=False Timeout"}},
			{"the workload becomes ready", func(tr *trace) { tr.report(1) }, []string{inSync}},
			{"it loses its readiness", func(tr *trace) { tr.report(0) }, []string{"post-read, pre-reconcile, generate, Ready=False Processing"}},
			{"delete, later", func(tr *trace) { tr.later(time.Hour); tr.remove() }, []string{
				"post-read, pre-delete, guard, delete web, delete a, Ready=False DeletionProcessing", lastDelete,
			}},
		}},
		"TooManyRequests": {"the pass runs again when the server says so, and not after the back-off", []step{
			{"create", func(tr *trace) {
				tr.failure = apierrors.NewTooManyRequests("busy", 1)
				createFailing("pre-reconcile")(tr)
			}, []string{"post-read, finalizer, pre-reconcile, Ready=False TooManyRequests"}},
			{"mend", func(tr *trace) { tr.fail("") }, []string{strings.Replace(created.want[0], "finalizer, ", "", 1)}},
		}},
		"RetryInterval": {"an error without a delay is retried after the interval of the component", []step{
			{"create", func(tr *trace) {
				tr.failure = fmt.Errorf("the registry: %w", ctrlx.NewRetriableError(errors.New("down"), nil))
				tr.fail("generate")
				must(tr.t, api.Create(tr.t.Context(), &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: tr.ns, Name: "shop"}, Spec: ShopSpec{Manifests: []string{configMap("a", "1")}, RetrySeconds: 1}}))
			}, []string{"post-read, finalizer, pre-reconcile, generate, Ready=False Retrying"}},
			{"mend", func(tr *trace) { tr.fail("") }, []string{strings.Replace(created.want[0], "finalizer, ", "", 1)}},
		}},
		"RequeueInterval": {"a ready component has a pass after the interval", []step{
			{"create", func(tr *trace) {
				must(tr.t, api.Create(tr.t.Context(), &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: tr.ns, Name: "shop"}, Spec: ShopSpec{Manifests: []string{configMap("a", "1")}, RequeueSeconds: 1}}))
			}, created.want},
			{"break", func(tr *trace) { tr.fail("post-reconcile") }, []string{"post-read, pre-reconcile, generate, post-reconcile, Ready=False Retrying"}},
		}},
		"BackOff": {"an error without a class is retried after the back-off", []step{
			{"create", func(tr *trace) {
				tr.failure = errors.New("the registry is down")
				createFailing("generate")(tr)
			}, []string{"post-read, finalizer, pre-reconcile, generate, Ready=False Unknown"}},
			{"mend", func(tr *trace) { tr.fail("") }, []string{strings.Replace(created.want[0], "finalizer, ", "", 1)}},
		}},
		"Conflict": {"a dependent that changes between the read and the write is read again soon", []step{
			created,
			{"change", func(tr *trace) {
				tr.edit(func(s *Shop) { s.Spec.Manifests, s.Spec.Size = []string{configMap("a", "2")}, raced })
			}, []string{
				"post-read, pre-reconcile, generate, Ready=False Conflict",
				"post-read, pre-reconcile, generate, take over a, write a, post-reconcile, Ready=True Succeeded",
			}},
		}},
		"Blocked": {"pre-delete runs while the deletion is blocked; instances go before their type", []step{
			{"create", func(tr *trace) {
				crd, kind := tr.world().definition()
				tr.create(crd, mill(kind, "ours"), configMap("a", "1"))
			}, []string{
				"post-read, finalizer, pre-reconcile, generate, inventory [mills a], write mills, write a, Ready=False Processing",
				"post-read, pre-reconcile, generate, inventory [mills a ours], write ours, post-reconcile, Ready=True Succeeded",
			}},
			{"delete", func(tr *trace) {
				w := tr.world()
				_, kind := w.definition()
				w.create(mill(kind, "foreign"))
				tr.edit(func(s *Shop) { controllerutil.AddFinalizer(s, "example.com/other") })
				tr.remove()
			}, []string{"post-read, pre-delete, Ready=False DeletionBlocked by finalizers"}},
			{"free of finalizers", func(tr *trace) { tr.edit(func(s *Shop) { controllerutil.RemoveFinalizer(s, "example.com/other") }) },
				[]string{"post-read, pre-delete, guard, Ready=False DeletionBlocked by objects"}},
			{"free of instances", func(tr *trace) {
				_, kind := tr.world().definition()
				must(tr.t, api.Delete(tr.t.Context(), tr.world().object(kind, "foreign")))
			}, []string{
				"post-read, pre-delete, guard, delete ours, Ready=False DeletionProcessing",
				"post-read, pre-delete, guard, delete a, inventory [mills a]",
				"post-read, pre-delete, guard, delete mills, inventory [mills]",
				lastDelete,
			}},
		}},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			tr := newTrace(t)
			from := 0
			for _, s := range tc.steps {
				s.do(tr)
				got := tr.until(from, s.want[len(s.want)-1])
				mustBeSame(t, s.want, got, "%s: %s: the passes", tc.reason, s.name)
				from += len(got)
			}
		})
	}
}

// until waits for a pass with an effect, and returns all such passes but the first
// ones.
func (tr *trace) until(from int, last string) []string {
	end := time.After(patience)
	for {
		got, changed := tr.text()
		if n := len(got); n > from && got[n-1] == last {
			return got[from:]
		}
		select {
		case <-changed:
		case <-end:
			return got[from:]
		}
	}
}

// touch changes the version of the ConfigMap.
func (tr *trace) touch() {
	tr.t.Helper()
	tr.world().patch("a", `{"metadata":{"annotations":{"a":"b"}}}`)
}

// quiet waits for two passes. The second one begins a second after the first one, so
// that it sees all that has happened before.
func (tr *trace) quiet() {
	tr.t.Helper()
	ran := func() (int, <-chan struct{}) {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return tr.reads, tr.changed
	}
	for range 2 {
		n, _ := ran()
		tr.poke()
		for now, changed := ran(); now == n; now, changed = ran() {
			select {
			case <-changed:
			case <-time.After(patience):
				tr.t.Fatal("no pass runs")
			}
		}
	}
}
