package cloud

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

// Do answers a request as the transport of the SDK's clients.
func (c *Cloud) Do(req *http.Request) (*http.Response, error) {
	verb := req.Method
	if strings.HasSuffix(req.URL.Path, "/get/fake/status") { // the path of the fake server's pollers
		verb = "POLL"
	}
	c.tally.Request(verb)
	resp, err := c.fake.Do(req)
	var refusal *sim.Refusal
	switch {
	case errors.As(err, &refusal):
		c.tally.Refused(verb, fmt.Sprint(refusal.Status, " ", refusal.Code))
		return refusal.Response(req)
	case err != nil:
		c.tally.Refused(verb, "no answer")
		return nil, err
	}
	if resp.Header.Get("Fake-Poller-Status") == "InProgress" {
		resp.Header.Set("Retry-After", sim.Seconds(PollEvery))
	}
	return resp, nil
}
