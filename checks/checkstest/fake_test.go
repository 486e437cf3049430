package checkstest_test

import (
	"flag"
	"strings"

	"github.com/windlass-go/windlass/internal/testing/fake"
)

// These tests fail on purpose, so rapid writes no files. They need no small
// request.
func init() {
	_ = flag.Set("rapid.nofailfile", "true")
	_ = flag.Set("rapid.shrinktime", "0s")
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
