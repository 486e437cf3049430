package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

const source = `package p

type Pair[K comparable, V any] struct {
	Key    K
	hidden V
	Inner
}

type Inner struct{ N int }

func (*Inner) Reset()        {}
func (p Pair[K, V]) Get() V  { return p.hidden }
func (p Pair[K, V]) secret() {}

type Closer interface{ Close() error }

type Link = func(next func(name string) int) func(name string) int

const Ready = 1

var Default = Pair[string, int]{}

func Map[A, B any](list []A, f func(item A) B, more ...B) ([]B, error) { return nil, nil }

func unexported() {}
`

func TestNames(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{}).Check("example.com/p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `# The exported names of example.com/p. make api writes this file.
Closer: type Closer interface{Close() error}
Default: var Default Pair[string, int]
Inner.N: field N int
Inner.Reset: func (*Inner).Reset()
Inner: type Inner struct
Link: type Link = func(next func(name string) int) func(name string) int
Map: func Map[A, B any](list []A, f func(item A) B, more ...B) ([]B, error)
Pair.Get: func (Pair[K, V]).Get() V
Pair.Inner: field Inner Inner
Pair.Key: field Key K
Pair: type Pair[K comparable, V any] struct
Ready: const Ready untyped int = 1
`
	if got := names(pkg); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
