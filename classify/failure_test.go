package classify

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/chain"
)

// panicky panics in each of its methods.
type panicky struct{}

func (panicky) Error() string { panic("no text") }
func (panicky) Unwrap() error { panic("no cause") }
func (panicky) Is(error) bool { panic("no equal") }

func TestNewFailure(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   Failure
	}{
		"response": {"the reader sets code, status, message and delay", respErr("Conflict", 409, "busy", "Retry-After", "7"), Failure{Code: "Conflict", Status: 409, Message: "busy", After: 7 * time.Second}},
		"date":     {"a date is measured against now", respErr("Conflict", 409, "", "Retry-After", noon.Add(time.Minute).Format(http.TimeFormat)), Failure{Code: "Conflict", Status: 409, After: time.Minute}},
		"other":    {"the message of an unknown error is its text", fmt.Errorf("a: %w", errors.New("boom")), Failure{Message: "a: boom"}},
		"panic":    {"the message of a panic is its text", &chain.PanicError{Link: "get", Value: "no"}, Failure{Message: "panic in link get: no"}},
		"panicky":  {"an error whose methods panic is not read", panicky{}, Failure{Message: "an error of type classify.panicky cannot be read: it panics, or it wraps more than 1000 errors"}},

		"methods":       {"all methods of an error are called", &methods{code: "Busy", message: "later", status: 409, after: time.Second}, Failure{Code: "Busy", Message: "later", Status: 409, After: time.Second}},
		"joined":        {"the fields of a joined error are those of its first cause with a code", errors.Join(errors.New("x"), nil, &methods{code: "Busy", status: 409}), Failure{Code: "Busy", Status: 409}},
		"no status":     {"an error may have some of the methods", codeOnly("Busy"), Failure{Code: "Busy", Message: "coded", After: time.Minute}},
		"reset":         {"a reset connection is transient", syscall.ECONNRESET, Failure{Message: syscall.ECONNRESET.Error(), Transient: true}},
		"throttled":     {"429 is transient", status(429), Failure{Message: "status 429", Status: 429, Transient: true}},
		"slow":          {"408 is transient", status(408), Failure{Message: "status 408", Status: 408, Transient: true}},
		"last 5xx":      {"599 is an error of the server", status(599), Failure{Message: "status 599", Status: 599, Transient: true}},
		"panics midway": {"an error that panics keeps the fields read before the panic", panics("HTTPStatusCode"), Failure{Code: "Missing", Message: "missing"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := newFailure(c.err, "2024-05-01", noon)
			c.want.APIVersion = "2024-05-01"
			if diff := cmp.Diff(&c.want, got, cmpopts.IgnoreFields(Failure{}, "Err"), cmpopts.IgnoreUnexported(Failure{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if _, unreadable := got.Err.(*unreadableError); unreadable != (name == "panicky") {
				t.Errorf("Err is a %T", got.Err)
			} else if !unreadable && fmt.Sprintf("%p %T", got.Err, got.Err) != fmt.Sprintf("%p %T", c.err, c.err) {
				t.Error("Err is not the error that NewFailure got")
			}
		})
	}
}

// A message is never empty. It shows the errors that the service nests in it.
func TestMessage(t *testing.T) {
	one, two := InnerError{"Quota", "no cores"}, InnerError{"Zone", ""}
	cases := map[string]struct {
		reason  string
		failure Failure
		want    string
	}{
		"message":        {"the message wins over the status", Failure{Message: "busy", Status: 409}, "busy"},
		"status":         {"the status stands for a missing message", Failure{Status: 409, Code: "X"}, "the service gave no message (HTTP 409 Conflict)"},
		"unknown status": {"a status may have no text", Failure{Status: 499}, "the service gave no message (HTTP 499)"},
		"code":           {"the code comes from a service", Failure{Code: "X"}, "the service gave no message"},
		"nothing":        {"the error is of no service", Failure{}, "the error has no text"},
		"one":            {"the nested error follows the message", Failure{Message: "failed", Inner: []InnerError{one}}, "failed: Quota: no cores"},
		"two":            {"nested errors are separated by semicolons", Failure{Message: "failed", Inner: []InnerError{one, two}}, "failed: Quota: no cores; Zone"},
		"no message":     {"the nested errors are shown alone", Failure{Inner: []InnerError{two, {"", "full"}}}, "Zone; full"},
		"three":          {"three nested errors are shown", Failure{Message: "failed", Inner: []InnerError{two, one, two}}, "failed: Zone; Quota: no cores; Zone"},
		"four":           {"the fourth nested error is counted", Failure{Message: "failed", Inner: []InnerError{two, one, two, one}}, "failed: Zone; Quota: no cores; Zone; and 1 more"},
		"contained":      {"a nested error that the message quotes is not repeated, and one without a text is", Failure{Message: "failed: no cores", Inner: []InnerError{one, two}}, "failed: no cores: Zone"},
		"many":           {"further nested errors are counted", Failure{Message: "failed", Inner: []InnerError{two, two, two, one, one}}, "failed: Zone; Zone; Zone; and 2 more"},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, c.failure.As("x", Slow).Message()); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}

// The code of a Classification is cut. Rules compare the whole code.
func TestCodesAreBounded(t *testing.T) {
	const most = 1024
	huge := strings.Repeat("x", 700_000)
	cases := map[string]struct {
		reason string
		code   string
		want   string
	}{
		"too long":   {"a longer code is cut", huge[:most+1], huge[:most]},
		"four bytes": {"no character of four bytes is cut", huge[:most-3] + "😀a", huge[:most-3]},
		"not UTF-8":  {"invalid bytes are cut, too", strings.Repeat("\x80", 2*most), strings.Repeat("\x80", most-utf8.UTFMax)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := classifyBy(t, &Failure{Code: tc.code}, Table{{Name: "whole", Code: tc.code, Retry: Fast}}.Link())
			if c.Code() != tc.want || c.Rule() != "whole" {
				t.Errorf("%s: got a code of %d bytes, want %d, by rule %s", tc.reason, len(c.Code()), len(tc.want), c.Rule())
			}
			if len(c.Reason()) > most || len(c.String()) > most+100 {
				t.Errorf("%s: the reason has %d bytes, the text %d", tc.reason, len(c.Reason()), len(c.String()))
			}
			if class := theService.Class(respErr(tc.code, 0, "")); len(class) > 100 {
				t.Errorf("%s: the class has %d bytes", tc.reason, len(class))
			}
		})
	}
}

func TestAs(t *testing.T) {
	f := &Failure{Code: "Conflict", Status: 409, Message: "busy", After: time.Second}
	cases := map[string]struct {
		reason string
		got    Classification
		want   facts
	}{
		"unset":   {"Unset becomes slow", f.As("Mine", Unset), facts{Slow, time.Second, "Conflict", "busy", "Mine", false}},
		"invalid": {"an invalid Retry becomes slow", f.As("Mine", Never+1), facts{Slow, time.Second, "Conflict", "busy", "Mine", false}},
		"no rule": {"an empty rule gets a name", f.As("", Fast), facts{Fast, time.Second, "Conflict", "busy", "Unnamed", false}},
		"nil":     {"a nil failure has no code and no message", (*Failure)(nil).As("Mine", Fast), facts{Fast, 0, "", "the error has no text", "Mine", false}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, factsOf(c.got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
