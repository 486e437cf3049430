// Package ctrlx runs a flow under controller-runtime: it takes what package flow says of a pass and does with it what a
// Kubernetes operator does.
//
//	clusters := ctrlx.New("Cluster", flow.Operations[*v1.Cluster]{Apply: put, Get: get, Delete: remove}, flow.Extensions[*v1.Cluster]{})
//	databases := ctrlx.New("Database", flow.Operations[*v1.Database]{Apply: putDB, Delete: removeDB}, flow.Extensions[*v1.Database]{
//		OwnerCheck: chain.New(checks.OwnerReady()),
//	})
//	err := errors.Join(clusters.SetupWithManager(mgr), databases.SetupWithManager(mgr)) // then mgr.Start
//
// # What it fills in
//
// Of the operations only Apply is required. Where they are nil, Key is "namespace/name uid", Deleting and Generation
// are those of the object, the owner is the one of the controlling owner reference ([WithOwner] names another), and the
// token of an operation under way is kept in the annotation [OperationAnnotation], so that a restart finds it.
//
// # What it writes
//
// The conditions Ready, Reconciling and Stalled ([flow.Outcome.Conditions]) with the rest of the status that operations
// changed, by one merge patch with optimistic lock, and only if something changed; conditions of others stay. A finalizer
// before the first pass, if there is a Delete. An event when the verdict changes, not at each attempt. What was read of an
// object is never written to another one that was made anew under its name. A pass sees what the one before has written: until
// the cache has that, the object is read live. A status that the definition does not allow is said to be so (StatusInvalid).
//
// # Waiting
//
// Owners and references are read through [checks.Resolver], from the cache. What a pass reads there it waits for, if it
// is blocked: when the object changes in anything that a check can see of it, its waiters are woken at once, and nobody
// else. Nobody polls: a resource whose refs are all watched comes back by itself only at the resync. No wake-up is
// lost, since each object is registered before it is read, and compared with what was read when it changes;
// internal/index has the argument. Kinds are watched when they are first read, or named by checks.WithWaitingFor, in
// the version that the scheme prefers. One whose definition is not installed yet is watched from then on. Resources
// that wait for each other in a circle say so in their condition, with the path.
//
// A watch may be broken without anybody noticing, and after an outage of the API server it takes up to a minute until
// it is there again; the cache is as old as its watch. So each object that is waited for is read live every three
// minutes ([WithPollInterval]), once for all of its waiters and twenty in a second at most, and whoever has not seen
// what is read is woken, and sees that. After an outage that is noticed so, all are read.
//
// A thousand resources of one owner that becomes ready go on as fast as the
// controller has workers. [WithWakeLimit] spares the cloud that.
//
// How ready an object is its Ready condition says, for the generation that it has; of Azure Service Operator's and of
// Crossplane's objects, too. What says nothing is not ready. For kinds without that condition there is [WithReadiness].
//
// # Hooks
//
// [Reconciler.WithPostReadHook] and its four siblings add functions at five places of a pass. They are links like all others,
// so that [Reconciler.Flow] lists them and observers see them:
//
//	post-read        Pass, behind all other links there; also while deleting
//	pre-reconcile    PreCheck, the last link
//	post-reconcile   PostCheck, the last link: an error means that the object is not ready
//	pre-delete       DeleteCheck, the first link
//	post-delete      Delete, around all other links: an error keeps the finalizer
//
// While an operation is under way that operation is called, and nothing in front of it but the links on Pass.
//
// # Errors
//
// A [RetriableError], wherever it is in an error, says when to come back. A reconcile.TerminalError is tried again when the
// object changes, and at the resync. Errors of the Kubernetes API are read by [Errors], after the readers that
// flow.WithErrors is given: the reason of the condition is the reason of the API server, a conflict is Fast and makes no
// event, a delay that the API server asks for is followed. [ErrorCodes] is the table.
// Rules on Classify come before all that and may say otherwise. An error that joins several with a retriable or a
// terminal one among them is classified as one error; of others that are joined the one that waits longest decides.
//
// # A Reconcile that exists already
//
// [Guards] run checks in a Reconcile method of the user's own: they find the owner and references, write the conditions
// that say why the object waits, and requeue it. They wake nothing. A [Resolver] serves chains that the user runs.
//
// # Many kinds
//
// [SetupAll] sets up all kinds of a flow.Registry with a manager, one line each. Their extensions stay typed.
//
// # What objects say of themselves
//
// [RequeueConfiguration], [RetryConfiguration], [TimeoutConfiguration] and [SuspendConfiguration] are looked for once, in [New]: on
// the type itself, and else on its field Spec. A duration that is zero or negative is one that is not given.
//
// The clock of a time-out begins with the first pass that applied the object and did not find it ready: an operation goes
// on, or PostCheck blocks. It ends when the object is ready or deleted, and begins again when its generation changes, or an
// annotation, or the generation of what was read as its owner or as a reference (where there is none, as in a Secret, anything
// of it). When the time is over the object is said to have failed (Timeout, Stalled), but for retriable errors, which still are worked on (Timeout,
// Reconciling); passes go on as before. What blocks in front of Apply keeps its own reason. The clock is kept in the
// condition [ConditionProcessing], so that it outlives a restart.
//
// An object that says that it is suspended is left alone, but for its deletion and for links of the user on Pass.
//
// # Another cluster, another identity
//
// With [WithTargetClient] or [WithImpersonation] operations, checks and hooks get from [ClientFromContext] a client that belongs
// to the resource: of the cluster that it is deployed to, or with the rights of whom it names.
//
// # What the manager needs
//
// Nothing but the scheme, and these rights:
//
//	its own kinds                                          get, list, watch, patch
//	their subresource status                               patch
//	what is waited for                                     get, list, watch
//	events of events.k8s.io                                create, patch
//	users, groups, serviceaccounts, for WithImpersonation  impersonate
//	customresourcedefinitions of apiextensions.k8s.io      list, watch; without them it is asked from time to time for kinds
//	                                                       that are not installed
//
// A kind that must not be watched fails the pass with what the server said, and is asked for again from time to time.
//
// # What asks for a pass
//
// A change of the spec, of an annotation, of the owner references; a deletion; a finalizer that somebody takes away; a change of
// what is waited for; the delay of the last outcome. Labels and the status do not.
package ctrlx
