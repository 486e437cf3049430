package text

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode"
)

// Redacted replaces a secret.
const Redacted = "REDACTED"

// span is the part of a text between two positions.
type span struct{ from, to int }

func (p span) empty() bool { return p.from >= p.to }

// secretAt returns the secret after the sign at position at of s. The sign has
// size bytes. The span is empty if there is no secret. These are secrets:
//
//   - The value of a key such as sig, X-Amz-Signature, access_token,
//     client_secret, password or AccountKey, if "=" or "%3D" follows the key,
//     as in a query or a connection string. In JSON, ":" and a quote follow.
//     In YAML, ": " follows, and the key is the first word of its line or of
//     its place in a list.
//   - The value of a query parameter code or key.
//   - The value of a header such as Authorization, Api-Key or Cookie.
//   - The credentials after "Bearer" or "Basic".
//   - The password of a URL: https://user:password@host.
//   - A private key in PEM.
//
// If it is unclear whether a value is a secret, it is one.
//
// These secrets are shown: a secret of another key or without a key, the words
// of an unquoted value after the first one, what follows ";" or a quote in an
// unquoted value, and a secret in an encoding, such as Base64.
func secretAt(s string, at, size int) span {
	end := at + size
	switch s[at] {
	case '-':
		return privateKey(s, end)
	case ':':
		switch {
		case strings.HasPrefix(s[end:], "//"):
			return password(s, end+2)
		case !strings.HasPrefix(s[end:], "/"):
			return valueOf(s, at, end, false)
		}
	case '=':
		return valueOf(s, at, end, true)
	case '%':
		if strings.HasPrefix(s[end:], "3D") || strings.HasPrefix(s[end:], "3d") {
			return valueOf(s, at, end+2, true)
		}
	default: // white space
		return credentials(s, at, end)
	}
	return span{}
}

// key describes where the value of a key is a secret.
type key uint8

const (
	public   key = iota
	inQuery      // only as a parameter of a query
	assigned     // also after "=", in JSON, or in YAML
	header       // also after ":"
	cookie       // as header; the value ends with the line
)

// The keys of secrets, in lower case and without "-" and "_".
var (
	wholeKeys = map[string]key{
		"code": inQuery, "key": inQuery,
		"sig": assigned, "token": assigned, "secret": assigned, "pwd": assigned, "pass": assigned, "assertion": assigned,
	}
	keyEndings = []struct {
		text string
		key  key
	}{
		{"cookie", cookie}, {"authorization", header}, {"apikey", header}, {"subscriptionkey", header}, {"securitytoken", header},
		{"signature", assigned}, {"credential", assigned}, {"password", assigned}, {"passwd", assigned}, {"passphrase", assigned},
		{"clientsecret", assigned}, {"appsecret", assigned}, {"secretkey", assigned}, {"accesskey", assigned}, {"accountkey", assigned},
		{"sharedkey", assigned}, {"privatekey", assigned}, {"accesstoken", assigned}, {"refreshtoken", assigned}, {"idtoken", assigned},
		{"sessiontoken", assigned}, {"clientassertion", assigned}, {"apitoken", assigned}, {"authtoken", assigned}, {"dbpass", assigned},
	}
	lastLetters = func() (letters uint32) {
		for text := range wholeKeys {
			letters |= 1 << (text[len(text)-1] & 31)
		}
		for _, e := range keyEndings {
			letters |= 1 << (e.text[len(e.text)-1] & 31)
		}
		return letters
	}()
)

// maxKey is the maximum number of bytes that are read of a key. Only the ends
// of longer keys are compared.
const maxKey = 32

// keyBefore returns where the value of the key before position at is a secret,
// and the position of the key. query reports whether it is one of a query.
func keyBefore(s string, at int) (k key, start int, query bool) {
	s = strings.TrimRightFunc(s[:at], unicode.IsSpace)
	s = strings.TrimRight(s, `\"'`)
	if s == "" || lastLetters>>(s[len(s)-1]&31)&1 == 0 {
		return public, 0, false
	}
	start = len(s)
	for start > 0 && len(s)-start < maxKey && wordByte(s[start-1]) {
		start--
	}
	if start > 0 {
		switch before, word := s[start-1], s[start:]; {
		case before == '?' || before == '&' || before == '#':
			query = true
		case before == '%' && len(word) > 2: // an escaped character
			query = strings.Contains("3F 3f 26 23", word[:2])
			start += 2
		case before == '\\' && strings.HasPrefix(word, "u0026"): // "&" in JSON
			query = true
			start += 5
		}
	}
	var room [maxKey]byte
	name := room[:0]
	for i := start; i < len(s); i++ {
		if c := s[i]; c != '-' && c != '_' {
			name = append(name, lower(c))
		}
	}
	k = wholeKeys[string(name)]
	for i := range keyEndings {
		if e := &keyEndings[i]; len(name) >= len(e.text) && string(name[len(name)-len(e.text):]) == e.text {
			k = e.key
			break
		}
	}
	if k == inQuery && !query {
		k = public
	}
	return k, start, query
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// valueOf returns the value of the key before the sign at position at. It starts
// at from or after white space. equals reports whether the sign is "=", and not
// ":".
func valueOf(s string, at, from int, equals bool) span {
	k, start, query := keyBefore(s, at)
	if k == public {
		return span{}
	}
	yaml := !equals && k == assigned && startsYAML(s[:start]) && skipSpace(s, from) > from
	from = skipSpace(s, from)
	if yaml && from < len(s) && strings.IndexByte("|>", s[from]) >= 0 { // the value is on the next line
		from = skipSpace(s, len(s)-len(strings.TrimLeft(s[from:], "|>-+")))
	}
	rest := s[from:]
	quote := strings.TrimPrefix(rest, `\`)
	escaped := len(quote) < len(rest)
	switch {
	case strings.HasPrefix(quote, `"`), strings.HasPrefix(quote, `'`):
		from += len(rest) - len(quote) + 1
		return span{from, closing(s, from, quote[0], escaped)}
	case !equals && strings.HasPrefix(rest, "["): // a header, or a map of Go
		return span{from + 1, closing(s, from+1, ']', false)}
	case !equals && !yaml && k < header:
		return span{}
	case k >= header && strings.HasPrefix(rest, Redacted):
		return span{from, from + len(Redacted)}
	}
	to := endOfValue(s, from, query)
	if value := s[from:to]; strings.HasPrefix(value, beginPEM) || strings.HasPrefix(beginPEM, value) { // its key is a secret, or it is cut
		return span{}
	}
	if k == cookie {
		if strings.IndexByte(s[from:to], '=') < 0 { // a sentence
			return span{}
		}
		return span{from, from + len(rest) - len(strings.TrimLeftFunc(rest, func(r rune) bool { return !lineBreak(r) }))}
	}
	if k == header && to > from { // the value may have two words: Authorization: Basic ...
		if second := skipSpace(s, to); second > to {
			if end := endOfValue(s, second, query); end > second {
				to = end
			}
		}
	}
	return span{from, to}
}

// startsYAML reports whether a key of YAML may start after the text before: on a
// line of its own, in a list, or in braces. It may also follow ": ", because
// errors quote such a line.
func startsYAML(before string) bool {
	text := strings.TrimRightFunc(before, unicode.IsSpace)
	return text == "" || strings.IndexByte("-{,;:", text[len(text)-1]) >= 0 || strings.ContainsFunc(before[len(text):], lineBreak)
}

// The line before a key in PEM starts with beginPEM and ends with dashes. No
// line of a key has two dashes.
const beginPEM, dashes, twoDashes = "-----BEGIN", "-----", "--"

// privateKey returns the private key that starts at position from.
func privateKey(s string, from int) span {
	line, ends := strings.CutSuffix(s[:from], dashes)
	label := line[len(strings.TrimRightFunc(line, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsSpace(r) })):]
	if !ends || !strings.HasPrefix(label, "BEGIN") || !strings.Contains(label, "PRIVATE") || strings.Contains(label, Redacted) {
		return span{}
	}
	body := s[from:]
	size := len(body)
	if strings.HasPrefix(body, Redacted) {
		size = len(Redacted)
	} else if end := strings.Index(body, twoDashes); end >= 0 {
		size = end
	} else if body == "-" { // it is cut
		size = 0
	}
	return span{from, from + size}
}

// closing returns the position of the quote after the value at from, or the end
// of s.
func closing(s string, from int, quote byte, escaped bool) int {
	for i := from; i < len(s); i++ {
		switch {
		case s[i] == quote && escaped && i > from && s[i-1] == '\\':
			return i - 1
		case s[i] == quote:
			return i
		case s[i] == '\\' && !escaped:
			i++
		}
	}
	return len(s)
}

// endOfValue returns the end of the unquoted value at from. Only in a query does
// "&" end it.
func endOfValue(s string, from int, query bool) int {
	n := strings.IndexFunc(s[from:], func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(";\"'<>`", r) || query && r == '&'
	})
	if n < 0 {
		n = len(s) - from
	}
	return from + len(strings.TrimRight(s[from:from+n], `.,:)]}\`))
}

func skipSpace(s string, from int) int {
	return len(s) - len(strings.TrimLeftFunc(s[from:], unicode.IsSpace))
}

// credentials returns the credentials after the white space at position at, if
// "Bearer" or "Basic" is before it.
func credentials(s string, at, end int) span {
	const bearer, basic = "bearer", "basic"
	if at < len(basic) || s[at-1]|0x20 != 'r' && s[at-1]|0x20 != 'c' {
		return span{}
	}
	is := func(word string) bool {
		from := at - len(word)
		return from >= 0 && strings.EqualFold(s[from:at], word) && (from == 0 || !wordByte(s[from-1]))
	}
	isBearer := is(bearer)
	if !isBearer && !is(basic) {
		return span{}
	}
	from := skipSpace(s, end)
	to := from
	for to < len(s) && (wordByte(s[to]) || strings.IndexByte("._~+/=", s[to]) >= 0) {
		to++
	}
	value := strings.TrimRight(s[from:to], ".")
	if value == "" || isBearer && commonWord(value) || !isBearer && !isUserinfo(value) {
		return span{}
	}
	return span{from, from + len(value)}
}

// commonWord reports whether word is a word, or the start of a word, that often
// follows "Bearer" in texts or in the challenges of servers.
func commonWord(word string) bool {
	for _, common := range [...]string{"tokens", "authentication", "authorization", "realm=", "error=", "scope=", "authorization_uri="} {
		if strings.HasPrefix(common, word) {
			return true
		}
	}
	return false
}

// isUserinfo reports whether value is "user:password" in Base64. Other values are
// ordinary words after "Basic".
func isUserinfo(value string) bool {
	const most = 88
	if len(value) > most {
		return true
	}
	var decoded [most]byte
	n, _ := base64.RawStdEncoding.Decode(decoded[:], []byte(strings.TrimRight(value, "=")))
	return bytes.IndexByte(decoded[:n], ':') >= 0
}

// maxUserinfo is the maximum number of bytes that are searched for the end of a
// password.
const maxUserinfo = 1024

// password returns the password of the URL whose authority starts at from.
func password(s string, from int) span {
	rest := s[from:min(len(s), from+maxUserinfo)]
	if n := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'<>`", r) }); n >= 0 {
		rest = rest[:n]
	}
	user, rest, found := strings.Cut(rest, ":")
	if !found || strings.ContainsAny(user, "/?#@[") {
		return span{}
	}
	authority := rest
	if n := strings.IndexAny(rest, "/?#"); n >= 0 {
		authority = rest[:n]
	}
	n := strings.LastIndexByte(authority, '@')
	if n < 0 && strings.Trim(authority, "0123456789") != "" { // not a port: a password that is not escaped
		n = strings.LastIndexByte(rest, '@')
	}
	from += len(user) + 1
	return span{from, from + n}
}
