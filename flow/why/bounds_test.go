package why_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
	"github.com/windlass-go/windlass/internal/text"
)

// fill sets each text in v to long, and makes each list n items long. It fills the
// first item.
func fill(v reflect.Value, long string, n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(long)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), long, n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		fill(v.Index(0), long, n)
	}
}

// sizes returns a line for each text and list in a value of JSON. Of a list it shows the
// first item.
func sizes(at string, v any) (lines string) {
	switch v := v.(type) {
	case string:
		if len(v) > len(time.RFC3339) {
			return fmt.Sprintf("%s %d\n", at, len(v))
		}
	case []any:
		return fmt.Sprintf("%s %d\n", at, len(v)) + sizes(at+"[0]", v[0])
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			lines += sizes(at+"."+k, v[k])
		}
	}
	return lines
}

// Every text and list of a document is cut at its bound, in one that a graph makes and
// in one that is read.
func TestDocumentSizes(t *testing.T) {
	var raw why.Document
	fill(reflect.ValueOf(&raw).Elem(), strings.Repeat("y", 20_000), 120)
	raw.Version = why.Version
	raw.Objects[0].Ref.Set = "" // a set is no waiter
	raw.Flows[0].Text = strings.Repeat(strings.Repeat(" ", 50)+strings.Repeat("y", 20_000)+"\n", 120)
	read := func(d why.Document) (why.Document, any) {
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		d, err = why.Read(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return d, v
	}
	safe, _ := read(raw)
	_, values := read(safe)
	_, made := read(why.New(raw.Objects[:1]).Document(noon, raw.Flows...))
	golden(t, "sizes.txt", "read\n"+sizes("", values)+"made\n"+sizes("", made))
	cycle := why.Cause{Objects: slices.Repeat(safe.Causes[0].Objects[:1], 50)}
	if got := len(cycle.String()); got != text.Message {
		t.Errorf("the text of a long cycle has %d bytes", got)
	}
}

// The schema has each field of a document.
func TestSchema(t *testing.T) {
	var schema struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(why.Schema()), &schema); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"cause": why.Cause{}, "object": why.Object{}, "flow": why.Flow{}, "ref": checks.Ref{}, "step": flow.Step{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if field, _, _ := strings.Cut(f.Tag.Get("json"), ","); schema.Defs[name].Properties[field] == nil {
				t.Errorf("the schema of %s has no %s", name, f.Name)
			}
		}
	}
}
