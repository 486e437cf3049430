package faults

var otelxFaults = []fault{
	{
		name: "block-logged-as-success", in: "otelx",
		old:  `add(LogVerdict, l.verdict)`,
		new:  `add(LogVerdict, "succeeded")`,
		test: "otelx.TestLogs/Points", why: "a log line says succeeded for a block",
	},
	{
		name: "span-without-status", in: "otelx",
		old:  `span.SetStatus(codes.Error, l.reason)`,
		new:  `_ = codes.Error`,
		test: "otelx.TestPassSpans/panicking", why: "a pass that failed looks well in every list of traces",
	},
	{
		name: "dropped-span-not-ended", in: "otelx.bound.Start",
		old: `			b.endSpan(span)
`,
		new:  ``,
		test: "otelx.TestSampling/Never", why: "spans that the sampler drops pile up in providers that keep count",
	},
	{
		name: "canceled-not-measured", in: "otelx",
		old:  `ctx = context.WithoutCancel(ctx)`,
		new:  `_ = ctx`,
		test: "otelx.TestMetrics", why: "what happens at a shutdown is missing in the metrics",
	},
	{
		name: "reconciler-missing-in-log-lines", in: "otelx",
		old:  `inner = logr.NewContext(ctx, log)`,
		new:  `inner = ctx`,
		test: "otelx.TestLoggerOfThePass", why: "nobody knows which resource a line is about",
	},
	{
		name: "pass-entered-twice", in: "flow",
		old:  `return starts`,
		new:  `return false && starts`,
		test: "otelx.TestLinkSpans", why: "a pass is two spans, one of which nobody ends",
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
		old:  `AttrDuration.Float64(l.elapsed.Seconds())`,
		new:  `AttrDuration.Float64(0)`,
		test: "otelx.TestEventDurations", why: "a trace does not show which link is slow",
	},
	{
		name: "block-logged-at-a-verbosity", in: "otelx",
		old:  `log.V(0).Info(ended[whole], b.values(l)...)`,
		new:  `log.V(1).Info(ended[whole], b.values(l)...)`,
		test: "otelx.TestLogs/Block", why: "a blocked resource leaves no line in the log of a default installation",
	},
	{
		name: "failure-logged-as-information", in: "otelx",
		old:  `log.Error(errors.New(err), ended[whole], b.values(&values)...)`,
		new:  `log.V(0).Info(ended[whole], append(b.values(&values), err)...)`,
		test: "otelx.TestLogs/Failure", why: "an alert on errors of the log misses every failed pass",
	},
	{
		name: "logger-panics-out", in: "otelx.bound.logExit",
		old:  `defer b.contain()`,
		new:  ``,
		test: "otelx.TestPanickingLogger", why: "a full disk turns spans and metrics off",
	},
	{
		name: "a-series-for-each-code", in: "otelx",
		old:  `key.reason = l.rule`,
		new:  `_ = l.rule`,
		test: "otelx.TestBoundedSeries", why: "a service that sends new codes fills the memory of the metrics",
	},
	{
		name: "reasons-without-bound", in: "otelx",
		old:  `key.reason = OtherReason`,
		new:  `_ = OtherReason`,
		test: "otelx.TestBoundedSeries", why: "a check with reasons of its own making fills the memory of the metrics",
	},
	{
		name: "points-counted-as-passes", in: "otelx",
		old:  `MetricPointDuration, MetricPointVerdicts, "extension points"`,
		new:  `MetricPassDuration, MetricPassVerdicts, "extension points"`,
		test: "otelx.TestMetrics", why: "a sum over passes counts each one several times",
	},
	{
		name: "error-text-in-the-message", in: "otelx",
		old:  `limit = b.text`,
		new:  `_ = b.text`,
		test: "otelx.TestErrorText", why: "the text of an error, which may hold a secret, reaches a log without being asked for",
	},
	{
		name: "waiting-for-missing", in: "otelx",
		old:  `l.waitingFor = names(w.WaitingFor())`,
		new:  `_ = names(w.WaitingFor())`,
		test: "otelx.TestPassSpans/waiting", why: "telemetry does not say which object blocks",
	},
	{
		name: "notes-dropped", in: "otelx",
		old:  `texts = append(texts, n.text)`,
		new:  `_ = n.text`,
		test: "otelx.TestPassSpans/waiting", why: "what a check noted does not reach telemetry",
	},
	{
		name: "result-panics-out", in: "otelx.bound.left",
		old:  `defer func() { _ = recover() }()`,
		new:  ``,
		test: "otelx.TestHostileResults/ResultPanics", why: "a result that panics when it is read ends a call that went well",
	},
	{
		name: "observer-without-version", in: "otelx",
		old:  `p.Meter(scope, metric.WithInstrumentationVersion(scopeVersion))`,
		new:  `p.Meter(scope)`,
		test: "otelx.TestScopeVersion", why: "a dashboard cannot tell which release sends a metric",
	},
	{
		name: "search-grows-with-the-chain", in: "chain",
		old:  `inner = &call{ctx, s}`,
		new:  `inner = ctx`,
		test: "chain.TestDepth", why: "each link of a long chain costs more than the one before",
	},
	{
		name: "search-grows-with-the-pass", in: "flow",
		old:  `return &passView{ctx, p}`,
		new:  `return ctx`,
		test: "otelx.TestDepth/Pass", why: "each link of a long pass costs more than the one before",
	},
	{
		name: "bound-to-another-link", in: "chain.watched",
		old:  `bound := run.Bound(o, link)`,
		new:  `bound := o`,
		test: "chain.TestBinder/Bound", why: "what could be made once is made at each call",
	},
	{
		name: "observer-taken-twice", in: "flow",
		old:  `if j := slices.Index(all[:i], o); j >= 0 {`,
		new:  `if j := slices.Index(all[:i], o); j >= i {`,
		test: "otelx.TestSetUpPanics/Twice", why: "each pass has a span that nobody ends",
	},
	{
		name: "two-observers-log", in: "flow",
		old:  `j := slices.IndexFunc(all[:i], d.Doubles); j >= 0`,
		new:  `j := slices.IndexFunc(all[:i], d.Doubles); j >= len(all)`,
		test: "otelx.TestSetUpPanics/Lines", why: "each failed pass is two lines in the log",
	},
	{
		name: "repeated-failure-as-error", in: "otelx",
		old:  ` && !b.isRepeated(ctx, result)`,
		new:  `; _ = result`,
		test: "otelx.TestLogs/Repeated", why: "a pass that tells nothing new has the line of a new block",
	},
	{
		name: "repeated-panics-out", in: "otelx.observer.isRepeated",
		old:  `	defer func() { _ = recover() }()`,
		new:  ``,
		test: "otelx.TestLogs/RepeatedPanics", why: "a mistake in the function of the user hides failed passes",
	},
	{
		name: "spans-compared", in: "otelx.bound.exitSpan",
		old:  "if p.link == b.link || b.own(ctx, p) != nil {",
		new:  "if own := b.own(ctx, p); p.link == b.link || own != nil && own.span == span {",
		test: "otelx.TestPanickingProviders/EndOfLinks", why: "a span of the SDK that records nothing is not comparable, and the panic turns the observer off",
	},
}
