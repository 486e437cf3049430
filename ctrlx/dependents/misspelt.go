package dependents

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// misspelt returns a problem for each annotation of this name that looks like a
// policy and is none, as in delete_policy: the object would be deleted, although
// the user asks for an orphan.
func (d *Dependents) misspelt(annotations map[string]string) (problems []string) {
	known := []string{
		annotationAdoption, annotationUpdate, annotationDelete, annotationReconcile, annotationReapply, annotationHint,
		annotationIgnored,
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		rest, ours := strings.CutPrefix(key, d.keys.prefix)
		looks := func(end string) bool { return strings.HasSuffix(strings.ToLower(rest), end) }
		if ours && !slices.Contains(known, rest) && slices.ContainsFunc([]string{"policy", "interval", "hint", "fields"}, looks) {
			problems = append(problems, fmt.Sprintf("the annotation %s is unknown: it must be one of %q", key, known))
		}
	}
	return problems
}
