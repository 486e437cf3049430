// Package rooms tests the order of the packages of ctrlx.
package rooms

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// order lists the packages of ctrlx. Each may import the packages before it, and no
// other ones. An empty name is ctrlx itself.
var order = []string{
	"internal/setup", "internal/byversion", "internal/definition", "internal/digest/jsonfield", "internal/index",
	"internal/object", "internal/record", "internal/memory", "internal/soak", "internal/testv1",
	"internal/testing/memoryserver", "internal/testing/simulation",
	"internal/digest", "internal/ready",
	"internal/write", "internal/engine", "internal/sources", "internal/gauges", "internal/apierr", "internal/view", "internal/settings",
	"internal/status",
	"", "existing", "inuse",
	"internal/again", "manifests", "manifests/helm", "manifests/kustomize", "dependents", "component", "ctrltest", "internal/combinations",
}

const module = "github.com/windlass-go/windlass/ctrlx"

// Imports between the packages of ctrlx run one way. Helpers of tests are left out.
func TestImportsRunDown(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		in, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		of := filepath.ToSlash(in)
		if of == "." {
			of = ""
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.Contains(of, "testdata") {
			return nil
		}
		at := slices.Index(order, of)
		if at < 0 && strings.HasPrefix(of, "internal/testing/") {
			return nil
		}
		if at < 0 {
			t.Errorf("%s: the package has no place in order: put it before the packages that import it", file)
			return nil
		}
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range source.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil || imported != module && !strings.HasPrefix(imported, module+"/") {
				continue
			}
			to := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
			if seen++; !slices.Contains(order[:at], to) {
				t.Errorf("%s imports %s, which is not before %s in order", file, path.Join("ctrlx", to), path.Join("ctrlx", of))
			}
		}
		return nil
	})
	if err != nil || seen == 0 {
		t.Fatalf("%d imports: %v", seen, err)
	}
}
