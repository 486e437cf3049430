package record

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/checks"
)

// The text of a record has a field for each value, such as
//
//	uid=7; kind=Database.example.com; operation.token=42; operation.read=,Network,team,a,,digest
//
// A field that occurs several times is a list. escape writes the values, so that a
// person can read them, and so that no value can add a field.

// errField is the error of a text with a field that has no value, or a wrong one.
var errField = errors.New("a field of the record cannot be read")

// text returns the text of r.
func (r *Record) text() string {
	var fields []string
	field := func(name string, values ...string) {
		for i, v := range values {
			values[i] = escape(v)
		}
		fields = append(fields, name+"="+strings.Join(values, ","))
	}
	basis := func(prefix string, of Basis) {
		field(prefix+".self", of.Self)
		for _, r := range of.Read {
			field(prefix+".read", r.Group, r.Kind, r.Namespace, r.Name, r.Set, r.Digest)
		}
	}
	field("uid", string(r.UID))
	field("kind", r.Kind)
	if o := r.Operation; o != nil {
		field("operation.generation", strconv.FormatInt(o.Generation, 10))
		field("operation.token", o.Token)
		if o.Basis != nil {
			basis("operation", *o.Basis)
		}
		if len(o.Signature) > 0 {
			field("operation.signature", base64.RawStdEncoding.EncodeToString(o.Signature))
		}
	}
	if c := r.Clock; c != nil {
		field("clock.since", c.Since.UTC().Format(time.RFC3339))
		field("clock.self", c.Self)
		for _, ref := range slices.Sorted(maps.Keys(c.Read)) {
			field("clock.read", ref, c.Read[ref])
		}
	}
	if s := r.Success; s != nil {
		field("success.time", s.Time.UTC().Format(time.RFC3339))
		basis("success", s.Basis)
	}
	if r.Handled != "" {
		field("handled", r.Handled)
	}
	return strings.Join(fields, "; ")
}

// parse returns the record of a text. It ignores fields of a later release.
func parse(text string) (r Record, err error) {
	for _, field := range strings.Split(text, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(field), "=")
		if !ok {
			return Record{}, errField
		}
		values := strings.Split(value, ",")
		for i := range values {
			if values[i], err = url.PathUnescape(values[i]); err != nil { // the opposite of escape
				return Record{}, fmt.Errorf("%w: %s: %w", errField, name, err)
			}
		}
		part, of, _ := strings.Cut(name, ".")
		switch {
		case part == "operation" && r.Operation == nil:
			r.Operation = &Operation{}
		case part == "clock" && r.Clock == nil:
			r.Clock = &Clock{}
		case part == "success" && r.Success == nil:
			r.Success = &Success{}
		}
		switch name {
		case "uid":
			r.UID = types.UID(values[0])
		case "kind":
			r.Kind = values[0]
		case "handled":
			r.Handled = values[0]
		case "operation.generation":
			r.Operation.Generation, err = strconv.ParseInt(values[0], 10, 64)
		case "operation.token":
			r.Operation.Token = values[0]
		case "operation.signature":
			r.Operation.Signature, err = base64.RawStdEncoding.DecodeString(values[0])
		case "operation.self", "operation.read":
			if r.Operation.Basis == nil {
				r.Operation.Basis = &Basis{}
			}
			err = r.Operation.Basis.set(of, values)
		case "clock.since":
			r.Clock.Since, err = timeOf(values[0])
		case "clock.self":
			r.Clock.Self = values[0]
		case "clock.read":
			if len(values) != 2 {
				return Record{}, errField
			}
			r.Clock.Add(values[0], values[1])
		case "success.time":
			r.Success.Time, err = timeOf(values[0])
		case "success.self", "success.read":
			err = r.Success.set(of, values)
		}
		if err != nil {
			return Record{}, fmt.Errorf("%w: %s: %w", errField, name, err)
		}
	}
	return r, nil
}

// set sets the field self of b, or adds an object to its field read.
func (b *Basis) set(field string, v []string) error {
	switch {
	case field == "self":
		b.Self = v[0]
	case len(v) != 6:
		return errField
	default:
		b.Read = append(b.Read, Read{checks.Ref{Group: v[0], Kind: v[1], Namespace: v[2], Name: v[3], Set: v[4]}, v[5]})
	}
	return nil
}

func timeOf(s string) (metav1.Time, error) {
	at, err := time.Parse(time.RFC3339, s)
	return metav1.NewTime(at.Local()), err
}

// escape writes the bytes that separate fields, spaces, and bytes outside printable
// ASCII as % and two digits. url.PathUnescape is its opposite.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || strings.IndexByte(`;,%{}"`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02x", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
