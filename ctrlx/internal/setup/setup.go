// Package setup checks the arguments of constructors and options.
package setup

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// IsNil reports whether v is nil or holds a nil pointer, function, map or slice.
func IsNil(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice:
		return r.IsNil()
	}
	return false
}

// IsSame reports whether a and b are one client, or one of another kind of
// object. A value that cannot be compared is another one.
func IsSame(a, b any) bool {
	return reflect.ValueOf(a).Comparable() && a == b
}

// MustName panics unless name can be the prefix of labels and annotations. The text
// begins with the constructor.
func MustName(constructor, name string) {
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 || len(name) > 128 {
		panic(fmt.Sprintf("%s: the name %q is not a DNS name of at most 128 bytes: %s",
			constructor, name, strings.Join(problems, "; ")))
	}
}

// MustEdit panics if the function of an option is nil.
func MustEdit(option string, edit any) {
	if IsNil(edit) {
		panic(option + ": the function is nil")
	}
}

// Edited returns a chain after the edits of an option. It panics if one fails.
func Edited[C any](option string, c C, edits []func(C) (C, error)) C {
	for _, edit := range edits {
		var err error
		if c, err = edit(c); err != nil {
			panic(fmt.Sprintf("%s: %v", option, err))
		}
	}
	return c
}

// MustFit panics if t has a method of an interface with another signature: the
// method would be ignored. maker begins the message.
func MustFit(maker string, t, of reflect.Type) {
	for want := range of.Methods() {
		m, found := t.MethodByName(want.Name)
		if !found {
			continue
		}
		got := m.Type
		if t.Kind() != reflect.Interface { // without the receiver
			got = reflect.Zero(t).Method(m.Index).Type()
		}
		if got != want.Type {
			panic(fmt.Sprintf("%s: the method %s of %s is a %s: it must be a %s", maker, want.Name, t, got, want.Type))
		}
	}
}
