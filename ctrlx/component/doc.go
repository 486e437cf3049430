// Package component reconciles components: objects whose controller applies a
// set of generated objects to the cluster, its dependents. It is a preset of
// chains over package ctrlx and package dependents:
//
//	shops := component.New[*v1.Shop]("shop.example.com", manifests.Templates(files, "*.yaml"))
//	err := shops.SetupWithManager(mgr) // then mgr.Start
//
// Package manifests makes the objects: from Go templates, a function, or the text
// of other software. The type of the component has a [Status] in its status, and
// the methods of [Component].
//
// # Set-up
//
// The definition of the component needs the status subresource and all fields
// of [Status], as controller-gen makes them. The operator needs these rights:
//
//   - of the component: get, list, watch and patch, and patch of its status;
//   - of each kind of dependents: get, list, watch, create, update, patch and
//     delete;
//   - of Namespaces: get and create, if missing ones are created;
//   - of CustomResourceDefinitions and APIServices: get and list;
//   - of events in the group events.k8s.io: create and patch.
//
// # A pass
//
// A pass generates the objects, checks all of them, and stores the inventory.
// It then applies wave after wave. A wave begins when all objects of the wave
// before are ready. Objects that the set lacks, and the inventory has, are
// deleted last. The component is Ready when all of this is done.
//
// Package ctrlx runs the passes: hooks, retries, time-outs, requeues,
// suspension, finalizers, conditions and impersonation are its own. Package
// dependents applies each object: its policies and its annotations count here,
// too.
//
//	PreCheck, Apply:                            DeleteCheck, Delete:
//	Inventory      stores it ahead              Inventory      loads it
//	└ Redundant    deletes redundant objects    └ Finalizers   waits for other controllers
//	  └ waves, each:                              └ Guard      waits for foreign instances
//	    Look         compares with the cache        └ deletion waves
//	    └ Namespaces creates missing ones
//	      └ Preflight  tries all writes
//	        └ writes
//
// [Reconciler.ApplyChain], [Reconciler.WaveChain] and [Reconciler.DeleteChain]
// list these links, and an option changes each chain. Look calls package
// dependents without writes, and Preflight calls it by dry-run.
//
// # Waves
//
// Annotations of an object set its waves, after the name of the reconciler and
// a slash, as in shop.example.com/apply-order. The values are whole numbers
// from -32768 to 32767; without the annotation it is 0.
//
//	apply-order   waves are applied in ascending order
//	purge-order   the object is deleted when all objects of this apply-order, and
//	              of its own, are ready. It is applied again only if its manifest
//	              changes
//	delete-order  deletion waves run in ascending order
//
// The objects of one apply order are several waves: namespaces, objects that
// the API server needs to accept others, other objects, API services and webhooks,
// whose servers are objects, and instances of managed types. The second of them has ServiceAccounts, Roles,
// ClusterRoles, PriorityClasses and RuntimeClasses. The objects of one delete
// order are deleted in the reverse order. Definitions come after all but the
// namespaces.
//
// All writes of a wave are first tried by dry-run. If the API server refuses
// one, nothing of the wave is written, except missing namespaces. So an object that the API server accepts
// only after another one needs a higher apply-order, unless the waves above
// separate the two. An example is a Pod, and the object that your admission
// policy requires. An object that is read from the cache is read live before it
// is written.
//
// # Managed types
//
// A CustomResourceDefinition and an APIService of the set define managed types.
// [WithManagedTypes] and [TypeConfiguration] add others. The deletion of the
// component is blocked (DeletionBlocked) while objects of managed types exist
// that the inventory lacks, whatever labels they have. Objects of a kind without
// the verb delete do not count, as the measurements of metrics.k8s.io. The condition names
// them. A redundant definition is not deleted either while such objects exist.
// It stays, too, while an object of its type stays. The same holds for a
// namespace and the objects of the component in it. A component in deletion
// keeps its own namespace and the definition of its kind, because each would
// wait for the other.
//
// A Namespace that the component created is deleted with all objects in it,
// even those of other owners. Give it the delete policy Orphan if others use
// it. A Namespace that existed before is kept ([Item.Adopted]), and the objects
// of the component in it are deleted. An orphan of an earlier set existed
// before, too, and so did each Namespace after the loss of the inventory. Only
// the annotation delete-policy with the value Delete on its own manifest asks
// for its deletion. An inventory from before the field Adopted does not know,
// so its Namespaces count as created: give those of others the policy Orphan.
// The update policy Recreate is invalid for a Namespace and for a definition,
// because no guard comes before an update. For other objects, the API server
// tries only the deletion: if it then refuses the new manifest, the object is
// gone.
//
// # Inventory
//
// The inventory is in the status of the component: at most 1000 objects in 200
// kB. It is stored before the
// first write of each new object. So a deletion needs no generator. The delete
// policy of an object is that of its own annotation in the last set, or else
// that of the component when the object is deleted.
//
// A component without an inventory, as after a restored backup, finds its
// objects by their label, in the kinds of [WithKinds]. It looks in all namespaces,
// or in its own if it may not list all. It never deletes an object that only the
// label names, because people copy labels. The condition Ready names such objects
// until they are deleted, lose the label, or get the content of a manifest. An
// object whose policy is not Delete is left out. A new component does not look: it
// had no finalizer. Stop the operator while a backup restores dependents after
// their component, because the component looks once.
//
// # Settings of a component
//
// A setting comes from an annotation of the dependent. Without it, the setting
// comes from a method of the component or of its GetSpec: see
// [PolicyConfiguration], [TypeConfiguration] and [ReapplyConfiguration]. The
// last source is an option of [New]. Everything is checked before the first
// write. An invalid value ends the pass (DependentInvalid), and the condition
// names the object. The intervals and the suspension of package ctrlx come from
// methods of the component or of its field Spec, whatever GetSpec returns.
//
// # No polling
//
// Dependents are read from the cache of the manager and followed: a change of
// the object, a deletion, and a loss of readiness cause a pass at once. The
// first pass that needs a kind starts its watch. A pass over a component in sync
// makes no write, and no read past the cache. A change that no watch shows is
// corrected after the reapply interval.
//
// The cache has all objects of a watched kind, in the namespaces of
// cache.Options. Name a kind with many large objects, such as
// CustomResourceDefinition or Secret, in ctrlx.WithUnwatchedKinds
// ([WithReconciler]), or give cache.Options a selector. Objects of such a kind
// are read live in each pass. Passes follow with the back-off of ctrlx while one
// is not ready, and at the requeue interval otherwise: drift stays until then. A
// kind that the operator may not list and watch is read in the same way, and the
// log names it once.
//
// The cache has each kind in the version that the scheme prefers. A manifest of
// another version is read live in each pass. For a HorizontalPodAutoscaler of
// v2, call SetVersionPriority of the scheme, because client-go prefers v1.
//
// With ctrlx.WithImpersonation or ctrlx.WithTargetClient, all objects are read
// live with the rights of that client. Another cluster is not watched: the next
// pass corrects drift, at the requeue interval at the latest. It must serve the
// kinds of the set. The cluster of the manager need not. Managed types of
// another cluster are exact: a pattern or an APIService is an error there. Give
// dependents.WithCluster if several clusters deploy to it. If a component gets
// another target, its objects in the former cluster stay.
//
// # Conditions
//
// The message of the condition Ready ends with the cause:
//
//	wave 2 of 3: 1 of 2 objects are ready: Deployment web: ReplicaFailure: exceeded quota
//
//	Processing          dependents are not ready, or redundant objects are left
//	DeletionProcessing  dependents are being deleted
//	DeletionBlocked     foreign objects or finalizers must go first
//	DependentInvalid, DependentNotOurs, DependentContested: see package dependents
//
// Status.Progress counts waves and objects.
//
// # Costs
//
// A pass over dependents in sync writes nothing and reads only the cache. Its
// time grows linearly with the number of dependents. A process keeps about 1.3
// kB for each dependent in addition to the cache: its entry in the index of
// wake-ups, its readiness, and the digests of its manifest. The inventory takes
// 100 to 200 bytes of the status for each dependent. tools/benchmarks/README.md has
// the figures.
//
// # Plan
//
// [Reconciler.Plan] returns what a pass would write: by the same chains, with a
// dry-run in place of each write. An object or a finalizer of others that would
// block the pass is a problem of the plan.
package component
