package inuse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
)

// TestRecord verifies that a record is read as it was written, whichever names its
// objects have, and that a person can read it.
func TestRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// The API server forbids / and % in some names, and ; and = in none.
		part := rapid.StringMatching(`[a-z;= ,:%"ü]{0,4}`)
		uid := types.UID("u" + part.Draw(t, "uid"))
		want := map[string]string{}
		for range rapid.IntRange(1, 4).Draw(t, "objects") {
			ref := checks.Ref{Group: part.Draw(t, "group"), Kind: part.Draw(t, "kind"), Namespace: part.Draw(t, "namespace"), Name: part.Draw(t, "name")}
			want[keyOf(ref)] = rapid.SampledFrom([]string{stateHeld, stateReleased, stateGone}).Draw(t, "state")
		}
		got, err := recordOf(with(uid, format(uid, want)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-written, +read:\n%s", diff)
		}
	})
	const want = `{"uid":"5","objects":{"example.com/Cluster/default/prod":"released","rbac/Role//a=b; c":"held"}}`
	if got := format("5", map[string]string{"rbac/Role//a=b; c": stateHeld, "example.com/Cluster/default/prod": stateReleased}); got != want {
		t.Errorf("the record is %q, want %q", got, want)
	}
}

// with returns a resource with a record.
func with(uid types.UID, record string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: uid, Annotations: map[string]string{Annotation: record}}}
}

func TestUnreadable(t *testing.T) {
	many := map[string]string{}
	for i := range maxRecorded + 1 {
		many[fmt.Sprint("/Secret/a/", i)] = stateReleased
	}
	cases := map[string]struct{ reason, value string }{
		"Empty":      {"it names no resource", ""},
		"OtherField": {"a later version may have more fields", `{"uid":"1","refs":{}}`},
		"NoUID":      {"it may be of another object", `{"objects":{"/Secret/default/login":"held"}}`},
		"NoValue":    {"it is cut off", `{"uid":"1"`},
		"OtherState": {"a later version may have more states", `{"uid":"1","objects":{"/Secret/default/login":"lent"}}`},
		"Alias":      {"an alias of YAML makes a large value of a short text", `{"uid":"1","objects":{"/Secret/a/b": &a "held","/Secret/a/c":*a}}`},
		"TooMany":    {"the release of each object takes requests", format("1", many)},
		"Twice":      {"either state may be true", `{"uid":"1","objects":{"/Secret/default/login":"held","/Secret/default/login":"gone"}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if states, err := recordOf(with("1", tc.value)); err == nil || !strings.Contains(err.Error(), "the annotation "+Annotation+" cannot be read; remove it: ") {
				t.Errorf("%s: the record is read as %v: %v", tc.reason, states, err)
			}
		})
	}
}
