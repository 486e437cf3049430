package faults

var checksFaults = []fault{
	{
		name: "zero-result-proceeds", file: "checks/compose.go",
		old:  `res, err = Result{}, noDecision(l)`,
		new:  `res, *m = Proceed(), parent|reached`,
		test: "checks.TestComposeFailsClosed/Request/Zero", why: "a check that forgot to decide lets the work through",
	},
	{
		name: "forgotten-next-passes", file: "checks/compose.go",
		old:  `res, err = Result{}, fmt.Errorf("checks: link %s: %w", l.Name, ErrEndNotReached)`,
		new:  `*m = parent | reached`,
		test: "checks.TestComposeFailsClosed/Request/ForgetsNext", why: "a link that says proceed without calling next drops the checks behind it",
	},
	{
		name: "panic-proceeds", file: "checks/compose.go",
		old: `	return res, p
`,
		new: `	_ = p
	return Proceed(), nil
`,
		test: "checks.TestComposeFailsClosed/Request/Panic", why: "a check that panics lets the work through",
	},
	{
		name: "blame-on-the-outermost", file: "checks/compose.go",
		old:  `if res.at == nil || !behind {`,
		new:  `if !behind || true {`,
		test: "checks.TestComposeFailsClosed/Request/Blocked", why: "the first link is said to have blocked, whichever did",
	},
	{
		name: "made-up-request-passes", file: "checks/compose.go",
		old: `		if req == nil || req.mark == nil {
			return stray(nil, req == nil)
		}
		*req.mark |= reached
		return Result{d: proceed}, nil
	})
	return func(ctx context.Context, req *Request[T]) (Result, error) {
`,
		new: `		if req == nil || req.mark == nil {
			return Result{d: proceed}, nil
		}
		*req.mark |= reached
		return Result{d: proceed}, nil
	})
	return func(ctx context.Context, req *Request[T]) (Result, error) {
`,
		test: "checks.TestComposeAtTheEnd/Request/HandedFake", why: "a link asks about another resource than the one that is reconciled",
	},
	{
		name: "typed-nil-owner-counts-as-found", file: "checks/object.go",
		old:  `return v.Kind() != reflect.Pointer || !v.IsNil()`,
		new:  `return v.IsValid()`,
		test: "checks.TestOwnerReady/TypedNil", why: "an owner that is a nil pointer is looked into, and panics",
	},
	{
		name: "stale-generation-counts-as-ready", file: "checks/object.go",
		old:  `return r.Observed < r.Generation`,
		new:  `return false`,
		test: "checks.TestOwnerReady/Stale", why: "an owner that was ready for an older spec counts as ready",
	},
	{
		name: "no-status-counts-as-ready", file: "checks/ownerready.go",
		old:  `case r.State == Ready && !r.stale():`,
		new:  `case r.State != NotReady && !r.stale():`,
		test: "checks.TestOwnerReady/Unknown", why: "an owner that has reported nothing counts as ready",
	},
	{
		name: "owner-being-deleted-proceeds", file: "checks/ownerready.go",
		old:  `case o.Deleting:`,
		new:  `case false:`,
		test: "checks.TestOwnerReady/Deleting", why: "something is created in an owner that is going away",
	},
	{
		name: "not-ready-said-not-to-be-found", file: "checks/ownerready.go",
		old:  `isNotReady = &reasons{ReasonOwnerNotReady, `,
		new:  `isNotReady = &reasons{ReasonOwnerNotFound, `,
		test: "checks.TestOwnerReady/NotReady", why: "people look for an owner that is there",
	},
	{
		name: "by-id-option-inverted", file: "checks/ownerready.go",
		old:  `if !s.idBlocks {`,
		new:  `if s.idBlocks {`,
		test: "checks.TestOwnerReady/ByID", why: "an owner known by its ID only blocks for ever",
	},
	{
		name: "owner-gone-holds-up-deletion", file: "checks/owner.go",
		old:  `gone := r.Owner.Deleting || !r.Owner.Found()`,
		new:  `gone := false`,
		test: "checks.TestOwnerReady/DeleteOwnerGone", why: "what is to be deleted waits for an owner that will not come back",
	},
	{
		name: "wrong-kind-proceeds", file: "checks/owner.go",
		old:  `if s.wrongKindProceeds {`,
		new:  `if true {`,
		test: "checks.TestOwnerToLookInto/WrongKind", why: "a check that cannot look into the owner lets the work through",
	},
	{
		name: "objection-overruled", file: "checks/owner.go",
		old:  `case known && text == "":`,
		new:  `case known:`,
		test: "checks.TestObjections/One", why: "what is said against an owner is not heard",
	},
	{
		name: "unknown-owner-state-proceeds", file: "checks/ownerstate.go",
		old:  `if s.unknownProceeds {`,
		new:  `if true {`,
		test: "checks.TestStates/Empty", why: "an owner that has reported no state counts as settled",
	},
	{
		name: "unknown-state-proceeds", file: "checks/provisioningstate.go",
		old:  `case s.unknownProceeds:`,
		new:  `case true:`,
		test: "checks.TestStates/Empty", why: "a resource that has reported no state counts as settled",
	},
	{
		name: "state-of-nothing-blocks", file: "checks/provisioningstate.go",
		old:  `case req.Errors.NotFound(err):`,
		new:  `case false:`,
		test: "checks.TestLiveState/Gone", why: "what is gone meanwhile is an error, and never created anew",
	},
	{
		name: "allow-not-folded", file: "checks/state.go",
		old:  `return strings.EqualFold(strings.TrimSpace(other), state)`,
		new:  `return strings.TrimSpace(other) == state`,
		test: "checks.TestStates/OddCase", why: "a cloud that writes succeeded in small letters blocks for ever",
	},
	{
		name: "state-not-trimmed", file: "checks/state.go",
		old: `	state = strings.TrimSpace(state)
	return slices`,
		new:  `	return slices`,
		test: "checks.TestStates/Padded", why: "white space around a state makes it another one",
	},
	{
		name: "folded-though-exact", file: "checks/state.go",
		old:  `found || s.exact {`,
		new:  `found {`,
		test: "checks.FuzzState/odd-case-exact", why: "the option Exact is ignored",
	},
	{
		name: "deny-allows", file: "checks/state.go",
		old:  `return s.listed(s.states, state) != s.denies`,
		new:  `return s.listed(s.states, state)`,
		test: "checks.TestStates/Denied", why: "the states that are to block are the only ones to pass",
	},
	{
		name: "selector-panics-are-unknown", file: "checks/state.go",
		old:  `if v != nil { // nil`,
		new:  `if false { // nil`,
		test: "checks.TestSelectorsPanic/Index", why: "a fault in a selector looks like a state that nobody reported",
	},
	{
		name: "rejected-as-pending", file: "checks/approval.go",
		old:  `{ReasonApprovalRejected,`,
		new:  `{ReasonApprovalPending,`,
		test: "checks.TestApprovalPending/Rejected", why: "people wait for an approval that was refused",
	},
	{
		name: "one-approval-is-enough", file: "checks/approval.go",
		old:  `if n := len(all); n < s.atLeast {`,
		new:  `if n := len(all); n == 0 && s.atLeast > 0 {`,
		test: "checks.TestApprovalPending/TooFew", why: "AtLeast(2) is content with one",
	},
	{
		name: "all-stops-at-the-first-blocker", file: "checks/all.go",
		old: `				sum.add(names[i], res, err)
`,
		new: `				sum.add(names[i], res, err)
				break
`,
		test: "checks.TestAllAsksAll", why: "people see one blocker at a time",
	},
	{
		name: "all-forgets-errors-beside-a-block", file: "checks/all.go",
		old:  `if len(g.errs) > 0 {`,
		new:  `if len(g.errs) > 0 && !res.Blocked() {`,
		test: "checks.TestAll/Error", why: "an error is hidden by a block",
	},
	{
		name: "all-waits-least", file: "checks/all.go",
		old:  `if d.retry > sum.retry {`,
		new:  `if sum.retry == 0 {`,
		test: "checks.TestAll/Union", why: "the first blocker says when to come back, not the slowest",
	},
	{
		name: "cached-remembers-blocks", file: "checks/cached.go",
		old:  `if err == nil && res.d == proceed && k != zero {`,
		new:  `if err == nil && k != zero {`,
		test: "checks.TestCached/Block", why: "a check that blocked once is taken as passed",
	},
	{
		name: "cached-never-expires", file: "checks/cached.go",
		old:  `return ok && now.Before(e.Value.(pass[K]).until)`,
		new:  `return ok && e != nil`,
		test: "checks.TestCached/Expires", why: "what passed once passes for ever",
	},
	{
		name: "on-owner-drops-links", file: "checks/onowner.go",
		old:  `ask := Compose(c)`,
		new:  `ask := Compose(chain.New(links[0]))`,
		test: "checks.TestOnOwner/Block", why: "of several owner checks the first alone is asked",
	},
	{
		name: "gate-hidden-in-on-owner", file: "checks/onowner.go",
		old:  `tag.Acts = tag.Acts || !ok || its.Acts`,
		new:  `_, _ = ok, its`,
		test: "checks.TestAllSetUp/GateOnOwner", why: "All and Cached run, or do not run, something with a side effect",
	},
	{
		name: "gate-accepted-by-all", file: "checks/check.go",
		old:  `newCheck("Gate("+name+")", linktag.Check{Acts: true}, act)`,
		new:  `newCheck("Gate("+name+")", linktag.Check{}, act)`,
		test: "checks.TestAllSetUp/Gate", why: "All and Cached run, or do not run, something with a side effect",
	},
	{
		name: "check-goes-on-after-an-error", file: "checks/compose.go",
		old: `func (*Request[T]) looped(o only[*Request[T]]) chain.Handler[*Request[T], Result] {
	return func(ctx context.Context, req *Request[T]) (res Result, err error) {
		if req == nil {
			return Result{}, errNilCall
		}
		outer := req.open()
		i, done := 0, false
		defer func() {
			if !done {
				res, err = o.panicked(i, recover())
			}
			req.close(outer)
		}()
		for ; i < len(o.decides); i++ {
			res, err = o.decides[i](ctx, req)
			if err != nil || res.d != proceed || req.mark != outer.mine {
`,
		new: `func (*Request[T]) looped(o only[*Request[T]]) chain.Handler[*Request[T], Result] {
	return func(ctx context.Context, req *Request[T]) (res Result, err error) {
		if req == nil {
			return Result{}, errNilCall
		}
		outer := req.open()
		i, done := 0, false
		defer func() {
			if !done {
				res, err = o.panicked(i, recover())
			}
			req.close(outer)
		}()
		for ; i < len(o.decides); i++ {
			res, err = o.decides[i](ctx, req)
			if err == nil && res.d != proceed || req.mark != outer.mine {
`,
		test: "checks.TestLoop/Request/Error", why: "what could not be found out lets the work through",
	},
	{
		name: "reference-without-a-resolver-proceeds", file: "checks/referenceready.go",
		old:  `return Result{}, fmt.Errorf("%s%s: %w", before, *of, ErrNoResolver)`,
		new:  `return Proceed(), nil`,
		test: "checks.TestReferenceReady/NoResolver", why: "references that nobody can look up count as ready",
	},
	{
		name: "block-waits-for-nothing", file: "checks/option.go",
		old:  `if ref != (Ref{}) {`,
		new:  `if false {`,
		test: "checks.TestOwnerReady/NotReady", why: "no engine can wake what waits for an owner",
	},
	{
		name: "exact-given-to-any-check", file: "checks/option.go",
		old:  `if o.takes&s.is == 0 {`,
		new:  `if false {`,
		test: "checks.TestOptionsFit/Exact", why: "an option that has no effect is accepted in silence",
	},
	{
		name: "invalid-reason-kept", file: "checks/result.go",
		old:  `d.reason = ReasonInvalid`,
		new:  `_ = ReasonInvalid`,
		test: "checks.TestResult/BadReason", why: "the API server refuses the whole status",
	},
	{
		name: "negative-delay-kept", file: "checks/result.go",
		old:  `case o.after > 0:`,
		new:  `case o.after != 0:`,
		test: "checks.TestResult/NegativeDelay", why: "a negative interval loses the requeue",
	},
	{
		name: "reason-may-end-in-a-colon", file: "internal/reason/reason.go",
		old:  ` || i == len(s)-1)`,
		new:  `)`,
		test: "checks.TestValidReason/LastColon", why: "the API server refuses the whole status",
	},
	{
		name: "nil-conversion-passes", file: "checks/convert.go",
		old:  `err == nil && isNil(to) {`,
		new:  `err == nil && isNil(to) && false {`,
		test: "checks.TestConvertFails/Nil", why: "a check takes nothing for a resource that has nothing to object to",
	},
	{
		name: "conversion-error-ignored", file: "checks/convert.go",
		old: `				if err != nil {
					return Result{}, &ConversionError`,
		new: `				if err != nil && false {
					return Result{}, &ConversionError`,
		test: "checks.TestConvertFails/Error", why: "what cannot be converted is let through",
	},
	{
		name: "gate-converted", file: "checks/convert.go",
		old:  `		if tag, ok := tagOf(link); ok && tag.Acts {`,
		new:  `		if tag, ok := tagOf(link); ok && tag.Acts && false {`,
		test: "checks.TestConvertPanics/Gate", why: "a gate notes what it began in something that is thrown away, and begins it each time",
	},
	{
		name: "owner-lost-in-conversion", file: "checks/convert.go",
		old: `				back.OwnerRequest, back.Presence = req.OwnerRequest, req.Presence
`,
		new:  ``,
		test: "checks.TestConvert", why: "links behind a converted one do not see what it changed in the request",
	},
	{
		name: "zero-result-proceeds-in-a-loop", file: "checks/compose.go",
		old: `		err = noDecision(l)
`,
		new: `		res = Proceed()
`,
		test: "checks.TestLoop/Request/Zero", why: "a check that forgot to decide lets the work proceed, in a chain of checks alone",
	},
	{
		name: "proceed-beside-an-error", file: "checks/compose.go",
		old: `		res.d = nil
	}
	if res.at == nil`,
		new: `	}
	if res.at == nil`,
		test: "checks.TestComposeFailsClosed/Request/ErrorAndProceed", why: "a caller that looks at the result before the error proceeds",
	},
	{
		name: "proceed-beside-an-error-in-a-loop", file: "checks/compose.go",
		old: `		res.d = nil
	}
	res.at = l`,
		new: `	}
	res.at = l`,
		test: "checks.TestLoop/Request/ErrorBeside", why: "a caller that looks at the result before the error proceeds, in a chain of checks alone",
	},
	{
		name: "lost-request-passes-in-a-loop", file: "checks/compose.go",
		old: `func (*Request[T]) looped(o only[*Request[T]]) chain.Handler[*Request[T], Result] {
	return func(ctx context.Context, req *Request[T]) (res Result, err error) {
		if req == nil {
			return Result{}, errNilCall
		}
		outer := req.open()
		i, done := 0, false
		defer func() {
			if !done {
				res, err = o.panicked(i, recover())
			}
			req.close(outer)
		}()
		for ; i < len(o.decides); i++ {
			res, err = o.decides[i](ctx, req)
			if err != nil || res.d != proceed || req.mark != outer.mine {
`,
		new: `func (*Request[T]) looped(o only[*Request[T]]) chain.Handler[*Request[T], Result] {
	return func(ctx context.Context, req *Request[T]) (res Result, err error) {
		if req == nil {
			return Result{}, errNilCall
		}
		outer := req.open()
		i, done := 0, false
		defer func() {
			if !done {
				res, err = o.panicked(i, recover())
			}
			req.close(outer)
		}()
		for ; i < len(o.decides); i++ {
			res, err = o.decides[i](ctx, req)
			if err != nil || res.d != proceed {
`,
		test: "checks.TestLoop/Request/Wiped", why: "the next check sees a request that was overwritten",
	},
	{
		name: "then-runs-checks", file: "checks/compose.go",
		old: `	return func(next chain.Handler[*Request[T], Result]) chain.Handler[*Request[T], Result] {
		return func(ctx context.Context, req *Request[T]) (Result, error) {
			if req == nil || req.mark == nil {
`,
		new: `	return func(next chain.Handler[*Request[T], Result]) chain.Handler[*Request[T], Result] {
		return func(ctx context.Context, req *Request[T]) (Result, error) {
			if req == nil {
`,
		test: "checks.TestNotComposed/Request/Check", why: "a chain run by Then proceeds past a link that forgets next",
	},
	{
		name: "unknown-presence-counts-as-absent", file: "checks/provisioningstate.go",
		old:  `case presence == Absent:`,
		new:  `case presence != Present:`,
		test: "checks.TestProvisioningState/Unknown", why: "a flow without Get lets a busy resource be changed",
	},
	{
		name: "state-judged-only-if-present", file: "checks/provisioningstate.go",
		old:  `case !blank(state) && s.lets(req, req.Applied, state):`,
		new:  `case !blank(state) && (presence != Present || s.lets(req, req.Applied, state)):`,
		test: "checks.TestProvisioningState/UnknownBusy", why: "a reported state is ignored, since nothing has looked for the resource",
	},
	{
		name: "failed-becomes-ready", file: "checks/provisioningstate.go",
		old:  `s.lets(req, req.Applied, state)`,
		new:  `s.lets(req, false, state)`,
		test: "checks.TestProvisioningState/AppliedFailed", why: "a resource that failed becomes Ready",
	},
	{
		name: "missing-becomes-ready", file: "checks/provisioningstate.go",
		old:  `case presence == Absent && req.Applied:`,
		new:  `case false:`,
		test: "checks.TestProvisioningState/AppliedAbsent", why: "a resource that vanished becomes Ready",
	},
	{
		name: "live-state-of-unseen-not-asked-for", file: "checks/provisioningstate.go",
		old:  `if presence != Absent {`,
		new:  `if presence == Present {`,
		test: "checks.TestLiveState/Unseen", why: "in a flow without Get the live state is never read",
	},
	{
		name: "vocabulary-ignored", file: "checks/vocabulary.go",
		old:  `case v != nil && !final && len(v.Settled) > 0:`,
		new:  `case false:`,
		test: "checks.TestVocabulary/Settled", why: "a cloud with words of its own blocks for ever",
	},
	{
		name: "vocabulary-without-a-good-state", file: "checks/vocabulary.go",
		old:  `if (len(v.Settled) == 0) != (len(v.Succeeded) == 0) {`,
		new:  `if false {`,
		test: "checks.TestVocabularyCheck/NoGood", why: "no resource of the kind ever becomes Ready",
	},
	{
		name: "unreported-approvals-count-as-none", file: "checks/approval.go",
		old:  `if !reported && (`,
		new:  `if !reported && false && (`,
		test: "checks.TestApprovalPendingNotReported/Present", why: "what was never approved becomes Ready",
	},
	{
		name: "nil-reference-hides-the-others", file: "checks/referenceready.go",
		old: `		if err != nil {
			return Result{}, err
		}
		for i := range wanted {`,
		new: `		_ = err
		for i := range wanted {`,
		test: "checks.TestReferenceReady/NilOnTheWay", why: "one nil reference drops all other references",
	},
	{
		name: "nil-counts-as-not-paused", file: "checks/paused.go",
		old:  `case err != nil:`,
		new:  `case err != nil && false:`,
		test: "checks.TestPaused", why: "a bug in the function overrules the person who paused the resource",
	},
	{
		name: "nil-place-not-noted", file: "checks/state.go",
		old:  `chain.NoteFunc(ctx, nilPlace)`,
		new:  `chain.NoteFunc(ctx, func() string { return "" })`,
		test: "checks.TestNilPlace", why: "a bug in a selector looks like a state that is not reported",
	},
	{
		name: "negative-delay-dropped-silently", file: "checks/result.go",
		old:  `r.d.negative < 0 {`,
		new:  `false {`,
		test: "flow.TestExplain/NegativeDelay", why: "a delay that was computed wrongly goes unnoticed",
	},
	{
		name: "block-names-the-group", file: "checks/onowner.go",
		old:  `d.inner = res.at`,
		new:  `_ = res.at`,
		test: "checks.TestOnOwner/Block", why: "the condition does not say which owner check blocked",
	},
	{
		name: "group-not-marked", file: "flow/explain.go",
		old: `			group = s
`,
		new: `			_ = s
`,
		test: "flow.TestExplain/InGroup", why: "the table of the pass does not show where it stopped",
	},
	{
		name: "owner-not-required", file: "checks/ownerready.go",
		old:  `case o.none() && s.required:`,
		new:  `case false:`,
		test: "checks.TestOwnerReady/Required", why: "a resource that needs an owner is created without one",
	},
	{
		name: "with-owner-needs-none", file: "checks/owner.go",
		old:  `newCheck(name, linktag.Check{NeedsOwner: true}, func`,
		new:  `newCheck(name, linktag.Check{}, func`,
		test: "flow.TestSetUp/WithOwner", why: "a check of the owner stands where no owner is ever found",
	},
	{
		name: "owner-checks-without-an-owner", file: "flow/reconciler.go",
		old:  `link != "" && ops.Owner == nil {`,
		new:  `link != "" && false {`,
		test: "flow.TestSetUp/OnOwner", why: "a check of the owner stands where no owner is ever found",
	},
	{
		name: "applied-not-told", file: "flow/pass.go",
		old: `	s.req.Applied = true
`,
		new:  ``,
		test: "flow.TestChecksOfStates/NotReady", why: "a resource that failed becomes Ready",
	},
	{
		name: "vocabulary-not-told", file: "flow/pass.go",
		old: `	req.Vocabulary = r.opt.vocabulary
`,
		new:  ``,
		test: "flow.TestChecksOfStates/Good", why: "the words that were set for the kind are ignored",
	},
	{
		name: "messages-without-a-bound", file: "checks/listing.go",
		old: `	if l.n > mostTexts {
		return
	}
`,
		new:  ``,
		test: "checks.TestReferenceReady/Many", why: "a message of megabytes is written to each condition",
	},
	{
		name: "refs-listed-twice", file: "checks/result.go",
		old:  `case slices.Contains(s.refs, ref):`,
		new:  `case false:`,
		test: "checks.TestAll/Union", why: "an object is awaited twice",
	},
}
