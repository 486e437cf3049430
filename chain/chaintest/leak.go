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

	"github.com/windlass-go/windlass/internal/patience"
)

// The labels by which the goroutines of a call are known, and the link that had control when they were started. Goroutines
// inherit them, so those of other tests are never counted.
const (
	labelCall = "chaintest.call"
	labelLink = "chaintest.link"
)

var labels atomic.Int64

// newLabel is another one for each call.
func newLabel() string { return strconv.FormatInt(labels.Add(1), 10) }

// leftover is a goroutine that outlived its call.
type leftover struct{ link, stack string }

var linkOfLabels = regexp.MustCompile(`"` + regexp.QuoteMeta(labelLink) + `":("(?:[^"\\]|\\.)*")`)

// leftBehind waits up to limit until no goroutine of a call is left. If it is
// impatient it looks three times only, because goroutines of earlier calls are
// left, and each look reads all goroutines.
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

// goroutinesOf reads them from the profile of all goroutines, which is where labels are told.
func goroutinesOf(label string) (left []leftover) {
	var text bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		return nil
	}
	for record := range strings.SplitSeq(text.String(), "\n\n") {
		if !strings.Contains(record, fmt.Sprintf("%q:%q", labelCall, label)) {
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
