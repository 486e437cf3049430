package why_test

import (
	"strings"
	"testing"

	"github.com/windlass-go/windlass/flow/why"
)

func TestLine(t *testing.T) {
	got := why.Line("a\x1b[2Jb\u202e\nc password=hunter2 " + strings.Repeat("long ", 1000))
	if strings.ContainsAny(got, "\x1b\u202e\n") || strings.Contains(got, "hunter2") || len(got) > 2000 || !strings.HasPrefix(got, `a\x1b[2Jb\u202e; c `) {
		t.Errorf("the line has %d bytes: %q", len(got), got)
	}
}
