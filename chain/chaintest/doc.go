// Package chaintest tests chains: that each link keeps the laws of composition,
// that the links stand in the right order, and which links ran. Use it in tests
// only.
//
// # Laws
//
// A link is a function that gets the rest of the chain as next. Such a function
// can fail in many ways: it calls next twice, loses an error, keeps a lock after
// a panic, hands on a context of its own, or shares data between requests. Three
// lines try all of that, on a chain or on a single link:
//
//	func TestGuards(t *testing.T) {
//		chaintest.Laws(t, guards)
//	}
//
// [Laws] calls the chain several hundred times, with requests and ends drawn at
// random. The end returns, fails, panics or ends its goroutine; the caller waits
// or cancels. Each broken [Law] is an error of the test. It names the law and the
// link, and shows the smallest call that breaks the law:
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
//	  if the link exists for this: chaintest.WithExcuse(chaintest.NextOnce, "retry", "the reason")
//
// Some links break a law on purpose: a link that tries again calls next more than
// once. [WithExcuse] allows that, with a reason, for this link and no other. Further
// options supply facts that the kit cannot know: requests that pass ([WithRequests]),
// results of a sealed type ([WithResults]), how much the links hold ([WithHeld]), and
// which links leave the result alone ([WithKeptResult]).
//
// This is a whole test, to copy and change, for a chain with a lock, a retry and
// a quota:
//
//	func TestGuards(t *testing.T) {
//		clusters := rapid.Custom(func(t *rapid.T) *Cluster {
//			return &Cluster{Name: rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), Nodes: rapid.IntRange(1, 9).Draw(t, "nodes")}
//		})
//		guards := Guards()
//
//		chaintest.Laws(t, guards,
//			chaintest.WithRequests(clusters),
//			chaintest.WithHeld(locked),
//			chaintest.WithKeptResult("lock", "quota"),
//			chaintest.WithExcuse(chaintest.NextOnce, "retry", "tries again once when the cloud is busy"),
//		)
//		chaintest.Order(t, guards, "lock", "retry", "quota")
//		chaintest.Ordered(t, guards, chaintest.First("lock"), chaintest.Before("retry", "quota"))
//		chaintest.Golden(t, "guards", guards)
//	}
//
// # How the kit calls a chain
//
// The kit calls the chain many times, also from several goroutines, with ends
// that do nothing. So links that talk to the world should talk to a fake of it.
// Time is real: a link that waits for a minute fails the call, see [WithTimeout].
//
// The kit compares calls by the links that ran and by how each was left, never by
// results or by the texts of errors. A link that runs next in another goroutine,
// or with another context, breaks a law; if it is excused, the kit sees less of
// its calls.
//
// Laws composes the chain by Then. checks.Compose composes a chain of checks, and
// such a chain has rules of its own: test it with checkstest.Laws, which calls
// Laws. It also finds a link that proceeds without next for some requests, which
// is right in other chains. [WithComposer] does the same for other kinds of chains.
//
// # Order
//
// [Order] compares the whole chain with one list. [Ordered] takes rules about
// parts of it. Both compare the list of links with calls whose requests rapid
// draws: the links must run in the order of the list, and all of them if the call
// reaches the end. A failure names the rule and the chain, or shows the smallest
// request that runs the links in another order:
//
//	chaintest: Before("quota", "retry"): link quota comes after link retry
//	  chain: lock -> retry -> quota
//
// A rule fails if the chain lacks one of its links, unless [Optional] names the
// link. With [WithRequests], each link must run for some request. Test a chain of
// checks with checkstest.Order.
//
// [Golden] keeps the order, or a whole flow.Reconciler, in a file, so that a
// change shows in review. [Recorder] is an observer for tests that inspect a call
// themselves.
package chaintest
