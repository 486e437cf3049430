package ctrlx

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
)

// OwnedBy is the old name of [WithOwner].
//
// Deprecated: use [WithOwner].
//
//go:fix inline
func OwnedBy[T client.Object](owner func(resource T) checks.Ref) Option { return WithOwner(owner) }

// PollEvery is the old name of [WithPollInterval].
//
// Deprecated: use [WithPollInterval].
//
//go:fix inline
func PollEvery(d time.Duration) Option { return WithPollInterval(d) }

// SyncTimeout is the old name of [WithSyncTimeout].
//
// Deprecated: use [WithSyncTimeout].
//
//go:fix inline
func SyncTimeout(d time.Duration) Option { return WithSyncTimeout(d) }

// WakeAtMost is the old name of [WithWakeLimit].
//
// Deprecated: use [WithWakeLimit].
//
//go:fix inline
func WakeAtMost(n int, in time.Duration) Option { return WithWakeLimit(n, in) }
