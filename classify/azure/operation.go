package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// pollEvery is the delay between two polls if the service requests none. It is
// the default of the SDK.
const pollEvery = 30 * time.Second

// Advance sends one request of a long-running operation and never waits.
// Without a token it calls begin, which starts the operation. With a token it
// polls once. If the operation is still under way, Advance returns
// [flow.InProgress] with the resume token and the delay that the service
// requests. If the operation has succeeded, Advance calls finished with the
// result and returns [flow.Done]. finished may be nil.
//
// begin calls a Begin method of a client of the SDK. It must pass the token as
// ResumeToken:
//
//	func(ctx context.Context) (*runtime.Poller[armkusto.ClustersClientCreateOrUpdateResponse], error) {
//		return api.BeginCreateOrUpdate(ctx, group, name, wanted,
//			&armkusto.ClustersClientBeginCreateOrUpdateOptions{ResumeToken: req.Token})
//	}
//
// The error is a [flow.FailedError] if, and only if, the service reports that
// the operation failed or was canceled. After any other error the operation is
// still under way: the poll failed, the result could not be fetched, or the
// token belongs to another operation. Advance refuses a token with an address
// outside of the client's endpoints ([WithEndpoints]).
func Advance[R any](
	ctx context.Context, token string,
	begin func(context.Context) (*runtime.Poller[R], error), finished func(R), opts ...AdvanceOption,
) (flow.Progress, error) {
	if token != "" {
		o := advanceOptions{endpoints: resourceManagers}
		for _, opt := range opts {
			opt(&o)
		}
		if err := o.checked(token); err != nil {
			return flow.Progress{}, fmt.Errorf("azure: the operation under way cannot be polled: its resume token is refused "+
				"(if no operation is under way, remove the token to start it again): %w", err)
		}
	}
	var response *http.Response
	poller, err := begin(policy.WithCaptureResponse(ctx, &response))
	switch {
	case token != "" && response != nil:
		return flow.Progress{}, errors.New("azure: begin sent a request although an operation is under way: pass the token as ResumeToken")
	case token != "" && err != nil:
		return flow.Progress{}, fmt.Errorf("azure: the operation under way cannot be polled: its resume token is unreadable "+
			"(remove the token to start the operation again): %w", err)
	case err != nil:
		return flow.Progress{}, err
	case poller == nil:
		return flow.Progress{}, errors.New("azure: begin returned no poller")
	}
	if token != "" {
		if response, err = poller.Poll(ctx); err != nil {
			return flow.Progress{}, err
		}
	}
	if !poller.Done() {
		next, err := poller.ResumeToken()
		if err != nil {
			return flow.Progress{}, err
		}
		after := pollEvery
		if response != nil {
			after = cmp.Or(retryAfter(new(classify.Failure), response.Header), pollEvery)
		}
		return flow.InProgress(next, after), nil
	}
	result, err := poller.Result(ctx)
	if err != nil {
		if failed(err, response) {
			return flow.Progress{}, flow.Failed(err)
		}
		return flow.Progress{}, &resultError{err}
	}
	if finished != nil {
		finished(result)
	}
	return flow.Done(), nil
}

// resultError is the error of the request for the result of an operation. It does not end the operation, also if the service
// does not find the resource: one of its replicas may not have it yet.
type resultError struct{ error }

func (e *resultError) Unwrap() error { return e.error }

// failed reports whether err, which a poller returned instead of a result,
// means that the operation failed. polled is the last response about the
// operation.
func failed(err error, polled *http.Response) bool {
	response, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok || response.RawResponse != polled {
		return false // the request for the result failed
	}
	f := classify.NewFailure(err, "", time.Time{}, known)
	switch {
	case f.Status >= 200 && f.Status <= 299:
		return true
	case f.Status == http.StatusUnauthorized, f.Status == http.StatusForbidden, f.Status == http.StatusProxyAuthRequired:
		return false // the poll was refused
	case f.Status == http.StatusNotFound, f.Status == http.StatusGone:
		return f.Ended
	}
	return f.Code != "" && (polled == nil || !isPage(polled, readBody(polled), f.Code))
}

// Observe makes an Observation from a GET. err is the error of the GET.
//
// If the resource does not exist, Observe calls absent, which clears the state
// in the status: an old state would block the PUT that creates the resource
// again. absent may be nil. If the resource exists, Observe calls inSync, which
// reports whether the resource matches the spec. inSync may also copy values
// that Azure reports:
//
//	found, err := api.Get(ctx, group, name, nil)
//	return azure.Observe(err, func() { cluster.Status.State = nil }, func() bool {
//		cluster.Status.State = found.Properties.State
//		return azure.Equal(found.SKU.Capacity, cluster.Spec.Capacity)
//	})
//
// Observe returns any other error unchanged.
func Observe(err error, absent func(), inSync func() bool) (flow.Observation, error) {
	switch {
	case known.NotFound(err):
		if absent != nil {
			absent()
		}
		return flow.Observation{Presence: checks.Absent}, nil
	case err != nil:
		return flow.Observation{}, err
	}
	return flow.Observation{Presence: checks.Present, InSync: inSync()}, nil
}

// Equal reports whether Azure reported a value and it equals wanted.
func Equal[V comparable](found *V, wanted V) bool { return found != nil && *found == wanted }
