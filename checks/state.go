package checks

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// read gives what a function of the user's reads from x, and zero if it met a nil pointer on the way: nobody has set it
// yet. A panic of any other kind goes on.
func read[X, V any](from func(X) V, x X) (v V) {
	done := false
	defer func() {
		if !done {
			passNil(recover())
		}
	}()
	v = from(x)
	done = true
	return v
}

// known gives the state that a selector finds in x; "" if that is nil.
func known[X any, S ~string](selector func(X) *S, x X) string {
	if s := read(selector, x); s != nil {
		return string(*s)
	}
	return ""
}

// passNil lets every panic go on but that of a nil pointer.
func passNil(v any) {
	if err, ok := v.(runtime.Error); ok && strings.Contains(err.Error(), "nil pointer dereference") {
		return
	}
	if v != nil { // nil: runtime.Goexit, which goes on by itself
		panic(v)
	}
}

// lets tells whether a state lets the work go on.
func (s *settings) lets(state string) bool {
	return s.listed(state) != s.denies
}

// listed tells whether a state is among those that Allow or Deny name.
func (s *settings) listed(state string) bool {
	if found := slices.Contains(s.states, state); found || s.exact {
		return found
	}
	state = strings.TrimSpace(state)
	return slices.ContainsFunc(s.states, func(other string) bool { return strings.EqualFold(other, state) })
}

// either is "a", "a or b", "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// blank tells whether a state was not reported.
func blank(state string) bool {
	return state == "" || (state[0] <= ' ' || state[0] >= utf8.RuneSelf) && strings.TrimSpace(state) == ""
}

// printable makes a state fit to stand in a message, whatever is in it.
func printable(state string) string {
	state = shorten(state)
	if !utf8.ValidString(state) || strings.ContainsFunc(state, func(r rune) bool { return r == '"' || !unicode.IsPrint(r) }) {
		state = strconv.Quote(state)
		return state[1 : len(state)-1]
	}
	return state
}
