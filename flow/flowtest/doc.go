// Package flowtest tests a customised flow against a scripted cloud, in virtual
// time. A script sets the answers of the cloud and the changes over time. The
// run is a list of passes. A run that spans hours takes microseconds, and is
// always the same.
//
//	w := &flowtest.World[*Pool]{Resource: &Pool{Size: 3}, Extensions: poolExtensions}
//	w.Owner.From(0, creating).From(10*time.Second, ready)
//	w.Get.From(0, flow.Observation{Presence: checks.Absent})
//	w.Apply.Fail(conflict).Then(flow.InProgress("op-1", 20*time.Second), flow.Done())
//
//	w.Run(t).Want(t, `
//		00:00  blocked at OwnerCheck by OwnerReady: OwnerNotReady  again in 1s or with Cluster prod  [Owner]
//		...
//		00:31  ready  again in 1h  [Owner Apply(op-1)]`)
//
// Leave the text empty at first. The failure shows the timeline: read it, and
// copy it into the test if it is right.
//
// A [World] is one resource, its flow, and the answers to its requests. Each
// operation has a [Script], which answers in this order:
//
//   - answers in a row: [Script.Then], [Script.Fail]
//   - answers from a time on: [Script.From]
//   - the user's own operation: [World.Operations], for example a fake server
//
// [World.Object] scripts the objects of references, and [World.Set] the sets of
// queries. [Response] makes the errors of a service. [World.Edit] changes the
// resource, [World.Change] its status or something else, and [World.Restart]
// ends the process.
//
// The [Engine] reconciles the resource at once, and then after the delay of each
// outcome. It does so earlier if the resource is edited, if an awaited or a
// followed object or set changes, or if the process restarts. A block that does
// not name its awaited objects (checks.WithWaitingFor) is not woken, as in any
// engine. After a final outcome ([flow.Outcome.Final]), only Edit causes another
// pass. Delays come from [flow.NewBackoff], without jitter. A pass takes no
// virtual time. An Engine without a World runs several resources that wait for
// each other, for demonstrations and simulations.
//
// A call without an answer, an answer without a call, and an event that does not
// happen fail the test, and so does a run that does not end. The failure shows
// the end of the timeline. A panic of a link does not fail the test: the flow
// turns it into an outcome, which the timeline shows.
package flowtest
