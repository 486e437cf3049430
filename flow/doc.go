// Package flow drives a resource towards its spec, one pass at a time. It
// defines the extension points, their order, and the outcome of a pass. It
// depends on neither Kubernetes nor a cloud.
//
//	databases := flow.New("Database",
//		flow.Operations[*Database]{Key: name, Owner: server, Get: get, Apply: put, Delete: remove},
//		flow.Extensions[*Database]{OwnerCheck: chain.New(checks.OwnerReady())})
//	out := databases.Reconcile(ctx, resource) // in a loop; package ctrlx has one for controller-runtime
//
// Do these things first:
//
//   - Write Apply so that it may run again, and Delete so that it returns [Done] for a
//     resource that does not exist.
//   - Put a check of the owner at OwnerCheck, a check of what Apply needs at PreCheck,
//     and a check of what Delete needs at DeleteCheck.
//   - Give the reader of your cloud: flow.WithErrors(azure.Errors()).
//   - Return [InProgress] if the cloud works longer than a call.
//
// docs/README.md finds the page of a term.
//
// # A pass
//
// A pass is one run of the flow for one resource. [Operations] are the default
// actions of a kind of resource: find the owner, get, apply, delete.
// [Extensions] are its customisations, one chain for each extension point.
// [New] makes a [Reconciler] of both, and [Reconciler.Reconcile] runs one pass:
//
//	          ┌── Pass ────────────────────────────────────────────────────────────────────────────────────────────┐
//	          │                                                        ┌─► in sync ──────────────────┐             │
//	          │                     ┌─► OwnerCheck ─► GetCheck ─► Get ─┴─► PreCheck ─► Apply ─► Get ─┴─► PostCheck ┼─► Ready
//	resource ─┼─► EntryCheck ─► owner                                                                              │
//	          │                     └─► Get ─► DeleteCheck ─► Delete ──────────────────────────────────────────────┼─► Gone
//	          └────────────────────────────────────────────────────────────────────────────────────────────────────┘
//	              every error of every point ─► Classify
//
// An owner that cannot be read ends the pass with an error, also in a deletion:
// the checks of the deletion would decide without it. An owner that does not
// exist stops no deletion. So Operations.Owner returns an Object without a Value
// for an owner that is gone, and an error only if it could not find out.
//
// The first block and the first error end the pass. Before the first check, the
// pass reads the generation of the resource and whether a user deletes it. A
// check that changes its request changes neither.
//
// # Extension points
//
// Each point of checks answers one question. Its checks see the resource, if
// the table does not say otherwise:
//
//	point        its question                   its checks see          left out
//	EntryCheck   may this controller act?       not the owner           never
//	OwnerCheck   does the owner allow it?       the owner only          in polls and deletions
//	GetCheck     may Get start?                 the owner, too          in polls and deletions
//	PreCheck     may Apply start?               what Get read           there, and in sync
//	PostCheck    is the resource Ready?         what Get read at last   in polls and deletions
//	DeleteCheck  may Delete start?              what Get read           in polls; only deletions have it
//
// In sync means that Get reported that the cloud matches the spec.
//
// Get, Apply and Delete are chains around an operation. Pass is a chain around
// the whole pass. Classify classifies each error. Links made by chain.Before
// and chain.After replace the hooks of other systems. The zero Extensions
// changes nothing. docs/flow/points.md says how to choose a point.
//
// # Outcomes and back-off
//
// A pass ends with an [Outcome]. It holds the point and the link where the pass
// stopped, the conditions to write, the awaited objects, the error, and the
// delay until the next pass. An engine needs only a queue and this loop:
//
//	out := reconciler.Reconcile(ctx, resource)
//	for _, c := range out.Conditions() {
//		// write it
//	}
//	if delay, again := out.Again(); again {
//		// requeue after delay, or when one of out.WaitingFor() or out.Following() changes
//	}
//
// [Outcome.WaitingFor] ends with the block. [Outcome.Following] lists the
// objects and sets that a Ready resource depends on (checks.OwnerRequest.Follow).
// Each outcome has the whole list, so an engine replaces the list of the pass before.
//
// [Backoff] computes the delay, which grows with each failure. The flow does
// not give up a resource by itself: after a terminal error, it requeues the
// resource at the resync, about once an hour. Only your code ends the work:
//
//   - checks.Ignore: another controller manages the resource, and the engine
//     writes nothing to it;
//   - checks.Finished and [Finished]: the work is complete until the spec
//     changes;
//   - checks.WithRetry(classify.Never), or a rule with Never: the work has
//     failed until the spec changes;
//   - checks.Release: the flow forgets a deleted resource without Delete.
//
// [Outcome.Final] and [Outcome.KeepsStatus] report these decisions. Package
// ctrlx has a time-out for resources that do not become Ready.
//
// # Operations under way
//
// Apply and Delete return [Done] or [Finished] if the operation has ended, or
// [InProgress] with a token if it is under way in the cloud. Each later pass
// polls it ([Reconciler.Reconcile]). A resource has at most one operation under
// way.
//
// [Failed] says which errors end an operation, and
// docs/flow/operations-under-way.md where tokens are stored.
//
// # Mistakes that end a pass
//
// Unknown is never treated as ready. Each of these mistakes ends the pass with
// an error that names the link ([ErrMisuse]):
//
//   - a panic of a link or an operation;
//   - the zero value of a result;
//   - a check that proceeds and did not call next;
//   - a Done of a link whose operation did not return Done in this pass (a link
//     that replaces the operation returns [Skip]);
//   - an in-sync Observation of a link whose Get did not succeed in this pass
//     (see Observation.Skip);
//   - an outcome of another pass.
//
// A check that returns an error fails; it does not block. The condition names
// the check and the cause.
//
// # Listings, explanations, registries and tests
//
// [Reconciler.String] and [Reconciler.Mermaid] show the flow, and
// [Reconciler.Explain] the last pass of a resource. [WithObserver] reports every
// pass, point and link, as to package otelx. [Registry] holds the extensions of
// many kinds (docs/howto/many-kinds.md). Package flowtest tests a whole flow in
// virtual time.
package flow
