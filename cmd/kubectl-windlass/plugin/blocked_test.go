package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// A watch prints the list when it changes, until the user ends it.
func TestWatch(t *testing.T) {
	a, b := why.New([]why.Object{waits(ref("Database", "ns", "a"))}), why.New([]why.Object{waits(ref("Database", "ns", "b"))})
	two := why.New([]why.Object{waits(ref("Database", "ns", "a"), ref("Subnet", "ns", "c")), waits(ref("Database", "ns", "b"), ref("Subnet", "ns", "c"))}).Document(noon)
	mixed := two // the same with another sample of the waiters
	mixed.Causes = slices.Clone(two.Causes)
	mixed.Causes[0].Sample = []checks.Ref{two.Causes[0].Sample[1], two.Causes[0].Sample[0]}
	const head, lacks, note = "AGE   WAITERS   STATE     ROOT CAUSE                  REASON\n", "The list may lack some: see the notes.\n", "note: m gave no answer\n"
	cases := map[string]struct {
		reason   string
		terminal bool
		looks    []list
		want     string
	}{
		"File": {"neither an age nor another sample repeats a list, and a note is there once", false,
			[]list{{doc: a.Document(noon)}, {doc: a.Document(noon.Add(time.Hour))}, {doc: b.Document(noon)}, {two, true}, {mixed, true}, {whole: true}, {}},
			note + head + "60m   0         blocked   Database.example.com ns/a   NotReady\n" + lacks + "\n" +
				head + "60m   0         blocked   Database.example.com ns/b   NotReady\n" + lacks + "\n" +
				"AGE   WAITERS   STATE     ROOT CAUSE                REASON\n60m   2         unknown   Subnet.example.com ns/c   -\n\n" +
				"Nothing waits.\n\nNo wait was found, but some may be unknown.\n"},
		"Terminal": {"a list clears the screen, so its notes follow", true,
			[]list{{doc: a.Document(noon)}, {doc: a.Document(noon)}, {doc: a.Document(noon.Add(9 * time.Hour))}},
			"\x1b[H\x1b[2J" + head + "60m   0         blocked   Database.example.com ns/a   NotReady\n" + lacks + note +
				"\x1b[H\x1b[2J" + head + "10h   0         blocked   Database.example.com ns/a   NotReady\n" + lacks + note},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var out writer
			c := &command{IOStreams: genericiooptions.IOStreams{Out: &out, ErrOut: &out}, noted: map[string]bool{}}
			look := func(context.Context) (l list, err error) {
				if len(tc.looks) == 0 {
					cancel()
					return l, errors.New("the watch has ended")
				}
				c.note("m gave no answer")
				l, tc.looks = tc.looks[0], tc.looks[1:]
				return l, nil
			}
			err := c.watchBlocked(ctx, look, "", time.Nanosecond, func(io.Writer) bool { return tc.terminal })
			if diff := cmp.Diff(tc.want, out.String()); diff != "" || err != nil {
				t.Errorf("%s: error %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestList(t *testing.T) {
	a, b, far := ref("Database", "ns", "a"), ref("Cluster", "ns", "b"), ref("Subnet", "far", "c")
	g := why.New([]why.Object{waits(a, b), waits(b, a), {Ref: far, State: why.Missing}, waits(ref("Cluster", "far", "d"), far)})
	cases := map[string]struct {
		reason    string
		namespace string
		want      string
	}{
		"All": {"a cycle is closed, and omissions are counted", "", `AGE   WAITERS   STATE     ROOT CAUSE                                                                          REASON
60m   2         cycle     Cluster.example.com ns/b -> Database.example.com ns/a -> Cluster.example.com ns/b   NotReady
60m   1         missing   Subnet.example.com far/c                                                            -
and 7 more
The list may lack some: see the notes.
`},
		"None": {"no object of the namespace waits", "empty", "No wait was found, but some may be unknown.\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := list{doc: g.DocumentIn(tc.namespace, noon)}
			l.doc.OmittedCauses = 7
			got, err := l.show("")
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%s: error %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// A merged document has the numbers of its parts, although these name only some
// of the waiters.
func TestMerge(t *testing.T) {
	demo, batch := ref("Cluster", "ns", "demo"), ref("Subnet", "ns", "batch")
	databases := []why.Object{{Ref: demo, State: why.Blocked}}
	for i := range 1000 {
		databases = append(databases, waits(ref("Database", "ns", strings.Repeat("x", i+1)), demo))
	}
	databases[500].Since = noon.Add(-5 * time.Hour)
	replies := []reply{
		{"clusters", why.New([]why.Object{waits(demo, batch), {Ref: batch, State: why.Missing}}).Document(noon, why.Flow{Name: "f"})},
		{"databases", why.New(databases).Document(noon, why.Flow{Name: "f"})},
		{"clusters", why.New([]why.Object{waits(demo, batch), {Ref: batch, State: why.Missing}}).Document(noon)}, // asked twice
		{"empty", why.Document{Causes: []why.Cause{{}}}},
	}
	g := merge(replies, nil)
	d := g.Document(noon, flows(replies)...)
	complete(&d, g, replies)
	sortCauses(d.Causes)
	if len(d.Causes) != 1 || d.Causes[0].Waiters != 1001 || !d.Causes[0].Since.Equal(noon.Add(-5*time.Hour)) || d.Waiting != 1002 || len(d.Flows) != 1 {
		t.Errorf("the merged document: %d waiting, causes %+v", d.Waiting, d.Causes)
	}
	causes := []why.Cause{{Waiters: 1}, {Waiters: 2, Since: noon}, {Waiters: 3, Since: noon}, {Waiters: 4, Since: noon.Add(-1)}, {Waiters: 5}}
	sortCauses(causes)
	var got []int
	for _, c := range causes {
		got = append(got, c.Waiters)
	}
	if diff := cmp.Diff([]int{4, 3, 2, 5, 1}, got); diff != "" {
		t.Errorf("causes: -want, +got:\n%s", diff)
	}
}

// The list of a namespace counts its own waiters, also if the manager has many
// others. An older manager cannot do so, and the command says so.
func TestBlockedNamespace(t *testing.T) {
	ns := namespace(t)
	net := ref("Subnet", "infra", "net")
	objects := []why.Object{{Ref: net, State: why.Missing}, waits(ref("Database", ns, "a"), net), waits(ref("Database", ns, "b"), ref("Database", ns, "a"))}
	for i := range 600 {
		objects = append(objects, waits(ref("Database", "elsewhere", fmt.Sprintf("d%03d", i)), net), waits(ref("Cluster", "elsewhere", fmt.Sprintf("c%03d", i))))
	}
	head := "AGE   WAITERS   STATE     ROOT CAUSE                     REASON\n"
	older := func(all []why.Object) manager { return manager{objects: all, older: true} }
	cases := map[string]struct {
		reason     string
		handlers   []http.Handler
		out, note  string
		code       int
		everywhere string // the waiters of all namespaces
	}{
		"One":     {"a manager counts them", []http.Handler{manager{objects: objects}}, head + "60m   2         missing   Subnet.example.com infra/net   -\n", "", exitWaits, "602"},
		"Two":     {"two managers count their own", []http.Handler{manager{objects: objects}, manager{objects: []why.Object{{Ref: net}, waits(ref("Zone", ns, "z"), net)}}}, head + "60m   3         missing   Subnet.example.com infra/net   -\n", "", exitWaits, "603"},
		"Nothing": {"the waits are elsewhere", []http.Handler{manager{objects: objects[3:]}}, "Nothing waits.\n", "", exitReady, "600"},
		"Older":   {"an older manager names only some of the waiters", []http.Handler{older(objects[3:])}, "", "an older release", exitError, "600"},
		"Small":   {"an older manager with few waiters names all of them", []http.Handler{older(objects[:3])}, head + "60m   2         missing   Subnet.example.com infra/net   -\n", "", exitWaits, "2"},
	}
	u := admin(t, ns)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u.t = t
			services := []string{}
			for i, h := range tc.handlers {
				services = append(services, "--service", serve(t, ns, fmt.Sprintf("%s-%d", strings.ToLower(name), i), h))
			}
			out, notes, code := u.run(append([]string{"blocked"}, services...)...)
			if diff := cmp.Diff(tc.out, out); diff != "" || code != tc.code || !strings.Contains(notes, tc.note) || tc.note == "" && notes != "" {
				t.Errorf("%s: code %d, notes %q, output: -want, +got:\n%s", tc.reason, code, notes, diff)
			}
			out, notes, code = u.run(append([]string{"blocked", "-A"}, services...)...)
			if code != exitWaits || notes != "" || !strings.Contains(out, "   "+tc.everywhere+" ") {
				t.Errorf("%s: -A: code %d, notes %q, output:\n%s", tc.reason, code, notes, out)
			}
		})
	}
}
