package main

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/examples/buckets/internal/storage"
	"github.com/windlass-go/windlass/flow"
)

// bucketExtensions returns the checks and rules of buckets. No call about a
// bucket is sent before its account is ready and ACTIVE, the final state of
// this service.
func bucketExtensions() flow.Extensions[*Bucket] {
	return flow.Extensions[*Bucket]{
		OwnerCheck: chain.New(
			checks.OwnerReady(),
			checks.OwnerProvisioningState(func(a *Account) *string { return &a.State }, checks.WithAllowed(storage.StateActive)),
		),
		Classify: overQuota.Chain(),
	}
}

// overQuota separates an exceeded quota from throttling. Both have the code
// ResourceExhausted, but a person must raise the quota.
var overQuota = classify.Table{{Name: "OverQuota", InnerCode: "QUOTA_EXCEEDED", Retry: classify.VerySlow}}

// bucketOperations reads buckets from the service and creates them. objects
// finds their accounts.
func bucketOperations(api *storage.Client, objects checks.Resolver) flow.Operations[*Bucket] {
	return flow.Operations[*Bucket]{
		Key: func(b *Bucket) string { return b.Name },

		Owner: func(ctx context.Context, b *Bucket) (checks.Object, error) {
			return objects(ctx, accountRef(b.Account))
		},

		Get: func(ctx context.Context, req *flow.Request[*Bucket]) (flow.Observation, error) {
			b := req.Resource
			found, err := api.GetBucket(ctx, &storage.GetBucketRequest{Account: b.Account, Name: b.Name})
			switch {
			case status.Code(err) == codes.NotFound:
				return flow.Observation{Presence: checks.Absent}, nil
			case err != nil:
				return flow.Observation{}, err
			}
			return flow.Observation{Presence: checks.Present, InSync: found.Class == b.Class}, nil
		},

		Apply: func(ctx context.Context, req *flow.Request[*Bucket]) (flow.Progress, error) {
			b := req.Resource
			return advance(ctx, api, req.Token, func(ctx context.Context) (*storage.Operation, error) {
				return api.CreateBucket(ctx, &storage.Bucket{Account: b.Account, Name: b.Name, Class: b.Class})
			})
		},
	}
}
