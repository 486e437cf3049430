package flowtest

import (
	"context"
	"fmt"
	"time"
)

// Script holds the answers to the calls of an operation or a [Service]. Its
// methods add answers and return the script. The zero Script has no answers.
//
// The first of these answers a call:
//
//   - the next answer in the row of [Script.Then], [Script.Fail] and
//     [Script.Hang]
//   - the answer for this time of [Script.From] and [Script.FailFrom]
//   - the user's own operation in [World.Operations]
//
// A call without an answer fails the test. So does an answer that no call used,
// unless the script is [Script.Optional].
type Script[R any] struct {
	name     string
	stage    *stage // nil: the run has not begun
	row      []answer[R]
	next     int // the index in row
	timed    []answer[R]
	calls    int
	optional bool
	fault    string // the first mistake in the script
}

type answer[R any] struct {
	from   time.Duration
	result R
	err    error
	hangs  bool
	given  bool // a call used it
}

// Then adds results to the row. Each answers one call. Then without results
// fails the test.
func (s *Script[R]) Then(results ...R) *Script[R] {
	if len(results) == 0 {
		s.invalid("Then() has no answer: give at least one")
	}
	for _, r := range results {
		s.row = append(s.row, answer[R]{result: r})
	}
	return s
}

// Fail adds errors to the row. Each answers one call. [Response] makes errors
// of a service. An error of a poll leaves the operation under way. Use
// [flow.Failed] for an operation that ends without success. A nil error, or
// none, fails the test.
func (s *Script[R]) Fail(errs ...error) *Script[R] {
	if len(errs) == 0 {
		s.invalid("Fail() has no error: give at least one")
	}
	for _, err := range errs {
		if err == nil {
			s.invalid("Fail(nil) is no error: give an error, or use Then")
		}
		s.row = append(s.row, answer[R]{err: err})
	}
	return s
}

// Hang adds an answer to the row that waits until the context of the call is
// done, and then returns the error of the context. A link such as
// chain.Deadline ends it by the real clock, which takes no time in a bubble of
// testing/synctest. Otherwise [World.Patience] ends the run and fails the test.
func (s *Script[R]) Hang() *Script[R] {
	s.row = append(s.row, answer[R]{hangs: true})
	return s
}

// From answers all calls from a time of the run on, until the time of the next
// From or FailFrom. A negative time fails the test.
func (s *Script[R]) From(at time.Duration, result R) *Script[R] {
	return s.from(answer[R]{from: at, result: result})
}

// FailFrom is [Script.From] with an error in place of a result. A nil error
// fails the test.
func (s *Script[R]) FailFrom(at time.Duration, err error) *Script[R] {
	if err == nil {
		s.invalid(fmt.Sprintf("FailFrom(%s, nil) is no error: give an error, or use From", at))
	}
	return s.from(answer[R]{from: at, err: err})
}

func (s *Script[R]) from(a answer[R]) *Script[R] {
	if a.from < 0 {
		s.invalid(fmt.Sprintf("an answer from %s on: the time is negative", a.from))
	}
	s.timed = append(s.timed, a)
	return s
}

// Optional allows answers that no call uses. Use it for random scripts.
func (s *Script[R]) Optional() *Script[R] {
	s.optional = true
	return s
}

// Service returns a script for other calls of links, such as the fetch of
// checks.LiveState. The link calls [Script.Ask]. [Pass].Requests lists each
// call by name.
func Service[R, T any](w *World[T], name string) *Script[R] {
	s := &Script[R]{name: name, stage: &w.stage}
	w.scripts = append(w.scripts, s)
	return s
}

// Ask returns the next answer of a [Service]. A script that Service did not
// make returns an error.
func (s *Script[R]) Ask(ctx context.Context) (R, error) { return s.answer(ctx, s.name, nil) }

// scripted is a Script of any type.
type scripted interface {
	mistake() string
	unused() []string
}

func (s *Script[R]) invalid(fault string) {
	if s.fault == "" {
		s.fault = fault
	}
}

func (s *Script[R]) mistake() string {
	if s.fault == "" {
		return ""
	}
	return "the script of " + s.name + ": " + s.fault
}

func (s *Script[R]) given() bool { return len(s.row)+len(s.timed) > 0 }

// unused lists the answers that no call used.
func (s *Script[R]) unused() (unused []string) {
	if s.optional {
		return nil
	}
	if n := len(s.row) - s.next; n > 0 {
		unused = append(unused, fmt.Sprintf("%s was %s: %d of its %d answers in a row were not used",
			s.name, times(s.calls), n, len(s.row)))
	}
	for i := range s.timed {
		if a := &s.timed[i]; !a.given {
			unused = append(unused, fmt.Sprintf("%s: its answer from %s on was not used", s.name, Stamp(a.from)))
		}
	}
	return unused
}

// answer records a call and answers it. own is the user's own operation, or
// nil.
func (s *Script[R]) answer(ctx context.Context, request string, own func() (R, error)) (R, error) {
	a, err := s.choose(request, own != nil)
	switch {
	case err != nil:
		return a.result, err
	case a.hangs:
		<-ctx.Done()
		return a.result, ctx.Err()
	case a.given:
		return a.result, a.err
	}
	return own()
}

// choose finds the answer to a call. An answer that is not given means the
// user's own operation.
func (s *Script[R]) choose(request string, own bool) (a answer[R], err error) {
	if s.stage == nil {
		return a, fmt.Errorf("flowtest: the script %q belongs to no World: make it by Service", request)
	}
	s.stage.mu.Lock()
	defer s.stage.mu.Unlock()
	s.calls++
	s.stage.requested(request)
	if s.next < len(s.row) {
		s.next++
		s.row[s.next-1].given = true
		return s.row[s.next-1], nil
	}
	now := s.stage.engine.Elapsed()
	var holds *answer[R]
	for i := range s.timed {
		if t := &s.timed[i]; t.from <= now && (holds == nil || t.from >= holds.from) {
			holds = t
		}
	}
	switch {
	case holds != nil:
		holds.given = true
		return *holds, nil
	case own:
		return a, nil
	}
	return a, s.stage.unscripted(fmt.Sprintf(
		"%s was called at %s, call %d, and has no answer: the script of %s has %d in a row",
		request, Stamp(now), s.calls, s.name, len(s.row)))
}

func times(n int) string {
	switch n {
	case 0:
		return "never called"
	case 1:
		return "called once"
	}
	return fmt.Sprintf("called %d times", n)
}
