package soak_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

type database = *testv1.Database

// operator is a process of the operator of databases. It can be killed at any moment:
// then none of its requests arrives, and it gets no answer.
type operator struct {
	name      string // of the process
	namespace string
	gets      bool // it reads the cloud before each PUT
	ask       func(q question) (answer, error)
	guard     *guard
	passes    passes
	end       context.CancelFunc

	mu       sync.Mutex
	killIn   int // so many moments before and after calls of the cloud; 0: not
	dead     bool
	deferred map[string]bool // the generations that warm has blocked
}

var errKilled = errors.New("the process was killed")

// moment is one at which the process may be killed.
func (o *operator) moment() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.killIn > 0 {
		if o.killIn--; o.killIn == 0 {
			o.dead = true
			o.end()
		}
	}
	if o.dead {
		return errKilled
	}
	return nil
}

// kill kills the process after some more moments.
func (o *operator) kill(moments int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.killIn = moments
}

func (o *operator) isDead() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dead
}

// call asks the cloud, unless the process is killed.
func (o *operator) call(q question) (answer, error) {
	if err := o.moment(); err != nil {
		return answer{}, err
	}
	a, err := o.ask(q)
	if killed := o.moment(); killed != nil {
		return answer{}, killed
	}
	return a, err
}

// run runs the process until the context ends, or it is killed.
func (o *operator) run(ctx context.Context, config *rest.Config) error {
	ctx, o.end = context.WithCancel(ctx)
	defer o.end()
	o.deferred = map[string]bool{}
	config = rest.CopyConfig(config)
	config.Wrap((&wire{o: o}).wrap)
	yes := true
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:     apiserver.Scheme(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{o.namespace: {}}},
		Controller: ctrlconfig.Controller{SkipNameValidation: &yes},
	})
	if err != nil {
		return err
	}
	api := mgr.GetClient()
	clusters := reconcile.Func(func(ctx context.Context, q ctrl.Request) (ctrl.Result, error) {
		return ctrl.Result{}, report(ctx, api, q)
	})
	counts := reconcile.Func(func(ctx context.Context, q ctrl.Request) (ctrl.Result, error) {
		return ctrl.Result{}, count(ctx, api, q)
	})
	err = errors.Join(
		o.reconciler().SetupWithManager(mgr),
		ctrl.NewControllerManagedBy(mgr).Named("clusters").For(&testv1.Cluster{}).Complete(clusters),
		ctrl.NewControllerManagedBy(mgr).Named("counts").For(&testv1.Database{}).Complete(counts),
	)
	if err == nil {
		err = mgr.Start(ctx)
	}
	if o.isDead() {
		return errKilled
	}
	return err
}

// stopped is the label of a cluster that a user stops.
const stopped = "stopped"

// report is a pass of the operator of clusters: a cluster runs unless a user has stopped it.
func report(ctx context.Context, api client.Client, q ctrl.Request) error {
	o := &testv1.Cluster{}
	if err := api.Get(ctx, q.NamespacedName, o); err != nil {
		return client.IgnoreNotFound(err)
	}
	state, is := "Running", metav1.ConditionTrue
	if o.Labels[stopped] == "yes" {
		state, is = "Stopped", metav1.ConditionFalse
	}
	if o.Status.State == state {
		return nil
	}
	o.Status.State = state
	meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: "Ready", Status: is, Reason: state, ObservedGeneration: o.Generation})
	return api.Status().Update(ctx, o) // not found may mean that the kind is not served
}

const foreignCondition = "Foreign"

// count is a pass of another controller, whose condition has the generation.
func count(ctx context.Context, api client.Client, q ctrl.Request) error {
	d := &testv1.Database{}
	if err := api.Get(ctx, q.NamespacedName, d); err != nil {
		return client.IgnoreNotFound(err)
	}
	c := metav1.Condition{Type: foreignCondition, Status: metav1.ConditionTrue, Reason: "Counted", Message: fmt.Sprintf("%06d", d.Generation)}
	if !meta.SetStatusCondition(&d.Status.Conditions, c) {
		return nil
	}
	return api.Status().Update(ctx, d)
}

func (o *operator) reconciler() *ctrlx.Reconciler[database] {
	stops := func(database) checks.Query {
		return checks.Query{Group: testv1.GroupVersion.Group, Kind: "Cluster", Selector: stopped + "=yes"}
	}
	notes := func(at string) checks.Middleware[database] {
		return chain.Named("note", noted[*checks.Request[database]](o, at))
	}
	ops := flow.Operations[database]{Apply: o.apply, Delete: o.remove}
	ext := flow.Extensions[database]{
		Pass:       chain.New(chain.Named("begin", o.begins)),
		EntryCheck: chain.New(notes("EntryCheck")),
		OwnerCheck: chain.New(chain.Named("note", noted[*checks.OwnerRequest](o, "OwnerCheck")), checks.OwnerReady(checks.WithFollowing(true))),
		PreCheck:   chain.New(notes("PreCheck")),
		PostCheck:  chain.New(notes("PostCheck")),
	}
	unused := checks.Unused("stopped clusters", stops, checks.WithFollowing(true))
	if o.gets {
		ops.Get, ext.GetCheck = o.get, chain.New(notes("GetCheck"), unused)
		ext.PreCheck = ext.PreCheck.Append(checks.Check("settled", o.settled))
		ext.PostCheck = ext.PostCheck.Append(checks.Check("warm", o.warm))
	} else { // each pass repeats the PUT
		ext.PreCheck = ext.PreCheck.Append(unused)
	}
	return ctrlx.New("Database", ops, ext,
		ctrlx.WithOwner(func(d database) checks.Ref {
			return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: d.Spec.Cluster}
		}),
		ctrlx.WithController(controller.Options{
			MaxConcurrentReconciles: 4,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](5*time.Millisecond, 5*time.Second),
		}),
		// The engine repeats a pass only after a failure, so a lost wake-up stays lost.
		ctrlx.WithPollInterval(24*time.Hour),
		flow.WithBackoff(flow.NewBackoff(
			flow.WithBackoffSteps(classify.Fast, 50*time.Millisecond, 5*time.Second),
			flow.WithBackoffSteps(classify.Slow, 50*time.Millisecond, 5*time.Second),
			flow.WithBackoffResync(24*time.Hour),
		)),
	)
}

// killLabel is the label of a database that kills the process of its pass, so many
// moments later.
const killLabel = "kill"

// begins notes the object of a pass, and kills the process if a user wants it.
func (o *operator) begins(next flow.PassHandler[database]) flow.PassHandler[database] {
	return func(ctx context.Context, d database) (flow.Outcome, error) {
		p := o.passes.from(ctx)
		p.mu.Lock()
		p.uid = d.UID
		p.saw(d, p.versions)
		p.mu.Unlock()
		o.guard.look(d)
		if n, _ := strconv.Atoi(d.Labels[killLabel]); n > 0 && o.guard.first(fmt.Sprint("kill ", d.UID, n)) {
			o.kill(n)
		}
		return next(ctx, d)
	}
}

// noted notes that a check at a point blocks.
func noted[R any](o *operator, at string) func(chain.Handler[R, checks.Result]) chain.Handler[R, checks.Result] {
	return func(next chain.Handler[R, checks.Result]) chain.Handler[R, checks.Result] {
		return func(ctx context.Context, req R) (checks.Result, error) {
			res, err := next(ctx, req)
			if err != nil || !res.Proceeds() {
				p := o.passes.from(ctx)
				p.mu.Lock()
				defer p.mu.Unlock()
				p.blocked = at
			}
			return res, err
		}
	}
}

func (o *operator) about(do string, d database) question {
	return question{Process: o.name, Do: do, UID: d.UID, Generation: d.Generation, Size: d.Spec.Size}
}

const pollAfter = 300 * time.Millisecond

// progress begins an operation, or asks how the one of a token is.
func (o *operator) progress(do string, req *flow.Request[database]) (answer, flow.Progress, error) {
	q := o.about(do, req.Resource)
	if req.Token != "" {
		q.Do, q.Token = "poll", req.Token
	}
	a, err := o.call(q)
	switch {
	case err != nil:
		return a, flow.Progress{}, err
	case a.Refused != "":
		return a, flow.Progress{}, errors.New(a.Refused)
	case a.Token != "":
		return a, flow.InProgress(a.Token, pollAfter), nil
	}
	return a, flow.Done(), nil
}

func (o *operator) apply(_ context.Context, req *flow.Request[database]) (flow.Progress, error) {
	a, p, err := o.progress("put", req)
	if err == nil && p.IsDone() {
		req.Resource.Status.Size = a.Size
	}
	return p, err
}

func (o *operator) remove(_ context.Context, req *flow.Request[database]) (flow.Progress, error) {
	_, p, err := o.progress("delete", req)
	return p, err
}

func (o *operator) get(ctx context.Context, req *flow.Request[database]) (flow.Observation, error) {
	d := req.Resource
	a, err := o.call(o.about("get", d))
	if err != nil {
		return flow.Observation{}, err
	}
	p := o.passes.from(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy = a.Busy; a.Exists {
		d.Status.Size = a.Size
	}
	return flow.Observation{Presence: checks.PresenceOf(a.Exists), InSync: a.Exists && !a.Busy && a.Size == d.Spec.Size}, nil
}

// settled blocks while an operation is under way whose token is lost.
func (o *operator) settled(ctx context.Context, _ *checks.Request[database]) (checks.Result, error) {
	p := o.passes.from(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy {
		return checks.Block("Busy", "an operation is under way in the cloud", checks.WithAfter(pollAfter)), nil
	}
	return checks.Proceed(), nil
}

// warm blocks once for each generation.
func (o *operator) warm(_ context.Context, req *checks.Request[database]) (checks.Result, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := fmt.Sprint(req.Resource.UID, req.Resource.Generation)
	if !o.deferred[key] {
		o.deferred[key] = true
		return checks.Block("Cold", "it has to warm up", checks.WithAfter(pollAfter)), nil
	}
	return checks.Proceed(), nil
}
