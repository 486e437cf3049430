package ctrlx_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// Databases have a class, which names the controller that is responsible, and an approver. The databases of other
// controllers get no finalizer and no condition. A denied one is finished. An approval wakes the database that waits
// for it.
func ExampleReconciler_decisions() {
	type Request = checks.Request[*testv1.Database]
	class := checks.Check("class", func(_ context.Context, req *Request) (checks.Result, error) {
		if class := req.Resource.Annotations["example.com/class"]; class != "mine" {
			return checks.Ignore(fmt.Sprintf("the class %q is of another controller", class)), nil
		}
		return checks.Proceed(), nil
	})
	approved := checks.Check("approved", func(_ context.Context, req *Request) (checks.Result, error) {
		all := req.Resource.Status.Conditions
		switch {
		case req.Deleting, meta.IsStatusConditionTrue(all, "Approved"):
			return checks.Proceed(), nil
		case meta.IsStatusConditionTrue(all, "Denied"):
			return checks.Block("Denied", "the approver denied the database", checks.WithRetry(classify.Never)), nil
		}
		return checks.Block("ApprovalPending", "the approver has not decided", checks.WithWaitingForSelf()), nil
	})
	retained := checks.Check("retained", func(_ context.Context, req *Request) (checks.Result, error) {
		if req.Resource.Annotations["example.com/policy"] == "Retain" {
			return checks.Release("the reclaim policy is Retain"), nil
		}
		return checks.Proceed(), nil
	})
	put := func(context.Context, *flow.Request[*testv1.Database]) (flow.Progress, error) { return flow.Done(), nil }
	databases := ctrlx.New("Database", flow.Operations[*testv1.Database]{Apply: put, Delete: put}, flow.Extensions[*testv1.Database]{
		EntryCheck:  chain.New(class, approved),
		DeleteCheck: chain.New(retained),
	})

	ext := databases.Flow().Extensions()
	fmt.Println("EntryCheck: ", ext.EntryCheck)
	fmt.Println("Apply:      ", ext.Apply)
	fmt.Println("DeleteCheck:", ext.DeleteCheck)
	// Output:
	// EntryCheck:  class -> approved -> Gate(OperationVerified)
	// Apply:       Finalizer
	// DeleteCheck: retained
}
