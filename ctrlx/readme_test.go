package ctrlx_test

import (
	_ "embed"
	"os"
	"strings"
	"testing"
)

//go:embed example_test.go
var example string

//go:embed example_existing_test.go
var existingExample string

// TestREADME fails if the README does not show the code between the marks of the examples.
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
	_, code, _ = strings.Cut(existingExample, "// README existing:\n\n")
	code, _, ok = strings.Cut(code, "\n// :README existing\n")
	if want := "```go\n" + code + "```"; !ok || !strings.Contains(string(readme), want) {
		t.Errorf("the README does not show:\n%s", want)
	}
}
