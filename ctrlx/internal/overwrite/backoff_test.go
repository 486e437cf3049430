package overwrite

import (
	"fmt"
	"math"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	a    = types.NamespacedName{Namespace: "default", Name: "a"}
)

// A writer that overwrites the conditions again and again after each correction
// causes a logarithmic number of corrections up to the maximum delay, and one in
// each maximum delay then. There is always a next one.
func TestBackoffAgainstAFighter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Backoff
		now, end := noon, noon.Add(time.Duration(rapid.Int64Range(1, int64(6*time.Hour)).Draw(t, "time")))
		reaction := time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "reaction of the writer"))
		corrections, last := 0, noon
		for {
			delay, schedule := b.Notice(a, "uid", now, Note{})
			if !schedule {
				t.Fatalf("the overwrite at %s is never corrected", now)
			}
			for range rapid.IntRange(0, 3).Draw(t, "overwrites before the correction") {
				if _, again := b.Notice(a, "uid", now.Add(delay/2), Note{}); again {
					t.Fatal("a correction is scheduled twice")
				}
			}
			if now = now.Add(delay); now.After(end) {
				break
			}
			if now.Sub(last) > MaxDelay+reaction {
				t.Fatalf("%s pass without a correction", now.Sub(last))
			}
			b.Begins(a)
			if note, ok := b.Take(a, "uid"); !ok || note.Count != corrections+1 {
				t.Fatalf("correction %d has the note %+v, %t", corrections+1, note, ok)
			}
			corrections++
			last = now
			elapsed := now.Sub(noon)
			if limit := 2 + math.Log2(1+elapsed.Seconds()) + elapsed.Seconds()/MaxDelay.Seconds(); float64(corrections) > limit {
				t.Fatalf("%d corrections in %s, at most %.1f are allowed", corrections, elapsed, limit)
			}
			now = now.Add(reaction)
		}
		elapsed := end.Sub(noon)
		if least := int(elapsed/(MaxDelay+time.Second)) - 1; corrections < max(least, 1) {
			t.Fatalf("only %d corrections in %s, want at least %d", corrections, elapsed, max(least, 1))
		}
	})
}

// The delays start again after a calm time, and for another object of the same
// name.
func TestBackoffStartsAgain(t *testing.T) {
	cases := map[string]struct {
		reason string
		after  time.Duration
		uid    types.UID
		want   time.Duration
	}{
		"Fight":   {"the writer fights", time.Second, "uid", 4 * time.Second},
		"Late":    {"the writer takes its time", Calm, "uid", 4 * time.Second},
		"Calm":    {"the writer left the object alone", Calm + 3*time.Second, "uid", 0},
		"Created": {"the object is another one", time.Second, "other", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var b Backoff
			for _, want := range []time.Duration{0, time.Second, 2 * time.Second} {
				if delay, schedule := b.Notice(a, "uid", noon, Note{}); delay != want || !schedule {
					t.Fatalf("the delay is %s, want %s", delay, want)
				}
				b.Begins(a)
				b.Take(a, "uid")
			}
			if delay, schedule := b.Notice(a, tc.uid, noon.Add(tc.after), Note{}); delay != tc.want || !schedule {
				t.Errorf("%s: the delay is %s, want %s", tc.reason, delay, tc.want)
			}
		})
	}
}

// A note is kept until a pass that began after it has corrected the conditions.
// It has the last writer, and the verdict before the first one.
func TestNotes(t *testing.T) {
	var b Backoff
	note := func(writer, ready string) Note {
		return Note{Writer: Writer{Manager: writer}, Ready: &metav1.Condition{Reason: ready}}
	}
	b.Notice(a, "uid", noon, note("first", "ours"))
	b.Begins(a) // this pass fails
	b.Notice(a, "uid", noon, note("second", "theirs"))
	b.Notice(a, "uid", noon, note("third", "theirs"))
	if _, ok := b.Take(a, "uid"); ok {
		t.Error("the pass that read the object before the write takes the note")
	}
	b.Begins(a)
	if _, ok := b.Take(a, "other"); ok {
		t.Error("another object of the name takes the note")
	}
	peeked, ok := b.Peek(a, "uid")
	if got, taken := b.Take(a, "uid"); !ok || !taken || got.Writer.Manager != "third" || got.Ready.Reason != "ours" || got.Count != 2 || peeked.Count != 2 {
		t.Errorf("the note is %+v, %t, and %+v, %t before", got, taken, peeked, ok)
	}
	if _, ok := b.Take(a, "uid"); ok {
		t.Error("a note is taken twice")
	}
	if b.Forget(a); len(b.of) != 0 {
		t.Errorf("a deleted object is kept: %v", b.of)
	}
}

// The number of remembered objects is bounded. Further objects are corrected,
// too, with the maximum delay.
func TestBackoffIsBounded(t *testing.T) {
	var b Backoff
	name := func(n int) types.NamespacedName { return types.NamespacedName{Name: fmt.Sprint(n)} }
	for n := range maxObjects {
		b.Notice(name(n), "uid", noon, Note{})
	}
	if delay, schedule := b.Notice(name(maxObjects), "uid", noon, Note{}); delay != MaxDelay || !schedule || len(b.of) != maxObjects {
		t.Errorf("a further object: the delay is %s, %t, and %d are remembered", delay, schedule, len(b.of))
	}
	later := noon.Add(Calm + time.Second)
	if delay, schedule := b.Notice(name(maxObjects), "uid", later, Note{}); delay != 0 || !schedule || len(b.of) != 1 {
		t.Errorf("after a calm time: the delay is %s, %t, and %d are remembered", delay, schedule, len(b.of))
	}
}
