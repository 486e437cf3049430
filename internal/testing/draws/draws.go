// Package draws lets rapid draw 25 cases for each property in place of 100. A
// test imports it for this effect, so that plain go test stays fast:
//
//	import _ "github.com/windlass-go/windlass/internal/testing/draws"
//
// The variable WINDLASS_DRAWS sets another number for all packages, as make
// verify does. The flag -rapid.checks sets it for one package, and wins.
package draws

import (
	"cmp"
	"flag"
	"os"
	"strconv"
	"testing"

	_ "pgregory.net/rapid" // defines the flag
)

// The command line is parsed later, so that its flag wins.
func init() {
	if err := flag.Set("rapid.checks", cmp.Or(os.Getenv("WINDLASS_DRAWS"), "25")); err != nil {
		panic("WINDLASS_DRAWS is not a number: " + err.Error())
	}
}

// Times multiplies the number of cases in a test whose cases are cheap.
func Times(t testing.TB, n int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	cases, err := strconv.Atoi(before)
	if err == nil {
		err = f.Value.Set(strconv.Itoa(n * cases))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}
