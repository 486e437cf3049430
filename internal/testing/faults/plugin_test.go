package faults

var pluginFaults = []fault{
	{
		name: "waiters-of-all-namespaces", in: "flow/why.Graph.causesOf",
		old:  `n.cause == nil || !inside(i)`,
		new:  `n.cause == nil`,
		test: "flow/why.TestDocumentIn/Few", why: "a team reads that a thousand objects of other teams wait in its namespace",
	},
	{
		name: "plugin-follows-redirects", in: "cmd/kubectl-windlass/plugin.clientFor",
		old:  `http.ErrUseLastResponse`,
		new:  `nil`,
		test: "cmd/kubectl-windlass/plugin.TestAddress/Redirect", why: "a service sends the token of the user to another host",
	},
	{
		name: "plugin-token-in-plain-text", in: "cmd/kubectl-windlass/plugin.direct",
		old:  `(ip == nil || !ip.IsLoopback())`,
		new:  `ip != nil && !ip.IsLoopback()`,
		test: "cmd/kubectl-windlass/plugin.TestAddress/Plain", why: "the token of the user crosses a network without encryption",
	},
	{
		name: "plugin-prints-errors-raw", in: "cmd/kubectl-windlass/plugin.Run",
		old:  `why.Line(err.Error())`,
		new:  `err.Error()`,
		test: "cmd/kubectl-windlass/plugin.TestHostile", why: "the text of an error controls the terminal",
	},
	{
		name: "plugin-foreign-view-counts", in: "cmd/kubectl-windlass/plugin.ranked",
		old:  `			return 2`,
		new:  `			return 0`,
		test: "cmd/kubectl-windlass/plugin.TestMerge", why: "the path ends at an object of another manager, as if that were the cause",
	},
	{
		name: "plugin-unread-is-nothing", in: "cmd/kubectl-windlass/plugin.command.listed",
		old:  `			whole = false`,
		new:  `			_ = whole`,
		test: "cmd/kubectl-windlass/plugin.TestWithoutManagers/Forbidden", why: "a user without rights reads that nothing waits",
	},
	{
		name: "plugin-sample-is-everything", in: "cmd/kubectl-windlass/plugin.command.overview",
		old: `			whole = false
			c.note`,
		new:  `			c.note`,
		test: "cmd/kubectl-windlass/plugin.TestBlockedNamespace/Older", why: "nothing waits in a namespace whose objects the document leaves out",
	},
	{
		name: "plugin-counts-one-manager", in: "cmd/kubectl-windlass/plugin.complete",
		old:  `counts[i] += c.Waiters`,
		new:  `counts[i] = c.Waiters`,
		test: "cmd/kubectl-windlass/plugin.TestBlockedNamespace/Two", why: "the waiters of one of two managers are counted",
	},
	{
		name: "plugin-prints-notes-raw", in: "cmd/kubectl-windlass/plugin.command.note",
		old:  `why.Line(fmt.Sprintf(format, args...))`,
		new:  `fmt.Sprintf(format, args...)`,
		test: "cmd/kubectl-windlass/plugin.TestHostile/Managers", why: "the text of a service controls the terminal",
	},
	{
		name: "plugin-asks-one-replica", in: "cmd/kubectl-windlass/plugin.endpoint.get",
		old:  `n < maxReplicas`,
		new:  `n < 1`,
		test: "cmd/kubectl-windlass/plugin.TestReplicas/Leader", why: "a service with two replicas answers every other time",
	},
	{
		name: "standby-answers", in: "ctrlx.whyHandler.ServeHTTP",
		old:  `!h.leads()`,
		new:  `false`,
		test: "ctrlx.TestWhyRequests", why: "a replica that is not the leader says that every object is ready",
	},
	{
		name: "plugin-stale-condition-is-ready", in: "cmd/kubectl-windlass/plugin.objectOf",
		old:  `observed(u, ready) < u.GetGeneration()`,
		new:  `observed(u, ready) < 0`,
		test: "cmd/kubectl-windlass/plugin.TestState/Stale", why: "an object whose new spec no operator has read is reported as ready",
	},
	{
		name: "plugin-owner-of-its-cause", in: "cmd/kubectl-windlass/plugin.reader.finish",
		old:  `|| r.waits(owner, ref)`,
		new:  ``,
		test: "cmd/kubectl-windlass/plugin.TestOwnerWaits", why: "an owner that waits for its dependent is reported as a cycle",
	},
	{
		name: "plugin-root-cause-is-direct", in: "cmd/kubectl-windlass/plugin.awaited",
		old:  "`^(?:owner )?([A-Z][A-Za-z0-9]*)((?:\\.[a-z0-9-]+)*) (?:([a-z0-9-]+)/)?([a-z0-9.-]+) (?:was not found|is not ready|is being deleted|is in state|was ready for|has not reported)`",
		new:  "`(?:owner )?([A-Z][A-Za-z0-9]*)((?:\\.[a-z0-9-]+)*) (?:([a-z0-9-]+)/)?([a-z0-9.-]+) (?:was not found|is not ready|is being deleted|is in state|was ready for|has not reported)`",
		test: "cmd/kubectl-windlass/plugin.TestNamed/Middle", why: "the objects between an object and its root cause are left out",
	},
	{
		name: "plugin-stale-event-counts", in: "cmd/kubectl-windlass/plugin.reader.finish",
		old:  `r.waits(awaited, root)`,
		new:  `true`,
		test: "cmd/kubectl-windlass/plugin.TestRootInMessage/Stale", why: "the object of an old event is shown as the root cause, and not the one in the message",
	},
	{
		name: "plugin-any-echo-counts", in: "cmd/kubectl-windlass/plugin.handled",
		old:  `slices.Contains(strings.Split(value, ","), request)`,
		new:  `value != ""`,
		test: "cmd/kubectl-windlass/plugin.TestRetry", why: "a retry that no operator has handled is reported as handled",
	},
	{
		name: "plugin-retries-other-waiters", in: "cmd/kubectl-windlass/plugin.command.selected",
		old:  "`($|[^a-z0-9.-]|[.]($|\\s))`",
		new:  "``",
		test: "cmd/kubectl-windlass/plugin.TestRetrySelection/WaitingFor", why: "the waiters of batch2 are retried with those of batch",
	},
}
