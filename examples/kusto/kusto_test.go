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

// What the service says of a cluster and of its database, by what was done with the cluster.
func TestKusto(t *testing.T) {
	cases := map[string]struct {
		reason   string
		set      armkusto.State // empty: nothing was done with it
		want     string         // both states of the cluster
		database string         // what a GET of its database comes to
	}{
		"Running":  {"a cluster runs until somebody stops it", "", "Running/Succeeded", "200"},
		"Started":  {"or when somebody started it", armkusto.StateRunning, "Running/Succeeded", "200"},
		"Stopping": {"an operation is running, while the cluster is not", armkusto.StateStopping, "Stopping/Running", "BadRequest"},
		"Stopped":  {"provisioned, and not running", armkusto.StateStopped, "Stopped/Succeeded", "BadRequest"},
		"Starting": {"not yet", armkusto.StateStarting, "Starting/Running", "BadRequest"},
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
			if diff := cmp.Diff(map[string]int{state: 1}, k.Asked); diff != "" {
				t.Errorf("requests about databases are counted by the state of the cluster: -want, +got:\n%s", diff)
			}
		})
	}
}

// Of a cluster that is not there the server says so.
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
