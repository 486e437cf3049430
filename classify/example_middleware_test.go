package classify_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

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
