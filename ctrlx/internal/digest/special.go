package digest

import (
	"encoding/json"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The fields of these types do not show what a value means.
type (
	timeTime = time.Time
	quantity = resource.Quantity
	intOrStr = intstr.IntOrString
)

func instant(h uint64, t *time.Time) uint64 {
	return mix(mix(h, uint64(t.Unix())), uint64(t.Nanosecond()))
}

// intOrString adds the value that the type selects. The other value may be
// anything.
func intOrString(h uint64, x *intstr.IntOrString) uint64 {
	h = mix(h, uint64(x.Type))
	if x.Type == intstr.Int {
		return mix(h, uint64(x.IntVal))
	}
	return text(h, x.StrVal)
}

// Forms in which a quantity is written.
const (
	decimal       = iota // 3, 3k
	exponent             // 3e3
	binary               // 3Ki
	milli                // 1500m
	milliExponent        // 1500e-3
	otherwise
)

// amount adds a quantity in its canonical form: the value, and the kind of its
// suffix. Some methods of a quantity change it, because it caches its text. So
// amount calls them on a copy: other goroutines may read q.
func amount(h uint64, q *resource.Quantity) uint64 {
	c := *q
	n, whole := c.AsInt64()
	if !whole {
		m := c.MilliValue() // rounded, or nonsense if it is too large
		exact := c.Cmp(*resource.NewMilliQuantity(m, resource.DecimalSI)) == 0
		switch {
		case exact && m%1000 == 0:
			n, whole = m/1000, true
		case exact && inExponents(c.Format):
			return mix(mix(h, milliExponent), uint64(m))
		case exact:
			return mix(mix(h, milli), uint64(m))
		}
	}
	if !whole {
		written, suffix := c.CanonicalizeBytes(nil)
		s := string(written) + string(suffix)
		// A computed value may be held in another form than the same value that
		// was read.
		if again, err := resource.ParseQuantity(s); err == nil {
			n, whole = again.AsInt64()
		}
		if !whole {
			return text(mix(h, otherwise), s)
		}
	}
	switch {
	case n == 0:
		return mix(mix(h, decimal), 0)
	case c.Format == resource.BinarySI && n%1024 == 0:
		return mix(mix(h, binary), uint64(n))
	case inExponents(c.Format) && n%1000 == 0:
		return mix(mix(h, exponent), uint64(n))
	}
	return mix(mix(h, decimal), uint64(n))
}

func inExponents(f resource.Format) bool { return f != resource.DecimalSI && f != resource.BinarySI }

// marshaled adds the JSON that v makes.
func marshaled(h uint64, v reflect.Value) uint64 {
	if !v.CanAddr() { // its methods may have pointer receivers
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		v = p.Elem()
	}
	b, err := json.Marshal(v.Addr().Interface())
	if err != nil {
		return text(h, err.Error())
	}
	return data(h, b)
}
