package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
)

var program simtest.Program = run

// folder writes manifests to a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestStory(t *testing.T) {
	simtest.InOrder(t, program.MustShow(t),
		"00:00  ManagedCluster demo   in progress at Apply",
		"00:00  AgentPool system      blocked at OwnerCheck by OwnerReady",
		"00:00  AgentPool batch       blocked at OwnerCheck by OwnerReady",
		"or with ManagedCluster demo",
		"02:00  ManagedCluster demo   ready; Azure says Upgrading, after 4 polls",
		"02:00  AgentPool system      blocked at OwnerCheck by OwnerProvisioningState",
		"Upgrading",
		"07:00  ManagedCluster demo   ready; Azure says Succeeded",
		"07:00  AgentPool system      failed at Apply: OperationNotAllowed",
		"Another operation (Reconcile) is in progress",
		"07:00  AgentPool batch       blocked at PreCheck by ReferenceReady(network)",
		"or with Subnet apps/batch",
		"AgentPool system      in progress at Apply",
		"AgentPool system      ready",
		"09:30  Subnet apps/batch     * made by a person",
		"09:30  AgentPool batch       failed at Apply: TooManyRequests",
		"again in 20s (slow, rule Throttled)",
		"09:50  AgentPool batch       failed at Apply: NodePoolMcVersionIncompatible",
		"(slow, rule ControlPlaneLagsBehind)",
		"AgentPool batch       in progress at Apply",
		"AgentPool batch       ready; Azure says Succeeded",
		"all is ready",
		"The flows that ran:",
		"ProvisioningState",
		"OwnerReady",
		"OwnerProvisioningState",
		"ReferenceReady(network)",
		"with checks",
		"requests sent to Azure",
		"answered by an error",
		"all ready at",
	)
}

func TestRunsAreTheSame(t *testing.T) {
	program.MustBeTheSame(t)
	program.MustBeTheSame(t, "-explain", "batch", "-at", "8m", "-json")
}

func TestChecksSpareRequests(t *testing.T) {
	m, err := LoadManifests("")
	if err != nil {
		t.Fatal(err)
	}
	tally := func(withChecks bool) armsim.Tally {
		s, err := NewSimulation(m, withChecks)
		if err != nil {
			t.Fatal(err)
		}
		s.engine.RunUntil(t.Context(), time.Hour, s.engine.AllReady)
		if !s.engine.AllReady() {
			t.Fatalf("with checks %t: %v", withChecks, s.engine.NotReady(time.Hour))
		}
		return s.cloud.Tally()
	}
	with, without := tally(true), tally(false)
	fresh, err := LoadManifests("")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fresh, m, cmp.AllowUnexported(Manifests{})); diff != "" {
		t.Errorf("a run changes the manifests: -manifests, +after both runs:\n%s", diff)
	}
	want := armsim.Tally{
		Sent: 24, Failed: 10,
		Verbs: map[string]int{"GET": 8, "PUT": 6, "POLL": 10},
		Failures: map[string]int{
			"GET 404 ResourceNotFound": 7, // the first GET of each resource and its retries
			// The three faults of the script, and no error that a check could
			// have prevented.
			"PUT 409 OperationNotAllowed":           1,
			"PUT 429 TooManyRequests":               1,
			"PUT 400 NodePoolMcVersionIncompatible": 1,
		},
	}
	if diff := cmp.Diff(want, with); diff != "" {
		t.Errorf("with checks: -want, +got:\n%s", diff)
	}
	if without.Sent < 2*with.Sent || without.Failed < 4*with.Failed {
		t.Errorf("want far more requests without checks: %+v with, %+v without", with, without)
	}
	for _, futile := range []string{"PUT 409 OperationNotAllowed", "PUT 400 SubnetNotFound"} {
		if without.Failures[futile] <= with.Failures[futile] {
			t.Errorf("%s: %d with checks, %d without", futile, with.Failures[futile], without.Failures[futile])
		}
	}
}

func TestComparisonOfARunThatIsLate(t *testing.T) {
	simtest.InOrder(t, program.MustShow(t, "-timeout", "12m"), "all ready at", "11:2", "not in time")
}

func TestNotReady(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   []string
		not    string
	}{
		"TooEarly": {
			reason: "the subnet is created later",
			args:   []string{"-timeout", "9m"},
			want: []string{"aks: not all is ready after 9m0s:", "AgentPool batch  blocked at PreCheck by ReferenceReady(network)",
				"Subnet apps/batch was not found", "or with Subnet apps/batch"},
			not: "system",
		},
		"NoSubnet": {
			reason: "the subnet is never created",
			args:   []string{"-manifests", folder(t, map[string]string{"a.yaml": aCluster + "---\n" + aPool + "  subnet: apps/gone\n"})},
			want:   []string{"aks: not all is ready after 1h0m0s:", "AgentPool system  blocked", "or with Subnet apps/gone"},
			not:    "ManagedCluster demo  ",
		},
		"NoOwner": {
			reason: "the cluster is never created",
			args:   []string{"-manifests", folder(t, map[string]string{"a.yaml": aPool})},
			want: []string{"AgentPool system  blocked at OwnerCheck by OwnerReady", "ManagedCluster demo was not found",
				"or with ManagedCluster demo"},
			not: "ManagedCluster demo:",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.reason)
			got := program.MustBeLate(t, tc.args...)
			simtest.InOrder(t, got, tc.want...)
			if strings.Contains(got, tc.not) {
				t.Errorf("a ready or missing resource is named (%q):\n%s", tc.not, got)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	program.MustExplain(t, map[string]simtest.Explanation{
		"Owner": {Reason: "the cluster is being created", Args: []string{"batch", "-at", "1m"},
			Want: []string{"ManagedCluster demo", "> OwnerCheck  OwnerReady"}},
		"Reference": {Reason: "the subnet does not exist", Args: []string{"AgentPool/batch", "-at", "8m"},
			Want: []string{"Subnet apps/batch", "00:07:00Z, 1m0s ago", "00:12:00Z, in 4m0s", "> PreCheck    ReferenceReady(network)"}},
		"End": {Reason: "at the end the cluster is ready", Args: []string{"managedcluster/demo"},
			Want: []string{"ready"}},
	})
}

func TestExplainJSON(t *testing.T) {
	got := program.MustExplainJSON(t, "batch", "-at", "8m")
	if diff := cmp.Diff([]any{"ReferenceReady(network)", "2026-01-01T00:12:00Z"}, []any{got["link"], got["again"]}); diff != "" {
		t.Errorf("want the blocking link and the next pass: -want, +got:\n%s", diff)
	}
}

// The page of -html says which object is the root cause, marks the link that
// blocks, and shows the flow.
func TestHTML(t *testing.T) {
	file := filepath.Join(t.TempDir(), "why.html")
	program.MustShow(t, "-html", file)
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	simtest.InOrder(t, string(page), "Root causes", "Subnet apps/batch is missing", "create it, or correct the reference",
		"Objects", "AgentPool batch", "blocked for 1m0s: ReferenceNotFound", "Subnet apps/batch is missing", "ReferenceReady(network)", "<strong>block</strong>",
		"The flow of its reconciler", "PreCheck     ReferenceReady(network) -&gt; ProvisioningState")
	program.MustRefuse(t, "-html", "-html", filepath.Join(t.TempDir(), "no", "such", "folder"))
	program.MustRefuse(t, "use one of them", "-html", file, "-explain", "demo")
	program.MustRefuse(t, "cannot be used with -html", "-html", file, "-otel")
	program.MustRefuse(t, "the name of the file is empty", "-html", "")
}

func TestBadInput(t *testing.T) {
	bad := folder(t, map[string]string{"a.yaml": "kind: Widget\n"})
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"NoFolder": {"a missing folder", []string{"-manifests", "/no/such/folder"},
			"/no/such/folder: the folder does not exist"},
		"EmptyFolder":    {"an empty folder", []string{"-manifests", t.TempDir()}, "no *.yaml or *.yml file"},
		"File":           {"a file instead of a folder", []string{"-manifests", filepath.Join(bad, "a.yaml")}, "this is a file"},
		"NoName":         {"an empty name of a folder", []string{"-manifests", ""}, "the folder's name is empty"},
		"BadManifest":    {"the error names file, document and field", []string{"-manifests", bad}, `a.yaml: document 1: kind: unknown kind "Widget"`},
		"UnknownFlag":    {"an unknown flag", []string{"-wait"}, "-wait (-h lists the flags)"},
		"Argument":       {"an argument that is not a flag", []string{"batch"}, `unexpected argument "batch"`},
		"NotADuration":   {"a duration without a unit", []string{"-timeout", "5"}, "-timeout"},
		"NoTime":         {"a timeout of zero", []string{"-timeout", "0s"}, "-timeout: 0s"},
		"AtAlone":        {"-at without -explain", []string{"-at", "1m"}, "need -explain NAME"},
		"JSONAlone":      {"-json without -explain", []string{"-json"}, "need -explain NAME"},
		"AtBeforeStart":  {"a time before the start", []string{"-explain", "demo", "-at", "-1m"}, "-at: -1m0s is before the start"},
		"ExplainNothing": {"an empty name", []string{"-explain", ""}, "-explain: the name is empty"},
		"ExplainUnknown": {"a name that no resource has", []string{"-explain", "unknown"},
			`unknown resource "unknown"; the resources are ManagedCluster demo and AgentPool system and AgentPool batch`},
		"ExplainTwo": {"a name that two resources have", []string{"-explain", "system", "-manifests", folder(t, map[string]string{
			"a.yaml": strings.Replace(aCluster, "demo", "system", 1) + "---\n" + aPool})}, "use KIND/NAME"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.reason)
			program.MustRefuse(t, tc.want, tc.args...)
			if got := program.Run(tc.args...).Stderr; !strings.HasPrefix(got, "aks: ") {
				t.Errorf("the error does not begin with the program's name: %s", got)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	program.MustHelp(t, usage, "-manifests", "-timeout", "-explain", "-at", "-json", "Exit codes: 0",
		"ManagedCluster", "AgentPool", "Subnet")
}

// TestPages fails if a page shows output that the program does not print.
func TestPages(t *testing.T) {
	var pages string
	for _, page := range []string{"../../README.md", "../../docs/tested.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		pages += string(text)
	}
	printed := program.MustShow(t) + program.MustShow(t, "-explain", "batch", "-at", "8m")
	shown := 0
	for i, part := range strings.Split(pages, "```") {
		// Every second part is a block. A block of anything else has a language, or begins with a command.
		if i%2 == 0 || !strings.HasPrefix(part, "\n") || strings.HasPrefix(part, "\ngo ") {
			continue
		}
		shown++
		if !strings.Contains(printed, strings.TrimLeft(part, "\n")) {
			t.Errorf("a page shows output that the program does not print:\n%s", part)
		}
	}
	if shown != 2 {
		t.Errorf("the pages show %d outputs, want 2", shown)
	}
}
