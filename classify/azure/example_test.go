package azure_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// cloud responds to the requests for one cluster. Its PUT takes two polls.
type cloud struct{ polls int }

func (c *cloud) Do(req *http.Request) (*http.Response, error) {
	status, body, header := http.StatusOK, `{"name": "demo"}`, http.Header{}
	switch {
	case req.Method == http.MethodPut:
		status, body = http.StatusCreated, `{}`
		header.Set("Azure-AsyncOperation", "https://management.azure.com/operations/1")
		header.Set("Retry-After", "10")
	case req.URL.Path == "/operations/1":
		body = `{"status": "Succeeded"}`
		if c.polls++; c.polls < 2 {
			body = `{"status": "InProgress"}`
			header.Set("Retry-After", "20")
		}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

type cluster struct {
	Name string `json:"name"`
}

// beginPut is written as the Begin methods of the SDK's clients are.
func beginPut(ctx context.Context, pipeline runtime.Pipeline, resumeToken string) (*runtime.Poller[cluster], error) {
	if resumeToken != "" {
		return runtime.NewPollerFromResumeToken[cluster](resumeToken, pipeline, nil)
	}
	req, err := runtime.NewRequest(ctx, http.MethodPut, "https://management.azure.com/clusters/demo")
	if err != nil {
		return nil, err
	}
	resp, err := pipeline.Do(req)
	if err != nil {
		return nil, err
	}
	return runtime.NewPoller[cluster](resp, pipeline, nil)
}

// The Apply of a reconciler calls Advance once in each pass. The flow stores
// the token between passes.
func ExampleAdvance() {
	pipeline := runtime.NewPipeline("example", "v1", runtime.PipelineOptions{}, &policy.ClientOptions{Transport: &cloud{}})
	apply := func(ctx context.Context, token string) (flow.Progress, error) {
		return azure.Advance(ctx, token,
			func(ctx context.Context) (*runtime.Poller[cluster], error) { return beginPut(ctx, pipeline, token) },
			func(c cluster) { fmt.Println("result:", c.Name) })
	}
	token := ""
	for {
		p, err := apply(context.Background(), token)
		if err != nil || p.IsDone() {
			fmt.Println("done:", p.IsDone(), err)
			return
		}
		fmt.Println("under way, polled again in", p.After())
		token = p.Token()
	}
	// Output:
	// under way, polled again in 10s
	// under way, polled again in 20s
	// result: demo
	// done: true <nil>
}
