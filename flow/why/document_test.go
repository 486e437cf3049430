package why_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
	"github.com/windlass-go/windlass/internal/text"
)

// reread returns d as a reader of its JSON has it, and the JSON.
func reread(t *testing.T, d why.Document) (why.Document, []byte) {
	t.Helper()
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = why.Read(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return d, data
}

// A reader of a document that leaves out objects finds no other root causes.
func TestDocumentCut(t *testing.T) {
	waits := func(i int, s why.State, others ...int) why.Object {
		o := why.Object{Ref: name(i), Reconciler: "N", State: s}
		for _, to := range others {
			o.WaitingFor = append(o.WaitingFor, name(to))
		}
		return o
	}
	objects := []why.Object{waits(0, why.Blocked)}
	for i := range 60 {
		objects = append(objects, waits(1+i, why.InProgress))
		objects[0].WaitingFor = append(objects[0].WaitingFor, name(1+i))
	}
	objects[56].State = why.Failed
	sampled := []why.Object{waits(100, why.InProgress), waits(101, why.InProgress), waits(0, why.Blocked, 101, 99, 150)}
	for i := range 50 {
		sampled = append(sampled, waits(1+i, why.Blocked, 100))
	}
	sampled = append(sampled, waits(99, why.Blocked, 100)) // not in the sample of 100, and no other program knows it
	var line, cycle []why.Object
	for i := range 700 {
		line = append(line, waits(i, why.InProgress, i+1))
		cycle = append(cycle, waits(i, why.Blocked, (i+1)%700))
	}
	line = append(line, waits(700, why.Failed))
	cycle[0].Since = noon
	cases := map[string]struct {
		reason  string
		objects []why.Object
		of      int // an object whose root cause is named
		want    string
	}{
		"Awaited": {"the worst of many awaited objects is among the last", objects, 0, "N 0056"},
		"Sampled": {"an awaited object is left out, and another program may know the other one", sampled, 0, "N 0150"},
		"Line":    {"a waiter is farther from its root cause than a document has objects", line, 0, "N 0700"},
		"Cycle":   {"a cycle is longer than a document", cycle, 300, "N 0000"},
	}
	for of, tc := range cases {
		t.Run(of, func(t *testing.T) {
			g := why.New(tc.objects)
			one, _ := g.DocumentOf(name(tc.of), noon)
			for _, d := range []why.Document{g.Document(noon), one} {
				read, _ := reread(t, d)
				again := read.Graph()
				for _, c := range again.Causes() {
					if was, ok := g.Cause(c.Objects[0]); !ok || !slices.Equal(was.Objects, c.Objects) || was.State != c.State {
						t.Errorf("%s: the document has the root cause %s", tc.reason, c.String())
					}
				}
				if c, _ := again.Cause(name(tc.of)); len(c.Objects) == 0 || c.Objects[0].String() != tc.want || len(c.Objects) > 20 {
					t.Errorf("%s: the root cause is %s", tc.reason, c.String())
				}
			}
		})
	}
	want := "dependency cycle: "
	for i := range 20 {
		want += fmt.Sprintf("%s -> ", name(i))
	}
	if c := why.New(cycle).Causes()[0]; c.Omitted != 680 || c.Waiters != 700 || !strings.HasPrefix(c.String(), want+"680 more -> N 0000; 700 objects wait") {
		t.Errorf("%+v: %s", c, c.String())
	}
	if page := pageOf(t, cycle); len(page) > 2_000_000 {
		t.Errorf("the page of a cycle has %d bytes", len(page))
	}
}

// crowd returns n databases that wait for m clusters, which wait for one subnet.
func crowd(n, m int) []why.Object {
	of := func(kind string, i int) checks.Ref { return ref(kind, fmt.Sprintf("%06d", i)) }
	all := []why.Object{{Ref: of("Subnet", 0), State: why.Missing}}
	for i := range m {
		all = append(all, why.Object{Ref: of("Cluster", i), State: why.Blocked, Since: noon.Add(-time.Hour), WaitingFor: []checks.Ref{of("Subnet", 0)}})
	}
	for i := range n {
		all = append(all, why.Object{
			Ref: of("Database", i), State: why.Blocked, Reason: "OwnerNotReady", Since: noon.Add(-time.Minute), WaitingFor: []checks.Ref{of("Cluster", i%m)},
			Passes: []flow.Explanation{{Name: "Database", State: "blocked", Message: strings.Repeat("a message ", 100)}},
		})
	}
	return all
}

// The document of 100,000 waiters is small, and counts each of them.
func TestDocumentBounds(t *testing.T) {
	d := why.New(crowd(100_000, 300)).Document(noon)
	if _, data := reread(t, d); len(data) > 5_000_000 {
		t.Errorf("the document has %d bytes", len(data))
	}
	if got, want := d.OmittedObjects+len(d.Objects), 100_301; got != want || d.Waiting != want {
		t.Errorf("the document counts %d objects, and %d of them wait, want %d", got, d.Waiting, want)
	}
	if len(d.Causes) != 1 || d.Causes[0].Waiters != 100_300 || len(d.Causes[0].Sample) != 10 || !d.Causes[0].Since.Equal(noon.Add(-time.Hour)) {
		t.Errorf("the causes are %+v", d.Causes)
	}
	if page := written(t, d.WritePage); len(page) > 5_000_000 {
		t.Errorf("the page has %d bytes", len(page))
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
	linked(t, written(t, d.WritePage)) // some waiters have no place
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
	want := why.New(situation()).Document(noon, why.Flow{Name: "Database", Text: "Database\n"})
	got, _ := reread(t, want)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(flow.Explanation{})); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	got, err := why.Read(strings.NewReader(`{"version":"v1","causes":[{},{"objects":[],"waiters":1},{"objects":[{"name":"a"}]}]}`))
	if err != nil || len(got.Causes) != 1 || got.WritePage(io.Discard) != nil {
		t.Errorf("a cause without an object has no text: got %+v, %v", got.Causes, err)
	}
	cases := map[string]struct{ reason, in, want string }{
		"Later":   {"a field may have changed its meaning", `{"version":"v2"}`, `why: the document has the version "v2", and this program reads v1: use a program of the same release`},
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

// A namespace has its own number of waiters, their age, and a sample of them.
func TestDocumentIn(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	of := func(namespace, name string) checks.Ref {
		return checks.Ref{Kind: "Pool", Namespace: namespace, Name: name}
	}
	waits := func(ref checks.Ref, hours int, awaited ...checks.Ref) why.Object {
		return why.Object{Ref: ref, State: why.Blocked, Since: at.Add(-time.Duration(hours) * time.Hour), WaitingFor: awaited}
	}
	net := of("infra", "net")
	objects := []why.Object{
		{Ref: net, State: why.Missing}, waits(of("b", "alone"), 1), waits(of("b", "x"), 2, of("b", "y")), waits(of("b", "y"), 2, of("b", "x")),
	}
	for i := range 1000 {
		objects = append(objects, waits(of("a", fmt.Sprintf("p%03d", i)), 9, net))
	}
	objects = append(objects, waits(of("b", "p"), 3, net), waits(of("b", "q"), 4, of("b", "p")), waits(of("c", "far"), 1, of("b", "q")),
		why.Object{Ref: of("b", "ready"), State: why.Ready}, why.Object{Ref: of("a", "ready"), State: why.Ready}, why.Object{Ref: of("c", "awaited"), State: why.Ready},
		waits(of("c", "w"), 1, of("c", "awaited")))
	cases := map[string]struct {
		reason, namespace       string
		waiting, objects, ready int
		want                    []string
	}{
		"All":   {"an empty namespace selects all", "", 1008, 1011, 2, []string{"9h 1003 net Pool a/p000", "2h 2 x ", "1h 1 awaited Pool c/w", "1h 0 alone "}},
		"Many":  {"the waiters of another namespace do not count", "a", 1000, 1002, 1, []string{"9h 1000 net Pool a/p000"}},
		"Few":   {"the sample and the age are those of the namespace", "b", 5, 7, 1, []string{"4h 2 net Pool b/p", "2h 2 x ", "1h 0 alone "}},
		"Far":   {"the objects on the way to a root cause are there, and an awaited one that is ready does not wait", "c", 2, 6, 0, []string{"1h 1 awaited Pool c/w", "1h 1 net Pool c/far"}},
		"Cause": {"the namespace of the root cause has it, too", "infra", 1, 1, 0, []string{"unknown 0 net "}},
		"None":  {"no object", "empty", 0, 0, 0, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := why.New(objects).DocumentIn(tc.namespace, at)
			var got []string
			for _, c := range d.Causes {
				age, sample := "unknown", ""
				if !c.Since.IsZero() {
					age = fmt.Sprintf("%dh", int(at.Sub(c.Since).Hours()))
				}
				if len(c.Sample) > 0 {
					sample = c.Sample[0].String()
				}
				got = append(got, fmt.Sprintf("%s %d %s %s", age, c.Waiters, c.Objects[0].Name, sample))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || d.Waiting != tc.waiting || d.Namespace != tc.namespace || d.Ready != tc.ready || len(d.Objects)+d.OmittedObjects != tc.objects {
				t.Errorf("%s: %d of %d wait in %q, %d are ready, causes: -want, +got:\n%s", tc.reason, d.Waiting, len(d.Objects)+d.OmittedObjects, d.Namespace, d.Ready, diff)
			}
		})
	}
}

// fill sets each text in v to long, and makes each list n items long. It fills the
// first item.
func fill(v reflect.Value, long string, n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(long)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), long, n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		fill(v.Index(0), long, n)
	}
}

// sizes returns a line for each text and list in a value of JSON. Of a list it shows the
// first item.
func sizes(at string, v any) (lines string) {
	switch v := v.(type) {
	case string:
		if len(v) > len(time.RFC3339) {
			return fmt.Sprintf("%s %d\n", at, len(v))
		}
	case []any:
		return fmt.Sprintf("%s %d\n", at, len(v)) + sizes(at+"[0]", v[0])
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			lines += sizes(at+"."+k, v[k])
		}
	}
	return lines
}

// Every text and list of a document is cut at its bound, in one that a graph makes and
// in one that is read.
func TestDocumentSizes(t *testing.T) {
	var raw why.Document
	fill(reflect.ValueOf(&raw).Elem(), strings.Repeat("y", 20_000), 120)
	raw.Version = why.Version
	raw.Objects[0].Ref.Set = "" // a set is no waiter
	raw.Flows[0].Text = strings.Repeat(strings.Repeat(" ", 50)+strings.Repeat("y", 20_000)+"\n", 120)
	read := func(d why.Document) (why.Document, any) {
		d, data := reread(t, d)
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		return d, v
	}
	safe, _ := read(raw)
	_, values := read(safe)
	_, made := read(why.New(raw.Objects[:1]).Document(noon, raw.Flows...))
	golden(t, "sizes.txt", "read\n"+sizes("", values)+"made\n"+sizes("", made))
	cycle := why.Cause{Objects: slices.Repeat(safe.Causes[0].Objects[:1], 50)}
	if got := len(cycle.String()); got != text.Message {
		t.Errorf("the text of a long cycle has %d bytes", got)
	}
}

// The schema has each field of a document.
func TestSchema(t *testing.T) {
	var schema struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(why.Schema()), &schema); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"cause": why.Cause{}, "object": why.Object{}, "flow": why.Flow{}, "ref": checks.Ref{}, "step": flow.Step{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if field, _, _ := strings.Cut(f.Tag.Get("json"), ","); schema.Defs[name].Properties[field] == nil {
				t.Errorf("the schema of %s has no %s", name, f.Name)
			}
		}
	}
}
