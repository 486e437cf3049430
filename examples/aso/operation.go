package aso

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// Operation is how a gate follows a long-running operation that it began, over as many passes as it takes. Its token is kept
// with the resource, in an annotation for instance, so that a restart does not begin the operation again.
type Operation[T any] interface {
	// Token is the token that was kept with resource; empty: nothing is under way.
	Token(resource T) string
	// SetToken keeps a token with resource, at once and for good; empty removes it.
	SetToken(ctx context.Context, resource T, token string) error
	// Poll asks once how the operation is getting on. An error without done says nothing about the operation, only that it
	// could not be asked for; one with done is how the operation ended.
	Poll(ctx context.Context, token string) (done bool, err error)
}

// follow polls the operation that an earlier pass began. It tells whether there was one, and whether it has ended, which an
// error does not hide: the token of one that failed is forgotten, and the next pass may begin anew.
func follow[T any](ctx context.Context, op Operation[T], resource T) (underWay, ended bool, err error) {
	token := op.Token(resource)
	if token == "" {
		return false, false, nil
	}
	if ended, err = op.Poll(ctx, token); ended {
		err = errors.Join(err, op.SetToken(context.WithoutCancel(ctx), resource, ""))
	}
	return true, ended, err
}

// begin keeps the token of an operation that was just begun. It takes what the call that began it gave: no token means that
// it was over at once.
func begin[T any](ctx context.Context, op Operation[T], resource T, token string, err error) error {
	if err != nil || token == "" {
		return err
	}
	return op.SetToken(context.WithoutCancel(ctx), resource, token) // else it would be begun again
}

// hasStatus tells whether err is an answer of Azure's with this HTTP status.
func hasStatus(err error, status int) bool {
	var response *azcore.ResponseError
	return errors.As(err, &response) && response.StatusCode == status
}
