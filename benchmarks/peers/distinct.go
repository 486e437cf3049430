package main

import "slices"

// All links of a chain are functions of their own, as they are in life: where fifty calls of one and the same function
// return to a processor guesses, which takes half the time off those peers whose links call one another directly, and
// nothing off the others. So a link is a function of A and B, of which the compiler makes one for each pair of sizes. Links
// are not inlined into what lists them, so that the stack shows their names.
type (
	d0 [0]byte
	d1 [1]byte
	d2 [2]byte
	d3 [3]byte
	d4 [4]byte
	d5 [5]byte
	d6 [6]byte
	d7 [7]byte
	d8 [8]byte
	d9 [9]byte
)

// fifty are the links of a peer, given ten at a time.
func fifty[T any](tens ...func() []T) []T {
	var out []T
	for _, ten := range tens {
		out = append(out, ten()...)
	}
	return out
}

// behind is the first n links, and last.
func behind[T any](links []T, n int, last T) []T { return append(slices.Clone(links[:n]), last) }
