package ctrlx

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// telemetry holds the options of the observer.
type telemetry struct {
	off, set bool
	opts     []otelx.Option
}

// maxErrorText is the maximum length of the text of an error in spans and log lines, in bytes. Conditions show the text
// anyway.
const maxErrorText = 1000

// WithTelemetry sets options of the observer that [New] adds to each reconciler ([otelx.New]). Without the option, the
// observer uses the logger in the context of the pass, which is the controller's, and the global OpenTelemetry providers.
// It shows at most 1000 bytes of an error ([otelx.WithErrorText]) and logs a repeated block at verbosity 1
// ([otelx.WithRepeated]). The given options are applied after these. A nil option is ignored. Together with
// [WithoutTelemetry], it makes [New] panic.
func WithTelemetry(opts ...otelx.Option) Option {
	return func(o *options) {
		o.telemetry.set = true
		o.telemetry.opts = append(o.telemetry.opts, opts...)
	}
}

// WithoutTelemetry leaves out the observer that [New] adds to each reconciler: no spans, no metrics of package otelx, and no
// log lines about passes. [MetricBlocked], conditions and events stay.
func WithoutTelemetry() Option {
	return func(o *options) { o.telemetry.off = true }
}

// observer makes the observer of one reconciler; nil: it has none. repeated is the function for [otelx.WithRepeated].
func (t *telemetry) observer(repeated func(context.Context, flow.Outcome) bool) chain.Observer {
	if t.off {
		return nil
	}
	defaults := []otelx.Option{otelx.WithErrorText(maxErrorText), otelx.WithRepeated(func(ctx context.Context, outcome any) bool {
		out, ok := outcome.(flow.Outcome)
		return ok && (quiet(out) || repeated(ctx, out))
	})}
	return otelx.New(append(defaults, t.opts...)...)
}

// repeated reports whether the outcome of a pass needs no log line: the last pass of the object was blocked in the same
// way, or controller-runtime logs the error that Reconcile returns.
func (r *Reconciler[T]) repeated(ctx context.Context, out flow.Outcome) bool {
	if _, ok := errors.AsType[*finalizerError](out.Err()); ok {
		return true
	}
	p := passOf(ctx)
	return p != nil && r.blocked.is(r.name, client.ObjectKeyFromObject(p.read), blockedBy(out))
}
