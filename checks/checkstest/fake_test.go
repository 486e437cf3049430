package checkstest_test

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"pgregory.net/rapid"
)

// What fails here fails on purpose: it leaves no file to repeat it by, and mostly need not be made small.
func init() { set("rapid.nofailfile", "true"); set("rapid.shrinktime", "0s") }

// set sets a flag of rapid's, and gives a function that sets it back.
func set(name, value string) (back func()) {
	before := flag.Lookup(name).Value.String()
	_ = flag.Set(name, value)
	return func() { _ = flag.Set(name, before) }
}

// fakeT is a test that may fail without failing the one it is used in. It keeps what it is told.
type fakeT struct {
	mu     sync.Mutex
	failed bool
	lines  []string
}

var _ rapid.TB = &fakeT{}

func (t *fakeT) say(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, text)
}

func (t *fakeT) Fail()                             { t.mu.Lock(); defer t.mu.Unlock(); t.failed = true }
func (t *fakeT) FailNow()                          { t.Fail(); runtime.Goexit() }
func (t *fakeT) Failed() bool                      { t.mu.Lock(); defer t.mu.Unlock(); return t.failed }
func (t *fakeT) Error(args ...any)                 { t.say(fmt.Sprint(args...)); t.Fail() }
func (t *fakeT) Errorf(format string, args ...any) { t.say(fmt.Sprintf(format, args...)); t.Fail() }
func (t *fakeT) Fatal(args ...any)                 { t.say(fmt.Sprint(args...)); t.FailNow() }
func (t *fakeT) Fatalf(format string, args ...any) { t.say(fmt.Sprintf(format, args...)); t.FailNow() }
func (t *fakeT) Log(args ...any)                   { t.say(fmt.Sprint(args...)) }
func (t *fakeT) Logf(format string, args ...any)   { t.say(fmt.Sprintf(format, args...)) }
func (t *fakeT) SkipNow()                          { runtime.Goexit() }
func (t *fakeT) Skip(...any)                       { t.SkipNow() }
func (t *fakeT) Skipf(string, ...any)              { t.SkipNow() }
func (t *fakeT) Helper()                           {}
func (t *fakeT) Name() string                      { return "fake" }

// run runs do, which may end its goroutine by FailNow.
func (t *fakeT) run(do func()) *fakeT {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	<-done
	return t
}

// said is everything that it was told.
func (t *fakeT) said() string { return strings.Join(t.lines, "\n") }

// complaint is the first line in which the kit names a link, without what rapid says around it.
func (t *fakeT) complaint() string {
	for line := range strings.Lines(t.said()) {
		if i := strings.Index(line, "checkstest: "); i >= 0 {
			return strings.TrimSpace(line[i:])
		}
	}
	return ""
}
