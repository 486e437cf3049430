package chaintest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
)

// A flag as test packages define it: it must not collide with one of the kit, and is honoured.
var updateFlag = flag.Bool("update", false, "write golden files")

// words is something that prints itself.
type words string

func (w words) String() string { return string(w) }

type speechless struct{}

func (*speechless) String() string { panic("no words") }

func derived(next handler) handler { return next }

func TestGolden(t *testing.T) {
	ab := chain.New(pass("a"), pass("b"), derived)
	cases := map[string]struct {
		reason string
		name   string
		file   string // what is in the file; "-": there is none
		values []fmt.Stringer
		want   string // what is said; empty: nothing
	}{
		"Same":     {"one link a line, without the line of a source", "x", "a\nb\nchaintest.derived (chaintest/golden_test.go)\n", []fmt.Stringer{ab}, ""},
		"CRLF":     {"as git makes it on Windows", "x", "a\r\nb\r\n", []fmt.Stringer{chain.New(pass("a"), pass("b"))}, ""},
		"Order":    {"another order", "x", "b\na\nchaintest.derived (chaintest/golden_test.go)\n", []fmt.Stringer{ab}, " ≠  b"},
		"Words":    {"anything that prints itself", "x", "two\nlines\n", []fmt.Stringer{words("two\nlines")}, ""},
		"Several":  {"one below the other", "x", "one\na\nb\n", []fmt.Stringer{words("one\n"), chain.New(pass("a"), pass("b"))}, ""},
		"Empty":    {"an empty chain", "x", "(empty)\n", []fmt.Stringer{links{}}, ""},
		"Folder":   {"in a folder of its own", "y/x", "z\n", []fmt.Stringer{words("z")}, ""},
		"Missing":  {"no file", "x", "-", []fmt.Stringer{ab}, "x.golden is missing: write it with go test -run '^TestGolden/Missing$' -chaintest.update"},
		"NoName":   {"no name", "", "-", []fmt.Stringer{ab}, `"" is not the name`},
		"Outside":  {"a file elsewhere", "../x", "-", []fmt.Stringer{ab}, `"../x" is not the name`},
		"Nothing":  {"nothing to print", "x", "-", nil, "no value is given for x"},
		"Nil":      {"nil", "x", "-", []fmt.Stringer{nil}, "value 1 for x: it is nil"},
		"TypedNil": {"what cannot print itself", "x", "-", []fmt.Stringer{(*speechless)(nil)}, "its String panics: no words"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			file := filepath.Join("testdata", filepath.FromSlash(tc.name)+".golden")
			if tc.file != "-" {
				write(t, file, tc.file)
			}
			got := run(t, func(t rapid.TB) { chaintest.Golden(t, tc.name, tc.values...) })
			if got.failed != (tc.want != "") || !strings.Contains(got.said(), tc.want) {
				t.Errorf("%s: got %q, want %q", tc.reason, got.said(), tc.want)
			}
		})
	}
}

// Both flags write the file.
func TestGoldenUpdate(t *testing.T) {
	for _, name := range []string{"update", "chaintest.update"} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			set(t, name, "true")
			chaintest.Golden(t, "new/x", chain.New(pass("a"), pass("b")))
			set(t, name, "false")
			chaintest.Golden(t, "new/x", chain.New(pass("a"), pass("b")))
			if got := run(t, func(t rapid.TB) { chaintest.Golden(t, "new/x", chain.New(pass("b"), pass("a"))) }); !got.failed {
				t.Error("the file was written, but another order is no difference")
			}
		})
	}
	if *updateFlag {
		t.Error("the flag of the test package was changed")
	}
}

func set(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
