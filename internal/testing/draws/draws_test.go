package draws

import (
	"flag"
	"os"
	"testing"
)

// Without a flag and a variable rapid draws 25 cases.
func TestDefault(t *testing.T) {
	want := "25"
	if n := os.Getenv("WINDLASS_DRAWS"); n != "" {
		want = n
	}
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" && f.Value.String() != want })
	if got := flag.Lookup("rapid.checks").Value.String(); got != want && !given {
		t.Errorf("rapid draws %s cases, want %s", got, want)
	}
}
