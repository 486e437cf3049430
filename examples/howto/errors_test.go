package howto

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// APIError is the error type of the SDK of a service.
type APIError struct {
	Kind, Text string
	Status     int
}

func (e *APIError) Error() string { return e.Text }

// reader:

var storageErrors = classify.NewErrors("storage",
	func(f *classify.Failure) bool { // the reader: false if the error is not of this service
		e, ok := errors.AsType[*APIError](f.Err)
		if !ok {
			return false
		}
		f.Code, f.Status, f.Message = e.Kind, e.Status, e.Text
		f.ReadStatus()                       // NotFound and Transient, from the status
		f.Ended = e.Kind == "OperationAbort" // drops the token of the operation under way
		return true
	},
	classify.Table{ // the first row that matches decides
		{Code: "BUSY", Retry: classify.Fast},                                            // after 1 s to 30 s
		{Code: "QUOTA", Message: classify.Contains("per minute"), Retry: classify.Slow}, // after 1 s to 3 min
		{Code: "QUOTA", Retry: classify.VerySlow},                                       // at the resync, after an hour
		{Code: "NAME_TAKEN", Retry: classify.OnChange},                                  // the condition Stalled: the spec must change
		{Name: "AnyConflict", Status: 409, Retry: classify.Slow},
	})

// :reader

func Example_errors() {
	for _, err := range []error{
		&APIError{"BUSY", "the account is busy", 409},
		&APIError{"NAME_TAKEN", "choose another name", 409},
		&APIError{"LOCKED", "a lease is held", 409},
		errors.New("connection reset"),
	} {
		ops := operations()
		ops.Apply = func(context.Context, *flow.Request[*Database]) (flow.Progress, error) { return flow.Progress{}, err }
		// use:
		databases := flow.New("Database", ops, flow.Extensions[*Database]{}, flow.WithErrors(storageErrors))
		// :use
		out := databases.Reconcile(context.Background(), &Database{Name: "orders"})
		fmt.Printf("%s: %s, rule %s\n", out.Reason(), out.Retry(), out.Rule())
	}
	// Output:
	// BUSY: fast, rule BUSY
	// NAME_TAKEN: on change, rule NAME_TAKEN
	// LOCKED: slow, rule AnyConflict
	// Unknown: slow, rule Unknown
}
