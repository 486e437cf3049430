// Package falsify shows that a property can fail: it lets rapid look for a case that falsifies it, in a test that does
// not fail with it.
package falsify

import (
	"flag"
	"runtime"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Found tells whether rapid finds a case that falsifies the property within a number of checks, always the same ones;
// 0 means as many as rapid makes by default. It is not for parallel tests, as rapid's flags are those of the process.
// With -short rapid tries too few cases, and the test is skipped.
func Found(t *testing.T, checks int, property func(*rapid.T)) bool {
	t.Helper()
	if testing.Short() {
		t.Skip("rapid tries too few cases with -short")
	}
	set(t, "rapid.nofailfile", "true") // what fails here fails on purpose
	set(t, "rapid.shrinktime", "0s")
	set(t, "rapid.seed", "1")
	if checks > 0 {
		set(t, "rapid.checks", strconv.Itoa(checks))
	}
	j := &judge{}
	done := make(chan struct{})
	go func() { // FailNow ends it
		defer close(done)
		rapid.Check(j, property)
	}()
	<-done
	return j.failed
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

// judge is a test that may fail without failing the test it is used in.
type judge struct{ failed bool }

var _ rapid.TB = &judge{}

func (j *judge) Fail()                 { j.failed = true }
func (j *judge) FailNow()              { j.failed = true; runtime.Goexit() }
func (j *judge) Failed() bool          { return j.failed }
func (j *judge) Error(...any)          { j.Fail() }
func (j *judge) Errorf(string, ...any) { j.Fail() }
func (j *judge) Fatal(...any)          { j.FailNow() }
func (j *judge) Fatalf(string, ...any) { j.FailNow() }
func (j *judge) SkipNow()              { runtime.Goexit() }
func (j *judge) Skip(...any)           { j.SkipNow() }
func (j *judge) Skipf(string, ...any)  { j.SkipNow() }
func (j *judge) Log(...any)            {}
func (j *judge) Logf(string, ...any)   {}
func (j *judge) Helper()               {}
func (j *judge) Name() string          { return "judge" }
