package main

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// checkInternals reports imports of another module's internal packages. Such an
// import compiles, but any upgrade of the other module may break it. Tests, other
// helpers of tests and the examples may import helpers of tests, because users
// import none of them.
func (r *repo) checkInternals() error {
	var errs []error
	for _, m := range r.modules {
		for _, f := range m.files {
			if path.Ext(f) != ".go" || strings.Contains("/"+f, "/testdata/") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), r.file(f), nil, parser.ImportsOnly)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			for _, spec := range file.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", f, err))
					continue
				}
				if strings.Contains(imported, testHelpers) && (strings.HasSuffix(f, "_test.go") || strings.Contains(f, testHelpers) || !m.promised()) {
					continue
				}
				if owner := r.owner(imported); internal(imported) && owner != nil && owner != m {
					errs = append(errs, fmt.Errorf("%s imports %s: that is internal to the module %s", f, imported, owner.path))
				}
			}
		}
	}
	return errors.Join(errs...)
}

const testHelpers = "/internal/testing/"

// internal reports whether an import path or a folder is inside an internal
// folder.
func internal(pkg string) bool { return strings.Contains("/"+pkg+"/", "/internal/") }
