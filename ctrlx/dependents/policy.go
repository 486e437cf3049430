package dependents

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// AdoptionPolicy says what happens to an object that exists and has another
// owner, or none.
type AdoptionPolicy string

// The adoption policies. The package documentation has their table.
const (
	AdoptionIfUnowned AdoptionPolicy = "IfUnowned" // the default
	AdoptionNever     AdoptionPolicy = "Never"
	AdoptionAlways    AdoptionPolicy = "Always"
)

// UpdatePolicy says how an object that exists is changed.
type UpdatePolicy string

// The update policies. The package documentation has their table.
const (
	UpdateSsaOverride UpdatePolicy = "SsaOverride" // the default
	UpdateSsaMerge    UpdatePolicy = "SsaMerge"
	UpdateReplace     UpdatePolicy = "Replace"
	UpdateRecreate    UpdatePolicy = "Recreate"
)

// DeletePolicy says whether an object is deleted, or kept as an orphan.
type DeletePolicy string

// The delete policies. The package documentation has their table.
const (
	DeleteDelete         DeletePolicy = "Delete" // the default
	DeleteOrphan         DeletePolicy = "Orphan"
	DeleteOrphanOnApply  DeletePolicy = "OrphanOnApply"
	DeleteOrphanOnDelete DeletePolicy = "OrphanOnDelete"
)

// The reconcile policies say which changes cause a write.
const (
	onObjectChange            = "OnObjectChange"            // the default: the manifest changes
	onObjectOrComponentChange = "OnObjectOrComponentChange" // the manifest or the owner changes
	onlyOnce                  = "Once"                      // the object does not exist
)

// defaultReapply is the default of [Policies.ReapplyInterval].
const defaultReapply = time.Hour

// Policies says how one object is applied and deleted. An empty field means the
// default.
type Policies struct {
	Adoption AdoptionPolicy
	Update   UpdatePolicy
	Delete   DeletePolicy
	// ReapplyInterval is the longest time between two writes of an object. It
	// covers changes that no watch shows. Zero and negative mean
	// an hour. Less than a second is invalid.
	ReapplyInterval time.Duration
}

// known are the annotations of an object that set its policies, after the name of the
// Dependents and a slash.
var known = []string{
	"adoption-policy", "update-policy", "delete-policy", "reconcile-policy", "reapply-interval", "status-hint", "ignored-fields",
}

// or returns p with the fields of others in place of empty ones.
func (p Policies) or(others Policies) Policies {
	return Policies{
		Adoption: cmp.Or(p.Adoption, others.Adoption), Update: cmp.Or(p.Update, others.Update),
		Delete:          cmp.Or(p.Delete, others.Delete),
		ReapplyInterval: cmp.Or(max(p.ReapplyInterval, 0), others.ReapplyInterval),
	}
}

// over returns p with the policies that the annotations of an object set. update is
// the default of the update policy. It returns a problem for each invalid value.
// Without annotations, the problems are those of p.
func (p Policies) over(name string, annotations map[string]string, update UpdatePolicy) (Policies, []string) {
	g := given{name, annotations, nil}
	choose(&g, &p.Adoption, "adoption-policy", AdoptionIfUnowned, AdoptionNever, AdoptionAlways)
	updates := []UpdatePolicy{UpdateSsaOverride, UpdateSsaMerge, UpdateReplace, UpdateRecreate}
	at := slices.Index(updates, update)
	updates[0], updates[at] = updates[at], updates[0]
	choose(&g, &p.Update, "update-policy", updates...)
	choose(&g, &p.Delete, "delete-policy", DeleteDelete, DeleteOrphan, DeleteOrphanOnApply, DeleteOrphanOnDelete)
	key, value := g.get("reapply-interval")
	if value != "" {
		d, err := time.ParseDuration(value)
		if p.ReapplyInterval = cmp.Or(max(d, 0), p.ReapplyInterval); err != nil {
			g.refuse("%s is %q: it must be a duration such as 30m", key, value)
		}
	}
	if p.ReapplyInterval = cmp.Or(max(p.ReapplyInterval, 0), defaultReapply); p.ReapplyInterval < time.Second {
		g.refuse("%s is %s: it must be at least 1s", key, p.ReapplyInterval)
	}
	return p, g.problems
}

// given are the annotations of an object, and the problems of those that were read.
type given struct {
	name        string            // of the Dependents
	annotations map[string]string // nil: the policies of an owner or of an option
	problems    []string
}

// get returns the key of an annotation for a problem, and its value.
func (g *given) get(key string) (string, string) {
	if g.annotations == nil {
		return "the " + key + " of the spec or of an option", ""
	}
	key = g.name + "/" + key
	return key, g.annotations[key]
}

func (g *given) refuse(format string, args ...any) {
	g.problems = append(g.problems, fmt.Sprintf(format, args...))
}

// choose sets policy to the value of an annotation, or to the first of all if both are
// empty.
func choose[P ~string](g *given, policy *P, key string, all ...P) {
	key, value := g.get(key)
	value = cmp.Or(value, string(*policy), "default")
	i := slices.IndexFunc(all, func(p P) bool { return value == string(p) || value == kebab(string(p)) })
	if value == "default" {
		i = 0
	}
	if i < 0 {
		g.refuse("%s is %q: it must be one of %q", key, value, all)
		return
	}
	*policy = all[i]
}

// kebab returns "if-unowned" for "IfUnowned".
func kebab(camel string) string { return strings.ToLower(innerCapital.ReplaceAllString(camel, "-$0")) }

var innerCapital = regexp.MustCompile(`\B[A-Z]`)
