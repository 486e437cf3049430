// Package write writes the objects of one kind to the API server.
//
//	w := write.Writer{Client: c, Live: live, ...}
//
//	now, err := w.Metadata(ctx, obj, change)         // before Apply
//	now, done, err := w.Change(ctx, base, change)    // the status, before the end of a pass
//	err := w.Status(ctx, base, obj)                  // the status, at the end of a pass
//	removed, err := w.RemoveFinalizer(ctx, obj, name)
//
// # Locks
//
// Each write has an optimistic lock: the API server refuses it if another writer
// changed the object since it was read. Then the caller reads the object again.
// [Writer.Change] does so itself, because the operation under way must be stored
// even if another writer is faster. Its function compares what it replaces, and
// refuses the change if another process has replaced that.
//
// # Writes that must not be lost
//
// All writes but Metadata run even if the deadline of the pass is over, or the
// manager stops: each has a time of its own.
package write
