package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/internal/testing/smallserver"
)

// runStory runs the story and removes its objects. A nil config means a small API
// server of its own.
func (f flags) runStory(ctx context.Context, config *rest.Config, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("out of time after %s", f.timeout))
	defer cancel()
	defer func() { // add the cause of the end to the error
		if why := context.Cause(ctx); err != nil && why != nil && !errors.Is(err, why) {
			err = fmt.Errorf("%w: %w", why, err)
		}
	}()
	open, file := f.open, f.kubeconfig
	if config == nil {
		started, stop := time.Now(), func() {}
		if file, stop, err = smallserver.Start(); err != nil {
			return err
		}
		defer stop()
		fmt.Fprintf(out, "A small API server runs; it started in %d ms. The first object of each kind takes two seconds.\n",
			time.Since(started).Milliseconds())
		if config, err = clientcmd.BuildConfigFromFlags("", file); err != nil {
			return err
		}
		config.QPS, open = -1, openHere
	}
	api, err := newClient(config)
	if err != nil {
		return err
	}
	p, err := open(ctx, api)
	defer func() { err = errors.Join(err, p.close()) }()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The story runs in the namespace %s.\n\n", p.namespace)
	s := NewStory(out, api, file, config, p.namespace)
	if err := s.Tell(ctx); err != nil {
		return err
	}
	return s.Summary(out)
}

// place is the namespace of a story.
type place struct {
	api       client.WithWatch
	namespace string
	made      *corev1.Namespace // nil: the namespace existed
	installed []*definition     // by this program
}

// openHere prepares the small API server.
func openHere(ctx context.Context, api client.WithWatch) (*place, error) {
	p := &place{api: api, namespace: "default"}
	all, err := definitions()
	if err != nil {
		return p, err
	}
	if _, err := install(ctx, api, all...); err != nil {
		return p, err
	}
	return p, p.warm(ctx, all)
}

// open prepares a namespace of a cluster.
func (f flags) open(ctx context.Context, api client.WithWatch) (*place, error) {
	p := &place{api: api}
	all, err := definitions()
	if err != nil {
		return p, err
	}
	if f.install {
		if p.installed, err = install(ctx, api, all...); err != nil {
			return p, err
		}
	}
	if err := installed(api); err != nil {
		return p, err
	}
	p.made = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "windlass-operator-"}}
	if err := api.Create(ctx, p.made); err != nil {
		p.made = nil
		return p, err
	}
	p.namespace = p.made.Name
	return p, p.warm(ctx, all)
}

// installed returns an error with the fix if a cluster does not have the kinds.
func installed(api client.Client) error {
	for _, obj := range []client.Object{&v1.Cluster{}, &v1.Database{}} {
		gvk, err := api.GroupVersionKindFor(obj)
		if err != nil {
			return err
		}
		_, err = api.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
		switch {
		case meta.IsNoMatchError(err):
			return fmt.Errorf("the kind %s is not installed in the cluster: "+
				"use -install or kubectl apply -f examples/operator/config/crd%w", gvk.Kind, errUsage)
		case err != nil:
			return err
		}
	}
	return nil
}

// warm creates the first object of all kinds concurrently.
func (p *place) warm(ctx context.Context, all []*definition) error {
	ended := make(chan error)
	for _, d := range all {
		go func() { ended <- warm(ctx, p.api, p.namespace, d) }()
	}
	var err error
	for range all {
		err = errors.Join(err, <-ended)
	}
	return err
}

// close removes the objects of the story from a cluster, also after an
// interrupt. The operator has stopped, so close removes the finalizers. The
// simulated cloud needs no cleanup.
func (p *place) close() (err error) {
	if p == nil || p.made == nil && len(p.installed) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if p.made != nil {
		err = errors.Join(p.empty(ctx), client.IgnoreNotFound(p.api.Delete(ctx, p.made)))
	}
	if err = errors.Join(err, uninstall(ctx, p.api, p.installed)); err != nil {
		return fmt.Errorf("cleaning up: %w", err)
	}
	return nil
}

// empty deletes all objects of the story, also a guarded Secret.
func (p *place) empty(ctx context.Context) error {
	for _, list := range []client.ObjectList{&v1.DatabaseList{}, &v1.ClusterList{}, &corev1.SecretList{}} {
		if err := p.api.List(ctx, list, client.InNamespace(p.namespace)); err != nil {
			if meta.IsNoMatchError(err) {
				continue
			}
			return err
		}
		err := meta.EachListItem(list, func(o runtime.Object) error {
			obj := o.(client.Object)
			free := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
			return errors.Join(
				client.IgnoreNotFound(p.api.Delete(ctx, obj)),
				client.IgnoreNotFound(p.api.Patch(ctx, obj, free)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// newClient returns the client of the person.
func newClient(config *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensions.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

// serve installs the definitions if requested, and runs the operator.
func (f flags) serve(ctx context.Context, config *rest.Config, namespace string) error {
	api, err := newClient(config)
	if err != nil {
		return err
	}
	if f.install {
		all, err := definitions()
		if err != nil {
			return err
		}
		if _, err := install(ctx, api, all...); err != nil {
			return err
		}
	}
	if err := installed(api); err != nil {
		return err
	}
	return serve(ctx, config, namespace, f.metrics)
}
