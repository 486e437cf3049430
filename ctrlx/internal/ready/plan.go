package ready

import (
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/digest/jsonfield"
)

// plan locates the conditions in a type of objects.
type plan struct {
	status, observed jsonfield.Field // observed is in the status
	conditions       jsonfield.Field // in the status
	list             *list           // nil: the status has no conditions
	method           int             // index of GetConditions if the list is not in the status; -1: none
}

// list locates the fields of a condition in a list. Each condition is a struct,
// or a pointer to a struct.
type list struct {
	standard                               bool // []metav1.Condition, which needs no reflection
	typ, status, reason, message, observed jsonfield.Field
}

var plans sync.Map // of *plan, by reflect.Type

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p, _ := plans.LoadOrStore(t, newPlan(t))
	return p.(*plan)
}

func newPlan(t reflect.Type) *plan {
	p := &plan{method: -1}
	if p.status = jsonfield.Find(t, "status"); p.status.Type != nil {
		p.observed = jsonfield.Find(p.status.Type, "observedGeneration")
		p.conditions = jsonfield.Find(p.status.Type, "conditions")
		p.list = listOf(p.conditions.Type)
	}
	if p.list != nil {
		return p
	}
	if m, ok := t.MethodByName("GetConditions"); ok && m.Type.NumIn() == 1 && m.Type.NumOut() == 1 {
		p.list, p.method = listOf(m.Type.Out(0)), m.Index
	}
	return p
}

// listOf returns nil if t is not a list of conditions.
func listOf(t reflect.Type) *list {
	if t == nil || t.Kind() != reflect.Slice {
		return nil
	}
	c := t.Elem()
	l := &list{
		standard: t == reflect.TypeFor[[]metav1.Condition](),
		typ:      jsonfield.Find(c, "type"),
		status:   jsonfield.Find(c, "status"),
		reason:   jsonfield.Find(c, "reason"),
		message:  jsonfield.Find(c, "message"),
		observed: jsonfield.Find(c, "observedGeneration"),
	}
	if l.typ.Type == nil || l.status.Type == nil {
		return nil
	}
	return l
}

// read reads the conditions of obj. v is the reflection of obj.
func (p *plan) read(to *verdict, obj client.Object, v reflect.Value) {
	status := reflect.Indirect(p.status.In(v))
	if status.IsValid() {
		if n := number(p.observed.In(status)); n != 0 {
			to.observe(n)
			to.status = true
		}
	}
	switch {
	case p.list == nil:
	case p.method >= 0:
		if o, ok := obj.(interface{ GetConditions() []metav1.Condition }); ok {
			to.takeAll(o.GetConditions())
			return
		}
		p.list.read(to, v.Method(p.method).Call(nil)[0])
	case status.IsValid():
		if conditions := p.conditions.In(status); conditions.IsValid() {
			p.list.read(to, conditions)
		}
	}
}

func (l *list) read(to *verdict, v reflect.Value) {
	if l.standard && v.CanAddr() {
		to.takeAll(*v.Addr().Interface().(*[]metav1.Condition))
		return
	}
	for i := range v.Len() {
		x := reflect.Indirect(v.Index(i))
		if !x.IsValid() {
			continue
		}
		c := condition{typ: text(l.typ.In(x))}
		if !counts(c.typ) {
			continue
		}
		c.status, c.reason, c.message = text(l.status.In(x)), text(l.reason.In(x)), text(l.message.In(x))
		c.observed = number(l.observed.In(x))
		to.take(&c)
	}
}

func (v *verdict) takeAll(conditions []metav1.Condition) {
	for i := range conditions {
		if c := &conditions[i]; counts(c.Type) {
			v.take(&condition{c.Type, string(c.Status), c.Reason, c.Message, c.ObservedGeneration})
		}
	}
}

// text returns the string that v is or points to, or "".
func text(v reflect.Value) string {
	if v = reflect.Indirect(v); v.Kind() == reflect.String {
		return v.String()
	}
	return ""
}

// number returns the whole number that v is or points to, or 0.
func number(v reflect.Value) int64 {
	if v = reflect.Indirect(v); v.CanInt() {
		return v.Int()
	}
	return 0
}
