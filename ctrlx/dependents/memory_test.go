package dependents

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/windlass-go/windlass/checks"
)

// TestMemory lets passes of several owners change what is known of one object. No
// change is lost.
func TestMemory(t *testing.T) {
	m := newMemory[string, int]()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				m.change("a", func(n *int) {
					was := *n
					runtime.Gosched()
					*n = was + 1
				})
			}
		})
	}
	wg.Wait()
	if got := m.of("a"); got != 800 || m.of("b") != 0 {
		t.Errorf("got %d and %d, want 800 and 0", got, m.of("b"))
	}
}

// TestTexts bounds the texts of a message.
func TestTexts(t *testing.T) {
	fields := []string{"a", "b", "c", "d", "e", "f", "g"}
	cases := map[string]struct{ reason, got, want string }{
		"Short":   {"a short text stays", cut("ü"), "ü"},
		"Longest": {"500 bytes stay", cut(strings.Repeat("a", 500)), strings.Repeat("a", 500)},
		"Long":    {"the end is missing", cut(strings.Repeat("a", 501)), strings.Repeat("a", 497) + "..."},
		"Half":    {"no half of a letter", cut("a" + strings.Repeat("ü", 250)), "a" + strings.Repeat("ü", 248) + "..."},
		"Why":     {"the problem is another one", notReady(Result{Readiness: checks.Readiness{Reason: "R", Message: "m"}}, "Failed: n"), "it is not ready: R: m; Failed: n"},
		"Once":    {"the problem is there once", notReady(Result{Readiness: checks.Readiness{Reason: "R", Message: "m"}}, "Failed: m"), "it is not ready: R: m"},
		"NoWhy":   {"nothing says why", notReady(Result{}, ""), "it is not ready"},
		"None":    {"no field", listed(nil), ""},
		"Five":    {"five fields", listed(fields[:5]), "a, b, c, d, e"},
		"Seven":   {"the number of the others", listed(fields), "a, b, c, d, e, 2 more"},
	}
	for name, tc := range cases {
		if tc.got != tc.want {
			t.Errorf("%s: %s: got %q, want %q", name, tc.reason, tc.got, tc.want)
		}
	}
}
