package azure

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// AdvanceOption changes what [Advance] accepts.
type AdvanceOption func(*advanceOptions)

type advanceOptions struct {
	endpoints []string
}

// resourceManagers are the endpoints of Azure Resource Manager in the public
// clouds, as in package azcore/arm/runtime.
var resourceManagers = []string{"https://management.azure.com", "https://management.chinacloudapi.cn", "https://management.usgovcloudapi.net"}

// WithEndpoints names the endpoints to which [Advance] may send polls, as in
// "https://vault.azure.net". A resume token holds the addresses that a poll
// calls with the credentials of the client. So Advance polls only addresses of
// these hosts and of their subdomains, with the same scheme and port. Without
// the option these are the endpoints of Azure Resource Manager in the public
// clouds. An endpoint without a scheme or a host is an error of Advance.
func WithEndpoints(endpoints ...string) AdvanceOption {
	return func(o *advanceOptions) { o.endpoints = slices.Clone(endpoints) }
}

// checked returns an error if a resume token holds an address outside of the
// endpoints.
func (o *advanceOptions) checked(token string) error {
	var allowed []*url.URL
	for _, e := range o.endpoints {
		u, err := url.Parse(e)
		if err != nil || u.Scheme == "" || u.Host == "" {
			return fmt.Errorf("azure: WithEndpoints: %q is no endpoint: give one as in %s", e, resourceManagers[0])
		}
		allowed = append(allowed, u)
	}
	if !json.Valid([]byte(token)) {
		return errors.New("it is no JSON")
	}
	return each(token, func(text string) error {
		if !strings.Contains(text, "//") {
			return nil
		}
		u, err := url.Parse(text)
		if err == nil && u.User == nil && slices.ContainsFunc(allowed, func(e *url.URL) bool { return within(u, e) }) {
			return nil
		}
		host := "an unreadable address"
		if err == nil {
			host = fmt.Sprintf("the host %q", u.Host)
		}
		return fmt.Errorf("it names %s, which belongs to no endpoint of the client (azure.WithEndpoints)", host)
	})
}

// within reports whether u is an address of endpoint.
func within(u, endpoint *url.URL) bool {
	host, of := strings.ToLower(u.Host), strings.ToLower(endpoint.Host)
	return strings.EqualFold(u.Scheme, endpoint.Scheme) && (host == of || strings.HasSuffix(host, "."+of))
}

// each calls check with each string in a text of JSON, also with the keys, and with the
// values of a key that occurs twice: the SDK may read another one than package json does.
func each(content string, check func(string) error) error {
	for d := json.NewDecoder(strings.NewReader(content)); ; {
		token, err := d.Token()
		if err != nil {
			return nil // the end: the content is valid
		}
		if text, ok := token.(string); ok {
			if err := check(text); err != nil {
				return err
			}
		}
	}
}
