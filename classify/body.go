package classify

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"
)

const (
	maxBody = 1 << 20 // how much of a body is read
	maxText = 1 << 10 // how much of a body that is not JSON is shown
)

// readBody finds code and message in a response's body, which stays readable.
func readBody(resp *http.Response) (code, message string) {
	data := bytes.TrimSpace(bytes.TrimPrefix(peek(resp), []byte("\xef\xbb\xbf")))
	if len(data) == 0 {
		return "", ""
	}
	code, message, whole := decodeBody(data)
	if message == "" && (code == "" || !whole) {
		message = head(data)
	}
	return code, message
}

// peek gives the start of a response's body and leaves the body as others would find it without.
func peek(resp *http.Response) []byte {
	switch body := resp.Body.(type) {
	case nil:
		return nil
	case *peeked:
		return body.head
	case interface{ Bytes() []byte }:
		// This is what azcore puts in place of a body that it has read. Reading it would move it.
		data := body.Bytes()
		return data[:min(len(data), maxBody)]
	default:
		data, err := io.ReadAll(io.LimitReader(body, maxBody))
		resp.Body = &peeked{head: data, unread: data, err: err, rest: body}
		return data
	}
}

// peeked is a body with what was read from it put back in front.
type peeked struct {
	head   []byte
	unread []byte // what of head is still to be read
	err    error  // the error that ended head, still to be given
	rest   io.ReadCloser
}

func (p *peeked) Read(b []byte) (int, error) {
	if len(p.unread) > 0 {
		n := copy(b, p.unread)
		p.unread = p.unread[n:]
		return n, nil
	}
	if err := p.err; err != nil {
		p.err = nil
		return 0, err
	}
	return p.rest.Read(b)
}

func (p *peeked) Close() error { return p.rest.Close() }

// decodeBody reads code and message from JSON in the forms that services use: {"error": {...}}, {"odata.error": {...}}
// with a message {"value": ...}, both at the top level, and OAuth's {"error": "code", "error_description": "..."}.
// It reads token by token, as the body may be cut off; whole says that it was not cut before all was found.
func decodeBody(data []byte) (code, message string, whole bool) {
	t := tokens{dec: json.NewDecoder(bytes.NewReader(data))}
	t.dec.UseNumber()
	var outer, inner, oauth detail
	t.object(func(key string) bool {
		switch {
		case strings.EqualFold(key, "error") || strings.EqualFold(key, "odata.error"):
			text, object := t.text(func(key string) bool { return inner.read(&t, key) })
			if !object {
				oauth.code = text
			}
		case strings.EqualFold(key, "error_description"):
			oauth.message, _ = t.text(nil)
		default:
			outer.read(&t, key)
		}
		// Once it is complete the rest, often long, has nothing to add.
		return inner.code == "" || inner.message == ""
	})
	for _, d := range [...]detail{inner, outer, oauth} {
		if d != (detail{}) {
			return d.code, d.message, t.err == nil
		}
	}
	return "", "", t.err == nil
}

// detail is an error object of a body.
type detail struct{ code, message string }

// read takes the value of key.
func (d *detail) read(t *tokens, key string) bool {
	switch {
	case strings.EqualFold(key, "code"):
		t.first(&d.code)
	case strings.EqualFold(key, "message"):
		t.first(&d.message)
	default:
		t.text(nil)
	}
	return d.code == "" || d.message == ""
}

// errSyntax is what tokens stops with where the JSON is not of the form that is expected.
var errSyntax = errors.New("not an object")

// tokens reads JSON as far as it goes, and remembers the error that ended it.
type tokens struct {
	dec *json.Decoder
	err error
}

func (t *tokens) next() json.Token {
	if t.err != nil {
		return nil
	}
	var token json.Token
	token, t.err = t.dec.Token()
	return token
}

// object reads an object, calling field for each key to read its value, until field says that it has all it wants.
func (t *tokens) object(field func(key string) bool) {
	if t.next() != json.Delim('{') {
		t.fail()
		return
	}
	t.fields(field)
}

func (t *tokens) fields(field func(key string) bool) {
	for {
		key, ok := t.next().(string)
		if !ok { // the end of the object, or an error
			return
		}
		if !field(key) {
			return
		}
	}
}

// text reads a value: of a string or a number the text, of an object what field wants, nothing of anything else.
func (t *tokens) text(field func(key string) bool) (text string, object bool) {
	switch token := t.next().(type) {
	case string:
		return strings.TrimSpace(token), false
	case json.Number:
		return token.String(), false
	case json.Delim:
		if token == '{' && field != nil {
			t.fields(field)
			return "", true
		}
		t.skip()
	}
	return "", false
}

// first reads a text or a {"value": text} into s, unless s has one.
func (t *tokens) first(s *string) {
	var value string
	text, object := t.text(func(key string) bool {
		v, _ := t.text(nil)
		if value == "" && strings.EqualFold(key, "value") {
			value = v
		}
		return true
	})
	if object {
		text = value
	}
	if *s == "" {
		*s = text
	}
}

// skip reads to the end of the object or array that was just entered. It does not recurse, however deep they nest.
func (t *tokens) skip() {
	for depth := 1; depth > 0 && t.err == nil; {
		switch t.next() {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

func (t *tokens) fail() {
	if t.err == nil {
		t.err = errSyntax
	}
}

// head is the start of a text, cut between characters.
func head(data []byte) string {
	if len(data) > maxText {
		data = data[:maxText]
		for i := 1; i < utf8.UTFMax; i++ {
			if start := len(data) - i; utf8.RuneStart(data[start]) {
				if !utf8.FullRune(data[start:]) {
					data = data[:start]
				}
				break
			}
		}
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}
