package why_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
)

// crowd returns n objects that wait for m clusters, which wait for one subnet. The
// names and texts are as long as usual ones.
func crowd(n, m int) []why.Object {
	subnet := checks.Ref{Group: "network.example.com", Kind: "Subnet", Namespace: "apps", Name: "batch"}
	all := []why.Object{{Ref: subnet, State: why.Missing}}
	cluster := func(i int) checks.Ref {
		return checks.Ref{Group: "example.com", Kind: "Cluster", Namespace: "apps", Name: fmt.Sprintf("cluster-%06d", i)}
	}
	for i := range m {
		all = append(all, why.Object{
			Ref: cluster(i), Reconciler: "Cluster", State: why.Blocked, Reason: "ReferenceNotFound", Point: "PreCheck", Link: "ReferenceReady(network)", Since: noon.Add(-time.Hour),
			Message: "network Subnet.network.example.com apps/batch was not found: waiting until it is created", WaitingFor: []checks.Ref{subnet},
		})
	}
	for i := range n {
		of := cluster(i % m)
		all = append(all, why.Object{
			Ref:        checks.Ref{Group: "example.com", Kind: "Database", Namespace: "apps", Name: fmt.Sprintf("database-%06d", i)},
			Reconciler: "Database", State: why.Blocked, Reason: "OwnerNotReady", Point: "OwnerCheck", Link: "OwnerReady", Since: noon.Add(-time.Minute),
			Message: "owner " + of.String() + " is not ready: ReferenceNotFound", WaitingFor: []checks.Ref{of},
			Passes: []flow.Explanation{{Name: "Database", State: "blocked", Message: strings.Repeat("a message ", 100)}},
		})
	}
	return all
}

// The document of 100,000 waiters is small, and counts each of them.
func TestDocumentBounds(t *testing.T) {
	d := why.New(crowd(100_000, 300)).Document(noon)
	data, err := json.Marshal(d)
	if err != nil || len(data) > 5_000_000 {
		t.Fatalf("the document has %d bytes: %v", len(data), err)
	}
	if got, want := d.OmittedObjects+len(d.Objects), 100_301; got != want || d.Waiting != want {
		t.Errorf("the document counts %d objects, and %d of them wait, want %d", got, d.Waiting, want)
	}
	if len(d.Causes) != 1 || d.Causes[0].Waiters != 100_300 || len(d.Causes[0].Sample) != 10 || !d.Causes[0].Since.Equal(noon.Add(-time.Hour)) {
		t.Errorf("the causes are %+v", d.Causes)
	}
	var page bytes.Buffer
	if err := d.WritePage(&page); err != nil || page.Len() > 5_000_000 {
		t.Errorf("the page has %d bytes: %v", page.Len(), err)
	}
	many := make([]why.Object, 1000)
	for i := range many {
		many[i] = why.Object{Ref: name(i), State: why.Missing}
	}
	if d := why.New(many).Document(noon); len(d.Causes) != 100 || d.OmittedCauses != 900 {
		t.Errorf("there are %d causes, and %d are left out", len(d.Causes), d.OmittedCauses)
	}
	for i := range many {
		many[i] = why.Object{Ref: name(i), State: why.Ready, Passes: make([]flow.Explanation, 1)}
	}
	if d := why.New(many).Document(noon); len(d.Objects[99].Passes) != 1 || len(d.Objects[100].Passes) != 0 {
		t.Errorf("the objects at 100 have %d and %d passes, want one and none", len(d.Objects[99].Passes), len(d.Objects[100].Passes))
	}
	for i := range many { // 60 causes, each with a sample of ten waiters
		many[i] = why.Object{Ref: name(i), State: why.Blocked, WaitingFor: []checks.Ref{name(5000 + i%60)}}
	}
	d = why.New(many).Document(noon)
	if len(d.Objects) != 500 || d.OmittedObjects != 560 {
		t.Errorf("there are %d objects, and %d are left out", len(d.Objects), d.OmittedObjects)
	}
	page.Reset()
	if err := d.WritePage(&page); err != nil {
		t.Error(err)
	}
	linked(t, page.String()) // some waiters have no place
	many[0].WaitingFor = nil
	for i := range 150 {
		many[0].WaitingFor = append(many[0].WaitingFor, many[i].WaitingFor...)
		many[0].WaitingFor = append(many[0].WaitingFor, name(7000+i))
	}
	of, ok := why.New(many).DocumentOf(name(0), noon)
	if !ok || len(of.Causes) != 100 || of.OmittedCauses != 110 || len(of.Objects) != 211 || of.Waiting != 211 {
		t.Errorf("the document of an object has %d causes, without %d, and %d objects; %d wait", len(of.Causes), of.OmittedCauses, len(of.Objects), of.Waiting)
	}
}

// Read reads its own JSON. Other versions, other texts and endless input
// are errors.
func TestRead(t *testing.T) {
	want := why.New(crowd(5, 2)).Document(noon, why.Flow{Name: "Database", Text: "Database\n"})
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := why.Read(bytes.NewReader(data))
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(flow.Explanation{})); err != nil || diff != "" {
		t.Errorf("-want, +got:\n%s%v", diff, err)
	}
	got, err = why.Read(strings.NewReader(`{"version":"v1","causes":[{},{"objects":[],"waiters":1},{"objects":[{"name":"a"}]}]}`))
	if err != nil || len(got.Causes) != 1 || got.WritePage(io.Discard) != nil {
		t.Errorf("a cause without an object has no text: got %+v, %v", got.Causes, err)
	}
	cases := map[string]struct{ reason, in, want string }{
		"Later":   {"a field may have changed its meaning", `{"version":"v2"}`, `why: the document has the version "v2", and this program reads v1: use a program of the same release`},
		"None":    {"it is another document", `{}`, `why: the document has the version "", and this program reads v1: use a program of the same release`},
		"Unknown": {"a later release adds fields", `{"version":"v1","mood":"good"}`, ``},
		"Text":    {"an error page of a proxy", `<html>`, `why: the document cannot be read: invalid character '<' looking for beginning of value`},
		"Long":    {"a version of another program", `{"version":"` + strings.Repeat("y", 1200) + `"}`, `why: the document has the version "` + strings.Repeat("y", 78) + `... (1,122 bytes more)", and this program reads v1: use a program of the same release`},
		"Largest": {"16 MB are read", `{"version":"v1"` + strings.Repeat(" ", 16<<20-16) + `}`, ``},
		"Larger":  {"memory is bounded", `{"version":"v1"` + strings.Repeat(" ", 16<<20-15) + `}`, `why: the document is larger than 16,777,216 bytes`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := why.Read(strings.NewReader(tc.in))
			if got := fmt.Sprint(err); err != nil && got != tc.want || err == nil && tc.want != "" {
				t.Errorf("%s: the error is %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
