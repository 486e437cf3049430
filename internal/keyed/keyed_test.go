package keyed_test

import (
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/internal/keyed"
)

// A Map equals a list of keys and values from which the oldest are dropped.
func TestMap(t *testing.T) {
	type pair struct{ key, value int }
	rapid.Check(t, func(t *rapid.T) {
		var m keyed.Map[int, int]
		var model []pair // oldest first
		most := rapid.IntRange(1, 4).Draw(t, "most")
		drop := func(n int, oldest *int) bool {
			if n != len(model) || *oldest != model[0].value {
				t.Fatalf("drop receives %d keys and the value %d; there are %v", n, *oldest, model)
			}
			if n <= most {
				return false
			}
			model = model[1:]
			return true
		}
		for range 30 {
			key := rapid.IntRange(0, 6).Draw(t, "key")
			at := slices.IndexFunc(model, func(p pair) bool { return p.key == key })
			value := 0
			if at >= 0 {
				value = model[at].value
			}
			switch rapid.IntRange(0, 2).Draw(t, "call") {
			case 0:
				if at >= 0 {
					model = slices.Delete(model, at, at+1)
				}
				model = append(model, pair{key, value + 1})
				m.Put(key, func(v *int) {
					if *v != value {
						t.Fatalf("change receives %d, and the value is %d", *v, value)
					}
					*v++
				}, drop)
			case 1:
				m.Delete(key)
				if at >= 0 {
					model = slices.Delete(model, at, at+1)
				}
			case 2:
				if got, ok := m.Get(key); got != value || ok != (at >= 0) {
					t.Fatalf("Get(%d) returns %d, %t; there are %v", key, got, ok, model)
				}
			}
			if m.Len() != len(model) {
				t.Fatalf("Len is %d; there are %v", m.Len(), model)
			}
		}
	})
}

// Concurrent goroutines lose no change.
func TestMapConcurrently(t *testing.T) {
	var m keyed.Map[int, int]
	var wg sync.WaitGroup
	const goroutines, puts = 8, 100
	for range goroutines {
		wg.Go(func() {
			for i := range puts {
				m.Put(0, func(n *int) { *n++ }, nil)
				m.Put(1+i, func(*int) {}, nil)
				m.Delete(1 + i)
				m.Get(1 + i)
			}
		})
	}
	wg.Wait()
	if n, _ := m.Get(0); n != goroutines*puts || m.Len() != 1 {
		t.Errorf("%d of %d changes, and %d keys", n, goroutines*puts, m.Len())
	}
}
