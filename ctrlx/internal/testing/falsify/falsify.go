// Package falsify tests that a property can fail: rapid searches for a case
// that falsifies the property, and the test does not fail.
package falsify

import (
	"flag"
	"runtime"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Found reports whether rapid finds a case that falsifies the property within a
// number of checks. 0 means the default of rapid. The checks are the same in
// each run. Found sets flags of the process, so parallel tests must not call
// it. With -short rapid tries too few cases, so Found skips the test.
func Found(t *testing.T, checks int, property func(*rapid.T)) bool {
	t.Helper()
	if testing.Short() {
		t.Skip("rapid tries too few cases with -short")
	}
	set(t, "rapid.nofailfile", "true") // the property fails on purpose
	set(t, "rapid.shrinktime", "0s")
	set(t, "rapid.seed", "1")
	if checks > 0 {
		set(t, "rapid.checks", strconv.Itoa(checks))
	}
	r := &recorder{}
	done := make(chan struct{})
	go func() { // FailNow ends this goroutine
		defer close(done)
		rapid.Check(r, property)
	}()
	<-done
	return r.failed
}

func set(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}

// recorder is a rapid.TB that records its failure and does not fail the test.
type recorder struct{ failed bool }

var _ rapid.TB = &recorder{}

func (r *recorder) Fail()                 { r.failed = true }
func (r *recorder) FailNow()              { r.failed = true; runtime.Goexit() }
func (r *recorder) Failed() bool          { return r.failed }
func (r *recorder) Error(...any)          { r.Fail() }
func (r *recorder) Errorf(string, ...any) { r.Fail() }
func (r *recorder) Fatal(...any)          { r.FailNow() }
func (r *recorder) Fatalf(string, ...any) { r.FailNow() }
func (r *recorder) SkipNow()              { runtime.Goexit() }
func (r *recorder) Skip(...any)           { r.SkipNow() }
func (r *recorder) Skipf(string, ...any)  { r.SkipNow() }
func (r *recorder) Log(...any)            {}
func (r *recorder) Logf(string, ...any)   {}
func (r *recorder) Helper()               {}
func (r *recorder) Name() string          { return "recorder" }
