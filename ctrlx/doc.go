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
// conditions nor an operation. A pass fails until discovery finds it, and the error names the fix. A manager of a test
// that has no API server implements APIResources(context.Context) (*metav1.APIResourceList, error).
//
// The status of an object is never written to another object that was made under its name. A pass sees the writes of
// the last pass: until the cache has them, the object is read live. If the definition does not allow a status, the
// condition says so (StatusInvalid). If it lacks the conditions, the API server drops them, and an error in the log says so.
//
// # Operations under way
//
// A token may hold the address to which a poll sends the operator's credentials. So it is untrusted input. Each stored
// operation names its object by kind and UID. One that was copied from another object, or restored from a backup, is
// dropped: an event says so (OperationCopied), and the object starts its own operation. The status is a place where
// users of an object usually cannot write. If some can, sign the operations with [WithTokenKey]. The link
// OperationVerified on EntryCheck blocks an object whose stored operation cannot be read or has no valid signature
// (OperationUnverified). It is neither polled nor started again, because it may be under way in the cloud. A person who
// finds no operation there removes the record from the status, and the object continues.
//
// A pass changes the stored operation only if it is the one that the pass has read. A leader that was paused while
// another one led drops its own operation, writes nothing, and reads the object again.
//
// # A restart
//
// A restart of the operator is quiet: an object that is settled causes no call of the cloud, no write and no event.
// An object is settled if all of these statements hold:
//
//   - It is Ready for its generation. No operation is under way, and no user deletes it.
//   - The condition [ConditionRecord] stores a success of this object, by its UID. The success is younger than the
//     resync, or than the requeue interval of the object ([RequeueConfiguration]).
//   - The generation, the annotations and the owner references are those of that success. The finalizer is there.
//   - The owner and the references are those that the passes of that success read, from the first pass of its operation
//     to the last. The UID, the generation, the labels, the annotations, the readiness, and the status without
//     conditions count. Of an object without a generation, such as a Secret, the UID and the resource version count.
//     Objects that a check before Apply follows ([checks.Follow]) count as read.
//     Of a set its objects count in the same way, up to 100 of them.
//   - The executable of the operator, its arguments and the revision ([WithRevision]) are those of that success.
//
// The first pass over an object in a process finds this out. It runs the links on Pass, the post-read hooks, EntryCheck
// and OwnerCheck, which may block or ignore the object as in every pass. Then the link QuietRestart on Get reports that
// the cloud matches the spec, and leaves out the rest: Get, PreCheck, Apply, PostCheck and their hooks. They proceeded
// after the success. Every later pass is a whole one, because it has a cause.
//
// The next pass comes at the resync, which counts from the success and not from the restart. It comes up to a quarter
// of the resync earlier, by a digest of the UID, so that objects that were applied together are spread. With a requeue
// interval it comes up to 5 % later.
//
// A restart therefore trusts the cloud as the running operator did: a change that only the cloud knows is found at the
// resync. The same holds for a pass whose outcome could not be stored before the process ended. The library cannot see other inputs of Apply, such as a file, an environment variable, or an object that Apply
// reads by a client of its own. Name them by [WithRevision], or give [WithoutQuietRestart]. A person who wants a pass
// now changes an annotation. A change of the leader is a restart, too. If the executable or the arguments differ from
// replica to replica, each change of the leader reconciles every object.
//
// The price is one write of the status for each object and resync: 10,000 objects and a resync of an hour cost three
// writes a second. A success that was stored within half of the resync stays. No success is stored, so that the first
// pass is a whole one, in these cases: the interval is shorter than ten minutes; the passes read more than 20 objects
// and sets, or a set of more than 100 objects; something changed while the operation was under way; Operations.Token is given;
// an operation called [Follow].
//
// # Objects that vanish
//
// The API server may delete an object although a finalizer was added a moment ago (https://issue.k8s.io/77988). A pass
// that has called Apply notices this when it writes the object. After the pass, the event of the deletion shows it,
// because the object still has its finalizer. The Reconciler then takes the object, as it has it in memory, through the
// flow as a deleted one: DeleteCheck, the hooks and Delete run, and a deletion under way is polled.
// ctrlx writes nothing to the object meanwhile. It deletes nothing while another object has the name of the first one:
// that object usually has the same name in the cloud. It adopts the resource when it gets its finalizer.
//
// The event Orphaned about the namespace, a log line and [MetricOrphaned] report a resource that was not deleted: no
// Delete is given, the deletion did not end within two hours, its next retry would be later than that, or the manager
// stopped. A process that is killed reports nothing. Delete must accept a resource that does not exist, as always.
//
// A person who removes the finalizer of an object during an Apply causes the same Delete. If a DELETE is under way at that
// moment, it is polled until it ends. Use [checks.Release] to let
// an object go without one.
//
// # Objects of other controllers
//
// Give flow.Extensions.EntryCheck the check that ignores an object, because a pass over an object in sync leaves
// PreCheck out. A pass that ends with [checks.Ignore] writes nothing at all: no finalizer, no condition, no event.
// While a user deletes the object, it neither calls Delete nor removes a finalizer. An event of an awaited object, a
// change of the object, or the delay of the check causes the next pass. A link on Pass and a post-read hook run
// before EntryCheck, so also for these objects. A block with [checks.WithStatusKept] writes nothing to the object
// either.
//
// # Finished objects
//
// An object whose condition Finished is True for its present generation and names its UID is not reconciled: no pass, no call of the
// cloud, no write and no requeue, also after a restart. A pass that ends with [flow.Outcome.Final] writes that
// condition. These start passes again:
//
//   - a change of the spec, for example to suspend the object. The next pass then removes Finished, or writes it again;
//   - a deletion;
//   - a person who removes the condition from the status, and then changes an annotation. The annotation alone does
//     nothing.
//
// A status that was restored under another object does not count, because the message of Finished ends with the UID.
//
// [checks.Release] lets a deleted object go: the finalizer is removed without a Delete, and the event Released says
// why.
//
// # Retry now
//
// A user asks for a pass now with an annotation:
//
//	kubectl annotate database orders windlass-go.github.io/requestedAt="$(date -Is)" --overwrite
//
// Each new value of [RetryAnnotation] is one request. The annotation of Flux,
// reconcile.fluxcd.io/requestedAt, has the same effect. The pass runs at once,
// whatever the object waits for: a delay, a change, or the end of an operation,
// which is polled and not started again. The request drops the failure counts
// of the back-off, and the clocks of time-outs start again. A finished object
// ignores requests. A suspended object stays suspended.
//
// The pass that handled a request writes its value with its conditions:
//
//   - into status.lastHandledReconcileAt, if the status of the type has this
//     string field, as in the types of Flux;
//   - otherwise into the condition [ConditionRecord].
//
// If both annotations are set, the value is "own,flux". A value that is longer
// than 200 bytes or not printable is replaced by a digest. A pass that writes
// nothing to the object ([checks.Ignore], [checks.WithStatusKept]) does not
// write the value either. A restart does not repeat a request.
//
// A request does not clear the verdicts that a [checks.Cached] remembers. Make the
// annotations a part of its key if a request must run the check again.
//
// # The deadline of a pass
//
// A pass has a deadline of 10 minutes ([WithPassTimeout]). After it the pass
// fails (PassTimeout): the message names the point, and the back-off retries
// the pass. The token of an operation that has started is stored, and the
// conditions are written. An answer that the cloud gave after the deadline
// keeps its own reason. A manager that stops cancels the pass instead, and
// writes nothing.
//
// An Apply that ignores its context cannot be interrupted. It holds its worker
// until it returns. The rest of the pass then has an expired context.
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
// The readiness of an object is its Ready condition, for its present generation.
// That holds for the objects of Azure Service Operator and of Crossplane, too. An
// object without that condition is not ready, except a ConfigMap and a Secret.
// [WithReadiness] sets the readiness of other kinds.
//
// # Root causes
//
// An object may wait for an object that waits for another one. Its root cause is
// the object at the end, which waits for no other one, or the cycle. If the
// root cause is no awaited object of its own, and the message of Ready does not name
// it, the message ends with it:
//
//	the network is not ready; root cause: Subnet.example.com apps/batch was not found
//
// The event about the wait has the message of that time, and the first awaited object
// as its related object. [Reconciler.Explain] and [Why] show the root cause, too. It
// is known across all reconcilers of a manager. An object of another operator counts as the end of a chain. Of
// several root causes, the message names a cycle first, then a missing object, then
// one that is not ready. The message has no reason of the root cause, because each
// change of it would write the status of all waiters. Explain and Why have it. For the
// same reason, checks see no message in the readiness of an object that waits itself.
// So a message quotes an awaited object only if that object is the end of the chain.
//
// A pass looks at its own awaited objects only, and reads nothing for the root
// cause. When the root cause changes, so do the waiters' conditions, one step of
// the chain after the other. A pass whose root cause is another one, and whose
// status stays, wakes the waiters itself. A change of the distance writes nothing.
// After a restart, a message keeps the root cause until the awaited object has had
// a pass.
//
// The last five passes of about 1,000 objects that are not ready are kept for each
// reconciler: time, verdict, deciding link and duration. Passes that leave an
// object Ready are not recorded. The verdict of each link of the last pass needs
// WithFlow(flow.WithExplanations(n)).
//
// # Sets and following
//
// A check may list a set of objects ([checks.Query]) and wait for it, as [checks.Unused] and [checks.Unique] do. An object
// that waits for a set is woken when an object enters the set, leaves it, or changes in a way that a check can see. With
// Query.NamesOnly only the membership, the UID and the deletion of an object count. A change of the object itself does not
// wake it. [WithIndex] defines the fields by which queries select. An event costs the same whatever the number of other
// sets is, if each of their selectors has an equality, a value of a field, or a namespace of its own.
//
// A query is an error, and not an empty set, in these cases:
//
//   - The selector is not valid.
//   - The kind is missing, forbidden or not watched.
//   - The cache lacks the namespace of the query. Or the query is over all namespaces, and the cache has only some.
//   - No index has the field, or the function of the index panicked.
//   - The set has more than 10,000 objects, and the query is not NamesOnly.
//
// A wait for a set counts as a wait for each of its objects when cycles are looked for, up to 1,000 objects.
//
// An object also follows what its checks follow ([checks.Follow]), while it is Ready and while it fails. References are
// followed unless a check has [checks.WithoutFollowing], because a rotated Secret must reach the cloud. Owners and sets are
// followed with [checks.WithFollowing] only, because most changes of an owner do not concern its children, and an owner may
// have thousands of them. An operation follows objects with [Follow]. [WithUnfollowedKinds] leaves out kinds. These changes of a followed object cause a pass:
//
//   - It appears or vanishes, or its UID changes.
//   - Its generation changes. If it has none, as a Secret, anything but its metadata changes. If only its metadata is
//     watched, each write is a change.
//   - Its readiness changes, or it becomes or ceases to be of the present generation.
//   - Its deletion is requested.
//
// Other changes of the status, the labels and the annotations cause no pass. A followed set causes one when an object
// enters, leaves, or changes in this way. If a followed object changes while an operation is under way, a whole pass
// follows the operation.
//
// Two objects may change each other by their passes. From the sixth pass in a row that a followed object causes and that
// changes no verdict, the passes are delayed, from one second up to ten minutes. The condition Ready then names both. No
// pass is dropped, and a change of the verdict ends the delay.
//
// # Other sources
//
// The manager watches what checks read, so most operators need no other source.
// These options add sources to the controller of a reconciler, as the builder of
// controller-runtime does:
//
//	WithOwns(object, predicates...)              Owns
//	WithWatches(object, events, predicates...)   Watches
//	WithSource(source)                           WatchesRawSource
//	Reconciler.Poke(name)                        an event from outside of the cluster
//
// An event of such a source causes a whole pass at once, whatever the state of
// the object. It does not count for [WithWakeLimit]. The events of the first
// list, after a start, cause no pass of their own: see "A restart".
//
// There is no option for the builder itself, because its event filters, options
// and name also apply to the events that the reconciler needs: a change of the
// spec, a deletion, an annotation, and conditions that another writer changed.
// No predicate of a source can hide these events. [WithWatches] of the reconciled
// kind adds causes of a pass. The builder would also pass on panics of map
// functions, which end the process.
//
// An operation under way is polled at once after [Reconciler.Poke], so an event
// of the cloud replaces short poll intervals. Return a long delay from
// [flow.InProgress] then, because an event may be lost on its way.
//
// # Guarded references
//
// [WithGuard] adds a finalizer to each object that a resource refers to, before
// Apply, and removes it when the last resource of the kind releases the object. So
// a Secret or a Cluster stays until the cloud does not use it any more, although a
// user has deleted it. The links have the name Guard: on PreCheck, on Get for a
// resource that is in sync, and on Pass, where a Ready or deleted resource releases
// what it does not use.
//
// If a user deletes a guarded object, and not the resource, a check such as
// [checks.ReferenceReady] may wait for an object that goes only when the resource
// releases it. The resource is then Stalled (DependencyCycle): refer to another
// object, or delete the resource. In a deletion the check proceeds.
//
// A pass that comes to Apply reads the metadata of each referenced object live. A
// change of the references writes the resource once, and the release of an object
// writes it twice. Each release lists a few resources, and the last one lists all
// of them twice.
//
// # A broken watch
//
// A watch may be broken without an error. After an outage of the API server it may
// take a minute to return, and the cache is as old as its watch. So the manager
// asks for the present version of each awaited kind, and of the reconcilers' kinds,
// twice in each interval ([WithPollInterval], 3 minutes): one request for a kind, for
// a list of one object. API servers confirm a watch about once a minute, so a watch
// that works has reached that version by the next request. If it has not, the manager
// compares the versions of the objects with the cache, by a list of their metadata.
// If an awaited object differs, the passes of its waiters read the kind live until
// the cache has caught up. The waiters that have not seen the object are woken. The
// waiters of sets are woken in each tick meanwhile. If an object of a reconciler
// differs, it gets a pass, which reads it live. A new object that the cache does not
// have gets none, because the cache may select objects: an error in the log says so.
// After an outage that a request finds, the manager compares all objects at once.
//
// If the cache has only some namespaces, its informers report no version. Then the
// manager compares the objects in each tick.
//
// The API server may refuse these requests: the operator has lost a right, or the
// version is no longer served. Then the waiters of the kind are woken, and their
// passes fail with that answer. No pass reads the kind from the cache until the
// manager can read it again.
//
// # Hooks
//
// [Reconciler.WithPostReadHook] and its four siblings add functions at five places of a pass. They are links like all
// others, so that [Reconciler.Flow] lists them and observers see them:
//
//	post-read        Pass, inside of all other links there; also while deleting
//	pre-reconcile    PreCheck, the last link; around Get, if it reports that the cloud matches the spec
//	post-reconcile   PostCheck, the last link: an error means that the object is not ready
//	pre-delete       DeleteCheck, the first link
//	post-delete      Delete, around all other links: an error keeps the finalizer
//
// While an operation is under way, a pass only polls it: no hook runs before it except
// a post-read hook.
//
// # Errors
//
// A [RetriableError] anywhere in an error sets the delay. A reconcile.TerminalError is retried when the object changes,
// and at the resync. [Errors] reads errors of the Kubernetes API, after the readers of flow.WithErrors: the reason of the condition is the reason of the API server, a conflict is Fast and
// makes no event, a delay that the API server asks for is followed. [ErrorCodes] is the table. Rules on Classify come
// before all that and may say otherwise. An error that joins several with a retriable or a terminal one among them is
// classified as one error; of others that are joined the one that waits longest decides.
//
// # Telemetry
//
// Each reconciler has an observer of package otelx. It uses the logger of the controller and the global OpenTelemetry
// providers, which may be set later. [WithTelemetry] sets its options, and [WithoutTelemetry] leaves it out.
//
// The controller's logger gets one line at verbosity 0 when the verdict about an
// object changes, and a line at verbosity 1 for each repetition. The verdict is
// the state, the reason, the point and the link: blocked, failed, an operation
// under way, ready, finished or gone. The line has the previous verdict. A
// change to a failure is an error of the logger, with the class and up to 1000
// bytes of the error's text. So a thousand objects that wait log a thousand
// lines once. After a restart, each object that is not ready logs its line
// again, and an object that is ready logs nothing. These passes log no error: a
// conflict, after which the object is read again, and a pass whose error
// Reconcile returns, because controller-runtime logs that error.
//
// A failed pass counts in the metrics of controller-runtime:
//
//	controller_runtime_reconcile_errors_total                each failed pass
//	controller_runtime_reconcile_total{result="error"}       the same
//	controller_runtime_terminal_reconcile_errors_total       failed passes that only a change helps
//
// It counts in controller_runtime_reconcile_total twice, because Reconcile
// returns no error for it: also as "requeue_after" or "success". A block and a
// conflict are no failures. [MetricBlocked] and [MetricFailed] are gauges of the
// objects that are blocked or failed now. [Guards] count nothing.
//
// A second observer that writes log lines makes New panic. Replace flow.WithObserver(otelx.New(...)) in [WithFlow] by
// WithTelemetry(...).
//
// # Other writers of the conditions
//
// A reconciler owns the conditions Ready, Reconciling and Stalled of its
// objects. If another controller or a person changes or removes one of them, a
// pass follows at once and corrects it. An event names the writer
// (ConditionsOverwritten), as far as the managed fields of the object show it,
// and so does a log line.
//
// If the writer overwrites the conditions again, the next correction follows
// after 1 s, then after 2 s, and so on up to 10 minutes. So two controllers
// never spin. Passes for other reasons are not delayed, and correct the
// conditions, too. Without a foreign write for 20 minutes, the delays start
// again. At most 4096 objects have delays of their own; all further ones are
// corrected after 10 minutes, without a message.
//
// A write that changes both these conditions and a status that the object itself
// awaits ([checks.WithWaitingForSelf]) causes one pass, with the delay of the
// correction. A person who approves such an object must not replace its
// conditions: patch the field, or use server-side apply.
//
// Conditions of other types, and changes of the time of the last transition,
// cause no pass. Nothing corrects an object that is finished, or whose last pass
// left the status as it was ([checks.Ignore], [checks.WithStatusKept]). The
// latter objects need about 20 bytes of memory each, all others none.
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
// # Settings of an object
//
// [New] looks once for the methods of [RequeueConfiguration], [RetryConfiguration],
// [TimeoutConfiguration] and [SuspendConfiguration]: on the type itself, or else on its
// field Spec. A zero or negative duration means that it is not set.
//
// The clock of a time-out begins with the first pass that applied the object and did not
// find it ready: an operation is under way, or PostCheck blocks. It ends when the object
// is ready or deleted. It begins again when one of these changes: the generation of the
// object, an annotation, or the generation of its owner or of a reference. A Secret has
// no generation; there each write counts. When the time is over, the object has failed
// (Timeout, Stalled). After a retriable error it is still Reconciling (Timeout). Passes
// continue as before. A block before Apply keeps its own reason. The condition
// [ConditionRecord] keeps the clock over a restart. With [WithTimeoutFromStart] the
// clock begins earlier, so that errors before the first Apply become a time-out, too.
//
// A suspended object is blocked on Pass, inside of all links of the user there.
// These links run before and after the block: next returns an outcome with the
// reason [ReasonSuspended], and the pass writes their changes of the status. So
// a link on Pass can report or measure suspended objects, too. The same holds
// for an object that [checks.Paused] blocks (checks.ReasonPaused). Hooks do not
// run while the object is suspended. Its deletion continues.
//
// An object that is suspended or paused has the condition [ConditionPaused], and
// its Stalled is False, because it has not failed.
//
// # kstatus
//
// Each write of the conditions also sets status.observedGeneration, if the status of the type has this field. kstatus
// then reports an edited object as InProgress until a pass has seen the edit. Set the default of the field to -1 in the
// definition (+kubebuilder:default={"observedGeneration":-1} on Status). Without this default, kstatus reports a new
// object as Current before its first pass.
//
// # Another cluster, another identity
//
// With [WithTargetClient] or [WithImpersonation], operations, checks and hooks get the
// client of the resource from [ClientFromContext]: the client of the target cluster, or
// a client with the rights of the identity that the resource names.
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
//
// # Which kinds are watched
//
// Users write owner references, and often other references, so they choose the
// names of kinds. A watched kind costs an informer with all of its objects, for as
// long as the manager runs. So a manager watches only these kinds:
//
//   - the kinds of its reconcilers;
//   - the kinds that an option names: [WithWatchedKinds] and [WithReadiness];
//   - the kinds of its scheme, except the kinds that client-go's scheme has (Pod,
//     Deployment). Almost every operator registers all of those, so their
//     registration does not show that the operator uses them;
//   - the metadata of ConfigMaps and Secrets. Their data stay out of memory, and
//     each write of one wakes its waiters.
//
// A reference to any other kind fails the pass with the reason KindNotWatched,
// without a request. To watch fewer kinds, give the manager a scheme that knows
// fewer types. The kinds of [WithUnwatchedKinds] are read live in each pass; name
// the kinds of client.CacheOptions.DisableFor there, because the manager does not
// tell them. A reference into a namespace that the cache does not have fails with
// the reason NamespaceNotWatched.
//
// A reference names an object of the own namespace, or one without a namespace.
// A reference into another namespace fails with the reason NamespaceNotAllowed,
// without a request ([WithForeignReferences]).
//
// Names of kinds are compared exactly with the kinds that the API server lists in
// discovery. A kind that it does not list is missing: an owner of that kind is not
// found. All missing kinds share the requests: discovery is read at most every two
// seconds, after events of definitions and for new names. [Guards] and a
// [Resolver] read by the client that they are given; these rules do not hold there.
//
// # What asks for a pass
//
// These cause a pass over an object that is not finished:
//
//   - a change of its spec, an annotation or the owner references. One annotation
//     also resets the back-off (see Retry now);
//   - a deletion, and a finalizer that another writer removes;
//   - a change of an awaited object;
//   - the delay of the last outcome;
//   - another writer of the conditions Ready, Reconciling and Stalled.
//
// Labels do not, and the rest of the status does only if the object waits for itself.
package ctrlx
