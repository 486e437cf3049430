package dependents

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
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
	// [defaultReapply]. Less than a second is invalid.
	ReapplyInterval time.Duration
}

// annotations are those of an object that set its policies, after the name of the
// Dependents and a slash.
var annotations = []string{
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
func (p Policies) over(
	name string, annotations map[string]string, update UpdatePolicy,
) (_ Policies, problems []string) {
	note := func(problem string) {
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	get := func(key string) (string, string) {
		if annotations == nil {
			return "the " + key + " of the spec or of an option", ""
		}
		key = name + "/" + key
		return key, annotations[key]
	}
	key, value := get("adoption-policy")
	note(choose(&p.Adoption, key, value, AdoptionIfUnowned, AdoptionNever, AdoptionAlways))
	key, value = get("update-policy")
	updates := []UpdatePolicy{UpdateSsaOverride, UpdateSsaMerge, UpdateReplace, UpdateRecreate}
	at := slices.Index(updates, update)
	updates[0], updates[at] = updates[at], updates[0]
	note(choose(&p.Update, key, value, updates...))
	key, value = get("delete-policy")
	note(choose(&p.Delete, key, value, DeleteDelete, DeleteOrphan, DeleteOrphanOnApply, DeleteOrphanOnDelete))
	if key, value = get("reapply-interval"); value != "" {
		d, err := time.ParseDuration(value)
		if err != nil {
			note(fmt.Sprintf("%s is %q: it must be a duration such as 30m", key, value))
		} else if d > 0 {
			p.ReapplyInterval = d
		}
	}
	if p.ReapplyInterval > 0 && p.ReapplyInterval < time.Second {
		note(fmt.Sprintf("%s is %s: it must be at least 1s", key, p.ReapplyInterval))
	}
	if p.ReapplyInterval <= 0 {
		p.ReapplyInterval = defaultReapply
	}
	return p, problems
}

// choose sets policy to a value of key, or to the first of all if both are
// empty. It returns the problem of an invalid value.
func choose[P ~string](policy *P, key, value string, all ...P) (problem string) {
	given := cmp.Or(P(value), *policy)
	if given == "" || given == "default" {
		*policy = all[0]
		return ""
	}
	i := slices.IndexFunc(all, func(p P) bool { return given == p || string(given) == kebab(string(p)) })
	if i < 0 {
		return fmt.Sprintf("%s is %q: it must be one of %q", key, given, all)
	}
	*policy = all[i]
	return ""
}

// kebab returns "if-unowned" for "IfUnowned".
func kebab(camel string) string {
	var b strings.Builder
	for i, r := range camel {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
