// Package chaintest tests chains: that links keep the laws of composition, that they stand in the order they should, and
// what ran. It is for tests only.
//
// # Laws
//
// A link is a function that is given the rest of the chain, and much can go wrong with that: it calls next twice, loses an
// error, keeps a lock after a panic, hands on a context of its own, shares between requests what belongs to one. Three
// lines try all of it, on a chain or on a single link:
//
//	func TestGuards(t *testing.T) {
//		chaintest.Laws(t, guards)
//	}
//
// [Laws] calls the chain some thousand times, with requests and ends drawn at random: the end returns, fails, panics, ends
// its goroutine; the caller stays, or cancels. What breaks a [Law] is an error of the test, which names the law and the
// link and shows the smallest call that does it:
//
//	chaintest: law NextOnce is broken by link retry: it called next a second time
//	  law:     a link calls next at most once in a call
//	  chain:   audit -> retry
//	  request: &{Name:"" Nodes:0}
//	  context: stays
//	  end:     returns an error
//	    expected           actual
//	    > audit            > audit
//	      > retry            > retry
//	        > end              > end
//	        < end: error       < end: error
//	 ≠    < retry              > end
//	                           < end: error
//	                         < retry: error
//	                       < audit: error
//	  to see it again: go test -run '^TestGuards$' -rapid.seed=125161478543731624
//	  if that is what the link is for: chaintest.Excuse(chaintest.NextOnce, "retry", "the reason")
//
// Some links are there to break a law: one that tries again calls next more than once. An [Excuse] says so, with a reason,
// for that link and no other. The other options give what the kit cannot know: requests that pass ([Requests]), results of
// a sealed type ([Results]), how much is held ([Held]), which links leave the result alone ([KeepsResult]).
//
// A whole test, to be copied and changed, for a chain with a lock, a retry and a quota:
//
//	func TestGuards(t *testing.T) {
//		clusters := rapid.Custom(func(t *rapid.T) *Cluster {
//			return &Cluster{Name: rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), Nodes: rapid.IntRange(1, 9).Draw(t, "nodes")}
//		})
//		guards := Guards()
//
//		chaintest.Laws(t, guards,
//			chaintest.Requests(clusters),
//			chaintest.Held(locked),
//			chaintest.KeepsResult("lock", "quota"),
//			chaintest.Excuse(chaintest.NextOnce, "retry", "tries again once when the cloud is busy"),
//		)
//		chaintest.Order(t, guards, "lock", "retry", "quota")
//		chaintest.Ordered(t, guards, chaintest.First("lock"), chaintest.Before("retry", "quota"))
//		chaintest.Golden(t, "guards", guards)
//	}
//
// # What is asked of a chain
//
// The chain is called over and over, by several goroutines too, with ends that do nothing: links that talk to the world
// should talk to a fake of it. A link that comes between the kit's hands, by running next in another goroutine or with
// another context, breaks a law by that, and where this is excused the kit sees less of it. Calls are compared with each
// other by what ran and how it was left, never by results or the texts of errors. Time is real: a link that waits for a
// minute makes the call fail that it waits in, see [Within].
//
// Laws composes the chain by Then. A chain of checks is composed by checks.Compose and also has rules of its own: test it by
// checkstest.Laws, which calls Laws. It finds a link that says proceed and forgets next for some requests, which is right in
// other chains. [ComposedBy] does the same for chains of another kind.
//
// # Order
//
// [Order] has one list for the whole chain, [Ordered] rules for parts of it. Both look at the listing, and at runs as far as
// they come. [Runs] has the requests to run it with, and requires that each link runs. A chain of checks is tested by
// checkstest.Order, which calls Runs.
//
// [Golden] keeps the order, or a whole flow.Reconciler, in a file, so that a change shows in review. [Recorder] is an
// observer for tests that want to look at a run themselves.
package chaintest
