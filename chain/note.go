package chain

import "context"

type noteKey struct{}

// Note passes a remark about the running link to the observers. It is for facts
// that the result does not show, such as why the link let a request pass.
// Without a listening observer it does nothing.
func Note(ctx context.Context, text string) {
	if note, ok := ctx.Value(noteKey{}).(func(string)); ok {
		note(text)
	}
}

// NoteFunc is [Note] for a text that is costly to make. It calls text only if
// an observer listens, and before it returns.
func NoteFunc(ctx context.Context, text func() string) {
	if note, ok := ctx.Value(noteKey{}).(func(string)); ok {
		note(text())
	}
}

// WithNotes returns a context in which [Note] calls note, after any listeners
// that ctx already has. An observer calls it in Enter, once, for the outermost
// link or point that it observes, because listeners add up. Several goroutines
// may call note at once. A nil note changes nothing.
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
