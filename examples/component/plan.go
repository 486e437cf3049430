package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/ctrlx/component"
	v1 "github.com/windlass-go/windlass/examples/component/api/v1"
)

// plan prints what the operator would do for the shop in a file. It writes
// nothing. A plan with problems is an error, so that a script can stop there.
func plan(ctx context.Context, api client.Client, file string, asJSON bool, out io.Writer) error {
	shop, err := read(file)
	if err != nil {
		return fmt.Errorf("-plan: %w", err)
	}
	p, err := planOf(ctx, api, shop)
	if err != nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(p)
	} else {
		_, err = fmt.Fprint(out, p)
	}
	if err == nil && len(p.Problems) > 0 {
		err = fmt.Errorf("the plan has problems: %d", len(p.Problems))
	}
	return err
}

// planOf returns what the operator would do for a shop.
func planOf(ctx context.Context, api client.Client, shop *v1.Shop) (*component.Plan, error) {
	if err := tried(ctx, api, shop); err != nil {
		return nil, err
	}
	return NewShops().Plan(ctx, direct{api}, shop)
}

// direct is a cluster without a cache.
type direct struct{ client.Client }

func (d direct) GetClient() client.Client    { return d.Client }
func (d direct) GetAPIReader() client.Reader { return d.Client }

func read(file string) (*v1.Shop, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	shop := &v1.Shop{}
	if err := yaml.UnmarshalStrict(data, shop); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if shop.Kind != "Shop" || shop.Name == "" {
		return nil, fmt.Errorf("%s: it has no Shop with a name", file)
	}
	shop.Namespace = cmp.Or(shop.Namespace, "default")
	return shop, nil
}

// tried writes a shop by dry-run, so that the API server checks it and adds the
// defaults. A shop that exists keeps its status.
func tried(ctx context.Context, api client.Client, shop *v1.Shop) error {
	now := &v1.Shop{}
	err := api.Get(ctx, client.ObjectKeyFromObject(shop), now)
	switch {
	case apierrors.IsNotFound(err):
		return api.Create(ctx, shop, client.DryRunAll)
	case err != nil:
		return err
	}
	if now.DeletionTimestamp == nil { // otherwise it is the plan of its deletion
		now.Spec, now.Annotations, now.Labels = shop.Spec, shop.Annotations, shop.Labels
		if err := api.Update(ctx, now, client.DryRunAll); err != nil {
			return err
		}
	}
	*shop = *now
	return nil
}
