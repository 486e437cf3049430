package faults

var classifyFaults = []fault{
	{
		name: "last-row-wins", file: "classify/table.go",
		old:  `ix.byCode[code] = append(ix.byCode[code], i)`,
		new:  `ix.byCode[code] = append([]int{i}, ix.byCode[code]...)`,
		test: "classify.TestTable/row_order,_one_code", why: "of several rows that match the last decides",
	},
	{
		name: "rows-without-a-code-last", file: "classify/table.go",
		old:  `(first < 0 || rows[0] < lists[first][0])`,
		new:  `first < 0`,
		test: "classify.TestTable/row_order_2", why: "a row without a code is asked out of turn",
	},
	{
		name: "status-row-matches-200", file: "classify/table.go",
		old:  `(r.status == 0 || r.status == f.Status)`,
		new:  `(r.status == 0 || r.status == f.Status || f.Status == 200)`,
		test: "classify.TestTable/code_only", why: "every failed long-running operation is taken for a bad request",
	},
	{
		name: "any-case-not-folded", file: "classify/table.go",
		old:  `b = append(b, lower(code[i]))`,
		new:  `b = append(b, code[i])`,
		test: "classify.TestTable/long,_any_case", why: "a row with AnyCase does not know a code in other letters",
	},
	{
		name: "unknown-errors-wait-for-a-change", file: "classify/default.go",
		old:  `{name: "Unknown", when: "anything else", holds: anything, retry: Slow},`,
		new:  `{name: "Unknown", when: "anything else", holds: anything, retry: OnChange},`,
		test: "classify.TestDefaultErrors/unknown", why: "an unknown error stops a resource for good",
	},
	{
		name: "unknown-bad-request-waits-for-a-change", file: "classify/default.go",
		old:  `{Name: "UnknownBadRequest", Status: http.StatusBadRequest, Retry: VerySlow},`,
		new:  `{Name: "UnknownBadRequest", Status: http.StatusBadRequest, Retry: OnChange},`,
		test: "classify.TestDefaultStatus", why: "an unknown code stops a resource for good",
	},
	{
		name: "canceled-by-anybody", file: "classify/default.go",
		old:  ` && ctx != nil && errors.Is(ctx.Err(), context.Canceled)`,
		new:  ``,
		test: "classify.TestDefaultErrors/canceled_elsewhere", why: "an error that only says canceled is not written, though the pass goes on",
	},
	{
		name: "retry-after-negative", file: "classify/retryafter.go",
		old:  `return min(max(at.Sub(now), 0), maxAfter)`,
		new:  `return min(at.Sub(now), maxAfter)`,
		test: "classify.TestRetryAfter/past", why: "a date in the past gives a negative interval",
	},
	{
		name: "retry-after-over-an-hour", file: "classify/retryafter.go",
		old:  `n = min(n*10+time.Duration(c-'0'), limit)`,
		new:  `n, _ = n*10+time.Duration(c-'0'), limit`,
		test: "classify.TestRetryAfter/over_an_hour", why: "a service can make a resource wait for a year, or overflow the sum",
	},
	{
		name: "retry-after-by-our-clock", file: "classify/retryafter.go",
		old:  `now = date`,
		new:  `_ = date`,
		test: "classify.TestRetryAfter/own_date", why: "a clock that is off makes the wait wrong",
	},
	{
		name: "body-over-the-limit", file: "classify/azure/body.go",
		old:  `io.ReadAll(io.LimitReader(body, maxBody))`,
		new:  `io.ReadAll(body)`,
		test: "classify/azure.TestReadBodyOfTenMegabytes/JSON", why: "an endless body fills the memory",
	},
	{
		name: "body-eaten", file: "classify/azure/body.go",
		old:  `&peeked{head: data, unread: data, err: err, rest: body}`,
		new:  `&peeked{head: data, err: err, rest: body}`,
		test: "classify/azure.TestReadBody/error_object", why: "who reads the body after us finds nothing",
	},
	{
		name: "cut-off-body-hangs", file: "classify/azure/body.go",
		old:  `depth > 0 && t.err == nil;`,
		new:  `depth > 0;`,
		test: "classify/azure.FuzzErrorBody/deep-nesting", hangs: true, why: "a body that was cut off stops the worker for good",
	},
	{
		name: "details-taken-for-the-error", file: "classify/azure/body.go",
		old:  `if token == '{' && field != nil {`,
		new:  `if field != nil {`,
		test: "classify/azure.TestReadBody/error_list", why: "what is nested in an error decides in its place",
	},
	{
		name: "shadowed-rows-not-said", file: "classify/print.go",
		old:  `if len(by) == len(codes) {`,
		new:  `if len(by) > len(codes) {`,
		test: "classify.TestTableString", why: "nobody learns that a row is never reached",
	},
	{
		name: "unknown-version-matches", file: "classify/apiversion.go",
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
		name: "preview-is-newer-than-stable", file: "classify/apiversion.go",
		old: `	case v.suffix == "":
		return 1
	case o.suffix == "":
		return -1
`,
		new: `	case v.suffix == "":
		return -1
	case o.suffix == "":
		return 1
`,
		test: "classify.TestAPIVersions/from", why: "a row for versions from a date on holds for the preview of that date",
	},
	{
		name: "shortest-wait-wins", file: "classify/compose.go",
		old:  `return a.Retry() > b.Retry()`,
		new:  `return a.Retry() < b.Retry()`,
		test: "classify.TestComposeJoins/longest", why: "what no retry helps is retried for what stands beside it",
	},
	{
		name: "first-cause-only", file: "classify/compose.go",
		old:  `for _, err := range causes {`,
		new:  `for _, err := range causes[:1] {`,
		test: "classify.TestComposeJoins/longest", why: "of joined errors all but one are overlooked",
	},
	{
		name: "undecided-link-passes", file: "classify/compose.go",
		old:  `case c.IsZero():`,
		new:  `case false:`,
		test: "classify.TestComposeFailsClosed/undecided", why: "a link that decides nothing leaves a resource without a retry",
	},
	{
		name: "faults-wait-for-a-change", file: "classify/failure.go",
		old:  `c := f.As(rule, Slow)`,
		new:  `c := f.As(rule, OnChange)`,
		test: "classify.TestComposeFailsClosed/panic", why: "a fault in a link stops a resource for good",
	},
	{
		name: "contains-any-of-all", file: "classify/matcher.go",
		old: `	for _, text := range c {
`,
		new: `	for _, text := range c[:1] {
`,
		test: "classify.TestMatcher/contains_all", why: "a rule matches messages that it is not for",
	},
	{
		name: "with-changes-the-original", file: "classify/classification.go",
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
		name: "repaired-reason-ends-in-a-colon", file: "classify/classification.go",
		old:  `*last = '_'`,
		new:  `_ = last`,
		test: "classify.TestReason/end", why: "the API server refuses the whole status",
	},
	{
		name: "retry-after-forgotten", file: "classify/azure/errors.go",
		old:  `f.After = retryAfter(f, raw.Header)`,
		new:  ``,
		test: "classify/azure.TestRead/response", why: "a service that throttles is asked again too soon",
	},
	{
		name: "codes-folded", file: "classify/table.go",
		old: `			if r.AnyCase {
				code = lowerString(code)
`,
		new: `			if true {
				code = lowerString(code)
`,
		test: "classify.TestTable/code's_case", why: "a service's code is taken for another one that differs in case, and may stop a resource",
	},
	{
		name: "texts-folded", file: "classify/matcher.go",
		old:  `if !strings.Contains(message, text) {`,
		new:  `if !strings.Contains(strings.ToLower(message), strings.ToLower(text)) {`,
		test: "classify.TestMatcher/contains", why: "a rule matches texts that the service writes for something else",
	},
	{
		name: "inner-codes-ignored", file: "classify/table.go",
		old:  `len(r.inner) == 0 || slices.ContainsFunc(`,
		new:  `true || slices.ContainsFunc(`,
		test: "classify.TestTable/no_inner", why: "a rule about one cause decides about all",
	},
	{
		name: "contradictory-row-accepted", file: "classify/table.go",
		old:  `if t[j].Retry != t[i].Retry {`,
		new:  `if false {`,
		test: "classify.TestTableContradicts/same_code", why: "a row that never decides is found only by who prints the table",
	},
	{
		name: "first-contradiction-only", file: "classify/table.go",
		old:  `for _, j := range shadows[i] {`,
		new:  `for _, j := range shadows[i][:min(1, len(shadows[i]))] {`,
		test: "classify.TestTableContradicts/second_of_several", why: "a row of several codes hides a contradiction",
	},
	{
		name: "table-of-another-service", file: "classify/errors.go",
		old: `		if s.reads(f) {
			f.service = s
`,
		new: `		if s.reads(f) {
			f.service = e.services[0]
`,
		test: "classify.TestDefaultCodes", why: "the codes of one service are decided by the table of another",
	},
	{
		name: "joined-with-not-found", file: "classify/failure.go",
		old:  `f.NotFound = f.NotFound && cause.NotFound`,
		new:  `f.NotFound = f.NotFound || cause.NotFound`,
		test: "classify.TestErrorsSay/missing_and_down", why: "a missing object is reported although a service is down, and created again",
	},
	{
		name: "joined-with-ended", file: "classify/failure.go",
		old:  `f.Ended = f.Ended && cause.Ended`,
		new:  `_ = cause`,
		test: "classify.TestErrorsSay/ended_and_down", why: "an operation under way is forgotten, and started a second time",
	},
	{
		name: "first-cause-speaks-for-all", file: "classify/failure.go",
		old:  `if len(causes) > 1 {`,
		new:  `if len(causes) > 1000 {`,
		test: "classify.TestErrorsSayOfJoins", why: "of joined errors all but one are overlooked",
	},
	{
		name: "endless-error-walked", file: "classify/causes.go",
		old:  `if w.left--; w.left < 0 {`,
		new:  `if false {`,
		test: "classify.TestHostileErrors/self", hangs: true, why: "an error that unwraps to itself stops the worker for good",
	},
	{
		name: "unreadable-error-handed-on", file: "classify/failure.go",
		old:  "f.Err = newUnreadable(err)\n\t\tf.Message = f.Err.Error()",
		new:  "f.Message = newUnreadable(err).Error()",
		test: "classify.TestNewFailure/panicky", why: "each link that looks into the error hangs or panics",
	},
	{
		name: "panicking-reader-kept", file: "classify/errors.go",
		old: `	if !guarded(f, s.read) {
		*f = before
		return false
	}
`,
		new: `	if !guarded(f, s.read) {
		_ = before
		return false
	}
`,
		test: "classify.TestReaders/panics", why: "what a reader wrote before it panicked counts as an answer",
	},
	{
		name: "reader-not-guarded", file: "classify/errors.go",
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
		name: "half-read-error-counts", file: "classify/errors.go",
		old:  `f.NotFound, f.Transient, f.Ended = false, false, false`,
		new:  ``,
		test: "classify.TestHostileErrors/panics_in_Timeout", why: "an error that panics while it is read reports a missing object",
	},
	{
		name: "panic-read-as-an-answer", file: "classify/failure.go",
		old:  `case panicked:`,
		new:  `case false && panicked:`,
		test: "classify.TestErrorsSay/panic_of_ended", why: "a fault in a link counts as an answer of the service",
	},
	{
		name: "class-unbounded", file: "classify/errors.go",
		old:  `s = s[:min(len(s), maxClass)]`,
		new:  ``,
		test: "classify.TestErrorsSay/class_is_bounded", why: "a service fills telemetry with values of any length",
	},
	{
		name: "inner-errors-unread", file: "classify/azure/body.go",
		old:  `t.objects(func() { d.nest(t) })`,
		new:  `t.text(nil)`,
		test: "classify/azure.TestRead/details", why: "DeploymentFailed hides its cause",
	},
	{
		name: "inner-errors-without-limit", file: "classify/azure/body.go",
		old:  `if d.depth == maxDepth || len(d.inner) == maxInner {`,
		new:  `if false {`,
		test: "classify/azure.TestReadBodyInner/nine_deep", why: "a body that nests deep uses up the stack",
	},
	{
		name: "top-level-wins-over-empty-error", file: "classify/azure/body.go",
		old:  `if found && t.err == nil {`,
		new:  `if false {`,
		test: "classify/azure.TestReadBody/empty_error", why: "a code that is not the error's decides",
	},
	{
		name: "proxy-page-decides", file: "classify/azure/errors.go",
		old:  `body.raw = cmp.Or(body.message, body.raw)`,
		new:  `f.Message = cmp.Or(body.message, body.raw)`,
		test: "classify/azure.TestProxyPage", why: "the page of a proxy is taken for the words of the service, and stops a resource",
	},
	{
		name: "proxy-400-about-the-request", file: "classify/azure/errors.go",
		old:  `f.Status, f.Message = 0,`,
		new:  `_, f.Message = 0,`,
		test: "classify/azure.TestProxyPage", why: "the refusal of a proxy is taken for one of the request",
	},
	{
		name: "poll-5xx-ends-the-operation", file: "classify/azure/errors.go",
		old:  `f.Ended = f.Status >= 200 && f.Status <= 299 ||`,
		new:  `f.Ended = f.Status >= 200 ||`,
		test: "classify/azure.TestRead/throttled", why: "a throttled poll starts a second operation",
	},
	{
		name: "lost-result-taken-for-a-failure", file: "classify/azure/operation.go",
		old:  `if !ok || response.RawResponse != polled {`,
		new:  `if _ = response; !ok {`,
		test: "classify/azure.TestAdvance/result_refused", why: "an operation that succeeded is started again, because its result could not be fetched",
	},
	{
		name: "poll-without-rights-ends-the-operation", file: "classify/azure/operation.go",
		old:  `case f.Status == http.StatusUnauthorized, f.Status == http.StatusForbidden, f.Status == http.StatusProxyAuthRequired:`,
		new:  `case false:`,
		test: "classify/azure.TestAdvance/location,_unauthorized", why: "an expired token starts a second operation",
	},
	{
		name: "failure-not-said", file: "classify/azure/operation.go",
		old:  `err = flow.Failed(err)`,
		new:  `_ = flow.Failed(err)`,
		test: "classify/azure.TestAdvance/location,_failed", why: "an operation that has failed is polled for ever",
	},
	{
		name: "observe-missing-and-down", file: "classify/azure/operation.go",
		old:  `case known.NotFound(err):`,
		new:  `case classify.NewFailure(err, "", time.Time{}, known) != nil && classify.NewFailure(err, "", time.Time{}, known).Status == http.StatusNotFound:`,
		test: "classify/azure.TestObserve/missing_and_down", why: "a resource counts as missing although one of two answers did not find out, and is created again",
	},
	{
		name: "proxy-404-is-not-found", file: "classify/azure/errors.go",
		old:  `if body.message != "" || body.raw != "" {`,
		new:  `if false {`,
		test: "classify/azure.TestRead/page_of_404", why: "a proxy that has lost a route makes each resource be created again",
	},
}
