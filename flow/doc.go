// Package flow takes a resource towards its spec, one pass at a time. It defines the extension points,
// their order, and the outcome of a pass. It depends on neither Kubernetes nor a cloud.
//
// # Operations and extensions
//
// [Operations] are the default actions: find the owner, get, apply, delete. [Extensions] are the
// customisations, one chain for each extension point. [New] makes a [Reconciler] of both.
// [Reconciler.Reconcile] runs one pass:
//
//	          ┌── Pass ────────────────────────────────────────────────────────────────────────────────┐
//	          │                                             ┌─► in sync ───────────┐                   │
//	          │                     ┌─► OwnerCheck ─► Get ──┴─► PreCheck ─► Apply ─┴─► PostCheck ──────┼─► Ready
//	resource ─┼─► EntryCheck ─► owner                                                                  │
//	          │                     └─► Get ─► DeleteCheck ─► Delete ──────────────────────────────────┼─► Gone
//	          └────────────────────────────────────────────────────────────────────────────────────────┘
//	              every error of every point ─► Classify
//
// Each point of checks answers one question:
//
//   - EntryCheck: may this controller act on the resource at all? It runs first in every pass, before
//     the owner is read, before a poll, and also while a user deletes the resource.
//   - OwnerCheck: is the owner in a state to have the resource? Its checks cannot read the resource. It
//     runs before Get and Apply.
//   - PreCheck: may Apply start? Its checks see the resource as Get read it. It does not run if Get
//     reported that the cloud matches the spec, because the pass then leaves Apply out.
//   - PostCheck: is the resource Ready?
//   - DeleteCheck: may Delete start? Get runs before it if a check there sees the resource, so not if
//     every check is a checks.OnOwner.
//
// A pass that polls an operation under way goes from the owner to Apply at once.
//
// Get, Apply and Delete are chains around an operation. Pass is a chain around the whole pass. Links
// made by chain.Before and chain.After replace the hooks of other systems. The zero Extensions changes
// nothing.
//
// # Outcomes
//
// A pass ends with an [Outcome], one value that cannot contradict itself. It holds the point and the
// link where the pass stopped, the conditions to write, and the awaited objects. It also holds the
// error and the delay until the next pass ([Outcome.Again]). An engine needs only a queue and this
// loop:
//
//	out := reconciler.Reconcile(ctx, resource)
//	for _, c := range out.Conditions() {
//		// write it
//	}
//	if delay, again := out.Again(); again {
//		// requeue after delay, or when one of out.WaitingFor() changes
//	}
//
// Delays grow with each failure ([Backoff]). The flow does not give a resource up by itself: after a
// terminal error it is requeued at the resync. Only a decision of yours ends the work:
//
//   - checks.Ignore: the resource belongs to another controller, and the engine writes nothing to it;
//   - checks.Finished and [Finished]: the work is complete until the spec changes;
//   - checks.WithRetry(classify.Never), or a rule with it: the work has failed for good;
//   - checks.Release: a deleted resource is let go without Delete.
//
// [Outcome.Final] and [Outcome.KeepsStatus] tell the engine about them. [WithReadyTimeout] sets a time-out for resources that do not become
// Ready.
//
// # Long-running operations
//
// Apply and Delete return [Done] or [Finished], or [InProgress] with a token. The flow then calls them with that
// token, once a pass, until they return Done. A resource has at most one operation under way.
//
// An error while polling means that the state of the operation is unknown, whichever cloud reports it.
// The flow keeps the token and polls again. It drops the token in three cases only:
//
//   - the operation returned Done;
//   - the operation, or a link around it, returned [Failed]: the operation ended without success;
//   - an error reader recognises that the error ends the operation ([WithErrors]).
//
// A deletion replaces an operation of Apply: its token is dropped when Delete is called.
//
// The flow stores tokens with the resource (Operations.Token and SetToken), or in memory.
//
// # Handing over what a check found
//
// A check that finds an object keeps it in a slot (checks.Slot) for later checks, for links, and for
// Apply. The value belongs to the pass. A pass that polls an operation under way skips the checks before
// Apply, so Apply reads a slot only if [Request].Token is empty. Reading a slot that is not set is an
// error (checks.ErrSlotUnset).
//
// # Reading errors
//
// By default a reconciler reads only the errors of Go's standard library and the methods of an error
// ([classify.Errors]). Add the reader of your cloud, so that the reconciler knows its codes, its delays
// and the errors that end an operation. For Azure:
//
//	flow.WithErrors(azure.Errors())
//
// # Failing closed
//
// Each of these ends the pass with an error that names the link:
//
//   - a panic of a link or an operation;
//   - the zero value of a result;
//   - a check that proceeds and did not call next;
//   - a Done of a link whose operation did not return Done in this pass (a link that leaves it out
//     returns [Skip]);
//   - an in-sync Observation of a link whose Get did not succeed in this pass (see Observation.Skip);
//   - an outcome of another pass.
//
// A check that returns an error fails; it does not block. The condition names the check and the cause.
//
// # Many kinds
//
// An engine that learns its kinds at run time finds their extensions in a [Registry]. The extensions
// stay typed. The engine writes its Operations once, for the type that all resources have in common:
//
//	var registry flow.Registry[Resource]
//	flow.Register(&registry, "Cluster", base[*Cluster]())
//	flow.Register(&registry, "Database", base[*Database]().Extend(databases))
//	runner, err := registry.For(kind, operations) // once for each kind
//
// A kind that is not registered has no extensions, unless the registry is Strict. A misspelt kind is an
// error. [Extensions.Extend] adds the links of one kind inside the links that many kinds share.
// [Convert] reuses the extensions of one API version for the next version.
//
// # Seeing what happens
//
// [Reconciler.String] and [Reconciler.Mermaid] show the flow. [WithTrace] shows one pass.
// [WithExplanations] and [Reconciler.Explain] show the last pass of each resource: every link and its
// verdict, the link where the pass stopped, and the awaited objects. They also show how long the resource
// has been there, and the time of the next pass. [WithObserver] reports every pass, point and link to a
// chain.Observer, such as the telemetry of package otelx.
//
// A link that is made of others, such as checks.OnOwner, checks.All, checks.Cached and chain.When, has a
// step of its own. A step for each link within it follows, with its own verdict. Of a When, the link
// within decides. OnOwner, All and Cached show the combined verdict, too.
//
// # Testing
//
// Package flowtest runs a whole flow against a scripted world in virtual time, and compares the
// timeline.
package flow
