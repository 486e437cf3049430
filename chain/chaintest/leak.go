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

// The kit labels the goroutine of a call with the call, and with the link that
// has control. A goroutine inherits the labels of the goroutine that starts it,
// so the goroutines of other tests are never counted.
const (
	labelCall = "chaintest.call"
	labelLink = "chaintest.link"
)

var labels atomic.Int64

// newLabel returns a label that no other call has. A label that begins with it
// belongs to it, too.
func newLabel() string { return strconv.FormatInt(labels.Add(1), 10) + "." }

// leftover is a goroutine that outlived its call.
type leftover struct{ link, stack string }

func (l leftover) violation() violation {
	why := "a goroutine that it started is left behind, in\n" + indent(l.stack, "    ")
	return violation{law: Goroutines, link: l.link, at: -1, why: why}
}

var linkOfLabels = regexp.MustCompile(`"` + regexp.QuoteMeta(labelLink) + `":("(?:[^"\\]|\\.)*")`)

// leftBehind waits up to limit until no goroutine with the label is left. If
// limit is impatient, it looks only three times: goroutines of earlier calls
// are left then, and each look reads all goroutines.
func leftBehind(label string, limit time.Duration) (left []leftover) {
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
			time.Sleep(limit / 5) // one long pause would be over at once if the machine was suspended meanwhile
		}
		if none() {
			break
		}
	}
	return left
}

// goroutinesOf finds goroutines in the profile of all goroutines, the only
// place that shows labels.
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
