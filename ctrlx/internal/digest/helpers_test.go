package digest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
)

// Thing is a custom resource with every kind of field that a status may have.
type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ThingSpec   `json:"spec"`
	Status            ThingStatus `json:"status,omitempty"`
}

type ThingSpec struct {
	Size int `json:"size"`
}

type ThingStatus struct {
	inner      `json:",inline"`
	Conditions []metav1.Condition    `json:"conditions,omitempty"`
	State      *string               `json:"state,omitempty"`
	Names      []string              `json:"names,omitempty"`
	Tags       map[string]string     `json:"tags,omitempty"`
	Zones      map[string]Zone       `json:"zones,omitempty"`
	Groups     map[string][]Zone     `json:"groups,omitempty"`
	Seen       *metav1.Time          `json:"seen,omitempty"`
	Micro      metav1.MicroTime      `json:"micro,omitempty"`
	Port       intstr.IntOrString    `json:"port"`
	Memory     resource.Quantity     `json:"memory"`
	Capacity   corev1.ResourceList   `json:"capacity,omitempty"`
	Raw        runtime.RawExtension  `json:"raw,omitempty"`
	JSON       *apiextensionsv1.JSON `json:"json,omitempty"`
	Self       *ThingStatus          `json:"self,omitempty"`
	Ratio      float64               `json:"ratio"`
	Data       []byte                `json:"data,omitempty"`
	Pair       [2]uint8              `json:"pair"`
	Free       any                   `json:"free,omitempty"`
	Small      map[int32]bool        `json:"small,omitempty"`
	Sealed     *Sealed               `json:"sealed,omitempty"`
	Unread     func()                `json:"-"`
	cache      string
}

type inner struct {
	Embedded uint32 `json:"embedded,omitempty"`
}

type Zone struct {
	Name  string       `json:"name"`
	Up    bool         `json:"up"`
	Since *metav1.Time `json:"since,omitempty"`
}

// Sealed marshals itself: its fields cannot be read.
type Sealed struct{ text string }

func (s *Sealed) MarshalText() ([]byte, error) { return []byte(s.text), nil }

func (s *Sealed) UnmarshalText(b []byte) error { s.text = string(b); return nil }

func (t *Thing) DeepCopyObject() runtime.Object {
	c := *t
	c.Labels, c.Finalizers = maps.Clone(t.Labels), slices.Clone(t.Finalizers)
	return &c
}

// Bare has no status, like a ConfigMap or a Role.
type Bare struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Rules             []string `json:"rules,omitempty"`
}

func (b *Bare) DeepCopyObject() runtime.Object { c := *b; return &c }

// Late has a status that does not exist at first.
type Late struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            *ThingStatus `json:"status,omitempty"`
}

func (l *Late) DeepCopyObject() runtime.Object { c := *l; return &c }

// Loud counts how often its status is marshalled, or refuses it.
type Loud struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            LoudStatus `json:"status"`
}

type LoudStatus struct {
	Conditions []metav1.Condition `json:"conditions"`
	Others     []metav1.Condition `json:"others"`
	number     complex128
	cache      string
	flag       bool
	Name       string   `json:"name"`
	Names      []string `json:"names"`
	Voice      voice    `json:"voice"`
}

type voice struct {
	calls *int
	err   error
}

func (v voice) MarshalJSON() ([]byte, error) {
	if v.calls != nil {
		*v.calls++
	}
	return []byte("1"), v.err
}

func (l *Loud) DeepCopyObject() runtime.Object { c := *l; return &c }

// Quiet has the status by pointer, Inlined in an embedded struct.
type Quiet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            *LoudStatus `json:"status"`
}

func (q *Quiet) DeepCopyObject() runtime.Object { c := *q; return &c }

type Inlined struct{ Loud }

// JSON keeps all generated values.

func drawTime(t *rapid.T) metav1.Time {
	return metav1.Unix(rapid.Int64Range(1, 1<<33).Draw(t, "seconds"), 0)
}

func drawZone(t *rapid.T) Zone {
	z := Zone{Name: word(t), Up: rapid.Bool().Draw(t, "up")}
	if rapid.Bool().Draw(t, "has since") {
		since := drawTime(t)
		z.Since = &since
	}
	return z
}

func word(t *rapid.T) string { return rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "word") }

func many[V any](t *rapid.T, of func(*rapid.T) V) []V {
	return rapid.SliceOfN(rapid.Custom(of), 0, 3).Draw(t, "list")
}

func named[V any](t *rapid.T, of func(*rapid.T) V) map[string]V {
	return rapid.MapOfN(rapid.StringMatching(`[a-z]{1,2}`), rapid.Custom(of), 0, 3).Draw(t, "map")
}

func drawQuantity(t *rapid.T) resource.Quantity {
	return resource.MustParse(rapid.SampledFrom([]string{
		"0", "1", "1k", "1Ki", "1000m", "1500m", "1024", "1024Mi", "1Gi", "1e3", "12e6", "0.1", "3920m", "7n", "1.5Gi",
		"9999999999999999999", "123456789012345678901234567890",
	}).Draw(t, "quantity"))
}

func drawAny(t *rapid.T, depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return word(t)
	case 2:
		return rapid.Bool().Draw(t, "bool")
	case 3:
		return rapid.Int64Range(-3, 3).Draw(t, "int")
	case 4:
		return rapid.SampledFrom([]float64{0.5, -1.25, 1e300}).Draw(t, "float")
	case 5:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, drawAny(t, depth-1))
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		m[word(t)] = drawAny(t, depth-1)
	}
	return m
}

func drawStatus(t *rapid.T, depth int) ThingStatus {
	s := ThingStatus{
		Conditions: many(t, func(t *rapid.T) metav1.Condition {
			return metav1.Condition{
				Type: word(t), Status: metav1.ConditionTrue, Reason: word(t), Message: word(t),
				ObservedGeneration: rapid.Int64Range(0, 3).Draw(t, "observed"), LastTransitionTime: drawTime(t),
			}
		}),
		Names:    many(t, word),
		Tags:     named(t, word),
		Zones:    named(t, drawZone),
		Groups:   named(t, func(t *rapid.T) []Zone { return many(t, drawZone) }),
		Micro:    metav1.NewMicroTime(drawTime(t).Add(rapid.SampledFrom([]time.Duration{0, 1000}).Draw(t, "micro"))),
		Port:     rapid.SampledFrom([]intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(80), intstr.FromString("80"), intstr.FromString("")}).Draw(t, "port"),
		Memory:   drawQuantity(t),
		Raw:      runtime.RawExtension{Raw: rapid.SampledFrom([][]byte{nil, []byte(`{}`), []byte(`{"a":1}`)}).Draw(t, "raw")},
		Ratio:    rapid.SampledFrom([]float64{0, 0.5, 2}).Draw(t, "ratio"),
		Data:     []byte(word(t)),
		Pair:     [2]uint8{rapid.Byte().Draw(t, "first"), rapid.Byte().Draw(t, "second")},
		Free:     drawAny(t, 2),
		Small:    rapid.MapOfN(rapid.Int32Range(0, 5), rapid.Bool(), 0, 3).Draw(t, "small"),
		inner:    inner{rapid.Uint32Range(0, 2).Draw(t, "embedded")},
		Capacity: corev1.ResourceList{},
	}
	for range rapid.IntRange(0, 2).Draw(t, "resources") {
		s.Capacity[corev1.ResourceName(word(t))] = drawQuantity(t)
	}
	if rapid.Bool().Draw(t, "has state") {
		state := word(t)
		s.State = &state
	}
	if rapid.Bool().Draw(t, "has sealed") {
		s.Sealed = &Sealed{word(t)}
	}
	if rapid.Bool().Draw(t, "has seen") {
		seen := drawTime(t)
		s.Seen = &seen
	}
	if rapid.Bool().Draw(t, "has JSON") {
		s.JSON = &apiextensionsv1.JSON{Raw: []byte(rapid.SampledFrom([]string{`{}`, `[1]`, `"x"`}).Draw(t, "JSON"))}
	}
	if depth > 0 && rapid.Bool().Draw(t, "has self") {
		self := drawStatus(t, depth-1)
		s.Self = &self
	}
	return s
}

func drawThing(t *rapid.T) *Thing {
	return &Thing{
		ObjectMeta: metav1.ObjectMeta{
			Name: "thing", UID: "1", ResourceVersion: word(t), Generation: rapid.Int64Range(1, 3).Draw(t, "generation"),
			Labels: named(t, word), Annotations: named(t, word), Finalizers: many(t, word),
		},
		Status: drawStatus(t, 1),
	}
}

// written returns the JSON of x.
func written(t *rapid.T, x any) string {
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// again returns a thing that was written and read.
func again(t *rapid.T, from *Thing) *Thing {
	to := new(Thing)
	if err := utiljson.Unmarshal([]byte(written(t, from)), to); err != nil {
		t.Fatal(err)
	}
	return to
}

// change changes a value inside v, most of the time.
func change(t *rapid.T, v reflect.Value) {
	var x any
	if !v.CanInterface() { // an embedded struct of a type that is not exported
		change(t, v.Field(0))
		return
	}
	switch v.Interface().(type) {
	case metav1.Time:
		x = drawTime(t)
	case metav1.MicroTime:
		x = metav1.NewMicroTime(v.Interface().(metav1.MicroTime).Add(1000))
	case resource.Quantity:
		x = drawQuantity(t)
	case intstr.IntOrString:
		x = intstr.FromInt32(rapid.Int32Range(0, 90).Draw(t, "port"))
	case runtime.RawExtension:
		x = runtime.RawExtension{Raw: []byte(`{"b":2}`)}
	case apiextensionsv1.JSON:
		x = apiextensionsv1.JSON{Raw: []byte(`{"c":3}`)}
	case Sealed:
		x = Sealed{word(t)}
	case []byte:
		x = []byte(word(t))
	}
	if x != nil {
		v.Set(reflect.ValueOf(x))
		return
	}
	which := rapid.IntRange(0, 3).Draw(t, "which change")
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(v.Uint() ^ 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Interface:
		if x := drawAny(t, 2); x != nil {
			v.Set(reflect.ValueOf(x))
		} else {
			v.SetZero()
		}
	case reflect.Pointer:
		switch {
		case v.IsNil():
			v.Set(reflect.New(v.Type().Elem()))
		case which == 0:
			v.SetZero()
		default:
			change(t, v.Elem())
		}
	case reflect.Array:
		change(t, v.Index(which%v.Len()))
	case reflect.Slice:
		switch n := v.Len(); {
		case n == 0 || which == 0:
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		case which == 1:
			v.SetLen(n - 1)
		case which == 2:
			first := reflect.New(v.Type().Elem()).Elem()
			first.Set(v.Index(0))
			v.Index(0).Set(v.Index(n - 1))
			v.Index(n - 1).Set(first)
		default:
			change(t, v.Index(rapid.IntRange(0, n-1).Draw(t, "element")))
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		key := reflect.New(v.Type().Key()).Elem()
		if keys := v.MapKeys(); len(keys) > 0 {
			slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			key.Set(rapid.SampledFrom(keys).Draw(t, "key"))
		}
		value := reflect.New(v.Type().Elem()).Elem()
		if old := v.MapIndex(key); old.IsValid() {
			value.Set(old)
		}
		switch which {
		case 0:
			v.SetMapIndex(key, reflect.Value{})
		case 1:
			change(t, key)
			v.SetMapIndex(key, value)
		default:
			change(t, value)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		f := v.Field(rapid.IntRange(0, v.NumField()-1).Draw(t, "field"))
		if f.CanSet() && f.Kind() != reflect.Func || f.Kind() == reflect.Struct {
			change(t, f)
		}
	}
}
