package faults

var componentFaults = []fault{
	{
		name: "inventory-not-ahead", in: "ctrlx/component.inventory",
		old:  `if err := s.Save(ctx); err != nil {`,
		new:  `if err := error(nil); err != nil {`,
		test: "ctrlx/component.TestStore", why: "a process that stops after a create forgets the object for ever",
	},
	{
		name: "inventory-overwritten", in: "ctrlx/component",
		old:  `"resourceVersion": c.GetResourceVersion(), `,
		new:  ``,
		test: "ctrlx/component.TestInventoryConflict", why: "a pass over an old version of the component loses objects of the inventory",
	},
	{
		name: "guard-ignores-a-blocker", in: "ctrlx/component.Set.blocked",
		old:  `if len(names) == 0 {`,
		new:  `if len(names) <= 1 {`,
		test: "ctrlx/component.TestManagedTypes", why: "the objects of other users are deleted with their definition",
	},
	{
		name: "redundant-definition-not-guarded", in: "ctrlx/component",
		old:  `if !deleted || number > 1 {`,
		new:  `if deleted && number > 1 {`,
		test: "ctrlx/component.TestRedundantDefinition", why: "an update of the component deletes the objects of other users",
	},
	{
		name: "guard-ignores-broken-groups", in: "ctrlx/component",
		old:  `return t.inGroup(gv.Group) })`,
		new:  `return t.Group == gv.String() })`,
		test: "ctrlx/component.TestAdditionalManagedTypes/BrokenInside", why: "objects of a group whose server is down count as absent",
	},
	{
		name: "guard-lists-kinds-without-list", in: "ctrlx/component",
		old:  `Verbs: []string{"list"}`,
		new:  `Verbs: nil`,
		test: "ctrlx/component.TestAdditionalManagedTypes/NotListable", why: "a component with a pattern can never be deleted",
	},
	{
		name: "foreign-finalizers-ignored", in: "ctrlx/component",
		old:  `if len(others) > 0 {`,
		new:  `if len(others) > 1 {`,
		test: "ctrlx/component.TestForeignFinalizer", why: "the dependents that another controller needs for its cleaning are deleted",
	},
	{
		name: "wave-started-early", in: "ctrlx/component.system.waves",
		old:  `case !res.Done:`,
		new:  `case !res.Done && w.Number == w.Of:`,
		test: "ctrlx/component.TestWaves", why: "objects start before those that they need",
	},
	{
		name: "preflight-skipped", in: "ctrlx/component.preflight",
		old:  `w.call(ctx, i, trying)`,
		new:  `w.call(ctx, i, looking)`,
		test: "ctrlx/component.TestPreflight", why: "a wave with an invalid object is written in part",
	},
	{
		name: "preflight-ignores-owners", in: "ctrlx/component.preflight",
		old:  `if res.Outcome == dependents.NotOurs && !res.Sibling {`,
		new:  `if res.Outcome == dependents.NotOurs && res.Sibling {`,
		test: "ctrlx/component.TestPreflight", why: "a wave is written in part, because an object of it has another owner",
	},
	{
		name: "dry-run-counts-as-correction", in: "ctrlx/component.dryRun",
		old:  `return notWritten, err`,
		new:  `return res, err`,
		test: "ctrlx/component.TestDriftAfterFailedPreflight", why: "drift stays for an hour, because a dry-run counts as its correction",
	},
	{
		name: "redundant-objects-deleted-first", in: "ctrlx/component.redundant",
		old:  `if err != nil || !res.Done {`,
		new:  `if err != nil {`,
		test: "ctrlx/component.TestRedundant", why: "the old objects are deleted before the new ones work",
	},
	{
		name: "purged-object-applied-again", in: "ctrlx/component",
		old:  `purged[o.Ref] == o.digest {`,
		new:  `purged[o.Ref] == o.digest+"x" {`,
		test: "ctrlx/component.TestPurge", why: "a job that has run runs again and again",
	},
	{
		name: "component-policy-over-annotation", in: "ctrlx/component",
		old:  `!given("delete-policy")`,
		new:  `p != "Orphan"`,
		test: "ctrlx/component.TestPrecedence/Annotation", why: "an object that its annotation keeps is deleted",
	},
	{
		name: "observed-component-deleted", in: "ctrlx/component.Set.remove",
		old:  `if s.config.observe {`,
		new:  `if s.config.observe && s.Plan != nil {`,
		test: "ctrlx/component.TestObservedDeletion", why: "the dependents of a component that is only observed are deleted",
	},
	{
		name: "plan-writes", in: "ctrlx/component.system.write",
		old:  `if w.Plan == nil {`,
		new:  `if w.Plan != nil || w.Plan == nil {`,
		test: "ctrlx/component.TestPlan", why: "a plan changes the cluster",
	},
	{
		name: "unknown-kind-in-the-inventory", in: "ctrlx/component",
		old:  `if !o.known {`,
		new:  `if !o.known && o.Ref.Name == "" {`,
		test: "ctrlx/component.TestManagedTypes", why: "an object is created and deleted in turn, because its first item has no namespace",
	},
	{
		name: "own-rights-in-place-of-the-users", in: "ctrlx/component",
		old:  `a.find, a.live = nil, c`,
		new:  `a.client = own`,
		test: "ctrlx/component.TestImpersonation", why: "a user creates objects with the rights of the operator",
	},
	{
		name: "rebuilt-object-deleted", in: "ctrlx/component.Set.holds",
		old:  `if outer.Rebuilt {`,
		new:  `if outer.Rebuilt && outer.Purged {`,
		test: "ctrlx/component.TestRebuiltInventory", why: "copies and orphans with the label are deleted after a lost status",
	},
	{
		name: "namespace-deleted-with-a-needed-object", in: "ctrlx/component.Set.holds",
		old:  `if !goes || keeps(inner.DeletePolicy, deleted) {`,
		new:  `if goes && keeps(inner.DeletePolicy, deleted) {`,
		test: "ctrlx/component.TestNeededInside", why: "a chart that drops a namespace loses all objects in it",
	},
}
