package cloud

import (
	"errors"
	"net/http"
	"strings"
)

// Do answers a request, as the transport of the SDK's clients.
func (c *Cloud) Do(req *http.Request) (*http.Response, error) {
	verb := req.Method
	if strings.HasSuffix(req.URL.Path, "/get/fake/status") { // how the fake server's pollers ask
		verb = "POLL"
	}
	c.tally.request(verb)
	resp, err := c.fake.Do(req)
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		c.tally.failure(verb, refusal)
		return refusal.response(req)
	case err != nil:
		c.tally.failure(verb, &Refusal{Code: "no answer"})
		return nil, err
	}
	if resp.Header.Get("Fake-Poller-Status") == "InProgress" {
		resp.Header.Set("Retry-After", seconds(PollEvery))
	}
	return resp, nil
}
