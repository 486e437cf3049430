package aws_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/aws"
)

func Example() {
	err := &smithy.OperationError{ServiceID: "EC2", OperationName: "DeleteVpc", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusBadRequest}},
		Err:      &smithy.GenericAPIError{Code: "DependencyViolation", Message: "The vpc 'vpc-1' has dependencies and cannot be deleted."},
	}}
	mine := classify.Table{
		{Name: "subnets are being deleted", Code: "DependencyViolation", Retry: classify.Fast},
	}
	for _, c := range []classify.Chain{{}, mine.Chain()} {
		got, _ := classify.Compose(c)(context.Background(), classify.NewFailure(err, "", time.Time{}, aws.Errors()))
		fmt.Println(got)
	}
	// Output:
	// slow, rule DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.
	// fast, rule subnets are being deleted, code DependencyViolation: The vpc 'vpc-1' has dependencies and cannot be deleted.
}
