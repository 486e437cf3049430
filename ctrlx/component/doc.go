// Package component reconciles components: objects whose controller applies a set
// of generated objects to the cluster, its dependents. It is a preset of chains
// over package ctrlx and package dependents:
//
//	shops := component.New[*v1.Shop]("shop.example.com", component.Templates(files, "*.yaml"),
//		component.WithKinds(deployments, configMaps),
//	)
//	err := shops.SetupWithManager(mgr) // then mgr.Start
//
// A [Generator] makes the objects: a function ([GeneratorFunc]) or Go templates
// ([Templates]). The type of the component has a [Status] in its status, and the
// methods of [Component].
//
// # A pass
//
// A pass generates the objects, checks all of them, and stores the inventory. It
// then applies wave after wave. A wave begins when all objects of the wave before
// are ready. Objects that the set lacks, and the inventory has, are deleted last.
// The component is Ready when all of this is done.
//
// Package ctrlx runs the passes: hooks, retries, time-outs, requeues, suspension,
// finalizers, conditions and impersonation are its own. Package dependents applies
// each object: its policies and its annotations count here, too.
//
//	PreCheck, Apply:                            DeleteCheck, Delete:
//	Inventory      stores it ahead              Inventory      loads it
//	└ Redundant    deletes what is left over    └ Finalizers   waits for those of others
//	  └ waves, each:                              └ Guard      waits for foreign instances
//	    Look         compares with the cache        └ deletion waves
//	    └ Namespaces creates missing ones
//	      └ Preflight  tries all writes
//	        └ writes
//
// [Reconciler.ApplyChain], [Reconciler.WaveChain] and [Reconciler.DeleteChain] list
// these links, and an option changes each chain.
//
// # Waves
//
// Annotations of an object set its waves, after the name of the reconciler and a
// slash, as in shop.example.com/apply-order. The values are whole numbers from
// -32768 to 32767; without the annotation it is 0.
//
//	apply-order   waves are applied in ascending order
//	purge-order   the object is deleted after the wave of this number, or the last
//	              one, is ready. It is applied again only if its manifest changes
//	delete-order  deletion waves run in ascending order
//
// The objects of one apply order are several waves: namespaces, objects that the API
// server needs to accept others, other objects, API services, and instances of
// managed types. The second of them has ServiceAccounts, Roles, ClusterRoles,
// PriorityClasses and RuntimeClasses. The objects of one delete order are deleted in
// the order instances, API services, others, definitions of types, namespaces.
//
// All writes of a wave are first tried by dry-run. If the API server refuses one,
// nothing of the wave is written. So an object that the API server accepts only
// after another one needs a higher apply-order, if the waves above do not separate
// both: a Pod and the object that an admission policy of yours asks for. An object
// that is read from the cache is read live before it is written.
//
// # Managed types
//
// A CustomResourceDefinition and an APIService of the set define managed types.
// [WithManagedTypes] and [TypeConfiguration] add others. The deletion of the
// component is blocked (DeletionBlocked) while objects of managed types exist that
// the inventory lacks, whatever labels they have. The condition names them. A
// definition that is not needed any more is not deleted either while such objects
// exist. It stays, too, while an object of its type stays. The same holds for a
// namespace and the objects of the component in it.
//
// A Namespace of the set is deleted with all objects in it, also with those of
// others, and also if it existed before the component. Give it the delete policy
// Orphan if others use it.
//
// # Inventory
//
// The inventory is in the status of the component: at most 1000 objects in 200 kB
// ([ErrTooLarge]). [WithStore] stores it elsewhere. It is stored before the first
// write of each new object. So a deletion needs no generator. A component without
// an inventory finds its objects by their label, in the kinds of [WithKinds] and in
// all namespaces. It never deletes an object that only the label names, because
// people copy labels. The condition Ready names such objects until they are deleted
// or lose the label. An object whose policy is not Delete is left out.
//
// # Settings of a component
//
// A setting comes from an annotation of the dependent, or else from a method of the
// component or of its GetSpec ([PolicyConfiguration], [TypeConfiguration],
// [ReapplyConfiguration]), or else from an option of [New]. The intervals of
// package ctrlx work in the same way. Everything is checked before the first
// write. An invalid value ends the pass (DependentInvalid), and the condition names
// the object.
//
// # No polling
//
// Dependents of the kinds of [WithKinds] are read from the cache of the manager and
// followed: a change of the object, a deletion, and a loss of readiness cause a
// pass at once. Name all kinds that the generator makes, except custom resources
// whose readiness does not matter. A pass over a component in sync makes no write,
// and no read past the cache. A change that no watch shows is corrected after the
// reapply interval.
//
// With ctrlx.WithImpersonation or ctrlx.WithTargetClient, all objects are read live
// with the rights of that client. Managed types of another cluster are exact: a
// pattern or an APIService is an error there.
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
//	ObserveOnly         the component is only observed, and a pass would write
//	DependentInvalid, DependentNotOurs, DependentContested: see package dependents
//
// Status.Progress counts waves and objects. Each wave that becomes ready makes one
// event (WaveReady).
//
// # Plan
//
// [Reconciler.Plan] returns what a pass would write: by the same chains, with a
// dry-run in place of each write. A component with the annotation observe-only
// (true), and each component of a reconciler with [WithObserveOnly], gets the plan
// into its condition. Nothing else is written, except the finalizer of the component.
package component
