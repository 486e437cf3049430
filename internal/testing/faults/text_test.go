package faults

// textFaults are mistakes that show foreign text unchanged.
var textFaults = []fault{
	{
		name: "message-of-an-outcome-is-raw", in: "flow",
		old:  `text.Line(o.get().message, text.Message)`,
		new:  `o.get().message`,
		test: "flow.TestHostileTexts/Invalid", why: "the API server replaces an invalid byte, so each pass writes the status",
	},
	{
		name: "explanation-is-raw", in: "flow.Reconciler.finish",
		old:  `e = e.safe()`,
		new:  ``,
		test: "flow.TestHostileTexts/SAS", why: "the JSON of an explanation contains a secret",
	},
	{
		name: "explanation-with-forged-rows", in: "flow.Explanation.String",
		old:  `e = e.safe()`,
		new:  ``,
		test: "flow.TestHostileTexts/Row", why: "the text of a service forges a row of the printed explanation",
	},
	{
		name: "long-error-in-a-row", in: "flow",
		old:  `text.Line(s.Error, maxCell)`,
		new:  `s.Error`,
		test: "flow.TestLongErrorInARow", why: "the error page of a service hides the other rows of the explanation",
	},
	{
		name: "markup-in-a-drawing", in: "flow",
		old:  `escaped.Replace(text.Line(s, text.Name))`,
		new:  `text.Line(s, text.Name)`,
		test: "flow.TestHostileTexts/Markup", why: "the name of a link adds nodes to the diagram",
	},
	{
		name: "name-with-commands-for-a-terminal", in: "chain.Link.String",
		old:  `return text.Line(name, text.Name)`,
		new:  `return text.Line("", 0) + name`,
		test: "flow.TestHostileTexts/Terminal", why: "the name of a link sends control codes to the terminal",
	},
	{
		name: "message-fills-a-line", in: "checks",
		old:  `": " + text.Line(r.d.message, text.Quote)`,
		new:  `": " + r.d.message`,
		test: "flow.TestHostileTexts/Long", why: "the text of a service hides the Retry of a block",
	},
	{
		name: "refs-fill-a-line", in: "checks.Result.String",
		old:  `return text.Line(b.String(), text.Message)`,
		new:  `return b.String()`,
		test: "flow.TestManyRefsInALine", why: "a log line has hundreds of kilobytes",
	},
	{
		name: "ref-with-a-line-break", in: "checks.Ref.String",
		old:  `text.Line(sentence("", &r), text.Object)`,
		new:  `text.Line("", 0) + sentence("", &r)`,
		test: "flow.TestHostileTexts/Rows", why: "the name of an object forges a log line",
	},
	{
		name: "classification-with-a-secret", in: "classify.Classification.String",
		old:  `return text.Line(b.String(), text.Quote)`,
		new:  `return b.String()`,
		test: "flow.TestHostileTexts/JSON", why: "a log line contains a secret",
	},
	{
		name: "secret-in-a-reason", in: "internal/reason",
		old:  `}, text.Line(s, 4*Max))`,
		new:  `}, s)`,
		test: "flow.TestHostileTexts/SAS", why: "the reason of a condition contains a secret",
	},
	{
		name: "invisible-characters-kept", in: "internal/text",
		old:  `unicode.IsPrint(r) && (r < 0x300 ||`,
		new:  `unicode.IsPrint(r) && (r >= 0 ||`,
		test: "internal/text.TestLine/Invisible", why: "two names that differ in invisible characters look the same",
	},
	{
		name: "bearer-token-kept", in: "internal/text",
		old:  `c == ' ' && (at == 0 || w.in[at-1]|0x20 != 'r' && w.in[at-1]|0x20 != 'c')`,
		new:  `c == ' '`,
		test: "internal/text.TestSecrets/Bearer", why: "a condition contains the token of a request",
	},
	{
		name: "password-with-a-sign-kept", in: "internal/text.password",
		old:  `strings.LastIndexByte(authority, '@')`,
		new:  `strings.IndexByte(authority, '@')`,
		test: "internal/text.TestSecrets/URL", why: "a condition contains half of a password",
	},
	{
		name: "secret-of-an-inner-url-kept", in: "internal/text",
		old:  `return valueOf(s, keyBefore(s, at), end+2, true)`,
		new:  `return span{}`,
		test: "internal/text.TestSecrets/SASInQuery", why: "a condition contains the signature of a URL inside a URL",
	},
	{
		name: "ordinary-words-redacted", in: "internal/text",
		old:  `if k == inQuery && !query {`,
		new:  `if k == inQuery && query && !query {`,
		test: "internal/text.TestSecrets/RPC", why: "the code of an error is redacted",
	},
	{
		name: "safe-text-copied", in: "internal/text",
		old:  `if w.in[secret.from:secret.to] == Redacted {`,
		new:  `if w.in[secret.from:secret.to] == Redacted && w.room < 0 {`,
		test: "internal/text.TestLineAllocates", why: "a safe text is copied",
	},
	{
		name: "long-text-read-to-its-end", in: "internal/text",
		old:  `stop = min(stop, w.at+w.limit-w.size+1)`,
		new:  ``,
		test: "internal/text.TestLineReadsNoMoreThanItNeeds", why: "an error of many megabytes is read to its end in each pass",
	},
	{
		name: "key-asked-for-under-a-lock", in: "flow.Reconciler.operationOf",
		old: `if u, ok := r.tokens.Get(r.ops.Key(resource)); ok {`,
		new: `var key string
		r.tokens.Put("", func(*operation) { key = r.ops.Key(resource) }, nil)
		if u, ok := r.tokens.Get(key); ok {`,
		test: "flow.TestHangingFunctionStopsOneResource/Key/1", hangs: true, why: "a Key function that hangs blocks all resources",
	},
	{
		name: "error-read-under-a-lock", in: "flow.tracer.Exit",
		old: `now, left := rec.now(), stepOf(exit)
	rec.mu.Lock()
	defer rec.mu.Unlock()`,
		new: `rec.mu.Lock()
	defer rec.mu.Unlock()
	now, left := rec.now(), stepOf(exit)`,
		test: "flow.TestTraceReadsErrorsWithoutLock", hangs: true, why: "an error whose text makes a note blocks the pass",
	},
}
