package ctrlx

import (
	"testing"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

func TestTokenOf(t *testing.T) {
	cases := map[string]struct {
		reason     string
		value      string
		token      string
		generation int64
	}{
		"Token":     {reason: "what setToken writes", value: `{"generation":3,"token":"https://example.com/?a=b&c"}`, token: "https://example.com/?a=b&c", generation: 3},
		"Escaped":   {reason: "what others have written anew", value: `{"token":"a\u0026b"}`, token: "a&b"},
		"Empty":     {reason: "somebody removed the value"},
		"Rubbish":   {reason: "nobody knows what it means", value: "rubbish"},
		"Array":     {reason: "nobody knows what it means", value: `["token"]`},
		"Type":      {reason: "half of it does not count", value: `{"token":"t","generation":"3"}`},
		"CutOff":    {reason: "half of it does not count", value: `{"token":"t","gener`},
		"Trailing":  {reason: "nobody knows what it means", value: `{"token":"t"}{}`},
		"NoToken":   {reason: "there is none", value: `{"generation":3}`, generation: 3},
		"NullToken": {reason: "there is none", value: `{"token":null}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &testv1.Database{}
			d.Annotations = map[string]string{OperationAnnotation: tc.value}
			if token, generation := tokenOf(d); token != tc.token || generation != tc.generation {
				t.Errorf("%s: %q of generation %d", tc.reason, token, generation)
			}
		})
	}
	if token, _ := tokenOf(&testv1.Database{}); token != "" {
		t.Errorf("an object without annotations has none: %q", token)
	}
}
