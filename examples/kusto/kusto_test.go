package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"
	"github.com/google/go-cmp/cmp"
)

// TestKusto checks the responses of the service for each state of a cluster.
func TestKusto(t *testing.T) {
	cases := map[string]struct {
		reason   string
		set      armkusto.State // empty: the state is never set
		want     string         // both states of the cluster
		database string         // the result of a GET of its database
	}{
		"Running":  {"a new cluster runs", "", "Running/Succeeded", "200"},
		"Started":  {"a started cluster runs", armkusto.StateRunning, "Running/Succeeded", "200"},
		"Stopping": {"the operation is running, but the cluster is not", armkusto.StateStopping, "Stopping/Running", "BadRequest"},
		"Stopped":  {"the cluster is provisioned but does not run", armkusto.StateStopped, "Stopped/Succeeded", "BadRequest"},
		"Starting": {"the cluster does not run yet", armkusto.StateStarting, "Starting/Running", "BadRequest"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := NewKusto(time.Now)
			api, err := connect(k)
			if err != nil {
				t.Fatal(err)
			}
			k.Put(clusterID("demo"), nil)
			k.Put(clusterID("demo")+"/databases/logs", nil)
			if tc.set != "" {
				k.SetState(clusterID("demo"), tc.set)
			}
			found, err := api.NewClustersClient().Get(t.Context(), resourceGroup, "demo", nil)
			if err != nil {
				t.Fatal(err)
			}
			var c Cluster
			c.observe(found.Cluster)
			database := "200"
			var refused *azcore.ResponseError
			if _, err := api.NewDatabasesClient().Get(t.Context(), resourceGroup, "demo", "logs", nil); errors.As(err, &refused) {
				database = refused.ErrorCode
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tc.want, tc.database}, []string{c.Status.String(), database}); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			state, _, _ := strings.Cut(tc.want, "/")
			if diff := cmp.Diff(map[string]int{state: 1}, k.Requests); diff != "" {
				t.Errorf("requests by the state of the cluster: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestKustoWithoutCluster: the error about a missing cluster comes from the
// server, not from the rule.
func TestKustoWithoutCluster(t *testing.T) {
	k := NewKusto(time.Now)
	api, err := connect(k)
	if err != nil {
		t.Fatal(err)
	}
	var refused *azcore.ResponseError
	_, err = api.NewDatabasesClient().Get(t.Context(), resourceGroup, "demo", "logs", nil)
	if !errors.As(err, &refused) || refused.ErrorCode != "ParentResourceNotFound" {
		t.Errorf("got %v", err)
	}
}
