package armsim

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/classify/azure"

	"github.com/windlass-go/windlass/flow"
)

// TestServerOperations creates, updates and deletes a resource, step by step.
func TestServerOperations(t *testing.T) {
	type seen struct {
		Status     int
		Code       string
		Operation  string // the status of the operation
		State      string // the provisioning state
		RetryAfter string
	}
	type step struct {
		after time.Duration
		verb  string // POLL: the operation that was begun last
		want  seen
	}
	put, get, poll, del := http.MethodPut, http.MethodGet, "POLL", http.MethodDelete
	busy := seen{Status: 409, Code: "AnotherOperationInProgress"}
	cases := map[string]struct {
		reason string
		steps  []step
	}{
		"Create": {"the state is Creating until the time is over", []step{
			{0, put, seen{Status: 201, State: "Creating", RetryAfter: "30"}},
			{0, get, seen{Status: 200, State: "Creating"}},
			{0, poll, seen{Status: 200, Operation: "InProgress", RetryAfter: "30"}},
			{30 * time.Second, put, busy},
			{0, del, busy},
			{40 * time.Second, poll, seen{Status: 200, Operation: "InProgress", RetryAfter: "20"}},
			{20*time.Second - 1, poll, seen{Status: 200, Operation: "InProgress", RetryAfter: "1"}},
			{1, poll, seen{Status: 200, Operation: "Succeeded"}},
			{0, get, seen{Status: 200, State: "Succeeded"}},
		}},
		"CreateUnasked": {"the operation ends without polls", []step{
			{0, put, seen{Status: 201, State: "Creating", RetryAfter: "30"}},
			{90 * time.Second, get, seen{Status: 200, State: "Succeeded"}},
		}},
		"Update": {"the state is Updating until the time is over; then another update may begin", []step{
			{0, put, seen{Status: 201, State: "Creating", RetryAfter: "30"}},
			{90 * time.Second, put, seen{Status: 200, State: "Updating", RetryAfter: "30"}},
			{0, put, busy},
			{90 * time.Second, put, seen{Status: 200, State: "Updating", RetryAfter: "30"}},
		}},
		"Delete": {"the state is Deleting until the time is over; then the resource is gone", []step{
			{0, put, seen{Status: 201, State: "Creating", RetryAfter: "30"}},
			{90 * time.Second, del, seen{Status: 202, RetryAfter: "30"}},
			{0, get, seen{Status: 200, State: "Deleting"}},
			{0, put, busy},
			{75 * time.Second, del, seen{Status: 202, RetryAfter: "15"}},
			{0, poll, seen{Status: 200, Operation: "InProgress", RetryAfter: "15"}},
			{15 * time.Second, get, seen{Status: 404, Code: "ResourceNotFound"}},
			{0, poll, seen{Status: 200, Operation: "Succeeded"}},
			{0, del, seen{Status: 204}},
			{0, put, seen{Status: 201, State: "Creating", RetryAfter: "30"}},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newFixture()
			r.Takes(clusters, 90*time.Second)
			var operation string
			for i, s := range tc.steps {
				r.pass(s.after)
				verb, path, body := s.verb, clusterID, ""
				switch s.verb {
				case poll:
					verb, path = get, operation
				case put:
					body = `{"location": "westeurope"}`
				}
				got := r.send(t, verb, path, body)
				if got.Operation != "" {
					operation = got.Operation
				}
				have := seen{Status: got.Status, Code: got.Code, RetryAfter: got.RetryAfter}
				have.Operation, _ = got.Body["status"].(string)
				if p, ok := got.Body["properties"].(object); ok {
					have.State, _ = p["provisioningState"].(string)
				}
				if diff := cmp.Diff(s.want, have); diff != "" {
					t.Errorf("%s: step %d, %s: -want, +got:\n%s", tc.reason, i, s.verb, diff)
				}
			}
		})
	}
}

// TestServerDeletesChildren: children are gone when the deletion of their
// parent ends.
func TestServerDeletesChildren(t *testing.T) {
	r := newFixture()
	r.Takes(clusters, time.Minute)
	r.Put(clusterID, nil)
	r.Put(databaseID, nil)
	r.Put(clusterID+"2", nil)
	r.send(t, "DELETE", clusterID, "")
	got := []bool{r.Has(databaseID)}
	r.pass(time.Minute)
	got = append(got, r.Has(databaseID), r.Has(clusterID+"2"))
	r.Put(clusterID, nil)
	got = append(got, r.Has(databaseID))
	if diff := cmp.Diff([]bool{true, false, true, false}, got); diff != "" {
		t.Errorf("children exist until the deletion ends and stay gone after a new parent: -want, +got:\n%s", diff)
	}
}

// TestServerChangeMeanwhile: a state set during an operation shows after it.
func TestServerChangeMeanwhile(t *testing.T) {
	r := newFixture()
	r.Takes(clusters, time.Minute)
	r.send(t, "PUT", clusterID, "{}")
	r.Change(clusterID, func(p map[string]any) { p["provisioningState"] = "Failed" })
	state := func() any { return r.send(t, "GET", clusterID, "").Body["properties"].(object)["provisioningState"] }
	got := []any{state()}
	r.pass(time.Minute)
	got = append(got, state())
	if diff := cmp.Diff([]any{"Creating", "Failed"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestServerWithRealClients uses the client of a service that has no official
// fake.
func TestServerWithRealClients(t *testing.T) {
	r := newFixture()
	r.Takes(clusters, 2*time.Minute)
	r.Takes(databases, time.Minute)
	factory, err := armkusto.NewClientFactory("0000", &azfake.TokenCredential{}, ClientOptions(r))
	if err != nil {
		t.Fatal(err)
	}
	api, dbs := factory.NewClustersClient(), factory.NewDatabasesClient()
	code := func(err error) string {
		var response *azcore.ResponseError
		if !errors.As(err, &response) {
			t.Fatalf("want an error of the service, got %v", err)
		}
		return response.ErrorCode
	}
	// follow runs an operation to its end and returns the number of passes.
	follow := func(what string, advance func(ctx context.Context, token string) (flow.Progress, error)) (passes int) {
		for token, done := "", false; !done; passes++ {
			progress, err := advance(t.Context(), token)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if token, done = progress.Token(), progress.IsDone(); !done {
				r.pass(progress.After())
			}
		}
		return passes
	}

	_, err = dbs.Get(t.Context(), "Group", "Demo", "Logs", nil)
	if diff := cmp.Diff("ParentResourceNotFound", code(err)); diff != "" {
		t.Errorf("GET without a cluster: -want, +got:\n%s", diff)
	}
	var cluster armkusto.Cluster
	passes := follow("create the cluster", func(ctx context.Context, token string) (flow.Progress, error) {
		return azure.Advance(ctx, token, func(ctx context.Context) (*runtime.Poller[armkusto.ClustersClientCreateOrUpdateResponse], error) {
			return api.BeginCreateOrUpdate(ctx, "Group", "Demo", armkusto.Cluster{
				Location: new("westeurope"),
				SKU: &armkusto.AzureSKU{
					Name: new(armkusto.AzureSKUNameDevNoSLAStandardD11V2), Tier: new(armkusto.AzureSKUTierBasic), Capacity: new(int32(1)),
				},
			}, &armkusto.ClustersClientBeginCreateOrUpdateOptions{ResumeToken: token})
		}, func(made armkusto.ClustersClientCreateOrUpdateResponse) { cluster = made.Cluster })
	})
	if diff := cmp.Diff([]any{5, "Demo", "westeurope", int32(1), armkusto.ProvisioningStateSucceeded},
		[]any{passes, *cluster.Name, *cluster.Location, *cluster.SKU.Capacity, *cluster.Properties.ProvisioningState}); diff != "" {
		t.Errorf("the created cluster: -want, +got:\n%s", diff)
	}

	var database armkusto.DatabaseClassification
	passes = follow("create the database", func(ctx context.Context, token string) (flow.Progress, error) {
		return azure.Advance(ctx, token, func(ctx context.Context) (*runtime.Poller[armkusto.DatabasesClientCreateOrUpdateResponse], error) {
			return dbs.BeginCreateOrUpdate(ctx, "Group", "Demo", "Logs", &armkusto.ReadWriteDatabase{
				Kind: new(armkusto.KindReadWrite), Location: new("westeurope"),
				Properties: &armkusto.ReadWriteDatabaseProperties{HotCachePeriod: new("P1D")},
			}, &armkusto.DatabasesClientBeginCreateOrUpdateOptions{ResumeToken: token})
		}, func(made armkusto.DatabasesClientCreateOrUpdateResponse) { database = made.DatabaseClassification })
	})
	readWrite, ok := database.(*armkusto.ReadWriteDatabase)
	if !ok {
		t.Fatalf("want the kind of database that was sent, got %T", database)
	}
	if diff := cmp.Diff([]any{3, "P1D", armkusto.ProvisioningStateSucceeded},
		[]any{passes, *readWrite.Properties.HotCachePeriod, *readWrite.Properties.ProvisioningState}); diff != "" {
		t.Errorf("the created database: -want, +got:\n%s", diff)
	}

	passes = follow("delete the cluster", func(ctx context.Context, token string) (flow.Progress, error) {
		return azure.Advance(ctx, token, func(ctx context.Context) (*runtime.Poller[armkusto.ClustersClientDeleteResponse], error) {
			return api.BeginDelete(ctx, "Group", "Demo", &armkusto.ClustersClientBeginDeleteOptions{ResumeToken: token})
		}, func(armkusto.ClustersClientDeleteResponse) {})
	})
	_, err = api.Get(t.Context(), "Group", "Demo", nil)
	if diff := cmp.Diff([]any{5, true, "ResourceNotFound"}, []any{passes, azure.Errors().NotFound(err), code(err)}); diff != "" {
		t.Errorf("the deleted cluster: -want, +got:\n%s", diff)
	}

	want := Tally{Sent: 17, Failed: 2,
		// The SDK sends one GET for the result of each PUT.
		Verbs:    map[string]int{"GET": 4, "PUT": 2, "POLL": 10, "DELETE": 1},
		Failures: map[string]int{"GET 404 ParentResourceNotFound": 1, "GET 404 ResourceNotFound": 1}}
	if diff := cmp.Diff(want, r.Tally()); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
}
