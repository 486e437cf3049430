// Package ctrlx runs a flow under controller-runtime. Package flow decides the
// outcome of each pass. Package ctrlx writes it to the object as conditions, events
// and metrics, requeues the object, and wakes it when an awaited object changes.
//
//	clusters := ctrlx.New("Cluster", flow.Operations[*v1.Cluster]{Apply: put, Get: get, Delete: remove}, flow.Extensions[*v1.Cluster]{})
//	databases := ctrlx.New("Database", flow.Operations[*v1.Database]{Apply: putDB, Delete: removeDB}, flow.Extensions[*v1.Database]{
//		OwnerCheck: chain.New(checks.OwnerReady()),
//	})
//	err := errors.Join(clusters.SetupWithManager(mgr), databases.SetupWithManager(mgr)) // then mgr.Start
//
// Do these things first:
//
//   - Give the status of your type the field Conditions []metav1.Condition, and the type
//     the subresource status. [WithConditions] names another field.
//   - Register your kinds, and those that references may name, in the scheme of the
//     manager.
//   - Give the manager the rights below.
//   - Write Apply so that it may run again, and Delete so that it accepts a resource
//     that does not exist.
//
// docs/tutorial.md begins with an empty folder. The docs/ctrlx folder has a page for
// each further subject, and docs/README.md finds the page of a term.
//
// # Defaults
//
// Only Operations.Apply is required. [New] fills in the operations that are nil. Key is
// "namespace/name uid". Deleting and Generation read the metadata of the object. The
// controlling owner reference names the owner ([WithOwner] names another one). The
// status stores the token of an operation under way, in the condition
// [ConditionRecord], so that a restart finds it.
//
// # Writes
//
// A pass writes these parts of the object, each only if it changed:
//
//   - the conditions Ready, Reconciling, Stalled and Finished
//     ([flow.Outcome.Conditions]), the conditions [ConditionPaused] and
//     [ConditionRecord], and the rest of the status that operations changed, with
//     one merge patch and an optimistic lock. Conditions of other types stay;
//   - the finalizer, if there is a Delete or a hook on it, and at the moment when a deletion gets something to delete:
//     before Apply, and when Get reports that the cloud matches the spec. Both are links with the name Finalizer, outside
//     of all others. A pass that cannot write the finalizer does not call Apply. Before that moment an object can be
//     deleted at once;
//   - the operation under way in [ConditionRecord], before the pass ends;
//   - an event when the verdict changes, not for each attempt. It is a Warning for a failure, and for a block that only a
//     change ends. An ordinary wait is Normal, and names the first awaited object as related ([WithEventReporter],
//     [WithoutEvents]).
//
// Before the first Apply, discovery must find the subresource status of the kind. Without it, a pass could store neither
// conditions nor an operation. A pass fails until discovery finds it, and the error names the fix.
//
// The status of an object is never written to another object that was made under its name. A pass sees the writes of
// the last pass: until the cache has them, the object is read live. If the definition does not allow a status, the
// condition says so (StatusInvalid). If it lacks the conditions, the API server drops them, and an error in the log says so.
//
// # Operations under way
//
// A token is untrusted input: docs/flow/operations-under-way.md says what is checked before it is polled. Users of an
// object usually cannot write its status. If some can, sign the operations with [WithTokenKey].
//
// # Waiting
//
// [checks.Resolver] reads owners and references from the cache. A blocked pass
// waits for every object that it read. If one of them changes in a field that a
// check can see, its waiters are woken at once, and no other object is. No object
// polls: a resource whose awaited objects are all watched is requeued at the
// resync only. No wake-up is lost, because a pass registers each object before it
// reads it, and an event is compared with the object as it was read;
// internal/index has the argument.
//
// A kind is watched when a pass first reads it, or when checks.WithWaitingFor
// names it, in the version that the scheme prefers. A kind whose definition is
// not installed is watched once it is installed. Resources that wait for each
// other in a cycle are Stalled (DependencyCycle), and their conditions show the
// path. The objects that an operation or
// an error awaits ([flow.InProgress], [flow.WaitFor]) wake the resource like those
// of a check, and its delay stays.
//
// A resource that waits for itself ([checks.WithWaitingForSelf], or a Ref to it)
// is woken when another writer changes its status. Its own writes do not wake it,
// and it is not a cycle.
//
// When an owner of a thousand resources becomes ready, their passes begin as fast
// as the controller has workers. [WithWakeLimit] protects the cloud from that.
//
// The readiness of an object is its Ready condition, also for Azure Service Operator
// and Crossplane; see [WithReadiness].
//
// # Rights of the manager
//
// The manager needs the scheme and these rights:
//
//	its own kinds                                          get, list, watch, patch
//	their subresource status                               patch
//	awaited kinds                                          get, list, watch
//	events of events.k8s.io                                create, patch
//	users, groups, serviceaccounts, for WithImpersonation  impersonate
//	customresourcedefinitions of apiextensions.k8s.io      list, watch; without them, waiters of missing kinds are requeued
//
// A kind that the operator may not watch fails the pass with the answer of the server. It is tried again from time to
// time.
package ctrlx
