package run

import (
	"context"
	"fmt"
)

type noteKey struct{}

// Note is chain.Note.
func Note(ctx context.Context, text any) {
	if note, ok := ctx.Value(noteKey{}).(func(string)); ok {
		note(fmt.Sprint(text))
	}
}

// WithNotes returns a context in which [Note] calls note, after the note
// functions that ctx already has. An observer calls it once, in Enter of the
// outermost link or point that it observes. Several goroutines may call note at
// once.
func WithNotes(ctx context.Context, note func(text string)) context.Context {
	if outer, ok := ctx.Value(noteKey{}).(func(string)); ok {
		inner := note
		note = func(text string) {
			outer(text)
			inner(text)
		}
	}
	return context.WithValue(ctx, noteKey{}, note)
}
