package checkstest

import "fmt"

// Rule is a property that [Conforms] tries on a check.
type Rule uint8

const (
	// Decides: it returns a Result other than the zero Result, or an error, in
	// time ([WithTimeout]). It does not panic. It decides whatever the owner is:
	// none, named by no reference yet, not found, a nil pointer, of another
	// kind, known only by its ID, being deleted, not ready, ready only for an
	// older generation, or without a reported state.
	Decides Rule = iota + 1
	// NilFields: it decides if the request has no resolver or no lister, if the
	// objects of a set have no value, and if one exported field of the resource
	// or the owner is zero, at any level. The resource itself is never nil,
	// because no engine reconciles a nil resource.
	NilFields
	// HandsOn: if it proceeds, it calls the inner links exactly once, with the
	// request or an equal copy. It returns their block or skip unchanged, and
	// their error as it is or wrapped. If it blocks, skips or fails itself, it
	// does not call them.
	HandsOn
	// SameAnswer: it gives the same answer, texts included, to the same request
	// and to a request with copies of its objects. An answer that changes is a
	// condition that every pass writes. It changes neither the resource nor the
	// owner nor the request.
	SameAnswer
	// Explains: a block has a reason in CamelCase that is valid in a condition
	// (checks.ValidReason), and a message that is neither blank nor only the
	// reason.
	Explains
)

var rules = [...]struct{ name, text string }{
	Decides:    {"Decides", "it decides in time, whatever the owner is"},
	NilFields:  {"NilFields", "it decides if a field is not set"},
	HandsOn:    {"HandsOn", "if it proceeds, it passes on the request once, and returns the answer of the inner links"},
	SameAnswer: {"SameAnswer", "it gives the same answer to the same request, and changes nothing"},
	Explains:   {"Explains", "a block has a reason in CamelCase, and a message"},
}

// known reports whether r is a constant of this package.
func (r Rule) known() bool { return r > 0 && int(r) < len(rules) }

// String returns the name of the rule.
func (r Rule) String() string {
	if !r.known() {
		return fmt.Sprintf("Rule(%d)", uint8(r))
	}
	return rules[r].name
}
