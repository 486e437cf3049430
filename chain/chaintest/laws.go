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

// Laws tries the laws of this package on a chain, or on one link as chain.New(link), with requests and ends drawn at
// random: 100 calls for each law, or as many as -rapid.checks says, a fifth with -short. Each law that is broken is an
// error of the test, which names the law and the link and shows the smallest call that rapid found. A chain that cannot be
// tried, as it is empty, does not compose or does not come back, fails the test at once.
func Laws[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], opts ...Option) {
	t.Helper()
	if c.Len() == 0 {
		t.Fatalf("chaintest: Laws: the chain is empty: there is nothing to test")
		return
	}
	cfg := configure(c.Links(), opts)
	requests, err := generator[Req]("Requests", cfg.requests)
	if err != nil {
		cfg.refuse("%v", err)
	}
	results, err := generator[Res]("Results", cfg.results)
	if err != nil {
		cfg.refuse("%v", err)
	}
	composer := composerOf[Req, Res](cfg)
	if len(cfg.wrong) > 0 {
		t.Fatalf("chaintest: Laws: %s", strings.Join(cfg.wrong, "\nchaintest: Laws: "))
		return
	}
	k := &kit[Req, Res]{config: cfg, chain: c, composer: composer, requests: requests, results: results,
		stopped: map[string]int{}, broken: map[Law]bool{}}
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

// run tries one law after the other. An error tells why no more can be tried.
func (k *kit[Req, Res]) run(t rapid.TB) error {
	t.Helper()
	f, err := k.composing()
	if v := k.faint.Load(); v != nil {
		return fmt.Errorf("the function given by Held panics: %v", *v)
	}
	if k.report(t, f, ""); err != nil {
		return err
	}
	if f != nil && f.link != "" {
		return nil // it cannot be composed without being called
	}
	for l := OwnEnd; l.known(); l++ {
		prop, err := k.property(l)
		if err != nil {
			return err
		}
		if prop == nil {
			continue
		}
		f, again, err := k.try(t, l, prop)
		if v := k.faint.Load(); v != nil {
			return fmt.Errorf("the function given by Held panics: %v", *v)
		}
		if k.stuck != "" {
			return errors.New(k.stuck)
		}
		if err != nil {
			return err
		}
		k.report(t, f, again)
	}
	if !k.broken[Nested] {
		k.report(t, k.late(), "")
	}
	k.report(t, k.unreached(), "")
	return nil
}

// unreached tries the law Reached, when all calls have been made.
func (k *kit[Req, Res]) unreached() *finding {
	if k.reached > 0 || k.calls == 0 || len(k.broken) > 0 || k.excused(Reached, "") {
		return nil
	}
	var most string
	for link, n := range k.stopped {
		if n > k.stopped[most] || n == k.stopped[most] && link < most {
			most = link
		}
	}
	return &finding{violation: violation{law: Reached, link: most, at: -1, why: fmt.Sprintf(
		"it stopped %d of %d calls, and not one reached the end: give requests that pass by chaintest.Requests", k.stopped[most], k.calls)}}
}

// mostTries limits how many smaller programs are tried when a law is broken. A
// number, unlike a time, finds the same program on any machine.
const (
	mostTries = 500
	mostLeaks = 50 // each try leaves a goroutine behind
)

// try has rapid look for a program that breaks a law, and says how to see it again.
func (k *kit[Req, Res]) try(t rapid.TB, l Law, prop property) (last *finding, again string, err error) {
	j := &judge{TB: t, name: t.Name() + "/" + l.String()}
	tries, most := 0, mostTries // since the law was found to be broken
	if l == Goroutines {
		most = mostLeaks
	}
	done := make(chan struct{})
	go func() { // a judge may end it
		defer close(done)
		rapid.Check(j, func(rt *rapid.T) {
			if k.stuck != "" || tries > most {
				return
			}
			if last != nil {
				tries++
			}
			f := prop(rt)
			if f == nil {
				return
			}
			last = f
			rt.Fatalf("law %s is broken", l)
		})
	}()
	<-done
	if last == nil && j.failed && k.stuck == "" {
		return nil, "", fmt.Errorf("law %s could not be tried: %s", l, j.said())
	}
	return last, seed.FindString(j.said()), nil
}

var seed = regexp.MustCompile(`-rapid\.seed=\d+`)

// report tells the test of a law that is broken.
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
		b.WriteString("  what happened:\n" + indent(strings.Join(lines(f.actual), "\n"), "    ") + "\n")
	}
	if again != "" {
		fmt.Fprintf(&b, "  to see it again: go test -run '^%s$' %s\n", t.Name(), again)
	}
	if f.link != "" && f.law != Accepted {
		fmt.Fprintf(&b, "  if that is what the link is for: chaintest.Excuse(chaintest.%s, %q, \"the reason\")\n", f.law, f.link)
	}
	t.Errorf("%s", strings.TrimSuffix(b.String(), "\n"))
}

// expected is the trace that would have kept the law: that of another call, or the actual one up to where it went wrong. It
// is nil if the trace does not show what is wrong.
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

// judge is the test that rapid reports to, so that what it says can be said better.
type judge struct {
	rapid.TB
	name   string
	mu     sync.Mutex
	failed bool
	text   []string
}

func (j *judge) say(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failed = true
	j.text = append(j.text, text)
}

func (j *judge) said() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(slices.Compact(slices.Clone(j.text)), "\n")
}

func (j *judge) Failed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failed
}

func (j *judge) Name() string              { return j.name }
func (j *judge) Helper()                   {}
func (j *judge) Log(...any)                {}
func (j *judge) Logf(string, ...any)       {}
func (j *judge) Error(args ...any)         { j.say(fmt.Sprint(args...)) }
func (j *judge) Errorf(f string, a ...any) { j.say(fmt.Sprintf(f, a...)) }
func (j *judge) Fail()                     { j.say("") }
func (j *judge) FailNow()                  { j.Fail(); runtime.Goexit() }
func (j *judge) Fatal(args ...any)         { j.Error(args...); runtime.Goexit() }
func (j *judge) Fatalf(f string, a ...any) { j.Errorf(f, a...); runtime.Goexit() }
func (j *judge) SkipNow()                  { runtime.Goexit() }
func (j *judge) Skip(...any)               { runtime.Goexit() }
func (j *judge) Skipf(string, ...any)      { runtime.Goexit() }
