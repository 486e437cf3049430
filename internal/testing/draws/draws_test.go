package draws

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Without a flag and a variable rapid draws 25 cases.
func TestDefault(t *testing.T) {
	want := "25"
	if n := os.Getenv("WINDLASS_DRAWS"); n != "" {
		want = n
	}
	t.Run("Times", func(t *testing.T) {
		before := flag.Lookup("rapid.checks").Value.String()
		t.Run("Four", func(t *testing.T) {
			Times(t, 4)
			n, _ := strconv.Atoi(before)
			if got := flag.Lookup("rapid.checks").Value.String(); got != strconv.Itoa(4*n) {
				t.Errorf("four times %s cases are %s", before, got)
			}
		})
		if got := flag.Lookup("rapid.checks").Value.String(); got != before {
			t.Errorf("afterwards rapid draws %s cases, want %s", got, before)
		}
	})
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" && f.Value.String() != want })
	if got := flag.Lookup("rapid.checks").Value.String(); got != want && !given {
		t.Errorf("rapid draws %s cases, want %s", got, want)
	}
}
