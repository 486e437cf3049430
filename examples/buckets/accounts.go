package main

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/buckets/internal/storage"
	"github.com/windlass-go/windlass/flow"
)

// accountOperations reads accounts from the service and creates them. An
// account has no owner.
func accountOperations(api *storage.Client) flow.Operations[*Account] {
	return flow.Operations[*Account]{
		Key: func(a *Account) string { return a.Name },

		Get: func(ctx context.Context, req *flow.Request[*Account]) (flow.Observation, error) {
			err := req.Resource.observe(ctx, api)
			switch {
			case status.Code(err) == codes.NotFound:
				return flow.Observation{Presence: checks.Absent}, nil
			case err != nil:
				return flow.Observation{}, err
			}
			return flow.Observation{Presence: checks.Present, InSync: true}, nil
		},

		Apply: func(ctx context.Context, req *flow.Request[*Account]) (flow.Progress, error) {
			a := req.Resource
			progress, err := advance(ctx, api, req.Token, func(ctx context.Context) (*storage.Operation, error) {
				return api.CreateAccount(ctx, &storage.Account{Name: a.Name})
			})
			if err == nil && progress.IsDone() {
				err = a.observe(ctx, api)
			}
			return progress, err
		},
	}
}

// observe copies the state that the service reports.
func (a *Account) observe(ctx context.Context, api *storage.Client) error {
	found, err := api.GetAccount(ctx, &storage.GetAccountRequest{Name: a.Name})
	if err != nil {
		return err
	}
	a.State = found.State
	return nil
}
