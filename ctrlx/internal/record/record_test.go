package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
)

var (
	kind = schema.GroupKind{Group: "example.com", Kind: "Database"}
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
)

func testKey(b byte) []byte { return []byte(strings.Repeat(string(rune(b)), 32)) }

// ours is the record of the object of the tests, with an operation.
func ours(change ...func(*Record)) Record {
	r := Record{UID: "u", Kind: "Database.example.com", Operation: &Operation{Generation: 3, Token: "https://example.com/?a=b&c", Basis: &Basis{Self: "<a>"}}}
	for _, do := range change {
		do(&r)
	}
	return r
}

// encoded returns the condition of a record, signed with a key; none: without a signature.
func encoded(t testing.TB, r Record, keys ...[]byte) *metav1.Condition {
	t.Helper()
	if r.Operation != nil {
		(&Keys{Keys: keys}).Sign(&r)
	}
	return Encode(r, nil, 3, noon)
}

func TestDecode(t *testing.T) {
	signed := func(r Record, keys ...[]byte) *metav1.Condition { return encoded(t, r, keys...) }
	edited := func(old, replacement string) *metav1.Condition {
		c := signed(ours(), testKey('a'))
		if !strings.Contains(c.Message, old) {
			t.Fatalf("%s has no %s", c.Message, old)
		}
		c.Message = strings.Replace(c.Message, old, replacement, 1)
		return c
	}
	reasoned := func(reason string, c *metav1.Condition) *metav1.Condition { c.Reason = reason; return c }
	settled := Record{UID: "u", Kind: "Database.example.com", Success: &Success{Basis: Basis{Self: "s"}}}
	a, b := Keys{Keys: [][]byte{testKey('a')}}, Keys{Keys: [][]byte{testKey('b'), testKey('a')}}
	unsigned := Keys{Keys: a.Keys, Unsigned: true}
	other := func(r *Record) { r.UID = "v" }
	cases := map[string]struct {
		reason string
		keys   Keys
		record *metav1.Condition
		want   Record
		err    error
	}{
		"None":            {"nothing is stored", a, nil, Record{}, nil},
		"Stored":          {"the record that Encode makes", Keys{}, signed(ours()), ours(), nil},
		"NoFields":        {"an unreadable record may hide an operation", Keys{}, &metav1.Condition{Reason: UnderWay, Message: "rubbish"}, Record{}, errUnreadable},
		"NoReason":        {"a reason that is not known may hide one, too", Keys{}, &metav1.Condition{Message: "rubbish"}, Record{}, errUnreadable},
		"CutOff":          {"half a record is no answer", Keys{}, &metav1.Condition{Reason: UnderWay, Message: signed(ours()).Message[:100]}, Record{}, errUnreadable},
		"NoToken":         {"no operation has such a record", Keys{}, signed(ours(func(r *Record) { r.Operation.Token = "" })), Record{}, errUnreadable},
		"NoOperation":     {"the reason says that there is one", Keys{}, reasoned(UnderWay, signed(settled)), Record{}, errUnreadable},
		"OtherUID":        {"a copy, or a restored backup", Keys{}, signed(ours(other)), ours(other), ErrCopied},
		"OtherKind":       {"a copy into another kind", Keys{}, signed(ours(func(r *Record) { r.Kind = "C" })), ours(func(r *Record) { r.Kind = "C" }), ErrCopied},
		"NoUID":           {"a record names its object", Keys{}, signed(ours(func(r *Record) { r.UID = "" })), ours(func(r *Record) { r.UID = "" }), ErrCopied},
		"Signed":          {"signed with the key", a, signed(ours(), testKey('a')), ours(), nil},
		"SignedBefore":    {"signed with the previous key", b, signed(ours(), testKey('a')), ours(), nil},
		"SignedAfter":     {"signed with a key that this replica does not have yet", a, signed(ours(), testKey('b')), Record{}, errUnsigned},
		"Unsigned":        {"written by a person", a, signed(ours()), Record{}, errUnsigned},
		"UnsignedAllowed": {"the first release with a key", unsigned, signed(ours()), ours(), nil},
		"WrongAllowed":    {"a wrong signature is none", unsigned, signed(ours(), testKey('b')), Record{}, errUnsigned},
		"SignedNoKey":     {"the operator has no key any more", Keys{}, signed(ours(), testKey('a')), ours(), nil},
		"TokenChanged":    {"the signature covers the token", a, edited("example.com/?", "example.org/?"), Record{}, errUnsigned},
		"UIDChanged":      {"the signature covers the UID", a, edited("uid=u", "uid=v"), Record{}, errUnsigned},
		"GenChanged":      {"the signature covers the generation", a, edited("=3", "=4"), Record{}, errUnsigned},
		"KindChanged":     {"the signature covers the kind", a, edited("Database", "Cluster"), Record{}, errUnsigned},
		"BasisChanged":    {"the signature covers the basis", a, edited("self=", "self=x"), Record{}, errUnsigned},
		"Wrapped":         {"white space between the fields changes none of them", a, edited("; operation.self", ";\n  operation.self"), ours(), nil},
		"Later":           {"a field of a later release changes none of them, so a release can be rolled back", a, edited("; operation.self", "; operation.later=1,2; operation.self"), ours(), nil},
		"FieldAdded":      {"the signature covers lists", a, edited("; operation.self", "; operation.read=,Network,team,a,,d; operation.self"), Record{}, errUnsigned},
		"FieldTwice":      {"the last one counts, and is signed", a, edited("; operation.self", "; operation.token=x; operation.self"), Record{}, errUnsigned},
		"NoValue":         {"a field that cannot be read may be the operation", a, edited("=3", ""), Record{}, errUnreadable},
		"NoNumber":        {"a generation that cannot be read is none", Keys{}, edited("=3", "=three"), Record{}, errUnreadable},
		"NoTime":          {"a clock that cannot be read is none", Keys{}, edited("; operation.self", "; clock.since=noon; operation.self"), Record{}, errUnreadable},
		"NoName":          {"each field has a value", Keys{}, edited("; operation.self", "; rubbish; operation.self"), Record{}, errUnreadable},
		"LongList":        {"nor is an object with more", Keys{}, edited("; operation.self", "; operation.read=,Network,team,a,,d,e; operation.self"), Record{}, errUnreadable},
		"ShortClock":      {"an input has a digest", Keys{}, edited("; operation.self", "; clock.read=a; operation.self"), Record{}, errUnreadable},
		"ShortList":       {"half an object is no object", Keys{}, edited("; operation.self", "; operation.read=,Network; operation.self"), Record{}, errUnreadable},
		"NoEscape":        {"an escape needs two digits", Keys{}, edited("<a>", "<a>%4"), Record{}, errUnreadable},
		"WrongEscape":     {"an escape is a number", Keys{}, edited("<a>", "<a>%4g"), Record{}, errUnreadable},
		"SignedCopy":      {"a signed record of another object", a, signed(ours(other), testKey('a')), ours(other), ErrCopied},
		"Settled":         {"only operations are signed", a, signed(settled), settled, nil},
		"SettledCopy":     {"the success of another object counts as none", a, signed(Record{UID: "v", Kind: settled.Kind, Success: settled.Success}), Record{}, nil},
		"SettledRubbish":  {"no operation can be in it, so nothing is lost", a, &metav1.Condition{Status: "True", Reason: Settled, Message: "rubbish"}, Record{}, nil},
		"NotTrue":         {"a person has changed the status of the condition", a, &metav1.Condition{Reason: Settled, Status: "False", Message: signed(settled).Message}, Record{}, nil},
		"NotTrueUnderWay": {"the operation may be under way", Keys{}, &metav1.Condition{Reason: UnderWay, Status: "False", Message: signed(ours()).Message}, ours(), nil},
		"Mislabelled":     {"an operation with the reason of a success is not read", Keys{}, reasoned(Settled, signed(ours())), Record{UID: "u", Kind: settled.Kind}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.keys.Decode(tc.record, "u", kind)
			if err != tc.err {
				t.Fatalf("%s: error %v, want %v", tc.reason, err, tc.err)
			}
			if got.Operation != nil {
				got.Operation.Signature = nil
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// Encode writes only what changed, and never leaves out an operation.
func TestEncode(t *testing.T) {
	clock := &Clock{Since: metav1.NewTime(noon), Self: "s"}
	large := &Success{Basis: Basis{Self: strings.Repeat("s", maxMessage)}}
	emptySuccess := len(encoded(t, Record{Success: &Success{}}).Message)
	kept := encoded(t, ours(), testKey('a'))
	decoded, err := (&Keys{Keys: [][]byte{testKey('b'), testKey('a')}}).Decode(kept, "u", kind)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		record Record
		was    *metav1.Condition
		is     string // the reason of the condition; empty: there is none
		same   bool   // it is was
		parts  string // o: operation, c: clock, s: success
	}{
		"Empty":     {reason: "nothing is stored", record: Record{UID: "u"}, was: kept},
		"Operation": {reason: "the operation names the record", record: ours(func(r *Record) { r.Clock = clock }), is: UnderWay, parts: "oc"},
		"Clock":     {reason: "the clock runs", record: Record{Clock: clock}, is: Processing, parts: "c"},
		"Success":   {reason: "the object is Ready", record: Record{Success: &Success{}, Handled: "1"}, is: Settled, parts: "s"},
		"Handled":   {reason: "nothing else is stored", record: Record{Handled: "1"}, is: Handled},
		"Same":      {reason: "a decoded operation keeps its signature, so a new key writes nothing", record: decoded, was: kept, is: UnderWay, same: true, parts: "o"},
		"Changed":   {reason: "the record changes, and the time of the transition stays", record: ours(func(r *Record) { r.Clock = clock }), was: kept, is: UnderWay, parts: "oc"},
		"Large":     {reason: "a success is not worth an operation", record: ours(func(r *Record) { r.Clock, r.Success = clock, large }), is: UnderWay, parts: "oc"},
		"Larger": {reason: "nor is a clock", record: ours(func(r *Record) { r.Clock, r.Success = &Clock{Self: large.Self}, large }),
			is: UnderWay, parts: "o"},
		"AtMost":   {reason: "the record has the largest size", record: Record{Success: &Success{Basis: Basis{Self: large.Self[:maxMessage-emptySuccess]}}}, is: Settled, parts: "s"},
		"TooMuch":  {reason: "one byte is too much", record: Record{Success: &Success{Basis: Basis{Self: large.Self[:maxMessage-emptySuccess+1]}}}},
		"Largest":  {reason: "the API server refuses it, so the operation is stored in memory", record: ours(func(r *Record) { r.Operation.Token = large.Self }), is: UnderWay, parts: "o"},
		"TooLarge": {reason: "an object whose success is too large is reconciled after a restart", record: Record{Success: large}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := Encode(tc.record, tc.was, 3, noon.Add(time.Hour+1500*time.Millisecond))
			if (c == nil) != (tc.is == "") || c != nil && c.Reason != tc.is || (c == tc.was) != tc.same && c != nil {
				t.Fatalf("%s: the condition is %+v, want %q", tc.reason, c, tc.is)
			}
			if c == nil {
				return
			}
			since := metav1.NewTime(noon.Add(time.Hour + time.Second))
			if tc.was != nil {
				since = tc.was.LastTransitionTime
			}
			want := metav1.Condition{Type: Condition, Status: "True", Reason: tc.is, Message: map[string]string{
				UnderWay: "an operation is under way in the cloud", Processing: "the clock of the time-out runs", Settled: "the object was applied", Handled: "a retry was handled",
			}[tc.is] + "; data of the operator, do not edit: " + c.Message[strings.Index(c.Message, "uid="):], ObservedGeneration: 3, LastTransitionTime: since}
			if diff := cmp.Diff(want, *c); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			parts := ""
			for part, key := range map[string]string{"o": "operation.token=", "c": "clock.since=", "s": "success.time="} {
				if strings.Contains(c.Message, key) != strings.Contains(tc.parts, part) {
					parts += " " + key
				}
			}
			if parts != "" {
				t.Errorf("%s: the record has or lacks %s", tc.reason, parts)
			}
			if MayHoldOperation(c) != (tc.is == UnderWay) || (OperationIn(c) == "") == (tc.is == UnderWay) {
				t.Errorf("%s: whether the record holds an operation: %v, %q", tc.reason, MayHoldOperation(c), OperationIn(c))
			}
		})
	}
}

// OperationIn compares operations, and nothing else.
func TestOperationIn(t *testing.T) {
	is := OperationIn(encoded(t, ours()))
	cases := map[string]struct {
		reason string
		record *metav1.Condition
		same   bool
	}{
		"Clock":   {"another part of the record changed", encoded(t, ours(func(r *Record) { r.Clock = &Clock{Self: "x"} })), true},
		"Token":   {"it is another operation", encoded(t, ours(func(r *Record) { r.Operation.Token = "x" })), false},
		"UID":     {"it is the operation of another object", encoded(t, ours(func(r *Record) { r.UID = "x" })), false},
		"Rubbish": {"it may be another operation", &metav1.Condition{Reason: UnderWay, Message: "rubbish"}, false},
		"Cut":     {"part of it may be another operation", &metav1.Condition{Reason: UnderWay, Message: is + "; rubbish"}, false},
		"None":    {"the operation ended", nil, false},
	}
	for name, tc := range cases {
		if got := OperationIn(tc.record); (got == is) != tc.same {
			t.Errorf("%s: %s: %q", name, tc.reason, got)
		}
	}
	if got := OperationIn(&metav1.Condition{Reason: UnderWay, Message: "rubbish"}); got != "rubbish" {
		t.Errorf("of a record that cannot be read: %q", got)
	}
}

func TestPut(t *testing.T) {
	c, other := metav1.Condition{Type: Condition, Reason: Settled}, metav1.Condition{Type: "Other"}
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.SampledFrom([]metav1.Condition{other, {Type: "Ready"}}), 0, 3).Draw(t, "others")
		if rapid.Bool().Draw(t, "has one") {
			all = append(all, metav1.Condition{Type: Condition, Reason: rapid.SampledFrom([]string{UnderWay, Settled}).Draw(t, "reason")})
		}
		all = rapid.Permutation(all).Draw(t, "conditions")
		put := rapid.SampledFrom([]*metav1.Condition{nil, &c}).Draw(t, "put")
		before := append([]metav1.Condition(nil), all...)
		var want []metav1.Condition
		for _, c := range all {
			if c.Type != Condition {
				want = append(want, c)
			}
		}
		got := Put(all, put)
		var others []metav1.Condition
		for _, c := range got {
			if c.Type != Condition {
				others = append(others, c)
			}
		}
		if is := In(got); (is == nil) != (put == nil) || is != nil && *is != *put || !cmp.Equal(want, others) || !cmp.Equal(before, all) {
			t.Fatalf("%v and %v: %v; it was %v", all, put, got, before)
		}
		if is := In(all); is != nil && put != nil && *is == *put && &got[0] != &all[0] {
			t.Fatal("the conditions are copied, although nothing changes")
		}
	})
}

// An operation whose inputs changed while it ran has no basis. Otherwise the basis is
// all that the two passes read.
func TestSince(t *testing.T) {
	draw := func(t *rapid.T, label string) Basis {
		b := Basis{Self: rapid.SampledFrom([]string{"s", "s", "x"}).Draw(t, label+" self")}
		for i, digest := range rapid.SliceOfN(rapid.SampledFrom([]string{"", "1", "1", "2"}), 0, MaxRead+2).Draw(t, label) {
			if digest != "" {
				b.Read = append(b.Read, Read{checks.Ref{Kind: "K", Name: fmt.Sprintf("%02d", i)}, digest})
			}
		}
		return b
	}
	rapid.Check(t, func(t *rapid.T) {
		from, to := draw(t, "from"), draw(t, "to")
		got, ok := to.Since(&from)
		want := from.Self == to.Self
		union := map[string]string{}
		for _, b := range []Basis{from, to} {
			for _, r := range b.Read {
				if was, has := union[r.Name]; has && was != r.Digest {
					want = false
				}
				union[r.Name] = r.Digest
			}
		}
		if want = want && len(union) <= MaxRead; ok != want {
			t.Fatalf("ok is %v", ok)
		}
		if !ok && !cmp.Equal(got, to) && len(union) <= MaxRead {
			t.Fatalf("without a basis, that of the pass is %+v", got)
		}
		if ok && !slices.IsSortedFunc(got.Read, func(a, b Read) int { return strings.Compare(a.Name, b.Name) }) {
			t.Fatalf("the basis is not sorted: %+v", got)
		}
		if ok && (len(got.Read) != len(union) || !got.Covers(from) || !got.Covers(to)) {
			t.Fatalf("the basis is %+v", got)
		}
		if ok && from.Covers(to) != (len(union) == len(from.Read)) {
			t.Fatalf("from covers to: %v", from.Covers(to))
		}
	})
	if _, ok := (Basis{}).Since(nil); ok {
		t.Error("a basis that is not known is none")
	}
	if (Basis{Self: "s"}).Covers(Basis{Self: "x"}) {
		t.Error("a basis covers one of another state of the object")
	}
	full := Basis{}
	for i := range MaxRead {
		full.Read = append(full.Read, Read{checks.Ref{Kind: "K", Name: fmt.Sprintf("%02d", i)}, "1"})
	}
	if _, ok := full.Since(&Basis{}); !ok {
		t.Error("a basis with as many objects as there may be is none")
	}
	if _, ok := full.Since(&Basis{Read: []Read{{checks.Ref{Kind: "K", Name: "more"}, "1"}}}); ok {
		t.Error("a basis with more objects than there may be is one")
	}
	sorted := []Read{
		{Ref: checks.Ref{Group: "a", Kind: "b"}},
		{Ref: checks.Ref{Group: "b", Kind: "a", Namespace: "b"}},
		{Ref: checks.Ref{Group: "b", Kind: "b", Namespace: "a", Name: "b"}},
		{Ref: checks.Ref{Group: "b", Kind: "b", Namespace: "b", Name: "a", Set: "b"}},
		{Ref: checks.Ref{Group: "b", Kind: "b", Namespace: "b", Name: "b", Set: "a"}},
		{Ref: checks.Ref{Group: "b", Kind: "b", Namespace: "b", Name: "b", Set: "b"}},
	}
	reads := slices.Clone(sorted)
	slices.Reverse(reads)
	if Sort(reads); !slices.Equal(sorted, reads) {
		t.Errorf("sorted: %+v", reads)
	}
}

func TestContinue(t *testing.T) {
	kept := func() *Clock {
		return &Clock{Since: metav1.NewTime(noon), Self: "s", Read: map[string]string{"a": "1", "b": "2"}}
	}
	cases := map[string]struct {
		reason string
		now    Clock
		was    *Clock
		want   map[string]string // the inputs of the clock that continues; nil: it starts again
	}{
		"None":    {"there was no clock", Clock{Self: "s"}, nil, nil},
		"Same":    {"nothing changed", *kept(), kept(), map[string]string{"a": "1", "b": "2"}},
		"Fewer":   {"a pass that polls reads less", Clock{Self: "s"}, kept(), map[string]string{"a": "1", "b": "2"}},
		"More":    {"another check reads more", Clock{Self: "s", Read: map[string]string{"c": "3"}}, kept(), map[string]string{"a": "1", "b": "2", "c": "3"}},
		"Changed": {"a reference changed", Clock{Self: "s", Read: map[string]string{"b": "3"}}, kept(), nil},
		"Self":    {"the object changed", Clock{Self: "x"}, kept(), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := tc.now.Continue(tc.was)
			if got != (tc.want != nil) {
				t.Fatalf("%s: it continues: %v", tc.reason, got)
			}
			if diff := cmp.Diff(tc.want, tc.now.Read); got && (diff != "" || !tc.now.Since.Equal(&tc.was.Since)) {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	full := Clock{}
	for i := range maxInputs + 1 {
		full.Add(fmt.Sprint(i), "x")
	}
	if len(full.Read) != maxInputs {
		t.Errorf("%d inputs", len(full.Read))
	}
}

// A record is stored as it is, whatever its values, and kubectl describe shows no
// JSON and no line break of a value.
func TestText(t *testing.T) {
	value := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune(";=, %{}\"\n.az")), 0, 8, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }))
	basis := func(t *rapid.T) (b Basis) {
		b.Self = value.Draw(t, "self")
		for range rapid.IntRange(0, 2).Draw(t, "objects") {
			b.Read = append(b.Read, Read{checks.Ref{Group: value.Draw(t, "group"), Kind: value.Draw(t, "kind"), Namespace: value.Draw(t, "namespace"), Name: value.Draw(t, "name"), Set: value.Draw(t, "set")}, value.Draw(t, "digest")})
		}
		return b
	}
	rapid.Check(t, func(t *rapid.T) {
		want := Record{UID: types.UID(value.Draw(t, "uid")), Kind: value.Draw(t, "kind"), Handled: value.Draw(t, "handled")}
		if rapid.Bool().Draw(t, "operation") {
			want.Operation = &Operation{Generation: rapid.Int64().Draw(t, "generation"), Token: value.Draw(t, "token")}
			if rapid.Bool().Draw(t, "basis") {
				b := basis(t)
				want.Operation.Basis = &b
			}
			(&Keys{Keys: [][]byte{testKey('a')}}).Sign(&want)
		}
		if rapid.Bool().Draw(t, "clock") {
			want.Clock = &Clock{Since: metav1.NewTime(noon.Local()), Self: value.Draw(t, "self")}
			want.Clock.Add(value.Draw(t, "ref"), value.Draw(t, "digest"))
		}
		if rapid.Bool().Draw(t, "success") {
			want.Success = &Success{metav1.NewTime(noon.Local()), basis(t)}
		}
		text := want.text()
		if strings.ContainsAny(text, "{}\"\n") {
			t.Errorf("the text is %s", text)
		}
		got, err := parse(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%s: %v: -want, +got:\n%s", text, err, diff)
		}
	})
}

// People, kubectl-windlass and other tools read the text. The field of handled requests is
// the last one, because they look for it.
func TestTextOf(t *testing.T) {
	at, basis := metav1.NewTime(noon), Basis{Self: "s", Read: []Read{{checks.Ref{Group: "g", Kind: "K", Namespace: "ns", Name: "n"}, "d"}}}
	r := Record{
		UID: "7", Kind: "Database.example.com", Operation: &Operation{Generation: 3, Token: "a b!~\x7f", Basis: &basis},
		Clock: &Clock{Since: at, Self: "s", Read: map[string]string{"b": "2", "a": "1"}}, Success: &Success{at, basis}, Handled: "2026-01-01T00:00:00Z,again; soon",
	}
	const want = "uid=7; kind=Database.example.com; operation.generation=3; operation.token=a%20b!~%7f; operation.self=s; operation.read=g,K,ns,n,,d; " +
		"clock.since=2026-11-21T12:00:00Z; clock.self=s; clock.read=a,1; clock.read=b,2; " +
		"success.time=2026-11-21T12:00:00Z; success.self=s; success.read=g,K,ns,n,,d; handled=2026-01-01T00:00:00Z%2cagain%3b%20soon"
	if got := r.text(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r = Record{UID: "7", Kind: "K", Operation: &Operation{Token: "t", Signature: []byte{1}}}
	if got, want := r.text(), "uid=7; kind=K; operation.generation=0; operation.token=t; operation.signature=AQ"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, odd := range []string{"uid", "uid=%4", "uid=7; clock.read=a", "uid=7; success.time=noon"} {
		if _, err := parse(odd); !errors.Is(err, errField) || !strings.HasPrefix(err.Error(), "a field of the record cannot be read") {
			t.Errorf("%s: the error is %v", odd, err)
		}
	}
}
