package classify

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// noVersions are texts that resemble versions.
var noVersions = []string{
	"", "v1", "2023", "2023-1-1", "2023-13-01", "2023-02-30", "2023-01-01preview", "2023-01-01-", "2023-01-01 ", " 2023-01-01", "2023-01-01-pr\u00e9",
	"2023-01-01-a b", "2023-01-01-a_b", "2023-01-01-a/b", "2023-01-01-~", "2023-01-01~", "latest-2023-01-01", "2023/01/01",
}

func TestAPIVersions(t *testing.T) {
	cases := map[string]struct {
		reason    string
		rule      string
		hit, miss []string
	}{
		"from":         {"previews come before the stable version of their date", ">=2023-01-01", []string{"2023-01-01", "2023-01-02-preview", "2024-05-01"}, []string{"2022-12-31", "2023-01-01-preview"}},
		"from preview": {"a preview comes after all versions of earlier dates", ">=2023-01-01-preview", []string{"2023-01-01-preview", "2023-01-01-privatepreview", "2023-01-01"}, []string{"2022-12-31", "2023-01-01-alpha"}},
		"above":        {"> excludes the version itself", ">2023-01-01", []string{"2023-01-02-preview"}, []string{"2023-01-01", "2023-01-01-preview"}},
		"up to":        {"<= includes the version itself and its previews", "<=2023-01-01", []string{"2023-01-01", "2023-01-01-preview", "2022-01-01"}, []string{"2023-01-02-preview"}},
		"below":        {"< includes the previews of the version", "<2023-01-01", []string{"2023-01-01-preview", "2022-01-01"}, []string{"2023-01-01"}},
		"range":        {"comparisons must all hold", " >=2023-01-01\t<2024-01-01 ", []string{"2023-01-01", "2023-12-31"}, []string{"2022-12-31", "2024-01-01"}},
		"closed range": {"a range may include its last version", ">=2023-01-01 <=2024-01-01", []string{"2023-01-01", "2024-01-01"}, []string{"2022-12-31", "2024-01-02"}},
		"list":         {"one of the versions must be equal", "2023-01-01 2024-05-01-preview", []string{"2023-01-01", "2024-05-01-preview", "2024-05-01-PREVIEW"}, []string{"2024-05-01", "2023-01-01-preview", "2023-02-01"}},
		"unknown":      {"an invalid version matches no condition", ">=2000-01-01", nil, noVersions},
		"unknown, <":   {"an invalid version is not below a date", "<2030-01-01", []string{"2023-01-01"}, noVersions},
		"unknown, <=":  {"an invalid version is not below or equal to a date", "<=2030-01-01", []string{"2023-01-01"}, noVersions},
		"unknown, >":   {"an invalid version is not above a date", ">2000-01-01", []string{"2023-01-01"}, noVersions},
		"unknown, one": {"an invalid version equals no version of a list", "2023-01-01 2023-01-01-pr", []string{"2023-01-01"}, noVersions},
		"suffix":       {"a suffix has letters, digits, hyphens and dots, in any case", "2023-01-01-a.B-c9", []string{"2023-01-01-a.b-c9", "2023-01-01-A.B-C9"}, []string{"2023-01-01-a.b-c", "2023-01-01-a.b-c99", "2023-01-01-a.b.c9", "2023-01-01"}},
		"odd suffixes": {"any suffix comes before the stable version", "<2023-01-01", []string{"2023-01-01-zzz", "2023-01-01--", "2023-01-01-.", "2023-01-01-0", "2023-01-01-a-b.c"}, []string{"2023-01-01"}},
		"order":        {"suffixes are ordered as texts", ">2023-01-01-preview.1", []string{"2023-01-01-preview.2", "2023-01-01-preview1", "2023-01-01"}, []string{"2023-01-01-preview.1", "2023-01-01-preview.0", "2023-01-01-preview", "2023-01-01-beta"}},
		"none":         {"without a condition any version matches, known or not", "", []string{"", "v1", "2023-01-01"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			vs, err := parseAPIVersions(c.rule)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range c.hit {
				if !vs.match(v) {
					t.Errorf("%s: %q must match %q", c.reason, c.rule, v)
				}
			}
			for _, v := range c.miss {
				if vs.match(v) {
					t.Errorf("%s: %q must not match %q", c.reason, c.rule, v)
				}
			}
		})
	}
}

func TestAPIVersionsThatDoNotParse(t *testing.T) {
	cases := map[string]struct{ rule, want string }{
		"space":   {">= 2023-01-01", `">=" is not a version`},
		"short":   {">=2023", `">=2023" is not a version`},
		"equals":  {"==2023-01-01", `"==2023-01-01" starts with ==`},
		"not":     {"!=2023-01-01", `"!=2023-01-01" starts with !=`},
		"mixed":   {">=2023-01-01 2024-01-01", "both plain versions and comparisons"},
		"no date": {"2023-02-30", `"2023-02-30" is not a version`},
		"commas":  {"2023-01-01,2024-01-01", "is not a version"},
	}
	for name, c := range cases {
		if _, err := parseAPIVersions(c.rule); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, c.want)
		}
	}
}

func TestAPIVersionsAreOrdered(t *testing.T) {
	version := rapid.Custom(func(t *rapid.T) apiVersion {
		v, ok := parseAPIVersion(rapid.StringMatching(`202[34]-0[12]-0[12](-(preview|PREVIEW|alpha|beta\.1))?`).Draw(t, "version"))
		if !ok {
			t.Fatal("does not parse")
		}
		return v
	})
	sign := func(n int) int { return min(max(n, -1), 1) }
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := version.Draw(t, "a"), version.Draw(t, "b"), version.Draw(t, "c")
		if sign(a.compare(b)) != -sign(b.compare(a)) {
			t.Fatal("not antisymmetric")
		}
		if a.compare(b) <= 0 && b.compare(c) <= 0 && a.compare(c) > 0 {
			t.Fatal("not transitive")
		}
		if a.compare(a) != 0 {
			t.Fatal("not reflexive")
		}
	})
}
