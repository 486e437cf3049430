package classify

import "testing"

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
		"up to":        {"<= includes the version itself and its previews", "<=2023-01-01", []string{"2023-01-01", "2023-01-01-preview", "2022-01-01"}, []string{"2023-01-02-preview"}},
		"closed range": {"a range may include its last version", ">=2023-01-01 <=2024-01-01", []string{"2023-01-01", "2024-01-01"}, []string{"2022-12-31", "2024-01-02"}},
		"list":         {"one of the versions must be equal", "2023-01-01 2024-05-01-preview", []string{"2023-01-01", "2024-05-01-preview", "2024-05-01-PREVIEW"}, []string{"2024-05-01", "2023-01-01-preview", "2023-02-01"}},
		"unknown, >":   {"an invalid version is not above a date", ">2000-01-01", []string{"2023-01-01"}, noVersions},
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
