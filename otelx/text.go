package otelx

import "github.com/windlass-go/windlass/internal/text"

// The limits of texts that come from services and users.
const (
	maxWord = text.Name   // a verdict, a reason or a name
	maxText = text.Object // a message, a note or a key

	maxStack = 16_384 // the stack of a panic
	maxList  = 10     // the number of notes or awaited objects
)

// safe returns a text of a service or a user as one line, without secrets.
func safe(foreign string, limit int) string { return text.Line(foreign, limit) }
