package ctrlx

import (
	"context"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// RequeueOf is the requeue interval that an object or its spec gives; 0: none.
func RequeueOf[T client.Object](obj T) time.Duration {
	r := &Reconciler[T]{config: configurationOf[T]()}
	return r.intervals(context.Background(), obj).requeue
}

// WithRand replaces the source of the numbers, from 0 to below 1, by which requeue intervals are lengthened.
func WithRand(random func() float64) Option { return func(o *options) { o.rand = random } }

// MaxIdentities is of how many identities the clients are remembered.
const MaxIdentities = maxIdentities

// ClientsOf gives the clients of identities.
func ClientsOf(mgr manager.Manager) func(rest.ImpersonationConfig) (client.Client, error) {
	return identitiesOf(mgr).client
}

// Observe sets status.observedGeneration of obj, if it has the field.
func Observe[T client.Object](obj T, generation int64) { observerOf[T]()(obj, generation) }
