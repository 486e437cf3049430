// Package otelx gives a reconciler, or any chain, spans, metrics and log lines, for each link and without anybody writing
// them. One observer does it:
//
//	telemetry := otelx.New()
//	pools := flow.New("AgentPool", operations, extensions, flow.WithObserver(telemetry))
//	guards := chain.New(quota, audit).Observe(telemetry)
//
// # Spans
//
// A pass is a span, "reconcile AgentPool", which says where the pass stopped and why. Each link that is left is an event on
// it: point, link, verdict, reason, how soon to try again, duration. An error or a panic makes the span's status Error, with
// an exception event. [LinkSpans] makes points and links spans of their own. A chain that stands alone has no pass: its events
// are on whatever span is recording when it is called, and [Span] makes one.
//
// The pass asks the sampler, once; links follow what it said. For samplers that decide about children in another way than
// about their parents, [AskSampler] asks each time.
//
// # Metrics
//
// [MetricDuration] is a histogram of how long points and links take, [MetricDecisions] counts what they decide. Their
// attributes are reconciler, point, link, verdict and reason, never the name of a resource.
//
// # Log lines
//
// Points, and at a higher verbosity links, log "enter", and when they are left the verdict: proceed, block, skip, error,
// panic, or what else the result says of itself. The logger is that of the context ([logr.NewContext]); the reconciler's
// name and the resource's key are added to it once a pass, so that what links log by it has them, too.
//
// # What is not told
//
// The texts of errors and panics may hold secrets: they get into spans and log lines by [ErrorText] only. Without it there
// are the error's code or type, and the reason that the reconciler gives.
//
// # What it costs
//
// A provider that is nil or does nothing is left out when it is given. Otherwise a pass or a call of a chain asks once
// whether anybody listens, and if not runs as if there was no observer.
package otelx
