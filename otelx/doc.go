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
// reason, retry, duration. An error or a panic sets the span's status to Error
// and adds an exception event. [WithLinkSpans] makes points and links spans of
// their own.
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
// [MetricDuration] is a histogram of how long passes, points and links take.
// [MetricDecisions] counts their verdicts. Their attributes are reconciler,
// point, link, verdict and reason, never the name of a resource.
//
// # Log lines
//
// Passes and points, and links at a higher verbosity, log "enter" when they
// start. When they end they log the verdict: proceed, block, skip, error,
// panic, or another one that the result describes. The logger comes from the
// context ([logr.NewContext]). A pass whose lines the logger shows adds the
// reconciler's name and the resource's key to that logger. The log lines of its
// links then have both too.
//
// # Secrets
//
// The texts of errors and panics may hold secrets. Only [WithErrorText] puts
// them into spans and log lines. Without it, telemetry has the error's code or
// type, and the reason that the reconciler gives.
//
// # Cost
//
// New leaves out a provider that is nil or does nothing. With other providers,
// each pass, or each call of a chain, asks once whether any signal is on. If
// none is, it runs as if it had no observer.
package otelx
