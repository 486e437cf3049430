package checkstest_test

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"pgregory.net/rapid"
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

// fakeT records the output and the failure of a test.
type fakeT struct {
	mu     sync.Mutex
	failed bool
	lines  []string
}

var _ rapid.TB = &fakeT{}

func (t *fakeT) log(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, text)
}

func (t *fakeT) Fail()                             { t.mu.Lock(); defer t.mu.Unlock(); t.failed = true }
func (t *fakeT) FailNow()                          { t.Fail(); runtime.Goexit() }
func (t *fakeT) Failed() bool                      { t.mu.Lock(); defer t.mu.Unlock(); return t.failed }
func (t *fakeT) Error(args ...any)                 { t.log(fmt.Sprint(args...)); t.Fail() }
func (t *fakeT) Errorf(format string, args ...any) { t.log(fmt.Sprintf(format, args...)); t.Fail() }
func (t *fakeT) Fatal(args ...any)                 { t.log(fmt.Sprint(args...)); t.FailNow() }
func (t *fakeT) Fatalf(format string, args ...any) { t.log(fmt.Sprintf(format, args...)); t.FailNow() }
func (t *fakeT) Log(args ...any)                   { t.log(fmt.Sprint(args...)) }
func (t *fakeT) Logf(format string, args ...any)   { t.log(fmt.Sprintf(format, args...)) }
func (t *fakeT) SkipNow()                          { runtime.Goexit() }
func (t *fakeT) Skip(...any)                       { t.SkipNow() }
func (t *fakeT) Skipf(string, ...any)              { t.SkipNow() }
func (t *fakeT) Helper()                           {}
func (t *fakeT) Name() string                      { return "fake" }

// run runs do in a goroutine, which FailNow may end.
func (t *fakeT) run(do func()) *fakeT {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	<-done
	return t
}

// output returns all recorded lines.
func (t *fakeT) output() string { return strings.Join(t.lines, "\n") }

// complaint returns the first line of checkstest, without the text of rapid.
func (t *fakeT) complaint() string {
	for line := range strings.Lines(t.output()) {
		if i := strings.Index(line, "checkstest: "); i >= 0 {
			return strings.TrimSpace(line[i:])
		}
	}
	return ""
}
