package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/windlass-go/windlass/examples/component/api/v1"
)

// place is a cluster with a namespace for the story.
type place struct {
	api       client.WithWatch // of the person
	operator  *rest.Config     // the connection of the operator
	namespace string
	local     bool // the program started the API server
	cleanUp   []func(context.Context) error
}

// account is the user of the deployed operator.
const account = "system:serviceaccount:shop-operator:shop-operator"

//go:embed config/rbac/*.yaml
var rights embed.FS

// openHere starts an API server. The operator has the rights of its account
// there.
func openHere(ctx context.Context) (*place, error) {
	p := &place{namespace: "market", local: true}
	config, stop, err := startServer()
	if err != nil {
		return p, err
	}
	p.later(func(context.Context) error { return stop() })
	p.operator = rest.CopyConfig(config)
	p.operator.Impersonate.UserName = account
	if p.api, err = newClient(config); err != nil {
		return p, err
	}
	for _, file := range []string{"config/rbac/account.yaml", "config/rbac/role.yaml"} {
		if err := p.create(ctx, file); err != nil {
			return p, fmt.Errorf("%s: %w", file, err)
		}
	}
	if _, err := install(ctx, p.api); err != nil {
		return p, err
	}
	return p, p.api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}})
}

// openThere makes a namespace in a cluster. The operator has the rights of the
// user there.
func openThere(ctx context.Context, config *rest.Config, withDefinition bool) (*place, error) {
	p := &place{operator: config}
	var err error
	if p.api, err = newClient(config); err != nil {
		return p, err
	}
	if err := p.free(ctx); err != nil {
		return p, err
	}
	if withDefinition {
		created, err := install(ctx, p.api)
		if created {
			p.later(func(ctx context.Context) error { return p.remove(ctx, definition("shops")) })
		}
		if err != nil {
			return p, err
		}
	} else if err := served(p.api); err != nil {
		return p, err
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "windlass-"}}
	if err := p.api.Create(ctx, ns); err != nil {
		return p, err
	}
	p.namespace = ns.Name
	p.later(func(ctx context.Context) error { return p.api.Delete(ctx, ns) })
	p.later(p.empty)
	return p, nil
}

// free fails if the cluster has coupons of another shop.
func (p *place) free(ctx context.Context) error {
	err := p.api.Get(ctx, client.ObjectKey{Name: "coupons.shop.example.com"}, definition("coupons"))
	if err == nil {
		return fmt.Errorf("%w: the cluster has the definition coupons.shop.example.com already; the story makes its own", errUsage)
	}
	return client.IgnoreNotFound(err)
}

// served fails if the cluster has no definition of shops.
func served(api client.Client) error {
	_, err := api.RESTMapper().RESTMapping(v1.GroupVersion.WithKind("Shop").GroupKind(), v1.GroupVersion.Version)
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("%w: the cluster has no definition of shops: use -install or kubectl apply -f examples/component/config/crd", errUsage)
	}
	return err
}

// later adds a step to the clean-up, before the earlier ones.
func (p *place) later(step func(context.Context) error) { p.cleanUp = append(p.cleanUp, step) }

// close undoes what the program did, also after an interrupt.
func (p *place) close() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for i := len(p.cleanUp) - 1; i >= 0; i-- {
		err = errors.Join(err, client.IgnoreNotFound(p.cleanUp[i](ctx)))
	}
	if err != nil {
		return fmt.Errorf("cleaning up: %w", err)
	}
	return nil
}

// empty deletes the objects of the story that the deletion of its namespace would
// leave. The operator has stopped, so empty removes the finalizer of the shop.
func (p *place) empty(ctx context.Context) error {
	shop := &v1.Shop{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "corner"}}
	free := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	return errors.Join(
		client.IgnoreNotFound(p.api.Patch(ctx, shop, free)),
		p.remove(ctx, shop),
		p.remove(ctx, definition("coupons")))
}

// remove deletes an object and waits until it is gone.
func (p *place) remove(ctx context.Context, obj client.Object) error {
	if err := p.api.Delete(ctx, obj); err != nil {
		return client.IgnoreNotFound(err)
	}
	return wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		err := p.api.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

func definition(plural string) *apiextensions.CustomResourceDefinition {
	return &apiextensions.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural + ".shop.example.com"}}
}

// create creates the objects of a file.
func (p *place) create(ctx context.Context, file string) error {
	data, err := rights.ReadFile(file)
	if err != nil {
		return err
	}
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		obj := &unstructured.Unstructured{}
		switch err := decoder.Decode(obj); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := p.api.Create(ctx, obj); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
}

// newClient returns the client of the person.
func newClient(config *rest.Config) (client.WithWatch, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}
