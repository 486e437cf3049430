package main

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"
	"github.com/google/go-cmp/cmp"
)

func TestClusterSame(t *testing.T) {
	c := &Cluster{Spec: ClusterSpec{Location: "westeurope", SKU: armkusto.AzureSKUNameStandardE2AV4, Capacity: 2}}
	cases := map[string]struct {
		reason string
		change func(*armkusto.Cluster)
		want   bool
	}{
		"Wanted":   {"it is what it was told to be", func(*armkusto.Cluster) {}, true},
		"More":     {"Azure may say more than it was told", func(f *armkusto.Cluster) { f.Name = new("demo") }, true},
		"Location": {"it is elsewhere", func(f *armkusto.Cluster) { f.Location = new("northeurope") }, false},
		"Nowhere":  {"nobody knows where it is", func(f *armkusto.Cluster) { f.Location = nil }, false},
		"Size":     {"its machines are others", func(f *armkusto.Cluster) { f.SKU.Name = new(armkusto.AzureSKUNameStandardE16AV4) }, false},
		"Capacity": {"it has more machines", func(f *armkusto.Cluster) { f.SKU.Capacity = new(int32(3)) }, false},
		"NoSKU":    {"nobody knows what it is", func(f *armkusto.Cluster) { f.SKU = nil }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found := c.wanted()
			tc.change(&found)
			if diff := cmp.Diff(tc.want, c.same(found)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
