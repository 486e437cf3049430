package faults

var otelxFaults = []fault{
	{
		name: "block-logged-as-success", in: "otelx",
		old:  `add(LogVerdict, e.verdict)`,
		new:  `add(LogVerdict, "succeeded")`,
		test: "otelx.TestLogs/Points", why: "a log line reports a block as a success",
	},
	{
		name: "span-without-status", in: "otelx",
		old:  `span.SetStatus(codes.Error, e.reason)`,
		new:  `_ = codes.Error`,
		test: "otelx.TestPassSpans/panicking", why: "the span of a failed pass has no error status",
	},
	{
		name: "dropped-span-not-ended", in: "otelx.bound.Start",
		old: `			b.endSpan(span)
`,
		new:  ``,
		test: "otelx.TestSampling/Never", why: "spans that the sampler drops are not ended, and some providers keep them",
	},
	{
		name: "canceled-not-measured", in: "otelx",
		old:  `ctx = context.WithoutCancel(ctx)`,
		new:  `_ = ctx`,
		test: "otelx.TestMetrics", why: "the metrics lack the passes that a shutdown cancels",
	},
	{
		name: "reconciler-missing-in-log-lines", in: "otelx",
		old:  `inner = logr.NewContext(ctx, log)`,
		new:  `inner = ctx`,
		test: "otelx.TestLoggerOfThePass", why: "a log line does not name the reconciler",
	},
	{
		name: "pass-entered-twice", in: "flow",
		old:  `return starts`,
		new:  `return false && starts`,
		test: "otelx.TestLinkSpans", why: "a pass has two spans, and one of them is never ended",
	},
	{
		name: "provider-installed-later-ignored", in: "otelx",
		old: `	if _, off := tracer.(tracenoop.Tracer); off {`,
		new: `	_, off := tracer.(tracenoop.Tracer)
	if _, span := tracer.Start(context.Background(), ""); off || !span.IsRecording() {`,
		test: "otelx.TestGlobalProviderLater", why: "an SDK that is installed after the set-up records nothing",
	},
	{
		name: "event-without-its-duration", in: "otelx",
		old:  `AttrDuration.Float64(e.elapsed.Seconds())`,
		new:  `AttrDuration.Float64(0)`,
		test: "otelx.TestEventDurations", why: "a trace does not show which link is slow",
	},
	{
		name: "block-logged-at-a-verbosity", in: "otelx",
		old:  `log.V(0).Info(ended[whole], b.values(e)...)`,
		new:  `log.V(1).Info(ended[whole], b.values(e)...)`,
		test: "otelx.TestLogs/Block", why: "a default installation logs no line for a blocked resource",
	},
	{
		name: "failure-logged-as-information", in: "otelx",
		old:  `log.Error(errors.New(err), ended[whole], b.values(&values)...)`,
		new:  `log.V(0).Info(ended[whole], append(b.values(&values), err)...)`,
		test: "otelx.TestLogs/Failure", why: "a failed pass is logged as information, so alerts miss it",
	},
	{
		name: "logger-panics-out", in: "otelx.bound.logExit",
		old:  `defer b.contain()`,
		new:  ``,
		test: "otelx.TestPanickingLogger", why: "a logger that panics turns spans and metrics off",
	},
	{
		name: "a-series-for-each-code", in: "otelx",
		old:  `key.reason = e.rule`,
		new:  `_ = e.rule`,
		test: "otelx.TestBoundedSeries", why: "a service with new codes fills the memory of the metrics",
	},
	{
		name: "reasons-without-bound", in: "otelx",
		old:  `key.reason = OtherReason`,
		new:  `_ = OtherReason`,
		test: "otelx.TestBoundedSeries", why: "a check with generated reasons fills the memory of the metrics",
	},
	{
		name: "points-counted-as-passes", in: "otelx",
		old:  `MetricPointDuration, MetricPointVerdicts, "extension points"`,
		new:  `MetricPassDuration, MetricPassVerdicts, "extension points"`,
		test: "otelx.TestMetrics", why: "the metrics count each pass several times",
	},
	{
		name: "error-text-in-the-message", in: "otelx",
		old:  `limit = b.text`,
		new:  `_ = b.text`,
		test: "otelx.TestErrorText", why: "the text of an error, which may contain a secret, reaches a log that did not enable it",
	},
	{
		name: "waiting-for-missing", in: "otelx",
		old:  `e.waitingFor = names(w.WaitingFor())`,
		new:  `_ = names(w.WaitingFor())`,
		test: "otelx.TestPassSpans/waiting", why: "telemetry does not name the blocking object",
	},
	{
		name: "notes-dropped", in: "otelx",
		old:  `texts = append(texts, n.text)`,
		new:  `_ = n.text`,
		test: "otelx.TestPassSpans/waiting", why: "telemetry does not show the notes of a check",
	},
	{
		name: "result-panics-out", in: "otelx.bound.endingOf",
		old:  `defer func() { _ = recover() }()`,
		new:  ``,
		test: "otelx.TestHostileResults/ResultPanics", why: "a result whose method panics makes a successful call fail",
	},
	{
		name: "observer-without-version", in: "otelx",
		old:  `p.Meter(scope, metric.WithInstrumentationVersion(scopeVersion))`,
		new:  `p.Meter(scope)`,
		test: "otelx.TestScopeVersion", why: "the metrics do not name the release of the library",
	},
	{
		name: "search-grows-with-the-chain", in: "chain",
		old:  `inner = &call{ctx, s}`,
		new:  `inner = ctx`,
		test: "chain.TestDepth", why: "each link of a long chain costs more than the one before it",
	},
	{
		name: "search-grows-with-the-pass", in: "flow",
		old:  `return &passView{ctx, p}`,
		new:  `return ctx`,
		test: "otelx.TestDepth/Pass", why: "each link of a long pass costs more than the one before it",
	},
	{
		name: "bound-to-another-link", in: "chain.observing",
		old:  `bound := run.Bound(o, link)`,
		new:  `bound := o`,
		test: "chain.TestBinder/Bound", why: "an observer is bound again at each call",
	},
	{
		name: "observer-taken-twice", in: "flow",
		old:  `if j := slices.Index(all[:i], o); j >= 0 {`,
		new:  `if j := slices.Index(all[:i], o); j >= i {`,
		test: "otelx.TestSetUpPanics/Twice", why: "the set-up accepts an observer twice, and each pass has a span that is never ended",
	},
	{
		name: "two-observers-log", in: "flow",
		old:  `j := slices.IndexFunc(all[:i], d.Doubles); j >= 0`,
		new:  `j := slices.IndexFunc(all[:i], d.Doubles); j >= len(all)`,
		test: "otelx.TestSetUpPanics/Lines", why: "each failed pass is logged twice",
	},
	{
		name: "repeated-failure-as-error", in: "otelx",
		old:  ` && !b.isRepeated(ctx, result)`,
		new:  `; _ = result`,
		test: "otelx.TestLogs/Repeated", why: "a repeated block is logged as a new one",
	},
	{
		name: "repeated-panics-out", in: "otelx.observer.isRepeated",
		old:  `	defer func() { _ = recover() }()`,
		new:  ``,
		test: "otelx.TestLogs/RepeatedPanics", why: "a panic in the user's function hides failed passes",
	},
	{
		name: "notes-of-sampled-links-dropped", in: "otelx",
		old:  `if points || p.logs[0] || b.traced(ctx) {`,
		new:  `if points || p.logs[0] || p.recording || p.link == nil && b.traced(ctx) {`,
		test: "otelx.TestNotesOutsideOfLinks/Sampled", why: "the span of a sampled link in a dropped pass has no notes",
	},
	{
		name: "spans-compared", in: "otelx.bound.exitSpan",
		old:  "if p.link == b.link || b.ownSpan(ctx, p) != nil {",
		new:  "if own := b.ownSpan(ctx, p); p.link == b.link || own != nil && own.span == span {",
		test: "otelx.TestPanickingProviders/EndOfLinks", why: "comparing two spans panics and turns the observer off",
	},
}
