package chain

import (
	"context"
	"fmt"
)

type noteKey struct{}

// Note passes a remark about the running link to the observers. It is for facts
// that the result does not show, such as why the link let a request pass. If an
// observer listens, Note prints text with fmt.Sprint before it returns.
// Otherwise it does nothing, so a text that is costly to make can be a
// fmt.Stringer.
func Note(ctx context.Context, text any) {
	if note, ok := ctx.Value(noteKey{}).(func(string)); ok {
		note(fmt.Sprint(text))
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
