package checks_test

import (
	"context"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/checks"
)

func TestCheckSetUp(t *testing.T) {
	var none func(context.Context, request) (checks.Result, error)
	mustPanic(t, map[string]setUp{
		"CheckNil":  {"Check requires a function", func() { checks.Check("a", none) }, `checks: Check: the function of "a" is nil`},
		"GateNil":   {"Gate requires a function", func() { checks.Gate("a", none) }, `checks: Gate: the function of "a" is nil`},
		"GateEmpty": {"Gate requires a name", func() { checks.Gate("", proceeds) }, "checks: Gate: the name is empty"},
		"GateBlank": {"white space is no name", func() { checks.Gate(" ", proceeds) }, "checks: Gate: the name is empty"},
	})

	// Without a name the panic names the place of the link.
	for name, make := range map[string]func(){
		"Check":     func() { checks.Check(" ", proceeds) },
		"OwnerIs":   func() { checks.OwnerIs(" ", func(*Deep) string { return "" }) },
		"OwnerFits": func() { checks.OwnerFits("", func(*Database, *Deep) string { return "" }) },
	} {
		text := panicOf(make)
		if !strings.Contains(text, "the name of the link at checks/check_test.go:") || !strings.HasSuffix(text, " is empty") {
			t.Errorf("%s without a name: the panic is %q", name, text)
		}
	}
}
