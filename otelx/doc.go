// Package otelx records spans, metrics and log lines for every link of a
// reconciler or chain. One observer does it:
//
//	telemetry := otelx.New()
//	pools := flow.New("AgentPool", operations, extensions, flow.WithObserver(telemetry))
//	links := chain.New(quota, audit).Observe(telemetry)
//
// # Spans
//
// A pass is a span, such as "reconcile AgentPool". Its attributes show where
// the pass stopped and why. Each link adds an event when it ends, with its
// verdict, reason, retry, duration, message, awaited objects and notes
// (chain.Note). An error or a panic sets the span's status to Error and adds an
// exception event.
//
// One option makes each point and each link a span of its own:
//
//	telemetry := otelx.New(otelx.WithLinkSpans())
//
// A standalone chain is a chain outside a pass. Its events go to the recording
// span of the context, which [Span] can make.
//
// The sampler decides once for each pass, and the links follow.
//
// # Metrics
//
// Passes, points and links each have a histogram of durations
// ([MetricPassDuration]) and a counter of verdicts ([MetricPassVerdicts]).
// Metrics never name a resource, and the number of reasons is bounded.
//
// # Log lines
//
// A blocked or failed pass logs one line at verbosity 0, with the point, the
// link, the reason and the message. A failure is an error of the logger (logr's
// Error). After a panic, it has the stack, and so has the exception event.
// [WithChanges] limits these lines to changes of the verdict, and adds a line for
// a resource that recovers. At verbosity 1, each other pass is a line, too. At
// verbosity 2, passes, points and links log a line when they start, and points and
// links one when they end. [WithNextPass] adds the delay until the next pass.
//
// The logger comes from the context ([logr.NewContext]). A pass adds the
// reconciler's name and the resource's key to the logger of its links. The
// observer asks for the logger's verbosity once, at the start of a pass or of a
// call of a standalone chain.
//
// # Secrets
//
// Only [WithErrorText] puts the texts of errors and panics into spans and log
// lines. Without it, telemetry has the code or type of the error, and the
// reconciler's reason. Messages of blocks and notes are always in telemetry, as
// one line of bounded length. Do not put secrets into them.
//
// # Cost
//
// New leaves out a provider that is nil or a no-op. With other providers, each
// pass, or each call of a standalone chain, asks once whether a signal is on.
// If no signal is on, it runs without the observer. For a pass, a logger in the
// context is a signal that is on.
package otelx
