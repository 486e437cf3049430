package plugin

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// evil clears the screen, changes the direction of text, forges a line, and is
// long.
var evil = "x\x1b[2J\u202e\u2066\x07\x7f\u009b2J\r\n└─ forged\u2028" + strings.Repeat("long ", 2000)

// safe fails the test if a text controls the terminal that shows it.
func safe(t *testing.T, what, text string) {
	t.Helper()
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			t.Errorf("%s has the character %U:\n%q", what, r, text)
			return
		}
	}
}

// hostileObjects makes objects whose texts are evil where the API server allows
// it: in conditions, owner references, annotations and events.
func hostileObjects(t *testing.T, ns string) {
	t.Helper()
	object(t, "Database", ns, "orders", conditions("False", evil, evil, "Stalled"))
	owned := object(t, "Cluster", ns, "owned", conditions("False", "R", "Subnet.example.com "+ns+"/\x1b[2J was not found", ""))
	yes := true
	owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Database" + evil[:40], Name: evil[:40], UID: types.UID("1"), Controller: &yes}})
	owned.SetAnnotations(map[string]string{retryAnnotation: evil})
	if err := api.Update(t.Context(), owned); err != nil {
		t.Fatal(err)
	}
	event(t, "Cluster", ns, "owned", "R", evil, evil)
}

// hostileServices makes services whose documents, errors and annotations are
// evil.
func hostileServices(t *testing.T, ns string) {
	t.Helper()
	o := waits(ref("Database", ns, "orders"), checks.Ref{Group: evil, Kind: evil, Namespace: evil, Name: evil}, checks.Ref{Kind: evil, Set: evil})
	o.Message, o.Link, o.Reason, o.State = evil, evil, evil, why.State(evil)
	far := waits(checks.Ref{Kind: evil, Namespace: ns, Name: evil})
	far.Reason = "R"
	serve(t, ns, "document", manager{objects: []why.Object{o, far}, flows: []why.Flow{{Name: "database", Text: evil, Mermaid: evil}, {Name: evil}}})
	serve(t, ns, "version", manager{version: evil})
	serve(t, ns, "error", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, evil, http.StatusTeapot) }))
	serve(t, ns, "status", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { // as if the API server answered
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status"}, Message: evil})
	}))
	port := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "port", Labels: map[string]string{serviceLabel: "true"}, Annotations: map[string]string{portAnnotation: evil}},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	if err := api.Create(t.Context(), port); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Delete(context.Background(), port) })
}

// Texts of managers, objects, users and errors never control a terminal, with and
// without a manager. Only a flow has several lines. JSON has the texts as data.
func TestHostile(t *testing.T) {
	for name, with := range map[string]bool{"Managers": true, "Conditions": false} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			hostileObjects(t, ns)
			if with {
				hostileServices(t, ns)
			}
			operate(t, ns, func(u *unstructured.Unstructured, request string) map[string]any {
				status := conditions(evil, evil, evil, "")
				status["lastHandledReconcileAt"] = evil + "," + request
				return status
			})
			u := admin(t, ns)
			for _, args := range []string{
				"why db/orders", "why db/orders -o json", "why cluster/owned", "why cluster/owned -o json", "blocked", "blocked -A", "blocked -o wide", "blocked -o json",
				"flow db", "flow db -o mermaid", "flow nope", "retry --reason R --dry-run", "retry db/orders --timeout 10m", "retry db/none",
				"retry --waiting-for subnet/a --dry-run", "retry --reason \x1b[2J", "why \x1b[2J/\u202e", "why db/\x1b[2J", "why db/orders --service " + ns + "/\x1b[2J",
				"blocked --service \x1b[2J/b", "blocked --address \x1b[2J", "why db/orders --\x1b[2J", "\x1b[2J", "blocked -o \x1b[2J", "retry db/a --annotation \x1b[2J", "flow \x1b[2J",
			} {
				out, notes, _ := u.run(strings.Split(args, " ")...)
				safe(t, "the output of "+args, out)
				safe(t, "the notes of "+args, notes)
				if text := out + notes; text == "" || len(text) > 40_000 || !strings.HasPrefix(args, "flow db") && strings.Contains(text, "\n└─ forged") {
					t.Errorf("%q prints %d bytes:\n%s", args, len(text), text)
				}
				if strings.HasSuffix(args, "json") {
					if d, err := why.Read(strings.NewReader(out)); err != nil || !strings.Contains(out, "forged") && strings.Contains(args, "orders") || len(d.Objects) == 0 {
						t.Errorf("%q prints no document with the texts as data: %v\n%s", args, err, out)
					}
				}
			}
			out, _, _ := u.complete("why", "db/")
			safe(t, "the completion", out)
		})
	}
}
