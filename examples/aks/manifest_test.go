package main

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	aCluster = "kind: ManagedCluster\nmetadata:\n  name: demo\nspec:\n  location: westeurope\n  kubernetesVersion: \"1.34\"\n"
	aPool    = "kind: AgentPool\nmetadata:\n  name: system\nspec:\n  owner: demo\n  vmSize: big\n  count: 3\n"
	aSubnet  = "kind: Subnet\nmetadata:\n  name: net/sub\nappearsAfter: 90s\n"
)

func TestReadManifests(t *testing.T) {
	fsys := fstest.MapFS{
		"a.yaml":     {Data: []byte("# first\n---\n" + aCluster + "---\n# nothing\n---\n" + aPool)},
		"b.yml":      {Data: []byte(aSubnet)},
		"notes.txt":  {Data: []byte("not: [read")},
		"sub/c.yaml": {Data: []byte("not: [read")},
	}
	got, err := readManifests(fsys, ".", "dir")
	if err != nil {
		t.Fatal(err)
	}
	meta := func(name string) Meta { return Meta{Name: name, Generation: 1} }
	want := &Manifests{
		Clusters: []*Cluster{{Kind: clusterKind, Meta: meta("demo"), Spec: ClusterSpec{Location: "westeurope", KubernetesVersion: "1.34"}}},
		Pools:    []*AgentPool{{Kind: poolKind, Meta: meta("system"), Spec: PoolSpec{Owner: "demo", VMSize: "big", Count: 3}}},
		Subnets:  []*Subnet{{Kind: subnetKind, Meta: meta("net/sub"), AppearsAfter: Duration(90 * time.Second)}},
		places: map[string]string{
			"managedcluster demo": "dir/a.yaml: document 1",
			"agentpool system":    "dir/a.yaml: document 3",
			"subnet net/sub":      "dir/b.yml: document 1",
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Manifests{})); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestBadManifests(t *testing.T) {
	replaced := func(text, old, by string) string {
		if !strings.Contains(text, old) {
			panic(old)
		}
		return strings.Replace(text, old, by, 1)
	}
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   string
	}{
		"EmptyFolder": {"a folder without manifests is a mistake", map[string]string{"readme.md": "hello"},
			"dir: no *.yaml or *.yml file in this folder"},
		"NoResource": {"a folder with nothing to reconcile is a mistake", map[string]string{"a.yaml": "# nothing\n", "b.yaml": aSubnet},
			"dir: no resource to reconcile; add at least one ManagedCluster or AgentPool"},
		"NotYAML": {"the error names the file and the line", map[string]string{"a.yaml": aCluster + "---\nkind: [\n"},
			"dir/a.yaml: document 2: not YAML: line 8: did not find expected node content"},
		"NotAMapping": {"a document is a mapping", map[string]string{"a.yaml": "- kind: AgentPool\n"},
			"dir/a.yaml: document 1: line 1: not a resource; use a mapping with kind, metadata and spec"},
		"NoKind": {"each document needs a kind", map[string]string{"a.yaml": "metadata:\n  name: x\n"},
			"dir/a.yaml: document 1: kind: missing"},
		"UnknownKind": {"an unknown kind", map[string]string{"a.yaml": aCluster + "---\nkind: Widget\n"},
			`dir/a.yaml: document 2: kind: unknown kind "Widget": use ManagedCluster, AgentPool and Subnet`},
		"UnknownField": {"a misspelt field", map[string]string{"a.yaml": aCluster + "---\n" + replaced(aPool, "vmSize", "vmsize")},
			"dir/a.yaml: document 2: line 13: spec.vmsize: unknown field"},
		"FieldOfStatus": {"Azure alone sets the status", map[string]string{"a.yaml": aCluster + "status: {}\n"},
			"dir/a.yaml: document 1: line 7: status: unknown field"},
		"WrongType": {"the error names the field and the line", map[string]string{"a.yaml": replaced(aPool, "count: 3", "count: three")},
			"dir/a.yaml: document 1: line 7: spec.count: cannot unmarshal !!str `three` into int32"},
		"FieldTwice": {"the second value would replace the first silently", map[string]string{"a.yaml": aPool + "  count: 4\n"},
			`dir/a.yaml: document 1: line 8: spec.count: mapping key "count" already defined at line 7`},
		"Twice": {"names compare across files and without case", map[string]string{"a.yaml": aCluster, "b.yaml": replaced(aCluster, "demo", "Demo")},
			"dir/b.yaml: document 1: metadata.name: ManagedCluster Demo is already defined in dir/a.yaml: document 1"},
		"NoName": {"a resource needs a name", map[string]string{"a.yaml": replaced(aCluster, "demo", `""`)},
			"dir/a.yaml: document 1: metadata.name: missing; use the name of a cluster: letters, digits, _ and -, at most 63"},
		"BadPoolName": {"Azure refuses the name", map[string]string{"a.yaml": replaced(aPool, "system", "System-Pool")},
			`dir/a.yaml: document 1: metadata.name: "System-Pool" is invalid; use the name of a pool: a lower-case letter, then lower-case letters and digits, at most 12`},
		"NoOwner": {"a pool needs a cluster", map[string]string{"a.yaml": replaced(aPool, "  owner: demo\n", "")},
			"dir/a.yaml: document 1: spec.owner: missing; use the name of a cluster: letters, digits, _ and -, at most 63"},
		"BadOwner": {"an ID is not a name", map[string]string{"a.yaml": replaced(aPool, "demo", "/subscriptions/x")},
			`dir/a.yaml: document 1: spec.owner: "/subscriptions/x" is invalid; use the name of a cluster: letters, digits, _ and -, at most 63`},
		"BadVersion": {"a version is a number with a dot", map[string]string{"a.yaml": replaced(aCluster, "1.34", "latest")},
			`dir/a.yaml: document 1: spec.kubernetesVersion: "latest" is invalid; use a version, as in "1.34"`},
		"NoLocation": {"a cluster needs a region", map[string]string{"a.yaml": replaced(aCluster, "westeurope", "")},
			"dir/a.yaml: document 1: spec.location: missing; use a region of Azure"},
		"NoCount": {"a pool needs nodes", map[string]string{"a.yaml": replaced(aPool, "  count: 3\n", "")},
			"dir/a.yaml: document 1: spec.count: 0 is out of range; use 1 to 1000"},
		"BadSubnet": {"the name of the network is missing", map[string]string{"a.yaml": aPool + "  subnet: apps\n"},
			`dir/a.yaml: document 1: spec.subnet: "apps" is invalid; use the name of a subnet, as in "network/subnet"`},
		"BadDuration": {"a duration without a unit", map[string]string{"a.yaml": replaced(aSubnet, "90s", "ninety")},
			`dir/a.yaml: document 1: line 4: appearsAfter: "ninety" is not a duration; use the form 9m30s`},
		"NegativeDuration": {"a time before the start", map[string]string{"a.yaml": replaced(aSubnet, "90s", "-1s")},
			"dir/a.yaml: document 1: appearsAfter: -1s is before the start; use 0s or more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for file, text := range tc.files {
				fsys[file] = &fstest.MapFile{Data: []byte(text)}
			}
			_, err := readManifests(fsys, ".", "dir")
			if err == nil {
				t.Fatalf("%s: want an error, got none", tc.reason)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func FuzzReadManifests(f *testing.F) {
	for _, text := range []string{aCluster, aPool, aSubnet, "kind: [", "- a", "&a [*a]", "kind: AgentPool\n? [a]\n: b\n", "a: !!binary x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := readManifests(fstest.MapFS{"a.yaml": {Data: []byte(text)}}, ".", "dir")
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("the error has several lines: %q", err)
		}
	})
}
