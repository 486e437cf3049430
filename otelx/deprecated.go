package otelx

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
)

// AskSampler is the old name of [WithLinkSampling].
//
// Deprecated: use [WithLinkSampling].
//
//go:fix inline
func AskSampler() Option { return WithLinkSampling() }

// ErrorText is the old name of [WithErrorText].
//
// Deprecated: use [WithErrorText].
//
//go:fix inline
func ErrorText(bytes int) Option { return WithErrorText(bytes) }

// LinkSpans is the old name of [WithLinkSpans].
//
// Deprecated: use [WithLinkSpans].
//
//go:fix inline
func LinkSpans() Option { return WithLinkSpans() }

// LogVerbosity is the old name of [WithLogVerbosity].
//
// Deprecated: use [WithLogVerbosity].
//
//go:fix inline
func LogVerbosity(points, links int) Option { return WithLogVerbosity(points, links) }

// PassAttributes is the old name of [WithPassAttributes].
//
// Deprecated: use [WithPassAttributes].
//
//go:fix inline
func PassAttributes(attributes func(ctx context.Context, resource any) []attribute.KeyValue) Option {
	return WithPassAttributes(attributes)
}
