package faults

var classifyFaults = []fault{
	{
		name: "last-row-wins", in: "classify",
		old:  `append(slices.Clip(ix.list(code)), i)`,
		new:  `append([]int{i}, ix.list(code)...)`,
		test: "classify.TestTable/row_order,_one_code", why: "of several rows that match the last decides",
	},
	{
		name: "rows-without-a-code-last", in: "classify",
		old:  `append(slices.Clip(ix.list(code)), i)`,
		new:  `append(slices.Clip(ix.byCode[string(lower(nil, code))]), i)`,
		test: "classify.TestTable/row_order_2", why: "a row without a code is not asked about a code that a later row has",
	},
	{
		name: "status-row-matches-200", in: "classify",
		old:  `(r.status == 0 || r.status == f.Status)`,
		new:  `(r.status == 0 || r.status == f.Status || f.Status == 200)`,
		test: "classify.TestTable/code_only", why: "every failed long-running operation is taken for a bad request",
	},
	{
		name: "any-case-not-folded", in: "classify",
		old:  `if 'A' <= c && c <= 'Z' {`,
		new:  `if false {`,
		test: "classify.TestTable/long,_any_case", why: "a row with AnyCase does not know a code in other letters",
	},
	{
		name: "unknown-errors-wait-for-a-change", in: "classify",
		old:  `when("anything else", func(context.Context, *Failure) bool { return true }), Retry: Slow},`,
		new:  `when("anything else", func(context.Context, *Failure) bool { return true }), Retry: OnChange},`,
		test: "classify.TestDefaultErrors/unknown", why: "an unknown error stops a resource for good",
	},
	{
		name: "unknown-bad-request-waits-for-a-change", in: "classify",
		old:  `{Name: "UnknownBadRequest", Status: http.StatusBadRequest, Retry: VerySlow},`,
		new:  `{Name: "UnknownBadRequest", Status: http.StatusBadRequest, Retry: OnChange},`,
		test: "classify.TestDefaultStatus", why: "an unknown code stops a resource for good",
	},
	{
		name: "canceled-by-anybody", in: "classify",
		old:  `ctx != nil && errors.Is(ctx.Err(), context.Canceled) && `,
		new:  ``,
		test: "classify.TestDefaultErrors/canceled_elsewhere", why: "an error that only says canceled is not written, though the pass goes on",
	},
	{
		name: "retry-after-negative", in: "classify",
		old:  `return min(max(at.Sub(now), 0), maxAfter)`,
		new:  `return min(at.Sub(now), maxAfter)`,
		test: "classify.TestRetryAfter/past", why: "a date in the past gives a negative interval",
	},
	{
		name: "retry-after-over-an-hour", in: "classify",
		old:  `n = min(n*10+time.Duration(c-'0'), limit)`,
		new:  `n, _ = n*10+time.Duration(c-'0'), limit`,
		test: "classify.TestRetryAfter/over_an_hour", why: "a service can make a resource wait for a year, or overflow the sum",
	},
	{
		name: "retry-after-by-our-clock", in: "classify",
		old:  `now = date`,
		new:  `_ = date`,
		test: "classify.TestRetryAfter/own_date", why: "a clock that is off makes the wait wrong",
	},
	{
		name: "body-over-the-limit", in: "classify/azure",
		old:  `io.ReadAll(io.LimitReader(body, maxBody))`,
		new:  `io.ReadAll(body)`,
		test: "classify/azure.TestReadBodyOfTenMegabytes/JSON", why: "an endless body fills the memory",
	},
	{
		name: "body-eaten", in: "classify/azure",
		old:  `&peeked{head: data, unread: data, err: err, rest: body}`,
		new:  `&peeked{head: data, err: err, rest: body}`,
		test: "classify/azure.TestReadBody/error_object", why: "who reads the body after us finds nothing",
	},
	{
		name: "cut-off-body-hangs", in: "classify/azure",
		old:  `depth > 0 && t.err == nil;`,
		new:  `depth > 0;`,
		test: "classify/azure.FuzzErrorBody/deep-nesting", hangs: true, why: "a body that was cut off stops the worker for good",
	},
	{
		name: "details-taken-for-the-error", in: "classify/azure",
		old:  `if token == '{' && field != nil {`,
		new:  `if field != nil {`,
		test: "classify/azure.TestReadBody/error_list", why: "what is nested in an error decides in its place",
	},
	{
		name: "shadowed-rows-not-said", in: "classify",
		old: `		if i < 0 {
			return nil
		}
		by = append(by, list[i])
`,
		new: `		if i < 0 || len(codes) > 0 {
			return nil
		}
		by = append(by, list[i])
`,
		test: "classify.TestTableString", why: "nobody learns that a row is never reached",
	},
	{
		name: "unknown-version-matches", in: "classify",
		old: `	v, ok := parseAPIVersion(version)
	if !ok {
		return false
`,
		new: `	v, ok := parseAPIVersion(version)
	if !ok {
		return true
`,
		test: "classify.TestAPIVersions/unknown", why: "a row for some API versions decides about all",
	},
	{
		name: "preview-is-newer-than-stable", in: "classify",
		old:  `const stable = "~"`,
		new:  `const stable = ""`,
		test: "classify.TestAPIVersions/from", why: "a row for versions from a date on holds for the preview of that date",
	},
	{
		name: "shortest-wait-wins", in: "classify",
		old:  `return a.Retry() > b.Retry()`,
		new:  `return a.Retry() < b.Retry()`,
		test: "classify.TestComposeJoins/longest", why: "what no retry helps is retried for what stands beside it",
	},
	{
		name: "first-cause-only", in: "classify.Compose",
		old:  `for _, err := range causes {`,
		new:  `for _, err := range causes[:1] {`,
		test: "classify.TestComposeJoins/longest", why: "of joined errors all but one are overlooked",
	},
	{
		name: "undecided-link-passes", in: "classify",
		old:  `case c.IsZero():`,
		new:  `case false:`,
		test: "classify.TestComposeFailsClosed/undecided", why: "a link that decides nothing leaves a resource without a retry",
	},
	{
		name: "faults-wait-for-a-change", in: "classify",
		old:  `c := f.As(rule, Slow)`,
		new:  `c := f.As(rule, OnChange)`,
		test: "classify.TestComposeFailsClosed/panic", why: "a fault in a link stops a resource for good",
	},
	{
		name: "contains-any-of-all", in: "classify",
		old:  `for _, text := range all {`,
		new:  `for _, text := range all[:1] {`,
		test: "classify.TestMatcher/contains_all", why: "a rule matches messages that it is not for",
	},
	{
		name: "with-changes-the-original", in: "classify",
		old: `	d := *c.d
	d.retry = r
	return Classification{d: &d}
`,
		new: `	c.d.retry = r
	return c
`,
		test: "classify.TestWith", why: "a link that adjusts a classification changes what others hold",
	},
	{
		name: "repaired-reason-ends-in-a-colon", in: "internal/reason",
		old:  `s = s[:last] + "_"`,
		new:  `s = s[:last] + s[last:]`,
		test: "classify.TestReason/end", why: "the API server refuses the whole status",
	},
	{
		name: "retry-after-forgotten", in: "classify/azure",
		old:  `f.After = retryAfter(f, raw.Header)`,
		new:  ``,
		test: "classify/azure.TestRead/response", why: "a service that throttles is asked again too soon",
	},
	{
		name: "codes-folded", in: "classify",
		old:  `(len(r.codes) == 0 || r.anyCase || slices.Contains(r.codes, f.Code)) &&`,
		new:  `true &&`,
		test: "classify.TestTable/code's_case", why: "a service's code is taken for another one that differs in case, and may stop a resource",
	},
	{
		name: "texts-folded", in: "classify",
		old:  `if !strings.Contains(f.Message, text) {`,
		new:  `if !strings.Contains(strings.ToLower(f.Message), strings.ToLower(text)) {`,
		test: "classify.TestMatcher/contains", why: "a rule matches texts that the service writes for something else",
	},
	{
		name: "inner-codes-ignored", in: "classify",
		old:  `len(r.inner) == 0 || slices.ContainsFunc(`,
		new:  `true || slices.ContainsFunc(`,
		test: "classify.TestTable/no_inner", why: "a rule about one cause decides about all",
	},
	{
		name: "contradictory-row-accepted", in: "classify",
		old:  `if t[j].Retry != r.Retry && err == nil {`,
		new:  `if false {`,
		test: "classify.TestTableContradicts/same_code", why: "a row that never decides is found only by who prints the table",
	},
	{
		name: "first-contradiction-only", in: "classify",
		old:  `for _, j := range row.covering {`,
		new:  `for _, j := range row.covering[:min(1, len(row.covering))] {`,
		test: "classify.TestTableContradicts/second_of_several", why: "a row of several codes hides a contradiction",
	},
	{
		name: "table-of-another-service", in: "classify",
		old:  `f.service, f.After = s, min`,
		new:  `f.service, f.After = e.services[0], min`,
		test: "classify.TestDefaultCodes", why: "the codes of one service are decided by the table of another",
	},
	{
		name: "joined-with-not-found", in: "classify",
		old:  `f.NotFound = f.NotFound && cause.NotFound`,
		new:  `f.NotFound = f.NotFound || cause.NotFound`,
		test: "classify.TestErrorsSay/missing_and_down", why: "a missing object is reported although a service is down, and created again",
	},
	{
		name: "joined-with-ended", in: "classify",
		old:  `f.Ended = f.Ended && cause.Ended`,
		new:  `_ = cause`,
		test: "classify.TestErrorsSay/ended_and_down", why: "an operation under way is forgotten, and started a second time",
	},
	{
		name: "first-cause-speaks-for-all", in: "classify",
		old:  `if len(causes) > 1 {`,
		new:  `if len(causes) > 1000 {`,
		test: "classify.TestErrorsSayOfJoins", why: "of joined errors all but one are overlooked",
	},
	{
		name: "endless-error-walked", in: "internal/errtree",
		old:  `if w.left--; w.left < 0 || w.visit(err, branch) {`,
		new:  `if w.visit(err, branch) {`,
		test: "classify.TestHostileErrors/self", hangs: true, why: "an error that unwraps to itself stops the worker for good",
	},
	{
		name: "value-of-a-panic-searched", in: "internal/errtree",
		old: `		case *chain.PanicError:
			return false
`,
		new:  ``,
		test: "internal/errtree.TestWalk/Panic", why: "an error that was the value of a panic ends an operation under way",
	},
	{
		name: "panicking-error-walked", in: "internal/errtree",
		old:  `if recover() != nil {`,
		new:  `if false {`,
		test: "internal/errtree.TestWalk/Panicking", why: "an error whose method panics takes the process down",
	},
	{
		name: "half-read-tree-counts", in: "internal/errtree",
		old:  `return stopped && w.left >= 0, w.left >= 0`,
		new:  `return stopped, true`,
		test: "internal/errtree.TestWalkIsBounded/Self", why: "an error is classified by the part of it that was read",
	},
	{
		name: "join-counts-as-a-cause", in: "classify",
		old:  `if branch > depth && depth > 0 {`,
		new:  `if branch > depth && false {`,
		test: "classify.TestCausesOf/nested", why: "a join inside a join is classified as one more cause",
	},
	{
		name: "unreadable-error-handed-on", in: "classify",
		old:  "f.Err = newUnreadable(err)\n\t\tf.Message = f.Err.Error()",
		new:  "f.Message = newUnreadable(err).Error()",
		test: "classify.TestNewFailure/panicky", why: "each link that looks into the error hangs or panics",
	},
	{
		name: "panicking-reader-kept", in: "classify",
		old: `		*f = before
`,
		new: `		_ = before
`,
		test: "classify.TestReaders/panics", why: "what a reader wrote before it panicked counts as an answer",
	},
	{
		name: "reader-not-guarded", in: "classify",
		old: `		if recover() != nil {
			ok = false
		}
	}()
	return read(f)
`,
		new: `	}()
	return read(f)
`,
		test: "classify.TestReaders/panics", why: "a reader that panics takes the process down",
	},
	{
		name: "half-read-error-counts", in: "classify",
		old:  `f.NotFound, f.Transient, f.Ended = false, false, false`,
		new:  ``,
		test: "classify.TestHostileErrors/panics_in_Timeout", why: "an error that panics while it is read reports a missing object",
	},
	{
		name: "panic-read-as-an-answer", in: "classify.NewFailure",
		old:  `case panicked:`,
		new:  `case false && panicked:`,
		test: "classify.TestErrorsSay/panic_of_ended", why: "a fault in a link counts as an answer of the service",
	},
	{
		name: "class-unbounded", in: "classify",
		old:  `class[:min(len(class), maxClass)])`,
		new:  `class)`,
		test: "classify.TestErrorsSay/class_is_bounded", why: "a service fills telemetry with values of any length",
	},
	{
		name: "inner-errors-unread", in: "classify/azure",
		old:  `t.objects(func() { d.nest(t) })`,
		new:  `t.text(nil)`,
		test: "classify/azure.TestRead/details", why: "DeploymentFailed hides its cause",
	},
	{
		name: "inner-errors-without-limit", in: "classify/azure",
		old:  `if d.depth == maxDepth || len(d.inner) == maxInner {`,
		new:  `if false {`,
		test: "classify/azure.TestReadBodyInner/nine_deep", why: "a body that nests deep uses up the stack",
	},
	{
		name: "top-level-wins-over-empty-error", in: "classify/azure",
		old:  `if found && t.err == nil {`,
		new:  `if false {`,
		test: "classify/azure.TestReadBody/empty_error", why: "a code that is not the error's decides",
	},
	{
		name: "proxy-page-decides", in: "classify/azure",
		old:  `body.raw = cmp.Or(body.message, body.raw)`,
		new:  `f.Message = cmp.Or(body.message, body.raw)`,
		test: "classify/azure.TestProxyPage", why: "the page of a proxy is taken for the words of the service, and stops a resource",
	},
	{
		name: "proxy-400-about-the-request", in: "classify/azure",
		old:  `f.Status, f.Message = 0,`,
		new:  `_, f.Message = 0,`,
		test: "classify/azure.TestProxyPage", why: "the refusal of a proxy is taken for one of the request",
	},
	{
		name: "poll-5xx-ends-the-operation", in: "classify/azure",
		old:  `f.Ended = f.Status >= 200 && f.Status <= 299 ||`,
		new:  `f.Ended = f.Status >= 200 ||`,
		test: "classify/azure.TestRead/throttled", why: "a throttled poll starts a second operation",
	},
	{
		name: "lost-result-taken-for-a-failure", in: "classify/azure",
		old:  `if !ok || response.RawResponse != polled {`,
		new:  `if _ = response; !ok {`,
		test: "classify/azure.TestAdvance/result_refused", why: "an operation that succeeded is started again, because its result could not be fetched",
	},
	{
		name: "poll-without-rights-ends-the-operation", in: "classify/azure",
		old:  `case f.Status == http.StatusUnauthorized, f.Status == http.StatusForbidden, f.Status == http.StatusProxyAuthRequired:`,
		new:  `case false:`,
		test: "classify/azure.TestAdvance/location,_unauthorized", why: "an expired token starts a second operation",
	},
	{
		name: "failure-not-said", in: "classify/azure",
		old:  `err = flow.Failed(err)`,
		new:  `_ = flow.Failed(err)`,
		test: "classify/azure.TestAdvance/location,_failed", why: "an operation that has failed is polled for ever",
	},
	{
		name: "observe-missing-and-down", in: "classify/azure",
		old:  `case known.NotFound(err):`,
		new:  `case classify.NewFailure(err, "", time.Time{}, known) != nil && classify.NewFailure(err, "", time.Time{}, known).Status == http.StatusNotFound:`,
		test: "classify/azure.TestObserve/missing_and_down", why: "a resource counts as missing although one of two answers did not find out, and is created again",
	},
	{
		name: "proxy-404-is-not-found", in: "classify/azure",
		old:  `if body.message != "" || body.raw != "" {`,
		new:  `if false {`,
		test: "classify/azure.TestRead/page_of_404", why: "a proxy that has lost a route makes each resource be created again",
	},
	{
		name: "any-case-row-matches-its-spelling-only", in: "classify",
		old:  `(len(r.codes) == 0 || r.anyCase || slices.Contains(r.codes, f.Code)) &&`,
		new:  `(len(r.codes) == 0 || slices.Contains(r.codes, f.Code)) &&`,
		test: "classify.TestTableLists", why: "a row with AnyCase does not know a code in other letters",
	},
	{
		name: "later-row-without-a-code-not-listed", in: "classify",
		old:  `ix.byCode[code] = append(rows, i)`,
		new:  `ix.byCode[code] = rows`,
		test: "classify.TestTableLists", why: "a row without a code is not asked about a code that an earlier row has",
	},
	{
		name: "milliseconds-after-seconds", in: "classify",
		old:  `for _, name := range milliseconds {`,
		new:  `for _, name := range milliseconds[:0] {`,
		test: "classify.TestRetryAfterInMilliseconds", why: "a service that asks for a delay by a header of its own is asked again too soon",
	},
	{
		name: "any-default-canceled", in: "classify",
		old:  `c.d.canceled = row.name == ruleCanceled`,
		new:  `c.d.canceled = row.retry == Slow`,
		test: "classify.TestDefaultErrors/unknown", why: "an unknown error is not written, as if the program shut down",
	},
}
