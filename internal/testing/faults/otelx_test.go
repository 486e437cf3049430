package faults

var otelxFaults = []fault{
	{
		name: "block-logged-as-success", in: "otelx",
		old:  `.Info(l.verdict, values...)`,
		new:  `.Info("succeeded", values...)`,
		test: "otelx.TestLogs/Points", why: "a log line says succeeded for a block",
	},
	{
		name: "span-without-status", in: "otelx",
		old:  `span.SetStatus(codes.Error, l.reason)`,
		new:  `_ = codes.Error`,
		test: "otelx.TestPassSpans/panicking", why: "a pass that failed looks well in every list of traces",
	},
	{
		name: "dropped-span-not-ended", in: "otelx",
		old: `			p.span.End()
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
		old:  `	return logr.NewContext(ctx, log)`,
		new:  `	return ctx`,
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
		name: "event-with-the-duration-of-another", in: "otelx",
		old:  `*e.duration = AttrDuration.Float64(l.Elapsed.Seconds())`,
		new:  `_ = l.Elapsed`,
		test: "otelx.TestEventDurations", why: "who looks for the slow link is shown another one",
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
}
