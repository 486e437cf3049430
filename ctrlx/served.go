package ctrlx

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/ctrlx/internal/write"
)

// hasStatus returns an error unless the kind of r has the subresource status.
// Without it, a pass could store neither conditions nor an operation, and each
// pass would call Apply again.
func (r *core) hasStatus(ctx context.Context) error {
	switch has, err := r.engine.HasStatus(ctx, r.kind.GroupVersionKind, r.opt.sync); {
	case err != nil:
		return &finalizerError{fmt.Errorf("ctrlx: %s: whether the kind has a status subresource: %w", r.name, err)}
	case !has:
		return &finalizerError{fmt.Errorf("ctrlx: %s: %w", r.name, write.ErrNoStatus)}
	}
	return nil
}

// wroteStatus takes the error of a write of the status: a new version of the
// definition may lack the subresource.
func (r *core) wroteStatus(err error) error {
	if errors.Is(err, write.ErrNoStatus) {
		r.engine.NoStatus(r.kind.GroupKind())
	}
	return err
}
