package chaintest

import (
	"bytes"
	"cmp"
	"context"
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
	"github.com/windlass-go/windlass/internal/testing/fake"
	"github.com/windlass-go/windlass/internal/testing/patience"
)

// The names of the laws.
const (
	reached    = "Reached"
	ownEnd     = "OwnEnd"
	nextOnce   = "NextOnce"
	nested     = "Nested"
	noPanic    = "NoPanic"
	contexts   = "Context"
	keepsError = "Errors"
	keepsPanic = "Panics"
	request    = "Request"
	result     = "Result"
	repeatable = "Repeatable"
	concurrent = "Concurrent"
	goroutines = "Goroutines"
	rules      = "Rules"
	accepted   = "Accepted"
)

// laws lists the laws. If a call breaks several, the first one is reported.
var laws = []string{reached, ownEnd, nextOnce, nested, noPanic, contexts, keepsError, keepsPanic, request, result,
	repeatable, concurrent, goroutines, rules, accepted}

// Laws tests the laws of this package on a chain. requests makes the requests of
// the calls, and results what the end of the chain returns: rapid.Make makes
// values of most types. Use chain.New(link) to test one link. Laws makes several
// hundred calls; the flag -rapid.checks sets the number of draws (100), and
// -short divides it by 5. A broken law is an error of the test. The error names
// the law and the link, and shows the smallest call that rapid found.
//
// An empty chain, a nil generator, and a chain that does not compose or return,
// fails the test at once.
func Laws[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], requests *rapid.Generator[Req], results *rapid.Generator[Res], opts ...Option) {
	t.Helper()
	k := &kit[Req, Res]{config: configure(c.Links(), opts), chain: c, requests: requests, results: results}
	k.label = fmt.Sprintf("%p", k)
	if k.composer != nil {
		if k.Composer, _ = k.composer.(Composer[Req, Res]); k.Compose == nil {
			k.refuse("WithComposer: Compose is nil, or the Composer is for another type of chain")
		}
	}
	if k.View == nil {
		k.View = func(req Req) any { return req }
	}
	if c.Len() == 0 {
		k.refuse("the chain is empty: there is nothing to test")
	}
	if requests == nil || results == nil {
		k.refuse("the generator of requests or of results is nil: give one, such as rapid.Make")
	}
	if len(k.wrong) > 0 {
		t.Fatalf("chaintest: Laws: %s", strings.Join(k.wrong, "\nchaintest: Laws: "))
		return
	}
	var f *finding
	var err error
	alone(func() { f, err = k.run(t) })
	if f != nil {
		t.Errorf("%s", f.text(t))
	}
	switch {
	case k.stuck != "":
		t.Fatalf("chaintest: Laws: %s", k.stuck)
	case err != nil:
		t.Fatalf("chaintest: Laws: %v", err)
	}
}

// run tests the laws and returns the first broken one. It returns an error if
// the kit cannot continue.
func (k *kit[Req, Res]) run(t rapid.TB) (*finding, error) {
	for i, property := range []property{k.calls, k.concurrent} {
		f, err := k.search(t, []string{"Calls", "Concurrent"}[i], property)
		time.Sleep(time.Millisecond) // in a bubble of testing/synctest, every link that calls next later has done so after this
		if f = cmp.Or(k.late.Load(), f); f != nil || err != nil || k.stuck != "" {
			return f, err
		}
	}
	if f := k.left(); f != nil || k.reached || k.excused(reached, "") {
		return f, nil
	}
	return &finding{law: reached, link: k.stopped, why: "none of the calls reached the end: give requests that pass this link"}, nil
}

// property composes the chain and returns a function that makes the calls of
// one draw. The function returns the first broken law that it finds, or nil.
type property func() (func(*rapid.T) *finding, error)

// mostTries limits how many smaller calls rapid tries. A limit of time would
// find different calls on different machines.
const mostTries = 500

// search looks for a broken law, and for the smallest call that breaks it.
func (k *kit[Req, Res]) search(t rapid.TB, name string, prop property) (last *finding, err error) {
	breaks, err := prop()
	if err != nil {
		return nil, err
	}
	tries, out := 0, &fake.T{Title: t.Name() + "/" + name} // collects the errors of rapid
	alone(func() {
		rapid.Check(out, func(rt *rapid.T) {
			if last != nil {
				tries++
			}
			if tries > mostTries {
				return
			}
			if f := breaks(rt); f != nil {
				last, k.shrinking = f, f.law
				rt.Fatalf("law %s is broken", f.law)
			}
		})
	})
	if output := out.Reported(); last != nil {
		last.again = seed.FindString(output)
	} else if output != "" && k.stuck == "" {
		err = fmt.Errorf("the laws could not be tested: %s", output)
	}
	return last, err
}

var seed = regexp.MustCompile(`-rapid\.seed=\d+`)

// tries reports whether the kit still tests law: rapid does not search the
// smallest call for another law.
func (k *kit[Req, Res]) tries(law string) bool { return k.shrinking == "" || k.shrinking == law }

// often is the interval of draws that repeat the call of a variant, and that
// repeat it with a copy. The first draw, which a seed repeats, does both for all.
const often = 4

// calls is the property of the laws that one call can break, and of Repeatable.
// Each draw calls one of two compositions of the chain.
func (k *kit[Req, Res]) calls() (func(*rapid.T) *finding, error) {
	var handlers [2]*handler[Req, Res]
	for i := range handlers {
		var err error
		if handlers[i], err = k.compose(); err != nil {
			return nil, err
		}
	}
	repeated := false // the law was broken by a repeated call
	try := func(h *handler[Req, Res], p program[Req, Res], again, other bool) *finding {
		first := k.play(h, p)
		f := k.brokenBy(first)
		p.again = p.with != ""
		repeat := func(why string) {
			if f != nil || !k.tries(repeatable) && !repeated || k.excused(repeatable, "") {
				return
			}
			r := k.play(h, p)
			if f = k.brokenBy(r); f == nil && k.tries(repeatable) {
				f = k.differ(repeatable, first, r, why)
			}
			repeated = repeated || f != nil
		}
		// A link that acts may let only the second call pass.
		if again {
			repeat("the second of two equal calls ran differently")
		}
		if other && k.Copy != nil {
			p.req = k.Copy(p.req)
			repeat("a call with equal objects in other places of memory ran differently")
		}
		return f
	}
	which, draws := rapid.IntRange(0, len(handlers)-1), 0
	return func(t *rapid.T) *finding {
		p, h := k.draw(t), handlers[which.Draw(t, "composition")]
		f := try(h, p, true, true)
		if f != nil || k.Variants == nil {
			return f
		}
		draws++
		p.does, p.caller = returns, stays
		for i, v := range k.Variants(p.req) {
			p.req, p.with = v.Request, v.With
			all, turn := k.shrinking != "" || draws == 1, (draws+i)%often
			if f := try(h, p, all || turn == 0, all || turn == often/2); f != nil {
				return f
			}
		}
		return nil
	}, nil
}

// brokenBy returns the first law that a call broke, unless the link is excused.
func (k *kit[Req, Res]) brokenBy(r *record) *finding {
	found := slices.Clone(r.close())
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(slices.Index(laws, a.law), slices.Index(laws, b.law)) })
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
		if k.excused(l, "") {
			return nil
		}
	}
	for i := range max(len(expected), len(actual)) {
		ended := event{name: "the call", verdict: "ended"}
		e, a := ended, ended
		if i < len(actual) {
			a = actual[i]
		}
		if i < len(expected) {
			e = expected[i]
		}
		if diff := e.differs(a); diff != "" {
			if e.by == e.name && a.by == a.name && !identical(want.req, got.req) { // both are results of a link
				why += ": does the link print a pointer instead of a value?"
			}
			return &finding{law: law, link: cmp.Or(a.by, e.by), why: why + "; " + diff, at: i, call: got}
		}
	}
	return nil
}

// every is the interval of draws that test Concurrent. Such a draw makes 4
// calls on average.
const every = 4

// concurrent is the property of the law Concurrent. It makes some calls one by
// one, and then the same calls at the same time.
func (k *kit[Req, Res]) concurrent() (func(*rapid.T) *finding, error) {
	h, err := k.compose()
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
	}, err
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
	k.limited(func() string { return stuck(fmt.Sprintf("one of %d calls at the same time", len(calls)), calls...) }, func() {
		var done sync.WaitGroup
		for _, run := range run {
			done.Go(func() { alone(run) })
		}
		done.Wait()
	})
	return calls
}

// left returns a finding if a goroutine outlived its call.
func (k *kit[Req, Res]) left() *finding {
	var link, stack string
	if patience.Until(moment, func() bool { link, stack = k.running(); return stack == "" }) {
		return nil
	}
	return &finding{law: goroutines, link: link, why: "a goroutine that it started does not end; it is in" + stack}
}

var labeled = regexp.MustCompile(`"` + label + `":("(?:[^"\\]|\\.)*")`)

// running returns the stack of a goroutine of the kit's calls that still runs,
// or "". It reads the profile of all goroutines, because only that shows
// labels.
func (k *kit[Req, Res]) running() (link, stack string) {
	var text bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		return "", ""
	}
	for r := range strings.SplitSeq(text.String(), "\n\n") {
		m := labeled.FindStringSubmatch(r)
		if m == nil {
			continue
		}
		value, _ := strconv.Unquote(m[1])
		of, link, _ := strings.Cut(value, " ")
		if of != k.label || k.excused(goroutines, link) {
			continue
		}
		for line := range strings.Lines(r) {
			if parts := strings.Split(strings.TrimSpace(line), "\t"); len(parts) > 2 && strings.HasPrefix(line, "#\t") {
				stack += "\n    " + strings.Join(parts[2:], " ")
			}
		}
		return link, cmp.Or(stack, " an unknown function")
	}
	return "", ""
}

// finding is a broken law, with the call that shows it.
type finding struct {
	law, link, why string  // an empty link means the whole chain
	at             int     // the first wrong event of the call; -1: no event is wrong
	call           *record // nil: no single call shows it
	again          string  // the flag that repeats the run; empty: unknown
}

// text returns the error of the test.
func (f *finding) text(t rapid.TB) string {
	by := "the chain"
	if f.link != "" {
		by = "link " + f.link
	}
	text := fmt.Sprintf("chaintest: law %s is broken by %s: %s\n", f.law, by, f.why)
	if f.call != nil {
		text += f.call.text() + traceText(f.call.trace(), f.at)
	}
	if f.again != "" {
		text += fmt.Sprintf("  to repeat it: go test -run '^%s$' %s\n", t.Name(), f.again)
	}
	if f.link != "" && f.law != accepted {
		text += fmt.Sprintf("  if the link exists for this: chaintest.WithExcuse(%q, %q, \"the reason\")\n", f.law, f.link)
	}
	return strings.TrimSuffix(text, "\n")
}

// Order fails the test unless the chain has exactly the links with these names,
// in this order, outermost first. A call runs them in this order: [Laws] fails
// otherwise.
func Order[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], names ...string) {
	t.Helper()
	if has := namesOf(c.Links()); !slices.Equal(names, has) {
		t.Errorf("chaintest: Order: the chain has other links, or in another order:\n  want: %s\n  got:  %s",
			strings.Join(names, " -> "), strings.Join(has, " -> "))
	}
}

// Option configures [Laws]. A wrong option fails the test before the first
// call. The zero Option does nothing.
type Option struct{ set func(*config) }

// config holds the settings of the options.
type config struct {
	composer    any      // the Composer; nil: Then
	keeps       []string // the links that keep the result; none: all links
	keepsResult bool
	excuses     []excuse
	wrong       []string // the mistakes in the options
}

// excuse allows a link to break a law. An empty link means every link.
type excuse struct{ law, link string }

func (c *config) refuse(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// WithKeptResult applies the law Result to the links with these names, or to
// all links if there is no name. An unknown name fails the test.
func WithKeptResult(links ...string) Option {
	return Option{func(c *config) { c.keepsResult, c.keeps = true, append(c.keeps, links...) }}
}

// Composer composes chains that another function than [chain.Chain.Then] runs,
// such as checks.Compose. Only Compose is required; a nil function does nothing.
type Composer[Req, Res any] struct {
	// Compose composes a chain. The kit's end is a link after the last one.
	Compose func(chain.Chain[Req, Res]) chain.Handler[Req, Res]
	// Refuses lists the errors that Compose returns in place of a wrong result
	// of a link, for the law Accepted.
	Refuses []error
	// Passes returns an error if a link must not call next with the request
	// passed in a call with the request given, for the law Rules.
	Passes func(given, passed Req) error
	// Decides returns an error if a link must not return a result of its own,
	// for the law Rules.
	Decides func(Res) error
	// View returns the part of a request that links must not change, for the
	// law Request; failures print it. Nil means the whole request.
	View func(Req) any
	// Copy returns an equal request with copies of its objects. Equal calls must
	// then have equal results, and errors with equal texts, also with such a copy.
	Copy func(Req) Req
	// Variants returns further requests to call the chain with. They must not
	// depend on chance.
	Variants func(Req) []Variant[Req]
}

// Variant is a request that [Composer.Variants] makes from another one. With
// describes the difference, for a failure.
type Variant[Req any] struct {
	Request Req
	With    string
}

// WithComposer sets the Composer. A nil Compose fails the test.
func WithComposer[Req, Res any](c Composer[Req, Res]) Option {
	return Option{func(cfg *config) { cfg.composer = c }}
}

// WithExcuse lets a link break a law, for a reason that the test states:
// WithExcuse("NextOnce", "retry", "retries once"). The law still applies to all
// other links. An empty link excuses every link. An excuse from a law about the
// whole chain (Reached, Repeatable, Concurrent) excuses the chain. After an
// excuse from Request or Repeatable the kit does not compare calls, because a
// second call may differ.
//
// An unknown law, an unknown link, a blank reason, and the law Accepted fail
// the test.
func WithExcuse(law, link, reason string) Option {
	return Option{func(c *config) {
		switch {
		case !slices.Contains(laws, law):
			c.refuse("WithExcuse: %q is no law: the package comment lists them", law)
		case law == accepted:
			c.refuse("WithExcuse: no link is excused from law Accepted: the composer also refuses the result outside of tests")
		case strings.TrimSpace(reason) == "":
			c.refuse("WithExcuse: the excuse of link %s for law %s has no reason: write why the link breaks the law", link, law)
		}
		c.excuses = append(c.excuses, excuse{law, link})
	}}
}

// configure returns the settings for a chain with these links.
func configure(links []chain.Link, opts []Option) *config {
	c := &config{}
	for _, o := range opts {
		if o.set != nil {
			o.set(c)
		}
	}
	used := slices.Clone(c.keeps)
	for _, e := range c.excuses {
		used = append(used, e.link)
	}
	for _, name := range used {
		if names := namesOf(links); name != "" && !slices.Contains(names, name) {
			c.refuse("an option names a link %q, which the chain does not have: its links are %s", name, strings.Join(names, ", "))
		}
	}
	return c
}

// excused reports whether link may break law. An empty link means the whole
// chain, which any excuse covers.
func (c *config) excused(law, link string) bool {
	return slices.ContainsFunc(c.excuses, func(e excuse) bool {
		return e.law == law && (e.link == link || link == "" || e.link == "")
	})
}

func namesOf(links []chain.Link) []string {
	names := make([]string, len(links))
	for i := range links {
		names[i] = links[i].Name
	}
	return names
}

// alone runs fn in a new goroutine, which fn may end, and waits for its end.
func alone(fn func()) {
	var done sync.WaitGroup
	done.Go(func() {
		defer pprof.SetGoroutineLabels(context.Background()) // for the law Goroutines, the kit's own goroutine has ended
		fn()
	})
	done.Wait()
}
