package checkstest

import (
	"time"

	"github.com/windlass-go/windlass/chain/chaintest"
)

// Breaks is the old name of [WithExcuse].
//
// Deprecated: use [WithExcuse].
//
//go:fix inline
func Breaks(rule Rule, why string, links ...string) Option { return WithExcuse(rule, why, links...) }

// OnLinks is the old name of [WithChainOptions].
//
// Deprecated: use [WithChainOptions].
//
//go:fix inline
func OnLinks(opts ...chaintest.Option) Option { return WithChainOptions(opts...) }

// Within is the old name of [WithTimeout].
//
// Deprecated: use [WithTimeout].
//
//go:fix inline
func Within(d time.Duration) Option { return WithTimeout(d) }
