package chaintest

import "testing"

func TestColumns(t *testing.T) {
	cases := map[string]struct {
		reason      string
		left, right []string
		want        string
	}{
		"Same": {"equal lists have no mark", []string{"a"}, []string{"a"}, "    was   is\n    a     a\n"},
		"Differ": {"only the first difference has a mark", []string{"a", "b", "c"}, []string{"a", "x", "y"},
			"    was   is\n    a     a\n ≠  b     x\n    c     y\n"},
		"Longer":  {"the first extra line of the right list has the mark", nil, []string{"a", "b"}, "    was   is\n ≠        a\n          b\n"},
		"Shorter": {"an extra empty line of the left list has the mark", []string{"a", ""}, []string{"a"}, "    was   is\n    a     a\n ≠\n"},
		"Wide":    {"the width counts letters, not bytes", []string{"ééééé"}, []string{"x"}, "    was     is\n ≠  ééééé   x\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := columns("was", "is", tc.left, tc.right); got != tc.want {
				t.Errorf("%s: got\n%s\nwant\n%s", tc.reason, got, tc.want)
			}
		})
	}
}
