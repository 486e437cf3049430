// Package settings holds the options that a reconciler and the checks in a Reconcile
// that exists share.
package settings

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/ctrlx/internal/view"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// Shared are the options.
type Shared struct {
	Owner      any // func(T) checks.Ref; nil: the controlling owner reference
	Conditions any // func(T) *[]metav1.Condition; nil: the methods of T
	Readiness  view.Readinesses
	Foreign    view.ForeignReferences
	Telemetry  Telemetry
	Flow       []flow.Option
}

// Option sets an option of Shared.
type Option func(*Shared)

// ForReconciler implements ctrlx.Option.
func (Option) ForReconciler() {}

// Take applies an option. It reports whether the option is a shared one. maker is the
// function that was given the options, with the name of the kind, and n counts them
// from 0. A nil option panics.
func (s *Shared) Take(maker string, n int, opt any) bool {
	if setup.IsNil(opt) {
		panic(fmt.Sprintf("ctrlx: %s: option %d is nil", maker, n+1))
	}
	switch opt := opt.(type) {
	case Option:
		opt(s)
	case flow.Option:
		s.Flow = append(s.Flow, opt)
	default:
		return false
	}
	return true
}

// Of returns the function that an option was given, nil without the option. It panics
// if the function is for another type.
func Of[F any](maker, option string, given any) (f F) {
	f, ok := given.(F)
	if !ok && given != nil {
		panic(fmt.Sprintf("ctrlx: %s: %s was given a %T, it takes a %T", maker, option, given, f))
	}
	return f
}

// Telemetry holds the options of the observer.
type Telemetry struct {
	Off, Set bool
	Opts     []otelx.Option
}

// maxErrorText is the maximum length of the text of an error in spans and log lines, in bytes. Conditions show the text
// anyway.
const maxErrorText = 1000

// Observer makes the observer of one reconciler; nil: it has none. changed is the function for [otelx.WithChanges], links
// the one for [otelx.WithPassLinks], next the one for [otelx.WithNextPass]. It panics if the options contradict each other.
func (t *Telemetry) Observer(maker string, changed func(context.Context, flow.Outcome) (previous string, changed bool), links func(context.Context) []trace.Link, next func(context.Context, func(time.Duration))) chain.Observer {
	if t.Off && t.Set {
		panic(fmt.Sprintf("ctrlx: %s: WithTelemetry and WithoutTelemetry are both given: leave one of them out", maker))
	}
	if t.Off {
		return nil
	}
	defaults := []otelx.Option{otelx.WithErrorText(maxErrorText), otelx.WithPassLinks(links), otelx.WithNextPass(next), otelx.WithChanges(func(ctx context.Context, outcome any) (string, bool) {
		out, ok := outcome.(flow.Outcome)
		if !ok || apierr.Quiet(out) || out.State() == flow.StateCanceled {
			return "", false
		}
		return changed(ctx, out)
	})}
	return otelx.New(append(defaults, t.Opts...)...)
}
