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

// The flag has the prefix chaintest, because test packages often define -update
// and a second definition of a flag panics.
var update = flag.Bool("chaintest.update", false, "chaintest: write golden files, do not compare them")

// Golden prints values and compares the text with the file
// testdata/<name>.golden. A value is a chain, a whole flow.Reconciler, or any
// other fmt.Stringer. Golden prints each link of a chain on a line of its own.
// It omits the line numbers of derived names, because they change with every
// edit.
//
// With the flag -chaintest.update, or -update if the test package defines it,
// Golden writes the file. A missing file, no value, a nil value, and a name
// outside of testdata fail the test.
func Golden(t rapid.TB, name string, values ...fmt.Stringer) {
	t.Helper()
	if name == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		t.Fatalf("chaintest: Golden: %q is not the name of a file in testdata", name)
		return
	}
	if len(values) == 0 {
		t.Fatalf("chaintest: Golden: no value is given for %s: give a chain or a reconciler", name)
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
	t.Errorf("chaintest: Golden: %s differs from the text printed now:\n%s  if the change is right: go test -run '^%s$' -chaintest.update",
		file, columns("golden", "now", split(was), split(now.String())), t.Name())
}

// updating reports whether a flag makes Golden write its files.
func updating() bool {
	if *update {
		return true
	}
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// places matches the line number of the source after a derived name.
var places = regexp.MustCompile(`\.go:\d+`)

// printed prints one value, with a newline at the end.
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
