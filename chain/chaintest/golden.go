package chaintest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

// The flag has the name of the package, as those of rapid have: a flag that is defined twice panics, and test packages
// like to define -update for themselves, after this package was initialised.
var update = flag.Bool("chaintest.update", false, "chaintest: write golden files instead of comparing with them")

// Golden compares what is printed with the file testdata/<name>.golden: chains, a whole flow.Reconciler, anything that has
// String. A chain is printed with one link a line, so that a change of order shows in a review. Of the places that
// derived names are printed with, the line is left out, since it changes with every edit.
//
// With -chaintest.update, or -update if the test package defines that flag, the file is written. Several values are printed
// one below the other.
func Golden(t rapid.TB, name string, values ...fmt.Stringer) {
	t.Helper()
	if name == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		t.Fatalf("chaintest: Golden: %q is no name for a file in testdata", name)
		return
	}
	if len(values) == 0 {
		t.Fatalf("chaintest: Golden: there is nothing to compare with %s: give a chain, or a reconciler", name)
		return
	}
	var now strings.Builder
	for i, v := range values {
		text, err := printed(v)
		if err != nil {
			t.Fatalf("chaintest: Golden: value %d for %s: %v", i+1, name, err)
			return
		}
		now.WriteString(text)
	}
	file := filepath.Join("testdata", filepath.FromSlash(name)+".golden")
	if updating() {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(now.String()), 0o666)); err != nil {
			t.Fatalf("chaintest: Golden: %v", err)
		}
		return
	}
	golden, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("chaintest: Golden: %s is missing: write it with go test -run '^%s$' -chaintest.update", file, t.Name())
		return
	}
	if err != nil {
		t.Fatalf("chaintest: Golden: %v", err)
		return
	}
	was := strings.ReplaceAll(string(golden), "\r\n", "\n")
	if was == now.String() {
		return
	}
	split := func(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }
	t.Errorf("chaintest: Golden: %s is not what is printed now:\n%s  if the change is right: go test -run '^%s$' -chaintest.update",
		file, columns("golden", "now", split(was), split(now.String())), t.Name())
}

// updating tells whether golden files are to be written.
func updating() bool {
	if *update {
		return true
	}
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// places are what is printed behind derived names.
var places = regexp.MustCompile(`\.go:\d+`)

// printed prints one value, ending in a newline.
func printed(v fmt.Stringer) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its String panics: %v", p)
		}
	}()
	if v == nil {
		return "", errors.New("it is nil")
	}
	text = v.String()
	if c, ok := v.(interface{ Links() []chain.Link }); ok {
		var b strings.Builder
		for _, l := range c.Links() {
			b.WriteString(l.String() + "\n")
		}
		if b.Len() > 0 {
			text = b.String()
		}
	}
	return places.ReplaceAllString(strings.TrimRight(text, "\n"), ".go") + "\n", nil
}
