// Package flow is the reconciliation flow: which extension points there are, in which order, and what a pass through them
// comes to. There is no Kubernetes in it.
//
// # Operations and extensions
//
// [Operations] are what is done when nothing is customised: find the owner, get, apply, delete. [Extensions] are the
// customisations, one chain for each extension point. [New] makes a [Reconciler] of both, and [Reconciler.Reconcile]
// takes a resource through it, once:
//
//	                 ┌── Pass ─────────────────────────────────────────────────────────────────────────┐
//	                 │                    ┌─► OwnerCheck ─► Get ─► PreCheck ─► Apply ─► PostCheck ─────┼─► Ready
//	resource ────────┼─► owner resolved ──┤                                                            │
//	                 │                    └─► DeleteCheck ─► Delete ───────────────────────────────────┼─► Gone
//	                 └─────────────────────────────────────────────────────────────────────────────────┘
//	                     every error of every point ─► Classify
//
// An owner check runs before the first call to the cloud and cannot reach the resource; a check that needs to see the
// resource as it is belongs into PreCheck. Apply is left out if Get saw that the cloud has what the spec says. PostCheck
// defers Ready. Get, Apply and Delete are chains around an operation, Pass is one around everything; what other systems
// call hooks are links there, made by chain.Before and chain.After. The zero Extensions changes nothing.
//
// # Outcomes
//
// A pass comes to an [Outcome], one value that cannot contradict itself: where it stopped and at which link, the
// conditions to write, what is waited for, the error, and when to come back ([Outcome.Again]). An engine, a queue of
// whatever kind, needs this loop and no more:
//
//	out := reconciler.Reconcile(ctx, resource)
//	for _, c := range out.Conditions() {
//		// write it
//	}
//	if delay, again := out.Again(); again {
//		// come back after delay, or when one of out.WaitingFor() changes
//	}
//
// Nothing is given up for good: what only a change of the spec can mend is looked at again at the resync.
//
// # Long-running operations
//
// Apply and Delete return [Done], or [InProgress] with a token, and are then called with that token once a pass until
// they are done: there is never more than one operation under way for a resource, and none is forgotten, whatever links
// around it do. Tokens are kept with the resource (Operations.Token and SetToken) or in memory.
//
// # Failing closed
//
// A panic, of a link or an operation, the zero value of any result, a link that says proceed and does not call next, a
// remembered outcome: all of them end the pass with an error that names the link. Ready comes out only if every check was
// asked and passed and the operation was done.
//
// # Many kinds
//
// An engine that learns at run time which kinds there are looks their extensions up in a [Registry]. The extensions stay
// typed; the engine writes its Operations once, for the type that all resources have in common:
//
//	var registry flow.Registry[Resource]
//	flow.Register(&registry, "Cluster", base[*Cluster]())
//	flow.Register(&registry, "Database", base[*Database]().Extend(databases))
//	runner := registry.For(kind, operations) // once for each kind
//
// A kind that was not registered has no extensions. [Extensions.Extend] puts a kind's own behind what many have. [Convert]
// keeps what was written for one version of an API when the next one comes.
//
// # Seeing what happens
//
// [Reconciler.String] and [Reconciler.Mermaid] show the flow. [WithTrace] shows one pass, [KeepLast] and
// [Reconciler.Explain] the last pass of each resource: every link, its verdict, the one that stopped it, what it waits
// for, since when, and when it is tried again. [WithObserver] hands everything to a chain.Observer, such as that of package
// otelx, for telemetry.
//
// # Testing
//
// Package flowtest runs a whole flow through a scripted world in virtual time, and compares the timeline.
package flow
