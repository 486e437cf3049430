// Package fake has a test that records its output, for tests of test kits.
package fake

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"pgregory.net/rapid"
)

// T is a test that records its errors and its logs. The zero T has the name
// "fake".
type T struct {
	Title  string // the name; empty: fake
	Errors []string
	Logs   []string
	Lines  []string // errors and logs, in order

	mu     sync.Mutex
	failed bool
}

var _ rapid.TB = &T{}

// Run calls do in a goroutine, which FailNow may end.
func (t *T) Run(do func()) *T {
	var done sync.WaitGroup
	done.Go(do)
	done.Wait()
	return t
}

// Output returns the errors and the logs, in order.
func (t *T) Output() string { return strings.Join(t.Lines, "\n") }

// Reported returns the errors.
func (t *T) Reported() string { return strings.Join(t.Errors, "\n") }

func (t *T) add(list *[]string, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*list, t.Lines = append(*list, text), append(t.Lines, text)
}

// Name returns the title.
func (t *T) Name() string {
	if t.Title == "" {
		return "fake"
	}
	return t.Title
}

// These implement rapid.TB.

func (t *T) Helper()                   {}
func (t *T) Fail()                     { t.mu.Lock(); defer t.mu.Unlock(); t.failed = true }
func (t *T) Failed() bool              { t.mu.Lock(); defer t.mu.Unlock(); return t.failed }
func (t *T) FailNow()                  { t.Fail(); runtime.Goexit() }
func (t *T) Error(a ...any)            { t.add(&t.Errors, fmt.Sprint(a...)); t.Fail() }
func (t *T) Errorf(s string, a ...any) { t.Error(fmt.Sprintf(s, a...)) }
func (t *T) Fatal(a ...any)            { t.Error(a...); runtime.Goexit() }
func (t *T) Fatalf(s string, a ...any) { t.Errorf(s, a...); runtime.Goexit() }
func (t *T) Log(a ...any)              { t.add(&t.Logs, fmt.Sprint(a...)) }
func (t *T) Logf(s string, a ...any)   { t.Log(fmt.Sprintf(s, a...)) }
func (t *T) SkipNow()                  { runtime.Goexit() }
func (t *T) Skip(a ...any)             { t.Log(a...); t.SkipNow() }
func (t *T) Skipf(s string, a ...any)  { t.Logf(s, a...); t.SkipNow() }
