package azure

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// Advance moves a long-running operation on by one request: without a token by the one that begins it, with a token by
// asking once how it is getting on. It never waits: the token that it gives is where the next pass goes on. When the
// operation is done, finished is given its result.
func Advance[R any](
	ctx context.Context, token string,
	begin func(context.Context) (*runtime.Poller[R], error), finished func(R),
) (flow.Progress, error) {
	var response *http.Response
	poller, err := begin(policy.WithCaptureResponse(ctx, &response)) // with a token this sends nothing
	if err != nil {
		return flow.Progress{}, err
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
		return flow.Progress{}, err
	}
	finished(result)
	return flow.Done(), nil
}

// Observed is what a GET saw that answered with err; that there is no such thing is no error. Of what is there inSync takes
// over what Azure says, and tells whether it is as the spec says.
func Observed(err error, inSync func() bool) (flow.Observation, error) {
	switch {
	case NotThere(err):
		return flow.Observation{}, nil
	case err != nil:
		return flow.Observation{}, err
	}
	return flow.Observation{Exists: true, InSync: inSync()}, nil
}

// Equal tells whether Azure has reported a value, and it is the one that is wanted.
func Equal[V comparable](found *V, wanted V) bool { return found != nil && *found == wanted }

// pollAfter is when to ask again: when the service says, or else in half a minute.
func pollAfter(response *http.Response) time.Duration {
	if response != nil {
		if after := classify.RetryAfter(response.Header, time.Time{}); after > 0 {
			return after
		}
	}
	return 30 * time.Second
}

// NotThere tells whether Azure answered that there is no such thing.
func NotThere(err error) bool {
	var response *azcore.ResponseError
	return errors.As(err, &response) && response.StatusCode == http.StatusNotFound
}
