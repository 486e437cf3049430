package pages

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const tutorial = "docs/tutorial.md"

// TestTutorial follows the tutorial in an empty folder, from the first block to
// the last.
//
// A block after a line that ends with "`path`:" is a file. A block of the
// console has commands, each after "$ ", and the output of the last one. The
// test takes the modules of the repository for those that the tutorial gets. It
// compiles and tests the operator, and does not run it. It leaves out kubectl, whose
// output the page has from a real API server. It runs in
// make verify, because compiling controller-runtime takes minutes.
func TestTutorial(t *testing.T) {
	if os.Getenv("WINDLASS_TUTORIAL") != "1" {
		t.Skip("make verify runs this test, with WINDLASS_TUTORIAL=1")
	}
	statSources(t)
	f := follower{folder: filepath.Join(t.TempDir(), "databases")}
	named := regexp.MustCompile("`([a-z0-9/_.]+)`:$")
	var done []string
	page := readPage(t, tutorial)
	outputs := map[int]string{}
	for i, b := range page.blocks {
		switch name := named.FindStringSubmatch(b.lead); {
		case b.language == "console":
			commands, want := f.split(b.text)
			var got string
			for _, command := range commands {
				got = f.run(t, command)
			}
			done = append(done, commands...)
			of := commands[len(commands)-1]
			if diff := cmp.Diff(linesOf(want), linesOf(got)); want != "" && diff != "" && !strings.HasPrefix(of, "kubectl ") {
				if !*update {
					t.Fatalf("%s:%d: the output of the last command differs (-update writes it): -page, +output:\n%s", tutorial, b.line, diff)
				}
				outputs[i] = strings.TrimSuffix(b.text, want) + strings.TrimRight(got, "\n") + "\n"
			}
		case name != nil:
			f.write(t, name[1], b.text)
		default:
			t.Fatalf("%s:%d: the block is neither a command nor a file", tutorial, b.line)
		}
	}
	for i, b := range slices.Backward(page.blocks) { // the lines of the blocks before stay the same
		if text, differs := outputs[i]; differs {
			page.show(t, b, text)
		}
	}
	for _, command := range []string{"go run .", "go test .", "go test ./operator", "go run ./operator"} {
		if !slices.Contains(done, command) {
			t.Errorf("the tutorial does not have the command %s", command)
		}
	}
}

// statSources makes this test depend on the sources of all modules. The go
// command runs a test that passed again only if the test looked at a file that
// has changed since, and it does not see the files that the tutorial compiles.
func statSources(t *testing.T) {
	t.Helper()
	sources := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "bin"):
			return fs.SkipDir
		case filepath.Ext(path) != ".go" && d.Name() != "go.mod":
			return nil
		}
		sources++
		_, err = os.Stat(path)
		return err
	})
	if err != nil || sources < 100 {
		t.Fatalf("%d source files were found: %v", sources, err)
	}
}

// follower follows the tutorial in its folder.
type follower struct {
	folder string
}

// split returns the commands of a console block, and the output below them.
func (f *follower) split(text string) (commands []string, output string) {
	var lines strings.Builder
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, strings.TrimSpace(command))
		} else {
			lines.WriteString(line)
		}
	}
	return commands, lines.String()
}

func (f *follower) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(f.folder, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// run runs a command of the tutorial and returns its output.
func (f *follower) run(t *testing.T, command string) string {
	t.Helper()
	args := strings.Fields(command)
	switch {
	case strings.HasPrefix(command, "mkdir databases"):
		if err := os.Mkdir(f.folder, 0o755); err != nil {
			t.Fatal(err)
		}
	case strings.HasPrefix(command, "go get "):
		f.get(t, strings.TrimSuffix(args[2], "@latest"))
	case strings.HasPrefix(command, "go run sigs.k8s.io/controller-tools/"):
		_, version, _ := strings.Cut(args[2], "@")
		if !strings.Contains(readFile(t, "tools/go.mod"), "sigs.k8s.io/controller-tools "+version+" ") {
			t.Fatalf("tools/go.mod does not have the version of %s", args[2])
		}
		tool := filepath.Join(t.TempDir(), "controller-gen")
		execute(t, filepath.Join(root, "tools"), "go", "build", "-o", tool, "sigs.k8s.io/controller-tools/cmd/controller-gen")
		return execute(t, f.folder, tool, args[3:]...)
	case strings.HasPrefix(command, "go install github.com/windlass-go/windlass/"):
		folder := strings.TrimSuffix(strings.TrimPrefix(args[2], "github.com/windlass-go/windlass/"), "@latest")
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(folder), "main.go")); err != nil {
			t.Fatal(err)
		}
	case command == "go run ./operator":
		return execute(t, f.folder, "go", "vet", "./...")
	case strings.HasPrefix(command, "kubectl "):
	default:
		return execute(t, f.folder, args[0], args[1:]...)
	}
	return ""
}

// get adds a module of the repository to the tutorial's module, as if it was
// published.
func (f *follower) get(t *testing.T, path string) {
	t.Helper()
	const base = "github.com/windlass-go/windlass"
	dir, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(path, base))))
	if err != nil {
		t.Fatal(err)
	}
	execute(t, f.folder, "go", "mod", "edit", "-require", path+"@v0.0.0", "-replace", path+"="+dir)
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(f.folder, "go.sum"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write(sums)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

// execute runs a program in a folder, without the workspace of the repository.
// It needs no network if the module cache has the modules of the repository.
func execute(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// steady replaces times and durations, which differ in each run.
func steady(output string) string {
	output = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`).ReplaceAllString(output, "TIME")
	output = regexp.MustCompile(`\b[0-9hm.]*[0-9](ms|µs|s|m|h)\b( ago)?`).ReplaceAllString(output, "DURATION")
	output = regexp.MustCompile(`\(cached\)`).ReplaceAllString(output, "DURATION")
	return output
}

// linesOf returns the lines of an output as they are in each run.
func linesOf(output string) []string {
	return strings.Split(strings.TrimSpace(steady(output)), "\n")
}
