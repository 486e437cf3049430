package checks

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/probe"
)

// read calls a selector. If the selector dereferences nil, read returns the zero value, which means
// that the field is not reported. The trace then shows where. read does not stop any other panic.
func read[X, V any](ctx context.Context, from func(X) V, x X) (v V) {
	v, _ = reads(ctx, from, x)
	return v
}

// reads is read that also reports whether the selector returned.
func reads[X, V any](ctx context.Context, from func(X) V, x X) (v V, returned bool) {
	defer func() {
		if !returned {
			if nilMet(recover()) {
				chain.NoteFunc(ctx, nilPlace)
			}
		}
	}()
	v = from(x)
	returned = true
	return v, returned
}

// require calls a function that must not dereference nil. If it does, the error says where, and how
// to fix the function. require does not stop any other panic.
func require[X, V any](from func(X) V, x X, name, remedy string) (v V, err error) {
	returned := false
	defer func() {
		if !returned {
			if nilMet(recover()) {
				err = fmt.Errorf("%s: %w at %s: %s", name, ErrNilPointer, probe.Panicked(), remedy)
			}
		}
	}()
	v = from(x)
	returned = true
	return v, nil
}

// ErrNilPointer is in the error of a check if its function dereferenced nil and the nil has no
// meaning. Such functions build a list of references, or decide whether the resource is paused.
// Test for it with errors.Is.
var ErrNilPointer = errors.New("the function dereferenced nil")

// known returns the state that a selector finds in x, or "" if the state is not reported.
func known[X any, S ~string](ctx context.Context, selector func(X) *S, x X) string {
	if s := read(ctx, selector, x); s != nil {
		return string(*s)
	}
	return ""
}

// nilMet reports whether v is the panic of a nil dereference. It panics again with any other value.
func nilMet(v any) bool {
	if err, ok := v.(runtime.Error); ok && strings.Contains(err.Error(), "nil pointer dereference") {
		return true
	}
	if v != nil { // nil: runtime.Goexit, which continues by itself
		panic(v)
	}
	return false
}

// nilPlace returns the note about a nil dereference, so that a bug in a selector is visible. Only
// deferred functions may call it.
func nilPlace() string { return "nil dereferenced at " + probe.Panicked() }

// lets reports whether the check proceeds in a state. If final is true, only a final good state of
// the Vocabulary proceeds.
func (s *settings) lets(req *OwnerRequest, final bool, state string) bool {
	if s.states != nil {
		return s.listed(s.states, state) != s.denies
	}
	return s.listed(req.Vocabulary.states(final), state)
}

// listed reports whether a state is in a list.
func (s *settings) listed(states []string, state string) bool {
	if found := slices.Contains(states, state); found || s.exact {
		return found
	}
	state = strings.TrimSpace(state)
	return slices.ContainsFunc(states, func(other string) bool { return strings.EqualFold(strings.TrimSpace(other), state) })
}

// wanted returns the end of a message, which lists the states that proceed.
func (s *settings) wanted(req *OwnerRequest, final bool) string {
	switch {
	case s.states != nil:
		return s.words
	case req.Vocabulary == nil && final:
		return mustBeSucceeded
	case req.Vocabulary == nil:
		return mustBeSettled
	}
	return ": it must be " + either(req.Vocabulary.states(final))
}

// mustBeSettled and mustBeSucceeded are the results of wanted for Azure's words.
var mustBeSettled, mustBeSucceeded = ": it must be " + either(azureSettled), ": it must be " + either(azureSucceeded)

// either returns "a", "a or b", or "a, b or c". There must be at least one word.
func either(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// blank reports whether a state is empty or white space, which means that it is not reported.
func blank(state string) bool {
	return state == "" || (state[0] <= ' ' || state[0] >= utf8.RuneSelf) && strings.TrimSpace(state) == ""
}

// printable shortens and escapes any state so that it fits in a message.
func printable(state string) string {
	state = shorten(state)
	if !utf8.ValidString(state) || strings.ContainsFunc(state, func(r rune) bool { return r == '"' || !unicode.IsPrint(r) }) {
		state = strconv.Quote(state)
		return state[1 : len(state)-1]
	}
	return state
}
