package chaintest

import (
	"bytes"
	"fmt"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/windlass-go/windlass/internal/testing/patience"
)

// The kit labels the goroutine of a call with the call and with the running
// link. A new goroutine inherits the labels of the goroutine that starts it. So
// the kit does not count goroutines of other tests.
const (
	labelCall = "chaintest.call"
	labelLink = "chaintest.link"
)

var labels atomic.Int64

// newLabel returns a unique label. Longer labels that begin with it belong to
// it, too.
func newLabel() string { return strconv.FormatInt(labels.Add(1), 10) + "." }

// leftover is a goroutine that outlived its call.
type leftover struct{ link, stack string }

func (l leftover) violation() violation {
	why := "a goroutine that it started does not end; it is in\n" + indent(l.stack, "    ")
	return violation{law: Goroutines, link: l.link, at: -1, why: why}
}

var linkOfLabels = regexp.MustCompile(`"` + regexp.QuoteMeta(labelLink) + `":("(?:[^"\\]|\\.)*")`)

// leftovers waits up to limit until no goroutine with the label runs, and
// returns those that still run. If limit is impatient, it checks only three
// times, because goroutines of earlier calls still run and each check reads the
// stacks of all goroutines.
func leftovers(label string, limit time.Duration) (left []leftover) {
	none := func() bool {
		left = goroutinesOf(label)
		return len(left) == 0
	}
	if limit > impatient {
		patience.Until(limit, none)
		return left
	}
	for _, pauses := range [...]int{0, 1, 4} {
		for range pauses {
			time.Sleep(limit / 5) // one long pause would end at once after the machine was suspended
		}
		if none() {
			break
		}
	}
	return left
}

// goroutinesOf returns the goroutines with a label. It reads the profile of all
// goroutines, because only that shows labels.
func goroutinesOf(label string) (left []leftover) {
	var text bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		return nil
	}
	mark := fmt.Sprintf(`"%s":"%s`, labelCall, label)
	for record := range strings.SplitSeq(text.String(), "\n\n") {
		if !strings.Contains(record, mark) {
			continue
		}
		var l leftover
		if m := linkOfLabels.FindStringSubmatch(record); m != nil {
			l.link, _ = strconv.Unquote(m[1])
		}
		var frames []string
		for line := range strings.Lines(record) {
			if parts := strings.Split(strings.TrimSpace(line), "\t"); len(parts) > 2 && strings.HasPrefix(line, "#\t") {
				frames = append(frames, strings.Join(parts[2:], " "))
			}
		}
		l.stack = strings.Join(frames, "\n")
		left = append(left, l)
	}
	return left
}
