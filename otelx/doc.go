// Package otelx records spans, metrics and log lines for every link of a
// reconciler or chain. One observer does it:
//
//	telemetry := otelx.New()
//	pools := flow.New("AgentPool", operations, extensions, flow.WithObserver(telemetry))
//	guards := chain.New(quota, audit).Observe(telemetry)
//
// # Spans
//
// A pass is a span, "reconcile AgentPool", which says where the pass stopped
// and why. Each link adds an event to it when it ends: point, link, verdict,
// reason, retry, duration. A block adds its message and the awaited objects. A
// link that used chain.Note adds its notes. An error or a panic sets the span's
// status to Error and adds an exception event.
//
// One option makes each point and each link a span of its own:
//
//	telemetry := otelx.New(otelx.WithLinkSpans())
//
// A chain that stands alone has no pass. Its events go to the span that is
// recording when it is called; [Span] makes one.
//
// The pass asks the sampler, once, and links follow its decision.
// [WithLinkSampling] asks for each point and link, for samplers that decide
// differently about child spans.
//
// # Metrics
//
// Passes, points and links each have a histogram of durations
// ([MetricPassDuration]) and a counter of verdicts ([MetricPassVerdicts]). Their
// attributes are reconciler, point, link, verdict and reason, never the name of
// a resource. The number of reasons is bounded.
//
// # Log lines
//
// A pass that is blocked or fails logs one line at verbosity 0, with the point,
// the link, the reason and the message. A failure is an error of the logger
// (logr's Error). [WithRepeated] lowers the verbosity of passes that tell nothing
// new. Passes and points at verbosity 1, and links at verbosity 2,
// log a line when they start and a line with the verdict when they end.
//
// The logger comes from the context ([logr.NewContext]). A pass adds the
// reconciler's name and the resource's key to it. The log lines of links then
// have both too. The observer decides at the start of a pass, or of a call of a
// chain that stands alone, which lines the logger shows.
//
// # Secrets
//
// The texts of errors and panics may hold secrets. Only [WithErrorText] puts
// them into spans and log lines. Without it, telemetry has the error's code or
// type, and the reason that the reconciler gives. The message of a block and
// the text of a note are always shown, as one line of bounded length. Do not
// put secrets into them.
//
// # Cost
//
// New leaves out a provider that is nil or does nothing. With other providers,
// each pass, or each call of a chain, asks once whether any signal is on. If
// none is, it runs as if it had no observer. For a pass, a logger in the context
// is a signal that is on.
package otelx
