// Package index knows who waits for what, and decides who is to be looked at again when something changes. That decision
// is all that keeps a waiter from waiting for ever, so the package is about one promise: no wake-up is lost.
//
// A waiter is an object that is reconciled. A ref is an object that a pass over the waiter looks at: its owner, or what it
// refers to. Both are an [ID] in one graph, for a waiter may be waited for by others. There is one [Index] for all kinds
// of a process.
//
// # A pass
//
//	pass := idx.Begin(waiter)
//	look := pass.Register(owner)   // before the owner is read
//	obj := read(owner)             // from the cache whose events come to Changed, or live
//	look.Saw(digest(obj))          // what was read; "not found" has a digest, too
//	                               // checks decide, the status is written
//	pass.Wait(owner)               // blocked: waits for these, and for nothing else any more
//	pass.Done()                    // or else: waits for nothing
//
// Whoever watches the objects calls [Index.Changed] with the digest of what has become of a ref, for every event and after
// every read of his own. It wakes the waiters that have not seen just that, and nobody else. A waiter that is gone is
// forgotten, by [Index.Forget] or by the pass that finds it gone, which is Done.
//
// The digest has to cover all that a check may read of the object. Equal digests mean that nothing has happened, so one
// that leaves out what a check reads loses wake-ups; one that covers more than checks read only costs passes in vain. If it
// covers the UID, an object that was deleted and made again is another one without further ado.
//
// # Why nothing is lost
//
// Two things are up to the caller: the store that is read changes before Changed is called for the change (an informer does
// so, and so does an API server that is read live), and a waiter that is woken while a pass over it is under way is passed
// over once more behind that (a work queue does so). Then, for the last change of a ref:
//
//  1. If the store had it when the ref was read, the pass has decided on it, and there is nothing to wake for.
//  2. If not, the store got it after the read, so its Changed is called after the read, and therefore after Register.
//  3. From Register on until it ends a pass has its entry in the index, and if it ends in a Wait for the ref the entry
//     stays, with no moment in between at which it is missing.
//  4. The entry says "unknown" until Saw, and then a digest that differs from that of the change: either wakes.
//  5. It is compared with what the waiter has seen, not with what was there before, so events may come late, twice, or
//     not at all because a relist has skipped them, as long as the last one comes.
//
// Read first and register then, and a change between the two finds nobody to wake.
//
// # What passes do to each other
//
// The entries of the last pass that ended in a Wait stay in force while the next one is under way, beside its own, and each
// wakes for itself. So a pass may end in a panic, or not at all: it has taken nothing away, and its own entries go when
// the next pass registers something, or ends. What it was begun for is still to be done, which is up to the work queue.
//
// If two passes over one waiter are under way at once, the one that began later counts. The earlier one can no longer
// tell whether it would have been woken, so its Wait wakes its waiter, for another pass. [Index.Forget] does the same to
// a pass that is under way: a waiter that was deleted meanwhile is woken once more, found to be gone, and forgotten.
//
// A ref that was not registered by the pass that waits for it was looked at too early, or by other means. Wait registers
// it and wakes the waiter, for one more pass. That one finds it registered, and if it looks at it by other means again,
// every event of the ref wakes the waiter from then on. To read the ref after Wait and call it seen would not do: nobody
// knows whether that is what the check has read.
//
// # What happens before what
//
//   - Register returns before the read begins, and Saw is called after it: that is the caller's part.
//   - A Changed that is called after Register has returned finds the entry. One that was called before may miss it; what
//     it told of is older than the read.
//   - When Changed returns it has called wake for all whom it wakes, and so has a Wait that wakes its own waiter.
//   - wake may be called for a waiter while a pass over it is under way, after it has ended, and after Forget.
//
// All functions may be called at any time from any goroutine, those of one pass, too, and wake may call any of them. It is
// called without a lock. Changed looks at a few hundred waiters at a time and lets others have the lock in between, so
// that waking 100,000 of them holds up nobody else, nor waits until all are found.
//
// # What it costs
//
// An entry takes 64 bytes, an object that waits or is waited for about 110 and its namespace and name, which are copies of
// the index's own. What is in no entry is freed, but for the slots of a table, about 40 bytes for each of the most objects
// that there ever were. How long it takes to find the waiters of a ref depends on their number, not on how many others
// there are. A pass that sees what the last one has seen allocates nothing, nor does Changed.
package index
