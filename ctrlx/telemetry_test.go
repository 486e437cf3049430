package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// lines holds the log lines of passes, up to a verbosity, without durations and the delay until the next pass.
type lines struct {
	mu  sync.Mutex
	all []string
}

// times are the parts of a line that depend on the clock.
var times = regexp.MustCompile(` "duration"=[-0-9.e]+| "nextPass"="[^"]*"`)

func (l *lines) context(ctx context.Context, verbosity int) context.Context {
	return logr.NewContext(ctx, funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, strings.ReplaceAll(times.ReplaceAllString(args, ""), `"`, ""))
	}, funcr.Options{Verbosity: verbosity}))
}

// took returns the lines since the last call.
func (l *lines) took() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

// Without an option, a pass logs one line when it changes the verdict: an error if it failed.
func TestTelemetry(t *testing.T) {
	const block = "level=0 msg=pass ended reconciler=App key=default/a uid point=PreCheck link=Quota verdict=block reason=NoQuota%s retry=slow message=no quota is left"
	const disks = "level=0 msg=pass ended reconciler=App key=default/a uid point=PreCheck link=Disks verdict=block reason=NoQuota previous=blocked NoQuota retry=slow message=no quota is left"
	const ready = "level=0 msg=pass ended reconciler=App key=default/a uid verdict=ready reason=Succeeded"
	const failed = "msg=pass ended error=%s reconciler=App key=default/a uid point=PreCheck link=Quota verdict=error reason=CheckFailed%s retry=slow message=%s errorType=*errors.errorString"
	broken := func(previous string) string {
		return fmt.Sprintf(failed, "the cloud is broken", previous, "check Quota failed: the cloud is broken")
	}
	quota, moved := fmt.Sprintf(block, ""), fmt.Sprintf(block, " previous=blocked NoQuota")
	long := strings.Repeat("long ", 400)
	cases := map[string]struct {
		reason string
		opts   []ctrlx.Option
		passes []string // what the check Quota does
		want   []string // at verbosity 1, which zap shows in development, for the cases of Repeated
	}{
		"RepeatedBlock": {"a pass that changes nothing is one line", nil, []string{"block", "block"}, []string{quota, strings.Replace(quota, "level=0", "level=1", 1)}},
		"RepeatedReady": {"a pass that changes nothing is one line", nil, []string{"proceed", "proceed"}, []string{ready, strings.Replace(ready, "level=0", "level=1", 1)}},
		"Fails":         {"a failure is logged once, with the link, the reason and the class", nil, []string{"fail", "fail"}, []string{broken("")}},
		"Blocks":        {"a block is logged once, however often its objects wake it", nil, []string{"block", "block", "block"}, []string{quota}},
		"Moves":         {"the same reason of another link is a new block", nil, []string{"block", "disks", "disks", "block"}, []string{quota, disks, moved}},
		"Again":         {"a block after a pass that proceeded is new", nil, []string{"block", "proceed", "block"}, []string{quota, ready + " previous=blocked NoQuota", quota}},
		"Recovers": {"a failure after a block, and the recovery, are logged once each", nil, []string{"block", "fail", "fail", "proceed", "proceed"},
			[]string{quota, broken(" previous=blocked NoQuota"), ready + " previous=failed CheckFailed"}},
		"Kept":  {"a block that leaves the status as it is, is logged once as well", nil, []string{"keep", "keep"}, []string{quota}},
		"Ready": {"the first pass that is ready is logged, and no other", nil, []string{"proceed", "proceed"}, []string{ready}},
		"Off":   {"WithoutTelemetry logs nothing", []ctrlx.Option{ctrlx.WithoutTelemetry()}, []string{"fail", "block"}, nil},
		"Options": {"WithTelemetry changes the defaults", []ctrlx.Option{ctrlx.WithTelemetry(otelx.WithErrorText(9)), ctrlx.WithTelemetry(otelx.WithChanges(nil))},
			[]string{"block", "block"}, []string{quota, quota}},
		"WithoutLogs": {"and can turn log lines off alone", []ctrlx.Option{ctrlx.WithTelemetry(otelx.WithoutLogs())}, []string{"fail"}, nil},
		"Own": {"the user's own observer replaces it", []ctrlx.Option{ctrlx.WithoutTelemetry(), flow.WithObserver(otelx.New())},
			[]string{"block", "block"}, []string{quota, quota}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			var does string
			check := func(name, blocks string) checks.Middleware[*App] {
				return checks.Check(name, func(ctxt, *checks.Request[*App]) (checks.Result, error) {
					switch does {
					case blocks:
						return checks.Block("NoQuota", "no quota is left"), nil
					case "keep":
						return checks.Block("NoQuota", "no quota is left", checks.WithStatusKept()), nil
					case "fail":
						return checks.Result{}, errBroken
					case "long":
						return checks.Result{}, errors.New(long)
					}
					return checks.Proceed(), nil
				})
			}
			d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(check("Quota", "block"), check("Disks", "disks"))}, tc.opts...))
			var log lines
			verbosity := 0
			for _, does = range tc.passes {
				if d.passIn(log.context(t.Context(), verbosity)); strings.HasPrefix(name, "Repeated") {
					verbosity = 1
				}
			}
			same(t, tc.reason, tc.want, log.took())
			if does = "long"; name != "Fails" {
				return
			}
			d.passIn(log.context(t.Context(), 0))
			if got := strings.Join(log.took(), "\n"); strings.Count(got, "long ") > 2*1000/len("long ") {
				t.Errorf("the text of an error is bounded: %d bytes", len(got))
			}
		})
	}
}

// Each change of the verdict logs one line, whatever ends the pass. A restart
// logs nothing for an object that is ready, and a line for each other object.
func TestTelemetryOfEachVerdict(t *testing.T) {
	var log lines
	now := anApp(AppSpec{Timeout: minutes(10)})
	d := newHarness(t, now)
	var does checks.Result
	ext := flow.Extensions[*App]{EntryCheck: chain.New(checks.Check("Entry", func(ctxt, *checks.Request[*App]) (checks.Result, error) { return does, nil }))}
	does = checks.Proceed()
	d.use(d.reconciler(ext))
	steps := []struct {
		reason string
		do     func()
		want   []string
	}{
		{"an operation starts", func() { goesOn(d) }, []string{"verdict=wait reason=InProgress"}},
		{"it is still under way", func() {}, nil},
		{"it exceeds the time-out", func() { d.now = d.now.Add(10 * time.Minute) }, []string{"the object exceeded its time-out"}},
		{"it is still late", func() { d.now = d.now.Add(time.Minute) }, nil},
		{"a process without an observer", func() { d.restart(); d.use(d.reconciler(ext, ctrlx.WithoutTelemetry())) }, nil},
		{"a process with one", func() { d.restart(); d.use(d.reconciler(ext)) }, []string{"the object exceeded its time-out", "verdict=wait"}},
		{"it ends", func() { d.apply = nil }, []string{"verdict=ready reason=Succeeded previous=in progress InProgress"}},
		{"a restart", func() { d.restart(); d.use(d.reconciler(ext)) }, nil},
		{"it is blocked", func() { does = checks.Block("Busy", "busy") }, []string{"verdict=block reason=Busy"}},
		{"a restart while it is blocked", func() { d.restart(); d.use(d.reconciler(ext)) }, []string{"verdict=block reason=Busy"}},
		{"another controller takes it", func() { does = checks.Ignore("theirs") }, []string{"verdict=ignore"}},
		{"it stays theirs", func() {}, nil},
		{"it is ours again", func() { does = checks.Proceed() }, []string{"verdict=ready reason=Succeeded"}},
		{"it is finished", func() { does = checks.Finished("Sealed", "for good") }, []string{"verdict=finish reason=Sealed"}},
		{"no pass follows", func() {}, nil},
		{"a user deletes it", func() { does = checks.Proceed(); d.delete(d.read()) }, []string{"verdict=gone"}},
		{"it is gone", func() {}, nil},
	}
	for _, s := range steps {
		s.do()
		d.passIn(log.context(t.Context(), 0))
		got := log.took()
		if len(got) != len(s.want) || len(got) > 0 && !strings.Contains(got[0], s.want[0]) {
			t.Errorf("%s: the lines are %q, want %q", s.reason, got, s.want)
		}
	}
}

// What no observer reports has a line of its own, which names what a person needs to act.
func TestLines(t *testing.T) {
	apply := func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }
	release := checks.Release("the reclaim policy is Retain")
	vanishes := func(d *harness) {
		d.beforeStatus = func() {
			if d.writes == 1 {
				d.vanish()
			}
		}
	}
	cases := map[string]struct {
		app  *App
		do   func(*harness)
		want string
	}{
		"Released": {anApp(AppSpec{}), func(d *harness) {
			d.with(checking(flow.PointDeleteCheck, answers(&release)))
			deleted(d)
			d.pass()
		}, "level=0 msg=the object is released without a deletion in the cloud why=the reclaim policy is Retain link=check"},
		"Copied": {anApp(AppSpec{}), func(d *harness) {
			d.recorded(operating("theirs"))
			d.recorded(func(r *record.Record) { r.UID = "other" })
			d.with(flow.Extensions[*App]{}).pass()
		}, `level=0 msg=the operation of another object is ignored reconciler=App key=default/a uid uid=\other\ kind=\App.test.windlass-go.github.io\`},
		"FirstPass": {anApp(AppSpec{}), func(d *harness) { d.with(flow.Extensions[*App]{}).pass() },
			"level=1 msg=the first pass over the object is not left out reconciler=App key=default/a uid why=the object is not Ready for its generation"},
		"Program": {anApp(AppSpec{}), func(d *harness) {
			d.with(flow.Extensions[*App]{}, program("", errBroken), ctrlx.WithoutQuietRestart()).restart()
			d.with(flow.Extensions[*App]{}, program("", errBroken))
		},
			"level=0 msg=a restart reconciles every object, because the executable cannot be read reconciler=App error=the cloud is broken"},
		"TimedOut": {anApp(AppSpec{Timeout: minutes(10)}), func(d *harness) {
			goesOn(d)
			d.with(flow.Extensions[*App]{}).pass()
			d.now = d.now.Add(10 * time.Minute)
			d.pass()
		}, "level=0 msg=the object exceeded its time-out timeout=10m0s since=2026-11-21 12:00:00 +0000 UTC"},
		"Dropped": {anApp(AppSpec{}), func(d *harness) {
			d.drops = true
			d.with(flow.Extensions[*App]{}).pass()
			d.pass()
		}, "msg=the status of each pass is lost; generate the definition again, and apply it " +
			"error=the API server drops a part of the status, such as status.conditions, because the CustomResourceDefinition lacks it reconciler=App"},
		"Vanished": {freshApp("uid"), func(d *harness) {
			vanishes(d)
			d.with(flow.Extensions[*App]{}).pass()
		}, "level=0 msg=the object vanished after Apply was called; its deletion in the cloud ended state=gone uid=uid why="},
		"Orphaned": {freshApp("uid"), func(d *harness) {
			vanishes(d)
			d.use(ctrlx.New("App", flow.Operations[*App]{Apply: apply}, flow.Extensions[*App]{}, d.clock()...)).pass()
		}, "msg=a cloud resource may be orphaned: its object vanished after Apply was called; delete the resource in the cloud " +
			"error=the reconciler has no Delete for it reconciler=App object=default/a uid=uid"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, tc.app)
			tc.do(d)
			if got := d.log.took(); strings.Count(strings.Join(got, "\n"), tc.want) != 1 {
				t.Errorf("not one line is %q:\n%s", tc.want, strings.Join(got, "\n"))
			}
		})
	}
}

// The log line of a pass, the page and the plugin have one text for the next pass.
func TestTelemetryNextPass(t *testing.T) {
	cases := map[string]struct {
		reason string
		does   checks.Result
		apply  func(*harness)
		passes int
		want   string
	}{
		"Slow":   {"the back-off of the flow", checks.Block("NoQuota", "no quota is left"), done, 1, "in 1s"},
		"Again":  {"which grows", checks.Block("NoQuota", "no quota is left"), done, 8, "in 2m8s"},
		"After":  {"a delay of the check", checks.Block("NoQuota", "no quota is left", checks.WithAfter(12*time.Minute)), done, 1, "in 12m"},
		"Wait":   {"the wait for a watched object ends by an event", checks.Block("NoCluster", "no cluster", checks.WithWaitingFor(clusterOfApp(anApp(AppSpec{Cluster: "c"})))), done, 1, "in 1h"},
		"Work":   {"an operation under way", checks.Proceed(), goesOn, 1, "in 1m"},
		"Failed": {"a failure", checks.Proceed(), fails(errBroken), 1, "in 1s"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			tc.apply(d)
			d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(checks.Check("Quota", func(ctxt, *checks.Request[*App]) (checks.Result, error) { return tc.does, nil }))}))
			var line string
			for range tc.passes {
				d.passIn(logr.NewContext(t.Context(), funcr.New(func(_, args string) { line = args }, funcr.Options{Verbosity: 1})))
			}
			page := whyDocument(t, ctrlx.Why(d.manager), "?group="+testv1.GroupVersion.Group+"&kind=App&namespace=default&name=a").Objects[0].NextPass(noon)
			if !strings.Contains(line, `"nextPass"="`+tc.want+`"`) || page != tc.want {
				t.Errorf("%s: the next pass is %s, on the page %q, in the line\n%s", tc.reason, tc.want, page, line)
			}
		})
	}
}

// A pass that is read again, or whose error controller-runtime logs, is no error of the log.
func TestTelemetryReturned(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "s", errors.New("it was changed"))
	d := newHarness(t, anApp(AppSpec{}))
	d.apply = func(ctxt, *flow.Request[*App]) (flow.Progress, error) { return flow.Progress{}, conflict }
	d.use(d.reconciler(flow.Extensions[*App]{}))
	var log lines
	d.passIn(log.context(t.Context(), 0))
	same(t, "a conflict logs nothing at verbosity 0", []string(nil), log.took())

	d = newHarness(t, freshApp("uid"))
	d.beforePatch = func() error { return apierrors.NewForbidden(schema.GroupResource{Resource: "apps"}, "a", errBroken) }
	d.use(d.reconciler(flow.Extensions[*App]{}))
	_, err := d.app.Reconcile(log.context(t.Context(), 0), reconcile.Request{NamespacedName: named("a")})
	if !apierrors.IsForbidden(err) || !strings.HasPrefix(err.Error(), "ctrlx: App: the finalizer: ") {
		t.Fatalf("Reconcile returns the error: %v", err)
	}
	same(t, "controller-runtime logs the error of a refused finalizer", []string(nil), log.took())
}

// spans is a tracer provider that records spans with their links.
type spans struct {
	tracenoop.TracerProvider
	mu  sync.Mutex
	all []*span
}

func (s *spans) Tracer(string, ...trace.TracerOption) trace.Tracer { return tracer{spans: s} }

type tracer struct {
	tracenoop.Tracer
	spans *spans
}

func (t tracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	t.spans.mu.Lock()
	defer t.spans.mu.Unlock()
	s := &span{spans: t.spans, id: byte(len(t.spans.all) + 1), attributes: map[attribute.Key]string{}}
	t.spans.all = append(t.spans.all, s)
	return trace.ContextWithSpan(ctx, s), s
}

type span struct {
	tracenoop.Span
	spans      *spans
	id         byte
	attributes map[attribute.Key]string
	links      []byte
}

func (s *span) IsRecording() bool { return true }
func (s *span) SpanContext() trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{s.id}, SpanID: trace.SpanID{s.id}})
}

func (s *span) AddLink(l trace.Link) {
	s.spans.mu.Lock()
	defer s.spans.mu.Unlock()
	s.links = append(s.links, l.SpanContext.SpanID()[0])
}

func (s *span) SetAttributes(all ...attribute.KeyValue) {
	s.spans.mu.Lock()
	defer s.spans.mu.Unlock()
	for _, kv := range all {
		s.attributes[kv.Key] = kv.Value.String()
	}
}

// passes returns the passes over a database as "ready after d1 ready": the verdict,
// and the pass that the span links to.
func (s *spans) passes(namespace, name string) (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.all {
		if !strings.HasPrefix(at.attributes[otelx.AttrKey], namespace+"/"+name+" ") {
			continue
		}
		text := at.attributes[otelx.AttrVerdict]
		for _, to := range at.links {
			key, _, _ := strings.Cut(strings.TrimPrefix(s.all[to-1].attributes[otelx.AttrKey], namespace+"/"), " ")
			text += " after " + key + " " + s.all[to-1].attributes[otelx.AttrVerdict]
		}
		all = append(all, text)
	}
	return all
}

// The span of a pass links to the span of the pass over the awaited object that
// woke it, and to no other span.
func TestSpanLinks(t *testing.T) {
	t.Parallel()
	o, rec := newOperator(t), &spans{}
	o.start(ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.WithOwner(ownerByName), ctrlx.WithTelemetry(otelx.WithTracerProvider(rec), otelx.WithMeterProvider(nil))))
	o.database("d1", "cluster-1")
	o.until("d1", "False OwnerNotFound")
	o.database("d2", "d1")
	o.until("d2", "False OwnerNotReady")
	before := len(rec.passes(o.namespace, "d2"))
	c := o.cluster("cluster-1", "Creating")
	o.report(c, "Running")
	o.until("d2", "True Succeeded")
	if all := rec.passes(o.namespace, "d2"); !slices.Contains(all, "ready after d1 ready") { // the span ended before the status was written
		t.Errorf("the passes over d2 are %q", all)
	}
	if diff := cmp.Diff("block", rec.passes(o.namespace, "d2")[0]); diff != "" || before == 0 {
		t.Errorf("the first pass over d2 was not woken: -want, +got:\n%s", diff)
	}
}
