package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// printed returns the outputs of the program. The test fails unless it exits with 0.
func printed(t *testing.T, args ...string) (out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(args, &stdout, &stderr); code != sim.ExitOK {
		t.Fatalf("%q: exit code %d: %s", args, code, &stderr)
	}
	return stdout.String(), stderr.String()
}

// TestOutput compares the whole output of the program: the story with all counts,
// explanations, and refusals.
func TestOutput(t *testing.T) {
	simtest.Prints(t, run, "", "-h",
		"-explain batch -at 1m", "-explain AgentPool/batch -at 8m", "-explain managedcluster/demo", "-explain batch -at 8m -json",
		"-wait", "batch", "-at 1m", "-json", "-explain unknown", "-explain demo -html x", "-html no/such/folder/x", "-otel -explain demo")
}

// The page of -html says which object is the root cause, marks the link that
// blocks, and shows the flow.
func TestHTML(t *testing.T) {
	file := filepath.Join(t.TempDir(), "why.html")
	printed(t, "-html", file)
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	simtest.InOrder(t, string(page), "Root causes", "Subnet apps/batch is missing", "create it, or correct the reference",
		"Objects", "AgentPool batch", "blocked for 1m: ReferenceNotFound", "Subnet apps/batch is missing", "ReferenceReady(network)", "<strong>block</strong>",
		"The flow of its reconciler", "PreCheck     ReferenceReady(network) -&gt; ProvisioningState")
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
	story, _ := printed(t)
	explained, _ := printed(t, "-explain", "batch", "-at", "8m")
	shown := 0
	for i, part := range strings.Split(pages, "```") {
		// Every second part is a block. A block of anything else has a language, or begins with a command.
		if i%2 == 0 || !strings.HasPrefix(part, "\n") || strings.HasPrefix(part, "\ngo ") {
			continue
		}
		shown++
		if !strings.Contains(story+explained, strings.TrimLeft(part, "\n")) {
			t.Errorf("a page shows output that the program does not print:\n%s", part)
		}
	}
	if shown != 2 {
		t.Errorf("the pages show %d outputs, want 2", shown)
	}
}

// TestTelemetry: -otel prints a span for each pass, the metrics, and log lines with
// the virtual time.
func TestTelemetry(t *testing.T) {
	type span struct {
		Name, Key, At string
		Failed        bool
	}
	var want, got []span
	e := simulate(true)
	for _, p := range e.RunUntil(t.Context(), time.Hour, e.AllReady).Passes {
		want = append(want, span{"reconcile " + p.Resource.Kind, p.Resource.Name, flowtest.Stamp(p.At), p.State() == flow.StateFailed})
	}
	out, lines := printed(t, "-otel")
	metrics := map[string]bool{}
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var doc struct {
			Name       string // of a span
			Status     struct{ Code string }
			Attributes []struct {
				Key   string
				Value struct{ Value any }
			}
			ScopeMetrics []struct{ Metrics []struct{ Name string } }
		}
		if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in:\n%s", err, out)
		}
		attributes := map[string]string{}
		for _, a := range doc.Attributes {
			attributes[a.Key] = fmt.Sprint(a.Value.Value)
		}
		if doc.Name != "" {
			got = append(got, span{doc.Name, attributes["windlass.key"], attributes["example.at"], doc.Status.Code == "Error"})
		}
		for _, scope := range doc.ScopeMetrics {
			for _, m := range scope.Metrics {
				metrics[m.Name] = true
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want a span for each pass: -passes, +spans:\n%s", diff)
	}
	if !metrics["windlass.pass.duration"] || !metrics["windlass.link.verdicts"] {
		t.Errorf("metrics are missing: %v", metrics)
	}
	simtest.InOrder(t, lines,
		"at=00:00 msg=\"pass started\" reconciler=ManagedCluster key=demo\n",
		"at=02:00 msg=\"link started\" reconciler=AgentPool key=system point=OwnerCheck link=OwnerReady\n",
		"at=02:00 msg=\"link ended\" reconciler=AgentPool key=system point=OwnerCheck link=OwnerProvisioningState verdict=block reason=OwnerState retry=slow message=",
		"at=07:00 msg=\"pass ended\" reconciler=AgentPool key=system err=OperationNotAllowed point=Apply verdict=error", "errorType=OperationNotAllowed\n",
		"at=11:22 msg=\"pass ended\" reconciler=AgentPool key=batch verdict=ready reason=Succeeded")
}
