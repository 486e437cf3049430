package main

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// busy is what is special about the errors of caches and of all that is in them. Of a Conflict the default does not know
// whether it is over soon. One with this message is; all others stay what the default says.
var busy = classify.Table{{
	Name:    "CacheIsBusy",
	Code:    "Conflict",
	Message: classify.Contains("try again later"), // in any case
	Retry:   classify.Fast,
}}

// preparing is special about linked servers, in API versions up to a point: what is over in minutes is called a
// BadRequest there, which the default would not try again before the resync. A newer version has to earn a row of its own.
var preparing = classify.Table{{
	Name:        "ReplicationIsBeingPrepared",
	Code:        "BadRequest",
	Message:     classify.Contains("being prepared"),
	APIVersions: "<2023-08-01",
	Retry:       classify.Slow,
}}

// redisExtensions is what caches and all that is in them have in common.
func redisExtensions[T any]() flow.Extensions[T] {
	return flow.Extensions[T]{Classify: busy.Chain()}
}

// childExtensions is what all have in common that is in a cache.
func childExtensions[T any]() flow.Extensions[T] {
	return redisExtensions[T]().Extend(flow.Extensions[T]{OwnerCheck: chain.New(checks.OwnerReady())})
}

// linkedServerExtensions is what linked servers need besides: the other cache, and a row of their own.
func linkedServerExtensions() flow.Extensions[*LinkedServer] {
	return childExtensions[*LinkedServer]().Extend(flow.Extensions[*LinkedServer]{
		PreCheck: chain.New(
			checks.ReferenceReady("cache", func(l *LinkedServer) []checks.Ref { return []checks.Ref{cacheRef(l.Linked)} }),
		),
		Classify: preparing.Chain(),
	})
}
