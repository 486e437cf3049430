// Package chaintest tests that the links of a chain behave correctly and have
// the right order. Use it in tests only.
//
// # Laws
//
// A link can fail in many ways: it calls next twice, loses an error, keeps a
// lock after a panic, passes on an unrelated context, or shares data between
// requests. Three lines test for all of that, in a chain or in a single link:
//
//	func TestGuards(t *testing.T) {
//		chaintest.Laws(t, guards)
//	}
//
// [Laws] calls the chain several hundred times, with random requests and ends.
// The end returns, fails, panics or ends its goroutine; the caller waits or
// cancels. Each broken [Law] is an error of the test, which names the law and
// the link and shows the smallest call that breaks the law:
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
//	  to repeat it: go test -run '^TestGuards$' -rapid.seed=125161478543731624
//	  if the link exists for this: chaintest.WithExcuse(chaintest.NextOnce, "retry", "the reason")
//
// Some links break a law on purpose: a link that retries calls next more than
// once. [WithExcuse] allows that for one link, with a reason. Other options
// supply facts that the kit cannot know:
//
//   - requests that pass the links ([WithRequests])
//   - results of a sealed type ([WithResults])
//   - how many locks the links hold ([WithHeld])
//   - which links do not change the result ([WithKeptResult])
//
// This is a complete test, to copy and change, of a chain with a lock, a retry
// and a quota:
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
//			chaintest.WithExcuse(chaintest.NextOnce, "retry", "retries once when the cloud is busy"),
//		)
//		chaintest.Order(t, guards, "lock", "retry", "quota")
//		chaintest.Ordered(t, guards, chaintest.First("lock"), chaintest.Before("retry", "quota"))
//		chaintest.Golden(t, "guards", guards)
//	}
//
// # How the kit calls a chain
//
// The kit calls the chain many times, also from several goroutines, with ends
// that do nothing. Give the links fakes of the services that they call. Time is
// real: a link that waits for a minute fails the test, see [WithTimeout].
//
// The kit compares two calls by the links that ran and by how each ended. It
// does not compare results, except for the law [Result], or texts of errors.
//
// Test a chain of checks with checkstest.Laws. It calls Laws with rules for
// checks, and composes the chain by checks.Compose. [WithComposer] does so for
// other kinds of chains.
//
// # Order
//
// [Order] compares the whole chain with one list. [Ordered] takes rules about
// parts of it. Both also call the chain with random requests. The links must
// run in the listed order, and all of them if a call reaches the end. A failure
// names the rule and the chain, or shows the smallest request that runs the
// links in another order:
//
//	chaintest: Before("quota", "retry"): link quota comes after link retry
//	  chain: lock -> retry -> quota
//
// A rule fails if the chain lacks one of its links, unless [Optional] names the
// link. With [WithRequests], each link must run for some request. Test a chain
// of checks with checkstest.Order.
//
// [Golden] stores the order, or a whole flow.Reconciler, in a file, so that a
// review shows a change. [Recorder] is an observer for tests that inspect a
// call themselves.
package chaintest
