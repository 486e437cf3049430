// Package checkstest tests checks, for people who write them. [Run] asks a check about the cases that its author knows;
// [Conforms] holds it to the rules that every check has to keep, in cases that nobody thought of. Together they are the whole
// test of a check:
//
//	func TestNewEnough(t *testing.T) {
//		prod := checks.Ref{Kind: "Cluster", Name: "prod"}
//		wanted := &Database{Version: 16}
//		checkstest.Run(t, newEnough(), checkstest.Cases[*Database]{
//			"Same": {Reason: "the cluster can run it", Want: checkstest.Proceeds(),
//				Request: checkstest.Request(wanted, checkstest.OwnedBy(checkstest.Ready(prod, &Cluster{Version: new(16)})))},
//			"Older": {Reason: "it is upgraded first", Want: checkstest.Blocks("ClusterTooOld", checks.WaitingFor(prod)).Saying("at 15"),
//				Request: checkstest.Request(wanted, checkstest.OwnedBy(checkstest.Ready(prod, &Cluster{Version: new(15)})))},
//			"Gone": {Reason: "it may still come", Want: checkstest.Blocks(checks.ReasonOwnerNotFound, checks.Retry(classify.Fast)),
//				Request: checkstest.Request(wanted, checkstest.OwnedBy(checkstest.NotFound(prod)))},
//		})
//		versions := rapid.IntRange(14, 18)
//		checkstest.Conforms(t, newEnough(), rapid.Custom(func(t *rapid.T) *checks.Request[*Database] {
//			cluster := &Cluster{Version: rapid.Ptr(versions, true).Draw(t, "has")}
//			return checkstest.Request(&Database{Version: versions.Draw(t, "wants")}, checkstest.OwnedBy(checkstest.Ready(prod, cluster)))
//		}))
//	}
//
// A chain of checks has one test. [Laws] also holds its links to the laws of package chaintest. [Order] requires that each
// link runs, in the order of the list:
//
//	func TestGuards(t *testing.T) {
//		guards := chain.New(audit("audit"), newEnough())
//		checkstest.Laws(t, guards, ordinary())
//		checkstest.Order(t, guards, ordinary(), "audit", "NewEnough")
//	}
//
// All but Order, which takes a chain, take a link or a whole chain, about a resource or about an owner. They ask it as an
// engine does, by checks.Compose. What a request is about is inferred. [Request] and [OwnerRequest] make requests, [Ready], [NotReady], [Stale], [Unknown], [NotFound] and
// [ByID] the objects in them, and [ProvisioningStates] draws what Azure may have in a state.
//
// # Cases
//
// What comes is compared with what a [Case] wants:
//
//	Proceeds()           the work goes on
//	Skips()              it goes on without the links behind
//	Blocks(reason, ...)  it does not, for that reason; with the options of checks.Block, what they leave open may be anything
//	Fails(errs...)       it could not be found out, with all of these errors, or any
//	FailsAs[E]()         the same, with an error of type E
//	.Saying(parts...)    and the message has these parts
//
// # Rules
//
// Conforms draws requests from a generator, which need only make ordinary ones. Of each it makes those that people forget: the
// owner none, not found, a typed nil, of another kind, known by its ID only, in each state of readiness; no resolver; each field of
// the resource and of the owner not set. What it finds is named after the [Rule] that is broken, with the smallest request:
//
//	Decides     it comes to a decision, in time
//	AnyOwner    also if the owner is none, or not what was expected
//	NilFields   also if something is not set
//	Stops       what it does not let through does not reach the links behind it
//	HandsOn     what it lets through is handed on once, with the request as it came
//	PassesOut   what the links behind it say comes out unchanged
//	SameAnswer  asked again about the same, or about an equal object, it answers the same to the letter
//	ReadOnly    it changes neither the resource nor the owner nor the request
//	Concurrent  asked by many at once, it answers as it does alone
//	Cancels     once the context is canceled it returns, and decides nothing else because of that
//	Explains    a block has a reason in CamelCase, and a message
//	EndsAll     it leaves no goroutine behind
//
// A rule that a link breaks on purpose is excused by [Breaks], which says why.
// For [Laws] it may name the links that break it. A gate, which is listed as Gate(name), acts; so it is excused from
// SameAnswer, ReadOnly, Concurrent and Cancels, but for that it has to return. If a gate, or the fake that it acts on,
// remembers something, the generator should make that new with each request.
//
// Run it with -race, too: Conforms calls from many goroutines at once, which is how two that share a variable are found. As with
// all properties, -rapid.checks says how many requests are drawn (100), and -rapid.seed repeats a run.
package checkstest
