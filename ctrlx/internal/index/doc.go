// Package index records which object waits for which other object. When an
// object changes, it decides which waiters to wake. A waiter that is not woken
// waits for ever, so the package makes one promise: no wake-up is lost.
//
// A waiter is an object that is reconciled. A ref is an object that a pass over
// the waiter reads: its owner, or an object that it refers to. Both are an [ID]
// in one graph, because a waiter may itself be awaited. One process has one
// [Index] for all kinds.
//
// # A pass
//
//	pass := idx.Begin(waiter)
//	look := pass.Register(owner)   // before the owner is read
//	obj := read(owner)             // from the cache whose events reach Changed, or live
//	look.Saw(digest(obj))          // the state that was read; "not found" has a digest, too
//	                               // checks decide, the status is written
//	pass.Wait(owner)               // if blocked: the waiter waits for these refs alone
//	pass.Done()                    // if not blocked: the waiter waits for no ref
//
// The caller that watches the objects calls [Index.Changed] for every event,
// and after every read of its own. It passes the current digest of the ref.
// Changed wakes the waiters that have not seen exactly this digest, and no
// other waiter. A waiter that no longer exists is forgotten by [Index.Forget],
// or by the pass that does not find it and calls Done.
//
// The digest must cover everything that a check may read of the object. Equal
// digests mean that the object has not changed. A digest that omits a field
// that a check reads loses wake-ups. A digest that covers more than checks read
// only costs useless passes. If the digest covers the UID, an object that was
// deleted and created again counts as changed. No further rule is needed.
//
// # Why no wake-up is lost
//
// The caller guarantees two things:
//
//   - The store that a pass reads changes before Changed is called for the
//     change. An informer does so, and so does an API server that is read live.
//   - A waiter that is woken while a pass over it is under way gets one more
//     pass after that. A work queue does so.
//
// Then, for the last change of a ref:
//
//  1. If the store had the change when the ref was read, the pass decided on
//     it. No wake-up is needed.
//  2. If not, the store got the change after the read. So its Changed is called
//     after the read, and therefore after Register.
//  3. From Register until its end, a pass has its entry in the index. If it
//     ends in a Wait for the ref, the entry stays. At no moment in between is
//     it missing.
//  4. The entry is unknown until Saw. Then it holds a digest that differs from
//     the digest of the change. In both cases Changed wakes the waiter.
//  5. Changed compares with the digest that the waiter has seen, not with the
//     previous digest of the ref. So events may come late or twice. A relist
//     may skip events, as long as the last event comes.
//
// A pass that reads first and registers then is wrong. Changed would find no
// waiter to wake for a change between the two.
//
// # Passes over one waiter
//
// The entries of the last pass that ended in a Wait stay in force while the
// next pass is under way. The next pass has entries of its own, and both wake
// the waiter independently. So a pass may end in a panic, or not at all. It has
// removed no entry of the last pass. Its own entries are removed when the next
// pass registers a ref, or ends. The work queue must retry the work that the
// pass did not finish.
//
// If two passes over one waiter are under way at once, the pass that began
// later counts. The earlier pass can no longer know whether it would have been
// woken. So its Wait wakes its waiter, for another pass. [Index.Forget] has the
// same effect on a pass that is under way. A waiter that was deleted meanwhile
// is woken once more, found to be gone, and forgotten.
//
// A pass may wait for a ref that it did not register. It has read this ref too
// early, or by other means. Wait registers the ref and wakes the waiter, for
// one more pass. That pass finds the ref registered. If it reads the ref by
// other means again, every event of the ref wakes the waiter from then on. Wait
// must not read the ref itself and record its digest. The check may have read
// another state.
//
// # Order of calls
//
//   - Register returns before the read begins, and Saw is called after the
//     read. The caller must keep this order.
//   - A Changed that is called after Register has returned finds the entry. A
//     Changed that was called before may miss it, but the state that it
//     reported is older than the read.
//   - When Changed returns, it has called wake for every waiter that it wakes.
//     The same holds for a Wait that wakes its own waiter.
//   - Changed and Wait may call wake for a waiter while a pass over it is under
//     way, after the pass has ended, and after Forget.
//
// All functions may be called at any time from any goroutine, including those
// of one pass. The wake function may call any of them, because it is called
// without a lock. Changed examines a few hundred waiters at a time and releases
// the lock in between. So waking 100,000 waiters holds up no other caller, and
// the first wake-up does not wait until all waiters are found.
//
// # Costs
//
// An entry takes 64 bytes. An object that waits or is awaited takes about 110
// bytes, and its namespace and name, which the index copies. An object without
// an entry is freed, except for its slot in a table. The slots take about 40
// bytes for each object of the largest number that there ever was. The time to
// find the waiters of a ref depends on their number, not on the number of other
// waiters. A pass that sees the same digests as the last pass allocates
// nothing, and neither does Changed.
package index
