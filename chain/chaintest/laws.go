package chaintest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/run"
	"github.com/windlass-go/windlass/internal/testing/patience"
)

// Laws tests the laws of this package on a chain. requests makes the requests of
// the calls, and results what the end of the chain returns: rapid.Make makes
// values of most types. Use chain.New(link) to test one link. Laws makes 100
// calls for each law, or as many as the flag -rapid.checks sets; -short divides
// that by 5. Each broken law is an error of the test. The error names the law
// and the link, and shows the smallest call that rapid found.
//
// An empty chain, a nil generator, and a chain that does not compose or return,
// fails the test at once.
func Laws[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], requests *rapid.Generator[Req], results *rapid.Generator[Res], opts ...Option) {
	t.Helper()
	cfg := configure(c.Links(), opts)
	k := &kit[Req, Res]{config: cfg, chain: c, requests: requests, results: results,
		label: strconv.FormatInt(labels.Add(1), 10), stopped: map[string]int{}, broken: map[string]bool{}}
	if c.Len() == 0 {
		cfg.refuse("the chain is empty: there is nothing to test")
	}
	if requests == nil || results == nil {
		cfg.refuse("the generator of requests or of results is nil: give one, such as rapid.Make")
	}
	if len(cfg.wrong) > 0 {
		t.Fatalf("chaintest: Laws: %s", strings.Join(cfg.wrong, "\nchaintest: Laws: "))
		return
	}
	var err error
	switch end := patience.Run(within, &k.steps, func() { err = k.run(t) }); {
	case end.Late:
		k.gone.Store(true)
		t.Fatalf("chaintest: Laws: %s", (*k.doing.Load())())
		return
	case end.Panic != nil:
		panic(fmt.Sprintf("chaintest: a defect of chaintest: %v\n%s", end.Panic, end.Stack))
	case end.Exited:
		err = errors.New((*k.doing.Load())())
	}
	for _, text := range k.reports {
		t.Errorf("%s", text)
	}
	if err != nil {
		t.Fatalf("chaintest: Laws: %v", err)
	}
}

var labels atomic.Int64

// run tests all laws. It returns an error if the kit cannot continue.
func (k *kit[Req, Res]) run(t rapid.TB) error {
	h, err := k.compose(k.chain)
	if link := h.comp.early.Load(); link != nil && !k.excused(composing, *link) {
		k.report(t, finding{law: composing, link: *link, why: "it called next while the chain was composed"}, "")
		return nil // it does so whenever it is composed
	}
	if err != nil {
		return err
	}
	if err := cmp.Or(k.search(t, "Calls", k.calls), k.search(t, "Concurrent", k.concurrent)); err != nil {
		return err
	}
	k.left(t)
	time.Sleep(time.Millisecond) // in a bubble of testing/synctest, every link that calls next later has done so after this
	k.lateMu.Lock()
	defer k.lateMu.Unlock()
	if k.late != nil && !k.broken[nested] {
		k.report(t, *k.late, "")
	}
	if !k.reached && k.made > 0 && len(k.broken) == 0 && !k.excused(reached, "") {
		var most string
		for link, n := range k.stopped {
			if n > k.stopped[most] || n == k.stopped[most] && link < most {
				most = link
			}
		}
		k.report(t, finding{law: reached, link: most, why: fmt.Sprintf(
			"it stopped %d of %d calls, and none reached the end: give requests that pass this link", k.stopped[most], k.made)}, "")
	}
	return nil
}

// property makes the calls for one draw of rapid. It returns the first broken
// law that it finds, or nil.
type property func(*rapid.T) *finding

// mostTries limits how many smaller calls rapid tries. A limit of time would
// find different calls on different machines.
const mostTries = 500

// search tests a property until it finds no further broken law. Each round
// composes the chain again and reports one law, with the smallest call that
// rapid finds for it.
func (k *kit[Req, Res]) search(t rapid.TB, name string, compose func() (property, error)) error {
	for {
		prop, err := compose()
		if err != nil || prop == nil {
			return err
		}
		var last *finding
		tries, out := 0, &quiet{TB: t, name: t.Name() + "/" + name}
		alone(func() {
			rapid.Check(out, func(rt *rapid.T) {
				if last != nil {
					tries++
				}
				if tries > mostTries {
					return
				}
				if f := prop(rt); f != nil {
					last, k.shrinking = f, f.law
					rt.Fatalf("law %s is broken", f.law)
				}
			})
		})
		k.shrinking = ""
		switch {
		case k.gone.Load():
			return errors.New("a call did not return in time")
		case last == nil && len(out.errors) > 0:
			return fmt.Errorf("the laws could not be tested: %s", strings.Join(out.errors, "\n"))
		case last == nil:
			return nil
		}
		k.report(t, *last, seed.FindString(strings.Join(out.errors, "\n")))
	}
}

var seed = regexp.MustCompile(`-rapid\.seed=\d+`)

// quiet is the test that rapid reports to. It collects the errors of rapid, so
// that the kit can report them.
type quiet struct {
	rapid.TB
	name   string
	errors []string
}

func (q *quiet) Name() string              { return q.name }
func (q *quiet) Helper()                   {}
func (q *quiet) Log(...any)                {}
func (q *quiet) Logf(string, ...any)       {}
func (q *quiet) Errorf(f string, a ...any) { q.errors = append(q.errors, fmt.Sprintf(f, a...)) }
func (q *quiet) Failed() bool              { return len(q.errors) > 0 }
func (q *quiet) FailNow()                  { runtime.Goexit() }

// tries reports whether the kit still tests law: it was not reported, and rapid
// does not search the smallest call for another law.
func (k *kit[Req, Res]) tries(law string) bool {
	return !k.broken[law] && (k.shrinking == "" || k.shrinking == law)
}

// calls is the property of the laws that one call can break, and of those that
// compare two equal calls. Each draw calls one of several compositions of the
// chain and of chains that are derived from it.
func (k *kit[Req, Res]) calls() (property, error) {
	end := func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] { return next }
	chains := []chain.Chain[Req, Res]{k.chain}
	if !k.broken[ownEnd] {
		chains = append(chains, k.chain, k.chain.Append(chain.Named("first", end)), k.chain.Append(chain.Named("second", end)), k.chain.Observe(passive{}))
	}
	handlers := make([]*handler[Req, Res], len(chains))
	for i, c := range chains {
		var err error
		if handlers[i], err = k.compose(c); err != nil {
			return nil, err
		}
	}
	which := rapid.IntRange(0, len(handlers)-1)
	return func(t *rapid.T) *finding {
		p, h := k.draw(t), handlers[which.Draw(t, "composition")]
		first := k.play(h, p)
		if f := k.brokenBy(first); f != nil {
			return f
		}
		if k.tries(repeatable) { // a link that acts may let only the second call pass
			if f := k.differ(repeatable, first, k.play(h, p), "the second of two equal calls ran differently"); f != nil {
				return f
			}
		}
		if h == handlers[0] && len(handlers) > 1 && k.tries(observing) {
			return k.differ(observing, first, k.play(handlers[len(handlers)-1], p), "the same call ran differently when the chain was observed")
		}
		return nil
	}, nil
}

// brokenBy returns the first law that a call broke, unless the link is excused
// or the law was reported.
func (k *kit[Req, Res]) brokenBy(r *record) *finding {
	found := slices.Clone(r.close())
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(place(a.law), place(b.law)) })
	for _, f := range found {
		if k.tries(f.law) && !k.excused(f.law, f.link) {
			return &f
		}
	}
	return nil
}

// differ returns a finding if the traces of two calls differ. It blames the
// link that ran when they began to differ.
func (k *kit[Req, Res]) differ(law string, want, got *record, why string) *finding {
	got.close()
	expected, actual := want.trace(), got.trace()
	for _, l := range [...]string{request, repeatable, law} {
		if k.excused(l, "") || k.broken[l] {
			return nil
		}
	}
	if slices.Equal(expected, actual) {
		return nil
	}
	i, now := 0, "the call ended"
	for i < len(expected) && i < len(actual) && expected[i] == actual[i] {
		i++
	}
	if i < len(expected) {
		now = strings.TrimSpace(expected[i].String())
	}
	link := ""
	for j, depth := i-1, -1; j >= 0 && link == ""; j-- {
		switch e := actual[j]; {
		case e.verdict == "" && (depth < 0 || e.depth == depth):
			link = e.name
		case depth < 0:
			depth = e.depth - 1
		}
	}
	return &finding{law, link, why + "; expected: " + now, i, got}
}

// passive is an observer that does what an observer may do: it adds a value and
// a note function to the context.
type passive struct{}

func (passive) Enabled(context.Context) bool { return true }
func (passive) Enter(ctx context.Context, _ *chain.Link) context.Context {
	return run.WithNotes(context.WithValue(ctx, passive{}, true), func(string) {})
}
func (passive) Exit(context.Context, *chain.Link, chain.Exit) {}

// every is the interval of draws that test Concurrent. Such a draw makes 4
// calls on average, so the law gets as many calls as the others.
const every = 4

// concurrent is the property of the law Concurrent. It makes some calls one by
// one, and then the same calls at the same time.
func (k *kit[Req, Res]) concurrent() (property, error) {
	if !k.tries(concurrent) || k.broken[contexts] { // the context identifies the call
		return nil, nil
	}
	h, err := k.compose(k.chain)
	if err != nil {
		return nil, err
	}
	draws := 0
	return func(t *rapid.T) *finding {
		if draws++; k.shrinking == "" && draws%every != 1 {
			return nil
		}
		programs := rapid.SliceOfN(rapid.Custom(k.draw), 2, 6).Draw(t, "calls")
		solo := make([]*record, len(programs))
		for i, p := range programs {
			solo[i] = k.play(h, p)
			solo[i].close()
		}
		for i, r := range k.together(h, programs) {
			if f := k.differ(concurrent, solo[i], r, "the same call ran differently at the same time as other calls"); f != nil {
				return f
			}
		}
		return nil
	}, nil
}

// together makes calls at the same time. Their ends wait briefly for each
// other, so that the calls overlap.
func (k *kit[Req, Res]) together(h *handler[Req, Res], programs []program[Req, Res]) []*record {
	var at atomic.Int32
	meet := func() {
		at.Add(1)
		for i := 0; i < 50 && int(at.Load()) < len(programs); i++ {
			runtime.Gosched() // 50 times at most, because a link may admit only one call at a time
		}
	}
	calls, run := make([]*record, len(programs)), make([]func(), len(programs))
	for i, p := range programs {
		var c *call[Req, Res]
		c, run[i] = k.ready(h, p)
		c.meet, calls[i] = meet, c.record
	}
	k.begin(func() string { return k.stuck(fmt.Sprintf("one of %d calls at the same time", len(calls)), calls...) })
	var done sync.WaitGroup
	for _, run := range run {
		done.Go(func() { alone(run) })
	}
	done.Wait()
	return calls
}

// left reports goroutines that outlived their calls.
func (k *kit[Req, Res]) left(t rapid.TB) {
	var record string
	if patience.Until(moment, func() bool { record = k.running(); return record == "" }) {
		return
	}
	link, why := "", "a goroutine that it started does not end; it is in"
	if m := linkOfLabels.FindStringSubmatch(record); m != nil {
		link, _ = strconv.Unquote(m[1])
	}
	for line := range strings.Lines(record) {
		if parts := strings.Split(strings.TrimSpace(line), "\t"); len(parts) > 2 && strings.HasPrefix(line, "#\t") {
			why += "\n    " + strings.Join(parts[2:], " ")
		}
	}
	if !k.excused(goroutines, link) {
		k.report(t, finding{law: goroutines, link: link, why: why}, "")
	}
}

var linkOfLabels = regexp.MustCompile(`"` + regexp.QuoteMeta(labelLink) + `":("(?:[^"\\]|\\.)*")`)

// running returns a record of a goroutine of the kit's calls that still runs,
// or "". It reads the profile of all goroutines, because only that shows
// labels. A goroutine of an excused link comes last.
func (k *kit[Req, Res]) running() (record string) {
	var text bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		return ""
	}
	for r := range strings.SplitSeq(text.String(), "\n\n") {
		if m := linkOfLabels.FindStringSubmatch(r); m != nil && strings.Contains(r, fmt.Sprintf("%q:%q", labelKit, k.label)) {
			if link, _ := strconv.Unquote(m[1]); record == "" || !k.excused(goroutines, link) {
				record = r
			}
		}
	}
	return record
}

// report adds a broken law to the reports. again is the flag that repeats the
// run.
func (k *kit[Req, Res]) report(t rapid.TB, f finding, again string) {
	k.broken[f.law] = true
	by := "the chain"
	if f.link != "" {
		by = "link " + f.link
	}
	text := fmt.Sprintf("chaintest: law %s is broken by %s: %s\n  law:     %s\n", f.law, by, f.why, laws[place(f.law)].says)
	if f.call != nil {
		text += f.call.text() + traceText(f.call.trace(), f.at)
	}
	if again != "" {
		text += fmt.Sprintf("  to repeat it: go test -run '^%s$' %s\n", t.Name(), again)
	}
	if f.link != "" && f.law != accepted {
		text += fmt.Sprintf("  if the link exists for this: chaintest.WithExcuse(%q, %q, \"the reason\")\n", f.law, f.link)
	}
	k.reports = append(k.reports, strings.TrimSuffix(text, "\n"))
}
