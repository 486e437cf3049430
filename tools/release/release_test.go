package main

import (
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

// unpack writes the sample into a new git repository. Files of changes replace
// files of the sample; empty files delete them.
func unpack(t *testing.T, changes string) *repo {
	t.Helper()
	dir := t.TempDir()
	if _, err := output(dir, nil, "git", "init", "-q"); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{sample, changes} {
		for _, f := range txtar.Parse([]byte(text)).Files {
			name := filepath.Join(dir, filepath.FromSlash(f.Name))
			if len(f.Data) == 0 {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := writeFile(name, f.Data); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// update writes the files of exported names of a sample.
func update(t *testing.T, r *repo) *repo {
	t.Helper()
	if err := r.writeAPI(); err != nil {
		t.Fatal(err)
	}
	r, err := open(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRehearse(t *testing.T) {
	cases := map[string]struct {
		reason  string
		changes string
		want    string // a part of the error; empty: the release works
	}{
		"Works": {"a release that works is accepted", "", ""},
		"BadName": {
			"Windows cannot store a file with a colon in its name",
			"-- sub/a:b --\ntext\n",
			"malformed file path \"a:b\"",
		},
		"RemainingReplace": {
			"a replace is ignored where the module is required",
			"-- sub/go.mod --\nmodule example.com/lib/sub\n\ngo 1.26.0\n\nrequire example.com/lib v0.0.0\n\n" +
				"replace (\n\texample.com/lib => ..\n\texample.com/other => ../other\n)\n",
			"more replace directives",
		},
		"Exclude": {
			"programs of a module that excludes versions cannot be installed",
			"-- sub/go.mod --\nmodule example.com/lib/sub\n\ngo 1.26.0\n\nrequire example.com/lib v0.0.0\n\n" +
				"replace example.com/lib => ..\n\nexclude example.com/other v1.0.0\n",
			"more exclude directives",
		},
		"Internals": {
			"an upgrade of the root could break a module that imports its internal packages",
			"-- sub/help.go --\npackage sub\n\nimport \"example.com/lib/internal/help\"\n\nconst number = help.Number\n",
			"sub/help.go imports example.com/lib/internal/help",
		},
		"InternalsOfTests": {
			"tests may import the helpers of tests only",
			"-- sub/help_test.go --\npackage sub\n\nimport _ \"example.com/lib/internal/help\"\n",
			"sub/help_test.go imports example.com/lib/internal/help",
		},
		"Helpers": {
			"tests may import the helpers of tests",
			"-- internal/testing/same/same.go --\npackage same\n-- sub/help_test.go --\npackage sub\n\nimport _ \"example.com/lib/internal/testing/same\"\n",
			"",
		},
		"HelpersOutsideOfTests": {
			"an upgrade of the root could break the package",
			"-- internal/testing/same/same.go --\npackage same\n-- sub/help.go --\npackage sub\n\nimport _ \"example.com/lib/internal/testing/same\"\n",
			"sub/help.go imports example.com/lib/internal/testing/same",
		},
		"DoesNotCompile": {
			"a consumer must compile",
			"-- tools/release/testdata/consumers/sub/use/use_test.go --\npackage use\n\nimport \"example.com/lib/sub\"\n\nvar _ = sub.Missing\n",
			"the consumer of example.com/lib/sub",
		},
		"TestFails": {
			"the tests of a consumer must pass",
			"-- sub/sub.go --\npackage sub\n\nimport \"example.com/lib\"\n\nfunc Sub() int { return lib.New(\"other\") }\n",
			"FAIL: TestUse",
		},
		"UntrackedFile": {
			"a file that git ignores is not released",
			"-- use.go --\npackage lib\n\nvar _ = ignored\n-- ignored.go --\npackage lib\n\nvar ignored int\n",
			"undefined: ignored",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := rehearse(update(t, unpack(t, tc.changes)), io.Discard)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("%s: %v", tc.reason, err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%s: got the error %v, want one that contains %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestStale changes the code after the golden files were written.
func TestStale(t *testing.T) {
	r := update(t, unpack(t, ""))
	if err := r.checkAPI(); err != nil {
		t.Errorf("files that were just written must be up to date, got %v", err)
	}
	added := "package lib\n\nfunc New(string) int { return 0 }\n\nfunc Added() {}\n"
	if err := os.WriteFile(r.file("lib.go"), []byte(added), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.checkAPI(); err == nil || !strings.Contains(err.Error(), "tools/api/lib.txt is stale") {
		t.Errorf("got %v for a new name, want the error that tools/api/lib.txt is stale", err)
	}
}

// TestWrite writes a version into the working tree, as RELEASING.md describes.
func TestWrite(t *testing.T) {
	r := unpack(t, "-- first/go.mod --\nmodule example.com/lib/first\n\ngo 1.26.0\n\nrequire example.com/lib/sub v0.0.0\n\n"+
		"replace example.com/lib/sub => ../sub\n")
	var tags strings.Builder
	if err := r.write("v0.2.0", &tags); err != nil {
		t.Fatal(err)
	}
	if got, want := tags.String(), "v0.2.0\nsub/v0.2.0\nfirst/v0.2.0\n"; got != want {
		t.Errorf("write printed the tags %q, want %q: the root first, then its dependents", got, want)
	}
	mod, err := os.ReadFile(r.file("sub/go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "module example.com/lib/sub\n\ngo 1.26.0\n\nrequire example.com/lib v0.2.0\n"; string(mod) != want {
		t.Errorf("sub/go.mod is\n%s\nwant\n%s", mod, want)
	}
	sum, err := os.ReadFile(r.file("sub/go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(string(sum), "\n"); len(lines) != 3 ||
		!strings.HasPrefix(lines[0], "example.com/lib v0.2.0 h1:") || !strings.HasPrefix(lines[1], "example.com/lib v0.2.0/go.mod h1:") {
		t.Errorf("sub/go.sum is\n%s\nwant the sums of the root at v0.2.0", sum)
	}
	if err := r.write("0.2", io.Discard); err == nil {
		t.Error("want an error, because 0.2 is not a version")
	}
}

// TestForget fails if a rehearsal leaves files of its version in the module
// cache.
func TestForget(t *testing.T) {
	cache := t.TempDir()
	const version = "v0.0.0-rehearsal1"
	tree := filepath.Join(cache, "example.com", "lib@"+version)
	downloads := filepath.Join(cache, "cache", "download", "example.com", "lib", "@v")
	for name, text := range map[string]string{
		filepath.Join(tree, "sub", "sub.go"):      "package sub\n",
		filepath.Join(downloads, version+".zip"):  "zip",
		filepath.Join(downloads, version+".lock"): "",
		filepath.Join(downloads, "v0.1.0.zip"):    "zip",
	} {
		if err := writeFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second call finds nothing
		if err := forget(cache, "example.com/lib", version); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(downloads, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || filepath.Base(left[0]) != "v0.1.0.zip" {
		t.Errorf("the cache has %v, want only v0.1.0", left)
	}
	if _, err := os.Stat(tree); !os.IsNotExist(err) {
		t.Errorf("%s still exists", tree)
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
		if line := "      - /" + strings.TrimSuffix(m.prefix(), "/") + "\n"; !strings.Contains(string(config), line) {
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
