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

// leftBehind waits until no goroutine of a call is left, or patience is at an end.
func leftBehind(label string, patience time.Duration) []leftover {
	for begin, pause := time.Now(), 100*time.Microsecond; ; pause *= 2 {
		left := goroutinesOf(label)
		if len(left) == 0 || time.Since(begin) > patience {
			return left
		}
		time.Sleep(pause)
	}
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
