package peers

import "slices"

// All links of a chain are different functions, as in real programs. A
// processor predicts the return addresses of fifty calls of one function. That
// halves the time of peers whose links call one another directly, but not of
// the others. So a link is a generic function of A and B, which the compiler
// instantiates for each pair of sizes. Links are not inlined, so that the stack
// shows their names.
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

// fifty returns the links of a peer. Each function returns ten of them.
func fifty[T any](tens ...func() []T) []T {
	var out []T
	for _, ten := range tens {
		out = append(out, ten()...)
	}
	return out
}

// firstAnd returns the first n links, followed by last.
func firstAnd[T any](links []T, n int, last T) []T { return append(slices.Clone(links[:n]), last) }
