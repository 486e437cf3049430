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
// Do these things first:
//
//   - Make the definition with controller-gen: with the subresource status, and with all
//     fields of [Status].
//   - Give the operator the rights below.
//   - Choose the name of the reconciler for good: it is the prefix of the annotations
//     and of the label of the owner.
//   - Give a Namespace that others use the delete policy Orphan.
//   - Run [Reconciler.Plan] first in a cluster that has such objects already.
//
// The pages of docs/component have the rules of waves, managed types, the inventory and
// watches. examples/component is a whole operator.
//
// # Rights
//
// The operator needs these rights:
//
//   - of the component: get, list, watch and patch, and patch of its status;
//   - of each kind of dependents: get, list, watch, create, patch and delete;
//   - of Namespaces: get and create, if missing ones are created;
//   - of CustomResourceDefinitions and APIServices: get and list;
//   - of events in the group events.k8s.io: create and patch.
//
// # A pass
//
// A pass generates the objects and checks all of them. It then applies wave after
// wave. A wave begins when all objects of the wave before are ready. It stores its
// objects in the inventory, and then writes them. Objects that the set lacks, and the inventory has, are
// deleted last. The component is Ready when all of this is done.
//
// Package ctrlx runs the passes, with its hooks, intervals and options. Package
// dependents applies each object, with its policies and annotations. Nothing polls
// (docs/component/watches.md).
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
// fmt.Println of a [Reconciler] lists these links and those around one dependent. An
// option changes each chain.
//
// # Waves
//
// Annotations of an object set its waves, after the name of the reconciler and
// a slash, as in shop.example.com/apply-order. The values are whole numbers
// from -32768 to 32767; without the annotation it is 0.
//
//	apply-order   waves are applied in ascending order
//	purge-order   the object is deleted when all objects of this apply-order, and
//	              of its own, are ready. Its reconcile-policy says which changes
//	              apply it again
//	delete-order  deletion waves run in ascending order
//
// The objects of one apply order are several waves: namespaces and accounts come first,
// webhooks and instances of managed types last. All writes of a wave are first tried by
// dry-run. docs/component/waves.md has the rules.
//
// # Managed types
//
// The definitions of the set, and [WithManagedTypes], name managed types. Objects of
// them that the inventory lacks block the deletion of the component.
//
// # Settings of a component
//
// A setting comes from an annotation of the dependent, or else from a method of
// the component or of its GetSpec, or else from an option of [New]. An empty value
// means the next source. Each of these methods counts on its own:
//
//	GetAdoptionPolicy() dependents.AdoptionPolicy
//	GetUpdatePolicy() dependents.UpdatePolicy
//	GetDeletePolicy() dependents.DeletePolicy
//	GetMissingNamespacesPolicy() MissingNamespacesPolicy
//	GetReapplyInterval() time.Duration
//	GetAdditionalManagedTypes() []metav1.GroupVersionKind
//
// An invalid value ends the pass before the first write (DependentInvalid), and
// the condition names the object. The intervals and the suspension of package
// ctrlx come from methods of the component or of its field Spec.
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
package component
