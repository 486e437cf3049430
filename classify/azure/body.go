package azure

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-go/windlass/classify"
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
	code, message string
	inner         []classify.InnerError
	raw           string // the start of the body, if it has no message
}

// readBody reads the error in the body of a response. The body remains
// readable.
func readBody(resp *http.Response) (b body) {
	data := bytes.TrimSpace(bytes.TrimPrefix(peek(resp), []byte("\xef\xbb\xbf")))
	if len(data) == 0 {
		return b
	}
	d, whole := decodeBody(data, 0)
	b.code, b.message, b.inner = d.code, d.message, d.inner
	if b.message == "" && (b.code == "" || !whole) {
		b.raw = head(data)
	}
	return b
}

// peek returns the start of a response's body. Later readers find the body
// unchanged.
func peek(resp *http.Response) []byte {
	switch body := resp.Body.(type) {
	case nil:
		return nil
	case *peeked:
		return body.head
	case interface{ Bytes() []byte }:
		// azcore replaces a body that it read by this kind of reader. A Read
		// would move its position.
		data := body.Bytes()
		return data[:min(len(data), maxBody)]
	default:
		data, err := readStart(resp)
		resp.Body = &peeked{head: data, unread: data, err: err, rest: body}
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
		case err == io.EOF:
			return data, nil
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

// peeked is a body whose start was read. Its Read returns the start again.
type peeked struct {
	head   []byte
	unread []byte // the part of head that Read has not returned yet
	err    error  // the error after head, until Read has returned it
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

// decodeBody reads an error from JSON. It knows these forms:
//
//	{"error": {...}}
//	{"odata.error": {"message": {"value": "..."}, ...}}
//	the fields of such an error object at the top level
//	{"error": "code", "error_description": "..."}, of OAuth
//
// An error object wins over the top level even if it is empty, as in azcore.
// The JSON may be truncated; whole reports whether it is complete.
func decodeBody(data []byte, depth int) (d detail, whole bool) {
	t := tokens{dec: json.NewDecoder(bytes.NewReader(data))}
	t.dec.UseNumber()
	outer, inner, oauth := detail{depth: depth}, detail{depth: depth}, detail{depth: depth}
	found := false
	t.object(func(key string) {
		switch {
		case strings.EqualFold(key, "error") || strings.EqualFold(key, "odata.error"):
			text, object := t.text(func(key string) { inner.read(&t, key) })
			if found = found || object; !object {
				oauth.code = text
			}
		case strings.EqualFold(key, "error_description"):
			oauth.message, _ = t.text(nil)
		default:
			outer.read(&t, key)
		}
	})
	if found && t.err == nil {
		return inner, true
	}
	for _, d := range [...]detail{inner, outer, oauth} {
		if !d.empty() {
			return d, t.err == nil
		}
	}
	return detail{}, t.err == nil
}

// detail is an error object of a body, with the errors that are nested in it.
type detail struct {
	code, message string
	inner         []classify.InnerError
	depth         int
}

func (d *detail) empty() bool { return d.code == "" && d.message == "" && len(d.inner) == 0 }

// read reads the value of key.
func (d *detail) read(t *tokens, key string) {
	switch {
	case strings.EqualFold(key, "code"):
		t.first(&d.code)
	case strings.EqualFold(key, "message"):
		t.first(&d.message)
	case strings.EqualFold(key, "details") || strings.EqualFold(key, "innererror"):
		t.objects(func() { d.nest(t) })
	default:
		t.text(nil)
	}
}

// nest reads the fields of an error object that is nested in d.
func (d *detail) nest(t *tokens) {
	if d.depth == maxDepth || len(d.inner) == maxInner {
		t.skip()
		return
	}
	nested := detail{depth: d.depth + 1}
	t.fields(func(key string) { nested.read(t, key) })
	if strings.HasPrefix(nested.message, "{") { // Azure Resource Manager puts the JSON of other services here, as text
		if other, _ := decodeBody([]byte(nested.message), nested.depth); !other.empty() {
			nested.message = ""
			nested.add(classify.InnerError{Code: other.code, Message: other.message})
			nested.add(other.inner...)
		}
	}
	d.add(classify.InnerError{Code: nested.code, Message: nested.message})
	d.add(nested.inner...)
}

// add appends nested errors that are not empty, up to maxInner.
func (d *detail) add(inner ...classify.InnerError) {
	for _, e := range inner {
		if e != (classify.InnerError{}) && len(d.inner) < maxInner {
			d.inner = append(d.inner, e)
		}
	}
}

// errSyntax is the error of JSON that is not an object.
var errSyntax = errors.New("not an object")

// tokens reads JSON token by token, up to the first error.
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

// object reads an object. It calls field for each key. field must read the
// value.
func (t *tokens) object(field func(key string)) {
	if t.next() != json.Delim('{') {
		t.fail()
		return
	}
	t.fields(field)
}

func (t *tokens) fields(field func(key string)) {
	for {
		key, ok := t.next().(string)
		if !ok { // the end of the object, or an error
			return
		}
		field(key)
	}
}

// objects reads an object or the objects of an array, and skips any other
// value. It calls object after each opening brace. object must read the fields.
func (t *tokens) objects(object func()) {
	switch t.next() {
	case json.Delim('{'):
		object()
	case json.Delim('['):
		for t.err == nil {
			switch t.next() {
			case json.Delim('{'):
				object()
			case json.Delim('['):
				t.skip()
			case json.Delim(']'):
				return
			}
		}
	}
}

// text reads a value. It returns the text of a string or a number. For an
// object it calls field for each key, if field is not nil. It skips any other
// value.
func (t *tokens) text(field func(key string)) (text string, object bool) {
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

// first reads a text or a {"value": text} into s, if s is empty.
func (t *tokens) first(s *string) {
	var value string
	text, object := t.text(func(key string) {
		v, _ := t.text(nil)
		if value == "" && strings.EqualFold(key, "value") {
			value = v
		}
	})
	if object {
		text = value
	}
	if *s == "" {
		*s = text
	}
}

// skip reads to the end of the object or array that was just opened. It does
// not recurse, so deep nesting cannot exhaust the stack.
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

// head returns up to maxText bytes of a text, cut between two characters.
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
