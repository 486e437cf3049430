package checkstest_test

import (
	"flag"
	"strings"

	"github.com/windlass-go/windlass/internal/testing/fake"
)

// These tests fail on purpose, so rapid writes no files. Most need no small
// request.
func init() { set("rapid.nofailfile", "true"); set("rapid.shrinktime", "0s") }

// set sets a flag of rapid, and returns a function that restores it.
func set(name, value string) (back func()) {
	before := flag.Lookup(name).Value.String()
	_ = flag.Set(name, value)
	return func() { _ = flag.Set(name, before) }
}

// fakeT is a fake test.
type fakeT struct{ fake.T }

// complaint returns the first line of a kit, without the text of rapid.
func (t *fakeT) complaint() string {
	for line := range strings.Lines(t.Output()) {
		if strings.HasPrefix(line, "checkstest: ") || strings.HasPrefix(line, "chaintest: ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
