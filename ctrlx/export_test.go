package ctrlx

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RequeueOf is the requeue interval that an object or its spec gives; 0: none.
func RequeueOf[T client.Object](obj T) time.Duration {
	r := &Reconciler[T]{config: configurationOf[T]()}
	return r.intervals(context.Background(), obj).requeue
}

// MaxIdentities is of how many identities the clients are remembered.
const MaxIdentities = maxIdentities
