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
// Apply writes the objects that differ from the cluster, and waits until all of
// them are ready. Then the condition Ready is True. In a pass of ctrlx, the
// owner follows its objects, and these events cause a pass at once:
//
//   - a change of a spec or of data
//   - a change of a label or of an annotation
//   - a change of the readiness
//   - a deletion
//
// Nothing polls. The manager watches the kinds of the objects, if it is the
// cluster of [New]. An object of a kind that the operator may not list and watch
// is read live, and the log names the kind once. ctrlx.WithUnwatchedKinds names
// kinds that are not watched. Objects of another cluster are read again each minute until
// they are ready, and then at the resync of the owner. Such a reconciler has no
// Operations.Get: a pass that finds the owner in sync would leave Apply out.
//
// # A reconciler of your own
//
// Without ctrlx, Apply, Prune and Delete write the same, and no event wakes the
// owner. Return [Requeue] of their results. Watch the kinds of the objects, and
// map them to their owner with [Dependents.OwnerKey]. Its example is a whole
// reconciler, with a finalizer.
//
// # Deployment target
//
// In a pass with ctrlx.WithImpersonation or ctrlx.WithTargetClient, all objects
// are read and written with the client of the pass, if New got the manager.
// Nothing is done with the rights of the manager in its place: a missing right
// is an error. The manager watches none of these objects. They are read again
// each minute until they are ready, and then at the resync of the owner. The
// client should read live, because a deletion ends when it does not find the
// object. Its RESTMapper must know the kinds. A cluster that is no manager
// stays the cluster of all calls, and keeps its rights.
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
//	update-policy     Replace, Recreate, SsaMerge, SsaOverride
//	delete-policy     Delete, Orphan, OrphanOnApply, OrphanOnDelete
//	reconcile-policy  OnObjectChange, OnObjectOrComponentChange, Once
//	reapply-interval  60m, or any duration from 1s; zero and negative mean the default
//	status-hint       none, or has-observed-generation, has-ready-condition, conditions=A;B
//
// Adoption, for an object that exists:
//
//	           no owner   another owner   this owner
//	IfUnowned  adopt      not ours        take
//	Never      not ours   not ours        take
//	Always     adopt      adopt           take
//
// Under Always, an owner takes an object from another owner once within the
// reapply interval. If the other owner takes it back, the object is contested.
//
// Update, if another manager owns fields:
//
//	Replace      PUT: fields that the manifest lacks are removed, except finalizers
//	Recreate     delete, and create in a later pass; only if the manifest changes
//	SsaMerge     server-side apply: fields of other managers stay
//	SsaOverride  server-side apply: fields of managers with a prefix (kubectl) are removed
//
// SsaOverride leaves the fields that a manager set in another version of the API
// than that of the manifest. Replace removes them.
//
// Under both policies of server-side apply, a manifest that loses its
// serviceAccountName keeps the old account, because the API server has copied
// the name to the deprecated serviceAccount. Set serviceAccountName to default.
//
// Replace keeps these fields, if the manifest lacks them and this name does not
// own them. A null counts as absent, also under the policies of server-side
// apply.
//
//   - spec.replicas: leave it out if an autoscaler sets it
//   - of a Job, the selector and the labels
//   - of a PersistentVolumeClaim, the volume, the classes, and the annotations of
//     the controllers
//   - of a PersistentVolume, the claim, also one that this name owns, and its
//     annotation; the node affinity; the class of attributes
//   - of a Service, the class of its load balancer
//   - of a ServiceAccount, the secrets
//
// At each write, Replace removes all other fields that controllers add to an object: a
// caBundle, the rules of an aggregated ClusterRole, the data of a Secret. Give
// such an object the policy SsaMerge. Give a bare Pod the policy Recreate,
// because the API server refuses most changes.
//
// Deletion:
//
//	                Prune     Delete
//	Delete          deleted   deleted
//	Orphan          kept      kept
//	OrphanOnApply   kept      deleted
//	OrphanOnDelete  deleted   kept
//
// An object is gone if the API server does not find it, or if no definition of
// its kind exists. A kind may have a definition and not be served, as a
// CustomResourceDefinition without a served version, or an APIService whose
// server is down. Its deletion is then an error that says what to do. To read
// definitions, the operator needs the rights to get and list
// CustomResourceDefinitions and APIServices.
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
// Each policy is a link. [Dependents.ApplyChain] and [Dependents.DeleteChain]
// list the links, and [WithApplyChain] and [WithDeleteChain] change them:
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
// A link gets a [Request] and returns a [Result]. A link that you add may act
// before the inner links, after them, or in place of them. A link inside InSync
// runs only for an object that needs a write. Package component calls the links
// up to three times for such an object: it looks, tries the write, and writes.
// [Request.IsDryRun] tells these calls apart.
//
// [WithObserver] makes spans, metrics and log lines of the links. Package
// component does so itself.
//
// # Dry-run
//
// [Dependents.DryRun] and [Dependents.ReadOnly] return the same Dependents with
// other writes. The API server tries the writes of the first one. The second one
// writes nothing:
//
//	res, err := web.DryRun().ApplyObject(ctx, owner, settings(owner))
//	fmt.Println(res.Outcome, res.Fields) // "updated", and the fields that the write would correct
//
// Links inside DryRun run for writes and dry-runs. Links outside of it always
// run. [Result.Pending] tells them that nothing was written. A chain without the
// link panics in [New].
//
// # Ownership
//
// A label and two annotations mark an object as a dependent: the hash of its
// owner, the name of its owner, and the digest of its manifest. Ownership is
// checked in each pass. An object belongs to another owner if one of these
// statements holds:
//
//   - The label owner-id of this name, or of another one, names another owner.
//   - Another object is its controller (metadata.ownerReferences).
//   - It is part of an ApplySet, as of kubectl: it has the label
//     applyset.kubernetes.io/part-of, and the label owner-id is absent.
//
// A label and a controller of the manifest itself, or that this name wrote, name
// no other owner of an object with the label of this owner. An object with the
// labels of two names is an object of neither, so that none of them deletes it.
// Under Always, a write that takes an object removes the labels of other names
// and the reference to another controller.
//
// Every update and every deletion carries the UID and the resource version of
// the object as the pass read it. So an object that changed meanwhile causes a
// conflict and no write. A create never overwrites an object. Before a create
// and before a deletion, the object is read past the cache.
//
// # In sync
//
// An object in sync causes no write, and no read past the cache. It is in sync
// if all of these statements hold:
//
//   - It has the digest of the manifest.
//   - Each field of the manifest has its value. A field that the API server
//     changed while it stored the object counts as equal, until it changes again.
//     After a restart, the value of the first pass counts.
//   - The reapply interval has not passed since the last write.
//
// A field that another manager changed is corrected at once. If it is changed
// again within the reapply interval, the field is contested. The write of a new
// manifest, or of an adoption, is no correction. A label or an annotation of
// Ownership that is lost counts as a changed field. The next
// correction comes after the interval. The condition names the manager of the
// field, as in "spec.replicas is managed by kube-controller-manager". An object
// is read from the cache of the manager, even if its manifest is unstructured.
// An object of a kind that the scheme lacks is read live, unless the client
// caches unstructured objects (client.CacheOptions). A cache that strips
// managed fields hides changed fields until the reapply. Before a write, such an
// object is read live. The process remembers up to 16,384 objects and as many
// manifests. A forgotten object is compared again.
//
// An object that is deleted is created again at once, three times. Each later
// creation of the same manifest waits twice as long as the one before, from 10
// seconds to the reapply interval. The object is contested meanwhile. A Job with
// ttlSecondsAfterFinished is such an object.
//
// Fields that the manifest lacks are not compared, except inside an atomic list
// or map, as the selector of a Service: another manager changed it as a whole.
// A zero or empty value of the manifest differs from an absent one, if the kind
// keeps such values.
//
// An object with the policy Once is written once and never changed. It is
// created again if it was deleted. If only its digest is lost, it stays as it
// is. Under Recreate, an object without its digest is recreated only if a field
// differs, and the process has not seen it in sync.
//
// # Bad input
//
// [Dependents.Apply] checks all objects before its first write. Each of these
// inputs is an error that names the object:
//
//   - a nil object, a missing name, and generateName
//   - an unknown kind, and a wrong scope
//   - an object that is given more than once
//   - a label or an annotation that is no text
//   - a policy without a valid value
//   - an annotation of the name that ends in policy, interval or hint, and is
//     none of the above
//
// [Dependents.Check] checks one object.
package dependents
