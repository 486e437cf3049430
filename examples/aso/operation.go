package aso

import (
	"context"
	"errors"
	"time"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
)

// Operation stores and polls the operation that a gate began. It stores the
// token with the resource, for instance in an annotation, so that a restart
// does not begin the operation again.
type Operation[T any] interface {
	// Token returns the stored token of resource, or "" if no operation is
	// under way.
	Token(resource T) string
	// SetToken stores a token with resource. An empty token removes it.
	SetToken(ctx context.Context, resource T, token string) error
	// Poll polls the operation once. With done, err is the result of the
	// operation. Without done, err means that the poll failed.
	Poll(ctx context.Context, token string) (done bool, err error)
}

// follow polls the operation that an earlier pass began. It reports whether one
// was under way and whether it has ended. It removes the token of an operation
// that ended, failed or is unknown to Azure, so the next pass may begin another
// one.
func follow[T any](ctx context.Context, op Operation[T], resource T) (underWay, ended bool, err error) {
	token := op.Token(resource)
	if token == "" {
		return false, false, nil
	}
	ended, err = op.Poll(ctx, token)
	if ended = ended || azure.Errors().Ended(err); ended {
		err = errors.Join(err, op.SetToken(context.WithoutCancel(ctx), resource, ""))
	}
	return true, ended, err
}

// begin stores the token of a new operation. token and err are the results of
// the call that began it. An empty token means that the operation has already
// ended.
func begin[T any](ctx context.Context, op Operation[T], resource T, token string, err error) error {
	if err != nil || token == "" {
		return err
	}
	return op.SetToken(context.WithoutCancel(ctx), resource, token) // without the token it would begin again
}

// failure reads an error of Azure. It returns the zero Failure for nil.
func failure(err error) classify.Failure {
	if f := classify.NewFailure(err, "", time.Time{}, azure.Errors()); f != nil {
		return *f
	}
	return classify.Failure{}
}
