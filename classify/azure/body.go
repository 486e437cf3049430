package azure

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/text"
)

const (
	maxBody   = 1 << 20 // the bytes of a body that are read
	firstRead = 4 << 10 // the bytes of the first read of a body
	maxIdle   = 100     // the reads in a row that may return no byte
	maxText   = 1 << 10 // the bytes of a body without a message that are shown
	maxInner  = 8       // the nested errors that are read
	maxDepth  = 8       // the depth of nested errors that are read
)

// body holds the parts of an error in the body of a response.
type body struct {
	detail
	raw string // the start of the body, if it has no message
}

// readBody reads the error in the body of a response. The body remains
// readable.
func readBody(resp *http.Response) (b body) {
	data := bytes.TrimSpace(bytes.TrimPrefix(peek(resp), []byte("\xef\xbb\xbf")))
	b.detail = decodeBody(data, 0)
	if b.message == "" && b.code == "" {
		b.raw = strings.ToValidUTF8(text.Cut(string(data), maxText), "\uFFFD") // cut between two characters
	}
	return b
}

// peek returns the start of a response's body. Later readers find the body
// unchanged.
func peek(resp *http.Response) []byte {
	switch body := resp.Body.(type) {
	case nil:
		return nil
	case interface{ Bytes() []byte }:
		// azcore replaces a body that it read by this kind of reader, as peek
		// does. A Read would move its position.
		data := body.Bytes()
		return data[:min(len(data), maxBody)]
	default:
		data, err := readStart(resp)
		rest := io.Reader(body)
		if err != nil {
			rest = broken{err}
		}
		resp.Body = peeked{io.MultiReader(bytes.NewReader(data), rest), body, data}
		return data
	}
}

// readStart reads up to maxBody bytes of a body. It stops earlier at an error,
// after maxIdle reads in a row without a byte, and if the context of the
// request is done. It reads once before it checks the context, because a small
// body is often in memory.
func readStart(resp *http.Response) (data []byte, err error) {
	data = make([]byte, 0, firstRead)
	for idle := 0; len(data) < maxBody && idle < maxIdle; idle++ {
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
		n, err := resp.Body.Read(data[len(data):min(cap(data), maxBody)])
		data = data[:len(data)+n]
		switch {
		case err != nil:
			return data, err
		case resp.Request != nil && resp.Request.Context().Err() != nil:
			return data, nil
		case n > 0:
			idle = -1
		}
	}
	return data, nil
}

// broken returns the error after the start of a body, which may be io.EOF.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// peeked is a body whose start was read. Its Read returns the start again, and
// then the rest or the error.
type peeked struct {
	io.Reader
	io.Closer
	start []byte
}

// Bytes returns the start of the body.
func (p peeked) Bytes() []byte { return p.start }

// word is a string or {"value": string} of JSON. Any other value is "": no code of Azure is a number.
type word string

// UnmarshalJSON implements json.Unmarshaler. It returns no error.
func (t *word) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		var s string
		_ = json.Unmarshal(data, &s)
		*t = word(strings.TrimSpace(s))
	case '{':
		var o struct{ Value json.RawMessage }
		if _ = json.Unmarshal(data, &o); len(o.Value) > 0 && o.Value[0] != '{' { // each level would read the rest again
			return t.UnmarshalJSON(o.Value)
		}
	}
	return nil
}

// errorObject is an error of a body. Its details and its inner error are one
// object, or a list.
type errorObject struct {
	Code, Message       word
	Details, InnerError json.RawMessage
}

// detail is an error object of a body, with the errors that are nested in it.
type detail struct {
	code, message string
	inner         []classify.InnerError
	oauth         bool // the code is no error object of Azure
}

func (d *detail) empty() bool { return d.code == "" && d.message == "" && len(d.inner) == 0 }

// decodeBody reads an error from JSON. It knows these forms:
//
//	{"error": {...}}
//	{"odata.error": {"message": {"value": "..."}, ...}}
//	the fields of such an error object at the top level
//	{"error": "code", "error_description": "..."}, of OAuth
//
// An error object wins over the top level even if it is empty, as in azcore.
func decodeBody(data []byte, depth int) detail {
	var b struct {
		errorObject
		Error       json.RawMessage
		OData       json.RawMessage `json:"odata.error"`
		Description word            `json:"error_description"`
	}
	if json.Unmarshal(data, &b) != nil {
		return detail{}
	}
	for _, object := range [...]json.RawMessage{b.Error, b.OData} {
		if all := objects(object); len(all) > 0 && object[0] == '{' {
			return all[0].detail(depth)
		}
	}
	if d := b.detail(depth); !d.empty() {
		return d
	}
	var code word
	_ = json.Unmarshal(b.Error, &code)
	return detail{code: string(code), message: string(b.Description), oauth: true}
}

// objects returns an object, or the objects of a list.
func objects(data json.RawMessage) (all []errorObject) {
	list := []json.RawMessage{data}
	if bytes.HasPrefix(data, []byte("[")) {
		list = nil
		_ = json.Unmarshal(data, &list)
	}
	for _, item := range list {
		var o errorObject
		if json.Unmarshal(item, &o) == nil { // add skips the empty error of null
			all = append(all, o)
		}
	}
	return all
}

// detail returns o with the errors that are nested in it. depth is the number of
// errors around o.
func (o *errorObject) detail(depth int) detail {
	d := detail{code: string(o.Code), message: string(o.Message)}
	if depth == maxDepth {
		return d
	}
	for _, n := range append(objects(o.Details), objects(o.InnerError)...) {
		nested := n.detail(depth + 1)
		// Azure Resource Manager puts the JSON of other services into a message.
		if other := decodeBody([]byte(nested.message), depth+1); !other.empty() {
			nested.message = ""
			other.inner = append([]classify.InnerError{{Code: other.code, Message: other.message}}, other.inner...)
			nested.inner = append(other.inner, nested.inner...)
		}
		d.add(classify.InnerError{Code: nested.code, Message: nested.message})
		d.add(nested.inner...)
	}
	return d
}

// add appends nested errors that are not empty, up to maxInner.
func (d *detail) add(inner ...classify.InnerError) {
	for _, e := range inner {
		if e != (classify.InnerError{}) && len(d.inner) < maxInner {
			d.inner = append(d.inner, e)
		}
	}
}
