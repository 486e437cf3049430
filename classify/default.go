package classify

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"

	"github.com/windlass-go/windlass/chain"
)

// AzureCodes is the table that [Default] goes by: the error codes of Azure Resource Manager that it knows, and the HTTP
// statuses behind them. It is a copy: change it as you like and put it in front, as AzureCodes().Link().
//
// [OnChange] is only for codes that say that the request itself is wrong, whatever the state of the cloud.
func AzureCodes() Table {
	t := make(Table, 0, 50)
	add := func(r Retry, codes ...string) {
		for _, code := range codes {
			t = append(t, Rule{Code: code, Retry: r})
		}
	}
	add(Slow,
		"AllocationFailed",
		"AnotherOperationInProgress",
		"AuthorizationFailed",
		"Conflict",
		"FailedIdentityOperation",
		"InvalidResourceReference",
		"InvalidSubscriptionRegistrationState",
		"LinkedAuthorizationFailed",
		"MissingRegistrationForLocation",
		"MissingSubscriptionRegistration",
		"NoRegisteredProviderFound",
		"NotFound",
		"ParentResourceNotFound",
		"PrincipalNotFound",
		"RequestDisallowedByPolicy",
		"ResourceGroupNotFound",
		"ResourceNotFound",
		"ResourceQuotaExceeded",
		"SubscriptionNotRegistered",
	)
	add(VerySlow,
		"BadRequest",
		"BadRequestFormat",
		"InvalidParameter",
		"InvalidParameterValue",
		"InvalidResourceGroupLocation",
		"MethodNotAllowed",
		"RegionIsOfferRestricted",
		"ReservedResourceName",
		"ScopeLocked",
		"SkuNotAvailable",
		"SubscriptionNotFound",
	)
	add(OnChange,
		"InvalidGatewaySize",
		"InvalidGatewaySkuProvidedForGatewayVpnType",
		"InvalidRequestContent",
		"InvalidResourceType",
		"InvalidTemplate",
		"InvalidValuesForRequestParameters",
		"K8sVersionNotSupported",
		"LocationRequired",
		"MissingRequiredParameter",
		"PasswordTooLong",
		"PrivateIPAddressInReservedRange",
		"PrivateIPAddressNotInSubnet",
		"PropertyChangeNotAllowed",
		"PublicIpForGatewayIsRequired",
	)
	return append(t,
		Rule{Name: "UnknownBadRequest", Status: http.StatusBadRequest, Retry: VerySlow},
		Rule{Name: "Authentication", Status: http.StatusUnauthorized, Retry: Slow},
		Rule{Name: "RequestTimeout", Status: http.StatusRequestTimeout, Retry: Slow},
		Rule{Name: "Throttled", Status: http.StatusTooManyRequests, Retry: Slow},
	)
}

var azureCodes = func() *index {
	ix, err := compile(AzureCodes())
	if err != nil {
		panic("classify: AzureCodes: " + err.Error())
	}
	return ix
}()

// condition is a part of Default that is no row of a table.
type condition struct {
	name, when string
	holds      func(ctx context.Context, f *Failure) bool
	retry      Retry
	canceled   bool
}

// asked in front of azureCodes
var firstConditions = []condition{
	{name: "Panic", when: "a panic that was recovered", holds: panicked, retry: Slow},
}

// asked behind azureCodes; the last one always holds
var lastConditions = []condition{
	{name: "ServerError", when: "HTTP 5xx", holds: serverError, retry: Slow},
	{name: "Canceled", when: "canceled by the pass's own context", holds: canceledHere, retry: Fast, canceled: true},
	{name: "CanceledElsewhere", when: "canceled by another context", holds: canceled, retry: Slow},
	{name: "Timeout", when: "a deadline or a timeout", holds: timedOut, retry: Slow},
	{name: "Network", when: "connections, name resolution", holds: network, retry: Slow},
	{name: "NonRetriable", when: "what azcore would not repeat: credentials, mostly", holds: nonRetriable, retry: Slow},
	{name: "Unknown", when: "anything else", holds: anything, retry: Slow},
}

// Default is the end of each chain that [Compose] makes. It goes by the codes and statuses of [AzureCodes], whatever
// service they come from, and then by the kind of the error: what the server, the network or time is to blame for, and
// all that is not known, is [Slow]; only a code that is listed is [OnChange]. Table.String prints it all.
//
// context.Canceled counts as canceled ([Classification.Canceled]) only if ctx is itself canceled. Default gives no error
// and does not panic; a nil f is Slow.
func Default(ctx context.Context, f *Failure) (Classification, error) {
	c, err := run(ctx, f, end, decide)
	c.at = nil
	return c, err
}

func decide(ctx context.Context, f *Failure) (Classification, error) {
	if f == nil {
		return f.failed(noFailure, errNoFailure), nil
	}
	if c, ok := first(firstConditions, ctx, f); ok {
		return c, nil
	}
	if row := azureCodes.find(f); row != nil {
		return f.As(row.name, row.retry), nil
	}
	c, _ := first(lastConditions, ctx, f)
	return c, nil
}

func first(conditions []condition, ctx context.Context, f *Failure) (Classification, bool) {
	for i := range conditions {
		if cond := &conditions[i]; cond.holds(ctx, f) {
			c := f.As(cond.name, cond.retry)
			c.d.canceled = cond.canceled
			return c, true
		}
	}
	return Classification{}, false
}

func panicked(_ context.Context, f *Failure) bool { return is[*chain.PanicError](f.Err) }

func serverError(_ context.Context, f *Failure) bool { return f.Status >= 500 && f.Status <= 599 }

func canceled(_ context.Context, f *Failure) bool { return errors.Is(f.Err, context.Canceled) }

func canceledHere(ctx context.Context, f *Failure) bool {
	// The error of a context that ran out of time is another one, also where somebody canceled it later.
	return canceled(ctx, f) && ctx != nil && errors.Is(ctx.Err(), context.Canceled)
}

func timedOut(_ context.Context, f *Failure) bool {
	if errors.Is(f.Err, context.DeadlineExceeded) || errors.Is(f.Err, os.ErrDeadlineExceeded) {
		return true
	}
	err, ok := errors.AsType[net.Error](f.Err)
	return ok && err.Timeout()
}

func network(_ context.Context, f *Failure) bool {
	if err, ok := errors.AsType[net.Error](f.Err); ok {
		// The errors of system calls look like errors of the network, those of files too.
		if _, syscallError := err.(syscall.Errno); !syscallError {
			return true
		}
	}
	for _, target := range [...]error{syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE, net.ErrClosed, io.ErrUnexpectedEOF} {
		if errors.Is(f.Err, target) {
			return true
		}
	}
	return false
}

func nonRetriable(_ context.Context, f *Failure) bool {
	return is[interface {
		error
		NonRetriable()
	}](f.Err)
}

func anything(context.Context, *Failure) bool { return true }

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
