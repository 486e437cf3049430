package checkstest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/snapshot"
)

// String shows a request, a part a line.
func (v variant[R]) String() string {
	p := mustPartsOf(v.req)
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "\n    %-12s%v", name+":", value) }
	b.WriteString("the request")
	if v.what != "" {
		b.WriteString(", " + v.what + ",")
	}
	b.WriteString(" is")
	if p.resource.IsValid() {
		line("Resource", snapshot.Of(p.resource.Interface()))
		line("Exists", *p.exists)
	}
	line("Owner", showObject(&p.owner.Owner))
	if p.owner.Resolver != nil {
		line("Resolver", "there is one")
	}
	for name, value := range map[string]any{"Kind": p.owner.Kind, "APIVersion": p.owner.APIVersion, "Deleting": p.owner.Deleting} {
		if !reflect.ValueOf(value).IsZero() {
			line(name, value)
		}
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
	text := fmt.Sprintf("%s, %T %s, %s", o.Ref, o.Value, snapshot.Of(o.Value), r.State)
	if r.Generation != r.Observed {
		text += fmt.Sprintf(" for generation %d of %d", r.Observed, r.Generation)
	}
	if o.Deleting {
		text += ", being deleted"
	}
	return text
}
