package controller

import (
	"testing"

	"github.com/windlass-go/windlass/examples/howto/internal/manager"
)

func TestSetUp(t *testing.T) {
	if err := SetUp(manager.New(t)); err != nil {
		t.Fatal(err)
	}
}
