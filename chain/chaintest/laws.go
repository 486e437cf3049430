package chaintest

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

// Laws tests the laws of this package on a chain, with random requests and
// ends. Use chain.New(link) to test one link. Laws makes 100 calls for each
// law, or as many as the flag -rapid.checks sets; -short divides that by 5.
// Each broken law is an error of the test. The error names the law and the
// link, and shows the smallest call that rapid found.
//
// An empty chain, and a chain that does not compose or return, fails the test
// at once.
func Laws[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], opts ...Option) {
	t.Helper()
	if c.Len() == 0 {
		t.Fatalf("chaintest: Laws: the chain is empty: there is nothing to test")
		return
	}
	cfg := configure("Laws", c.Links(), opts)
	requests, err := generator[Req]("WithRequests", cfg.requests)
	if err != nil {
		cfg.refuse("%v", err)
	}
	results, err := generator[Res]("WithResults", cfg.results)
	if err != nil {
		cfg.refuse("%v", err)
	}
	composer := composerOf[Req, Res](cfg)
	if len(cfg.wrong) > 0 {
		t.Fatalf("chaintest: Laws: %s", strings.Join(cfg.wrong, "\nchaintest: Laws: "))
		return
	}
	k := &kit[Req, Res]{config: cfg, chain: c, composer: composer, requests: requests, results: results,
		label: newLabel(), stopped: map[string]int{}, broken: map[Law]bool{}}
	if err := k.run(t); err != nil {
		t.Fatalf("chaintest: Laws: %v", err)
		return
	}
	for _, e := range cfg.excuses {
		if !e.used && !e.quiet {
			whose := "every link"
			if e.link != "" {
				whose = "link " + e.link
			}
			t.Logf("chaintest: Laws: the excuse of %s for law %s (%s) was not needed", whose, e.law, e.reason)
		}
	}
}

// run tests all laws. It returns an error if the kit cannot continue.
func (k *kit[Req, Res]) run(t rapid.TB) error {
	t.Helper()
	f, err := k.composing()
	if v := k.heldPanic.Load(); v != nil {
		return fmt.Errorf("the function given by WithHeld panics: %v", *v)
	}
	if k.report(t, f, ""); err != nil {
		return err
	}
	if f != nil && f.link != "" {
		return nil // the link calls next whenever it is composed
	}
	if err := errors.Join(k.search(t, "OwnEnd", k.ownEnd), k.search(t, "Calls", k.calls)); err != nil {
		return err
	}
	f = k.left()
	if err := k.search(t, "Concurrent", k.concurrent); err != nil {
		return err
	}
	if f != nil {
		if err := k.search(t, "Goroutines", k.goroutines); err != nil {
			return err
		}
		if !k.broken[Goroutines] { // no later call shows it
			k.report(t, f, "")
		}
	}
	if !k.broken[Nested] {
		k.report(t, k.late(), "")
	}
	k.report(t, k.unreached(), "")
	return nil
}

// search tests a property until it finds no further broken law. Each round
// composes the chain again and reports one law.
func (k *kit[Req, Res]) search(t rapid.TB, name string, compose func() (property, error)) error {
	t.Helper()
	for k.stuck == "" {
		k.shrinking = 0
		prop, err := compose()
		if err != nil || prop == nil {
			return err
		}
		f, again, err := k.try(t, name, prop)
		k.shrinking = 0
		switch v := k.heldPanic.Load(); {
		case v != nil:
			return fmt.Errorf("the function given by WithHeld panics: %v", *v)
		case k.stuck != "":
			return errors.New(k.stuck)
		case err != nil || f == nil:
			return err
		}
		k.report(t, f, again)
	}
	return nil
}

// unreached tests the law Reached after all calls.
func (k *kit[Req, Res]) unreached() *finding {
	if k.reached > 0 || k.made == 0 || len(k.broken) > 0 || k.excused(Reached, "") {
		return nil
	}
	var most string
	for link, n := range k.stopped {
		if n > k.stopped[most] || n == k.stopped[most] && link < most {
			most = link
		}
	}
	return &finding{violation: violation{law: Reached, link: most, at: -1, why: fmt.Sprintf(
		"it stopped %d of %d calls, and none reached the end: use WithRequests to draw requests that pass this link", k.stopped[most], k.made)}}
}

// mostTries limits how many smaller programs are tested when a law is broken. A
// limit of time would find different programs on different machines.
const (
	mostTries = 500
	mostLeaks = 50 // for the law Goroutines: each try adds a goroutine that never ends
)

// try lets rapid search for a program that breaks a law. again is the flag that
// repeats the run.
func (k *kit[Req, Res]) try(t rapid.TB, name string, prop property) (last *finding, again string, err error) {
	tries := 0 // since a law was found to be broken
	reported := search(t, name, func(rt *rapid.T) {
		if k.stuck != "" || tries > mostTries || k.shrinking == Goroutines && tries > mostLeaks {
			return
		}
		if last != nil {
			tries++
		}
		if f := prop(rt); f != nil {
			last, k.shrinking = f, f.law
			rt.Fatalf("law %s is broken", f.law)
		}
	})
	if last == nil && reported != "" && k.stuck == "" {
		return nil, "", fmt.Errorf("the laws could not be tested: %s", reported)
	}
	return last, seed.FindString(reported), nil
}

var seed = regexp.MustCompile(`-rapid\.seed=\d+`)

// search lets rapid check a property in a new goroutine, and returns the errors
// that rapid reported, or "".
func search(t rapid.TB, name string, prop func(*rapid.T)) string {
	c := &collector{TB: t, name: t.Name() + "/" + name}
	done := make(chan struct{})
	go func() { // the collector may end it
		defer close(done)
		rapid.Check(c, prop)
	}()
	<-done
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(slices.Compact(c.text), "\n")
}

// report fails the test for a broken law.
func (k *kit[Req, Res]) report(t rapid.TB, f *finding, again string) {
	t.Helper()
	if f == nil {
		return
	}
	k.broken[f.law] = true
	by := "the chain"
	if f.link != "" {
		by = "link " + f.link
	}
	var b strings.Builder
	fmt.Fprintf(&b, "chaintest: law %s is broken by %s: %s\n  law:     %s\n", f.law, by, f.why, f.law.Says())
	if f.program != "" {
		b.WriteString(f.program)
	}
	switch expected := f.expected(); {
	case expected != nil:
		b.WriteString(columns("expected", "actual", expected, lines(f.actual)))
	case f.actual != nil:
		b.WriteString("  trace:\n" + indent(strings.Join(lines(f.actual), "\n"), "    ") + "\n")
	}
	b.WriteString(rerun(t, again))
	if f.link != "" && f.law != Accepted {
		fmt.Fprintf(&b, "  if the link exists for this: chaintest.WithExcuse(chaintest.%s, %q, \"the reason\")\n", f.law, f.link)
	}
	t.Errorf("%s", strings.TrimSuffix(b.String(), "\n"))
}

// rerun returns a line with the command that repeats the run, or "" if again is
// empty.
func rerun(t rapid.TB, again string) string {
	if again == "" {
		return ""
	}
	return fmt.Sprintf("  to repeat it: go test -run '^%s$' %s\n", t.Name(), again)
}

// expected returns the trace that keeps the law: the trace of another call, or
// the actual trace up to the first wrong event, which it replaces. It returns
// nil if the trace does not show the fault.
func (f *finding) expected() []string {
	switch {
	case f.path != nil:
		return f.path
	case f.at < 0 || f.at > len(f.actual):
		return nil
	}
	depth := 0
	if f.at < len(f.actual) {
		depth = f.actual[f.at].depth
	}
	return append(lines(f.actual[:f.at]), event{depth: depth}.indent()+f.want)
}

// collector is the test that rapid reports to. It collects the errors of rapid,
// so that the kit can report them.
type collector struct {
	rapid.TB
	name string
	mu   sync.Mutex
	text []string
}

func (c *collector) add(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, text)
}

// Failed reports whether rapid reported an error.
func (c *collector) Failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.text) > 0
}

func (c *collector) Name() string              { return c.name }
func (c *collector) Helper()                   {}
func (c *collector) Log(...any)                {}
func (c *collector) Logf(string, ...any)       {}
func (c *collector) Error(args ...any)         { c.add(fmt.Sprint(args...)) }
func (c *collector) Errorf(f string, a ...any) { c.add(fmt.Sprintf(f, a...)) }
func (c *collector) Fail()                     { c.add("it failed") }
func (c *collector) FailNow()                  { c.Fail(); runtime.Goexit() }
func (c *collector) Fatal(args ...any)         { c.Error(args...); runtime.Goexit() }
func (c *collector) Fatalf(f string, a ...any) { c.Errorf(f, a...); runtime.Goexit() }
func (c *collector) SkipNow()                  { runtime.Goexit() }
func (c *collector) Skip(...any)               { runtime.Goexit() }
func (c *collector) Skipf(string, ...any)      { runtime.Goexit() }
