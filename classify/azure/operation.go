package azure

import (
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

// pollEvery is the delay between two polls if the service asks for none. It is
// the SDK's own.
const pollEvery = 30 * time.Second

// Advance moves a long-running operation on by one request and never waits.
// Without a token it calls begin to start the operation. With a token it polls
// once. It returns [flow.InProgress] with the poller's resume token and the
// delay that the service asks for, or [flow.Done] after it has called finished
// with the result. finished may be nil.
//
// begin is a Begin method of a client of the SDK. It has to pass the token on:
//
//	func(ctx context.Context) (*runtime.Poller[armkusto.ClustersClientCreateOrUpdateResponse], error) {
//		return api.BeginCreateOrUpdate(ctx, group, name, wanted,
//			&armkusto.ClustersClientBeginCreateOrUpdateOptions{ResumeToken: req.Token})
//	}
//
// The error is a [flow.FailedError] if, and only if, the service reports that
// the operation has failed or was canceled. Any other error leaves the
// operation under way: a poll that failed, a result that could not be fetched,
// a token that is none of this operation.
func Advance[R any](
	ctx context.Context, token string,
	begin func(context.Context) (*runtime.Poller[R], error), finished func(R),
) (flow.Progress, error) {
	var response *http.Response
	poller, err := begin(policy.WithCaptureResponse(ctx, &response))
	switch {
	case token != "" && response != nil:
		return flow.Progress{}, errors.New("azure: begin has sent a request although an operation is under way: pass the token on as ResumeToken")
	case token != "" && err != nil:
		return flow.Progress{}, fmt.Errorf("azure: the operation under way cannot be followed, because its resume token cannot be read "+
			"(remove the token to start the operation again): %w", err)
	case err != nil:
		return flow.Progress{}, err
	case poller == nil:
		return flow.Progress{}, errors.New("azure: begin has returned no poller")
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
		return flow.InProgress(next, pollAfter(response)), nil
	}
	result, err := poller.Result(ctx)
	if err != nil {
		if failed(err, response) {
			err = flow.Failed(err)
		}
		return flow.Progress{}, err
	}
	if finished != nil {
		finished(result)
	}
	return flow.Done(), nil
}

// failed reports whether err, which a poller returned in place of a result, is
// the service's report that the operation has failed. polled is the last answer
// about the operation.
func failed(err error, polled *http.Response) bool {
	response, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok || response.RawResponse != polled {
		return false // the request for the result has failed
	}
	f := classify.NewFailure(err, "", time.Time{}, known)
	switch {
	case f.Status >= 200 && f.Status <= 299:
		return true
	case f.Status == http.StatusUnauthorized, f.Status == http.StatusForbidden, f.Status == http.StatusProxyAuthRequired:
		return false // the poll was refused
	}
	return f.Code != "" // a proxy's page has no code
}

// pollAfter returns the delay that a response asks for, or pollEvery.
func pollAfter(response *http.Response) time.Duration {
	if response != nil {
		if after := retryAfter(new(classify.Failure), response.Header); after > 0 {
			return after
		}
	}
	return pollEvery
}

// Observe makes an Observation of the answer to a GET. err is the error of the
// GET. If the resource does not exist, Observe calls absent, which clears the
// state that the status still reports: an old state would block the PUT that
// creates the resource again. absent may be nil. If the resource exists,
// Observe calls inSync, which reports whether the resource is as the spec says,
// and which may copy what Azure reports:
//
//	found, err := api.Get(ctx, group, name, nil)
//	return azure.Observe(err, func() { cluster.Status.State = nil }, func() bool {
//		cluster.Status.State = found.Properties.State
//		return azure.Equal(found.SKU.Capacity, cluster.Spec.Capacity)
//	})
//
// Any other error is the error of the Get.
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

// Equal reports whether Azure has reported a value and it is the wanted one.
func Equal[V comparable](found *V, wanted V) bool { return found != nil && *found == wanted }
