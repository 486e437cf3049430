package ctrlx_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// downFor is the time from the success of the App to the restart.
const downFor = 10 * time.Minute

// dataOf is a reference to a Database, which stands for an object without a
// generation.
func dataOf(name string) checks.Ref {
	return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Database", Name: name}
}

var dataExists = ctrlx.WithReadiness(schema.GroupKind{Group: testv1.GroupVersion.Group, Kind: "Database"}, ctrlx.Exists)

// reading makes a check that reads the first n of the Databases d0, d1, ...
func reading(n int) checks.Middleware[*App] {
	return checks.ReferenceReady("data", func(*App) (refs []checks.Ref) {
		for i := range n {
			refs = append(refs, dataOf(fmt.Sprint("d", i)))
		}
		return refs
	})
}

// settling are extensions with an owner check, and checks that read a Database
// on PreCheck and another one on PostCheck.
func (d *harness) settling() flow.Extensions[*App] {
	ext := d.held()
	ext.PreCheck = ext.PreCheck.Append(reading(1))
	ext.PostCheck = ext.PostCheck.Append(checks.ReferenceReady("post", func(*App) []checks.Ref { return []checks.Ref{dataOf("d1")} }))
	return ext
}

// inSet are the Databases of the namespace.
var inSet, namesOnly = databasesOf(checks.Query{}), databasesOf(checks.Query{NamesOnly: true})

// listing returns settling with a check on PreCheck that lists a set.
func listing(q checks.Query) func(*harness) flow.Extensions[*App] {
	return func(d *harness) flow.Extensions[*App] {
		ext := d.settling()
		ext.PreCheck = ext.PreCheck.Append(checks.Check("lists", func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
			_, err := req.Lister(ctx, q)
			return checks.Proceed(), err
		}))
		return ext
	}
}

// aDatabase is the Database of a name.
func aDatabase(name string) *testv1.Database {
	return &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
}

// write changes the Database of a name, which has no generation.
func (d *harness) write(name string) {
	d.t.Helper()
	data := &testv1.Database{}
	must(d.t, d.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, data))
	data.Spec.Size++
	d.update(data)
}

// inCluster changes the owner and its status.
func inCluster(do func(*testv1.Cluster)) func(*harness) {
	return func(d *harness) {
		d.t.Helper()
		c := d.cluster()
		do(c)
		d.updateAll(c)
	}
}

// inApp changes the metadata of the App and its status.
func inApp(do func(*App)) func(*harness) {
	return func(d *harness) {
		d.t.Helper()
		a := d.read()
		do(a)
		d.updateAll(a)
	}
}

// inCondition changes a condition of the App.
func inCondition(of string, do func(*metav1.Condition)) func(*harness) {
	return inApp(func(a *App) { do(meta.FindStatusCondition(a.Status.Conditions, of)) })
}

// remade deletes an object and creates it again with another UID.
func remade(d *harness, obj client.Object, uid types.UID) {
	d.t.Helper()
	obj.SetFinalizers(nil)
	d.update(obj)
	must(d.t, client.IgnoreNotFound(d.api.Delete(context.Background(), obj)))
	obj.SetUID(uid)
	obj.SetResourceVersion("")
	if _, ok := obj.(*App); ok {
		obj.SetFinalizers([]string{ctrlx.Finalizer})
	}
	must(d.t, d.api.Create(context.Background(), obj))
	must(d.t, d.api.Status().Update(context.Background(), obj))
}

// program is the option for a running program.
func program(id string, err error) ctrlx.Option {
	return ctrlx.WithProgram(func() (string, error) { return id, err })
}

// twoPasses begins an operation, and ends it in the next pass.
func twoPasses(between func(*harness)) func(*harness) {
	return func(d *harness) {
		goesOn(d)
		d.pass()
		between(d)
		done(d)
		d.pass()
	}
}

// unstored is like twoPasses, but the API server refuses the record of the operation, which
// only this process then knows. A later pass stores it if polls is above 1.
func unstored(polls int, between func(*harness)) func(*harness) {
	return func(d *harness) {
		goesOn(d)
		d.refuse = apierrors.NewInternalError(errBroken)
		if d.try() == nil {
			d.t.Fatal("the record is written")
		}
		d.refuse = nil
		between(d)
		for ; polls > 1; polls-- {
			d.pass()
		}
		done(d)
		d.pass()
	}
}

// followsData returns extensions whose checks follow a Database that none reads. The
// second one is of PreCheck.
func followsData(n int) func(*harness) flow.Extensions[*App] {
	follows := func(name string) checks.Middleware[*App] {
		return checks.Check("follows "+name, func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
			req.Follow(ctx, dataOf(name))
			return checks.Proceed(), nil
		})
	}
	return func(d *harness) flow.Extensions[*App] {
		ext := d.settling()
		ext.EntryCheck = chain.New(follows("d2"))
		if n > 2 {
			ext.PreCheck = ext.PreCheck.Append(follows("d3"))
		}
		return ext
	}
}

// renewed has a pass that stores the success again.
func renewed(d *harness) {
	d.pass()
	d.insync = true
	d.now = d.now.Add(30 * time.Minute) // half of the resync
	d.pass()
	d.insync = false
}

// The first pass after a restart calls Apply only if something changed.
func TestSettled(t *testing.T) {
	const quiet, applied = "", "apply"
	nothing := func(*harness) {}
	readsNone := chain.New(checks.Check("reads none", func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
		_, err := req.Resolver(ctx, dataOf("none"))
		return checks.Proceed(), err
	}))
	reads21 := chain.New(checks.Check("reads 21", func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
		for i := range 21 {
			if _, err := req.Resolver(ctx, dataOf(fmt.Sprint("d", i))); err != nil {
				return checks.Result{}, err
			}
		}
		return checks.Proceed(), nil
	}))
	none := func(*harness) flow.Extensions[*App] { return flow.Extensions[*App]{} }
	cases := map[string]struct {
		reason string
		spec   AppSpec
		before func(*harness)                       // the passes before the restart; nil: one
		ext    func(*harness) flow.Extensions[*App] // nil: settling
		opts   []ctrlx.Option                       // before the restart
		change func(*harness)                       // while the operator is down
		later  func(*harness) flow.Extensions[*App] // after the restart; nil: ext
		then   []ctrlx.Option                       // after the restart
		want   string                               // the calls of Apply in the first pass after the restart
		says   string                               // empty: Ready
		why    string                               // part of the log line that says why the pass is not left out
	}{
		"Nothing":    {reason: "nothing changed", want: quiet},
		"Label":      {reason: "a label causes no pass", change: inApp(func(a *App) { a.Labels = map[string]string{"a": "b"} }), want: quiet},
		"Spec":       {reason: "the spec changed", change: func(d *harness) { d.change(func(a *App) { a.Spec.Retry = minutes(1) }) }, want: applied},
		"Annotation": {reason: "an annotation changed, as a request for a retry", change: annotate("retry", "now"), want: applied},
		"ApplySet":   {reason: "the annotations of an ApplySet describe the dependents", change: annotate("applyset.kubernetes.io/tooling", "x/v1"), want: quiet},
		"OwnerReference": {reason: "an owner reference was added", change: inApp(func(a *App) {
			a.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Secret", Name: "s", UID: "s"}}
		}), want: applied},
		"Finalizer": {reason: "a person removed the finalizer", change: inApp(func(a *App) { a.Finalizers = nil }), want: applied, why: "the finalizer is missing"},

		"OwnerHeartbeat": {reason: "the readiness stands for the conditions", change: inCluster(func(c *testv1.Cluster) {
			c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: "Synced", Status: "True", Reason: "Beat"})
		}), want: quiet},
		"OwnerSpec":   {reason: "the generation stands for the spec", change: resize, want: applied},
		"OwnerStatus": {reason: "Apply may read the status of the owner", change: inCluster(func(c *testv1.Cluster) { c.Status.State = "Moved" }), want: applied},
		"OwnerLabel":  {reason: "Apply may read a label of the owner", change: inCluster(func(c *testv1.Cluster) { c.Labels = map[string]string{"a": "b"} }), want: applied},
		"OwnerNotReady": {reason: "the owner check blocks", change: inCluster(func(c *testv1.Cluster) { c.Status.Conditions[0].Status = "False" }),
			want: quiet, says: "False OwnerNotReady Reconciling"},
		"OwnerDeleted": {reason: "the owner check blocks", change: func(d *harness) { d.delete(d.cluster()) }, want: quiet, says: "False OwnerNotFound Reconciling"},
		"OwnerRemade":  {reason: "another object has the name of the owner", change: func(d *harness) { remade(d, d.cluster(), "another") }, want: applied},

		"Rotated":     {reason: "the data of a reference changed", change: func(d *harness) { d.write("d0") }, want: applied, why: "d0 changed"},
		"PostRotated": {reason: "a reference that only PostCheck reads changed", change: func(d *harness) { d.write("d1") }, want: applied},
		"ReferenceGone": {reason: "PreCheck runs and blocks", change: func(d *harness) {
			d.delete(aDatabase("d0"))
		}, want: quiet, says: "False ReferenceNotFound Reconciling"},
		"EntryFails": {reason: "the pass fails before Get, for another reason than a kind that is not watched", later: func(*harness) flow.Extensions[*App] {
			return checking(flow.PointEntryCheck, func(context.Context, *checks.Request[*App]) (checks.Result, error) { return checks.Result{}, errBroken })
		}, want: quiet, says: "False CheckFailed Reconciling"},
		"Deleting": {reason: "a check of the deletion needs the cloud", later: func(*harness) flow.Extensions[*App] {
			return checking(flow.PointDeleteCheck, func(_ context.Context, req *checks.Request[*App]) (checks.Result, error) {
				return checks.Block(req.Presence.String(), ""), nil
			})
		}, change: func(d *harness) { must(d.t, d.api.Delete(context.Background(), d.read())) }, want: quiet, says: "False absent Reconciling"},
		"NewReference": {reason: "a check reads an object that the last success did not read", later: func(*harness) flow.Extensions[*App] {
			return flow.Extensions[*App]{EntryCheck: chain.New(reading(3))}
		}, want: applied, why: "was not read before the last success"},
		"MissingRead": {reason: "a check read an object that did not exist, and does not now", ext: func(*harness) flow.Extensions[*App] {
			return flow.Extensions[*App]{EntryCheck: readsNone}
		}, want: quiet},
		"Followed":        {reason: "a check follows a reference that none reads", ext: followsData(2), want: quiet},
		"FollowedRotated": {reason: "Apply may read what a check follows by other means", ext: followsData(2), change: func(d *harness) { d.write("d2") }, want: applied},
		"FollowedInSync": {reason: "Get may read it, too", ext: followsData(2), before: func(d *harness) { d.insync = true; d.pass(); d.insync = false },
			change: func(d *harness) { d.write("d2") }, want: applied},
		"FollowedBefore": {reason: "a check on PreCheck follows a reference, too", ext: followsData(3), change: func(d *harness) { d.write("d3") }, want: applied},
		"FollowedDuring": {reason: "a followed reference changed after the operation began", ext: followsData(2), before: twoPasses(func(d *harness) { d.write("d2") }), want: applied},
		"StoredPanics": {reason: "the write of the token panicked, so only the flow knows that the pass polls", before: func(d *harness) {
			goesOn(d)
			d.beforeStatus = func() { d.beforeStatus = nil; panic("status") }
			_ = d.try()
			d.write("d0")
			done(d)
			d.pass()
		}, want: applied},
		"FollowedOperation": {reason: "the operation began from it", ext: followsData(2), before: twoPasses(nothing), want: quiet},
		"FollowedID": {reason: "no event can concern an object that is known by its ID only", before: func(d *harness) {
			d.apply = func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
				ctrlx.Follow(ctx, checks.Ref{ID: "7"})
				return flow.Done(), nil
			}
			d.pass()
			done(d)
		}, want: quiet},
		"Guarded": {reason: "the finalizer of a guard changes the version of an object that the pass has read", ext: func(d *harness) flow.Extensions[*App] {
			d.guards = func(*App) []checks.Ref { return []checks.Ref{dataOf("d0"), dataOf("d1")} }
			ext := d.settling()
			ext.EntryCheck = readsNone
			return ext
		}, want: quiet},
		"Touched": {reason: "a reference changed between its reading and the write of its finalizers", ext: func(d *harness) flow.Extensions[*App] {
			ext := d.settling()
			ext.PreCheck = ext.PreCheck.Append(checks.Check("touches", func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
				shared, err := req.Resolver(ctx, dataOf("d2")) // by the cache
				must(d.t, err)
				was := shared.Value.(client.Object).DeepCopyObject().(*testv1.Database)
				must(d.t, ctrlx.SetFinalizers(ctx, was.DeepCopyObject().(*testv1.Database), []string{"a/b"}))
				same(d.t, "an object that the cache shares", was, shared.Value)
				d.write("d0")
				data := &testv1.Database{}
				must(d.t, d.api.Get(ctx, named("d0"), data))
				return checks.Proceed(), ctrlx.SetFinalizers(ctx, data, append(data.Finalizers, "a/b"))
			}))
			return ext
		}, want: applied},
		"Renewed": {reason: "the success is stored again, without a change", before: renewed, want: quiet},
		"RenewedRotated": {reason: "the pass that stored the success again found the cloud in sync and called no check of PreCheck", before: renewed,
			change: func(d *harness) { d.write("d0") }, want: applied},

		"OldRotated": {reason: "the first pass after another restart found the cloud in sync and called no check of PreCheck", before: func(d *harness) {
			d.pass()
			d.now = d.now.Add(2 * time.Hour)
			d.restart()
			d.use(d.reconciler(d.settling(), program("1", nil), dataExists))
			d.insync = true
			d.pass()
			d.insync = false
		}, change: func(d *harness) { d.write("d0") }, want: applied},
		"RenewedOther": {reason: "the spec names no owner any more when the success is stored again", before: func(d *harness) {
			d.pass()
			d.now = d.now.Add(40 * time.Minute)
			d.change(func(a *App) { a.Spec.Cluster = "" })
			d.pass()
		}, change: resize, want: quiet},

		"RenewedAnnotation": {reason: "no check reads d0 any more when the success is stored again", ext: func(d *harness) flow.Extensions[*App] {
			return checking(flow.PointEntryCheck, func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
				_, err := req.Resolver(ctx, dataOf("d"+strconv.Itoa(len(req.Resource.Annotations))))
				return checks.Proceed(), err
			})
		}, before: func(d *harness) {
			d.pass()
			d.now = d.now.Add(40 * time.Minute)
			annotate("a", "b")(d)
			d.pass()
		}, change: func(d *harness) { d.write("d0") }, want: quiet},

		"Set":       {reason: "a check lists the same objects", ext: listing(inSet), want: quiet},
		"SetChange": {reason: "an object of the set changed", ext: listing(inSet), change: func(d *harness) { d.write("d7") }, want: applied},
		"SetLess":   {reason: "the set has one object less", ext: listing(inSet), change: func(d *harness) { d.delete(aDatabase("d7")) }, want: applied},
		"SetDuring": {reason: "an object of the set changed after the operation began", ext: listing(inSet), before: twoPasses(func(d *harness) { d.write("d7") }), want: applied},
		"Names":     {reason: "only the names count", ext: listing(namesOnly), change: func(d *harness) { d.write("d7") }, want: quiet},
		"NamesLess": {reason: "a name is gone", ext: listing(namesOnly), change: func(d *harness) { d.delete(aDatabase("d7")) }, want: applied},
		"SelfInSet": {reason: "the own status is no input", ext: listing(checks.Query{Group: testv1.GroupVersion.Group, Kind: "App"}), want: quiet},

		"20Read": {reason: "so many are stored: the owner and 19 references", ext: func(*harness) flow.Extensions[*App] { return flow.Extensions[*App]{PreCheck: chain.New(reading(19))} }, want: quiet},
		"21Read": {reason: "a record has a limit", ext: func(*harness) flow.Extensions[*App] { return flow.Extensions[*App]{PreCheck: chain.New(reading(20))} }, want: applied},

		"20AndSet": {reason: "a set counts as one", ext: func(d *harness) flow.Extensions[*App] {
			ext := listing(inSet)(d)
			ext.PreCheck = ext.PreCheck.Append(reading(19))
			return ext
		}, want: applied},
		"21Operation": {reason: "the pass that began the operation read more than its record may name", ext: func(*harness) flow.Extensions[*App] {
			return flow.Extensions[*App]{PreCheck: reads21}
		}, before: twoPasses(nothing), later: none, want: applied},
		"21After": {reason: "so did the pass that ended it", ext: func(*harness) flow.Extensions[*App] {
			return flow.Extensions[*App]{PostCheck: reads21}
		}, before: twoPasses(nothing), later: none, want: applied},
		"LongQuery": {reason: "the record has no room for the query of a set", ext: listing(databasesOf(checks.Query{Selector: strings.Repeat("tier!=a,", 200) + "tier!=a"})), want: applied},
		"ManyRead": {reason: "the pass reads more than the record may name, before Get", later: func(*harness) flow.Extensions[*App] {
			return flow.Extensions[*App]{EntryCheck: chain.New(reading(21))}
		}, want: applied, why: "the pass read too many objects, or one that cannot be compared"},
		"Unreadable": {reason: "the kind of an input is not served any more", change: func(d *harness) {
			d.recorded(func(r *record.Record) {
				r.Success.Read = append(r.Success.Read, record.Read{Ref: checks.Ref{Group: "gone.example.com", Kind: "Plan", Name: "p"}, Digest: "x"})
			})
		}, want: applied, why: "is not watched: correct the reference"},

		"Old":      {reason: "the success is older than the resync", change: later(time.Hour), want: applied, why: "the success is older than the resync, or in the future"},
		"Due":      {reason: "the resync is over now", change: later(ctrlx.LeftOf("uid", time.Hour, 0, noon, noon) - downFor), want: applied},
		"NotDue":   {reason: "the resync is not over", change: later(ctrlx.LeftOf("uid", time.Hour, 0, noon, noon) - downFor - 1), want: quiet},
		"Future":   {reason: "the clocks differ, so the age is not known", change: later(-2 * downFor), want: applied},
		"Copied":   {reason: "the status was copied with the object", change: func(d *harness) { remade(d, d.read(), "another") }, want: applied},
		"NoRecord": {reason: "a person removed the record", change: inApp(func(a *App) { meta.RemoveStatusCondition(&a.Status.Conditions, ctrlx.ConditionRecord) }), want: applied, why: "no success of the object is stored"},
		"TooManyRead": {reason: "a record of the operator names at most 20 objects", change: func(d *harness) {
			d.recorded(func(r *record.Record) {
				r.Success.Read = append(r.Success.Read, slices.Repeat(r.Success.Read[:1], 21-len(r.Success.Read))...) // all are as they were
			})
		}, want: applied, why: "the stored success names too many objects"},
		"ReadyRemoved": {reason: "a person removed Ready", change: inApp(func(a *App) { meta.RemoveStatusCondition(&a.Status.Conditions, "Ready") }), want: applied},
		"NotReady":     {reason: "the object is not Ready", change: inCondition("Ready", func(c *metav1.Condition) { c.Status = "False" }), want: applied, why: "the object is not Ready for its generation"},
		"ReadyBefore":  {reason: "Ready is for another generation", change: inCondition("Ready", func(c *metav1.Condition) { c.ObservedGeneration = 0 }), want: applied},

		"Program":        {reason: "another version of the operator", then: []ctrlx.Option{program("2", nil)}, want: applied, why: "the object, the executable, its arguments or the revision changed"},
		"ProgramUnknown": {reason: "the executable cannot be read", opts: []ctrlx.Option{program("", errBroken)}, then: []ctrlx.Option{program("", errBroken)}, want: applied},
		"Revision":       {reason: "another revision", opts: []ctrlx.Option{ctrlx.WithRevision("1")}, then: []ctrlx.Option{ctrlx.WithRevision("2")}, want: applied},
		"SameRevision":   {reason: "the same revision", opts: []ctrlx.Option{ctrlx.WithRevision("1")}, then: []ctrlx.Option{ctrlx.WithRevision("1")}, want: quiet},
		"Off":            {reason: "the option is given", then: []ctrlx.Option{ctrlx.WithoutQuietRestart()}, want: applied},
		"OffBefore":      {reason: "no success was stored", opts: []ctrlx.Option{ctrlx.WithoutQuietRestart()}, want: applied},

		"Often":    {reason: "a short interval would write the status often", spec: AppSpec{Requeue: minutes(9)}, change: later(-5 * time.Minute), want: applied},
		"Least":    {reason: "the shortest interval at which a success is stored", spec: AppSpec{Requeue: minutes(10)}, change: later(-time.Minute), want: quiet},
		"Interval": {reason: "the requeue interval of the object counts", spec: AppSpec{Requeue: minutes(20)}, want: quiet},
		"Late":     {reason: "the requeue interval is over", spec: AppSpec{Requeue: minutes(10)}, change: later(time.Minute), want: applied},

		"Twice": {reason: "a link calls Apply again, so the pass that begins the operation polls it, too", ext: func(d *harness) flow.Extensions[*App] {
			ext := d.settling()
			ext.Apply = chain.New(chain.Named("twice", func(next flow.Handler[*App]) flow.Handler[*App] {
				return func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
					if p, err := next(ctx, req); p.Token() == "" {
						return p, err
					}
					done(d)
					return next(ctx, req)
				}
			}))
			return ext
		}, before: func(d *harness) { goesOn(d); d.pass() }, want: quiet},
		"Resync": {reason: "so short a resync would write the status often", change: later(-5 * time.Minute), want: applied,
			opts: []ctrlx.Option{flow.WithBackoff(flow.NewBackoff(flow.WithBackoffResync(9*time.Minute), flow.WithBackoffJitter(0, 0)))}},
		"Operation":       {reason: "the operation took several passes", before: twoPasses(nothing), want: quiet},
		"OperationKept":   {reason: "the pass that polls does not read them", before: twoPasses(nothing), change: func(d *harness) { d.write("d0") }, want: applied},
		"ChangedDuring":   {reason: "a reference changed after the operation began", before: twoPasses(func(d *harness) { d.write("d0") }), want: applied},
		"SpecDuring":      {reason: "an operation began again for the new spec", before: twoPasses(func(d *harness) { d.change(func(a *App) { a.Spec.Retry = minutes(1) }) }), want: quiet},
		"OwnerDuring":     {reason: "the owner changed after the operation began", before: twoPasses(resize), want: applied},
		"AnnotatedDuring": {reason: "an annotation changed after the operation began", before: twoPasses(annotate("a", "b")), want: applied},
		"ByALink": {reason: "a link acts in place of Apply, and the owner changed after the operation began", ext: func(d *harness) flow.Extensions[*App] {
			ext := d.settling()
			ext.Apply = chain.New(chain.Named("acts", func(flow.Handler[*App]) flow.Handler[*App] {
				return func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
					if req.Token == "" {
						d.note("apply")
						return flow.InProgress("token", 0), nil
					}
					return flow.Skip("it is done"), nil
				}
			}))
			return ext
		}, before: twoPasses(resize), want: applied, says: "False InProgress Reconciling Processing"},
		"RestartDuring": {reason: "the stored operation has what it began from",
			before: twoPasses(func(d *harness) { d.restart(); d.use(d.reconciler(d.settling(), program("1", nil), dataExists)) }), want: quiet},
		"Unstored":      {reason: "the operation in memory has what it began from", ext: followsData(3), before: unstored(1, nothing), want: quiet},
		"UnstoredOwner": {reason: "the owner changed while the operation was in memory", before: unstored(1, resize), want: applied},
		"UnstoredOther": {reason: "another object has the name of the one whose operation was in memory", before: unstored(1, func(d *harness) {
			remade(d, d.read(), "another")
			resize(d)
			d.insync = true
		}), change: func(d *harness) { d.insync = false }, want: quiet},
		"StoredLater":       {reason: "the record gets what the operation began from", ext: followsData(3), before: unstored(2, nothing), want: quiet},
		"StoredLaterChange": {reason: "a reference changed before the record was stored", before: unstored(2, func(d *harness) { d.write("d0") }), want: applied},
		"InSync":            {reason: "Get reported that the cloud matches the spec", before: func(d *harness) { d.insync = true; d.pass(); d.insync = false }, want: quiet},
		"Failed":            {reason: "the last pass failed", before: func(d *harness) { d.pass(); fails(errBroken)(d); d.pass(); done(d) }, want: applied},
		"UnderWay":          {reason: "an operation is under way", before: func(d *harness) { d.pass(); goesOn(d); d.pass(); done(d) }, want: "poll token"},
		"PostCheck":         {reason: "PostCheck proceeded after the success, so it does not run", change: func(d *harness) { d.block = flow.PointPostCheck }, want: quiet},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := tc.spec
			spec.Cluster = "c"
			objects := []client.Object{anApp(spec), aCluster()}
			for i := range 21 {
				objects = append(objects, aDatabase(fmt.Sprint("d", i)))
			}
			d := newHarness(t, objects...)
			ext := tc.ext
			if ext == nil {
				ext = (*harness).settling
			}
			life := func(ext func(*harness) flow.Extensions[*App], opts []ctrlx.Option) {
				d.use(d.reconciler(ext(d), append([]ctrlx.Option{program("1", nil), dataExists}, opts...)...))
			}
			if tc.before == nil {
				tc.before = func(d *harness) { d.pass() }
			}
			life(ext, tc.opts)
			tc.before(d)
			success := d.now
			d.now = d.now.Add(downFor)
			if tc.change != nil {
				tc.change(d)
			}
			d.restart()
			if tc.later != nil {
				ext = tc.later
			}
			life(ext, tc.then)
			d.took()
			d.log.took()
			before, says := d.writes, tc.says
			if says == "" {
				says = "True Succeeded"
			}
			after := d.pass()
			if got := d.took(); got != tc.want || d.says() != says {
				t.Fatalf("%s: the first pass calls %q and the object says %q, want %q and %q", tc.reason, got, d.says(), tc.want, says)
			}
			if lines := strings.Join(d.log.took(), "\n"); !strings.Contains(lines, tc.why) {
				t.Errorf("%s: the lines are\n%s", tc.reason, lines)
			}
			if tc.want == quiet && tc.says == "" {
				if d.writes != before {
					t.Errorf("%s: %d writes in the first pass", tc.reason, d.writes-before)
				}
				interval := time.Hour
				if spec.Requeue.Duration > 0 {
					interval = spec.Requeue.Duration * 105 / 100
				}
				age := d.now.Sub(success)
				if least := interval*3/4 - age; after < least || after > interval-age {
					t.Errorf("%s: the next pass comes after %s, want %s to %s", tc.reason, after, least, interval-age)
				}
				d.block = ""
				if d.pass(); d.took() != "apply" {
					t.Errorf("%s: the second pass must call Apply", tc.reason)
				}
			}
		})
	}
}

// After a start, an object keeps its status until the kinds that it reads are
// watched.
func TestSettledNotWatched(t *testing.T) {
	const ready, failed = "True Succeeded", "False Unknown Reconciling"
	cases := map[string]struct {
		reason string
		spec   AppSpec
		down   time.Duration
		kind   string // that is not watched yet
		opts   []ctrlx.Option
		says   string // before it is watched
		calls  string // after it is watched
	}{
		"Owner":     {reason: "the owner cannot be read yet", spec: AppSpec{Cluster: "c"}, down: downFor, kind: "Cluster", says: ready},
		"Reference": {reason: "the link reads the reference, because PreCheck does not run", down: downFor, kind: "Database", says: ready},
		"Off":       {reason: "no success keeps the object Ready", spec: AppSpec{Cluster: "c"}, down: downFor, kind: "Cluster", opts: []ctrlx.Option{ctrlx.WithoutQuietRestart()}, says: failed, calls: "apply"},
		"Old":       {reason: "the success is too old, so the object fails as in every pass", spec: AppSpec{Cluster: "c"}, down: time.Hour, kind: "Cluster", says: failed, calls: "apply"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newHarness(t, anApp(tc.spec), aCluster(), aDatabase("d0"))
				follows := checking(flow.PointPreCheck, func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
					req.Follow(ctx, dataOf("d0"))
					return checks.Proceed(), nil
				})
				life := func(timeout time.Duration, opts ...ctrlx.Option) {
					d.use(d.reconciler(follows, append(opts, dataExists, ctrlx.WithSyncTimeout(timeout))...))
				}
				life(time.Minute)
				d.pass()
				d.took()
				d.now = d.now.Add(tc.down)
				d.restart()
				informer := controllertest.NewFakeInformer()
				d.manager.cache.(*fakeCache).InformersByGVK = map[schema.GroupVersionKind]toolscache.SharedIndexInformer{testv1.GroupVersion.WithKind(tc.kind): informer}
				life(time.Millisecond, tc.opts...) // the kind is not watched in time
				before := seriesOf(t, "App")
				d.log.took()
				begin := time.Now()
				for range 2 {
					if after := d.pass(); after > time.Minute || d.says() != tc.says || d.took() != "" {
						t.Fatalf("%s: before the kind is watched the object says %q and is requeued after %s", tc.reason, d.says(), after)
					}
				}
				if waited := time.Since(begin); waited > time.Second {
					t.Errorf("%s: two passes wait %s for the first list", tc.reason, waited)
				}
				if lines := strings.Join(d.log.took(), "\n"); tc.says == ready && (strings.Contains(lines, "level=0 msg=pass ended") || strings.Contains(lines, "msg=pass ended error=")) {
					t.Errorf("%s: a pass without a verdict logs\n%s", tc.reason, lines)
				}
				if diff := cmp.Diff(before, seriesOf(t, "App")); (diff == "") != (tc.says == ready) {
					t.Errorf("%s: the metrics of failures, before and after:\n%s", tc.reason, diff)
				}
				informer.Synced()
				if d.pass(); d.took() != tc.calls || d.says() != ready {
					t.Errorf("%s: after the kind is watched the object says %q; calls, want %q", tc.reason, d.says(), tc.calls)
				}
			})
		})
	}
}

// TestSettledWrites counts the status writes of passes that find nothing new.
func TestSettledWrites(t *testing.T) {
	cases := map[string]struct {
		reason  string
		after   time.Duration
		change  func(*harness)
		replace bool // Apply replaces the whole status
		restart bool // the passes are those of another process
		writes  int
	}{
		"Soon":      {reason: "the record is younger than half of the resync", after: 30*time.Minute - time.Second, writes: 0},
		"Restarted": {reason: "a new process reads the record in its second pass", after: time.Second, restart: true, writes: 0},
		"Replaced":  {reason: "an Apply that replaces the status does not lose the record", after: time.Second, replace: true, writes: 0},
		"Half":      {reason: "a restart must find the last success", after: 30 * time.Minute, writes: 1},
		"Back":      {reason: "the clock went back", after: -time.Second, writes: 1},
		"Inputs":    {reason: "the reference changed", after: time.Second, change: func(d *harness) { d.write("d0") }, writes: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data := aDatabase("d0")
			d := newHarness(t, anApp(AppSpec{}), data)
			life := func() { d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(reading(1))}, dataExists)) }
			life()
			d.pass()
			d.pass() // it knows the version that the first one has written
			before := d.writes
			d.now = d.now.Add(tc.after)
			if tc.restart {
				d.restart()
				life()
				d.pass()
			}
			if tc.replace {
				d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
					ready := *meta.FindStatusCondition(req.Resource.Status.Conditions, "Ready")
					req.Resource.Status = AppStatus{Conditions: []metav1.Condition{ready}}
					return flow.Done(), nil
				}
			}
			if tc.change != nil {
				tc.change(d)
			}
			d.pass()
			if got := d.writes - before; got != tc.writes {
				t.Errorf("%s: %d writes, want %d", tc.reason, got, tc.writes)
			}
		})
	}
}

// TestSettledSecret: the record must not allow to guess the data of a Secret.
func TestSettledSecret(t *testing.T) {
	settled := func(password string) string {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s", UID: "s"}, Data: map[string][]byte{"password": []byte(password)}}
		d := newHarness(t, anApp(AppSpec{}), secret)
		owner := func(context.Context, *App) (checks.Object, error) {
			d.note("owner")
			err := d.api.Get(context.Background(), client.ObjectKeyFromObject(secret), secret)
			return checks.Object{Ref: checks.Ref{Kind: "Secret", Name: "s"}, Value: secret}, err
		}
		d.use(ctrlx.New("App", flow.Operations[*App]{Owner: owner, Apply: func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }},
			flow.Extensions[*App]{}, d.clock()...))
		d.pass()
		same(t, "the calls of Operations.Owner", "owner", d.took())
		return meta.FindStatusCondition(d.read().Status.Conditions, ctrlx.ConditionRecord).Message
	}
	same(t, "the record depends on the data", settled("1234"), settled("1235"))
}

// The resyncs of objects that succeeded at the same moment are spread, and do
// not depend on the time of the restart.
func TestSettledSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		resync := time.Duration(rapid.Int64Range(int64(10*time.Minute), int64(48*time.Hour)).Draw(t, "resync"))
		requeue := rapid.SampledFrom([]time.Duration{0, resync}).Draw(t, "requeue")
		first := rapid.Uint32().Draw(t, "first UID")
		down := time.Duration(rapid.Int64Range(0, int64(resync/2)).Draw(t, "down"))
		const n, parts = 2000, 10
		low, high := resync*3/4, resync
		if requeue > 0 {
			low, high = resync, resync*105/100
		}
		var counts [parts]int
		for i := range n {
			uid := types.UID(fmt.Sprintf("%08x-0000-4000-8000-000000000000", first+uint32(i)))
			due := down + ctrlx.LeftOf(uid, resync, requeue, noon, noon.Add(down))
			if due < low || due > high {
				t.Fatalf("%s is due after %s, want %s to %s", uid, due, low, high)
			}
			if again := ctrlx.LeftOf(uid, resync, requeue, noon, noon); again != due {
				t.Fatalf("%s is due after %s, and after another restart after %s", uid, due, again)
			}
			counts[min(int(parts*(due-low)/(high-low)), parts-1)]++
		}
		for part, got := range counts {
			if got > 2*n/parts {
				t.Fatalf("%d of %d objects are due in part %d of %d: %v", got, n, part, parts, counts)
			}
		}
	})
}

// TestRestartIsQuiet restarts an operator of a real API server. Long
// operations applied some of its objects.
func TestRestartIsQuiet(t *testing.T) {
	t.Parallel()
	const n = 200
	o := newOperator(t)
	o.cluster("prod", "Running")
	secret := o.secret("a")
	createAll(t, n, func(i int) client.Object {
		return &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: fmt.Sprint("db-", i)}, Spec: testv1.DatabaseSpec{Cluster: "prod", Size: i}}
	})
	var passes sync.Map
	ops := o.operations()
	ops.Apply = func(_ ctxt, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
		if req.Token != "" {
			return flow.Done(), o.note("poll %s", req.Resource.Name)
		}
		if req.Resource.Spec.Size%4 == 0 {
			return flow.InProgress("token", time.Millisecond), o.note("put %s", req.Resource.Name)
		}
		return flow.Done(), o.note("put %s", req.Resource.Name)
	}
	ext := waitsForCluster
	ext.PreCheck = needsKey()
	// start returns what a new operator asks of the cloud and writes, once it
	// has seen every object.
	start := func() (calls []string, wrote map[string]int) {
		t.Helper()
		passes.Clear()
		before := len(o.asked())
		o.start(ctrlx.New("Database", ops, ext, ctrlx.WithOwner(clusterOf), ctrlx.WithReadiness(schema.GroupKind{Kind: "Secret"}, ctrlx.Exists),
			ctrlx.WithController(controller.Options{MaxConcurrentReconciles: 8}),
		).WithPostReadHook(func(_ ctxt, _ client.Client, d *testv1.Database) error {
			passes.Store(d.Name, true)
			return nil
		}))
		o.eventually("every object has a pass", func() bool {
			seen := 0
			passes.Range(func(any, any) bool { seen++; return true })
			return seen == n
		})
		o.all(n, "True Succeeded")
		wrote = writes(o.traffic.take(t))
		return o.asked()[before:], wrote
	}
	calls, _ := start()
	calledOnce(t, "the first start", n+n/4, calls)
	o.stop()
	if calls, wrote := start(); len(calls) > 0 || len(wrote) > 0 {
		t.Errorf("after a restart the operator calls the cloud %d times: %q; and writes %v", len(calls), calls[:min(len(calls), 10)], wrote)
	}
	o.stop()
	o.rotate(secret, "b")
	calls, _ = start()
	calledOnce(t, "a Secret was rotated while the operator was down", n+n/4, calls)
}

// calledOnce requires n different calls. On a machine that is so busy that watches lag,
// an object may get another pass, because its watch may be broken.
func calledOnce(t *testing.T, when string, n int, calls []string) {
	t.Helper()
	slices.Sort(calls)
	if different := slices.Compact(slices.Clone(calls)); len(different) != n || len(calls) > n+n/2 {
		t.Errorf("%s: the operator calls the cloud %d times, and %d calls differ, want %d", when, len(calls), len(different), n)
	}
}

// createAll creates n objects, eight at a time.
func createAll(t testing.TB, n int, object func(i int) client.Object) {
	t.Helper()
	var wg sync.WaitGroup
	for part := range 8 {
		wg.Go(func() {
			for i := part; i < n; i += 8 {
				if err := api.Create(t.Context(), object(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// all waits until there are n databases, and all of them are as wanted.
func (o *operator) all(n int, want string) {
	o.t.Helper()
	o.eventually(fmt.Sprintf("%d databases are %s", n, want), func() bool {
		var list testv1.DatabaseList
		err := api.List(o.t.Context(), &list, client.InNamespace(o.namespace))
		return err == nil && len(list.Items) == n && !slices.ContainsFunc(list.Items, func(d testv1.Database) bool { return says(&d) != want })
	})
}

// Each change of an input changes both digests: that of this process, which is cheap, and that for the next one. An input that
// cannot be compared is known to neither.
func TestDigests(t *testing.T) {
	at := func(name, version string, change ...func(*testv1.Cluster)) checks.Object {
		c := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + version), ResourceVersion: version, Generation: 1}}
		for _, do := range change {
			do(c)
		}
		return checks.Object{Ref: checks.Ref{Kind: "Cluster", Name: name}, Value: c}
	}
	self := func(version string) checks.Object { o := at("self", version); o.Self = true; return o }
	deleting := at("b", "1")
	deleting.Deleting = true
	absent := checks.Object{Ref: checks.Ref{Kind: "Cluster", Name: "a"}, Value: (*testv1.Cluster)(nil)}
	set := func(of string, names bool, all ...checks.Object) ctrlx.Inputs {
		return ctrlx.Inputs{Set: append([]checks.Object{}, all...), Of: checks.Ref{Kind: "Cluster", Set: of}, Names: names}
	}
	many := make([]checks.Object, 101)
	for i := range many {
		many[i] = at(fmt.Sprint(i), "1")
	}
	digests := func(in ctrlx.Inputs) (string, string) {
		if in.Resource == nil {
			in.Resource = at("self", "1").Value.(client.Object)
		}
		version, known, read, ok := in.Digests()
		return fmt.Sprint(version, known), fmt.Sprintf("%#v %t", read, ok)
	}
	different := map[string]ctrlx.Inputs{
		"None": {}, "One": {Objects: []checks.Object{at("a", "1")}}, "Version": {Objects: []checks.Object{at("a", "2")}}, "Absent": {Objects: []checks.Object{absent}},
		"Two": {Objects: []checks.Object{at("a", "1"), at("b", "1")}}, "Empty": set("s", false), "OtherSet": set("t", false),
		"Set": set("s", false, at("b", "1")), "SetVersion": set("s", false, at("b", "2")), "SetOfTwo": set("s", false, at("b", "1"), at("c", "1")),
		"Name": set("s", true, at("b", "1")), "OtherName": set("s", true, at("c", "1")), "NameDeleting": set("s", true, deleting),
	}
	versions, reads := map[string]string{}, map[string]string{}
	for name, in := range different {
		version, read := digests(in)
		if versions[version] != "" || reads[read] != "" || !strings.HasSuffix(version, "true") || !strings.HasSuffix(read, "true") {
			t.Errorf("%s has the digests %s and %s, as %q and %q", name, version, read, versions[version], reads[read])
		}
		versions[version], reads[read] = name, name
	}
	for name, pair := range map[string][2]ctrlx.Inputs{
		"Self": {set("s", false, self("1")), set("s", false, self("2"))}, "NameData": {different["Name"], set("s", true, at("b", "2"))},
		"Order": {different["Two"], {Objects: []checks.Object{at("b", "1"), at("a", "1")}}},
	} {
		version, read := digests(pair[0])
		if v, r := digests(pair[1]); v != version || r != read {
			t.Errorf("%s: the digests are %s and %s, and then %s and %s", name, version, read, v, r)
		}
	}
	_, present := digests(set("s", false, self("1")))
	if _, none := digests(set("s", false)); present == none {
		t.Error("the presence of the resource itself does not count")
	}
	odd := &oddObject{Odd: make(chan int)}
	odd.Generation, odd.ResourceVersion = 1, "1"
	for name, tc := range map[string]struct {
		in              ctrlx.Inputs
		version, digest bool
	}{
		"NoVersion": {ctrlx.Inputs{Objects: []checks.Object{at("a", ""), at("b", "1")}}, false, true}, "NoResource": {ctrlx.Inputs{Resource: &testv1.Cluster{}}, false, true},
		"SetNoVersion": {set("s", false, at("a", ""), at("b", "1")), false, true}, "Text": {ctrlx.Inputs{Objects: []checks.Object{{Ref: theKey, Value: "x"}}}, false, true},
		"NoJSON": {ctrlx.Inputs{Objects: []checks.Object{{Ref: theKey, Value: odd}, at("b", "1")}}, true, false}, "SetNoJSON": {set("s", false, checks.Object{Ref: theKey, Value: odd}, at("b", "1")), true, false},
		"Most": {set("s", false, many[:100]...), true, true}, "TooMany": {set("s", false, many...), true, false},
		"LongSet": {set(strings.Repeat("s", 2000), false), true, true}, "TooLongSet": {set(strings.Repeat("s", 2001), false), true, false},
		"Polls":    {ctrlx.Inputs{Polls: true}, false, true},
		"MostRead": {ctrlx.Inputs{Objects: many[:record.MaxRead]}, true, true}, "TooManyRead": {ctrlx.Inputs{Objects: many[:record.MaxRead+1]}, true, false},
	} {
		if version, read := digests(tc.in); strings.HasSuffix(version, "true") != tc.version || strings.HasSuffix(read, "true") != tc.digest {
			t.Errorf("%s: the digests are %s and %s", name, version, read)
		}
	}
	clock := func(ctx context.Context, value any) string {
		return fmt.Sprintf("%+v", *ctrlx.Inputs{Resource: odd, Objects: []checks.Object{{Ref: theKey, Value: value}}}.Clock(ctx))
	}
	object := func(generation int64, version string) *testv1.Cluster {
		return &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{UID: "u", Generation: generation, ResourceVersion: version}}
	}
	for name, tc := range map[string]struct {
		was, now any
		starts   bool // the clock again
	}{
		"Status": {object(1, "1"), object(1, "2"), false}, "Spec": {object(1, "1"), object(2, "1"), true}, "Data": {object(0, "1"), object(0, "2"), true}, "Text": {"a", "b", true},
	} {
		if starts := clock(t.Context(), tc.was) != clock(t.Context(), tc.now); starts != tc.starts {
			t.Errorf("%s: the clock starts again: %t", name, starts)
		}
		if of := engine.Dependent(t.Context()); clock(of, tc.was) != clock(of, tc.now) {
			t.Errorf("%s: a dependent is an input", name)
		}
	}
	r := ctrlx.New("Database", databases{Apply: put}, extensions{})
	state := func(s any, version string) string {
		cached := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"uid": "u", "resourceVersion": version, "generation": int64(1)}, "status": s,
		}}
		was := cached.DeepCopy()
		d := ctrlx.DigestOfRead(r, checks.Object{Ref: theKey, Value: cached})
		same(t, "the object of the cache", was, cached)
		return d
	}
	fields := func(beat string) any { return map[string]any{"state": "Running", "conditions": []any{beat}} }
	if state(fields("a"), "3") != state(fields("b"), "4") {
		t.Error("the conditions count")
	}
	if first := state("a", "1"); first != state("b", "1") || first == state("b", "2") {
		t.Error("the digest of a status is not that of its version")
	}
	first := state("a", "1") // of another cluster, after a restore, the UID and the version may be the same
	if r = ctrlx.New("Database", databases{Apply: put}, extensions{}); state("b", "1") == first {
		t.Error("the digest of one cluster is that of the other")
	}
}

// oddObject has a field without JSON.
type oddObject struct {
	testv1.Cluster
	Odd chan int `json:"odd"`
}

// A program that cannot be read is an error, so no success is stored for it.
func TestProgramIn(t *testing.T) {
	dir := t.TempDir()
	digest := func(content string) string {
		path := filepath.Join(dir, "program")
		must(t, os.WriteFile(path, []byte(content), 0o600))
		id, err := ctrlx.ProgramIn(path)
		must(t, err)
		return id
	}
	args := os.Args
	t.Cleanup(func() { os.Args = args })
	os.Args = []string{"operator", "--shard=1"}
	first := digest("1")
	if first == digest("2") || first != digest("1") {
		t.Errorf("the digests do not follow the content: %q", first)
	}
	if os.Args[1] = "--shard=2"; first == digest("1") {
		t.Error("the digest does not follow the arguments")
	}
	for _, path := range []string{"", filepath.Join(dir, "none"), dir} {
		if id, err := ctrlx.ProgramIn(path); id != "" || err == nil {
			t.Errorf("%q: the digest is %q: %v", path, id, err)
		}
	}
}

// The first pass after a start keeps the status while a kind is not watched yet. A later pass fails.
func TestSettledNotWatchedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // so that the wait for discovery needs no time
		d := newHarness(t, anApp(AppSpec{}), aCluster())
		d.manager.cache.(*fakeCache).InformersByGVK = map[schema.GroupVersionKind]toolscache.SharedIndexInformer{
			testv1.GroupVersion.WithKind("Cluster"): controllertest.NewFakeInformer(),
		}
		var ref []checks.Ref
		d.with(flow.Extensions[*App]{EntryCheck: chain.New(checks.ReferenceReady("cluster", func(*App) []checks.Ref { return ref }))},
			ctrlx.WithSyncTimeout(time.Millisecond), program("1", nil))
		d.pass()
		ref = []checks.Ref{clusterOfApp(&App{Spec: AppSpec{Cluster: "c"}})}
		if d.pass(); d.says() != "False CheckFailed Reconciling" {
			t.Errorf("the object says %q: %s", d.says(), d.message())
		}
	})
}

// A success counts as stored when the API server has taken it. After a refused status, the
// next pass replaces a record of the time before: otherwise the old clock of a time-out
// would continue when the object is not ready again.
func TestRefusedSuccess(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{Timeout: minutes(10)}))
	blocks := true
	ext := flow.Extensions[*App]{PostCheck: chain.New(checks.Gate("Serves", func(context.Context, *checks.Request[*App]) (checks.Result, error) {
		if blocks {
			return checks.Block("Starting", "it starts"), nil
		}
		return checks.Proceed(), nil
	}))}
	d.use(d.reconciler(ext, program("p", nil)))
	d.pass()
	if got := d.says(); got != "False Starting Reconciling Processing" {
		t.Fatalf("the first pass: %s", got)
	}
	blocks = false
	d.refuse = apierrors.NewInternalError(errBroken)
	if _, err := d.app.Reconcile(t.Context(), reconcile.Request{NamespacedName: named("a")}); err == nil {
		t.Fatal("the status is written")
	}
	d.refuse = nil
	d.pass()
	if r := recordOf(d.read().Status.Conditions); d.says() != "True Succeeded" || r.Success == nil {
		t.Errorf("the next pass: %s, and the record is %+v", d.says(), r)
	}
	blocks = true
	d.now = d.now.Add(20 * time.Minute)
	d.pass()
	if got := d.says(); got != "False Starting Reconciling Processing" {
		t.Errorf("not ready again: %s", got)
	}
}

// A write of finalizers to the owner changes no input of the last success, also if Operations.Owner returns a ref
// without the namespace.
func TestTouchedOwner(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}), aDatabase("d0"))
	read := func() *testv1.Database {
		data := &testv1.Database{}
		must(t, d.api.Get(t.Context(), named("d0"), data))
		return data
	}
	life := func() {
		touches := checks.Check("touches", func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
			return checks.Proceed(), ctrlx.SetFinalizers(ctx, read(), []string{"a/b"})
		})
		d.use(ctrlx.New("App", flow.Operations[*App]{
			Owner: func(context.Context, *App) (checks.Object, error) {
				return checks.Object{Ref: dataOf("d0"), Value: read()}, nil
			},
			Apply: func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
				d.note("apply")
				return flow.Done(), nil
			},
		}, flow.Extensions[*App]{PreCheck: chain.New(touches)}, program("1", nil), dataExists, flow.WithClock(func() time.Time { return d.now })))
		d.pass()
	}
	life()
	d.took()
	d.restart()
	life()
	same(t, "the calls of the first pass after a restart", "", d.took())
}
