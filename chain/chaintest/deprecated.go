package chaintest

import (
	"time"

	"pgregory.net/rapid"
)

// Acts is the old name of [WithActing].
//
// Deprecated: use [WithActing].
//
//go:fix inline
func Acts(links ...string) Option { return WithActing(links...) }

// ComposedBy is the old name of [WithComposer].
//
// Deprecated: use [WithComposer].
//
//go:fix inline
func ComposedBy[Req, Res any](by Composer[Req, Res]) Option { return WithComposer(by) }

// Excuse is the old name of [WithExcuse].
//
// Deprecated: use [WithExcuse].
//
//go:fix inline
func Excuse(law Law, link, reason string) Option { return WithExcuse(law, link, reason) }

// Held is the old name of [WithHeld].
//
// Deprecated: use [WithHeld].
//
//go:fix inline
func Held(probe func() int) Option { return WithHeld(probe) }

// KeepsResult is the old name of [WithKeptResult].
//
// Deprecated: use [WithKeptResult].
//
//go:fix inline
func KeepsResult(links ...string) Option { return WithKeptResult(links...) }

// Requests is the old name of [WithRequests].
//
// Deprecated: use [WithRequests].
//
//go:fix inline
func Requests[Req any](g *rapid.Generator[Req]) Option { return WithRequests(g) }

// Results is the old name of [WithResults].
//
// Deprecated: use [WithResults].
//
//go:fix inline
func Results[Res any](g *rapid.Generator[Res]) Option { return WithResults(g) }

// Within is the old name of [WithTimeout].
//
// Deprecated: use [WithTimeout].
//
//go:fix inline
func Within(d time.Duration) Option { return WithTimeout(d) }
