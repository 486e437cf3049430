package ctrlx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/classify"
)

// defaultPassTimeout is the deadline of a pass without an option. A pass waits
// for no long-running operation, so it takes seconds. Ten minutes also leave
// time for all retries of a cloud SDK. Other projects use 1 minute (Cluster
// API, Crossplane) and 3 minutes (Gardener).
const defaultPassTimeout = 10 * time.Minute

// WithPassTimeout sets the deadline of a pass. The default is 10 minutes. A
// duration that is not positive panics.
//
// After the deadline, the context of the pass is expired, and the pass fails
// (PassTimeout). It is retried with the back-off. The token of an operation
// under way and the conditions are still written, within 10 seconds each. An
// operation or a link that ignores its context cannot be interrupted: it holds
// its worker until it returns. The context also ends with the pass, so a
// goroutine that outlives the pass needs a context of its own.
//
// The deadline is ReconciliationTimeout of controller.Options: there is only
// one, and the metric controller_runtime_reconcile_timeouts_total counts it. So
// give either this option or that field in [WithController]; both together
// panic in [New]. They replace the ReconciliationTimeout of the manager. A
// negative ReconciliationTimeout sets no deadline.
func WithPassTimeout(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("ctrlx: WithPassTimeout(%s): give a positive duration", d))
	}
	return func(o *options) { o.passLimit = d }
}

// controllerOptions returns the options of the controller, with the deadline of
// a pass.
func (o *options) controllerOptions(mgr manager.Manager) controller.Options {
	opts := o.controller
	opts.ReconciliationTimeout = cmp.Or(o.passLimit, opts.ReconciliationTimeout, mgr.GetControllerOptions().ReconciliationTimeout, defaultPassTimeout)
	return opts
}

// rulePassTimeout is the rule of a pass that its deadline ended.
const rulePassTimeout = "PassTimeout"

// passTimedOut reports whether the deadline of the pass caused f. After the
// deadline, a service may still have answered: its error keeps its own class.
func passTimedOut(ctx context.Context, f *classify.Failure) bool {
	if passOf(ctx) == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return false
	}
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](f.Err)
	return ok && timeout.Timeout() || errors.Is(f.Err, context.DeadlineExceeded) || errors.Is(f.Err, context.Canceled) ||
		f.Code == codeDeadlineExceeded
}

// codeDeadlineExceeded is the code of gRPC. Its errors do not wrap the error of
// the context.
const codeDeadlineExceeded = "DeadlineExceeded"

// afterDeadline classifies a failure that the deadline of the pass caused.
func afterDeadline(ctx context.Context, f *classify.Failure) classify.Classification {
	g := coded(f, ReasonPassTimeout)
	g.Message = fmt.Sprintf("the pass did not end within %s and stopped at %s; make the call shorter, return flow.InProgress for a long operation, "+
		"or raise the limit (ctrlx.WithPassTimeout): %s", passOf(ctx).limit, f.Point, f.Message)
	return g.As(rulePassTimeout, classify.Slow)
}
