package digest_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
)

// A write that changes nothing wakes no waiter, a change of the status does.
func ExampleOf() {
	thing := &Thing{ObjectMeta: metav1.ObjectMeta{UID: "1", Generation: 1, ResourceVersion: "7"}}
	seen := digest.Of(thing)

	thing.ResourceVersion = "8"
	fmt.Println("wake up:", digest.Of(thing) != seen)

	thing.Status.Names = []string{"new"}
	fmt.Println("wake up:", digest.Of(thing) != seen)
	fmt.Println("wake up:", digest.NotFound != seen)
	// Output:
	// wake up: false
	// wake up: true
	// wake up: true
}
