package main

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"
	"github.com/google/go-cmp/cmp"
)

func TestClusterMatches(t *testing.T) {
	c := &Cluster{Spec: ClusterSpec{Location: "westeurope", SKU: armkusto.AzureSKUNameStandardE2AV4, Capacity: 2}}
	cases := map[string]struct {
		reason string
		change func(*armkusto.Cluster)
		want   bool
	}{
		"Wanted":   {"all fields are equal", func(*armkusto.Cluster) {}, true},
		"More":     {"other fields do not matter", func(f *armkusto.Cluster) { f.Name = new("demo") }, true},
		"Location": {"another location", func(f *armkusto.Cluster) { f.Location = new("northeurope") }, false},
		"Nowhere":  {"no location", func(f *armkusto.Cluster) { f.Location = nil }, false},
		"Size":     {"another size", func(f *armkusto.Cluster) { f.SKU.Name = new(armkusto.AzureSKUNameStandardE16AV4) }, false},
		"Capacity": {"another capacity", func(f *armkusto.Cluster) { f.SKU.Capacity = new(int32(3)) }, false},
		"NoSKU":    {"no size", func(f *armkusto.Cluster) { f.SKU = nil }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found := c.desired()
			tc.change(&found)
			if diff := cmp.Diff(tc.want, c.matches(found)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
