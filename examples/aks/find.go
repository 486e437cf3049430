package main

import (
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim"
)

// find is the resource that a person calls "name" or "Kind/name".
func (m *Manifests) find(called string) (checks.Ref, error) {
	var all, found []checks.Ref
	for _, c := range m.Clusters {
		all = append(all, c.Ref())
	}
	for _, p := range m.Pools {
		all = append(all, p.Ref())
	}
	for _, ref := range all {
		if strings.EqualFold(called, ref.Name) || strings.EqualFold(called, ref.Kind+"/"+ref.Name) {
			found = append(found, ref)
		}
	}
	switch len(found) {
	case 0:
		return checks.Ref{}, fmt.Errorf("-explain: there is no %q: there are %s", called, sim.Names(all))
	case 1:
		return found[0], nil
	}
	return checks.Ref{}, fmt.Errorf("-explain: %q is the name of %s: say KIND/NAME", called, sim.Names(found))
}
