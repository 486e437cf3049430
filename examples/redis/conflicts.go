package main

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// busy retries a Conflict of a busy cache soon. The default table cannot
// separate it from a lasting Conflict; the message can.
var busy = classify.Table{{
	Name:    "CacheIsBusy",
	Code:    "Conflict",
	Message: classify.Contains("try again later"), // compared without case
	Retry:   classify.Fast,
}}

// preparing retries a BadRequest of linked servers that ends within minutes.
// The default table would retry it at the resync. The row holds for API
// versions before 2023-08-01; check a newer version before you add it.
var preparing = classify.Table{{
	Name:        "ReplicationIsBeingPrepared",
	Code:        "BadRequest",
	Message:     classify.Contains("being prepared"),
	APIVersions: "<2023-08-01",
	Retry:       classify.Slow,
}}

// redisExtensions returns the rules of caches and their children.
func redisExtensions[T any]() flow.Extensions[T] {
	return flow.Extensions[T]{Classify: busy.Chain()}
}

// childExtensions returns the checks and rules of a cache's children.
func childExtensions[T any]() flow.Extensions[T] {
	return redisExtensions[T]().Extend(flow.Extensions[T]{OwnerCheck: chain.New(checks.OwnerReady())})
}

// linkedServerExtensions adds the check of the other cache and a rule.
func linkedServerExtensions() flow.Extensions[*LinkedServer] {
	return childExtensions[*LinkedServer]().Extend(flow.Extensions[*LinkedServer]{
		PreCheck: chain.New(
			checks.ReferenceReady("cache", func(l *LinkedServer) []checks.Ref { return []checks.Ref{cacheRef(l.Linked)} }),
		),
		Classify: preparing.Chain(),
	})
}
