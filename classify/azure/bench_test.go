package azure

import (
	"context"
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/windlass-go/windlass/classify"
)

// BenchmarkClassify reads and classifies errors of Azure.
func BenchmarkClassify(b *testing.B) {
	cached := func(body string) error {
		err := respErr("Conflict", 409, body, "Retry-After", "15")
		if _, e := runtime.Payload(err.RawResponse); e != nil {
			b.Fatal(e)
		}
		return err
	}
	handle := classify.Compose(classify.Chain{})
	for name, err := range map[string]error{
		"body":    cached(`{"error":{"code":"Conflict","message":"The resource is busy with another operation, please try again later."}}`),
		"details": cached(`{"error":{"code":"Conflict","message":"busy","details":[{"code":"A","message":"a"},{"code":"B","message":"b"}]}}`),
		"no body": &azcore.ResponseError{ErrorCode: "Conflict", StatusCode: 409},
		"unknown": fmt.Errorf("a: %w", context.DeadlineExceeded),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				handle(context.Background(), newFailure(err))
			}
		})
	}
}
