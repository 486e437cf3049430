package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

//go:embed config/crd/*.yaml
var crds embed.FS

type definition = apiextensions.CustomResourceDefinition

// definitions returns the generated definitions of the kinds.
func definitions() ([]*definition, error) {
	files, err := crds.ReadDir("config/crd")
	if err != nil {
		return nil, err
	}
	var all []*definition
	for _, file := range files {
		data, err := crds.ReadFile("config/crd/" + file.Name())
		if err != nil {
			return nil, err
		}
		d := &definition{}
		if err := yaml.UnmarshalStrict(data, d); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		all = append(all, d)
	}
	return all, nil
}

// install creates or updates definitions and waits until their kinds are
// served. It returns the definitions that it created.
func install(ctx context.Context, api client.Client, all ...*definition) (created []*definition, err error) {
	for _, d := range all {
		desired := d.DeepCopy()
		err := api.Create(ctx, desired)
		if apierrors.IsAlreadyExists(err) {
			there := &definition{}
			if err = api.Get(ctx, client.ObjectKeyFromObject(d), there); err == nil {
				there.Spec = d.Spec
				err = api.Update(ctx, there)
			}
		} else if err == nil {
			created = append(created, desired)
		}
		if err != nil {
			return created, fmt.Errorf("installing %s: %w", d.Name, err)
		}
	}
	for _, d := range all {
		if err := served(ctx, api, d); err != nil {
			return created, err
		}
	}
	return created, nil
}

// served waits until objects of a kind can be created.
func served(ctx context.Context, api client.Client, d *definition) error {
	now := &definition{}
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := api.Get(ctx, client.ObjectKeyFromObject(d), now); err != nil {
			return false, err
		}
		for _, c := range now.Status.Conditions {
			if c.Type == apiextensions.Established && c.Status == apiextensions.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until %s is served: %w", d.Name, err)
	}
	return nil
}

// warm creates an object of a kind as a dry run. The first creation takes the
// server two seconds while a definition is new.
func warm(ctx context.Context, api client.Client, namespace string, d *definition) error {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	obj.SetAPIVersion(d.Spec.Group + "/" + d.Spec.Versions[0].Name)
	obj.SetKind(d.Spec.Names.Kind)
	obj.SetNamespace(namespace)
	obj.SetName("warm-up")
	err := api.Create(ctx, obj, client.DryRunAll)
	if apierrors.IsInvalid(err) { // the server has validated it
		return nil
	}
	return err
}

// uninstall removes definitions whose kinds have no objects.
func uninstall(ctx context.Context, api client.Client, all []*definition) (err error) {
	for _, d := range all {
		objects := &unstructured.UnstructuredList{}
		objects.SetAPIVersion(d.Spec.Group + "/" + d.Spec.Versions[0].Name)
		objects.SetKind(d.Spec.Names.ListKind)
		if listed := api.List(ctx, objects, client.Limit(1)); listed != nil || len(objects.Items) > 0 {
			err = errors.Join(err, listed)
			continue
		}
		err = errors.Join(err, client.IgnoreNotFound(api.Delete(ctx, d)))
	}
	return err
}
