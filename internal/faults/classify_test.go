package faults

var classifyFaults = []fault{
	{
		name: "last-row-wins", file: "classify/table.go",
		old:  `ix.byCode[code] = append(ix.byCode[code], i)`,
		new:  `ix.byCode[code] = append([]int{i}, ix.byCode[code]...)`,
		test: "classify.TestTable/row_order", why: "of several rows that match the last decides",
	},
	{
		name: "rows-without-a-code-last", file: "classify/table.go",
		old:  `if len(others) == 0 || len(coded) > 0 && coded[0] < others[0] {`,
		new:  `if len(others) == 0 || len(coded) > 0 {`,
		test: "classify.TestTable/row_order_2", why: "a row without a code is asked out of turn",
	},
	{
		name: "status-row-matches-200", file: "classify/table.go",
		old:  `(r.status == 0 || r.status == f.Status)`,
		new:  `(r.status == 0 || r.status == f.Status || f.Status == 200)`,
		test: "classify.TestTable/code_only", why: "every failed long-running operation is taken for a bad request",
	},
	{
		name: "codes-not-folded", file: "classify/table.go",
		old:  `b = append(b, lower(code[i]))`,
		new:  `b = append(b, code[i])`,
		test: "classify.TestTable/long_code", why: "a code in other letters is not known",
	},
	{
		name: "unknown-errors-wait-for-a-change", file: "classify/default.go",
		old:  `{name: "Unknown", when: "anything else", holds: anything, retry: Slow},`,
		new:  `{name: "Unknown", when: "anything else", holds: anything, retry: OnChange},`,
		test: "classify.TestDefaultErrors/unknown", why: "an unknown error stops a resource for good",
	},
	{
		name: "unknown-bad-request-waits-for-a-change", file: "classify/default.go",
		old:  `Rule{Name: "UnknownBadRequest", Status: http.StatusBadRequest, Retry: VerySlow},`,
		new:  `Rule{Name: "UnknownBadRequest", Status: http.StatusBadRequest, Retry: OnChange},`,
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
		name: "body-over-the-limit", file: "classify/body.go",
		old:  `io.ReadAll(io.LimitReader(body, maxBody))`,
		new:  `io.ReadAll(body)`,
		test: "classify.TestReadBodyOfTenMegabytes/JSON", why: "an endless body fills the memory",
	},
	{
		name: "body-eaten", file: "classify/body.go",
		old:  `&peeked{head: data, unread: data, err: err, rest: body}`,
		new:  `&peeked{head: data, err: err, rest: body}`,
		test: "classify.TestReadBody/error_object", why: "who reads the body after us finds nothing",
	},
	{
		name: "cut-off-body-hangs", file: "classify/body.go",
		old:  `depth > 0 && t.err == nil;`,
		new:  `depth > 0;`,
		test: "classify.FuzzErrorBody/deep-nesting", hangs: true, why: "a body that was cut off stops the worker for good",
	},
	{
		name: "details-taken-for-the-error", file: "classify/body.go",
		old:  `if token == '{' && field != nil {`,
		new:  `if field != nil {`,
		test: "classify.TestReadBody/error_list", why: "what is nested in an error decides in its place",
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
		name: "retry-after-forgotten", file: "classify/failure.go",
		old:  `f.After = RetryAfter(resp.Header, f.now)`,
		new:  ``,
		test: "classify.TestNewFailure/response", why: "a service that throttles is asked again too soon",
	},
}
