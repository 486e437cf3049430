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

// RedisRule is a firewall rule of a cache. A cache accepts one change at a time
// and refuses others until it is done.
type RedisRule struct{ Name string }

// redisTable makes the retry after such a refusal fast. It decides before the
// default table.
var redisTable = classify.Table{
	{Name: "Redis is busy", Code: "Conflict", Message: classify.Contains("try again later"), Retry: classify.Fast},
}

// redisRefuses returns an error of the Azure SDK with status 409.
func redisRefuses(message string, headers http.Header) error {
	body := fmt.Sprintf(`{"error": {"code": "Conflict", "message": %q}}`, message)
	return runtime.NewResponseError(&http.Response{
		StatusCode: http.StatusConflict, Header: headers, Body: io.NopCloser(strings.NewReader(body)),
	})
}

// Example_redis classifies conflicts with and without a rule.
func Example_redis() {
	var refusal error
	rules := func(ext flow.Extensions[*RedisRule]) *flow.Reconciler[*RedisRule] {
		return flow.New("FirewallRule", flow.Operations[*RedisRule]{
			Key: func(r *RedisRule) string { return r.Name },
			Apply: func(context.Context, *flow.Request[*RedisRule]) (flow.Progress, error) {
				if refusal != nil {
					return flow.Progress{}, fmt.Errorf("creating the rule: %w", refusal)
				}
				return flow.Done(), nil
			},
		}, ext, flow.WithErrors(azure.Errors()), flow.WithoutBackoff()) // each failure counts as the first
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

	// The service's delay takes precedence over the back-off.
	refusal = redisRefuses("The cache is busy. Please try again later.", http.Header{"Retry-After": {"15"}})
	reconcile(special)

	// The table does not match another conflict.
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
