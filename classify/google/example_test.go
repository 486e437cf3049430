package google_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"google.golang.org/api/googleapi"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/google"
)

func Example() {
	err := &googleapi.Error{
		Code: http.StatusBadRequest, Message: "The subnetwork is not ready.",
		Header: http.Header{"Retry-After": {"15"}},
		Errors: []googleapi.ErrorItem{{Reason: "resourceNotReady", Message: "The subnetwork is not ready."}},
	}
	handle := classify.Compose(classify.Chain{})
	for _, errs := range []classify.Errors{{}, google.Errors()} {
		c, _ := handle(context.Background(), classify.NewFailure(err, "", time.Time{}, errs))
		fmt.Printf("%s: %s\n", errs, c)
	}
	// Output:
	// no service: slow, rule Unknown: googleapi: Error 400: The subnetwork is not ready., resourceNotReady
	// google: slow after 15s, rule resourceNotReady: The subnetwork is not ready.
}
