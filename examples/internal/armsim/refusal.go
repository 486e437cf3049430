package armsim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Refusal is an error as Azure Resource Manager puts it. It is an error so that it can pass through a fake server.
type Refusal struct {
	Status        int
	Code, Message string
	RetryAfter    time.Duration // zero: no such header
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Message) }

// Response is the refusal as an answer to req.
func (r *Refusal) Response(req *http.Request) (*http.Response, error) {
	body, err := json.Marshal(map[string]any{"error": map[string]string{"code": r.Code, "message": r.Message}})
	if err != nil {
		return nil, err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if r.RetryAfter > 0 {
		header.Set("Retry-After", Seconds(r.RetryAfter))
	}
	return &http.Response{
		StatusCode: r.Status, Status: strconv.Itoa(r.Status) + " " + http.StatusText(r.Status),
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: req,
	}, nil
}

// Seconds is a duration as Retry-After has it.
func Seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
