package checkstest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

// view holds the parts of a request that checks see and must not change.
type view struct {
	Resource         any
	Presence         any // nil for an owner check
	Owner            checks.Object
	Resolver         bool
	Lister           bool
	Kind, APIVersion string
	Deleting         bool
	Applied          bool
	Vocabulary       *checks.Vocabulary
	Errors           string // the names of the services; empty for the zero Errors
	of               bool   // a request of a check of a resource
}

func viewOf(req any) view {
	p := mustPartsOf(req)
	v := view{Owner: p.owner.Owner, Resolver: p.owner.Resolver != nil, Lister: p.owner.Lister != nil,
		Kind: p.owner.Kind, APIVersion: p.owner.APIVersion, Deleting: p.owner.Deleting, Applied: p.owner.Applied,
		Vocabulary: p.owner.Vocabulary}
	if !reflect.ValueOf(p.owner.Errors).IsZero() {
		v.Errors = p.owner.Errors.String()
	}
	if p.resource.IsValid() {
		v.Resource, v.Presence, v.of = p.resource.Interface(), *p.presence, true
	}
	return v
}

// lines returns the name and the value of each part that is set.
func (v view) lines() (lines [][2]string) {
	line := func(name string, value any) { lines = append(lines, [2]string{name, fmt.Sprint(value)}) }
	if v.of {
		line("Resource", snapshot.Of(v.Resource).Public())
		line("Presence", v.Presence)
	}
	line("Owner", showObject(&v.Owner))
	if v.Resolver {
		line("Resolver", "set")
	}
	if v.Lister {
		line("Lister", "set")
	}
	if v.Kind != "" {
		line("Kind", v.Kind)
	}
	if v.APIVersion != "" {
		line("APIVersion", v.APIVersion)
	}
	if v.Deleting {
		line("Deleting", v.Deleting)
	}
	if v.Applied {
		line("Applied", v.Applied)
	}
	if v.Vocabulary != nil {
		line("Vocabulary", snapshot.Of(v.Vocabulary).Public())
	}
	if v.Errors != "" {
		line("Errors", v.Errors)
	}
	return lines
}

// String returns a request in one line.
func (v view) String() string {
	var parts []string
	for _, l := range v.lines() {
		parts = append(parts, l[0]+": "+l[1])
	}
	return strings.Join(parts, ", ")
}

// String returns a request with one line for each part.
func (v variant[R]) String() string {
	var b strings.Builder
	b.WriteString("the request")
	if v.what != "" {
		b.WriteString(", " + v.what + ",")
	}
	b.WriteString(" is")
	for _, l := range viewOf(v.req).lines() {
		fmt.Fprintf(&b, "\n    %-12s%s", l[0]+":", l[1])
	}
	return b.String()
}

func showObject(o *checks.Object) string {
	r := o.Readiness
	switch {
	case reflect.ValueOf(*o).IsZero():
		return "none"
	case o.Value == nil:
		return fmt.Sprintf("%s, without a value", o.Ref)
	}
	text := fmt.Sprintf("%s, %T %s, %s", o.Ref, o.Value, snapshot.Of(o.Value).Public(), r.State)
	if r.Generation != r.Observed {
		text += fmt.Sprintf(" for generation %d of %d", r.Observed, r.Generation)
	}
	if o.Deleting {
		text += ", being deleted"
	}
	return text
}
