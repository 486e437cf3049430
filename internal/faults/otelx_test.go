package faults

var otelxFaults = []fault{
	{
		name: "block-logged-as-success", file: "otelx/log.go",
		old:  `.Info(l.verdict, values...)`,
		new:  `.Info("succeeded", values...)`,
		test: "otelx.TestLogs/Points", why: "a log line says succeeded for a block",
	},
	{
		name: "span-without-status", file: "otelx/span.go",
		old:  `span.SetStatus(codes.Error, l.reason)`,
		new:  `_ = codes.Error`,
		test: "otelx.TestPassSpans/panicking", why: "a pass that failed looks well in every list of traces",
	},
	{
		name: "dropped-span-not-ended", file: "otelx/observer.go",
		old: `			p.span.End()
`,
		new:  ``,
		test: "otelx.TestSampling/Never", why: "spans that the sampler drops pile up in providers that keep count",
	},
	{
		name: "canceled-not-measured", file: "otelx/metrics.go",
		old:  `ctx = context.WithoutCancel(ctx)`,
		new:  `_ = ctx`,
		test: "otelx.TestMetrics", why: "what happens at a shutdown is missing in the metrics",
	},
	{
		name: "reconciler-missing-in-log-lines", file: "otelx/log.go",
		old:  `	return logr.NewContext(ctx, log)`,
		new:  `	return ctx`,
		test: "otelx.TestLoggerOfThePass", why: "nobody knows which resource a line is about",
	},
	{
		name: "pass-entered-twice", file: "flow/watch.go",
		old:  ` && !(a[i].starts && link.Kind == chain.Pass) {`,
		new:  ` {`,
		test: "otelx.TestLinkSpans", why: "a pass is two spans, one of which nobody ends",
	},
	{
		name: "provider-installed-later-ignored", file: "otelx/observer.go",
		old: `	if _, off := tracer.(tracenoop.Tracer); off {`,
		new: `	_, off := tracer.(tracenoop.Tracer)
	if _, span := tracer.Start(context.Background(), ""); off || !span.IsRecording() {`,
		test: "otelx.TestGlobalProviderLater", why: "an SDK that is installed after the set-up records nothing",
	},
	{
		name: "event-with-the-duration-of-another", file: "otelx/span.go",
		old:  `*e.duration = AttrDuration.Float64(l.Elapsed.Seconds())`,
		new:  `_ = l.Elapsed`,
		test: "otelx.TestEventDurations", why: "who looks for the slow link is shown another one",
	},
	{
		name: "bound-to-another-link", file: "chain/observe.go",
		old: `	o = Bound(o, link)
	return func(`,
		new:  `	return func(`,
		test: "chain.TestBinder/Bound", why: "what could be made once is made at each call",
	},
	{
		name: "observer-taken-twice", file: "flow/watch.go",
		old:  `if j := slices.Index(observers[:i], o); j >= 0 {`,
		new:  `if j := slices.Index(observers[:i], o); j >= i {`,
		test: "otelx.TestSetUpPanics/Twice", why: "each pass has a span that nobody ends",
	},
}
