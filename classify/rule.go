package classify

import (
	"errors"
	"fmt"
	"strings"
)

// Rule is a row of a [Table]: conditions that must all hold, and the Retry that then applies. A zero field is no
// condition, but a rule has at least one.
type Rule struct {
	// Name is what the rule is known by in traces, logs and metrics; empty: its conditions, in words.
	Name string
	// Code is the service's word for the error; of several, separated by spaces, one has to be it. Case does not matter
	// for the letters of ASCII.
	Code string
	// Status is the HTTP status, 400 to 599. Long-running operations fail with 200, so no status rule matches those.
	Status int
	// Message is a condition on the text.
	Message Matcher
	// APIVersions restricts the rule to API versions, which are dates: either comparisons separated by spaces, which
	// must all hold, as in ">=2023-01-01 <2024-01-01", or versions, of which one has to be it. A preview comes before
	// the stable version of its date. A failure whose version is not known is not matched.
	APIVersions string
	// Retry is how soon to try again. It must be set.
	Retry Retry
}

// String is what the rule is known by: its Name, or its conditions in words.
func (r Rule) String() string {
	if r.Name != "" {
		return r.Name
	}
	var parts []string
	if codes := strings.Fields(r.Code); len(codes) > 0 {
		parts = append(parts, strings.Join(codes, " or "))
	}
	if r.Status != 0 {
		parts = append(parts, fmt.Sprintf("HTTP %d", r.Status))
	}
	if !r.Message.isZero() {
		parts = append(parts, "message "+r.Message.String())
	}
	if versions := strings.Fields(r.APIVersions); len(versions) > 0 {
		parts = append(parts, "API version "+strings.Join(versions, " "))
	}
	if len(parts) == 0 {
		return "no condition"
	}
	return strings.Join(parts, ", ")
}

// check finds what is wrong with a rule.
func (r Rule) check() error {
	switch {
	case r.Code != "" && strings.TrimSpace(r.Code) == "":
		return errors.New("its Code is blank: name a code, or leave it empty for any")
	case strings.ContainsAny(r.Code, ",;|"):
		return fmt.Errorf("its Code is %q: separate codes by spaces", r.Code)
	case r.Status != 0 && (r.Status < 400 || r.Status > 599):
		return fmt.Errorf("its Status is %d: only 400 to 599 are failures (long-running operations fail with 200; match those by Code)", r.Status)
	case r.APIVersions != "" && strings.TrimSpace(r.APIVersions) == "":
		return errors.New("its APIVersions are blank: name some, or leave it empty for any")
	case r.Code == "" && r.Status == 0 && r.Message.isZero() && r.APIVersions == "":
		return errors.New("it has no condition: set Code, Status, Message or APIVersions")
	case r.Retry == Unset:
		return errors.New("its Retry is not set: say Fast, Slow, VerySlow or OnChange")
	case !r.Retry.decided():
		return fmt.Errorf("its Retry is %s: say Fast, Slow, VerySlow or OnChange", r.Retry)
	}
	_, err := parseAPIVersions(r.APIVersions)
	if err != nil {
		return fmt.Errorf("its APIVersions: %w", err)
	}
	return nil
}
