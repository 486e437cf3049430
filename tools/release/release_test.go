package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// sample is a repository with a root module and a nested module that requires
// it.
const sample = `
-- .gitignore --
ignored.go
-- LICENSE --
The licence.
-- go.mod --
module example.com/lib

go 1.26.0
-- lib.go --
package lib

func New(name string) int { return len(name) }

type Pair[K comparable, V any] struct {
	Key    K
	hidden V
	Inner
}

type Inner struct{ N int }

func (*Inner) Reset()        {}
func (p Pair[K, V]) Get() V  { return p.hidden }
func (p Pair[K, V]) secret() {}

type Closer interface{ Close() error }

type Link = func(next func(name string) int) func(name string) int

const Ready = 1

var Default = Pair[string, int]{}

func Map[A, B any](list []A, f func(item A) B, more ...B) ([]B, error) { return nil, nil }

func unexported() {}
-- internal/help/help.go --
package help

const Number = 7
-- sub/go.mod --
module example.com/lib/sub

go 1.26.0

require example.com/lib v0.0.0

replace example.com/lib => ..
-- sub/sub.go --
package sub

import "example.com/lib"

func Sub() int { return lib.New("sub") }
-- sub/cmd/say/main.go --
package main

import "example.com/lib/sub"

func main() { println(sub.Sub()) }
-- tools/release/testdata/consumers/sub/use/use_test.go --
package use

import (
	"testing"

	"example.com/lib/sub"
)

func TestUse(t *testing.T) {
	if sub.Sub() != 3 {
		t.Fail()
	}
}
`

// unpack writes the sample, then changes of it, into a new git repository.
func unpack(t *testing.T, changes string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	_, err := output(dir, nil, "git", "init", "-q")
	for _, f := range append(txtar.Parse([]byte(sample)).Files, txtar.Parse([]byte(changes)).Files...) {
		err = errors.Join(err, writeFile(filepath.Join(dir, filepath.FromSlash(f.Name)), f.Data))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// opened returns the repository in a folder, with files of exported names.
func opened(dir string) (*repo, error) {
	r, err := open(dir)
	if err != nil {
		return nil, err
	}
	return r, r.writeAPI(r.file(apiDir))
}

func TestRehearse(t *testing.T) {
	const head = "-- sub/go.mod --\nmodule example.com/lib/sub\n\ngo 1.26.0\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ..\n\n"
	const helper = "-- internal/testing/same/same.go --\npackage same\n"
	cases := map[string]struct {
		reason, changes string
		want            string // a part of the error; empty: the release works
	}{
		"Works":   {"a release that works is accepted", "", ""},
		"BadName": {"Windows cannot store a file with a colon in its name", "-- sub/a:b --\ntext\n", "malformed file path \"a:b\""},
		"RemainingReplace": {"a replace is ignored where the module is required", head + "replace example.com/other => ../other\n",
			"a replace or an exclude directive remains"},
		"Exclude": {"programs of a module that excludes versions cannot be installed", head + "exclude example.com/other v1.0.0\n",
			"a replace or an exclude directive remains"},
		"Path": {"the path of a module is that of its folder", "-- sub/go.mod --\nmodule example.com/lib/other\n", "want example.com/lib/sub"},
		"Internals": {"an upgrade of the root could break a module that imports its internal packages",
			"-- sub/help.go --\npackage sub\n\nimport \"example.com/lib/internal/help\"\n\nconst number = help.Number\n",
			"sub/help.go imports example.com/lib/internal/help"},
		"InternalsOfTests": {"tests may import the helpers of tests only", "-- sub/help_test.go --\npackage sub\n\nimport _ \"example.com/lib/internal/help\"\n",
			"sub/help_test.go imports example.com/lib/internal/help"},
		"Helpers": {"tests may import the helpers of tests",
			helper + "-- sub/help_test.go --\npackage sub\n\nimport _ \"example.com/lib/internal/testing/same\"\n", ""},
		"HelpersOutsideOfTests": {"an upgrade of the root could break the package",
			helper + "-- sub/help.go --\npackage sub\n\nimport _ \"example.com/lib/internal/testing/same\"\n",
			"sub/help.go imports example.com/lib/internal/testing/same"},
		"DoesNotCompile": {"a consumer must compile",
			"-- tools/release/testdata/consumers/sub/use/use_test.go --\npackage use\n\nimport \"example.com/lib/sub\"\n\nvar _ = sub.Missing\n",
			"the consumer of example.com/lib/sub"},
		"TestFails": {"the tests of a consumer must pass",
			"-- sub/sub.go --\npackage sub\n\nimport \"example.com/lib\"\n\nfunc Sub() int { return lib.New(\"other\") }\n", "FAIL: TestUse"},
		"UntrackedFile": {"a file that git ignores is not released",
			"-- use.go --\npackage lib\n\nvar _ = ignored\n-- ignored.go --\npackage lib\n\nvar ignored int\n", "undefined: ignored"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := opened(unpack(t, tc.changes))
			if err == nil {
				err = rehearse(r, io.Discard)
			}
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got the error %v, want one that contains %q; empty: none", tc.reason, err, tc.want)
			}
		})
	}
}

// TestStale: code that does not compile leaves the golden files. The error of a check shows the changed names.
func TestStale(t *testing.T) {
	r, err := opened(unpack(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.checkAPI(); err != nil {
		t.Errorf("files that were just written must be up to date, got %v", err)
	}
	broken := writeFile(r.file("lib.go"), []byte("package lib\n\nvar _ = missing\n"))
	if err := errors.Join(broken, r.writeAPI(r.file(apiDir))); err == nil || !strings.Contains(err.Error(), "undefined: missing") {
		t.Errorf("the code does not compile, got the error %v", err)
	}
	text, err := os.ReadFile(r.file("tools/api/lib.txt"))
	const want = `# The exported names of example.com/lib. make api writes this file.
Closer: type Closer interface{Close() error}
Default: var Default Pair[string, int]
Inner.N: field N int
Inner.Reset: func (*Inner).Reset()
Inner: type Inner struct
Link: type Link = func(next func(name string) int) func(name string) int
Map: func Map[A, B any](list []A, f func(item A) B, more ...B) ([]B, error)
New: func New(name string) int
Pair.Get: func (Pair[K, V]).Get() V
Pair.Inner: field Inner Inner
Pair.Key: field Key K
Pair: type Pair[K comparable, V any] struct
Ready: const Ready untyped int = 1
`
	if string(text) != want || err != nil {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	added := "package lib\n\nfunc New(string) int { return 0 }\n\nfunc Added() {}\n"
	if err := errors.Join(os.WriteFile(r.file("lib.go"), []byte(added), 0o644), os.WriteFile(r.file("tools/api/gone.txt"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	err = r.checkAPI()
	for _, want := range []string{"tools/api is stale, run make api", "\n+Added: func Added()\n", "\n-Ready: const Ready"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in the error %v", want, err)
		}
	}
}

// TestWrite writes a version into the working tree, as RELEASING.md describes.
func TestWrite(t *testing.T) {
	dir := unpack(t, "-- first/go.mod --\nmodule example.com/lib/first\n\ngo 1.26.0\n\nrequire example.com/lib/sub v0.0.0\n\n"+
		"replace example.com/lib/sub => ../sub\n")
	r, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var tags strings.Builder
	if err := r.write("v0.2.0", &tags); err != nil {
		t.Fatal(err)
	}
	if got, want := tags.String(), "v0.2.0\nsub/v0.2.0\nfirst/v0.2.0\n"; got != want {
		t.Errorf("write printed the tags %q, want %q: the root first, then its dependents", got, want)
	}
	for name, want := range map[string]string{
		"sub/go.mod": `^module example.com/lib/sub\n\ngo 1.26.0\n\nrequire example.com/lib v0.2.0\n$`,
		"sub/go.sum": `^example.com/lib v0.2.0 h1:\S+\nexample.com/lib v0.2.0/go.mod h1:\S+\n$`, // of the root
	} {
		if text, err := os.ReadFile(r.file(name)); err != nil || !regexp.MustCompile(want).Match(text) {
			t.Errorf("%s is\n%s\nwant\n%s, error %v", name, text, want, err)
		}
	}
	if err := r.write("0.2", io.Discard); err == nil {
		t.Error("want an error, because 0.2 is not a version")
	}
}

// TestDependabot fails if a module of this repository gets no updates.
func TestDependabot(t *testing.T) {
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(r.file(".github/dependabot.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.modules {
		if line := "      - /" + strings.TrimPrefix(m.dir, ".") + "\n"; !strings.Contains(string(config), line) {
			t.Errorf(".github/dependabot.yml lacks the line %q", line)
		}
	}
}

// TestActions fails if a workflow runs an action that is not pinned by its
// commit, or if its token may write.
func TestActions(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are the workflows %v, error %v", files, err)
	}
	pinned := regexp.MustCompile(`^actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if _, action, ok := strings.Cut(line, "uses: "); ok && !pinned.MatchString(strings.TrimSpace(action)) {
				t.Errorf("%s runs %q: pin it by its commit, with its version in a comment", f, strings.TrimSpace(action))
			}
		}
		if !strings.Contains(string(text), "\npermissions:\n  contents: read\n") || strings.Contains(string(text), ": write") {
			t.Errorf("%s must have no rights but contents: read", f)
		}
	}
}
