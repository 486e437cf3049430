package chaintest

import "fmt"

// Law is something that holds for every link that is not meant to do otherwise. Failures of [Laws] name the law that is
// broken and the link that breaks it; [Excuse] lets a link break one.
type Law uint8

// The laws.
const (
	// Reached: some request gets through to the end. If none does, nothing can be said about the other laws.
	Reached Law = iota + 1
	// Composing: composing only composes. No handler runs while the chain is put together, and nothing is held by it.
	Composing
	// OwnEnd: each handler that Then makes runs to the end that it was made with, and through the links of its own chain,
	// whatever else was made of the chain. A link that keeps next in a place that compositions share breaks it.
	OwnEnd
	// NextOnce: a link calls next at most once in a call.
	NextOnce
	// Nested: a link calls next in the goroutine that called the link, and is left after everything that it called. A panic
	// in another goroutine ends the program, whatever links are in front.
	Nested
	// NoPanic: a link does not panic by itself, nor end its goroutine.
	NoPanic
	// GivesBack: what a link holds it gives back on every outcome: after an error, a panic, runtime.Goexit. It is checked
	// with the probe given by [Held], and not at all without one.
	GivesBack
	// Context: what a link hands on descends from the context that it got: values are seen, and so is cancellation.
	Context
	// Errors: an error of what is behind a link is found by errors.Is in what the link returns.
	Errors
	// Panics: a panic of what is behind a link goes on, or is found in the error that the link returns, as chain.Recover does.
	Panics
	// Request: the caller's request is left as it was, with everything that can be reached from it. A link that wants to hand
	// on another one makes a copy.
	Request
	// Result: a link that returns no error returns the result of next. It is checked for the links that [KeepsResult] names.
	Result
	// Repeatable: the same call, made again, goes the same way.
	Repeatable
	// Concurrent: calls at the same time have nothing to do with each other: each has its own context, request, error and
	// panic, and goes the way that it goes alone.
	Concurrent
	// Goroutines: a call leaves no goroutine behind, once it is over and its context canceled.
	Goroutines
	// Observing: observing a chain changes nothing.
	Observing
	// Accepted: what composes the chain accepts the result of each link. It is
	// checked only with [ComposedBy], and no link is excused from it.
	Accepted
)

var laws = [...]struct{ name, says string }{
	Reached:    {"Reached", "some request gets through to the end"},
	Composing:  {"Composing", "no handler runs, and nothing is held, while the chain is composed"},
	OwnEnd:     {"OwnEnd", "each handler that Then makes runs to its own end"},
	NextOnce:   {"NextOnce", "a link calls next at most once in a call"},
	Nested:     {"Nested", "a link calls next in the goroutine that called it, and is left after everything that it called"},
	NoPanic:    {"NoPanic", "a link does not panic by itself, nor end its goroutine"},
	GivesBack:  {"GivesBack", "what a link holds it gives back on every outcome"},
	Context:    {"Context", "what a link hands on descends from the context that it got"},
	Errors:     {"Errors", "an error of what is behind a link is found in what the link returns"},
	Panics:     {"Panics", "a panic of what is behind a link goes on, or is found in the error that the link returns"},
	Request:    {"Request", "the caller's request is left as it was"},
	Result:     {"Result", "a link that returns no error returns the result of next"},
	Repeatable: {"Repeatable", "the same call, made again, goes the same way"},
	Concurrent: {"Concurrent", "calls at the same time have nothing to do with each other"},
	Goroutines: {"Goroutines", "a call leaves no goroutine behind"},
	Observing:  {"Observing", "observing a chain changes nothing"},
	Accepted:   {"Accepted", "what composes the chain accepts the result of each link"},
}

func (l Law) known() bool { return l > 0 && int(l) < len(laws) }

// String is the name of the law.
func (l Law) String() string {
	if !l.known() {
		return fmt.Sprintf("Law(%d)", uint8(l))
	}
	return laws[l].name
}

// Says is the law in a sentence; empty for what is no law.
func (l Law) Says() string {
	if !l.known() {
		return ""
	}
	return laws[l].says
}
