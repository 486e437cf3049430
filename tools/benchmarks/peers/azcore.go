package main

import (
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// Differences of azcore: a policy gets only the request and calls the next
// policy through it, which copies the request in each link. A policy of azcore
// itself runs before the links and only calls the next. The last link returns
// without calling the inner policies of azcore (retry, tracing, logging). The
// request is made once.

type passAzcore[A, B any] struct{}

func (passAzcore[A, B]) Do(r *policy.Request) (*http.Response, error) { return r.Next() }

func tenAzcore[A any]() []policy.Policy {
	return []policy.Policy{
		passAzcore[A, d0]{}, passAzcore[A, d1]{}, passAzcore[A, d2]{}, passAzcore[A, d3]{}, passAzcore[A, d4]{},
		passAzcore[A, d5]{}, passAzcore[A, d6]{}, passAzcore[A, d7]{}, passAzcore[A, d8]{}, passAzcore[A, d9]{},
	}
}

var azcoreLinks = fifty(tenAzcore[d0], tenAzcore[d1], tenAzcore[d2], tenAzcore[d3], tenAzcore[d4])

type endAzcore struct{ answer http.Response }

func (e *endAzcore) Do(*policy.Request) (*http.Response, error) {
	ended()
	return &e.answer, nil
}

func azcoreCalls(n int) func(int) {
	pipeline := runtime.NewPipeline("", "", runtime.PipelineOptions{PerCall: firstAnd[policy.Policy](azcoreLinks, n, &endAzcore{})},
		&policy.ClientOptions{Telemetry: policy.TelemetryOptions{Disabled: true}})
	r, err := runtime.NewRequest(ctx, http.MethodGet, "https://peers.invalid")
	if err != nil {
		panic(err)
	}
	return func(calls int) {
		for range calls {
			_, _ = pipeline.Do(r)
		}
	}
}
