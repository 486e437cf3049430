package ctrlx_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// While every write is refused, since what the cache has stays old, the cloud is asked less and less often.
func TestConflictsBackOff(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.traffic.answers(refusing("PATCH databases/status", 409, metav1.StatusReasonConflict, 6))
	o.start(ctrlx.New("Database", o.operations(), flow.Extensions[*testv1.Database]{}))
	begun := time.Now()
	o.database("db", "")
	o.until("db", "True Succeeded")
	if took := time.Since(begun); took < 3*time.Second { // 50 ms doubling six times
		t.Errorf("six conflicts took %s", took)
	}
	if got := o.asked(); len(got) != 7 {
		t.Errorf("the cloud was asked for once a pass: %q", got)
	}
}
