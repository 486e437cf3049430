package ctrlx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// WithImpersonation sets the identity with which a resource is deployed. Its
// operations, checks and hooks, except post-read hooks, get a client with that
// identity from [ClientFromContext]. The client does not read from a cache. The zero
// configuration means the manager's own client. The manager needs the right to
// impersonate.
//
// A nil function panics, and so does this option together with [WithTargetClient], or twice.
func WithImpersonation[T client.Object](as func(resource T) rest.ImpersonationConfig) Option {
	if as == nil {
		panic("ctrlx: WithImpersonation: the function is nil")
	}
	return func(o *options) { o.deployBy("WithImpersonation", as) }
}

// maxIdentities is the number of identities whose clients are kept.
const maxIdentities = 512

// identities holds the clients of identities. It is safe for concurrent use.
type identities struct {
	config  *rest.Config
	options client.Options
	clients *lru.Cache
}

func identitiesOf(mgr manager.Manager) *identities {
	return &identities{
		config:  mgr.GetConfig(),
		options: client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()},
		clients: lru.New(maxIdentities),
	}
}

// client returns the client of an identity.
func (i *identities) client(as rest.ImpersonationConfig) (client.Client, error) {
	key, err := json.Marshal(as) // the keys of maps are sorted
	if err != nil {
		return nil, err
	}
	if c, ok := i.clients.Get(string(key)); ok {
		return c.(client.Client), nil
	}
	config := rest.CopyConfig(i.config)
	config.Impersonate = as
	c, err := client.New(config, i.options)
	if err != nil {
		return nil, fmt.Errorf("impersonating %q: %w", as.UserName, err)
	}
	i.clients.Add(string(key), c)
	return c, nil
}

// noIdentity reports whether as has no user, UID, group or extra field.
func noIdentity(as rest.ImpersonationConfig) bool {
	return as.UserName == "" && as.UID == "" && len(as.Groups) == 0 && len(as.Extra) == 0
}

// impersonating finds the client of the identity that a resource is deployed as.
func impersonating[T client.Object](as func(T) rest.ImpersonationConfig, known func() *identities) targeting[T] {
	return func(_ context.Context, local client.Client, obj T) (client.Client, error) {
		identity := as(obj)
		switch {
		case noIdentity(identity):
			return local, nil
		case identity.UserName == "":
			return nil, errors.New("groups, a UID or extra fields without a user: give rest.ImpersonationConfig a UserName")
		}
		return known().client(identity)
	}
}
