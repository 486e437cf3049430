package azure

import (
	"strings"
	"testing"

	"github.com/windlass-go/windlass/flow"
)

// A token that names another host gets no request, since each request carries
// the credentials of the operator.
func TestAdvanceRefusesForeignAddresses(t *testing.T) {
	const arm = "https://management.azure.com/operations/1"
	valid := tokenOf(t, operation)
	cases := map[string]struct {
		reason  string
		address string // in place of the operation's
		opts    []AdvanceOption
		refused string // part of the error; "": it is polled
	}{
		"Own":            {"the address that the service gave", arm, nil, ""},
		"Upper":          {"hosts have no case", "https://Management.Azure.com/operations/1", nil, ""},
		"Region":         {"a subdomain belongs to the endpoint", "https://westus.management.azure.com/operations/1", nil, ""},
		"Named":          {"another endpoint that the option names", "https://vault.example/operations/1", []AdvanceOption{WithEndpoints("https://vault.example", "https://management.azure.com")}, ""},
		"Other":          {"an attacker's host", "https://evil.example/operations/1", nil, `it names the host "evil.example"`},
		"OnlyNamed":      {"the option replaces the default", arm, []AdvanceOption{WithEndpoints("https://vault.example")}, `it names the host "management.azure.com"`},
		"NoneNamed":      {"no endpoint allows nothing", arm, []AdvanceOption{WithEndpoints()}, `it names the host "management.azure.com"`},
		"Suffix":         {"a host that ends with the letters of the endpoint", "https://evilmanagement.azure.com/1", nil, "it names the host"},
		"Prefix":         {"a host that begins with the endpoint", "https://management.azure.com.evil.example/1", nil, "it names the host"},
		"UserInfo":       {"the endpoint as a user name", "https://management.azure.com@evil.example/1", nil, "it names the host"},
		"Password":       {"an address with a user", "https://a:b@management.azure.com/1", nil, "it names the host"},
		"Backslash":      {"an address that parsers read differently", `https://management.azure.com\\@evil.example/1`, nil, "an unreadable address"},
		"Shadowed":       {"a second value of a key does not replace the first one in the SDK", `https://evil.example/1","asyncURL":null,"x":"`, nil, `it names the host "evil.example"`},
		"Plain":          {"credentials need TLS", "http://management.azure.com/operations/1", nil, "it names the host"},
		"Port":           {"another server of the host", "https://management.azure.com:8443/operations/1", nil, "it names the host"},
		"SchemeRelative": {"an address without a scheme", "//evil.example/operations/1", nil, "it names the host"},
		"NoScheme":       {"an option whose endpoint has no scheme", arm, []AdvanceOption{WithEndpoints("//vault.example")}, `"//vault.example" is no endpoint: give one as in https://management.azure.com`},
		"Unreadable":     {"an option that is no address", arm, []AdvanceOption{WithEndpoints("https://[vault")}, `"https://[vault" is no endpoint`},
		"NoHost":         {"an option whose endpoint has no host", arm, []AdvanceOption{WithEndpoints("https:///vault")}, `"https:///vault" is no endpoint`},
		"NoEndpoint":     {"an option that names no endpoint", arm, []AdvanceOption{WithEndpoints("vault.example")}, `"vault.example" is no endpoint`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			token := strings.ReplaceAll(valid, arm, c.address)
			s := &service{answers: []answer{{200, `{"status":"InProgress"}`, nil}}}
			p, err := Advance(t.Context(), token, s.begin(token), nil, c.opts...)
			switch {
			case c.refused == "":
				if err != nil || p.Token() == "" || len(s.asked) != 1 {
					t.Errorf("%s: %v, %v, requests %q", c.reason, p, err, s.asked)
				}
			case err == nil || !strings.Contains(err.Error(), c.refused) || p != (flow.Progress{}) || len(s.asked) > 0:
				t.Errorf("%s: %v, %v, requests %q", c.reason, p, err, s.asked)
			}
		})
	}
}

// Every address of a token counts, wherever it is.
func TestAdvanceChecksEveryAddress(t *testing.T) {
	for _, token := range []string{`{"a":["https://evil.example"]}`, `["a", "https://evil.example"]`, `{"https://evil.example":1}`, `"https://evil.example"`, `[[{"a":{"b":"x https://evil.example"}}]]`,
		`{"a":"https://evil.example","a":null}`, `{"a":"https://evil.example","a":"https://management.azure.com"}`} {
		o := advanceOptions{endpoints: resourceManagers}
		if err := o.checked(token); err == nil {
			t.Errorf("%s is accepted", token)
		}
	}
}
