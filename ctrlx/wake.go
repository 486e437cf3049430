package ctrlx

import (
	"fmt"
	"time"

	"github.com/windlass-go/windlass/ctrlx/internal/engine"
)

// WithWakeLimit protects the cloud from many passes at once. When an awaited
// object changes, the passes over n of its waiters of this kind begin at once,
// and from then on n in each such time. Without the option, they begin as fast
// as the controller has workers. The limit holds for the kind, for all awaited
// objects together. Passes for other reasons do not count, and no delayed waiter
// is forgotten. An n below 1 and a time that is not positive panic.
func WithWakeLimit(n int, in time.Duration) Option {
	if n < 1 || in <= 0 {
		panic(fmt.Sprintf("ctrlx: WithWakeLimit(%d, %s): give at least 1 and a positive duration", n, in))
	}
	return func(o *options) { o.wakes = engine.Limit{N: n, In: in} }
}
