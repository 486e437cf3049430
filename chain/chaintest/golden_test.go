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

// Many test packages define this flag. It must not collide with a flag of the
// kit, and Golden obeys it.
var updateFlag = flag.Bool("update", false, "write golden files")

// words is a fmt.Stringer.
type words string

func (w words) String() string { return string(w) }

// panicking is a fmt.Stringer that panics.
type panicking struct{}

func (*panicking) String() string { panic("no words") }

func derived(next handler) handler { return next }

func TestGolden(t *testing.T) {
	ab := chain.New(pass("a"), pass("b"), derived)
	cases := map[string]struct {
		reason string
		name   string
		file   string // the content of the file; "-": there is no file
		values []fmt.Stringer
		want   string // a part of the error; empty: no error
	}{
		"Same":     {"each link has a line, and a source has no line number", "x", "a\nb\nchaintest.derived (chaintest/golden_test.go)\n", []fmt.Stringer{ab}, ""},
		"Order":    {"another order fails", "x", "b\na\nchaintest.derived (chaintest/golden_test.go)\n", []fmt.Stringer{ab}, " ≠  b"},
		"Several":  {"several values print one after the other", "x", "one\na\nb\n", []fmt.Stringer{words("one\n"), chain.New(pass("a"), pass("b"))}, ""},
		"Missing":  {"a missing file fails and names the command that writes it", "x", "-", []fmt.Stringer{ab}, "x.golden is missing: write it with go test -run '^TestGolden/Missing$' -chaintest.update"},
		"NoName":   {"an empty name fails", "", "-", []fmt.Stringer{ab}, `"" is not the name`},
		"Outside":  {"a file outside of testdata fails", "../x", "-", []fmt.Stringer{ab}, `"../x" is not the name`},
		"Nothing":  {"a call without values fails", "x", "-", nil, "no value is given for x"},
		"TypedNil": {"a String that panics fails", "x", "-", []fmt.Stringer{(*panicking)(nil)}, "its String panics: no words"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			file := filepath.Join("testdata", filepath.FromSlash(tc.name)+".golden")
			if tc.file != "-" {
				write(t, file, tc.file)
			}
			got := run(t, func(t rapid.TB) { chaintest.Golden(t, tc.name, tc.values...) })
			if got.Failed() != (tc.want != "") || !strings.Contains(got.Reported(), tc.want) {
				t.Errorf("%s: got %q, want %q", tc.reason, got.Reported(), tc.want)
			}
		})
	}
}

// Each of the two flags makes Golden write the file.
func TestGoldenUpdate(t *testing.T) {
	for _, name := range []string{"update", "chaintest.update"} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			set(t, name, "true")
			chaintest.Golden(t, "new/x", chain.New(pass("a"), pass("b")))
			set(t, name, "false")
			chaintest.Golden(t, "new/x", chain.New(pass("a"), pass("b")))
			if got := run(t, func(t rapid.TB) { chaintest.Golden(t, "new/x", chain.New(pass("b"), pass("a"))) }); !got.Failed() {
				t.Error("Golden wrote the file and then accepted another order")
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
