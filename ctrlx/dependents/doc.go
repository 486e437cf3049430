// Package dependents applies the Kubernetes objects that an object of yours
// needs, and deletes them. It works in any Apply and Delete of a reconciler:
//
//	web := dependents.New("web.example.com", mgr) // once, at set-up
//
//	Apply: func(ctx context.Context, req *flow.Request[*Shop]) (flow.Progress, error) {
//		return web.Apply(ctx, req.Resource, settings(req.Resource), server(req.Resource))
//	},
//	Delete: func(ctx context.Context, req *flow.Request[*Shop]) (flow.Progress, error) {
//		return web.Delete(ctx, req.Resource, settings(req.Resource), server(req.Resource))
//	},
//
// Do these four things first:
//
//   - Give the reconciler no Operations.Get. A pass that finds the owner in sync
//     would leave Apply out.
//   - Give each object its name. The namespace may be empty: it is then the
//     namespace of the owner.
//   - Call [Dependents.Delete] in Apply, too, with the objects that are not needed
//     any more.
//   - Name the fields that other controllers set in the annotation
//     ignored-fields of an object, if its manifest has them, too.
//
// Apply writes the objects that differ from the cluster, and waits until all of
// them are ready. Then the condition Ready is True. In a pass of ctrlx, the
// owner follows its objects: a deletion, and a change of a spec, of data, of a
// label, of an annotation or of the readiness cause a pass at once. While an object
// is not ready, the owner has a pass each minute, too. docs/howto/apply-generated-objects.md is a whole example.
//
// The manager watches the kinds of the objects, if it is the cluster of [New]
// (otherwise see docs/dependents/targets.md). An object of a kind that the operator may
// not list and watch is read live, and the log names the kind once.
// ctrlx.WithUnwatchedKinds names kinds that are not watched.
//
// # A reconciler of your own
//
// Without ctrlx, no event wakes the owner: see [Requeue] and [Dependents.OwnerKey], whose
// example is a whole reconciler.
//
// # Policies
//
// A policy comes from an annotation of the object, or else from
// [WithOwnerPolicies], or else from [WithPolicies]. The annotation's prefix is
// the name that [New] got, as in web.example.com/update-policy. Its value is
// written as IfUnowned or if-unowned.
//
//	annotation        values (the first one is the default)
//	adoption-policy   IfUnowned, Never, Always
//	update-policy     SsaOverride, SsaMerge, Replace, Recreate
//	delete-policy     Delete, Orphan, OrphanOnApply, OrphanOnDelete
//	reconcile-policy  OnObjectChange, OnObjectOrComponentChange, Once
//	reapply-interval  60m, or any duration from 1s; zero and negative mean the default
//	ignored-fields    none, or paths with commas between them
//	status-hint       none, or has-observed-generation, has-ready-condition, conditions=A;B
//
// Adoption, for an object that exists:
//
//	           no owner   another owner   this owner
//	IfUnowned  adopt      not ours        take
//	Never      not ours   not ours        take
//	Always     adopt      adopt           take
//
// Update, by a server-side apply that wins all conflicts. The policy says whose
// fields this name takes over before it, so that the apply removes those that
// the manifest lacks:
//
//	SsaOverride  of managers with a prefix (kubectl)
//	SsaMerge     of no other manager
//	Replace      of all field managers, except controllers of Kubernetes and clouds
//	Recreate     delete, and create in a later pass; only if the manifest changes
//
// Deletion:
//
//	                owner stays   owner in deletion
//	Delete          deleted       deleted
//	Orphan          kept          kept
//	OrphanOnApply   kept          deleted
//	OrphanOnDelete  deleted       kept
//
// docs/dependents/policies.md lists the fields that a takeover leaves, and the
// manifests that the API server refuses.
//
// # Readiness
//
// Apply waits until each object is ready by the rule of kstatus for its kind,
// or by [WithReadiness]. A definition must also be established, with its names
// accepted, an APIService available, and a Job complete. A status hint names
// what the controller of an object reports later, so that its absence does not
// count as ready:
//
//	has-observed-generation  status.observedGeneration, or that of the Ready condition
//	has-ready-condition      the condition Ready
//	conditions=A;B           the conditions A and B, each True
//
// # Links
//
// Each policy is a link. fmt.Println(web) lists the links, and [WithApplyChain] and
// [WithDeleteChain] change them:
//
//	Apply: one object           Delete: one object
//	Recover                     Recover
//	└ Read                      └ ReadLive
//	  └ Ready                     └ Owned
//	    └ Terminating               └ Orphan
//	      └ Adopt                     └ Terminating
//	        └ InSync                    └ DryRun
//	          └ DryRun                    └ the DELETE
//	            └ Create
//	              └ Recreate
//	                └ Replace
//	                  └ SsaOverride
//	                    └ SsaMerge
//
// A link inside InSync runs only for an object that needs a write.
// docs/dependents/links.md has the repeated calls of a link, and dry-runs.
//
// # Ownership and drift
//
// A label and two annotations mark an object as a dependent
// (docs/dependents/ownership.md). docs/dependents/in-sync.md says when an object is
// written again.
//
// # Bad input
//
// [Dependents.Apply] checks all objects before its first write, and its error
// names each invalid one: a missing name, an unknown kind, a wrong scope, an object
// that is given twice, a label that is no text, a policy without a valid value, and
// an unknown annotation that ends in policy, interval, hint or fields.
// [Dependents.Check] checks one object.
package dependents
