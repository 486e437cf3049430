package classify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
)

// The table of a service decides about the failures that its reader has read.
func TestDefaultCodes(t *testing.T) {
	other := NewErrors("other", func(f *Failure) bool { return false }, Table{{Code: "Conflict Theirs", Retry: OnChange}})
	cases := map[string]struct {
		reason  string
		failure *Failure
		rule    string
	}{
		"other service":  {"only the table of the service that read the failure decides", NewFailure(respErr("Theirs", 409, ""), "", noon, other, theService), "Unknown"},
		"no service":     {"a code that an error reports by a method is in no table", NewFailure(codeOnly("Conflict"), "", noon, theService), "Unknown"},
		"literal":        {"a failure that no reader has read is in no table", &Failure{Code: "Conflict", Err: errors.New("x")}, "Unknown"},
		"joined service": {"each cause is read by itself", NewFailure(errors.Join(respErr("InvalidTemplate", 400, ""), errors.New("x")), "", noon, other, theService), "InvalidTemplate"},
	}
	for name, c := range cases {
		if got := classifyBy(t, c.failure); got.Rule() != c.rule {
			t.Errorf("%s: %s: got %v", name, c.reason, got)
		}
	}
}

func TestDefaultStatus(t *testing.T) {
	type decision struct {
		Retry Retry
		Rule  string
	}
	cases := map[int]decision{
		0:   {Slow, "Unknown"},
		200: {Slow, "Unknown"},
		302: {Slow, "Unknown"},
		400: {VerySlow, "UnknownBadRequest"},
		401: {Slow, "Authentication"},
		403: {Slow, "Unknown"},
		404: {Slow, "Unknown"},
		408: {Slow, "RequestTimeout"},
		409: {Slow, "Unknown"},
		429: {Slow, "Throttled"},
		499: {Slow, "Unknown"},
		500: {Slow, "ServerError"},
		503: {Slow, "ServerError"},
		599: {Slow, "ServerError"},
		600: {Slow, "Unknown"},
	}
	for status, want := range cases {
		for _, code := range []string{"", "NobodyKnowsThis"} {
			c := classifyBy(t, newFailure(respErr(code, status, ""), "", noon))
			if diff := cmp.Diff(want, decision{c.Retry(), c.Rule()}); diff != "" {
				t.Errorf("HTTP %d with code %q (-want +got):\n%s", status, code, diff)
			}
		}
	}
}

// transient is an error that its reader marks as transient.
type transient struct{}

func (transient) Error() string { return "later" }

// codeOnly is an error that reports its code and a delay by methods, and no status.
type codeOnly string

func (codeOnly) Error() string             { return "coded" }
func (c codeOnly) ErrorCode() string       { return string(c) }
func (codeOnly) RetryAfter() time.Duration { return time.Minute }

var readsTransient = NewErrors("transient", func(f *Failure) bool {
	_, f.Transient = errors.AsType[transient](f.Err)
	return f.Transient
}, nil)

func TestDefaultErrors(t *testing.T) {
	called, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancelLate := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancelLate()
	on := context.Background()

	cases := map[string]struct {
		reason string
		ctx    context.Context
		err    error
		rule   string
	}{
		"canceled":           {"the pass was canceled", called, fmt.Errorf("get: %w", context.Canceled), "Canceled"},
		"canceled elsewhere": {"the context of the pass is not canceled, so another one is", on, context.Canceled, "CanceledElsewhere"},
		"canceled too late":  {"a pass whose deadline expired was not canceled", late, context.Canceled, "CanceledElsewhere"},
		"conflict, canceled": {"another error of a canceled pass is a failure", called, respErr("Conflict", 409, ""), "Conflict"},
		"deadline":           {"the deadline of a request expired", on, fmt.Errorf("get: %w", context.DeadlineExceeded), "Timeout"},
		"inner deadline":     {"a deadline expired, whatever the outer error reports", on, noTimeout{context.DeadlineExceeded}, "Timeout"},
		"net timeout":        {"a network request timed out", on, &url.Error{Op: "Get", URL: "/", Err: timeout{errors.New("slow")}}, "Timeout"},
		"dial":               {"a connection was refused", on, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "Network"},
		"name":               {"a name does not resolve", on, fmt.Errorf("get: %w", &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}), "Network"},
		"file":               {"an error of a file is not one of the network", on, &fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT}, "Unknown"},
		"transient":          {"the reader marks the error as transient", on, fmt.Errorf("get: %w", transient{}), "Transient"},
		"panic with join":    {"a panic is one cause", on, &chain.PanicError{Value: errors.Join(errors.New("x"), respErr("InvalidTemplate", 400, ""))}, "Panic"},
		"unknown":            {"any other error is unknown", on, errors.New("x"), "Unknown"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := classifyIn(t, c.ctx, NewFailure(c.err, "", noon, theService, readsTransient))
			wantRetry, wantSeverity := Slow, Warning
			if c.rule == "Canceled" {
				wantRetry, wantSeverity = Fast, Severity("")
			}
			if got.Rule() != c.rule || got.Retry() != wantRetry || got.Severity() != wantSeverity {
				t.Errorf("%s: got %v, severity %q; want rule %s", c.reason, got, got.Severity(), c.rule)
			}
			if got.Canceled() != (c.rule == "Canceled") {
				t.Errorf("%s: canceled is %t", c.reason, got.Canceled())
			}
			if verdict, _ := got.Describe(); (verdict == "canceled") != got.Canceled() {
				t.Errorf("the verdict is %q", verdict)
			}
		})
	}
}
