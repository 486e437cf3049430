package style

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/internal/testing/race"
)

// leftovers are the endings of files that editors, merges and patches make and
// the tree does not need.
var leftovers = []string{".orig", ".rej", ".bak", "~"}

// TestTree checks every Go file and every page of all modules. It refuses the
// leftovers of editors, merges and patches.
func TestTree(t *testing.T) {
	if race.Enabled {
		t.Skip("regular expressions are slow under the race detector, and the test starts no goroutine; make test runs it")
	}
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if slices.Contains([]string{".git", "bin", "testdata", "vendor"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if slices.ContainsFunc(leftovers, func(end string) bool { return strings.HasSuffix(name, end) }) {
			t.Errorf("%s: an editor, a merge or a patch left this file: delete it", name)
		}
		markdown, goFile := strings.HasSuffix(name, ".md"), strings.HasSuffix(name, ".go")
		if !markdown && !goFile {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		problems := Markdown(string(text))
		if goFile {
			if problems, err = Go(text); err != nil {
				return err
			}
		}
		for _, p := range problems {
			t.Errorf("%s:%d: %s", name, p.Line, p.Text)
		}
		if problem := CheckName(strings.TrimSuffix(strings.TrimSuffix(d.Name(), ".go"), ".md")); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Fatalf("only %d files were found", files)
	}
}
