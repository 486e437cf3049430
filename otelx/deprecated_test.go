package otelx

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/attribute"
)

// Each old name sets the same option as the new name.
func TestDeprecatedNames(t *testing.T) {
	about := func(context.Context, any) []attribute.KeyValue { return nil }
	var got options
	for _, opt := range []Option{AskSampler(), ErrorText(7), LinkSpans(), LogVerbosity(3, 4), PassAttributes(about)} {
		opt(&got)
	}
	if !got.sampleLinks || got.text != 7 || !got.linkSpans || got.pointVerbosity != 3 || got.linkVerbosity != 4 || got.attributes == nil {
		t.Errorf("the options are %+v", got)
	}
}
