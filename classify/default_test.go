package classify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

// wantCodes is the whole default table once more, written down from what Azure's services mean by their codes.
var wantCodes = map[Retry]string{
	Slow: `AnotherOperationInProgress AuthorizationFailed AllocationFailed Conflict FailedIdentityOperation
		InvalidResourceReference InvalidSubscriptionRegistrationState LinkedAuthorizationFailed MissingRegistrationForLocation
		MissingSubscriptionRegistration NoRegisteredProviderFound NotFound ParentResourceNotFound PrincipalNotFound
		ResourceGroupNotFound ResourceNotFound ResourceQuotaExceeded RequestDisallowedByPolicy SubscriptionNotRegistered`,
	VerySlow: `BadRequestFormat BadRequest InvalidResourceGroupLocation InvalidParameter InvalidParameterValue MethodNotAllowed
		ReservedResourceName RegionIsOfferRestricted ScopeLocked SkuNotAvailable SubscriptionNotFound`,
	OnChange: `PublicIpForGatewayIsRequired InvalidResourceType InvalidRequestContent InvalidTemplate
		InvalidValuesForRequestParameters InvalidGatewaySkuProvidedForGatewayVpnType InvalidGatewaySize K8sVersionNotSupported
		LocationRequired MissingRequiredParameter PasswordTooLong PrivateIPAddressInReservedRange PrivateIPAddressNotInSubnet
		PropertyChangeNotAllowed`,
}

func TestDefaultCodes(t *testing.T) {
	known := 0
	for retry, codes := range wantCodes {
		for _, code := range strings.Fields(codes) {
			known++
			for _, spelling := range []string{code, strings.ToLower(code), strings.ToUpper(code)} {
				// Whatever the status, and long-running operations fail with 200.
				for _, status := range []int{0, 200, 400, 401, 409, 429, 500} {
					c := classifyBy(t, NewFailure(fmt.Errorf("a: %w", respErr(spelling, status, "")), "", noon))
					if c.Retry() != retry || c.Rule() != code || c.Code() != spelling {
						t.Errorf("%s with %d: got %v, want %s by rule %s", spelling, status, c, retry, code)
					}
				}
			}
		}
	}
	coded := 0
	for _, r := range AzureCodes() {
		if r.Code != "" {
			coded++
		}
	}
	if known != 44 || coded != known {
		t.Errorf("%d codes are listed here and %d in the table, want 44", known, coded)
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
			c := classifyBy(t, NewFailure(respErr(code, status, ""), "", noon))
			if diff := cmp.Diff(want, decision{c.Retry(), c.Rule()}); diff != "" {
				t.Errorf("HTTP %d with code %q (-want +got):\n%s", status, code, diff)
			}
		}
	}
}

// credentials is an error as azidentity gives it.
type credentials struct{}

func (credentials) Error() string { return "no credentials" }
func (credentials) NonRetriable() {}

// slowly is a net.Error that timed out.
type slowly struct{}

func (slowly) Error() string   { return "slow" }
func (slowly) Timeout() bool   { return true }
func (slowly) Temporary() bool { return false }

func TestDefaultErrors(t *testing.T) {
	called, cancel := context.WithCancel(context.Background())
	cancel()
	caused, cancelCause := context.WithCancelCause(context.Background())
	cancelCause(errors.New("shutdown"))
	late, cancelLate := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancelLate()
	on := context.Background()

	cases := map[string]struct {
		reason string
		ctx    context.Context
		err    error
		rule   string
	}{
		"canceled":           {"the pass was called off", called, fmt.Errorf("get: %w", context.Canceled), "Canceled"},
		"canceled in url":    {"as an HTTP client says it", called, &url.Error{Op: "Get", URL: "/", Err: context.Canceled}, "Canceled"},
		"canceled by cause":  {"whatever the cause", caused, context.Canceled, "Canceled"},
		"canceled elsewhere": {"the pass goes on, so something failed", on, context.Canceled, "CanceledElsewhere"},
		"canceled too late":  {"a pass that ran out of time was not called off", late, context.Canceled, "CanceledElsewhere"},
		"no context":         {"a nil context is not canceled", nil, context.Canceled, "CanceledElsewhere"},
		"conflict, canceled": {"what failed is not what called it off", called, respErr("Conflict", 409, ""), "Conflict"},
		"other, canceled":    {"what failed is not what called it off", called, errors.New("x"), "Unknown"},
		"deadline":           {"time ran out", on, fmt.Errorf("get: %w", context.DeadlineExceeded), "Timeout"},
		"pass's deadline":    {"time ran out", late, context.DeadlineExceeded, "Timeout"},
		"link's deadline":    {"time ran out", on, &chain.DeadlineError{Link: "get", After: time.Second, Err: context.DeadlineExceeded}, "Timeout"},
		"file's deadline":    {"time ran out", on, os.ErrDeadlineExceeded, "Timeout"},
		"net timeout":        {"time ran out", on, &url.Error{Op: "Get", URL: "/", Err: slowly{}}, "Timeout"},
		"dial":               {"the network", on, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "Network"},
		"url":                {"the network", on, &url.Error{Op: "Get", URL: "/", Err: io.EOF}, "Network"},
		"name":               {"the network", on, fmt.Errorf("get: %w", &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}), "Network"},
		"reset":              {"the network", on, fmt.Errorf("get: %w", syscall.ECONNRESET), "Network"},
		"refused":            {"the network", on, os.NewSyscallError("connect", syscall.ECONNREFUSED), "Network"},
		"closed":             {"the network", on, fmt.Errorf("read: %w", net.ErrClosed), "Network"},
		"cut off":            {"the network", on, fmt.Errorf("read: %w", io.ErrUnexpectedEOF), "Network"},
		"file":               {"a file is not the network", on, &fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT}, "Unknown"},
		"credentials":        {"what azcore would not repeat", on, fmt.Errorf("get: %w", credentials{}), "NonRetriable"},
		"panic":              {"a panic", on, &chain.PanicError{Value: "x"}, "Panic"},
		"panic with error":   {"a panic, whatever it panicked with", on, fmt.Errorf("a: %w", &chain.PanicError{Value: respErr("InvalidTemplate", 400, "")}), "Panic"},
		"panic with join":    {"a panic is one cause", on, &chain.PanicError{Value: errors.Join(errors.New("x"), respErr("InvalidTemplate", 400, ""))}, "Panic"},
		"unknown":            {"anything else", on, errors.New("x"), "Unknown"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := classifyIn(t, c.ctx, NewFailure(c.err, "", noon))
			wantRetry, wantSeverity := Slow, Warning
			if c.rule == "Canceled" {
				wantRetry, wantSeverity = Fast, None
			}
			if got.Rule() != c.rule || got.Retry() != wantRetry || got.Severity() != wantSeverity {
				t.Errorf("%s: got %v, severity %q; want rule %s", c.reason, got, got.Severity(), c.rule)
			}
			if got.Canceled() != (c.rule == "Canceled") {
				t.Errorf("%s: canceled is %t", c.reason, got.Canceled())
			}
			if verdict, _ := got.Describe(nil); (verdict == "canceled") != got.Canceled() {
				t.Errorf("it describes itself as %q", verdict)
			}
		})
	}
}

func TestDefaultIsAHandler(t *testing.T) {
	var handle Handler = Default
	cases := map[string]struct {
		failure *Failure
		rule    string
	}{
		"nil":     {nil, "NoFailure"},
		"zero":    {new(Failure), "Unknown"},
		"panicky": {&Failure{Err: panicky{}}, "LinkPanicked(Default)"},
	}
	for name, c := range cases {
		got, err := handle(t.Context(), c.failure)
		if got.Rule() != c.rule || got.Retry() != Slow || err != nil {
			t.Errorf("%s: got %v, error %v, want rule %s", name, got, err, c.rule)
		}
	}
}

func TestAzureCodesIsACopy(t *testing.T) {
	AzureCodes()[0].Retry = OnChange
	if c := classifyBy(t, &Failure{Code: AzureCodes()[0].Code}); c.Retry() == OnChange {
		t.Error("a change of the copy showed in the default")
	}
}

func TestNothingUnknownWaitsForAChange(t *testing.T) {
	table := Table{{Code: "Mine", Status: 400, Retry: OnChange}}
	handle := Compose(chain.New(table.Link()))
	known := strings.Fields(strings.ToLower(wantCodes[OnChange] + " Mine"))
	someCode := rapid.OneOf(rapid.String(), rapid.SampledFrom(strings.Fields(wantCodes[OnChange]+wantCodes[Slow]+" Mine")), rapid.StringMatching(`[A-Za-z]+`))
	rapid.Check(t, func(t *rapid.T) {
		code := someCode.Draw(t, "code")
		body := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.Map(someCode, func(s string) string { return fmt.Sprintf(`{"error":{"code":%q,"message":"x"}}`, s) })).Draw(t, "body")
		f := NewFailure(respErr(code, rapid.IntRange(0, 700).Draw(t, "status"), body), "", noon)
		c, err := handle(context.Background(), f)
		if err != nil || c.IsZero() {
			t.Fatalf("got %v, error %v", c, err)
		}
		if c.Retry() == OnChange {
			for _, k := range known {
				if strings.EqualFold(f.Code, k) {
					return
				}
			}
			t.Fatalf("%q is in no table: %v", f.Code, c)
		}
	})
}
