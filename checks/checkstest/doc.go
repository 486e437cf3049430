// Package checkstest tests your checks. [Run] compares the answers of a check
// with expected ones, in the cases that you list. [Laws] tries the rules that
// every check must keep, in cases that authors forget. Both are the whole test:
//
//	func TestNewEnough(t *testing.T) {
//		prod := checks.Ref{Kind: "Cluster", Name: "prod"}
//		wanted := &Database{Version: 16}
//		checkstest.Run(t, newEnough(), checkstest.Cases[*Database]{
//			"Same": {Reason: "the cluster can run it", Want: checkstest.Proceeds(),
//				Request: checkstest.Request(wanted, checkstest.OwnedBy(checkstest.Ready(prod, &Cluster{Version: new(16)})))},
//			"Older": {Reason: "the cluster must be upgraded first", Want: checkstest.Blocks("ClusterTooOld", checks.WithWaitingFor(prod)).Saying("at version 15"),
//				Request: checkstest.Request(wanted, checkstest.OwnedBy(checkstest.Ready(prod, &Cluster{Version: new(15)})))},
//			"Gone": {Reason: "the cluster may be created later", Want: checkstest.Blocks(checks.ReasonOwnerNotFound, checks.WithRetry(classify.Fast)),
//				Request: checkstest.Request(wanted, checkstest.OwnedBy(checkstest.NotFound(prod)))},
//		})
//		versions := rapid.IntRange(14, 18)
//		checkstest.Laws(t, newEnough(), rapid.Custom(func(t *rapid.T) *checks.Request[*Database] {
//			cluster := &Cluster{Version: rapid.Ptr(versions, true).Draw(t, "has")}
//			return checkstest.Request(&Database{Version: versions.Draw(t, "wants")}, checkstest.OwnedBy(checkstest.Ready(prod, cluster)))
//		}))
//	}
//
// Laws also takes a chain of checks:
//
//	func TestLinks(t *testing.T) {
//		all := chain.New(audit("audit"), newEnough())
//		checkstest.Laws(t, all, ordinary())
//		chaintest.Order(t, all, "audit", "NewEnough")
//	}
//
// Both run the chain by checks.Compose, like an engine. [Request] and
// [OwnerRequest] make requests. [Ready], [NotReady], [Stale] and [NotFound] make
// the objects in them. [Resolving] and [Listing] find objects and sets.
//
// # Cases
//
// Run compares each answer with the Want of its [Case], which [Proceeds],
// [Blocks], [Fails] or [Answers] makes. [Want.Saying] adds parts of the message.
//
// # Rules
//
// Laws tries the laws of [chaintest.Laws] on each link. It draws requests from a
// generator, which need only make ordinary ones, and makes variants of each:
//
//   - without an owner; with an owner that is not set, not found, a typed nil,
//     of another kind, known only by its ID, or in each state of readiness
//   - without a resolver, and with one that finds nothing or fails
//   - without a lister, and with one that finds nothing, fails, or finds objects
//     without a value or being deleted
//   - with each field of the resource and the owner set to zero, up to 100
//
// So the laws mean for a check:
//
//	Decides     it returns a Result or an error within 5 seconds, whatever the owner is (NoPanic, Accepted)
//	NilFields   it does so without a resolver, a lister or any one exported field (NoPanic, Accepted)
//	HandsOn     it passes on the request, or an equal copy, and calls next before it proceeds (Rules, Accepted)
//	SameAnswer  it gives the same answer, texts included, to the same request and to one with
//	            copies of its objects (Repeatable); it changes neither (Request)
//	Explains    a block has a reason in CamelCase, and a message (Rules)
//
// An answer that changes is a condition that every pass writes. A gate acts, so a
// chain with a gate is excused from SameAnswer: give its checks to Laws alone, too. If a gate or its fake keeps state, the generator
// should make that state new for each request.
//
// Run the tests with -race, too: a law calls the links from several goroutines
// at once, which shows shared variables.
package checkstest
