package ctrltest_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/ctrlx/ctrltest"
	_ "github.com/windlass-go/windlass/internal/testing/draws"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// TestCorrect: the operator without a mistake keeps the rules.
func TestCorrect(t *testing.T) { ctrltest.Explore(t, operator(none)) }

// TestRestart: a fault that would end the process while it is being restarted starts
// no second process, which would never be stopped.
func TestRestart(t *testing.T) {
	for _, fault := range []string{ctrltest.Stop, ctrltest.Pause} {
		for while := time.Duration(0); while < 12*time.Millisecond; while += 500 * time.Microsecond {
			if failure := ctrltest.RestartAfter(t, operator(none), fault, while); failure != "" {
				t.Fatalf("%s, and a restart after %s:\n%.2000s", fault, while, failure)
			}
		}
	}
}

// report takes the reports of rapid in place of a test.
type report struct {
	*testing.T
	failed atomic.Bool
	text   strings.Builder
}

func (r *report) Helper()                   {}
func (r *report) Log(...any)                {}
func (r *report) Logf(string, ...any)       {}
func (r *report) Failed() bool              { return r.failed.Load() }
func (r *report) Fail()                     { r.failed.Store(true) }
func (r *report) FailNow()                  { r.Fail(); runtime.Goexit() }
func (r *report) Errorf(f string, a ...any) { fmt.Fprintf(&r.text, f, a...); r.Fail() }
func (r *report) Fatalf(f string, a ...any) { r.Errorf(f, a...); runtime.Goexit() }

// with sets a flag of rapid for a test.
func with(t *testing.T, name, value string) {
	f := flag.Lookup(name)
	was := f.Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set(name, was) })
}

var mistakes = []string{swallowed, lostWakeUp, lateFinalizer, staleCache, silentDeletion, swallowedAbsence, statusEveryPass}

// TestMistakes: well-known mistakes are found. The seeds are ones whose draws meet them, so that chance fails no run.
// TestMeasure says how often one exploration with another seed is enough: it nearly always is.
func TestMistakes(t *testing.T) {
	with(t, "rapid.nofailfile", "true")
	with(t, "rapid.shrinktime", "1ms")
	with(t, "rapid.checks", "100")
	with(t, "rapid.seed", "6")
	for _, mistake := range mistakes {
		t.Run(mistake, func(t *testing.T) {
			if mistake == swallowedAbsence {
				with(t, "rapid.seed", "3")
			}
			if ctrltest.ExploreWith(t, &report{T: t}, operator(mistake)) == "" {
				t.Error("no rule is broken")
			}
		})
	}
}

var seedOf = regexp.MustCompile(`-rapid\.seed=(\d+)`)

// TestMeasure measures how many explorations find each mistake, and how many seeds
// repeat it. WINDLASS_EXPLORATIONS is the number of explorations of each.
func TestMeasure(t *testing.T) {
	times, _ := strconv.Atoi(os.Getenv("WINDLASS_EXPLORATIONS"))
	if times == 0 {
		t.Skip("WINDLASS_EXPLORATIONS is not set")
	}
	with(t, "rapid.nofailfile", "true")
	with(t, "rapid.shrinktime", "1ms")
	with(t, "rapid.checks", "100")
	for _, mistake := range mistakes {
		t.Run(mistake, func(t *testing.T) {
			found, repeated, begin := 0, 0, time.Now()
			for range times {
				with(t, "rapid.seed", "0")
				first := &report{T: t}
				if ctrltest.ExploreWith(t, first, operator(mistake)) == "" {
					continue
				}
				found++
				seed := seedOf.FindStringSubmatch(first.text.String())
				if seed == nil {
					t.Fatalf("no seed in %s", first.text.String())
				}
				with(t, "rapid.seed", seed[1])
				if ctrltest.ExploreWith(t, &report{T: t}, operator(mistake)) != "" {
					repeated++
				}
			}
			fmt.Printf("%s: %d of %d explorations find it, %d seeds repeat it, %s\n", mistake, found, times, repeated, time.Since(begin).Round(time.Second))
		})
	}
}
