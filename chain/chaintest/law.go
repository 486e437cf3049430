package chaintest

import "slices"

// The names of the laws.
const (
	reached    = "Reached"
	composing  = "Composing"
	ownEnd     = "OwnEnd"
	nextOnce   = "NextOnce"
	nested     = "Nested"
	noPanic    = "NoPanic"
	contexts   = "Context"
	keepsError = "Errors"
	keepsPanic = "Panics"
	request    = "Request"
	result     = "Result"
	repeatable = "Repeatable"
	concurrent = "Concurrent"
	goroutines = "Goroutines"
	observing  = "Observing"
	accepted   = "Accepted"
)

// laws lists the laws. If a call breaks several, the first one is reported
// first.
var laws = []struct{ name, says string }{
	{reached, "some request reaches the end"},
	{composing, "composing calls no handler"},
	{ownEnd, "each handler that Then makes runs its own end"},
	{nextOnce, "a link calls next at most once in a call"},
	{nested, "a link calls next in the goroutine that called it, and returns after everything that it called"},
	{noPanic, "a link neither panics by itself nor ends its goroutine"},
	{contexts, "the context that a link passes on descends from the one that it got"},
	{keepsError, "errors.Is finds an error of the inner links in the error that a link returns"},
	{keepsPanic, "a panic of the inner links continues, or the error that a link returns contains it"},
	{request, "the links do not change the caller's request"},
	{result, "a link that returns no error returns the result of next"},
	{repeatable, "the second of two equal calls runs the same links, and each link ends in the same way"},
	{concurrent, "calls at the same time are independent"},
	{goroutines, "all goroutines that a call starts end after the call"},
	{observing, "an observer changes nothing"},
	{accepted, "the composer accepts the result of each link"},
}

// place returns the position of a law in laws, or -1.
func place(law string) int {
	return slices.IndexFunc(laws, func(l struct{ name, says string }) bool { return l.name == law })
}
