package chain

import (
	"context"
	"fmt"
)

type noteKey struct{}

// Note passes a remark about the running link to the observers: a fact that the
// result does not show, such as why the link let a request pass. Note prints
// text with fmt.Sprint before it returns, but only if an observer reads notes.
// So a text that is costly to make can be a fmt.Stringer.
func Note(ctx context.Context, text any) {
	if note, ok := ctx.Value(noteKey{}).(func(string)); ok {
		note(fmt.Sprint(text))
	}
}

// WithNotes returns a context in which [Note] calls note, after the note
// functions that ctx already has. These add up, so an observer calls WithNotes
// once, in Enter of the outermost link or point that it observes. Several
// goroutines may call note at once. If note is nil, WithNotes returns ctx.
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
