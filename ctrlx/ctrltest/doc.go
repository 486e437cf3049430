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
// [Explore] draws 300 runs, or 100 if the environment variable RAPID_SEED fixes them. In each one, users create the objects of World, edit,
// delete and create them again. Meanwhile:
//
//   - Watches lag, each kind by another time, so that events of kinds overtake
//     each other. The watches of a kind end with 410 Gone.
//   - Requests are refused (409, 429, 500) or time out. An answer is lost after
//     the API server did the work.
//   - The process ends after a request, and is started again. It is restarted, and
//     a user edits an object while it is down. A paused leader sends its write when
//     another process leads, and ends.
//   - The rights for a kind are revoked for a while, or the kind is not served.
//   - The cloud is down, or its answer is lost ([Cloud]).
//   - A user acts during a request of the operator, and the events arrive before
//     its answer.
//
// Then all faults end, and after [Operator.Patience] the rules must hold. Explore
// compares the objects again after a time at rest, after a restart, and after
// users delete everything. A run ends at the first broken rule.
//
// # The rules
//
//   - [RuleSettled]: each object is Ready, or says for its present generation why
//     not ([Operator.Ready]). If its message names another object of World, that one is a cause: it is
//     missing, not Ready, or being deleted.
//   - [RuleCycle]: objects that wait for each other say so.
//   - [RuleTwice]: no operation of the cloud begins while another one for the same
//     resource is under way. It may if the run lost the answer, or if the process was
//     stopped or paused at most a second after the first operation began, or before that.
//   - [RuleRest]: hardly anything is written when nothing changes. Three writes of
//     an object in 80 minutes are allowed, and 16 if it is not Ready.
//   - [RuleSpin]: at most 100 requests for each object are sent in that time, and
//     3,000 in a run.
//   - [RuleRestart]: a restart changes no object, apart from the messages of its conditions
//     and the times in its status and annotations, as RFC 3339. An object that is not Ready stays so.
//     This finds the objects that wait for a lost event.
//   - [RuleGone]: after users delete all objects, all are gone, also the
//     dependents.
//   - [RuleLeft]: then nothing is left in the cloud.
//   - [RuleExit]: the operator does not end ten times, and leaves no goroutine. Start
//     must return when its context ends, also if this rule is switched off.
//
// [Operator.Rules] adds rules and switches these off.
//
// # The failure
//
// The failure names the rule, the smallest steps that break it, and a time line: who
// wrote an object, when an event arrived, which fault happened. Explore shrinks by
// dropping steps one by one, for at most -rapid.shrinktime. The flag -rapid.seed or
// -rapid.failfile in the message repeats it. Draw more runs with -rapid.checks:
// three times as many.
//
// # The simulation
//
// A run is a bubble of [testing/synctest] with an API server in memory. Its clock
// jumps to the next timer when every goroutine of the operator waits, so hours
// take no time, and no run sleeps. Everything is quiet if nothing but timers can
// happen until the end of Patience.
//
// So the operator must not wait for anything outside of the bubble:
//
//   - Switch off the listeners of the manager: Metrics and HealthProbeBindAddress
//     "0", no webhooks.
//   - Set Controller.SkipNameValidation, because each run starts a manager.
//   - Talk to a fake cloud in this process, without sockets.
//   - Hold no mutex during a request if other goroutines wait for the mutex.
//   - All goroutines end soon after the context.
//
// If the clock stops, Explore ends the test after two minutes with all stacks.
//
// The API server stores what it gets. It adds the defaults of the CRDs, and has
// server-side apply, finalizers, the status subresource, selectors and garbage
// collection in the background. It has no validation, conversion, webhooks,
// controllers of built-in kinds, and subresources other than status. It takes a
// list as one value in server-side apply. In a field selector, all fields
// but metadata.name and metadata.namespace are empty.
//
// # A seed
//
// A seed repeats the run: the objects, the steps, the faults and their places. It
// does not repeat the order of goroutines that run at the same moment, and the
// jitter of retries in client-go. A run that is repeated by a seed is tried three
// times. TestMeasure measures how many seeds repeat their failure.
//
// Do not run Explore in parallel with other tests: it sets GOMAXPROCS to 1, and
// takes the error handlers of apimachinery away for the time of a run.
package ctrltest
