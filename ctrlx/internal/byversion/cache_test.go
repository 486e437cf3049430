package byversion_test

import (
	"fmt"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/byversion"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

func version(uid, resource string) client.Object {
	return &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: resource}}
}

func TestCache(t *testing.T) {
	partial := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: "1", ResourceVersion: "1"}}
	cases := map[string]struct {
		reason string
		size   int
		asked  []client.Object
		want   int // values that are made
		known  bool
	}{
		"Same":      {"one version of an object has one value", 8, []client.Object{version("1", "1"), version("1", "1"), version("1", "1")}, 1, true},
		"Changed":   {"a changed object has a new value", 8, []client.Object{version("1", "1"), version("1", "2")}, 2, true},
		"MadeAgain": {"an object of the same version that was created again is another object", 8, []client.Object{version("1", "1"), version("2", "1")}, 2, true},
		"Form":      {"metadata alone show less than the whole object", 8, []client.Object{version("1", "1"), partial, version("1", "1"), partial}, 2, true},
		"NoUID":     {"an object without a UID is not remembered", 8, []client.Object{version("", "1"), version("", "1")}, 0, false},
		"NoVersion": {"an object without a version is not remembered", 8, []client.Object{version("1", ""), version("1", "")}, 0, false},
		"Nil":       {"a nil object is not remembered", 8, []client.Object{nil, (*testv1.Cluster)(nil), nil}, 0, false},
		"One":       {"at least one object is remembered", 1, []client.Object{version("1", "1"), version("1", "1"), version("2", "1"), version("2", "1"), version("1", "1")}, 3, true},
		"NoSize":    {"zero means the default size", 0, []client.Object{version("1", "1"), version("2", "1"), version("1", "1"), version("2", "1")}, 2, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			made := 0
			cache := byversion.Cache[int]{Size: tc.size}
			for _, o := range tc.asked {
				if _, ok := cache.Get(o, func() int { made++; return made }); ok != tc.known {
					t.Errorf("%s: got %t, want %t", tc.reason, ok, tc.known)
				}
			}
			if made != tc.want {
				t.Errorf("%s: made %d values, want %d", tc.reason, made, tc.want)
			}
		})
	}
}

// TestCacheKeepsVersionsApart asks in any order for any versions of a few objects.
func TestCacheKeepsVersionsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cache := byversion.Cache[string]{Size: rapid.IntRange(1, 5).Draw(t, "size")}
		for range rapid.IntRange(1, 30).Draw(t, "questions") {
			want := fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "uid"), " ", rapid.IntRange(0, 3).Draw(t, "version"))
			var uid, resource string
			if _, err := fmt.Sscan(want, &uid, &resource); err != nil {
				t.Fatal(err)
			}
			if got, ok := cache.Get(version(uid, resource), func() string { return want }); !ok || got != want {
				t.Errorf("got %q, %t for %q", got, ok, want)
			}
		}
	})
}

// TestDefaultSize fills a cache without a size.
func TestDefaultSize(t *testing.T) {
	made := 0
	var cache byversion.Cache[int]
	for range 2 {
		for i := range byversion.DefaultSize {
			cache.Get(version(strconv.Itoa(i), "1"), func() int { made++; return 0 })
		}
	}
	if made != byversion.DefaultSize {
		t.Errorf("made %d values for %d objects", made, byversion.DefaultSize)
	}
	for i := range byversion.DefaultSize + 1 {
		cache.Get(version(strconv.Itoa(i-1), "1"), func() int { made++; return 0 })
	}
	if made < byversion.DefaultSize+2 {
		t.Error("one object too many is remembered")
	}
}

// TestCacheUpdated changes an object in a full cache: no other one is dropped.
func TestCacheUpdated(t *testing.T) {
	made := 0
	cache := byversion.Cache[int]{Size: 3}
	for round := range 50 {
		for _, o := range []client.Object{version("1", "1"), version("2", "1"), version("3", strconv.Itoa(round))} {
			cache.Get(o, func() int { made++; return 0 })
		}
	}
	if made != 52 {
		t.Errorf("made %d values for two objects and 50 versions of another one", made)
	}
}

// TestCacheBounded scans one object more than the cache has room for. A cache that
// drops the oldest entry would find none of them.
func TestCacheBounded(t *testing.T) {
	const size, scans = 10, 100
	made := 0
	cache := byversion.Cache[int]{Size: size}
	for range scans {
		for i := range size + 1 {
			cache.Get(version(strconv.Itoa(i), "1"), func() int { made++; return 0 })
		}
	}
	if made < scans || made > scans*size*2/3 {
		t.Errorf("made %d values for %d scans of %d objects", made, scans, size+1)
	}
}
