package faults

var ctrlxFaults = []fault{
	{
		name: "changes-while-reading-ignored", in: "ctrlx/internal/index",
		old:  `e.run != absent && (e.run != known || e.open > 0 || e.runAs != digest)`,
		new:  `e.run == known && e.open == 0 && e.runAs != digest`,
		test: "ctrlx/internal/index.TestEveryOrder", why: "a change between registering and reading wakes nobody, and a resource waits for ever",
	},
	{
		name: "wait-drops-what-it-keeps", in: "ctrlx/internal/index",
		old:  `		e.keep(known, e.runAs)`,
		new:  `		e.endRun()`,
		test: "ctrlx/internal/index.TestEveryOrder", why: "a blocked resource waits for nothing, and is never woken",
	},
	{
		name: "digest-without-the-status", in: "ctrlx/internal/digest",
		old:  `			h = parts[i].plan.add(h, f)`,
		new:  `			_ = parts[i].plan`,
		test: "ctrlx/internal/digest.TestStatusLeaves", why: "an owner that becomes ready looks as before",
	},
	{
		name: "live-read-not-marked", in: "ctrlx",
		old:  `	e.behind.mark(id, live)`,
		new:  `	_ = live`,
		test: "ctrlx.TestPoll/DeadWatch", why: "who is woken by a live read looks into the cache, which has what was before, and waits on",
	},
	{
		name: "own-write-not-remembered", in: "ctrlx",
		old:  `	r.own.mark(id, version)`,
		new:  `	r.own.mark(id, "1")`,
		test: "ctrlx.TestReadsOwnWrites/Behind", why: "a pass does not see the token that the one before has kept, and begins a second operation",
	},
	{
		name: "any-deletion-believed", in: "ctrlx",
		old:  `(l.version == "" || !older(version, l.version))`,
		new:  `(deleted || l.version == "" || !older(version, l.version))`,
		test: "ctrlx.TestReadsOwnWrites/Earlier", why: "an object that was made anew is seen as it was before its last change",
	},
	{
		name: "put-off-for-ever", in: "ctrlx",
		old:  `	delete(w.putOff, name)`,
		new:  `	_ = name`,
		test: "ctrlx.TestWakeAtMost/Begun", why: "who was woken once in a herd is never woken again",
	},
	{
		name: "retriable-lost-in-a-join", in: "ctrlx",
		old:  `			whole = f.Joined`,
		new:  `			whole = f.Err`,
		test: "ctrlx.TestRetriable/JoinedFinal", why: "an error that says when to come back waits for a change of the spec",
	},
	{
		name: "timeout-late", in: "ctrlx",
		old:  `		c.over = c.due <= 0`,
		new:  `		c.over = c.due < 0`,
		test: "ctrlx.TestTimeout/Boundary", why: "what comes back when the time is over finds that it is not, and is not told of",
	},
	{
		name: "secret-makes-resource-absent", in: "ctrlx",
		old:  `		f.NotFound = false`,
		new:  `		_ = f`,
		test: "ctrlx.TestNotFoundOfAnotherObject/Default", why: "a Secret that a live read does not find makes the resource absent, and a PUT follows",
	},
	{
		name: "kind-not-served-means-absent", in: "ctrlx",
		old:  `named && !hasInner(f, causeUnexpected) &&`,
		new:  `named &&`,
		test: "ctrlx.TestErrors/NotServed", why: "while an aggregated API is down its objects count as deleted",
	},
	{
		name: "field-conflict-retried-fast", in: "ctrlx",
		old:  `		f.Transient = !hasInner(f, causeFieldManager)`,
		new:  `		f.Transient = true`,
		test: "ctrlx.TestErrors/FieldManager", why: "a conflict with another field manager counts as one that a retry mends",
	},
	{
		name: "guards-work-on-what-is-gone", in: "ctrlx",
		old:  `		ok = err == nil`,
		new:  `		ok = ignoreGone(err) == nil`,
		test: "ctrlx.TestGuardsGone", why: "an object that was deleted while its checks were asked is made in the cloud",
	},
	{
		name: "guards-take-anothers-conditions-back", in: "ctrlx",
		old:  `i := slices.IndexFunc(all, func(c metav1.Condition) bool { return c.Type != "Ready" && c.Reason == ReasonChecks })`,
		new:  `i := slices.IndexFunc(all, func(c metav1.Condition) bool { return c.Type != "Ready" })`,
		test: "ctrlx.TestGuardsProceed/Mine", why: "the reconciler and its guards overwrite each other's conditions in every pass",
	},
	{
		name: "resolver-takes-unserved-as-absent", in: "ctrlx",
		old:  `		case kubernetes.NotFound(err):`,
		new:  `		case client.IgnoreNotFound(err) == nil && err != nil:`,
		test: "ctrlx.TestGuardsFailClosed/NotServed", why: "while an API is down, an owner counts as gone, and a deletion goes on",
	},
	{
		name: "registered-kind-forgotten", in: "ctrlx",
		old:  `func(name string) bool { return given[name] })`,
		new:  `func(name string) bool { return true })`,
		test: "ctrlx.TestSetupAllRefuses/Missing", why: "a kind that was registered and not given is never reconciled, and no error says so",
	},
}
