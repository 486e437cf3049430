package main

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

//go:embed config/crd/shop.example.com_shops.yaml
var shopDefinition []byte

// install creates or updates the definition of shops and waits until they are
// served. It reports whether it created the definition.
func install(ctx context.Context, api client.Client) (created bool, err error) {
	d := &apiextensions.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(shopDefinition, d); err != nil {
		return false, err
	}
	desired := d.DeepCopy()
	switch err = api.Create(ctx, d); {
	case err == nil:
		created = true
	case apierrors.IsAlreadyExists(err):
		if err = api.Get(ctx, client.ObjectKeyFromObject(d), d); err == nil {
			d.Spec, d.Labels = desired.Spec, labels.Merge(d.Labels, desired.Labels)
			err = api.Update(ctx, d)
		}
	}
	if err != nil {
		return created, fmt.Errorf("installing %s: %w", d.Name, err)
	}
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		if err := api.Get(ctx, client.ObjectKeyFromObject(d), d); err != nil {
			return false, err
		}
		for _, c := range d.Status.Conditions {
			if c.Type == apiextensions.Established && c.Status == apiextensions.ConditionTrue {
				// Discovery has the kind a moment later.
				_, err := api.RESTMapper().RESTMapping(schema.GroupKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind})
				if meta.IsNoMatchError(err) {
					return false, nil
				}
				return err == nil, err
			}
		}
		return false, nil
	})
	if err != nil {
		return created, fmt.Errorf("waiting until %s is served: %w", d.Name, err)
	}
	return created, nil
}
