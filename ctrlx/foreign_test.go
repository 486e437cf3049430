package ctrlx_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// anyNamespace allows references into all namespaces.
var anyNamespace = ctrlx.WithForeignReferences(func(string, checks.Ref) bool { return true })

// A user names an object in another namespace, where the user has no rights. The
// condition shows neither whether the object exists nor its texts.
func TestForeignNamespace(t *testing.T) {
	foreign := aCluster()
	foreign.Namespace, foreign.Name = "kube-system", "theirs"
	foreign.Status.Conditions[0] = metav1.Condition{Type: "Ready", Status: "False", Reason: "TheirReason", Message: "their text", ObservedGeneration: 1}
	to := func(namespace, name string) checks.Ref {
		return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: namespace, Name: name}
	}
	allow := ctrlx.WithForeignReferences(func(namespace string, ref checks.Ref) bool {
		return namespace == "default" && ref.Namespace == "kube-system"
	})
	const refused = `the namespace "kube-system" is not the namespace of the object`
	cases := map[string]struct {
		reason string
		ref    checks.Ref
		opts   []ctrlx.Option
		says   string
		text   string // part of the message
	}{
		"Own":            {reason: "the default", ref: to("", "c"), says: "True Succeeded"},
		"OwnNamed":       {reason: "the own namespace, by its name", ref: to("default", "c"), says: "True Succeeded"},
		"Exists":         {reason: "the user must not learn that it exists", ref: to("kube-system", "theirs"), says: "False NamespaceNotAllowed", text: refused},
		"Missing":        {reason: "the same answer as for an object that exists", ref: to("kube-system", "none"), says: "False NamespaceNotAllowed", text: refused},
		"Allowed":        {reason: "the option allows it, and the texts stay there", ref: to("kube-system", "theirs"), opts: []ctrlx.Option{allow}, says: "False ReferenceNotReady", text: "kube-system/theirs is not ready"},
		"AllowedMissing": {reason: "the option allows it", ref: to("kube-system", "none"), opts: []ctrlx.Option{allow}, says: "False ReferenceNotFound", text: "kube-system/none was not found"},
		"OtherAllowed":   {reason: "the option allows another namespace only", ref: to("elsewhere", "none"), opts: []ctrlx.Option{allow}, says: "False NamespaceNotAllowed", text: `"elsewhere"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}), aCluster(), foreign.DeepCopyObject().(*testv1.Cluster))
			d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(checks.ReferenceReady("cluster", func(*App) []checks.Ref { return []checks.Ref{tc.ref} }))}, tc.opts...))
			d.pass()
			if got := d.says(); !strings.HasPrefix(got, tc.says) || !strings.Contains(d.message(), tc.text) {
				t.Errorf("%s: the object says %q with %q, want %q with %q", tc.reason, got, d.message(), tc.says, tc.text)
			}
			if m := d.message(); strings.Contains(m, "TheirReason") || strings.Contains(m, "their text") {
				t.Errorf("%s: the message quotes an object of another namespace: %s", tc.reason, m)
			}
		})
	}
}
