package aso

import (
	"context"
	"errors"
	"time"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
)

// Operation follows a long-running operation that a gate began, over as many passes as it takes. It keeps the operation's token
// with the resource, for instance in an annotation, so that a restart does not begin the operation again.
type Operation[T any] interface {
	// Token returns the token that is kept with resource; empty: no operation is under way.
	Token(resource T) string
	// SetToken keeps a token with resource, before it returns; empty removes it.
	SetToken(ctx context.Context, resource T, token string) error
	// Poll asks once for the state of the operation. With done, err says how the operation ended. Without done, err says that
	// Poll could not find out.
	Poll(ctx context.Context, token string) (done bool, err error)
}

// follow polls the operation that an earlier pass began. It reports whether one was under way, and whether it has ended. It
// forgets the token of an operation that has ended, also of one that failed or that Azure does not know any more: the next
// pass may begin another one.
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

// begin keeps the token of an operation that was just begun. Its last two parameters are the results of the call that began
// it. No token means that the operation has already ended.
func begin[T any](ctx context.Context, op Operation[T], resource T, token string, err error) error {
	if err != nil || token == "" {
		return err
	}
	return op.SetToken(context.WithoutCancel(ctx), resource, token) // else it would be begun again
}

// failure reads an error of Azure. It returns the zero Failure for a nil error.
func failure(err error) classify.Failure {
	if f := classify.NewFailure(err, "", time.Time{}, azure.Errors()); f != nil {
		return *f
	}
	return classify.Failure{}
}
