package cloud

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6/fake"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/examples/internal/armsim"
)

// fixture is a cloud, its clock, and the SDK's clients.
type fixture struct {
	*Cloud
	now      time.Time
	clusters *armcontainerservice.ManagedClustersClient
	pools    *armcontainerservice.AgentPoolsClient
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{now: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)}
	w.Cloud = New(func() time.Time { return w.now })
	factory, err := armcontainerservice.NewClientFactory("sub", &azfake.TokenCredential{}, armsim.ClientOptions(w))
	if err != nil {
		t.Fatal(err)
	}
	w.clusters, w.pools = factory.NewManagedClustersClient(), factory.NewAgentPoolsClient()
	return w
}

func (w *fixture) putCluster(t *testing.T) {
	t.Helper()
	spec := armcontainerservice.ManagedCluster{Location: new("westeurope")}
	if _, err := w.clusters.BeginCreateOrUpdate(t.Context(), "rg", "demo", spec, nil); err != nil {
		t.Fatal(err)
	}
}

func (w *fixture) putPool(ctx context.Context, name string, subnet *string) error {
	spec := armcontainerservice.AgentPool{Properties: &armcontainerservice.ManagedClusterAgentPoolProfileProperties{VnetSubnetID: subnet}}
	_, err := w.pools.BeginCreateOrUpdate(ctx, "rg", "demo", name, spec, nil)
	return err
}

// refused returns the status and the code of an SDK error. It checks the
// message.
func refused(t *testing.T, err error, message string) (int, string) {
	t.Helper()
	if err == nil {
		return 0, ""
	}
	var r *azcore.ResponseError
	if !errors.As(err, &r) {
		t.Fatalf("want an *azcore.ResponseError, got %T: %v", err, err)
	}
	if !strings.Contains(err.Error(), message) {
		t.Errorf("the error does not contain %q: %v", message, err)
	}
	return r.StatusCode, r.ErrorCode
}

func TestClusterState(t *testing.T) {
	cases := map[string]struct {
		reason string
		at     time.Duration
		want   string
	}{
		"New":        {reason: "a new cluster is Creating", at: 0, want: Creating},
		"AlmostDone": {reason: "it stays Creating until its time is over", at: ClusterTakes - time.Second, want: Creating},
		"Upgrading":  {reason: "the upgrade channel begins at once", at: ClusterTakes, want: Upgrading},
		"Settled":    {reason: "then no operation is under way", at: ClusterTakes + UpgradeTakes, want: Succeeded},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.putCluster(t)
			w.now = w.now.Add(tc.at)
			got, err := w.clusters.Get(t.Context(), "rg", "demo", nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, *got.Properties.ProvisioningState); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff("westeurope", *got.Location); diff != "" {
				t.Errorf("GET differs from PUT: -want, +got:\n%s", diff)
			}
		})
	}
}

func TestPoolRules(t *testing.T) {
	cases := map[string]struct {
		reason  string
		cluster bool
		age     time.Duration
		subnet  *string
		status  int
		code    string
		message string
	}{
		"NoCluster": {
			reason: "a pool needs its cluster",
			status: http.StatusNotFound, code: "ParentResourceNotFound", message: "demo was not found",
		},
		"Creating": {
			reason:  "a cluster that is Creating refuses changes",
			cluster: true,
			status:  http.StatusConflict, code: "OperationNotAllowed", message: "(Creating) is in progress",
		},
		"Upgrading": {
			reason:  "a cluster that is Upgrading refuses changes",
			cluster: true, age: ClusterTakes,
			status: http.StatusConflict, code: "OperationNotAllowed", message: "(Upgrading) is in progress",
		},
		"NoSubnet": {
			reason:  "the subnet must exist",
			cluster: true, age: ClusterTakes + UpgradeTakes, subnet: new("/x/gone"),
			status: http.StatusBadRequest, code: "SubnetNotFound", message: "/x/gone could not be found",
		},
		"Script": {
			reason:  "the script decides about accepted requests; IDs compare without case",
			cluster: true, age: ClusterTakes + UpgradeTakes, subnet: new("/X/There"),
			status: http.StatusConflict, code: "OperationNotAllowed", message: "(Reconcile) is in progress",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.AddSubnet("/x/there")
			if tc.cluster {
				w.putCluster(t)
			}
			w.now = w.now.Add(tc.age)
			status, code := refused(t, w.putPool(t.Context(), "a", tc.subnet), tc.message)
			if diff := cmp.Diff([]any{tc.status, tc.code}, []any{status, code}); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	w := newFixture(t)
	w.putCluster(t)
	w.now = w.now.Add(ClusterTakes + UpgradeTakes)
	type answer struct {
		Status     int
		Code       string
		RetryAfter string
	}
	var got []answer
	for _, pool := range []string{"a", "a", "b", "b", "b"} {
		var response *http.Response
		err := w.putPool(policy.WithCaptureResponse(t.Context(), &response), pool, nil)
		_, code := refused(t, err, "")
		got = append(got, answer{response.StatusCode, code, response.Header.Get("Retry-After")})
	}
	want := []answer{
		{http.StatusConflict, "OperationNotAllowed", ""},
		{http.StatusCreated, "", "30"},
		{http.StatusTooManyRequests, "TooManyRequests", "20"},
		{http.StatusBadRequest, "NodePoolMcVersionIncompatible", ""},
		{http.StatusCreated, "", "30"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the number of the request selects the fault: -want, +got:\n%s", diff)
	}
	tally := armsim.Tally{
		Sent: 6, Failed: 3,
		Verbs:    map[string]int{"PUT": 6},
		Failures: map[string]int{"PUT 409 OperationNotAllowed": 1, "PUT 429 TooManyRequests": 1, "PUT 400 NodePoolMcVersionIncompatible": 1},
	}
	if diff := cmp.Diff(tally, w.Tally()); diff != "" {
		t.Errorf("each request is counted: -want, +got:\n%s", diff)
	}
}

func TestOperation(t *testing.T) {
	w := newFixture(t)
	spec := armcontainerservice.ManagedCluster{Location: new("westeurope")}
	poller, err := w.clusters.BeginCreateOrUpdate(t.Context(), "rg", "demo", spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	var polls time.Duration
	for ; !poller.Done(); polls++ {
		token, err := poller.ResumeToken()
		if err != nil {
			t.Fatal(err)
		}
		options := &armcontainerservice.ManagedClustersClientBeginCreateOrUpdateOptions{ResumeToken: token}
		if poller, err = w.clusters.BeginCreateOrUpdate(t.Context(), "rg", "demo", spec, options); err != nil {
			t.Fatal(err)
		}
		response, err := poller.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if after := response.Header.Get("Retry-After"); (after == "30") == poller.Done() {
			t.Errorf("poll %d: Retry-After is %q, done is %t; want Retry-After until the end", polls+1, after, poller.Done())
		}
	}
	if polls*PollEvery != ClusterTakes {
		t.Errorf("%d polls every %s; want polls for %s", polls, PollEvery, ClusterTakes)
	}
	made, err := poller.Result(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Upgrading, *made.Properties.ProvisioningState); diff != "" {
		t.Errorf("the result has the state at the end of the operation: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"PUT": 1, "POLL": 4}, w.Tally().Verbs); diff != "" {
		t.Errorf("a resumed poller sends no PUT: -want, +got:\n%s", diff)
	}
}

// TestAnsweredByTheOfficialFake: the fake server answers every method that this
// cloud does not implement.
func TestAnsweredByTheOfficialFake(t *testing.T) {
	w := newFixture(t)
	var _ *fake.ServerFactoryTransport = w.fake
	_, err := w.pools.BeginDelete(t.Context(), "rg", "demo", "a", nil)
	if err == nil || !strings.Contains(err.Error(), "fake for method BeginDelete not implemented") {
		t.Errorf("want the error of the fake server, got: %v", err)
	}
	if diff := cmp.Diff(map[string]int{"DELETE 0 no answer": 1}, w.Tally().Failures); diff != "" {
		t.Errorf("a request without a response counts as failed: -want, +got:\n%s", diff)
	}
}

func TestNotThere(t *testing.T) {
	w := newFixture(t)
	_, err := w.clusters.Get(t.Context(), "rg", "demo", nil)
	status, code := refused(t, err, "managed cluster demo was not found")
	if diff := cmp.Diff([]any{http.StatusNotFound, "ResourceNotFound"}, []any{status, code}); diff != "" {
		t.Errorf("cluster: -want, +got:\n%s", diff)
	}
	_, err = w.pools.Get(t.Context(), "rg", "demo", "a", nil)
	if _, code := refused(t, err, ""); code != "ParentResourceNotFound" {
		t.Errorf("a pool of a missing cluster: got %s", code)
	}
	w.putCluster(t)
	_, err = w.pools.Get(t.Context(), "rg", "demo", "a", nil)
	if _, code := refused(t, err, ""); code != "ResourceNotFound" {
		t.Errorf("a missing pool: got %s", code)
	}
}
