package chaintest

import "fmt"

// Law is a property that every link should have. A failure of [Laws] names the
// broken law and the link. [WithExcuse] lets a link break a law. The zero Law
// is no law.
type Law uint8

// The laws.
const (
	// Reached: some request reaches the end. Else the other laws cannot be
	// tested.
	Reached Law = iota + 1
	// Composing: composing calls no handler, and holds nothing.
	Composing
	// OwnEnd: each handler that Then makes runs the links of its own chain and
	// its own end. A link that stores next in a variable shared by several
	// compositions breaks this law.
	OwnEnd
	// NextOnce: a link calls next at most once in a call.
	NextOnce
	// Nested: a link calls next in the goroutine that called the link, and
	// returns after everything that it called. No outer link can recover a
	// panic of another goroutine, so it would end the program.
	Nested
	// NoPanic: a link neither panics by itself nor ends its goroutine.
	NoPanic
	// GivesBack: a link releases all that it holds, also after an error, a
	// panic and runtime.Goexit. This law needs the option [WithHeld].
	GivesBack
	// Context: the context that a link passes on descends from the one that it
	// got. Inner links see its values and its cancellation.
	Context
	// Errors: errors.Is finds an error of the inner links in the error that the
	// link returns.
	Errors
	// Panics: a panic of the inner links continues, or the error that the link
	// returns contains it, as with [chain.Recover].
	Panics
	// Request: the links do not change the caller's request, or anything that
	// it refers to. A link that passes on another request makes a copy.
	Request
	// Result: a link that returns no error returns the result of next. This law
	// applies to the links that [WithKeptResult] names.
	Result
	// Repeatable: the second of two equal calls runs the same links, and each
	// link ends in the same way.
	Repeatable
	// Concurrent: calls at the same time are independent. Each has its own
	// context, request, error and panic, and runs as it does alone.
	Concurrent
	// Goroutines: all goroutines that a call starts end after the call returned
	// and its context was canceled.
	Goroutines
	// Observing: an observer changes nothing.
	Observing
	// Accepted: the composer accepts the result of each link. This law needs
	// the option [WithComposer]. No link can be excused from it.
	Accepted
)

var laws = [...]struct{ name, says string }{
	Reached:    {"Reached", "some request reaches the end"},
	Composing:  {"Composing", "composing calls no handler, and holds nothing"},
	OwnEnd:     {"OwnEnd", "each handler that Then makes runs its own end"},
	NextOnce:   {"NextOnce", "a link calls next at most once in a call"},
	Nested:     {"Nested", "a link calls next in the goroutine that called it, and returns after everything that it called"},
	NoPanic:    {"NoPanic", "a link neither panics by itself nor ends its goroutine"},
	GivesBack:  {"GivesBack", "a link releases all that it holds, also after an error, a panic and runtime.Goexit"},
	Context:    {"Context", "the context that a link passes on descends from the one that it got"},
	Errors:     {"Errors", "errors.Is finds an error of the inner links in the error that a link returns"},
	Panics:     {"Panics", "a panic of the inner links continues, or the error that a link returns contains it"},
	Request:    {"Request", "the links do not change the caller's request"},
	Result:     {"Result", "a link that returns no error returns the result of next"},
	Repeatable: {"Repeatable", "the second of two equal calls runs the same links, and each link ends in the same way"},
	Concurrent: {"Concurrent", "calls at the same time are independent"},
	Goroutines: {"Goroutines", "all goroutines that a call starts end after the call"},
	Observing:  {"Observing", "an observer changes nothing"},
	Accepted:   {"Accepted", "the composer accepts the result of each link"},
}

func (l Law) known() bool { return l > 0 && int(l) < len(laws) }

// String returns the name of the law.
func (l Law) String() string {
	if !l.known() {
		return fmt.Sprintf("Law(%d)", uint8(l))
	}
	return laws[l].name
}

// Says returns the law as a sentence, or "" for an unknown law.
func (l Law) Says() string {
	if !l.known() {
		return ""
	}
	return laws[l].says
}
