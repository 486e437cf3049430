package main

import (
	"context"
	"time"

	"github.com/windlass-go/windlass/examples/buckets/internal/storage"
	"github.com/windlass-go/windlass/flow"
)

// pollEvery is the interval between polls of an operation under way.
const pollEvery = time.Minute

// advance starts an operation if token is empty. Otherwise it polls the
// operation of the token once.
//
// Keep two kinds of errors apart. The error of a call means that the operation
// was not started or polled; an operation under way stays under way. The error
// in an operation means that the operation has ended without success. Only
// flow.Failed reports this, and only then may the flow start another operation.
func advance(
	ctx context.Context, api *storage.Client, token string, start func(context.Context) (*storage.Operation, error),
) (flow.Progress, error) {
	var op *storage.Operation
	var err error
	if token == "" {
		op, err = start(ctx)
	} else {
		op, err = api.GetOperation(ctx, &storage.GetOperationRequest{Name: token})
	}
	switch {
	case err != nil:
		return flow.Progress{}, err
	case !op.Done:
		return flow.InProgress(op.Name, pollEvery), nil
	case op.Error != nil:
		return flow.Progress{}, flow.Failed(op.Error.Err())
	}
	return flow.Done(), nil
}
