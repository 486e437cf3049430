package soak_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

type database = *testv1.Database

// setup configures an operator for databases.
type setup struct {
	Process   string // its name
	Namespace string
	Get       bool // it reads the cloud before each PUT
	Delete    bool // it deletes the cloud resource of a deleted database
	Defers    bool // a check after the PUT blocks once for each generation
	Follows   bool // a Ready database follows its cluster
	Workers   int
	Lease     string        // lease for which it competes with other operators; empty: none
	Poll      time.Duration // interval between live reads of awaited objects; 0: never
	// For an operator in a process of its own:
	Cloud  string
	Server reach
}

// operator is a running operator.
type operator struct {
	setup
	ask    asker
	passes passes
	wire   *wire

	mu       sync.Mutex
	deferred map[string]bool // the generations that warm has blocked
}

func newOperator(s setup, ask asker) *operator {
	o := &operator{setup: s, ask: ask, deferred: map[string]bool{}}
	o.wire = &wire{passes: &o.passes, says: func(format string, args ...any) {
		_, _ = ask(context.Background(), question{Do: "wrong", Text: fmt.Sprintf(format, args...)})
	}}
	return o
}

// manager makes a manager with the reconciler.
func (o *operator) manager(config *rest.Config) (manager.Manager, error) {
	plain, config := config, rest.CopyConfig(config)
	config.Wrap(o.wire.wrap)
	lease, renew, retry := 3*time.Second, 2*time.Second, 500*time.Millisecond
	yes := true
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:     newScheme(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{o.Namespace: {}}},
		Controller: ctrlconfig.Controller{SkipNameValidation: &yes},

		LeaderElection: o.Lease != "", LeaderElectionID: o.Lease, LeaderElectionNamespace: o.Namespace, LeaderElectionConfig: plain,
		LeaseDuration: &lease, RenewDeadline: &renew, RetryPeriod: &retry,
	})
	if err != nil {
		return nil, err
	}
	return mgr, o.reconciler().SetupWithManager(mgr)
}

func (o *operator) reconciler() *ctrlx.Reconciler[database] {
	ops := flow.Operations[database]{Apply: o.apply}
	ext := flow.Extensions[database]{
		Pass:       chain.New(chain.Named("count", o.counted)),
		EntryCheck: chain.New(chain.Named("note", o.noted)),
		OwnerCheck: chain.New(chain.Named("note", o.ownerNoted), checks.OwnerReady(checks.WithFollowing(o.Follows))),
		PreCheck:   chain.New(chain.Named("note", o.noted)),
		PostCheck:  chain.New(chain.Named("note", o.noted)),
	}
	if o.Get {
		ops.Get = o.get
		ext.PreCheck = ext.PreCheck.Append(checks.Check("settled", o.settled))
	}
	if o.Delete {
		ops.Delete = o.remove
	}
	if o.Defers {
		ext.PostCheck = ext.PostCheck.Append(checks.Check("warm", o.warm))
	}
	return ctrlx.New("Database", ops, ext,
		ctrlx.WithOwner(func(d database) checks.Ref {
			if d.Spec.Cluster == "" {
				return checks.Ref{}
			}
			return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: d.Spec.Cluster}
		}),
		ctrlx.WithController(controller.Options{
			MaxConcurrentReconciles: o.Workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](5*time.Millisecond, time.Second),
		}),
		ctrlx.WithPollInterval(cmp.Or(o.Poll, 24*time.Hour)),
		// The engine repeats a pass only after a failure, so a lost wake-up
		// stays lost.
		flow.WithBackoff(flow.NewBackoff(
			flow.WithBackoffSteps(classify.Fast, 50*time.Millisecond, time.Second),
			flow.WithBackoffSteps(classify.Slow, 50*time.Millisecond, time.Second),
			flow.WithBackoffResync(24*time.Hour),
		)),
	)
}

// counted reports each pass to the cloud, which is one more moment for a kill.
// It also records the object of the pass.
func (o *operator) counted(next flow.PassHandler[database]) flow.PassHandler[database] {
	return func(ctx context.Context, d database) (flow.Outcome, error) {
		if p := o.passes.from(ctx); p != nil {
			p.mu.Lock()
			p.uid, p.versions = d.UID, append(p.versions, d.ResourceVersion)
			p.mu.Unlock()
		}
		q := o.about("pass", d)
		q.Text = d.Spec.Cluster
		if _, err := o.ask(ctx, q); err != nil {
			return flow.Outcome{}, err
		}
		return next(ctx, d)
	}
}

func (o *operator) ownerNoted(next chain.Handler[*checks.OwnerRequest, checks.Result]) chain.Handler[*checks.OwnerRequest, checks.Result] {
	return func(ctx context.Context, req *checks.OwnerRequest) (checks.Result, error) {
		res, err := next(ctx, req)
		if p := o.passes.from(ctx); p != nil && (err != nil || !res.Proceeds()) {
			p.blocks("an owner check")
		}
		return res, err
	}
}

func (o *operator) noted(next checks.Handler[database]) checks.Handler[database] {
	return func(ctx context.Context, req *checks.Request[database]) (checks.Result, error) {
		res, err := next(ctx, req)
		if p := o.passes.from(ctx); p != nil && (err != nil || !res.Proceeds()) {
			p.blocks("a check")
		}
		return res, err
	}
}

func (o *operator) about(do string, d database) question {
	return question{Process: o.Process, Do: do, UID: d.UID, Generation: d.Generation, Size: d.Spec.Size}
}

const pollAfter = 20 * time.Millisecond

func (o *operator) progress(ctx context.Context, q question) (answer, flow.Progress, error) {
	a, err := o.ask(ctx, q)
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

func (o *operator) apply(ctx context.Context, req *flow.Request[database]) (flow.Progress, error) {
	q := o.about("put", req.Resource)
	if req.Token != "" {
		q.Do, q.Token = "poll", req.Token
	}
	a, p, err := o.progress(ctx, q)
	if err == nil && p.IsDone() {
		req.Resource.Status.Size = a.Size
	}
	return p, err
}

func (o *operator) remove(ctx context.Context, req *flow.Request[database]) (flow.Progress, error) {
	q := o.about("delete", req.Resource)
	if req.Token != "" {
		q.Do, q.Token = "poll", req.Token
	}
	_, p, err := o.progress(ctx, q)
	return p, err
}

func (o *operator) get(ctx context.Context, req *flow.Request[database]) (flow.Observation, error) {
	d := req.Resource
	a, err := o.ask(ctx, o.about("get", d))
	if err != nil {
		return flow.Observation{}, err
	}
	if p := o.passes.from(ctx); p != nil {
		p.mu.Lock()
		p.busy = a.Busy
		p.mu.Unlock()
	}
	if a.Exists {
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

// start starts an operator in this process. It is stopped when the test ends.
func start(t *testing.T, s setup, c *cloud) {
	t.Helper()
	s.Server = the.reach
	mgr, err := newOperator(s, c.ask).manager(the.config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// process is an operator in a process of its own.
type process struct {
	name string
	cmd  *exec.Cmd
	out  tail
	stop io.Closer // its standard input; the process ends when it is closed
	over chan struct{}
}

// launch starts an operator in a process of its own. If the process still runs
// when the test ends, it is killed.
func launch(t *testing.T, s setup) *process {
	t.Helper()
	s.Server = the.reach
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{name: s.Process, cmd: exec.Command(self), over: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), roleVariable+"="+roleOperator)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	in, err := p.cmd.StdinPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.stop = in
	go func() {
		_ = p.cmd.Wait()
		close(p.over)
	}()
	t.Cleanup(p.kill)
	if err := json.NewEncoder(in).Encode(s); err != nil {
		t.Fatal(err)
	}
	return p
}

// kill kills a process, which has no time to clean up, and waits until it has
// ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.over
}

// ended reports whether a process has ended.
func (p *process) ended() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

// operate runs an operator in this process, until it is killed or the process
// with the tests is gone.
func operate() int {
	var s setup
	err := json.NewDecoder(os.Stdin).Decode(&s)
	if err == nil {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		var mgr manager.Manager
		ask := asking(s.Cloud)
		if mgr, err = newOperator(s, ask).manager(s.Server.config()); err == nil {
			_, _ = ask(context.Background(), question{Process: s.Process, Do: "up"})
			err = mgr.Start(context.Background())
		}
	}
	fmt.Fprintln(os.Stderr, "the operator ends:", err)
	return 1
}

// tail keeps the end of the text that is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-4096):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
