// Package flowtest runs a flow in a scripted world, so that a table of tests
// can cover a customised reconciler. A script says what the cloud answers and
// what changes when. The run lists the passes that follow. Time is virtual: a
// run that spans hours takes microseconds, and is always the same.
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
// # The world
//
// A [World] is one resource, its flow, and the answers to its requests. Each
// operation has a [Script]: answers in a row ([Script.Then], [Script.Fail],
// [Script.Hang]), answers from a time on ([Script.From]), and after both the
// user's own operation ([World.Operations]). A fake server can therefore be used
// as it is, or with faults added. [World.Object] scripts the objects of
// references, [Service] scripts other calls of links, and [Response] makes the
// errors of a service.
//
// [World.Edit] changes the resource, [World.EditStatus] changes its status,
// [World.Change] changes something else, and [World.Restart] ends the process.
//
// # The engine
//
// The engine reconciles the resource at once, then after the delay of its
// outcome. It does so earlier if the resource is edited, if an awaited object
// changes, or if the process restarts. It wakes no flow that does not name its
// awaited objects (checks.WithWaitingFor), as any engine. Delays are those of
// [flow.NewBackoff], without jitter. A pass takes no virtual time.
//
// The engine stores a final outcome ([flow.Outcome.Final]): only Edit causes
// another pass then.
//
// [World.Run] ends when the resource is ready, finished, ignored or gone, [World.RunUntil] at a
// time, and [World.RunPasses] after a number of passes. The [Run] has each
// [Pass] as plain data, a timeline ([Run.String], [Run.Want], [Run.Story]), and
// the changes of the Ready condition ([Run.Conditions], [Run.WantConditions]),
// which show whether it flaps.
//
// An [Engine] by itself runs several resources that wait for each other, for
// demonstrations and simulations. It has the same clock and the same timeline.
//
// # What holds in each run
//
// A World tests these rules in every run, because no script is a reason to break
// them:
//
//   - A pass that a check blocks, finishes or ignores begins no operation; it may
//     poll the one under way. PostCheck comes after Apply.
//   - A pass in which Get reports InSync begins no Apply. There is at most one
//     Apply for a generation once the resource exists.
//   - A resource that is being deleted is neither applied nor ready.
//   - An outcome agrees with the requests: ready only with Apply done or Get in
//     sync, gone only with Delete done or a checks.Release, in progress or deleting only if the
//     operation reports that.
//   - There is one operation at a time. The flow does not start an operation
//     that is under way again, and polls it with its latest token. An error ends
//     it only if it is [flow.Failed], or if a reader says so
//     ([flow.WithErrors]). A restart may lose tokens that are kept in memory.
//   - The delay of a requeue is positive.
//
// # Outcomes
//
// Test an engine of your own with outcomes that need no script: [Outcome] makes
// each by a pass of a real flow, and [AnyOutcome] draws them.
//
//	out := flowtest.Outcome{State: flow.StateBlocked, Link: "quota", Block: checks.Block("NoQuota", "no quota")}.Make(t)
//
// # What fails the test
//
// Besides a broken rule, these fail the test: a call without an answer, an
// answer without a call, an event that never happens, a flow that cannot be made,
// a run that does not end ([World.MaxPasses], and 30 days), and a pass that is
// stuck ([World.Patience], by the real clock). Each failure names the call, the
// answer or the link, and shows the end of the timeline. A panic of a link does
// not fail the test: the flow makes an outcome of it, which the timeline shows.
//
// The test is a rapid.TB, so a *testing.T or a *rapid.T. Scripts may be drawn at
// random, see [Script.Optional].
package flowtest
