// Package flowtest runs a whole flow through a scripted world, so that a customised reconciler can be tested in a table:
// what the cloud answers when, what changes meanwhile, and which passes come of it. Time is virtual. A run that spans hours
// takes microseconds, and is the same each time.
//
//	w := &flowtest.World[*Pool]{Resource: &Pool{Size: 3}, Extensions: poolExtensions}
//	w.Owner.From(0, creating).From(10*time.Second, ready)
//	w.Get.From(0, flow.Observation{Presence: checks.Absent})
//	w.Apply.Fail(conflict).Then(flow.InProgress("op-1", 20*time.Second), flow.Done())
//
//	w.Run(t).Want(t, `
//		00:00  blocked at OwnerCheck/OwnerReady: OwnerNotReady  again in 1s or with Cluster prod  [Owner]
//		...
//		00:31  ready  again in 1h  [Owner Apply(op-1)]`)
//
// To begin with, leave the text empty: the failure shows the timeline, to be read, and put into the test if it is right.
//
// # The world
//
// A [World] is one resource, its flow, and what answers it. Each operation has a [Script]: answers in a row ([Script.Then],
// [Script.Fail], [Script.Hang]), answers that hold from a time on ([Script.From]), and behind both the user's own operation
// ([World.Operations]), so that a fake server can be used as it is, or with faults in front of it. [World.Object] scripts
// what references resolve to, [Service] what links ask by themselves, [Response] makes the errors of a service.
//
// [World.Edit] changes the resource, [World.Change] something else, [World.Restart] ends the process.
//
// # The engine
//
// The resource is reconciled at once, then after the delay of its outcome, and before that when it is edited, when what it
// waits for changes, and when the process restarts. A flow that does not say what it waits for (checks.WaitingFor) is not
// woken, as in any engine. Delays are those of [flow.NewBackoff], without jitter. A pass takes no virtual time.
//
// [World.Run] goes on until the resource is ready or gone, [World.RunUntil] up to a time, [World.RunPasses] for a number of
// passes. The [Run] has each [Pass] as plain data, a timeline ([Run.String], [Run.Want]), and the changes of the Ready
// condition ([Run.Conditions], [Run.WantConditions]), which show whether it flaps.
//
// # What holds in each run
//
// These are tested without being asked for, since no script is an excuse to break them:
//
//   - a blocked pass begins nothing: no Apply or Delete but the polling of one under way. A block of PostCheck comes behind
//     Apply
//   - what is in sync is left alone: no Apply is begun in a pass in which Get said InSync, so that there is at most one for a
//     generation once it is there
//   - what is being deleted is neither applied nor ready
//   - an outcome agrees with what was asked: ready only with Apply done or Get in sync, gone only with Delete done, in
//     progress or deleting only if the operation says so
//   - one operation at a time: one under way is not started again, and is polled with the token that it gave last. An
//     error ends it only if it is [flow.Failed], or if a reader knows so ([flow.WithErrors]). A restart may lose tokens
//     that are kept in memory
//   - what is to come back has a delay, which is never zero or negative
//
// # Outcomes
//
// An engine of your own is tested with outcomes that no script has to lead to:
// [Outcome] makes each, by a pass of a real flow, and [AnyOutcome] draws them.
//
//	out := flowtest.Outcome{State: flow.StateBlocked, Link: "quota", Block: checks.Block("NoQuota", "no quota")}.Make(t)
//
// # What fails the test
//
// Besides these: a call that nobody has an answer for, an answer that nobody asks for, an event that never happens, a flow
// that cannot be made, a run that does not end ([World.MaxPasses], and 30 days), a pass that is stuck ([World.Patience], by
// the real clock). Each failure names the call, the answer or the link, and shows the end of the timeline. A panic of a link
// is not among them: the flow makes an outcome of it, which the timeline shows.
//
// The test is a rapid.TB, so a *testing.T or a *rapid.T. Scripts may be drawn at random, see
// [Script.Optional].
package flowtest
