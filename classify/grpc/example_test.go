package grpc_test

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/grpc"
)

func Example() {
	s, _ := status.New(codes.ResourceExhausted, "too many topics at once").WithDetails(
		&errdetails.ErrorInfo{Reason: "RATE_LIMIT_EXCEEDED", Domain: "googleapis.com"},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(20 * time.Second)},
	)
	handle := classify.Compose(classify.Chain{})
	c, _ := handle(context.Background(), classify.NewFailure(s.Err(), "", time.Time{}, grpc.Errors()))
	fmt.Println(c)
	// Output:
	// slow after 20s, rule inner RATE_LIMIT_EXCEEDED, code ResourceExhausted: too many topics at once: RATE_LIMIT_EXCEEDED
}
