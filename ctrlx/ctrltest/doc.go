// Package ctrltest finds bugs of an operator where events, faults and restarts
// meet. It needs nothing else of Windlass: any manager of controller-runtime will do.
//
//	func TestOperator(t *testing.T) {
//		ctrltest.Explore(t, ctrltest.Operator{
//			Start: func(ctx context.Context, config *rest.Config) error { return run(ctx, config) },
//			CRDs:  []string{"config/crd"},
//			World: []client.Object{zone, record},
//			Edit:  func(t *rapid.T, o client.Object) { ... },
//		})
//	}
//
// # A run
//
// [Explore] draws 100 runs. In each one, users create the objects of World, edit,
// delete and create them again. Meanwhile:
//
//   - Watches lag, each kind by another time, so that events of kinds overtake
//     each other.
//   - Requests are refused (409, 429, 500) or time out. An answer is lost after
//     the API server did the work.
//   - The process ends after a request, and is started again. A paused leader
//     sends its write when another process leads.
//   - The rights for a kind are revoked for a while, or the kind is not served.
//   - The cloud is down, or its answer is lost ([Cloud]).
//   - A user acts during a request of the operator.
//
// Then all faults end, and after [Operator.Patience] the rules must hold. Explore
// restarts the operator, deletes all objects, and compares again.
//
// # The rules
//
//   - [RuleSettled]: each object is Ready, or says for its present generation why
//     not. If its message names another object of World, that one is a cause: it is
//     missing, not Ready, or being deleted.
//   - [RuleCycle]: objects that wait for each other say so.
//   - [RuleTwice]: no operation of the cloud begins while another one for the same
//     resource is under way.
//   - [RuleRest]: nothing is written when nothing changes.
//   - [RuleSpin]: few requests are sent when nothing changes.
//   - [RuleRestart]: a restart changes no object. An object that waits for an
//     event that was lost does not survive this.
//   - [RuleGone]: after users delete all objects, all are gone, also the
//     dependents.
//   - [RuleLeft]: then nothing is left in the cloud.
//   - [RuleExit]: the operator does not end again and again.
//
// [Operator.Rules] adds rules and switches these off.
//
// # The failure
//
// The failure names the rule and shows a time line: who wrote what, which event
// arrived when, which fault happened. rapid drops steps as long as the failure
// stays. The message has the flag -rapid.failfile, which repeats it. More runs:
// -rapid.checks=1000.
//
// # What is simulated
//
// A run is a bubble of [testing/synctest] with an API server in memory. Its clock
// jumps to the next timer when every goroutine of the operator waits, so hours
// take no time, and no run sleeps. A run is quiet when nothing but timers can
// happen.
//
// So the operator must not wait for anything outside of the bubble:
//
//   - Switch off the listeners of the manager: Metrics and HealthProbeBindAddress
//     "0", no webhooks. A listener stops the clock, and Explore says so.
//   - Set Controller.SkipNameValidation, because each run starts a manager.
//   - Talk to a fake cloud in this process, without sockets.
//   - All goroutines end soon after the context.
//
// The API server stores what it gets. It adds the defaults of the CRDs, and has
// server-side apply, finalizers, the status subresource, selectors and garbage
// collection in the background. It has no validation, conversion, webhooks,
// controllers of built-in kinds, and subresources other than status. It takes a
// list as one value in server-side apply.
//
// # What a seed repeats
//
// A seed repeats the run: the objects, the steps, the faults and their places. It
// does not repeat the order of goroutines that run at the same moment, and the
// jitter of retries in client-go. A failure that needs one of those orders may
// need several tries. The test of this package measures that at least 19 of 20
// seeds repeat.
package ctrltest
