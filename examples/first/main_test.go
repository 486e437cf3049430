package main

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
)

func Example() {
	main()
	// Output:
	// blocked at OwnerCheck by OwnerProvisioningState: OwnerState: owner Server north is in state "Updating": it must be Succeeded, Failed or Canceled
	// checks orders
	// PUT orders
	// ready
}

// test:

func TestNotReserved(t *testing.T) {
	checkstest.Run(t, notReserved, checkstest.Cases[*Database]{
		"Free":     {Reason: "any other name", Want: checkstest.Proceeds(), Request: checkstest.Request(&Database{"orders"})},
		"Reserved": {Reason: "the server owns it", Want: checkstest.Blocks("ResourceUnsuitable"), Request: checkstest.Request(&Database{"master"})},
	})
	// The rules that every check must keep, on requests drawn at random.
	checkstest.Conforms(t, notReserved, rapid.Custom(func(t *rapid.T) *checks.Request[*Database] {
		return checkstest.Request(&Database{rapid.SampledFrom([]string{"orders", "master"}).Draw(t, "name")})
	}))
}

// :test
