package plugin

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow/why"
)

// The path, and the names of a request and of its echo, are those of ctrlx.
func TestNames(t *testing.T) {
	if retryAnnotation != ctrlx.RetryAnnotation || recordCondition != ctrlx.ConditionRecord || documentPath != ctrlx.WhyPath {
		t.Errorf("ctrlx has %s, %s and %s", ctrlx.RetryAnnotation, ctrlx.ConditionRecord, ctrlx.WhyPath)
	}
}

// The manifest names each archive that RELEASING.md builds.
func TestKrew(t *testing.T) {
	text, err := os.ReadFile("../krew.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/RELEASING.md")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Spec struct {
			Platforms []struct {
				Selector         metav1.LabelSelector
				URI, SHA256, Bin string
			}
		}
	}
	if err := yaml.Unmarshal(text, &manifest); err != nil || len(manifest.Spec.Platforms) == 0 {
		t.Fatalf("krew.yaml cannot be read: %v", err)
	}
	loop := "for s in"
	for _, p := range manifest.Spec.Platforms {
		system := p.Selector.MatchLabels["os"] + "_" + p.Selector.MatchLabels["arch"]
		loop += " " + system
		if !strings.HasSuffix(p.URI, "/VERSION/kubectl-windlass_"+system+".tar.gz") || p.SHA256 != "SHA256_"+strings.ToUpper(system) || strings.HasSuffix(p.Bin, ".exe") != strings.HasPrefix(system, "windows") {
			t.Errorf("the platform %s: %+v", system, p)
		}
	}
	if !strings.Contains(string(page), loop+";") {
		t.Errorf("RELEASING.md does not have %q", loop)
	}
}

// operate plays the operator of the databases of a namespace: it handles each
// request by echo, and leaves the object alone if echo returns nil.
func operate(t *testing.T, namespace string, echo func(u *unstructured.Unstructured, request string) map[string]any) {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("example.com/v1")
	list.SetKind("DatabaseList")
	ctx, cancel := context.WithCancel(t.Context())
	w, err := api.Watch(ctx, list, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); w.Stop(); <-done })
	go func() {
		defer close(done)
		for e := range w.ResultChan() {
			u, ok := e.Object.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			request := u.GetAnnotations()[retryAnnotation]
			if request == "" || handled(u, request) {
				continue
			}
			if status := echo(u, request); status != nil {
				u.Object["status"] = status
				if err := api.Status().Update(ctx, u); err != nil && ctx.Err() == nil {
					t.Errorf("the operator: %v", err)
				}
			}
		}
	}()
}

// A retry is echoed by a field, by a condition, or together with another request. One that ends a deletion has no echo.
func TestRetry(t *testing.T) {
	ns := namespace(t)
	for _, name := range []string{"field", "condition", "both", "deaf", "stuck"} {
		status := conditions("False", "Quota", "no cores", "Stalled")
		status["lastHandledReconcileAt"] = "2025-01-01T00:00:00Z" // an earlier request
		object(t, "Database", ns, name, status)
	}
	operate(t, ns, func(u *unstructured.Unstructured, request string) map[string]any {
		status := conditions("True", "Succeeded", "", "")
		switch u.GetName() {
		case "field":
			status["lastHandledReconcileAt"] = request
		case "both":
			status["lastHandledReconcileAt"] = request + ",2026-01-01T00:00:00Z"
		case "condition":
			status["conditions"] = append(status["conditions"].([]any), map[string]any{"type": ctrlx.ConditionRecord, "status": "True", "reason": ctrlx.ReasonRetryHandled, "message": fmt.Sprintf("a retry was handled; data of the operator, do not edit: uid=7; kind=Database.example.com; handled=2025-01-01T00:00:00Z%%2c%s", request), "lastTransitionTime": "2026-01-01T12:00:00Z"})
		case "stuck":
			if err := client.IgnoreNotFound(api.Delete(t.Context(), u)); err != nil {
				t.Error(err)
			}
			return nil
		default:
			return nil
		}
		return status
	})
	u := admin(t, ns)
	out, notes, code := u.run("retry", "db/field", "db/condition", "db/both", "db/both", "db/stuck", "--timeout", "10m")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	slices.Sort(lines)
	want := []string{"Database.example.com NS/both was retried and is ready", "Database.example.com NS/condition was retried and is ready", "Database.example.com NS/field was retried and is ready", "Database.example.com NS/stuck was retried and is gone"}
	if diff := cmp.Diff(want, lines); diff != "" || notes != "" || code != exitReady {
		t.Errorf("code %d, notes %q, output: -want, +got:\n%s", code, notes, diff)
	}

	// The user gives up after the first line, so the test needs no time-out.
	ctx, cancel := context.WithCancel(t.Context())
	u.ctx, u.printed = ctx, cancel
	if err := api.Patch(t.Context(), databaseOf(ns, "field"), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":null},"status":null}`))); err != nil {
		t.Fatal(err)
	}
	out, notes, code = u.run("retry", "database", "field", "deaf", "--timeout", "10m")
	want = []string{"Database.example.com NS/field was retried and is ready", "Database.example.com NS/deaf: the retry was not handled within 10m0s", ""}
	if diff := cmp.Diff(want, strings.Split(out, "\n")); diff != "" || !strings.Contains(notes, "handles no retry") || code != exitWaits {
		t.Errorf("code %d, notes %q, output: -want, +got:\n%s", code, notes, diff)
	}
}

func databaseOf(namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("example.com/v1")
	u.SetKind("Database")
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// The flags select objects by the awaited object or by the reason.
func TestRetrySelection(t *testing.T) {
	ns, other := namespace(t), namespace(t)
	if other < ns { // the document has the objects by name
		ns, other = other, ns
	}
	message := func(awaited string) string {
		return "the disk waits for Subnet.example.com " + ns + "/" + awaited + ", as documented"
	}
	object(t, "Database", ns, "text", conditions("False", "Quota", message("batch"), ""))
	object(t, "Database", ns, "other", conditions("False", "Quota2", message("batch2"), ""))
	object(t, "Database", ns, "ready", conditions("True", "Quota", message("batch"), ""))
	object(t, "Database", ns, "reported", conditions("False", "Busy", "", ""))
	subnet := ref("Subnet", ns, "batch")
	object(t, "Database", other, "a", conditions("False", "Quota", "", ""))
	object(t, "Database", ns, "silent", nil)
	foreign := waits(ref("Cluster", ns, "foreign"), subnet)
	foreign.Reconciler = ""
	objects := []why.Object{foreign}
	for _, of := range []checks.Ref{ref("Database", ns, "reported"), ref("Database", other, "a"), ref("Database", ns, "ready"), ref("Database", ns, "silent"), ref("Database", ns, "gone"), {Kind: "Namespace", Name: ns}} {
		o := waits(of, subnet)
		o.Reason = "Quota"
		objects = append(objects, o)
	}
	s := httptest.NewServer(manager{objects: objects})
	defer s.Close()
	address := " --dry-run --address " + s.URL
	left := func(what ...string) (text string) {
		for _, w := range what {
			text += "note: Database.example.com NS/" + w + "\n"
		}
		return byConditions + text
	}
	const ready, silent, gone = "ready is left out: it is ready", "silent is left out: it has no Ready condition", `gone is left out: databases.example.com "gone" not found`
	would := func(names ...string) (text string) {
		for _, n := range names {
			text += "Database.example.com " + n + " would be retried (dry run)\n"
		}
		return text
	}
	check(t, admin(t, ns), map[string]invocation{
		"WaitingFor": {"objects whose message or manager names it", "retry --waiting-for subnet/batch" + address, would("NS/text", "NS/reported"), left(gone, ready, silent), exitReady},
		"Everywhere": {"also in other namespaces", "retry --waiting-for subnet/batch -A" + address, would("NS/text", "NS/reported", other+"/a"), left(gone, ready, silent) + "note: Namespace NS is left out: it has no Ready condition\n", exitReady},
		"Reason":     {"the whole reason, and no object that is ready", "retry --reason Quota" + address, would("NS/text"), left(gone, ready, `reported is left out: the reason of its Ready condition is "Busy"`, silent), exitReady},
		"Nothing":    {"no object has the reason", "retry --reason None" + address, "No object to retry.\n", byConditions, exitReady},
		"NoChoice":   {"a choice is needed", "retry", "", "Error: name objects, or give --waiting-for, or --reason\n", exitError},
		"TwoChoices": {"one choice", "retry db/text --reason Quota", "", "Error: name objects, or give --waiting-for, or --reason\n", exitError},
		"Absent": {"an object that does not exist", "retry db/none", "",
			"note: Database.example.com NS/none was not retried: databases.example.com \"none\" not found\nError: 1 of 1 objects were not retried\n", exitError},
	})
}

// More than 20 objects need an answer.
func TestRetryMany(t *testing.T) {
	ns := namespace(t)
	for i := range maxUnasked + 1 {
		object(t, "Database", ns, fmt.Sprintf("d%02d", i), conditions("False", "Quota", "no cores", ""))
	}
	for name, tc := range map[string]struct {
		reason, in, flag string
		requests         int
	}{
		"No":     {"no answer is no", "", "--dry-run=false", 0},
		"Other":  {"another answer is no", "maybe\n", "--dry-run=false", 0},
		"DryRun": {"a dry run asks nothing", "", "--dry-run", 0},
		"Yes":    {"yes", "Y\n", "--dry-run=false", maxUnasked + 1},
		"Flag":   {"the flag", "", "--yes", maxUnasked + 1},
	} {
		t.Run(name, func(t *testing.T) {
			u := admin(t, ns)
			u.in = tc.in
			out, notes, code := u.run("retry", "--reason", "Quota", "--timeout", "0", tc.flag)
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion("example.com/v1")
			list.SetKind("DatabaseList")
			if err := api.List(t.Context(), list, client.InNamespace(ns)); err != nil {
				t.Fatal(err)
			}
			requests := 0
			for i := range list.Items {
				u := &list.Items[i]
				if u.GetAnnotations()[retryAnnotation] != "" {
					requests++
					u.SetAnnotations(nil)
					if err := api.Update(t.Context(), u); err != nil {
						t.Fatal(err)
					}
				}
			}
			if asks := strings.Contains(notes, "Retry 21 objects? [y/N]"); requests != tc.requests || (code == exitReady) != (requests > 0 || name == "DryRun") || asks == strings.HasPrefix(tc.flag, "--yes") && name != "DryRun" {
				t.Errorf("%s: %d requests, code %d, output %q, notes %q", tc.reason, requests, code, out, notes)
			}
		})
	}
}
