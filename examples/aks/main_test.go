package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/examples/internal/azure"
	"github.com/windlass-go/windlass/examples/internal/sim"
)

// result is all that a person sees of a run.
type result struct {
	Code           int
	Stdout, Stderr string
}

func runWith(args ...string) result {
	var stdout, stderr bytes.Buffer
	code := run(args, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// folder makes a folder of manifests.
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

// inOrder fails unless each part of want is in text, behind the one before.
func inOrder(t *testing.T, text string, want ...string) {
	t.Helper()
	rest := text
	for _, part := range want {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("want %q, in this order, in:\n%s", part, text)
		}
		rest = after
	}
}

func TestStory(t *testing.T) {
	got := runWith()
	if got.Code != exitOK || got.Stderr != "" {
		t.Fatalf("exit code %d, stderr: %s", got.Code, got.Stderr)
	}
	inOrder(t, got.Stdout,
		"0:00  ManagedCluster demo   in progress at Apply",
		"0:00  AgentPool system      blocked at OwnerCheck by OwnerReady",
		"0:00  AgentPool batch       blocked at OwnerCheck by OwnerReady",
		"waits for ManagedCluster demo",
		"1:30  ManagedCluster demo   in progress",
		"2:00  ManagedCluster demo   ready; Azure says Upgrading",
		"2:00  AgentPool system      blocked at OwnerCheck by OwnerProvisioningState",
		"Upgrading",
		"7:00  ManagedCluster demo   ready; Azure says Succeeded",
		"7:00  AgentPool system      failed at Apply: OperationNotAllowed",
		"Another operation (Reconcile) is in progress",
		"7:00  AgentPool batch       blocked at PreCheck by ReferenceReady(network)",
		"waits for Subnet apps/batch",
		"AgentPool system      in progress at Apply",
		"AgentPool system      ready",
		"9:30  Subnet apps/batch     made by a person",
		"9:30  AgentPool batch       failed at Apply: TooManyRequests",
		"again at 9:50 (when it was told to",
		"9:50  AgentPool batch       failed at Apply: NodePoolMcVersionIncompatible",
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
	if diff := cmp.Diff(runWith(), runWith()); diff != "" {
		t.Errorf("virtual time leaves nothing to chance: -first, +second:\n%s", diff)
	}
}

func TestChecksSpareRequests(t *testing.T) {
	m, err := LoadManifests("")
	if err != nil {
		t.Fatal(err)
	}
	tally := func(withChecks bool) azure.Tally {
		s, err := NewSimulation(m, withChecks, sim.Silent{})
		if err != nil {
			t.Fatal(err)
		}
		s.engine.Run(t.Context(), time.Hour, s.engine.AllReady)
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
		t.Errorf("runs do not see each other's status: -manifests, +after both:\n%s", diff)
	}
	want := azure.Tally{
		Sent: 24, Failed: 10,
		Verbs: map[string]int{"GET": 8, "PUT": 6, "POLL": 10},
		Failures: map[string]int{
			"GET 404 ResourceNotFound": 7, // how one learns that there is nothing yet
			// The three faults of the script, and nothing that could have been known before.
			"PUT 409 OperationNotAllowed":           1,
			"PUT 429 TooManyRequests":               1,
			"PUT 400 NodePoolMcVersionIncompatible": 1,
		},
	}
	if diff := cmp.Diff(want, with); diff != "" {
		t.Errorf("with checks: -want, +got:\n%s", diff)
	}
	if without.Sent < 2*with.Sent || without.Failed < 4*with.Failed {
		t.Errorf("without checks there should be far more: %+v with, %+v without", with, without)
	}
	for _, futile := range []string{"PUT 409 OperationNotAllowed", "PUT 400 SubnetNotFound"} {
		if without.Failures[futile] <= with.Failures[futile] {
			t.Errorf("%s: %d with checks, %d without", futile, with.Failures[futile], without.Failures[futile])
		}
	}
}

func TestComparisonOfARunThatIsLate(t *testing.T) {
	got := runWith("-timeout", "12m")
	if got.Code != exitOK {
		t.Fatalf("exit code %d, stderr: %s", got.Code, got.Stderr)
	}
	inOrder(t, got.Stdout, "all ready at", "11:2", "not in time")
}

func TestNotReady(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   []string
		not    string
	}{
		"TooEarly": {
			reason: "the subnet is made later",
			args:   []string{"-timeout", "9m"},
			want: []string{"aks: not all is ready after 9m0s:", "AgentPool batch: blocked at PreCheck by ReferenceReady(network)",
				"Subnet apps/batch was not found", "waits for Subnet apps/batch"},
			not: "system",
		},
		"NoSubnet": {
			reason: "nobody makes the subnet",
			args:   []string{"-manifests", folder(t, map[string]string{"a.yaml": aCluster + "---\n" + aPool + "  subnet: apps/gone\n"})},
			want:   []string{"aks: not all is ready after 1h0m0s:", "AgentPool system: blocked", "waits for Subnet apps/gone"},
			not:    "ManagedCluster demo:",
		},
		"NoOwner": {
			reason: "nobody makes the cluster",
			args:   []string{"-manifests", folder(t, map[string]string{"a.yaml": aPool})},
			want:   []string{"AgentPool system: blocked at OwnerCheck by OwnerReady", "ManagedCluster demo was not found", "waits for ManagedCluster demo"},
			not:    "ManagedCluster demo:",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := runWith(tc.args...)
			if got.Code != exitNotReady {
				t.Fatalf("%s: exit code %d, stdout:\n%s", tc.reason, got.Code, got.Stdout)
			}
			inOrder(t, got.Stderr, tc.want...)
			if strings.Contains(got.Stderr, tc.not) {
				t.Errorf("%s: who is ready, or not there at all, is not named (%q):\n%s", tc.reason, tc.not, got.Stderr)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   []string
	}{
		"Owner": {
			reason: "the cluster is being created",
			args:   []string{"-explain", "batch", "-at", "1m"},
			want:   []string{"> OwnerCheck  OwnerReady", "ManagedCluster demo"},
		},
		"Reference": {
			reason: "the subnet is not there",
			args:   []string{"-explain", "AgentPool/batch", "-at", "8m"},
			want:   []string{"> PreCheck    ReferenceReady(network)", "Subnet apps/batch", "00:07:00Z, 1m0s ago", "00:12:00Z, in 4m0s"},
		},
		"End": {
			reason: "in the end there is nothing in the way",
			args:   []string{"-explain", "managedcluster/demo"},
			want:   []string{"ready"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := runWith(tc.args...)
			if got.Code != exitOK || got.Stderr != "" {
				t.Fatalf("%s: exit code %d, stderr: %s", tc.reason, got.Code, got.Stderr)
			}
			for _, part := range tc.want {
				if !strings.Contains(got.Stdout, part) {
					t.Errorf("%s: want %q in:\n%s", tc.reason, part, got.Stdout)
				}
			}
		})
	}
}

func TestExplainJSON(t *testing.T) {
	got := runWith("-explain", "batch", "-at", "8m", "-json")
	if got.Code != exitOK {
		t.Fatalf("exit code %d, stderr: %s", got.Code, got.Stderr)
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(got.Stdout), &answer); err != nil {
		t.Fatalf("%v in:\n%s", err, got.Stdout)
	}
	if diff := cmp.Diff("ReferenceReady(network)", answer["link"]); diff != "" {
		t.Errorf("the blocking link: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(got, runWith("-explain", "batch", "-at", "8m", "-json")); diff != "" {
		t.Errorf("the same question has the same answer: -first, +second:\n%s", diff)
	}
}

func TestBadInput(t *testing.T) {
	bad := folder(t, map[string]string{"a.yaml": "kind: Widget\n"})
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"NoFolder":       {"a folder that is not there", []string{"-manifests", "/no/such/folder"}, "/no/such/folder: there is no such folder"},
		"EmptyFolder":    {"a folder with nothing in it", []string{"-manifests", t.TempDir()}, "there is no *.yaml or *.yml file"},
		"File":           {"a file in place of a folder", []string{"-manifests", filepath.Join(bad, "a.yaml")}, "this is a file"},
		"NoName":         {"a folder without a name", []string{"-manifests", ""}, "the folder's name is empty"},
		"BadManifest":    {"file, document and field are named", []string{"-manifests", bad}, `a.yaml: document 1: kind: unknown kind "Widget"`},
		"UnknownFlag":    {"a flag that does not exist", []string{"-wait"}, "-wait (-h shows what there is)"},
		"Argument":       {"an argument that is no flag", []string{"batch"}, `what is "batch"?`},
		"NotADuration":   {"a duration has a unit", []string{"-timeout", "5"}, "-timeout"},
		"NoTime":         {"no time at all", []string{"-timeout", "0s"}, "-timeout: 0s"},
		"AtAlone":        {"-at is for -explain", []string{"-at", "1m"}, "go with -explain NAME"},
		"JSONAlone":      {"so is -json", []string{"-json"}, "go with -explain NAME"},
		"AtBeforeStart":  {"time begins at 0", []string{"-explain", "demo", "-at", "-1m"}, "-at: -1m0s is before the start"},
		"ExplainNothing": {"no name", []string{"-explain", ""}, "-explain: the name is empty"},
		"ExplainUnknown": {"a name that nobody has", []string{"-explain", "nobody"}, `there is no "nobody": there are ManagedCluster demo and AgentPool system and AgentPool batch`},
		"ExplainTwo": {"a name that two have", []string{"-explain", "system", "-manifests", folder(t, map[string]string{
			"a.yaml": strings.Replace(aCluster, "demo", "system", 1) + "---\n" + aPool})}, "say KIND/NAME"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := runWith(tc.args...)
			if got.Code != exitInput || got.Stdout != "" {
				t.Errorf("%s: exit code %d, stdout: %s", tc.reason, got.Code, got.Stdout)
			}
			if strings.Count(got.Stderr, "\n") != 1 || !strings.HasPrefix(got.Stderr, "aks: ") || !strings.Contains(got.Stderr, tc.want) {
				t.Errorf("%s: want one line with %q, got: %s", tc.reason, tc.want, got.Stderr)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	if diff := cmp.Diff(result{Code: exitOK, Stdout: usage}, runWith("-h")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	for _, flag := range []string{"-manifests", "-timeout", "-explain", "-at", "-json", "Exit codes: 0", "ManagedCluster", "AgentPool", "Subnet"} {
		if !strings.Contains(usage, flag) {
			t.Errorf("the help should say what %s is", flag)
		}
	}
}

// The README shows what the program prints.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	printed := runWith().Stdout + runWith("-explain", "batch", "-at", "8m").Stdout
	shown := 0
	for i, part := range strings.Split(string(readme), "```") {
		// Every second part is a block; those of other things say so in their first line.
		if i%2 == 0 || !strings.HasPrefix(part, "\n") || strings.HasPrefix(part, "\ngo run") {
			continue
		}
		shown++
		if !strings.Contains(printed, strings.TrimLeft(part, "\n")) {
			t.Errorf("the README shows what is not printed:\n%s", part)
		}
	}
	if shown != 3 {
		t.Errorf("the README shows %d outputs, want 3", shown)
	}
}
