package faults

var checksFaults = []fault{
	{
		name: "zero-result-proceeds", in: "checks.vet",
		old: `err = noDecision(at)`,
		new: `res, what = Proceed(), nil
		return res, what, err`,
		test: "checks.TestComposeFailsClosed/Request/Zero", why: "a check that returns the zero result proceeds",
	},
	{
		name: "forgotten-next-passes", in: "checks.vet",
		old: `res, err = Result{}, fmt.Errorf("checks: link %s: %w", at.Name, ErrEndNotReached)`,
		new: `n.Reached = true
		return res, nil, nil`,
		test: "checks.TestComposeFailsClosed/Request/ForgetsNext", why: "a link that returns proceed without calling next skips the inner checks",
	},
	{
		name: "panic-proceeds", in: "internal/onion",
		old:  `res, err = g.leave(ctx, req, n, at, none, &chain.PanicError{Value: v, Stack: stack.Panic(), Link: at.Name})`,
		new:  `_, _ = v, none`,
		test: "checks.TestComposeFailsClosed/Request/Panic", why: "a check that panics proceeds",
	},
	{
		name: "panic-proceeds-in-a-loop", in: "checks.looped",
		old:  `err = &chain.PanicError{Value: v, Stack: stack.Panic(), Link: links[i].Name}`,
		new:  `res, err = Proceed(), nil`,
		test: "checks.TestLoop/Request/Panic", why: "a check that panics proceeds, in a chain of checks only",
	},
	{
		name: "refusal-blamed-on-an-inner-link", in: "internal/onion.Note.passes",
		old:  `return errtree.Any(err, func(e error) bool { return same(e, n.decision.(error)) })`,
		new:  `return true`,
		test: "checks.TestComposeFailsClosed/Request/ErrorToProceed", why: "the error does not name the link that hides an error",
	},
	{
		name: "decision-claimed-by-observed-links", in: "internal/onion",
		old:  `run.SetPassed(ctx, passed)`,
		new:  `run.SetPassed(ctx, false)`,
		test: "flow.TestObserver/Blocked", why: "every link around a blocking check is reported as the blocking one",
	},
	{
		name: "decorations-not-guarded", in: "internal/onion",
		old:  `if c.Decorated() {`,
		new:  `if false {`,
		test: "flow.TestDecoratedChains", why: "a decoration of the user makes up a result",
	},
	{
		name: "blame-on-the-outermost", in: "internal/onion",
		old:  `passed := n.passes(decision, err)`,
		new:  `passed := n.passes(decision, err) && false`,
		test: "checks.TestComposeFailsClosed/Request/Blocked", why: "the first link is reported as the blocking one, whichever blocked",
	},
	{
		name: "made-up-request-passes", in: "checks.Compose",
		old: `n = o.call.Note()`,
		new: `if n = o.call.Note(); n == nil {
					n = &onion.Note{}
				}`,
		test: "checks.TestComposeAtTheEnd/Request/PassedForeign", why: "a link passes another request to next than the one of the pass",
	},
	{
		name: "typed-nil-owner-counts-as-found", in: "checks",
		old:  `return v.Kind() != reflect.Pointer || !v.IsNil()`,
		new:  `return v.IsValid()`,
		test: "checks.TestOwnerReady/TypedNil", why: "a check dereferences an owner that is a nil pointer, and panics",
	},
	{
		name: "stale-generation-counts-as-ready", in: "checks",
		old:  `r.Observed >= r.Generation`,
		new:  `r.Observed <= r.Generation`,
		test: "checks.TestOwnerReady/Stale", why: "an owner that was ready for an older spec is treated as ready",
	},
	{
		name: "no-status-counts-as-ready", in: "checks",
		old:  `return r.State == Ready &&`,
		new:  `return r.State != NotReady &&`,
		test: "checks.TestOwnerReady/Unknown", why: "an owner without a status is treated as ready",
	},
	{
		name: "owner-being-deleted-proceeds", in: "checks",
		old:  ` && !o.Deleting && o.Found()`,
		new:  ` && o.Found()`,
		test: "checks.TestOwnerReady/Deleting", why: "a resource is created in an owner that is being deleted",
	},
	{
		name: "not-ready-said-not-to-be-found", in: "checks",
		old:  `reason, text = of.notReady,`,
		new:  `reason, text = of.notFound,`,
		test: "checks.TestOwnerReady/NotReady", why: "an owner that exists is reported as not found",
	},
	{
		name: "by-id-option-inverted", in: "checks",
		old:  `case !found && s.idBlocks:`,
		new:  `case !found && !s.idBlocks:`,
		test: "checks.TestOwnerReady/ByID", why: "an owner that is known only by its ID blocks for ever",
	},
	{
		name: "owner-gone-holds-up-deletion", in: "checks",
		old:  `gone := r.Owner.Deleting || !r.Owner.Found()`,
		new:  `gone := false`,
		test: "checks.TestOwnerReady/DeleteOwnerGone", why: "a deletion waits for an owner that no longer exists",
	},
	{
		name: "unset-owner-counts-as-root", in: "checks.Object.none",
		old:  `o.Ref == Ref{} && !o.Found()`,
		new:  `!o.named()`,
		test: "checks.TestOwnerReady/Unset", why: "a resource is created without an owner if its owner reference is set later",
	},
	{
		name: "unset-owner-looked-for", in: "checks.aboutOwner",
		old: `		case !o.named():
			return s.noOwner(o), nil
`,
		new:  ``,
		test: "checks.TestOwnerFound/Unset", why: "an owner without a reference is reported as not found and resolved again and again",
	},
	{
		name: "unset-owner-looked-into", in: "checks.ownerAs",
		old: `	case !o.named():
		res = s.noOwner(o)
`,
		new:  ``,
		test: "checks.TestUnusableOwner/Unset", why: "an owner without a reference is reported as not found and resolved again and again",
	},
	{
		name: "missing-owner-under-another-reason", in: "checks.typed",
		old:  `res = s.unusable(reason, retry,`,
		new:  `res = s.blocked(reason, retry,`,
		test: "checks.TestUnusableOwner/KeptNotFound", why: "the condition asks for another version of a cluster that does not exist",
	},
	{
		name: "owner-found-needs-readiness", in: "checks.OwnerFound",
		old:  `"OwnerFound", false,`,
		new:  `"OwnerFound", true,`,
		test: "checks.TestOwnerFound/Unreported", why: "OwnerFound waits for the readiness of the owner",
	},
	{
		name: "reference-of-another-kind-looked-into", in: "checks.ReferenceIs",
		old:  `if res.IsZero() {`,
		new:  `if res.IsZero() || o.Found() {`,
		test: "checks.TestReferenceIs/WrongKind", why: "the objection gets the zero value instead of an object of another type",
	},
	{
		name: "objections-of-one-reference-only", in: "checks.references",
		old: `				sum.add("", res, err)
`,
		new: `				sum.add("", res, err)
				break
`,
		test: "checks.TestReferenceIs/Several", why: "the condition shows one unsuitable object at a time",
	},
	{
		name: "options-added-for-each-reference", in: "checks.references",
		old:  `	s.block = nil`,
		new:  `	_ = added`,
		test: "checks.TestReferenceReady/ManyAwaited", why: "8,000 references with 8,000 awaited objects take 44 seconds", hangs: true,
	},
	{
		name: "options-of-references-lost", in: "checks.references",
		old:  `added[i].to(res.d)`,
		new:  `_ = added[i]`,
		test: "checks.TestReferenceIs/Replaced", why: "no event wakes the resource when the object of WithWaitingFor changes",
	},
	{
		name: "objection-to-the-resource-overruled", in: "checks.objecting",
		old:  `case text != "":`,
		new:  `case false:`,
		test: "checks.TestResourceIs/One", why: "an objection to the resource has no effect",
	},
	{
		name: "nil-is-no-objection", in: "checks.objecting",
		old:  `case err != nil:`,
		new:  `case err != nil && false:`,
		test: "checks.TestResourceIs/Nil", why: "a selector that panics proceeds",
	},
	{
		name: "wrong-kind-proceeds", in: "checks",
		old:  `case found && s.wrongKindProceeds:`,
		new:  `case found:`,
		test: "checks.TestUnusableOwner/WrongKind", why: "a check that cannot read the owner proceeds",
	},
	{
		name: "objection-overruled", in: "checks",
		old:  `case reported && text == "":`,
		new:  `case reported && len(text) >= 0:`,
		test: "checks.TestObjections/One", why: "an objection to an owner has no effect",
	},
	{
		name: "unknown-owner-state-proceeds", in: "checks.OwnerProvisioningState",
		old:  `case s.unknownProceeds:`,
		new:  `case true:`,
		test: "checks.TestStates/Empty", why: "an owner that reports no state is treated as ready",
	},
	{
		name: "unknown-state-proceeds", in: "checks.settings.ofResource",
		old:  `case s.unknownProceeds:`,
		new:  `case true:`,
		test: "checks.TestStates/Empty", why: "a resource that reports no state is treated as ready",
	},
	{
		name: "state-of-nothing-blocks", in: "checks",
		old:  `case req.Errors.NotFound(err):`,
		new:  `case false:`,
		test: "checks.TestLiveState/Gone", why: "a resource that was deleted is an error, and is never created again",
	},
	{
		name: "allow-not-folded", in: "checks",
		old:  `return strings.EqualFold(strings.TrimSpace(other), word)`,
		new:  `return strings.TrimSpace(other) == word`,
		test: "checks.TestStates/OddCase", why: "a cloud that writes succeeded in lower case blocks for ever",
	},
	{
		name: "state-not-trimmed", in: "checks",
		old: `	word = strings.TrimSpace(word)
	return slices`,
		new:  `	return slices`,
		test: "checks.TestStates/Padded", why: "white space around a state makes it another state",
	},
	{
		name: "folded-though-exact", in: "checks",
		old:  `!exact && folded(words, word)`,
		new:  `folded(words, word)`,
		test: "checks.FuzzState/odd-case-exact", why: "the option Exact has no effect",
	},
	{
		name: "deny-allows", in: "checks",
		old:  `listed(states, state, s.exact) != s.denies`,
		new:  `listed(states, state, s.exact)`,
		test: "checks.TestStates/Denied", why: "only the states that must block proceed",
	},
	{
		name: "selector-panics-are-unknown", in: "checks",
		old:  `if v != nil { // nil`,
		new:  `if false { // nil`,
		test: "checks.TestSelectorsPanic/Index", why: "a panic of a selector is reported as a state that is not set",
	},
	{
		name: "rejected-as-pending", in: "checks",
		old:  `{ReasonApprovalRejected,`,
		new:  `{ReasonApprovalPending,`,
		test: "checks.TestApprovalPending/Rejected", why: "the condition reports a refused approval as pending",
	},
	{
		name: "one-approval-is-enough", in: "checks",
		old:  `if n := len(all); n < s.number {`,
		new:  `if n := len(all); n == 0 && s.number > 0 {`,
		test: "checks.TestApprovalPending/TooFew", why: "WithMinimum(2) accepts one approval",
	},
	{
		name: "all-stops-at-the-first-blocker", in: "checks",
		old: `				sum.add(names[i], res, err)
`,
		new: `				sum.add(names[i], res, err)
				break
`,
		test: "checks.TestAllAsksAll", why: "the condition shows one blocking check at a time",
	},
	{
		name: "all-forgets-errors-beside-a-block", in: "checks",
		old:  `case len(g.errs) == 0 || res.Ignored():`,
		new:  `case len(g.errs) == 0, res.Blocked():`,
		test: "checks.TestAll/Error", why: "a block hides an error",
	},
	{
		name: "all-blocks-what-is-not-ours", in: "checks",
		old:  `res.d.verdict > g.first.verdict:`,
		new:  `res.d.verdict > g.first.verdict && g.first.verdict != blocks:`,
		test: "checks.TestAll/IgnoreWins", why: "the engine writes a condition to the resource of another controller",
	},
	{
		name: "all-reports-errors-of-what-is-not-ours", in: "checks",
		old:  `case len(g.errs) == 0 || res.Ignored():`,
		new:  `case len(g.errs) == 0:`,
		test: "checks.TestAll/IgnoreWins", why: "the engine writes an error to the resource of another controller",
	},
	{
		name: "finished-is-never-deleted", in: "checks",
		old:  `if !o.Deleting || !r.is(finishes) {`,
		new:  `if true {`,
		test: "flow.TestFinishedIsDeleted/OnlyChecks", why: "a finished resource cannot be deleted",
	},
	{
		name: "slot-of-several-references", in: "checks",
		old:  `s.slot != nil && n > 1 {`,
		new:  `s.slot != nil && n > 9 {`,
		test: "checks.TestWithSlotSeveral", why: "Apply gets the last of several objects",
	},
	{
		name: "all-waits-least", in: "checks",
		old:  `if d.retry > u.sum.retry {`,
		new:  `if u.sum.retry == 0 {`,
		test: "checks.TestAll/Union", why: "All requeues after the delay of the first block instead of the longest",
	},
	{
		name: "cached-remembers-blocks", in: "checks",
		old:  `if res.d == proceed && k != zero && same(k, k) {`,
		new:  `if err == nil && k != zero && same(k, k) {`,
		test: "checks.TestCached/Block", why: "Cached remembers a block as a proceed",
	},
	{
		name: "cached-never-expires", in: "checks",
		old:  `if age := s.now().Sub(at); age >= 0 && age < ttl {`,
		new:  `if age := s.now().Sub(at); age >= 0 {`,
		test: "checks.TestCached/Expires", why: "Cached remembers a proceed for ever",
	},
	{
		name: "cached-verdict-from-the-future", in: "checks",
		old:  `if age := s.now().Sub(at); age >= 0 && age < ttl {`,
		new:  `if age := s.now().Sub(at); age < ttl {`,
		test: "checks.TestCached/ClockBack", why: "Cached keeps a verdict for years after the clock is set back",
	},
	{
		name: "on-owner-drops-links", in: "checks",
		old:  `ask := Compose(watched(c, observers))`,
		new:  `ask := Compose(chain.New(links[0]))`,
		test: "checks.TestOnOwner/Block", why: "OnOwner runs only the first of several owner checks",
	},
	{
		name: "gate-hidden-in-on-owner", in: "checks",
		old:  `tag.Acts = tag.Acts || !ok || its.Acts`,
		new:  `_, _ = ok, its`,
		test: "checks.TestAllSetUp/GateOnOwner", why: "All and Cached accept a link with a side effect",
	},
	{
		name: "gate-accepted-by-all", in: "checks",
		old:  `newCheck("Gate("+name+")", linktag.Check{Acts: true}, act)`,
		new:  `newCheck("Gate("+name+")", linktag.Check{}, act)`,
		test: "checks.TestAllSetUp/Gate", why: "All and Cached accept a link with a side effect",
	},
	{
		name: "check-goes-on-after-an-error", in: "checks.looped",
		old:  `if err != nil || res.d != proceed || o.call.Note() != note {`,
		new:  `if err == nil && res.d != proceed || o.call.Note() != note {`,
		test: "checks.TestLoop/Request/Error", why: "a check that returns an error proceeds",
	},
	{
		name: "reference-without-a-resolver-proceeds", in: "checks",
		old:  `return Object{}, ErrNoResolver`,
		new:  `return Object{Value: ref, Readiness: Readiness{State: Ready}}, nil`,
		test: "checks.TestReferenceReady/NoResolver", why: "references without a resolver are treated as ready",
	},
	{
		name: "block-waits-for-nothing", in: "checks",
		old:  `if ref != nil && *ref != (Ref{}) {`,
		new:  `if false {`,
		test: "checks.TestOwnerReady/NotReady", why: "a block by the owner has no awaited object, so no event ends it",
	},
	{
		name: "exact-given-to-any-check", in: "checks",
		old:  `s.must(slices.Contains(s.takes, o.name),`,
		new:  `s.must(true,`,
		test: "checks.TestOptionsFit/WithExactStates", why: "a check accepts an option that has no effect",
	},
	{
		name: "invalid-reason-kept", in: "checks",
		old:  `d.reason = ReasonInvalid`,
		new:  `_ = ReasonInvalid`,
		test: "checks.TestResult/BadReason", why: "the API server refuses a status with an invalid reason",
	},
	{
		name: "negative-delay-kept", in: "checks",
		old:  `case o.after > 0:`,
		new:  `case o.after != 0:`,
		test: "checks.TestResult/NegativeDelay", why: "a negative delay loses the requeue",
	},
	{
		name: "reason-may-end-in-a-colon", in: "internal/reason",
		old:  ` || i == len(s)-1)`,
		new:  `)`,
		test: "checks.TestValidReason/LastColon", why: "the API server refuses a status with an invalid reason",
	},
	{
		name: "nil-conversion-passes", in: "checks",
		old:  `err == nil && isNil(to) {`,
		new:  `err == nil && isNil(to) && false {`,
		test: "checks.TestConvertFails/Nil", why: "a check runs with a nil resource",
	},
	{
		name: "conversion-error-ignored", in: "checks",
		old: `				if err != nil {
					return Result{}, &ConversionError`,
		new: `				if err != nil && false {
					return Result{}, &ConversionError`,
		test: "checks.TestConvertFails/Error", why: "a check proceeds although its resource could not be converted",
	},
	{
		name: "gate-converted", in: "checks",
		old:  `		if tag, _ := tagOf(link); tag.Acts {`,
		new:  `		if tag, _ := tagOf(link); tag.Acts && false {`,
		test: "checks.TestConvertPanics/Gate", why: "a gate changes a copy that is discarded, and starts its operation in each pass",
	},
	{
		name: "owner-lost-in-conversion", in: "checks",
		old: `				back.OwnerRequest, back.Presence = req.OwnerRequest, req.Presence
`,
		new:  ``,
		test: "checks.TestConvert", why: "links after a converted link do not see its changes of the request",
	},
	{
		name: "proceed-beside-an-error", in: "checks.vet",
		old: `case err != nil && res.Proceeds():
		res = Result{}
`,
		new:  ``,
		test: "checks.TestComposeFailsClosed/Request/ErrorAndProceed", why: "a caller that reads the result before the error proceeds",
	},
	{
		name: "lost-request-passes-in-a-loop", in: "checks.looped",
		old:  `if err != nil || res.d != proceed || o.call.Note() != note {`,
		new:  `if err != nil || res.d != proceed {`,
		test: "checks.TestLoop/Request/Wiped", why: "the next check gets a request that was overwritten",
	},
	{
		name: "then-runs-checks", in: "checks.makeCheck",
		old:  `o == nil || o.call.Note() == nil`,
		new:  `o == nil`,
		test: "checks.TestNotComposed/Request/Check", why: "a chain that is run by Then proceeds past a link that forgets next",
	},
	{
		name: "unknown-presence-counts-as-absent", in: "checks",
		old:  `case presence == Absent:`,
		new:  `case presence != Present:`,
		test: "checks.TestProvisioningState/Unknown", why: "a flow without Get changes a busy resource",
	},
	{
		name: "state-judged-only-if-present", in: "checks.settings.ofResource",
		old:  `case reported && s.allows(states, state):`,
		new:  `case reported && (presence != Present || s.allows(states, state)):`,
		test: "checks.TestProvisioningState/UnknownBusy", why: "a reported state is ignored because the presence is unknown",
	},
	{
		name: "failed-becomes-ready", in: "checks",
		old:  `s.named(req, req.Applied)`,
		new:  `s.named(req, false)`,
		test: "checks.TestProvisioningState/AppliedFailed", why: "a resource that failed becomes Ready",
	},
	{
		name: "missing-becomes-ready", in: "checks",
		old:  `case presence == Absent && req.Applied:`,
		new:  `case false:`,
		test: "checks.TestProvisioningState/AppliedAbsent", why: "a resource that was deleted becomes Ready",
	},
	{
		name: "live-state-of-unseen-not-asked-for", in: "checks",
		old:  `if presence != Absent {`,
		new:  `if presence == Present {`,
		test: "checks.TestLiveState/Unseen", why: "a flow without Get never reads the live state",
	},
	{
		name: "vocabulary-ignored", in: "checks",
		old:  `return orAzure(v.own().Settled, azure.Settled)`,
		new:  `return azure.Settled`,
		test: "checks.TestVocabulary/Settled", why: "a cloud with its own words for states blocks for ever",
	},
	{
		name: "vocabulary-without-a-good-state", in: "checks",
		old:  `if (len(v.Settled) == 0) != (len(v.Succeeded) == 0) {`,
		new:  `if false {`,
		test: "checks.TestVocabularyCheck/NoGood", why: "no resource of the kind ever becomes Ready",
	},
	{
		name: "unreported-approvals-count-as-none", in: "checks",
		old:  `if !reported && (`,
		new:  `if !reported && false && (`,
		test: "checks.TestApprovalPendingNotReported/Present", why: "a resource becomes Ready without the approval",
	},
	{
		name: "nil-reference-hides-the-others", in: "checks",
		old: `		if err != nil {
			return Result{}, err
		}
		if n`,
		new: `		_ = err
		if n`,
		test: "checks.TestReferenceReady/NilOnTheWay", why: "one nil reference hides all other references",
	},
	{
		name: "nil-counts-as-not-paused", in: "checks.Paused",
		old:  `case err != nil:`,
		new:  `case err != nil && false:`,
		test: "checks.TestPaused", why: "a panic of a selector resumes a paused resource",
	},
	{
		name: "nil-place-not-noted", in: "checks",
		old:  `chain.Note(ctx, nilPlace{})`,
		new:  `_ = nilPlace{}`,
		test: "checks.TestNilPlace", why: "a panic of a selector is reported as a state that is not set, without its line",
	},
	{
		name: "negative-delay-dropped-silently", in: "checks",
		old:  `r.d.negative < 0 {`,
		new:  `false {`,
		test: "flow.TestExplain/NegativeDelay", why: "a negative delay is dropped without a fault",
	},
	{
		name: "block-names-the-group", in: "checks",
		old:  `d.inner = by`,
		new:  `_ = by`,
		test: "checks.TestOnOwner/Block", why: "the condition does not name the owner check that blocked",
	},
	{
		name: "wrong-step-marked", in: "flow.Explanation.stop",
		old:  `s.Link == e.Link && (`,
		new:  `(`,
		test: "flow.TestExplain/OuterFails", why: "the trace marks a step that did not end the pass",
	},
	{
		name: "owner-not-required", in: "checks",
		old:  `o.none() && !s.required:`,
		new:  `o.none():`,
		test: "checks.TestOwnerReady/Required", why: "a resource that needs an owner is created without one",
	},
	{
		name: "owner-fits-needs-none", in: "checks",
		old:  `NeedsOwner: true, Sets: slot != nil`,
		new:  `Sets: slot != nil`,
		test: "flow.TestSetUp/OwnerFits", why: "the set-up accepts an owner check for a reconciler without an owner",
	},
	{
		name: "owner-checks-without-an-owner", in: "flow",
		old:  `link != "" && ops.Owner == nil {`,
		new:  `link != "" && false {`,
		test: "flow.TestSetUp/OnOwner", why: "the set-up accepts an owner check for a reconciler without an owner",
	},
	{
		name: "applied-not-told", in: "flow",
		old: `	s.req.Applied = true
`,
		new:  ``,
		test: "flow.TestChecksOfStates/NotReady", why: "a resource that failed becomes Ready",
	},
	{
		name: "vocabulary-not-told", in: "flow",
		old: `	req.Vocabulary = r.opt.vocabulary
`,
		new:  ``,
		test: "flow.TestChecksOfStates/Good", why: "the words for states of the kind are ignored",
	},
	{
		name: "messages-without-a-bound", in: "checks",
		old:  `if l.n > mostTexts {`,
		new:  `if l.n > 50*mostTexts {`,
		test: "checks.TestReferenceReady/Many", why: "a condition gets a message of many kilobytes",
	},
	{
		name: "refs-listed-twice", in: "checks",
		old:  `case s.has == nil && slices.Contains(s.refs, ref) || s.has[ref]:`,
		new:  `case s.has[ref]:`,
		test: "checks.TestAll/Union", why: "the awaited objects contain an object twice",
	},
	{
		name: "unset-slot-read-as-zero", in: "checks.Slot.Get",
		old:  `if !ok {`,
		new:  `if ok = ok || is == nil; !ok {`,
		test: "flow.TestSlot/Unset", why: "Apply uses a subnet that no check found",
	},
	{
		name: "second-set-is-lost", in: "internal/slot.Values.Set",
		old:  `(*at).value = value`,
		new:  `_ = value`,
		test: "checks.TestSlot/SetTwice", why: "Apply uses the object that an earlier check found",
	},
	{
		name: "converted-checks-set-slots-of-their-own", in: "checks.Convert",
		old:  `if req.slots == nil {`,
		new:  `if false {`,
		test: "checks.TestSlotConvert/Inside", why: "the slot of a converted check is lost",
	},
	{
		name: "blocking-owner-handed-over", in: "checks.filling",
		old:  `if text == "" {`,
		new:  `if text != "" {`,
		test: "checks.TestWithSlot/Objection", why: "a link uses an owner that the check blocked",
	},
	{
		name: "remembered-check-sets-a-slot", in: "checks.Cached",
		old:  `s.must(!tag.Sets,`,
		new:  `s.must(true,`,
		test: "checks.TestSlotSetUp/Cached", why: "a remembered check leaves its slot unset, and Apply fails",
	},
	{
		name: "remembered-check-sets-a-slot-on-owner", in: "checks.OnOwner",
		old:  `tag.Sets = tag.Sets || its.Sets`,
		new:  `_ = its.Sets`,
		test: "checks.TestSlotSetUp/Cached", why: "a remembered owner check leaves its slot unset, and Apply fails",
	},
	{
		name: "slot-of-another-type", in: "checks",
		old:  `s.must(ok || s.slot == nil,`,
		new:  `s.must(ok || !ok,`,
		test: "checks.TestSlotSetUp/Type", why: "the set-up accepts a slot of another type, and every pass fails",
	},
	{
		name: "slots-not-shared-by-copies", in: "flow.Reconciler.request",
		old:  `*slot.Of(&req.OwnerRequest) = &req.own.slots`,
		new:  `_ = slot.Of(&req.OwnerRequest)`,
		test: "flow.TestSlot/CopyForApply", why: "a check after Apply does not see the slots that Apply set",
	},
	{
		name: "unused-ignores-objects-in-deletion", in: "checks.Unused",
		old:  `if !o.Self {`,
		new:  `if !o.Self && !o.Deleting {`,
		test: "checks.TestUnused/Deleting", why: "a cluster is deleted in the cloud before its last database",
	},
	{
		name: "unused-counts-the-resource", in: "checks.Unused",
		old:  `if !o.Self {`,
		new:  `if true {`,
		test: "checks.TestUnused/Self", why: "a deletion waits for the resource itself for ever",
	},
	{
		name: "unused-takes-an-error-for-an-empty-set", in: "checks.Lister.list",
		old:  `return nil, fmt.Errorf("%s: %w", q, err)`,
		new:  `return nil, nil`,
		test: "checks.TestUnused/Error", why: "a resource that is in use is deleted while the index is down",
	},
	{
		name: "unused-waits-for-nothing", in: "checks.settings.aboutSet",
		old:  `waits.to(res.d)`,
		new:  `_ = waits`,
		test: "checks.TestUnused/One", why: "a deletion does not continue when the last user is gone",
	},
	{
		name: "unique-blocks-the-first", in: "checks.Unique",
		old:  `case i == 0:`,
		new:  `case len(objects) == 1:`,
		test: "checks.TestUnique/First", why: "a second claim stops the object that had the claim",
	},
	{
		name: "unique-proceeds-outside-its-set", in: "checks.Unique",
		old:  `return Result{}, fmt.Errorf("%s: the set %s does not contain the resource: the query must match the resource, too", s.check, set)`,
		new:  `return Proceed(), nil`,
		test: "checks.TestUnique/NotSelf", why: "a query that does not match the resource lets every claim through",
	},
	{
		name: "sets-listed-with-content", in: "checks.ofSet",
		old:  `q.NamesOnly = true`,
		new:  `q.NamesOnly = false`,
		test: "checks.TestSetChecksQuery/Unused", why: "each change of a user of the cluster wakes its deletion",
	},
	{
		name: "several-owners-said-not-to-be-found", in: "checks.subject.absent",
		old:  `return of.several,`,
		new:  `return of.notFound,`,
		test: "checks.TestOwnerOfSet/OwnerReady", why: "the condition asks for an owner although there are two",
	},
	{
		name: "owner-of-several-is-the-first", in: "checks.Lister.Only",
		old:  `case 1:`,
		new:  `case 1, 2:`,
		test: "checks.TestListerOnly/Several", why: "a resource is created in one of two clusters at random",
	},
	{
		name: "resource-owns-itself", in: "checks.Lister.Only",
		old:  `return o.Self`,
		new:  `return false`,
		test: "checks.TestListerOnly/SelfOnly", why: "a resource becomes its own owner",
	},
	{
		name: "different-queries-with-equal-refs", in: "checks.Query.Ref",
		old:  `if q.Value != "" {`,
		new:  `if false {`,
		test: "checks.TestQueryRef", why: "a resource is woken for the set of another one, and not for its own",
	},
	{
		name: "reference-not-followed-on-failure", in: "checks.references",
		old: `			if s.follows { // before it is read, because a resource with a wrong reference is retried when the object changes
				req.follow(ctx, ref)
			}
			var o Object
			if err = errSetRef; ref.Set == "" {
				o, err = resolve(ctx, *ref)
			}
`,
		new: `			var o Object
			if err = errSetRef; ref.Set == "" {
				o, err = resolve(ctx, *ref)
			}
			if s.follows && err == nil {
				req.follow(ctx, ref)
			}
`,
		test: "checks.TestFollowingChecks/ReferenceReady", why: "a resource that failed is not retried when its Secret changes",
	},
	{
		name: "remembered-check-follows-nothing", in: "checks.Cached",
		old:  `tag.Follow(ctx, req)`,
		new:  `_ = tag`,
		test: "checks.TestFollowingChecks/Cached", why: "a rotated Secret does not reach the cloud while its check is remembered",
	},
	{
		name: "converted-check-follows-nothing", in: "checks.Convert",
		old:  `return retagged(link, convert, func`,
		new:  `return retagged[From](func(Handler[To]) Handler[To] { return nil }, convert, func`,
		test: "checks.TestFollowingChecks/Convert", why: "a resource in sync of an older version does not follow its Secret",
	},
	{
		name: "field-with-a-blank-text-is-set", in: "checks.isSet",
		old:  `return !blank(v.String())`,
		new:  `return v.String() != ""`,
		test: "checks.TestReferenceHas/String", why: "a database is created in a network with a blank ID",
	},
	{
		name: "kit-copies-share-slots", in: "checks/checkstest.copied",
		old:  `*values = (*values).Clone()`,
		new:  `_ = (*values).Clone()`,
		test: "checks/checkstest.TestCopiesHaveSlotsOfTheirOwn", why: "the kit reports a data race for a correct check that sets a slot",
	},
}
