// Package overwrite recognizes that another writer changed conditions that a
// reconciler owns, names that writer, and delays the corrections, so that two
// controllers never spin.
//
// # Whose write
//
// A watch reports each write, also the reconciler's own ones. [Writes] tells
// them apart. It holds a write of the reconciler from before its request until
// the watch has reported it:
//
//	writes.Begin(uid, obj.GetResourceVersion(), read, written) // before the request
//	err := patch(obj)
//	held, foreign := writes.End(uid, obj.GetResourceVersion(), conditionsOf(obj), err)
//
// and each update that the watch reports asks it:
//
//	foreign := writes.Foreign(update)
//
// An update that changed no owned condition is never foreign. If it changed one,
// the first of these rules that applies decides:
//
//  1. The watch has reported all writes of the reconciler: foreign.
//  2. A request of the reconciler runs: its answer decides.
//  3. The update is not newer than the last write of the reconciler, or than the
//     version that this write is based on: not foreign, because that write
//     replaced it.
//  4. The conditions are those of the last write: not foreign.
//  5. Otherwise: foreign.
//
// An object without a write that the watch has not reported costs nothing. A
// process that has just started also recognizes foreign writes.
//
// # When to correct
//
// [Backoff] delays corrections for each object. The first one is at once.
// Each further one waits twice as long as the last one, up to [MaxDelay]. It
// never gives up, and it forgets an object that its writer leaves alone.
package overwrite
