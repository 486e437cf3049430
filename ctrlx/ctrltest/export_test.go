package ctrltest

import (
	"testing"

	"pgregory.net/rapid"
)

// ExploreWith explores with the reports to tb.
func ExploreWith(t *testing.T, tb rapid.TB, op Operator) (failure string) {
	e, err := prepare(op)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		e.explore(t, tb)
	}()
	<-ended
	if e.last == nil {
		return ""
	}
	return e.last.String()
}
