package ctrlx_test

import (
	_ "embed"
	"os"
	"strings"
	"testing"
)

//go:embed example_test.go
var example string

// What stands between the marks in the example stands in the README of the repository.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(example, "	// README:\n")
	code, _, ok := strings.Cut(code, "	// :README\n")
	if !ok {
		t.Fatal("the example has no marks")
	}
	code = strings.ReplaceAll("\n"+code, "\n\t", "\n")
	if want := "```go" + code + "```"; !strings.Contains(string(readme), want) {
		t.Errorf("the README does not show:\n%s", want)
	}
}
