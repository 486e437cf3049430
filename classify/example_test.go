package classify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
)

// conflict returns an error as the clients of the Azure SDK return it.
func conflict(message string) error {
	return &azcore.ResponseError{
		ErrorCode:  "Conflict",
		StatusCode: http.StatusConflict,
		RawResponse: &http.Response{
			Header: http.Header{"Retry-After": {"15"}},
			Body:   io.NopCloser(strings.NewReader(fmt.Sprintf(`{"error": {"code": "Conflict", "message": %q}}`, message))),
		},
	}
}

func Example() {
	redis := classify.Table{
		{Name: "Redis is busy", Code: "Conflict", Message: classify.Contains("try again later"), Retry: classify.Fast},
	}
	handle := classify.Compose(redis.Chain())

	err := fmt.Errorf("creating the cache: %w", conflict("The cache is busy, try again later."))
	c, _ := handle(context.Background(), classify.NewFailure(err, "2024-05-01", time.Time{}, azure.Errors()))

	fmt.Println(c.Retry(), "after", c.After())
	fmt.Println(c.Severity(), c.Reason())
	fmt.Println(c.Message())
	fmt.Println("decided by:", c.Rule())
	// Output:
	// fast after 15s
	// Warning Conflict
	// The cache is busy, try again later.
	// decided by: Redis is busy
}

func ExampleTable() {
	table := classify.Table{
		// One code.
		{Code: "NodePoolMcVersionIncompatible", Retry: classify.Slow},
		// One of several codes.
		{Code: "NetworkSecurityGroupNotFoundForFlowLog StorageProvisioningStateNotSucceeded", Retry: classify.Slow},
		// A code, if the message contains all of these.
		{Code: "BadRequest", Message: classify.Contains("not associated with", "invalid provisioning state"), Retry: classify.Slow},
		// Only in some API versions.
		{Code: "Conflict", APIVersions: ">=2023-01-01 <2024-01-01", Retry: classify.VerySlow},
		// Any code with this status.
		{Name: "Locked", Status: http.StatusLocked, Retry: classify.VerySlow},
	}
	handle := classify.Compose(table.Chain())
	for _, version := range []string{"2023-06-01", "2024-05-01"} {
		c, _ := handle(context.Background(), classify.NewFailure(conflict("busy"), version, time.Time{}, azure.Errors()))
		fmt.Println(version, c.Retry(), "-", c.Rule())
	}
	// Output:
	// 2023-06-01 very slow - Conflict, API version >=2023-01-01 <2024-01-01
	// 2024-05-01 slow - Conflict
}

// A link can decide by any property of the error.
func ExampleFailure_As() {
	missingFile := func(next classify.Handler) classify.Handler {
		return func(ctx context.Context, f *classify.Failure) (classify.Classification, error) {
			if errors.Is(f.Err, os.ErrNotExist) {
				return f.As("FileMissing", classify.OnChange), nil
			}
			return next(ctx, f)
		}
	}
	handle := classify.Compose(chain.New(missingFile))
	_, err := os.Open("/no/such/file")
	c, _ := handle(context.Background(), classify.NewFailure(err, "", time.Time{}, azure.Errors()))
	fmt.Println(c)
	// Output: on change, rule FileMissing: open /no/such/file: no such file or directory
}

// busyCache calls next, and then changes the decision about one conflict of a
// cache.
func busyCache(next classify.Handler) classify.Handler {
	return func(ctx context.Context, f *classify.Failure) (classify.Classification, error) {
		c, err := next(ctx, f)
		if err != nil {
			return c, err
		}
		if f.Code == "Conflict" && strings.Contains(strings.ToLower(f.Message), "try again later") {
			chain.Note(ctx, "the cache is busy")
			return c.With(classify.Fast), nil
		}
		return c, nil
	}
}

// A link is a function of next. It may call next and change the decision, or
// decide without next. The link of this example can also be written as a
// [Rule]: {Code: "Conflict", Message: Regexp("(?i)try again later"), Retry:
// Fast}.
func ExampleMiddleware() {
	handle := classify.Compose(chain.New(busyCache))
	for _, f := range []*classify.Failure{
		{Code: "Conflict", Status: 409, Message: "The cache is busy. Please try again later.", APIVersion: "2024-03-01"},
		{Code: "Conflict", Status: 409, Message: "The name is taken.", APIVersion: "2024-03-01"},
	} {
		c, err := handle(context.Background(), f)
		fmt.Println(c.Retry(), "-", c.Message(), err)
	}
	// Output:
	// fast - The cache is busy. Please try again later. <nil>
	// slow - The name is taken. <nil>
}
