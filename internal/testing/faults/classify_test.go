package faults

var classifyFaults = []fault{
	{
		name: "last-row-wins", in: "classify",
		old:  `append(slices.Clip(ix.list(code)), i)`,
		new:  `append([]int{i}, ix.list(code)...)`,
		test: "classify.TestTable/row_order,_one_code", why: "the last matching row of a table decides",
	},
	{
		name: "rows-without-a-code-last", in: "classify",
		old:  `append(slices.Clip(ix.list(code)), i)`,
		new:  `append(slices.Clip(ix.byCode[string(lower(nil, code))]), i)`,
		test: "classify.TestTable/row_order_2", why: "a row without a code is skipped for a code that a later row has",
	},
	{
		name: "status-row-matches-200", in: "classify",
		old:  `(r.status == 0 || r.status == f.Status)`,
		new:  `(r.status == 0 || r.status == f.Status || f.Status == 200)`,
		test: "classify.TestTable/code_only", why: "a row for a status matches every failed long-running operation",
	},
	{
		name: "any-case-not-folded", in: "classify",
		old:  `if 'A' <= c && c <= 'Z' {`,
		new:  `if false {`,
		test: "classify.TestTable/long,_any_case", why: "a row with AnyCase does not match a code in another case",
	},
	{
		name: "unknown-errors-wait-for-a-change", in: "classify",
		old:  `when("anything else", func(context.Context, *Failure) bool { return true }), Retry: Slow},`,
		new:  `when("anything else", func(context.Context, *Failure) bool { return true }), Retry: OnChange},`,
		test: "classify.TestDefaultErrors/unknown", why: "an unknown error stops a resource for ever",
	},
	{
		name: "unknown-bad-request-waits-for-a-change", in: "classify",
		old:  `{Name: "UnknownBadRequest", Status: http.StatusBadRequest, Retry: VerySlow},`,
		new:  `{Name: "UnknownBadRequest", Status: http.StatusBadRequest, Retry: OnChange},`,
		test: "classify.TestDefaultStatus", why: "an unknown code stops a resource for ever",
	},
	{
		name: "canceled-by-anybody", in: "classify",
		old:  `ctx != nil && errors.Is(ctx.Err(), context.Canceled) && `,
		new:  ``,
		test: "classify.TestDefaultErrors/canceled_elsewhere", why: "an error that wraps context.Canceled is not reported although the pass is not canceled",
	},
	{
		name: "retry-after-negative", in: "classify",
		old:  `if d <= 0 {`,
		new:  `if d == 0 {`,
		test: "classify.TestRetryAfter/past", why: "a date in the past makes a negative delay",
	},
	{
		name: "retry-after-over-an-hour", in: "classify",
		old:  `n = min(n*10+time.Duration(c-'0'), limit)`,
		new:  `n, _ = n*10+time.Duration(c-'0'), limit`,
		test: "classify.TestRetryAfter/over_an_hour", why: "a service makes a resource wait for a year",
	},
	{
		name: "retry-after-by-our-clock", in: "classify",
		old:  `now = date`,
		new:  `_ = date`,
		test: "classify.TestRetryAfter/own_date", why: "a wrong clock makes the delay wrong",
	},
	{
		name: "host-with-the-same-end", in: "classify/azure.within",
		old:  `strings.HasSuffix(host, "."+of)`,
		new:  `strings.HasSuffix(host, of)`,
		test: "classify/azure.TestAdvanceRefusesForeignAddresses/Suffix", why: "a poll sends the operator's credentials to a host of an attacker",
	},
	{
		name: "body-over-the-limit", in: "classify/azure.readStart",
		old:  `min(cap(data), maxBody)`,
		new:  `cap(data)`,
		test: "classify/azure.TestReadBodyOfTenMegabytes/JSON", why: "an endless body fills the memory",
	},
	{
		name: "body-eaten", in: "classify/azure",
		old:  `&peeked{head: data, unread: data, err: err, rest: body}`,
		new:  `&peeked{head: data, err: err, rest: body}`,
		test: "classify/azure.TestReadBody/error_object", why: "later readers of the body get nothing",
	},
	{
		name: "cut-off-body-hangs", in: "classify/azure",
		old:  `depth > 0 && t.err == nil;`,
		new:  `depth > 0;`,
		test: "classify/azure.FuzzErrorBody/deep-nesting", hangs: true, why: "a truncated body blocks the worker for ever",
	},
	{
		name: "details-taken-for-the-error", in: "classify/azure",
		old:  `if token == '{' && field != nil {`,
		new:  `if field != nil {`,
		test: "classify/azure.TestReadBody/error_list", why: "the code of a nested error replaces the code of the error",
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
		test: "classify.TestTableString", why: "the printed table does not mark a row that is never reached",
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
		test: "classify.TestAPIVersions/unknown", why: "a row for some API versions matches all versions",
	},
	{
		name: "preview-is-newer-than-stable", in: "classify",
		old:  `return apiVersion{date, stable}, true`,
		new:  `return apiVersion{date, ""}, true`,
		test: "classify.TestAPIVersions/from", why: "a row for versions from a date on matches the preview of that date",
	},
	{
		name: "shortest-wait-wins", in: "classify",
		old:  `return a.Retry() > b.Retry()`,
		new:  `return a.Retry() < b.Retry()`,
		test: "classify.TestComposeJoins/longest", why: "the cause that waits shortest decides about a joined error",
	},
	{
		name: "first-cause-only", in: "classify.Compose",
		old:  `for _, err := range causes {`,
		new:  `for _, err := range causes[:1] {`,
		test: "classify.TestComposeJoins/longest", why: "only the first cause of a joined error is classified",
	},
	{
		name: "undecided-link-passes", in: "classify",
		old:  `case c.IsZero():`,
		new:  `case false:`,
		test: "classify.TestComposeFailsClosed/undecided", why: "a link that does not decide leaves a resource without a retry",
	},
	{
		name: "faults-wait-for-a-change", in: "classify",
		old:  `c := f.As(rule, Slow)`,
		new:  `c := f.As(rule, OnChange)`,
		test: "classify.TestComposeFailsClosed/panic", why: "a fault of a link stops a resource for ever",
	},
	{
		name: "contains-any-of-all", in: "classify",
		old:  `for _, text := range all {`,
		new:  `for _, text := range all[:1] {`,
		test: "classify.TestMatcher/contains_all", why: "Contains matches messages that have only one of the texts",
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
		test: "classify.TestWith", why: "With changes the original Classification",
	},
	{
		name: "repaired-reason-ends-in-a-colon", in: "internal/reason",
		old:  `s = s[:last] + "_"`,
		new:  `s = s[:last] + s[last:]`,
		test: "classify.TestReason/end", why: "the API server refuses a status with an invalid reason",
	},
	{
		name: "retry-after-forgotten", in: "classify/azure",
		old:  `f.After = retryAfter(f, raw.Header)`,
		new:  ``,
		test: "classify/azure.TestRead/response", why: "a throttling service is called again too early",
	},
	{
		name: "codes-folded", in: "classify",
		old:  `(len(r.codes) == 0 || r.anyCase || slices.Contains(r.codes, f.Code)) &&`,
		new:  `true &&`,
		test: "classify.TestTable/code's_case", why: "a row matches a code that differs in case, and may stop a resource",
	},
	{
		name: "texts-folded", in: "classify",
		old:  `if !strings.Contains(f.Message, text) {`,
		new:  `if !strings.Contains(strings.ToLower(f.Message), strings.ToLower(text)) {`,
		test: "classify.TestMatcher/contains", why: "Contains matches a text that differs in case",
	},
	{
		name: "texts-compared-at-each-letter", in: "classify",
		old: `if !strings.Contains(f.Message, text) {`,
		new: `at := 0
			for at < len(f.Message) && !strings.HasPrefix(f.Message[at:], text) {
				at++
			}
			if at == len(f.Message) {`,
		test: "classify.TestContainsIsLinear", why: "Contains takes quadratic time for a long message",
	},
	{
		name: "inner-codes-ignored", in: "classify",
		old:  `len(r.inner) == 0 || slices.ContainsFunc(`,
		new:  `true || slices.ContainsFunc(`,
		test: "classify.TestTable/no_inner", why: "a row for one nested code matches all errors",
	},
	{
		name: "contradictory-row-accepted", in: "classify",
		old:  `if (t[j].Retry != r.Retry || t[j].After != r.After) && err == nil {`,
		new:  `if false {`,
		test: "classify.TestTableContradicts/same_code", why: "the set-up accepts a row that never decides",
	},
	{
		name: "first-contradiction-only", in: "classify",
		old:  `for _, j := range row.covering {`,
		new:  `for _, j := range row.covering[:min(1, len(row.covering))] {`,
		test: "classify.TestTableContradicts/second_of_several", why: "the set-up accepts a row with several codes although one of them contradicts an earlier row",
	},
	{
		name: "table-of-another-service", in: "classify",
		old:  `f.service, f.After = s, serviceDelay(f.After)`,
		new:  `f.service, f.After = e.services[0], serviceDelay(f.After)`,
		test: "classify.TestDefaultCodes", why: "the table of one service decides about errors of another",
	},
	{
		name: "joined-with-not-found", in: "classify",
		old:  `f.NotFound = f.NotFound && cause.NotFound`,
		new:  `f.NotFound = f.NotFound || cause.NotFound`,
		test: "classify.TestErrorsAnswer/missing_and_down", why: "a joined error is NotFound although one cause is another failure, and the object is created again",
	},
	{
		name: "joined-with-ended", in: "classify",
		old:  `f.Ended = f.Ended && cause.Ended`,
		new:  `_ = cause`,
		test: "classify.TestErrorsAnswer/ended_and_down", why: "a joined error ends an operation under way, which is started again",
	},
	{
		name: "first-cause-speaks-for-all", in: "classify",
		old:  `if len(causes) > 1 {`,
		new:  `if len(causes) > 1000 {`,
		test: "classify.TestErrorsOfJoins", why: "only the first cause of a joined error sets NotFound, Transient and Ended",
	},
	{
		name: "endless-error-walked", in: "internal/errtree",
		old:  `if w.left--; w.left < 0 || w.visit(err, branch) {`,
		new:  `if w.visit(err, branch) {`,
		test: "classify.TestHostileErrors/self", hangs: true, why: "an error that unwraps to itself blocks the worker for ever",
	},
	{
		name: "value-of-a-panic-searched", in: "internal/errtree",
		old: `		case *chain.PanicError:
			return false
`,
		new:  ``,
		test: "internal/errtree.TestWalk/Panic", why: "the value of a panic ends an operation under way",
	},
	{
		name: "panicking-error-walked", in: "internal/errtree",
		old:  `if recover() != nil {`,
		new:  `if false {`,
		test: "internal/errtree.TestWalk/Panicking", why: "an error whose method panics ends the program",
	},
	{
		name: "half-read-tree-counts", in: "internal/errtree",
		old:  `return stopped && w.left >= 0, w.left >= 0`,
		new:  `return stopped, true`,
		test: "internal/errtree.TestWalkIsBounded/Self", why: "an error is classified although only a part of it was read",
	},
	{
		name: "join-counts-as-a-cause", in: "classify",
		old:  `if branch > depth && depth > 0 {`,
		new:  `if branch > depth && false {`,
		test: "classify.TestCausesOf/nested", why: "a join inside a join is classified as a cause",
	},
	{
		name: "unreadable-error-handed-on", in: "classify",
		old:  "f.Err = newUnreadable(err)\n\t\tf.Message = f.Err.Error()",
		new:  "f.Message = newUnreadable(err).Error()",
		test: "classify.TestNewFailure/panicky", why: "links that read the error hang or panic",
	},
	{
		name: "panicking-reader-kept", in: "classify",
		old: `		*f = before
`,
		new: `		_ = before
`,
		test: "classify.TestReaders/panics", why: "the fields that a reader set before its panic are kept",
	},
	{
		name: "reader-not-guarded", in: "classify.Failure.readBy",
		old: `	defer func() { _ = recover() }()
`,
		new:  ``,
		test: "classify.TestReaders/panics", why: "a reader that panics ends the program",
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
		test: "classify.TestErrorsAnswer/panic_of_ended", why: "the value of a panic is read as an error of the service",
	},
	{
		name: "class-unbounded", in: "classify",
		old:  `class[:min(len(class), maxClass)])`,
		new:  `class)`,
		test: "classify.TestErrorsAnswer/class_is_bounded", why: "a service fills telemetry with classes of any length",
	},
	{
		name: "inner-errors-unread", in: "classify/azure",
		old:  `t.objects(func() { d.nest(t) })`,
		new:  `t.text(nil)`,
		test: "classify/azure.TestRead/details", why: "the message of DeploymentFailed does not show its cause",
	},
	{
		name: "body-without-progress-read", in: "classify/azure.readStart",
		old:  `len(data) < maxBody && idle < maxIdle`,
		new:  `len(data) < maxBody`,
		test: "classify/azure.TestReadBodyWithoutEnd/Stalled", hangs: true, why: "a body that returns no bytes and no error blocks the worker for ever",
	},
	{
		name: "slow-body-counts-as-stalled", in: "classify/azure.readStart",
		old:  `idle = -1`,
		new:  ``,
		test: "classify/azure.TestReadBodyWithoutEnd/Slow", why: "the code of an error is lost if its body arrives in small parts",
	},
	{
		name: "body-read-after-the-pass", in: "classify/azure.readStart",
		old:  `resp.Request.Context().Err() != nil`,
		new:  `false`,
		test: "classify/azure.TestReadBodyWithoutEnd/Canceled", why: "a slow body blocks the worker after the pass was canceled",
	},
	{
		name: "cached-body-unlimited", in: "classify/azure.peek",
		old:  `data[:min(len(data), maxBody)]`,
		new:  `data`,
		test: "classify/azure.TestReadBodyAtTheLimit", why: "a cached body of any length is read",
	},
	{
		name: "inner-errors-without-limit", in: "classify/azure",
		old:  `if d.depth == maxDepth || len(d.inner) == maxInner {`,
		new:  `if false {`,
		test: "classify/azure.TestReadBodyInner/nine_deep", why: "a deeply nested body exhausts the stack",
	},
	{
		name: "top-level-wins-over-empty-error", in: "classify/azure",
		old:  `if found && t.err == nil {`,
		new:  `if false {`,
		test: "classify/azure.TestReadBody/empty_error", why: "the code of the top level replaces that of an empty error object",
	},
	{
		name: "proxy-page-decides", in: "classify/azure",
		old:  `body.raw = cmp.Or(body.message, body.raw)`,
		new:  `f.Message = cmp.Or(body.message, body.raw)`,
		test: "classify/azure.TestProxyPage", why: "a rule matches the page of a proxy and stops a resource",
	},
	{
		name: "proxy-400-about-the-request", in: "classify/azure",
		old:  `f.Status, f.Message = 0,`,
		new:  `_, f.Message = 0,`,
		test: "classify/azure.TestProxyPage", why: "the 400 of a proxy is treated as a wrong request",
	},
	{
		name: "poll-5xx-ends-the-operation", in: "classify/azure",
		old:  `f.Ended = f.Status >= 200 && f.Status <= 299 ||`,
		new:  `f.Ended = f.Status >= 200 ||`,
		test: "classify/azure.TestRead/throttled", why: "a failed poll starts a second operation",
	},
	{
		name: "lost-result-taken-for-a-failure", in: "classify/azure",
		old:  `if !ok || response.RawResponse != polled {`,
		new:  `if _ = response; !ok {`,
		test: "classify/azure.TestAdvance/result_refused", why: "an operation that succeeded is started again because its result could not be fetched",
	},
	{
		name: "poll-without-rights-ends-the-operation", in: "classify/azure",
		old:  `case f.Status == http.StatusUnauthorized, f.Status == http.StatusForbidden, f.Status == http.StatusProxyAuthRequired:`,
		new:  `case false:`,
		test: "classify/azure.TestAdvance/location,_unauthorized", why: "an expired credential starts a second operation",
	},
	{
		name: "failure-not-said", in: "classify/azure",
		old:  `err = flow.Failed(err)`,
		new:  `_ = flow.Failed(err)`,
		test: "classify/azure.TestAdvance/location,_failed", why: "an operation that failed is polled for ever",
	},
	{
		name: "observe-missing-and-down", in: "classify/azure",
		old:  `case known.NotFound(err):`,
		new:  `case classify.NewFailure(err, "", time.Time{}, known) != nil && classify.NewFailure(err, "", time.Time{}, known).Status == http.StatusNotFound:`,
		test: "classify/azure.TestObserve/missing_and_down", why: "one missing object of two errors makes the resource absent, and it is created again",
	},
	{
		name: "proxy-404-is-not-found", in: "classify/azure",
		old:  `if body.message != "" || body.raw != "" {`,
		new:  `if false {`,
		test: "classify/azure.TestRead/page_of_404", why: "the 404 of a proxy makes every resource absent, and it is created again",
	},
	{
		name: "any-case-row-matches-its-spelling-only", in: "classify",
		old:  `(len(r.codes) == 0 || r.anyCase || slices.Contains(r.codes, f.Code)) &&`,
		new:  `(len(r.codes) == 0 || slices.Contains(r.codes, f.Code)) &&`,
		test: "classify.TestTableLists", why: "a row with AnyCase does not match a code in another case",
	},
	{
		name: "later-row-without-a-code-not-listed", in: "classify",
		old:  `ix.byCode[code] = append(rows, i)`,
		new:  `ix.byCode[code] = rows`,
		test: "classify.TestTableLists", why: "a row without a code is skipped for a code that an earlier row has",
	},
	{
		name: "milliseconds-after-seconds", in: "classify",
		old:  `for _, name := range milliseconds {`,
		new:  `for _, name := range milliseconds[:0] {`,
		test: "classify.TestRetryAfterInMilliseconds", why: "the delay in the service's own header is ignored",
	},
	{
		name: "not-found-in-a-time-out", in: "classify.clearUncertain",
		old:  `(timedOut(f.Err) || connection(f.Err))`,
		new:  `false`,
		test: "classify.TestErrorsAnswer/missing_and_late", why: "a time-out that wraps a 404 makes a resource absent, and it is created again",
	},
	{
		name: "any-default-canceled", in: "classify",
		old:  `c.d.canceled = c.d.rule == ruleCanceled`,
		new:  `c.d.canceled = c.d.retry == Slow`,
		test: "classify.TestDefaultErrors/unknown", why: "an unknown error is not reported, as if the pass was canceled",
	},
	{
		name: "row-for-an-error-matches-any", in: "classify",
		old:  `matches, readable = within(err, r.is.has)`,
		new:  `matches, readable = err != nil, true`,
		test: "classify.TestRowsMatchErrors/same_text", why: "a row for one Go error matches all errors",
	},
	{
		name: "row-for-a-type-matches-any", in: "classify",
		old:  `matches, readable = within(err, r.as.has)`,
		new:  `matches, readable = err != nil, true`,
		test: "classify.TestRowsMatchErrors/other", why: "a row for one type of errors matches all errors",
	},
	{
		name: "unreadable-error-skips-a-row", in: "classify",
		old:  `case !readable:`,
		new:  `case !readable && false:`,
		test: "classify.TestRowsMatchErrors/panics_in_Is", why: "a later row decides about an error that panics",
	},
	{
		name: "uncomparable-errors-compared", in: "classify",
		old:  `return m.comparable && m.target == err`,
		new:  `return m.target == err`,
		test: "classify.TestTableContradicts/no_comparison", why: "the set-up of a table with an error that is not comparable panics without a reason",
	},
	{
		name: "row-for-an-error-hides-others", in: "classify",
		old:  `(r.is.target == nil || r.is.equals(o.is.target))`,
		new:  `true`,
		test: "classify.TestTableContradicts/other_error", why: "the set-up refuses two rows for two different errors",
	},
	{
		name: "row-for-a-type-hides-others", in: "classify",
		old:  `(r.as.isZero() || r.as.typ == o.as.typ)`,
		new:  `true`,
		test: "classify.TestTableContradicts/other_type", why: "the set-up refuses two rows for two different types",
	},
	{
		name: "any-error-type-accepted", in: "classify",
		old:  `if typ == reflect.TypeFor[error]() {`,
		new:  `if false {`,
		test: "classify.TestErrorTypeSetUp", why: "a row for the type error matches all errors",
	},
	{
		name: "delay-of-a-row-wins", in: "classify",
		old:  `c.d.after = max(c.d.after, r.after)`,
		new:  `if r.after > 0 { c.d.after = r.after }`,
		test: "classify.TestRowsSetTheDelay/longer", why: "the delay of a row replaces a longer delay of the service",
	},
	{
		name: "delay-of-a-row-ignored", in: "classify",
		old:  `c.d.after = max(c.d.after, r.after)`,
		new:  ``,
		test: "classify.TestRowsSetTheDelay/row", why: "the delay of a row has no effect",
	},
	{
		name: "delay-of-a-row-on-change", in: "classify",
		old:  `case r.After > 0 && r.Retry >= OnChange:`,
		new:  `case false:`,
		test: "classify.TestRuleSetUp/no_delay", why: "the set-up accepts a delay that has no effect",
	},
	{
		name: "contradicting-delay-accepted", in: "classify",
		old:  `(t[j].Retry != r.Retry || t[j].After != r.After)`,
		new:  `t[j].Retry != r.Retry`,
		test: "classify.TestTableContradicts/other_delay", why: "the set-up accepts a row whose delay never applies",
	},
	{
		name: "tiny-delay-of-a-service", in: "classify",
		old:  `return min(max(d, minAfter), maxAfter)`,
		new:  `return min(d, maxAfter)`,
		test: "classify.TestRetryAfterInMilliseconds", why: "a service that requests a millisecond causes a busy loop",
	},
	{
		name: "delay-of-a-method-unbounded", in: "classify",
		old:  `f.After = serviceDelay(e.RetryAfter())`,
		new:  `f.After = e.RetryAfter()`,
		test: "classify.TestReadersAreBounded", why: "an error sets a delay of years or a negative delay",
	},
	{
		name: "code-unbounded", in: "classify",
		old:  `cutCode(f.Code)`,
		new:  `f.Code`,
		test: "classify.TestCodesAreBounded/huge", why: "a service fills conditions, logs and telemetry with its code",
	},
	{
		name: "code-cut-inside-a-character", in: "classify",
		old:  `!utf8.RuneStart(code[end]) && end > maxCode-utf8.UTFMax`,
		new:  `false`,
		test: "classify.TestCodesAreBounded/two_bytes", why: "a code that is not valid UTF-8 causes a write of the status in every pass",
	},
	{
		name: "unknown-version-below-a-date", in: "classify.apiVersions.match",
		old:  `if !ok {`,
		new:  `if _ = ok; false {`,
		test: "classify.TestAPIVersions/unknown,_<", why: "a row for old API versions matches unknown versions",
	},
	{
		name: "odd-suffix-accepted", in: "classify.parseAPIVersion",
		old:  `return apiVersion{date, strings.ToLower(suffix)}, ok`,
		new:  `return apiVersion{date, strings.ToLower(suffix)}, true || ok`,
		test: "classify.TestAPIVersions/unknown,_<", why: "an invalid version is accepted as a version",
	},
	{
		name: "suffix-without-dots", in: "classify.parseAPIVersion",
		old:  `r != '-' && r != '.'`,
		new:  `r != '-'`,
		test: "classify.TestAPIVersions/suffix", why: "a version such as 2024-05-01-beta.1 is treated as unknown",
	},
	{
		name: "suffix-without-hyphens", in: "classify.parseAPIVersion",
		old:  `r != '-' && r != '.'`,
		new:  `r != '.'`,
		test: "classify.TestAPIVersions/odd_suffixes", why: "a version such as 2024-05-01-preview-2 is treated as unknown",
	},
	{
		name: "suffix-case-kept", in: "classify.parseAPIVersion",
		old:  `strings.ToLower(suffix)`,
		new:  `suffix`,
		test: "classify.TestAPIVersions/suffix", why: "a version in another case is treated as another version",
	},
	{
		name: "letters-of-other-scripts-in-a-reason", in: "internal/reason.Alphanumeric",
		old:  `'a' <= r && r <= 'z' ||`,
		new:  `'a' <= r && r <= 'z' || r > '~' ||`,
		test: "classify.TestReason/other_letters", why: "the API server refuses a status with an invalid reason",
	},
	{
		name: "reason-starts-beside-the-letters", in: "internal/reason.letter",
		old:  `'a' <= c|0x20 && c|0x20 <= 'z'`,
		new:  `'A' <= c && c <= 'z'`,
		test: "classify.TestReason/after_Z", why: "the API server refuses a status with an invalid reason",
	},
	{
		name: "default-printed-as-slow", in: "classify.Table.String",
		old:  `if r.Name == ruleCanceled {`,
		new:  `if false {`,
		test: "classify.TestDefaultTableString", why: "the printed table shows a canceled pass as a failure",
	},
	{
		name: "exact-body-of-google-not-read", in: "classify/google.statusOf",
		old:  `if len(body) > maxBody {`,
		new:  `if len(body) >= maxBody {`,
		test: "classify/google.TestBounds", why: "the limit of a body differs from the documented one",
	},
}
