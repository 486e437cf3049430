package faults

var pluginFaults = []fault{
	{
		name: "plugin-follows-redirects", in: "cmd/kubectl-windlass.clientFor",
		old:  `http.ErrUseLastResponse`,
		new:  `nil`,
		test: "cmd/kubectl-windlass.TestAddress/Redirect", why: "a service sends the token of the user to another host",
	},
	{
		name: "plugin-token-in-plain-text", in: "cmd/kubectl-windlass.direct",
		old:  `(ip == nil || !ip.IsLoopback())`,
		new:  `ip != nil && !ip.IsLoopback()`,
		test: "cmd/kubectl-windlass.TestAddress/Plain", why: "the token of the user crosses a network without encryption",
	},
	{
		name: "plugin-prints-errors-raw", in: "cmd/kubectl-windlass.run",
		old:  `why.Line(err.Error())`,
		new:  `err.Error()`,
		test: "cmd/kubectl-windlass.TestHostile", why: "the text of an error controls the terminal",
	},
	{
		name: "plugin-foreign-view-counts", in: "cmd/kubectl-windlass.merge",
		old:  `			return 2`,
		new:  `			return 0`,
		test: "cmd/kubectl-windlass.TestMerge", why: "the path ends at an object of another manager, as if that were the cause",
	},
	{
		name: "plugin-unread-is-nothing", in: "cmd/kubectl-windlass.command.listed",
		old:  `			whole = false`,
		new:  `			_ = whole`,
		test: "cmd/kubectl-windlass.TestWithoutManagers/Forbidden", why: "a user without rights reads that nothing waits",
	},
	{
		name: "plugin-sample-is-everything", in: "cmd/kubectl-windlass.command.blocked",
		old:  `whole = whole && d.OmittedObjects == 0 && d.OmittedCauses == 0`,
		new:  `_ = d`,
		test: "cmd/kubectl-windlass.TestBlockedOmits", why: "nothing waits in a namespace whose objects the document leaves out",
	},
	{
		name: "plugin-stale-condition-is-ready", in: "cmd/kubectl-windlass.objectOf",
		old:  `observed(u, ready) < u.GetGeneration()`,
		new:  `observed(u, ready) < 0`,
		test: "cmd/kubectl-windlass.TestState/Stale", why: "an object whose new spec no operator has read is reported as ready",
	},
	{
		name: "plugin-owner-of-its-cause", in: "cmd/kubectl-windlass.reader.finish",
		old:  `|| r.waits(owner, ref)`,
		new:  ``,
		test: "cmd/kubectl-windlass.TestOwnerWaits", why: "an owner that waits for its dependent is reported as a cycle",
	},
	{
		name: "plugin-root-cause-is-direct", in: "cmd/kubectl-windlass.awaited",
		old:  "`^(?:owner )?([A-Z][A-Za-z0-9]*)((?:\\.[a-z0-9-]+)*) (?:([a-z0-9-]+)/)?([a-z0-9.-]+) (?:was not found|is not ready|is being deleted|is in state|was ready for|has not reported)`",
		new:  "`(?:owner )?([A-Z][A-Za-z0-9]*)((?:\\.[a-z0-9-]+)*) (?:([a-z0-9-]+)/)?([a-z0-9.-]+) (?:was not found|is not ready|is being deleted|is in state|was ready for|has not reported)`",
		test: "cmd/kubectl-windlass.TestNamed/Middle", why: "the objects between an object and its root cause are left out",
	},
	{
		name: "plugin-any-echo-counts", in: "cmd/kubectl-windlass.handled",
		old:  `slices.Contains(strings.Split(value, ","), request)`,
		new:  `value != ""`,
		test: "cmd/kubectl-windlass.TestRetry", why: "a retry that no operator has handled is reported as handled",
	},
	{
		name: "plugin-retries-other-waiters", in: "cmd/kubectl-windlass.command.selected",
		old:  "`($|[^a-z0-9.-]|[.]($|\\s))`",
		new:  "``",
		test: "cmd/kubectl-windlass.TestRetrySelection/WaitingFor", why: "the waiters of batch2 are retried with those of batch",
	},
}
