package chain

import "context"

type noteKey struct{}

// Note adds a remark to what observers show of the link that is running, for what its result does not say: why it let
// something pass, say. If nobody listens nothing happens.
func Note(ctx context.Context, text string) {
	if note, ok := ctx.Value(noteKey{}).(func(string)); ok {
		note(text)
	}
}

// WithNotes returns a context in which [Note] calls note, and before it whoever listened already. It is for observers, in
// Enter, once at the outermost link or point that they observe: listeners add up. note may be called by several
// goroutines at once. A nil note changes nothing.
func WithNotes(ctx context.Context, note func(text string)) context.Context {
	if note == nil {
		return ctx
	}
	if outer, ok := ctx.Value(noteKey{}).(func(string)); ok {
		inner := note
		note = func(text string) {
			outer(text)
			inner(text)
		}
	}
	return context.WithValue(ctx, noteKey{}, note)
}
