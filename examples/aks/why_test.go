package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
)

// The JSON of a document follows its schema, also for texts of others.
func TestWhySchema(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(why.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.AddResource("schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(d any) error {
		data, err := json.Marshal(d)
		if err != nil {
			return err
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
		if err != nil {
			return err
		}
		return schema.Validate(value)
	}

	e := simulate(true)
	e.RunUntil(context.Background(), 8*time.Minute, func() bool { return false })
	of := func(objects []why.Object) why.Document { return why.New(objects).Document(e.Now()) }
	evil := "a\nb\u202e\x00" + strings.Repeat("long", 30_000)
	hostile := why.Object{
		Ref: checks.Ref{Kind: evil, Name: evil, Set: evil}, Reconciler: evil, State: why.State(evil), Reason: evil, Message: evil, Point: evil, Link: evil,
		WaitingFor: make([]checks.Ref, 1000),
		Passes: []flow.Explanation{{Name: evil, Key: evil, State: evil, Reason: evil, Message: evil, Error: evil, Rule: evil,
			Steps: []flow.Step{{Point: evil, Link: evil, Verdict: evil, Message: evil, Error: evil, Notes: []string{evil}}}}},
	}
	for i := range hostile.WaitingFor {
		hostile.WaitingFor[i] = checks.Ref{Kind: evil, Name: fmt.Sprint(i)}
	}
	cases := map[string]struct {
		reason string
		in     any
		valid  bool
	}{
		"Example": {"the state of the example after 8 minutes", e.Why(), true},
		"Empty":   {"nothing waits", of(nil), true},
		"Hostile": {"texts of others are bounded, and have one line", of([]why.Object{hostile}), true},
		"Later":   {"the schema is that of v1", map[string]any{"version": "v2", "at": e.Now(), "waiting": 0, "causes": []any{}, "objects": []any{}}, false},
		"Line": {"the schema notices a text that is not safe", map[string]any{"version": "v1", "at": e.Now(), "waiting": 0, "causes": []any{},
			"objects": []any{map[string]any{"ref": map[string]any{"name": "a\nb"}, "state": "blocked"}}}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := validate(tc.in); (err == nil) != tc.valid {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
