package snapshot_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

// all has a field of each kind, and methods that a snapshot must not call.
type all struct {
	Bool    bool
	Int     int
	Uint    uint8
	Float   float64
	Complex complex64
	Text    string
	Bytes   []byte
	Hash    [2]byte
	Numbers []int32
	Words   []string
	Tags    map[string]string
	Any     any
	Next    *all
	Nested  inner
	Time    time.Time
	Chan    chan int
	Func    func() int
	Ctx     context.Context
	Unsafe  unsafe.Pointer
	hidden  int
	secret  *inner
	mapped  map[inner][]any
	mu      sync.Mutex
	count   atomic.Int64
}

type inner struct {
	A int
	b string
}

func (*all) Equal(*all) bool   { panic("Equal was called") }
func (*all) String() string    { panic("String was called") }
func (*all) Error() string     { panic("Error was called") }
func (inner) Equal(inner) bool { panic("Equal was called") }
func (inner) String() string   { panic("String was called") }

// constant returns a closure whose code is the same for each n.
//
//go:noinline
func constant(n int) func() int { return func() int { return n } }

// full returns a value with all fields set.
func full() *all {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return &all{
		Bool: true, Int: 1, Uint: 2, Float: 1.5, Complex: 1i, Text: "text", Bytes: []byte("bytes"), Hash: [2]byte{1, 2},
		Numbers: []int32{1, 2}, Words: []string{"a", "b"}, Tags: map[string]string{"a": "b", "c": "d"}, Any: inner{A: 1},
		Next: &all{Int: 2}, Nested: inner{A: 1, b: "x"}, Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		Chan: make(chan int), Func: constant(1), Ctx: ctx, hidden: 3, secret: &inner{A: 4},
		mapped: map[inner][]any{{A: 1}: {1, "one", nil}},
	}
}

// Diff has a line for each change of a field.
func TestDiff(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*all)
		want   string
	}{
		"Bool":    {"a bool", func(a *all) { a.Bool = false }, "Bool: was true, is false"},
		"Int":     {"a number", func(a *all) { a.Int = -3 }, "Int: was 1, is -3"},
		"Uint":    {"an unsigned number", func(a *all) { a.Uint++ }, "Uint: was 2, is 3"},
		"Float":   {"a fraction", func(a *all) { a.Float = math.NaN() }, "Float: was 1.5, is NaN"},
		"Complex": {"the real part", func(a *all) { a.Complex = 1 + 1i }, "Complex: was (0+1i), is (1+1i)"},
		"Text":    {"a string", func(a *all) { a.Text = "" }, `Text: was "text", is ""`},
		"Bytes":   {"a byte of a slice", func(a *all) { a.Bytes[0] = 'B' }, `Bytes: was "bytes", is "Bytes"`},
		"Hash":    {"a byte of an array", func(a *all) { a.Hash[1] = 3 }, `Hash: was "\x01\x02", is "\x01\x03"`},
		"Numbers": {"one of several numbers", func(a *all) { a.Numbers[1] = 5 }, "Numbers[1]: was 2, is 5"},
		"Words":   {"an appended string", func(a *all) { a.Words = append(a.Words, "c") }, `Words[2]: is new: "c"`},
		"Value":   {"a value of a map", func(a *all) { a.Tags["a"] = "x" }, `Tags["a"]: was "b", is "x"`},
		"Deleted": {"a deleted key", func(a *all) { delete(a.Tags, "a") }, `Tags["a"]: was "b", is gone`},
		"Swapped": {"another key", func(a *all) { delete(a.Tags, "a"); a.Tags["b"] = "b" },
			"Tags[\"a\"]: was \"b\", is gone\nTags[\"b\"]: is new: \"b\""},
		"Any":       {"a value in an interface", func(a *all) { a.Any = inner{A: 2} }, "Any.A: was 1, is 2"},
		"AnyType":   {"another type in an interface", func(a *all) { a.Any = 1 }, `Any: was snapshot_test.inner({A:1 b:""}), is int(1)`},
		"Pointed":   {"a value that a pointer refers to", func(a *all) { a.Next.Int = 3 }, "Next.Int: was 2, is 3"},
		"SameAgain": {"a pointer to an equal copy has the same content", func(a *all) { a.Next = &all{Int: 2} }, ""},
		"Secret":    {"a value that an unexported pointer refers to", func(a *all) { a.secret.b = "b" }, `secret.b: was "", is "b"`},
		"Time": {"a time", func(a *all) { a.Time = a.Time.Add(time.Hour) },
			"Time: was 2026-01-02T03:04:05.000000006Z, is 2026-01-02T04:04:05.000000006Z"},
		"Zone":     {"the same time in another zone", func(a *all) { a.Time = a.Time.In(time.FixedZone("", 60)) }, "Time: was 2026-01-02T03:04:05.000000006Z, is another one"},
		"Chan":     {"another channel", func(a *all) { a.Chan = make(chan int) }, "Chan: was (chan int), is another one"},
		"Func":     {"a closure of the same code", func(a *all) { a.Func = constant(2) }, "Func: was (func() int), is another one"},
		"Ctx":      {"another context", func(a *all) { a.Ctx = context.TODO() }, "Ctx: was (context.Context), is another one"},
		"CtxChild": {"a context with a new derived context has no difference", func(a *all) { _, stop := context.WithCancel(a.Ctx); _ = stop }, ""},
		"Hidden":   {"an unexported field", func(a *all) { a.hidden = 4 }, "hidden: was 3, is 4"},
		"Mapped":   {"an element of a slice in an unexported map", func(a *all) { a.mapped[inner{A: 1}][1] = "two" }, `mapped[{A:1 b:""}][1]: was "one", is "two"`},
		"Lock":     {"the use of a lock is no difference", func(a *all) { a.mu.Lock(); a.count.Add(1) }, ""},
		"Unsafe":   {"an unsafe pointer", func(a *all) { a.Unsafe = unsafe.Pointer(a) }, "Unsafe: was nil, is (unsafe.Pointer)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := full()
			s := snapshot.Of(v)
			tc.change(v)
			if got := s.Diff(v); got != tc.want {
				t.Errorf("%s: got:\n%s\nwant:\n%s", tc.reason, got, tc.want)
			}
		})
	}
}

// Diff compares values of other types.
func TestDiffOf(t *testing.T) {
	type self []self
	loop := self{nil}
	loop[0] = loop
	knot := &all{}
	knot.Next = knot
	nan := math.NaN()
	cases := map[string]struct {
		reason      string
		before, now any
		want        string
	}{
		"Nil":         {"nil equals nil", nil, nil, ""},
		"ToNil":       {"nil in place of a value", 1, nil, "was 1, is nil"},
		"TypedNil":    {"a nil pointer differs from nil", (*all)(nil), nil, "was nil, is another one"},
		"NaN":         {"NaN equals NaN", nan, nan, ""},
		"NaNValue":    {"the value of a NaN key", map[float64]int{nan: 1}, map[float64]int{nan: 2}, "[NaN]: was 1, is 2"},
		"Loop":        {"a slice that contains itself", loop, loop, ""},
		"Knot":        {"a struct that points to itself", knot, knot, ""},
		"CycleBroken": {"a cycle that ends", knot, &all{Next: &all{Int: 1, Next: knot}}, "Next.Int: was 0, is 1"},
		"Empty":       {"an empty slice differs from nil", []int{}, []int(nil), "was [], is nil"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := snapshot.Of(tc.before).Diff(tc.now); got != tc.want {
				t.Errorf("%s: got:\n%s\nwant:\n%s", tc.reason, got, tc.want)
			}
		})
	}
}

// String prints the content, and Public the content without unexported fields.
func TestString(t *testing.T) {
	type hidden struct{ secret string }
	now := time.Now() // with a monotonic clock reading
	cases := map[string]struct {
		reason       string
		v            any
		want, public string // public is empty if it is the same
	}{
		"Nil":     {"nil", nil, "nil", ""},
		"Pointer": {"pointers are followed", &struct{ A *inner }{&inner{1, "x"}}, `&{A:&{A:1 b:"x"}}`, "&{A:&{A:1}}"},
		"Map":     {"keys are sorted", map[string][]int{"b": {1, 2}, "a": nil}, `map["a":nil "b":[1 2]]`, ""},
		"Lock":    {"an omitted value prints as its type", &struct{ Mu sync.Mutex }{}, "&{Mu:(sync.Mutex)}", ""},
		"Shared":  {"a value that occurs twice is printed twice", [2]*int{new(int), nil}, "[&0 nil]", ""},
		"Long":    {"a long text is cut", strings.Repeat("x", 5000), `"` + strings.Repeat("x", 1999) + "...", ""},
		"Cycle":   {"a value inside itself prints as a cycle", func() any { l := []any{nil}; l[0] = l; return l }(), "[(cycle)]", ""},
		"Time":    {"a time prints as a time", now, now.UTC().Format(time.RFC3339Nano), ""},
		"Only":    {"a struct without exported fields prints as its type", struct{ H hidden }{hidden{"s"}}, `{H:{secret:"s"}}`, `{H:(snapshot_test.hidden)}`},
		"Empty":   {"a struct without fields is empty", struct{}{}, "{}", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := snapshot.Of(tc.v)
			if got := s.String(); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
			if got, want := s.Public(), cmp.Or(tc.public, tc.want); got != want {
				t.Errorf("%s: in public: got %s, want %s", tc.reason, got, want)
			}
		})
	}
}

// Diff lists the first differences, and the number of the others.
func TestDiffIsShort(t *testing.T) {
	before, now := make([]string, 1000), make([]string, 1000)
	for i := range now {
		now[i] = "x"
	}
	lines := strings.Split(snapshot.Of(before).Diff(now), "\n")
	if got, want := lines[len(lines)-1], "and 980 more"; got != want || len(lines) != 21 {
		t.Errorf("got %d lines, the last %q, want 21 and %q", len(lines), got, want)
	}
}

// A snapshot does not change with its value. Diff is empty exactly for deeply
// equal values.
func TestSnapshotProperty(t *testing.T) {
	type value struct {
		N     int
		S     string
		P     *inner
		L     []map[string][]*inner
		M     map[int8]any
		Bytes []byte
		In    [2]inner
	}
	gen := rapid.MakeCustom[*value](rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[any](): rapid.Custom(func(t *rapid.T) any { return rapid.Int().Draw(t, "any") }),
	}})
	rapid.Check(t, func(t *rapid.T) {
		v, other := gen.Draw(t, "v"), gen.Draw(t, "other")
		same := snapshot.Of(v)
		if diff := same.Diff(v); diff != "" {
			t.Fatalf("an unchanged value has differences:\n%s", diff)
		}
		if got, want := same.Diff(other) == "", reflect.DeepEqual(v, other); got != want {
			t.Fatalf("no difference: %t, want %t:\n%s", got, want, same.Diff(other))
		}
		if v == nil || other == nil {
			return
		}
		was := fmt.Sprint(same)
		deepEqual := reflect.DeepEqual(*v, *other)
		*v = *other
		if got := same.Diff(v) == ""; got != deepEqual {
			t.Fatalf("a change in place: no difference: %t, want %t", got, deepEqual)
		}
		if now := fmt.Sprint(same); now != was {
			t.Fatalf("the snapshot changed with the value: was %s, is %s", was, now)
		}
	})
}

// A deep value does not exhaust the stack.
func TestDeep(t *testing.T) {
	type list struct {
		Next *list
		N    int
	}
	var deep *list
	for i := range 300_000 {
		deep = &list{deep, i}
	}
	s := snapshot.Of(deep)
	deep.Next.Next.N = -1
	if got, want := s.Diff(deep), "Next.Next.N: was 299997, is -1"; got != want {
		t.Errorf("a long list: got %s, want %s", got, want)
	}
}
