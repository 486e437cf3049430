package azure_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
)

// Vault is the resource. ID is its resource ID in Azure.
type Vault struct{ ID string }

// lockState reads the state of a vault from Azure, by its resource ID and with
// the API version of the request.
func lockState(client *arm.Client) func(context.Context, *checks.Request[*Vault]) (string, error) {
	return func(ctx context.Context, req *checks.Request[*Vault]) (string, error) {
		get, err := runtime.NewRequest(ctx, http.MethodGet, runtime.JoinPaths(client.Endpoint(), req.Resource.ID))
		if err != nil {
			return "", err
		}
		query := get.Raw().URL.Query()
		query.Set("api-version", req.APIVersion)
		get.Raw().URL.RawQuery = query.Encode()

		response, err := client.Pipeline().Do(get)
		if err != nil {
			return "", err
		}
		if !runtime.HasStatusCode(response, http.StatusOK) {
			return "", runtime.NewResponseError(response)
		}
		var vault struct {
			Properties struct{ State string }
		}
		err = runtime.UnmarshalAsJSON(response, &vault)
		return vault.Properties.State, err
	}
}

// answer is a response of Azure.
type answer struct {
	status int
	body   string
}

// answers is a transport that replaces Azure. It prints each request and
// returns the next answer.
type answers []answer

func (a *answers) Do(req *http.Request) (*http.Response, error) {
	fmt.Println(req.Method, req.URL.Path, "with", req.URL.RawQuery)
	next := (*a)[0]
	*a = (*a)[1:]
	body := io.NopCloser(strings.NewReader(next.body))
	return &http.Response{StatusCode: next.status, Header: http.Header{}, Body: body, Request: req}, nil
}

// A check reads the state with a client of the Azure SDK, by the ID of the
// resource and the API version of the request. A 404 means that the resource
// does not exist yet, so the check proceeds. Any other error is an error of the
// check.
func Example_liveState() {
	client, err := arm.NewClient("example", "v1.0.0", &fake.TokenCredential{}, &arm.ClientOptions{
		DisableRPRegistration: true,
		ClientOptions: policy.ClientOptions{
			Retry: policy.RetryOptions{MaxRetries: -1}, // the reconciler retries
			Transport: &answers{
				{http.StatusOK, `{"properties": {"state": "Locked"}}`},
				{http.StatusOK, `{"properties": {"state": "Online"}}`},
				{http.StatusNotFound, `{"error": {"code": "ResourceNotFound"}}`},
				{http.StatusForbidden, `{"error": {"code": "AuthorizationFailed"}}`},
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	check := checks.Compose(chain.New(checks.LiveState(lockState(client), checks.WithDenied("Locked", "Deleting"))))
	for range 4 {
		res, err := check(context.Background(), &checks.Request[*Vault]{
			OwnerRequest: checks.OwnerRequest{APIVersion: "2023-07-01", Errors: azure.Errors()},
			Resource:     &Vault{ID: "/subscriptions/s/resourceGroups/prod/providers/Microsoft.KeyVault/vaults/keys"},
			Presence:     checks.Present,
		})
		if err != nil {
			fmt.Println("could not find out:", azure.Errors().Class(err))
			continue
		}
		fmt.Println(res)
	}
	// Output:
	// GET /subscriptions/s/resourceGroups/prod/providers/Microsoft.KeyVault/vaults/keys with api-version=2023-07-01
	// block ResourceState: the resource is in state "Locked": it must not be Locked or Deleting [slow]
	// GET /subscriptions/s/resourceGroups/prod/providers/Microsoft.KeyVault/vaults/keys with api-version=2023-07-01
	// proceed
	// GET /subscriptions/s/resourceGroups/prod/providers/Microsoft.KeyVault/vaults/keys with api-version=2023-07-01
	// proceed
	// GET /subscriptions/s/resourceGroups/prod/providers/Microsoft.KeyVault/vaults/keys with api-version=2023-07-01
	// could not find out: AuthorizationFailed
}
