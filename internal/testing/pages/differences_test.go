package pages

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// differences lists the tests of each row of "Deliberate differences" in
// docs/from-component-operator-runtime.md, as folder, test and case.
var differences = map[string][]string{
	"ownership":                             {"ctrlx/dependents.TestStolen/Label", "ctrlx/dependents.TestStolen/OtherName", "ctrlx/component.TestRedundant"},
	"drift":                                 {"ctrlx/component.TestTrace/Life", "ctrlx/dependents.TestContested"},
	"polling":                               {"ctrlx/component.TestTrace/Life", "ctrlx/component.TestControllers"},
	"the end of a pass":                     {"ctrlx/component.TestTrace/Life"},
	"status":                                {"ctrlx/component.TestControllers"},
	"status fields":                         {"ctrlx/component.TestTrace/Life"},
	"conditions":                            {"ctrlx/component.TestTrace/Blocked", "ctrlx.TestKstatusOnTheServer"},
	"Recreate of an adopted object":         {"ctrlx/dependents.TestAdoption/Recreate"},
	"a reapply interval of 0 by annotation": {"ctrlx/dependents.TestNextPass/ZeroAt"},
	"a negative interval":                   {"ctrlx/dependents.TestNextPass/Negative", "ctrlx/dependents.TestPoliciesOver/Negative", "ctrlx.TestRetriable/Negative"},
	"a retriable error that is joined with others": {"ctrlx.TestRetriable/Joined", "ctrlx.TestRetriable/Terminal"},
	"a panic":                                                 {"ctrlx/component.TestTrace/GeneratorPanics"},
	"the message of a `RetriableError`":                       {"ctrlx.TestMessagesOfComponents/Plain"},
	"the message of a wrapped `RetriableError`":               {"ctrlx.TestMessagesOfComponents/Wrapped"},
	"the message of a joined `RetriableError`":                {"ctrlx.TestMessagesOfComponents/Joined"},
	"409 Conflict":                                            {"ctrlx/component.TestTrace/Conflict", "ctrlx.TestAPIServerErrors/Conflict"},
	"429 TooManyRequests":                                     {"ctrlx.TestAPIServerErrors/TooMany"},
	"listing managed types":                                   {"ctrlx/component.TestAdditionalManagedTypes/Measurements", "ctrlx/component.TestAdditionalManagedTypes/NotListable", "ctrlx/component.TestAdditionalManagedTypes/BrokenAway"},
	"additional managed types, if all objects are orphans":    {"ctrlx/component.TestAdditionalManagedTypes/AllKept"},
	"order of the deletion guards":                            {"ctrlx/component.TestTrace/Blocked", "ctrlx/component.TestPlanOfBlocked"},
	"finalizers on the definitions of the set":                {"ctrlx/component.TestManagedTypes"},
	"hooks while an operation is polled":                      {"ctrlx.TestHookPlaces"},
	"a Namespace of the set that existed before":              {"ctrlx/component.TestAdoptedNamespace/Before", "ctrlx/component.TestAdoptedNamespace/AskedFor"},
	"an object that is part of an ApplySet of kubectl":        {"ctrlx/dependents.TestAdoption/ApplySet"},
	"Replace of a Job, of a bound PersistentVolumeClaim":      {"ctrlx/dependents.TestReplaceKeeps/Job", "ctrlx/dependents.TestReplaceKeeps/Claim"},
	"Replace of a bound PersistentVolume":                     {"ctrlx/dependents.TestReplaceKeeps/Volume"},
	"Replace of an autoscaled object without `spec.replicas`": {"ctrlx/dependents.TestReplaceKeeps/Scaled"},
	"Replace": {"ctrlx/dependents.TestUpdate/Replace"},
	"Replace, and a field that no manager owns, or that one owns in another version of the API": {"ctrlx/dependents.TestReplaceKeeps/Job", "ctrlx/dependents.TestTakeoverVersion"},
	"Replace by a manifest with an unknown field, or with two items of the same key":            {"ctrlx/dependents.TestRefusedByServer/Unknown", "ctrlx/dependents.TestRefusedByServer/Twice"},
	"Replace by a manifest with a null":                                                         {"ctrlx/dependents.TestReplaceKeeps/NullReplicas", "ctrlx/dependents.TestDigest/Null"},
	"Replace in an aggregated API without server-side apply":                                    {"ctrlx/dependents.TestWithoutApply"},
	"a manager that forces a value of the manifest in another form":                             {"ctrlx/dependents.TestOtherForm"},
	"Recreate of a Namespace or a definition":                                                   {"ctrlx/component.TestBadInput/RecreateNamespace"},
}

// TestDifferences fails if a row has no test, or names one that does not exist.
func TestDifferences(t *testing.T) {
	_, section, _ := strings.Cut(readFile(t, "docs/from-component-operator-runtime.md"), "\n## Deliberate differences\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows, listed []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(section, -1)[1:] {
		rows = append(rows, m[1])
	}
	for row, tests := range differences {
		listed = append(listed, row)
		for _, name := range tests {
			folder, test, _ := strings.Cut(name, ".")
			test, of, _ := strings.Cut(test, "/")
			found := false
			files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				_, text, ok := strings.Cut(readFile(t, strings.TrimPrefix(file, root+"/")), "\nfunc "+test+"(")
				text, _, _ = strings.Cut(text, "\n}\n")
				found = found || ok && strings.Contains(text, `"`+of+`"`) || ok && of == ""
			}
			if !found {
				t.Errorf("%s: there is no test %s", row, name)
			}
		}
	}
	slices.Sort(rows)
	slices.Sort(listed)
	if diff := cmp.Diff(listed, rows); diff != "" || len(rows) < 20 {
		t.Errorf("the rows (-list +page):\n%s", diff)
	}
}
