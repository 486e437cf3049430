// Package index records which object waits for which other object. When an
// object changes, it decides which waiters to wake. A waiter that is not woken
// waits for ever, so the package makes one promise: no wake-up is lost.
//
// A waiter is an object that is reconciled. A ref is an object that a pass over
// the waiter reads: its owner, or an object that it refers to. Both are an [ID]
// in one graph, because a waiter may itself be awaited. A ref may also be a set
// of objects that a pass lists. One process has one [Index] for all kinds.
//
// A blocked waiter waits for a ref: each change that a check can see wakes it.
// A follower depends on a ref also while it is not blocked: only a change of a
// smaller digest wakes it.
//
// # A pass
//
//	pass := idx.Begin(waiter)
//	look := pass.Register(owner)   // before the owner is read
//	obj := read(owner)             // from the cache whose events reach Changed, or live
//	look.Saw(digest(obj))          // the state that was read; "not found" has a digest, too
//	                               // checks decide, the status is written
//	pass.End(index.End{...})       // the waiter waits for these refs alone, and follows others
//	pass.Done()                    // the waiter waits for no ref, and follows none
//
// The caller that watches the objects calls [Index.Changed] for every event,
// and after every read of its own. It passes the current digests of the ref.
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
//     ends in a wait for the ref, the entry stays. At no moment in between is
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
// # Sets
//
// A set has no digest of its own: computing one would need all members at each
// event. The number of its last change takes the place of the digest. The
// caller gives each change of a set a new number, and then calls Changed with
// it. A change is an event after which an object is in the set, or was in it
// before, and which a check can see. The pass reads the number after Register
// and before it lists the set, and reports it by Saw:
//
//	look := pass.Register(set)
//	n := number(set)               // before the list
//	objects := list(set)
//	look.Saw(n)
//
// The argument holds with one more step. If the list lacks the last change, its
// event is handled after the list, and its number is later than n. So Changed
// wakes the waiter. If the list has the change, but n does not, the waiter is
// woken in vain. A pass that reads the number after the list is wrong: the
// number may include a change that the list lacks.
//
// This needs the events of all steps of the store that is listed. A cache has
// them. An API server has not: a relist compares two states of the cache, and
// leaves out a state between them that a live list may have shown. So the
// caller calls Changed without digests when the cache has caught up with a live
// list.
//
// The change of an object does not wake that object through a set that contains
// it (Change.By).
//
// # Followers
//
// A follower is woken by a change of the follow digest. The argument above holds
// for it in the same way: the pass registers and reads the ref, and End names
// the follow digest of the state that the pass has seen. If the pass has seen
// two states, or none, the digest counts as unknown.
//
// A pass may follow a ref without a look at it, if the last pass followed it. It
// has no state to compare with. So when a change wakes a follower, the entry
// takes over the new digest. The next pass begins after the change, and
// whatever it looks at is new. A later change differs from the digest that the
// entry has taken over, and wakes the follower again. This needs that passes
// over one waiter do not overlap, and that no check decides on a read of the ref
// that was not registered. A ref that is both awaited and followed is
// compared by its full digest.
//
// # Passes over one waiter
//
// The entries of the last pass that has ended stay in force while the next
// pass is under way. The next pass has entries of its own, and both wake
// the waiter independently. So a pass may end in a panic, or not at all. It has
// removed no entry of the last pass. Its own entries are removed when the next
// pass registers a ref, or ends. The work queue must retry the work that the
// pass did not finish.
//
// If two passes over one waiter are under way at once, the pass that began
// later counts. The earlier pass can no longer know whether it would have been
// woken. So its End wakes its waiter, for another pass. [Index.Forget] has the
// same effect on a pass that is under way. A waiter that was deleted meanwhile
// is woken once more, found to be gone, and forgotten.
//
// A pass may wait for a ref that it did not register. It has read this ref too
// early, or by other means. End registers the ref and wakes the waiter, for
// one more pass. That pass finds the ref registered. If it reads the ref by
// other means again, every event of the ref wakes the waiter from then on. End
// must not read the ref itself and record its digest. The check may have read
// another state.
//
// # Order of calls
//
// The caller must keep the order of Register, the read and Saw. Apart from that, all
// functions may be called at any time from any goroutine, including those of one pass.
// Changed and End may call wake for a waiter while a pass over it is under way, after
// the pass has ended, and after Forget. Changed examines a few hundred waiters at a time
// and releases the lock in between. So waking 100,000 waiters holds up no other caller.
//
// # Costs
//
// An entry of a waiter or a follower takes 64 bytes. An object that waits or is awaited takes about 110
// bytes, and its namespace and name, which the index copies. An object without
// an entry is freed, except for its slot in a table. The slots take about 40
// bytes for each object of the largest number that there ever was. The time to
// find the waiters of a ref depends on their number, not on the number of other
// waiters. A pass that sees the same digests as the last pass allocates
// nothing, and neither does Changed.
package index
