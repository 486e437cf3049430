package aso_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// RedisRule is a firewall rule of a cache. A cache takes one change at a time and refuses others until that is done.
type RedisRule struct{ Name string }

// redisTable says what such a refusal is: over in seconds. It stands in front of the default, which decides about all else.
var redisTable = classify.Table{
	{Name: "Redis is busy", Code: "Conflict", Message: classify.Contains("try again later"), Retry: classify.Fast},
}

// redisRefuses is an error as the clients of the Azure SDK give it, with the status 409.
func redisRefuses(message string, headers http.Header) error {
	body := fmt.Sprintf(`{"error": {"code": "Conflict", "message": %q}}`, message)
	return runtime.NewResponseError(&http.Response{
		StatusCode: http.StatusConflict, Header: headers, Body: io.NopCloser(strings.NewReader(body)),
	})
}

// A conflict that asks to be tried again later, and others, without a rule for it and with one.
func Example_redis() {
	var refusal error
	rules := func(ext flow.Extensions[*RedisRule]) *flow.Reconciler[*RedisRule] {
		return flow.New("FirewallRule", flow.Operations[*RedisRule]{
			Key: func(r *RedisRule) string { return r.Name },
			Apply: func(context.Context, *flow.Request[*RedisRule]) (flow.Progress, error) {
				if refusal != nil {
					return flow.Progress{}, fmt.Errorf("making the rule: %w", refusal)
				}
				return flow.Done(), nil
			},
		}, ext, flow.WithErrors(azure.Errors()), flow.WithoutBackoff()) // the delays of a first failure
	}
	plain := rules(flow.Extensions[*RedisRule]{})
	special := rules(flow.Extensions[*RedisRule]{Classify: redisTable.Chain()})

	reconcile := func(r *flow.Reconciler[*RedisRule]) {
		out := r.Reconcile(context.Background(), &RedisRule{Name: "office"})
		delay, _ := out.Again()
		fmt.Println(out)
		if out.State() == flow.StateFailed {
			fmt.Printf("  %s, first in %s; decided by %q\n", out.Retry(), delay, out.Rule())
		}
	}
	refusal = redisRefuses("The cache is busy. Please try again later.", nil)
	reconcile(plain)
	reconcile(special)

	// A delay that the service gives wins over the back-off.
	refusal = redisRefuses("The cache is busy. Please try again later.", http.Header{"Retry-After": {"15"}})
	reconcile(special)

	// Another conflict is none of the table's business.
	refusal = redisRefuses("The name is taken.", nil)
	reconcile(special)

	refusal = nil
	reconcile(special)
	// Output:
	// failed at Apply: Conflict: The cache is busy. Please try again later.
	//   slow, first in 1s; decided by "Conflict"
	// failed at Apply: Conflict: The cache is busy. Please try again later.
	//   fast, first in 1s; decided by "Redis is busy"
	// failed at Apply: Conflict: The cache is busy. Please try again later.
	//   fast, first in 15s; decided by "Redis is busy"
	// failed at Apply: Conflict: The name is taken.
	//   slow, first in 1s; decided by "Conflict"
	// ready
}
