package classify

import (
	"errors"
	"fmt"
	"strings"
)

// Rule is a row of a [Table]: conditions that must all hold, and the Retry that then applies. A zero field is no
// condition. A rule has at least one condition.
type Rule struct {
	// Name names the rule in traces, logs and metrics. Empty means its conditions in words.
	Name string
	// Code is the service's word for the error, exactly as the service writes it. Several codes, separated by spaces, are
	// alternatives.
	Code string
	// AnyCase compares Code without regard to the case of ASCII letters.
	AnyCase bool
	// InnerCode is a code that the service nests in the error ([Failure.Inner]), exactly as it writes it. Several codes,
	// separated by spaces, are alternatives.
	InnerCode string
	// Status is the HTTP status, 400 to 599. Long-running operations fail with 200, so no status rule matches those.
	Status int
	// Message is a condition on the text.
	Message Matcher
	// APIVersions restricts the rule to API versions, which are dates. It holds comparisons separated by spaces, which
	// must all hold, as in ">=2023-01-01 <2024-01-01". Or it holds versions, and one must be equal. A preview comes before
	// the stable version of its date. A rule with APIVersions does not match a failure of an unknown version.
	APIVersions string
	// Retry says how soon to retry. It must be set.
	Retry Retry
}

// String returns the Name, or the conditions in words.
func (r Rule) String() string {
	if r.Name != "" {
		return r.Name
	}
	var parts []string
	if codes := strings.Fields(r.Code); len(codes) > 0 {
		parts = append(parts, strings.Join(codes, " or "))
	}
	if codes := strings.Fields(r.InnerCode); len(codes) > 0 {
		parts = append(parts, "inner "+strings.Join(codes, " or "))
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
	case r.InnerCode != "" && strings.TrimSpace(r.InnerCode) == "":
		return errors.New("its InnerCode is blank: name a code, or leave it empty for any")
	case strings.ContainsAny(r.Code+r.InnerCode, ",;|"):
		return fmt.Errorf("its Code or InnerCode is %q: separate codes by spaces", strings.TrimSpace(r.Code+" "+r.InnerCode))
	case r.AnyCase && r.Code == "":
		return errors.New("it has AnyCase and no Code: name a code, or leave AnyCase out")
	case r.Status != 0 && (r.Status < 400 || r.Status > 599):
		return fmt.Errorf("its Status is %d: only 400 to 599 are failures (long-running operations fail with 200; match those by Code)", r.Status)
	case r.APIVersions != "" && strings.TrimSpace(r.APIVersions) == "":
		return errors.New("its APIVersions are blank: name some, or leave it empty for any")
	case r.Code == "" && r.InnerCode == "" && r.Status == 0 && r.Message.isZero() && r.APIVersions == "":
		return errors.New("it has no condition: set Code, InnerCode, Status, Message or APIVersions")
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
