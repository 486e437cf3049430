package flow_test

import (
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// What was registered for a kind is found with its type, and only with that.
func TestExtensionsOf(t *testing.T) {
	var registry flow.Registry[thing]
	flow.Register(&registry, "Pool", flow.Extensions[*pool]{PreCheck: chain.New(checks.Paused(func(*pool) bool { return true }))})
	flow.Register(&registry, "Thing", flow.Extensions[thing]{})
	got, err := flow.ExtensionsOf[*pool](&registry, "Pool")
	mustBe(t, "it is registered", nil, err)
	mustEqual(t, "it is what was registered", 1, got.PreCheck.Len())

	cases := map[string]struct {
		reason string
		do     func() error
		want   string
	}{
		"Unknown": {"it was not registered", func() error { _, err := flow.ExtensionsOf[*pool](&registry, "Disk"); return err },
			`flow: kind "Disk" is not registered: call flow.Register, with the zero Extensions if the kind needs none`},
		"OtherCase": {"kinds are compared as they are written", func() error { _, err := flow.ExtensionsOf[*pool](&registry, "pool"); return err },
			`flow: kind "pool" is not registered: call flow.Register, with the zero Extensions if the kind needs none`},
		"OtherType": {"its extensions are for another type", func() error { _, err := flow.ExtensionsOf[*disk](&registry, "Pool"); return err },
			`flow: kind "Pool" is registered for *flow_test.pool, and is used for *flow_test.disk: register it for the latter`},
		"Interface": {"extensions for an interface are not those for a type that has it", func() error { _, err := flow.ExtensionsOf[*pool](&registry, "Thing"); return err },
			`flow: kind "Thing" is registered for flow_test.thing, and is used for *flow_test.pool: register it for the latter`},
		"NoRegistry": {"nothing is registered in a nil registry", func() error { _, err := flow.ExtensionsOf[*pool]((*flow.Registry[thing])(nil), "Pool"); return err },
			`flow: kind "Pool" is not registered: call flow.Register, with the zero Extensions if the kind needs none`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.do()
			if err == nil {
				t.Fatal(tc.reason + ": there is no error")
			}
			mustEqual(t, tc.reason, tc.want, err.Error())
		})
	}
}
