// Package flow drives a resource towards its spec, one pass at a time. It
// defines the extension points, their order, and the outcome of a pass. It
// depends on neither Kubernetes nor a cloud.
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
// A poll runs while an operation is under way. When the operation is done, the
// pass continues with PostCheck. In sync means that Get reported that the cloud
// matches the spec.
//
// Put a check that must also hold in sync at GetCheck, and one of what Get
// itself needs, such as credentials. If a deletion calls Get or starts Delete,
// GetCheck runs for its slots only, and its decision has no effect.
//
// In a deletion, Get runs before the first check of DeleteCheck that may need
// it ([Extensions]). Put the others before it: an error of Get then does not
// hold a deletion that they release.
//
// The second Get needs a check at PostCheck; without one, the pass leaves it
// out. It reports only the status and the presence. The next pass compares the
// cloud with the spec. If Apply returned Done and this Get finds nothing, the
// pass ends blocked, with the reason ResourceAbsent.
//
// Get, Apply and Delete are chains around an operation. Pass is a chain around
// the whole pass. Classify classifies each error. Links made by chain.Before
// and chain.After replace the hooks of other systems. The zero Extensions
// changes nothing.
//
// A check that finds an object can keep it in a slot (checks.Slot), for later
// checks, for links and for Apply of the same pass. A poll runs without the
// checks before Apply, so Apply reads a slot only if [Request].Token is empty.
//
// Operations.Owner may return a query in place of an object
// (checks.OwnerFrom). The flow then lists the set, and the owner is its one
// object. If the set has none or several, OwnerCheck blocks.
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
// objects and sets that a Ready resource depends on (checks.OwnerRequest.Follow). A pass
// leaves out checks if the resource is in sync or an operation is under way. It
// still follows the objects of the prebuilt checks there. So each outcome has
// the whole list, and an engine replaces the list of the pass before.
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
// calls the operation once with that token, to poll it, until it returns Done.
// A pass that polls runs only EntryCheck, the owner and the operation; after
// Done it continues. A resource has at most one operation under way.
//
// After an error while polling, the state of the operation is unknown,
// whichever cloud reports the error. The flow keeps the token and polls again.
// It drops the token in three cases only:
//
//   - the operation returned Done;
//   - the operation, or a link around it, returned [Failed]: the operation has
//     ended without success;
//   - an error reader recognises that the error ends the operation
//     ([WithErrors]).
//
// A deletion replaces an operation of Apply: the flow drops its token and calls
// Delete. Tokens are stored with the resource (Operations.Token and SetToken),
// or in memory. In memory they belong to Operations.Key, which needs the UID of
// the resource; [Reconciler.Remove] drops those of a resource that is gone. They
// are stored when the operation returns, before the links around it return. A
// link may copy the request, and may restore it after next: the operation is not
// part of the request.
//
// # Reading errors
//
// By default a reconciler reads the errors of Go's standard library and the
// methods of an error ([classify.Errors]). Add the reader of your cloud. The
// reconciler then knows its codes, its delays, and the errors that end an
// operation. For Azure:
//
//	flow.WithErrors(azure.Errors())
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
// # Many kinds
//
// An engine that learns its kinds at run time finds their extensions in a
// [Registry]. Extensions stay typed. The engine writes its Operations once, for
// the common type of all resources:
//
//	var registry flow.Registry[Resource]
//	flow.Register(&registry, "Cluster", base[*Cluster]())
//	flow.Register(&registry, "Database", base[*Database]().Extend(databases))
//	runner, err := registry.For(kind, operations) // once for each kind
//
// A kind that is not registered has no extensions, unless the registry is
// Strict. A misspelt kind is an error. [Extensions.Extend] adds the links of
// one kind inside the links that many kinds share. [Convert] reuses the
// extensions of one API version for the next version.
//
// # Listings, explanations and tests
//
// [Reconciler.String] and [Reconciler.Mermaid] show the flow.
// [WithExplanations] and [Reconciler.Explain] show the last pass of each
// resource: the verdict of every link, the awaited objects, how long the
// resource has been in this state, and the time of the next pass.
// [WithObserver] reports every pass, point and link to a chain.Observer, such
// as the telemetry of package otelx.
//
// A link that contains other links, such as checks.OnOwner, checks.All,
// checks.Cached and chain.When, has a step in the explanation, and so has each inner
// link. A When shows the verdict of the link that decided, the others show
// their combined verdict.
//
// Package flowtest runs a whole flow against a scripted world in virtual time,
// and compares the timeline.
package flow
