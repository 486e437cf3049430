package faults

var dependentsFaults = []fault{
	{
		name: "foreign-dependent-adopted", in: "ctrlx/component/dependents",
		old:  `case o.owner != "":`,
		new:  `case o.owner != "" && o.sibling:`,
		test: "ctrlx/component/dependents.TestAdoption/IfUnownedForeign", why: "two owners overwrite each other's object for ever",
	},
	{
		name: "controlled-dependent-adopted", in: "ctrlx/component/dependents",
		old:  `c != nil && (c.UID`,
		new:  `c != nil && c.Controller == nil && (c.UID`,
		test: "ctrlx/component/dependents.TestAdoption/Controlled", why: "an object is taken from the controller that made it",
	},
	{
		name: "sibling-adopted", in: "ctrlx/component/dependents",
		old:  `case o.sibling:`,
		new:  `case o.sibling && o.owner == "":`,
		test: "ctrlx/component/dependents.TestAdoption/SiblingAlways", why: "the policy Always takes an object from a declared sibling",
	},
	{
		name: "dependent-deleted-without-its-owner", in: "ctrlx/component/dependents",
		old:  `!o.ours {`,
		new:  `!o.ours && o.owner != "" {`,
		test: "ctrlx/component/dependents.TestDeleteForeign", why: "an object that a person created is deleted with the owner",
	},
	{
		name: "dependent-deleted-in-any-version", in: "ctrlx/component/dependents",
		old:  `client.Preconditions{UID: &uid, ResourceVersion: &version}`,
		new:  `client.Preconditions{UID: &uid, ResourceVersion: map[bool]*string{false: &version}[true]}`,
		test: "ctrlx/component/dependents.TestRaces/DeleteStolen", why: "an object that another owner has just taken is deleted",
	},
	{
		name: "dependent-applied-in-any-version", in: "ctrlx/component/dependents",
		old:  `u.SetResourceVersion(r.Live.GetResourceVersion())`,
		new:  `_ = r.Live.GetResourceVersion()`,
		test: "ctrlx/component/dependents.TestRaces/SsaMergeEdited", why: "an apply overwrites an object that has changed since its owner was checked",
	},
	{
		name: "dependent-written-without-a-precondition", in: "ctrlx/component/dependents.Request.versioned",
		old:  `r.Live.GetUID() == "" || r.Live.GetResourceVersion() == ""`,
		new:  `r.Live.GetName() == ""`,
		test: "ctrlx/component/dependents.TestNoVersion", why: "an object that was read without a version is overwritten in any version",
	},
	{
		name: "dependent-created-over-another", in: "ctrlx/component/dependents",
		old:  `u.SetResourceVersion("1")`,
		new:  `_ = "1"`,
		test: "ctrlx/component/dependents.TestRaces/CreateSsaMerge", why: "a create by apply changes an object that another writer has just created",
	},
	{
		name: "managers-taken-in-any-version", in: "ctrlx/component/dependents",
		old:  `"value": r.Live.GetResourceVersion()}`,
		new:  `"value": nil}`,
		test: "ctrlx/component/dependents.TestRaces/SsaOverrideEdited", why: "managed fields are overwritten with those of an older version",
	},
	{
		name: "dependent-missing-in-the-cache-created", in: "ctrlx/component/dependents.read",
		old:  `if apierrors.IsNotFound(err) {`,
		new:  `if apierrors.IsConflict(err) {`,
		test: "ctrlx/component/dependents.TestStaleCache", why: "an object that the cache does not have yet is created again and again",
	},
	{
		name: "dependent-missing-in-the-cache-gone", in: "ctrlx/component/dependents.readLive",
		old:  `r.of.live`,
		new:  `r.of.client`,
		test: "ctrlx/component/dependents.TestStaleCache", why: "an object that was created a moment ago outlives its owner",
	},
	{
		name: "terminating-dependent-written", in: "ctrlx/component/dependents",
		old:  `r.Live != nil && r.Live.GetDeletionTimestamp() != nil`,
		new:  `r.Live == nil && r.Live.GetDeletionTimestamp() != nil`,
		test: "ctrlx/component/dependents.TestTerminating/Replace", why: "a write to an object in deletion removes its finalizers",
	},
	{
		name: "dependent-loses-finalizers", in: "ctrlx/component/dependents",
		old:  `r.changed(func(string) bool { return true })`,
		new:  `r.changed(func(string) bool { return false })`,
		test: "ctrlx/component/dependents.TestUpdate/Replace", why: "the controller of a dependent cannot clean up",
	},
	{
		name: "dependent-loses-its-own-finalizer", in: "ctrlx/component/dependents",
		old:  `r.changed(m.ownsFinalizer)`,
		new:  `r.changed(func(string) bool { return m.ownsFinalizer("") })`,
		test: "ctrlx/component/dependents.TestOwnFinalizer/SsaOverride", why: "a dependent that is an owner itself is deleted before its own dependents",
	},
	{
		name: "override-leaves-applied-fields", in: "ctrlx/component/dependents",
		old:  `if e.Subresource != "" || !take {`,
		new:  `if e.Subresource != "" || !take || e.Operation == metav1.ManagedFieldsOperationApply {`,
		test: "ctrlx/component/dependents.TestUpdate/Prefixes", why: "fields of kubectl apply --server-side stay under SsaOverride",
	},
	{
		name: "reapply-of-zero-loops", in: "ctrlx/component/dependents",
		old:  `if p.ReapplyInterval <= 0 {`,
		new:  `if p.ReapplyInterval < 0 {`,
		test: "ctrlx/component/dependents.TestReapply/Zero", why: "an interval of zero writes the object in each pass",
	},
	{
		name: "applied-in-the-future-believed", in: "ctrlx/component/dependents",
		old:  `age < 0 || `,
		new:  ``,
		test: "ctrlx/component/dependents.TestReapply/Future", why: "an annotation that a user wrote stops the reapply",
	},
	{
		name: "once-reapplied", in: "ctrlx/component/dependents",
		old:  `applied && (inner.digest == once || recreates || !r.due(now))`,
		new:  `applied && (recreates || !r.due(now))`,
		test: "ctrlx/component/dependents.TestReconcilePolicy/OnceLater", why: "an object with the policy Once is overwritten after the interval",
	},
	{
		name: "recreated-because-of-drift", in: "ctrlx/component/dependents",
		old:  `inner.digest == once || recreates || !r.due(now)`,
		new:  `inner.digest == once || !r.due(now)`,
		test: "ctrlx/component/dependents.TestRecreateOnlyForTheManifest", why: "an object with the policy Recreate is deleted each hour",
	},
	{
		name: "old-version-counts-as-gone", in: "ctrlx/component/dependents",
		old: `	if a != applying {
		versions = nil`,
		new: `	if a > deleting {
		versions = nil`,
		test: "ctrlx/component/dependents.TestDeleteKind", why: "objects of a version that is not served any more outlive their owner",
	},
	{
		name: "own-updates-not-taken", in: "ctrlx/component/dependents",
		old:  `take := e.Manager == name ||`,
		new:  `take := own ||`,
		test: "ctrlx/component/dependents.TestUpdatePolicyChanged/ReplaceSsaMerge", why: "a field that left the manifest stays after the policy changed to SsaMerge",
	},
	{
		name: "contested-field-fought", in: "ctrlx/component/dependents",
		old:  `quiet && wait > 0`,
		new:  `quiet && wait < 0`,
		test: "ctrlx/component/dependents.TestContested", why: "two controllers change a field in turn without an end",
	},
	{
		name: "stored-form-fought", in: "ctrlx/component/dependents",
		old:  `if found && c.managers.owns(c.managers.ours, path) {`,
		new:  `if found && path == nil {`,
		test: "ctrlx/component/dependents.TestInSync/ZeroValues/Replace", why: "a restart writes every object with a quantity in another form",
	},
	{
		name: "absent-field-compared", in: "ctrlx/component/dependents",
		old: `	case nil:
		return
`,
		new:  ``,
		test: "ctrlx/component/dependents.TestKinds/PersistentVolumeClaim.v1", why: "an object to which the API server adds a finalizer is written in each pass",
	},
	{
		name: "pruned-field-fought", in: "ctrlx/component/dependents",
		old:  `r.stored[d.Path] = d.live`,
		new:  `_ = d.live`,
		test: "ctrlx/component/dependents.TestInSync/Pruned/Replace", why: "a field that the API server does not store is written in each pass",
	},
	{
		name: "drift-in-a-map-hidden", in: "ctrlx/component/dependents",
		old:  `return !parts && set.Members.Has(element)`,
		new:  `return (!parts || parts) && set.Members.Has(element)`,
		test: "ctrlx/component/dependents.TestReconcilePolicy/ObjectDrift", why: "a manager that owns an empty map counts as the owner of a changed value, so that the change stays",
	},
	{
		name: "invalid-dependent-among-others-written", in: "ctrlx/component/dependents",
		old:  `return requests, errors.Join(errs...)`,
		new:  `return requests, nil`,
		test: "ctrlx/component/dependents.TestInvalid/Update", why: "bad input is ignored, and the rest of a set is written",
	},
	{
		name: "dependents-not-awaited", in: "ctrlx/component/dependents",
		old:  `flow.InProgress(token, applyDelay, awaited...)`,
		new:  `flow.InProgress(token, applyDelay)`,
		test: "ctrlx/component/dependents.TestProgress", why: "an owner sees a minute late that its dependents are ready",
	},
	{
		name: "refused-dependents-not-awaited", in: "ctrlx/component/dependents",
		old:  `flow.WaitFor(err, awaited...)`,
		new:  `err`,
		test: "ctrlx/component/dependents.TestProgress", why: "an owner does not see that an object of another owner is gone",
	},
	{
		name: "dependent-ready-for-an-older-generation", in: "ctrlx/component/dependents",
		old:  `r.State == checks.Ready && r.Observed >= r.Generation`,
		new:  `r.State == checks.Ready`,
		test: "ctrlx/component/dependents.TestResult/Stale", why: "an owner is ready before its dependents have seen a change",
	},
	{
		name: "vague-problem-named", in: "ctrlx/internal/ready.Problem",
		old:  `m["status"] != p.status`,
		new:  `m["status"] == "Unknown"`,
		test: "ctrlx/internal/ready.TestProblem/Recovered", why: "a condition shows a problem that was solved",
	},
	{
		name: "problem-of-a-dependent-cut", in: "ctrlx/component/dependents",
		old:  `append(texts, problems...)`,
		new:  `append(problems, texts...)`,
		test: "ctrlx/component/dependents.TestMessage", why: "of many dependents the condition names those that only wait",
	},
	{
		name: "missing-condition-ready", in: "ctrlx/internal/ready",
		old:  `if c["status"] == "True" {`,
		new:  `if c == nil || c["status"] == "True" {`,
		test: "ctrlx/internal/ready.TestHints/NoCondition", why: "an object is ready before its controller runs",
	},
	{
		name: "status-hint-ignored", in: "ctrlx/component/dependents",
		old:  `return hints.Hinted(obj, of(obj)), nil`,
		new:  `_ = hints; return of(obj), nil`,
		test: "ctrlx/component/dependents.TestReadiness/Observed", why: "an owner is ready before the controller of its dependent has seen it",
	},
	{
		name: "started-job-ready", in: "ctrlx/component/dependents",
		old:  `return hints.Hinted(obj, of(obj)) }`,
		new:  `_ = hints; return of(obj) }`,
		test: "ctrlx/component/dependents.TestReadiness/Job", why: "an owner is ready before its Job has ended",
	},
}
