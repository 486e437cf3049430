package sim

import "github.com/windlass-go/windlass/flow"

// WithoutChecks returns e without its checks, for a run to compare with.
func WithoutChecks[T any](e flow.Extensions[T]) flow.Extensions[T] {
	var none flow.Extensions[T]
	e.OwnerCheck, e.PreCheck, e.PostCheck, e.DeleteCheck = none.OwnerCheck, none.PreCheck, none.PostCheck, none.DeleteCheck
	return e
}
