// Package chaintest tests that the links of a chain behave correctly and have
// the right order. Use it in tests only.
//
// A link can fail in many ways: it calls next twice, loses an error, keeps a
// lock after a panic, or shares data between requests. [Laws] tests for that, in
// a chain or in a single link. It calls the chain several hundred times, with
// random requests and ends. The end returns, fails, panics or ends its
// goroutine; the caller waits or cancels. The first broken law is an error of
// the test, with the smallest call that breaks it:
//
//	chaintest: law NextOnce is broken by link retry: it called next a second time
//	  chain:   audit -> retry
//	  request: &{Name:"" Nodes:0}
//	  context: stays
//	  end:     returns an error
//	  trace:
//	    > audit
//	      > retry
//	        > end
//	        < end: error
//	 ≠      > end
//	  to repeat it: go test -run '^TestLinks$' -rapid.seed=125161478543731624
//	  if the link exists for this: chaintest.WithExcuse("NextOnce", "retry", "the reason")
//
// These are the laws:
//
//	Reached     some request reaches the end; else the others cannot be tested
//	OwnEnd      each handler that Then makes runs its own end
//	NextOnce    a link calls next at most once in a call
//	Nested      it does so in its own goroutine, and returns after everything that it called
//	NoPanic     a link neither panics by itself nor ends its goroutine
//	Context     the context that a link passes on descends from the one that it got
//	Errors      errors.Is finds an error of the inner links in the error of the link
//	Panics      a panic of the inner links continues, or the error of the link contains it
//	Request     no link changes the caller's request, or anything that it refers to
//	Result      a link without an error returns the result of next ([WithKeptResult])
//	Repeatable  the second of two equal calls runs the same links, with the same ends
//	Concurrent  a call at the same time as others runs as it does alone
//	Goroutines  all goroutines that a call starts end after it and its context
//	Rules       each link keeps the rules of the composer ([WithComposer])
//	Accepted    the composer does not replace the result of a link by an error
//
// [WithExcuse] allows one link to break a law on purpose, with a reason. A call
// that does not return within 5 seconds fails the test and names the running
// link.
//
// This is a complete test, to copy and change, of a chain with a lock, a retry
// and a quota:
//
//	func TestLinks(t *testing.T) {
//		clusters := rapid.Custom(func(t *rapid.T) *Cluster {
//			return &Cluster{Name: rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), Nodes: rapid.IntRange(1, 9).Draw(t, "nodes")}
//		})
//		links := Links()
//
//		chaintest.Laws(t, links, clusters, rapid.Make[Outcome](),
//			chaintest.WithKeptResult("lock", "quota"),
//			chaintest.WithExcuse("NextOnce", "retry", "retries once when the cloud is busy"),
//		)
//		chaintest.Order(t, links, "lock", "retry", "quota")
//	}
//
// The kit also calls the chain from several goroutines, with ends that do
// nothing. Give the links fakes of the services that they call. Time is real:
// test a link that waits in a bubble of testing/synctest. Two calls are compared
// by the links that ran and by how each ended.
//
// Test a chain of checks with checkstest.Laws, which calls Laws.
package chaintest
