package text_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/internal/testing/ratio"
	"github.com/windlass-go/windlass/internal/text"
)

// Line makes one line of visible characters.
func TestLine(t *testing.T) {
	cases := map[string]struct {
		reason   string
		in, want string
	}{
		"Clean":        {"a safe text is kept", `owner Cluster "c" is not ready: 3 of 5, größer 集群 🙂`, `owner Cluster "c" is not ready: 3 of 5, größer 集群 🙂`},
		"Empty":        {"an empty text is kept", "", ""},
		"Newline":      {"a text cannot forge a row", "busy\n> Apply  deploy  proceed\r\n", "busy; > Apply  deploy  proceed"},
		"Joined":       {"joined errors become one line", "first\n\n\tsecond", "first; second"},
		"JSON":         {"a text of several lines stays readable", "answer:\n{\n\t\"a\": 1,\n\t\"b\": 2\n}\n", `answer: { "a": 1, "b": 2; }`},
		"Tab":          {"a text cannot forge a column", "a\tb\t\n", "a b"},
		"Separators":   {"line breaks of Unicode are replaced", "a\u2028b\u2029c\u0085d\ve\ff", "a; b; c; d; e; f"},
		"Spaces":       {"each space character becomes a space", "1\u00a0000\u3000km", "1 000 km"},
		"Escape":       {"a text sends no commands to a terminal", "\x1b]0;title\x07\x00\x7f", `\x1b]0;title\x07\x00\x7f`},
		"Color":        {"a color is left out, and half a color is not one", "\x1b[1;31mred\x1b[0m \x1b[31", `red \x1b[31`},
		"ColorInColor": {"what is left of two colors is not one", "\x1b[\x1b[0m31mred", `\x1b[31mred`},
		"C1":           {"some terminals obey the second set of control characters", "a\u009b31m", `a\x9b31m`},
		"Bidi":         {"a text does not change its direction", "a\u202eb\u2066c\u200fd\u061ce", `a\u202eb\u2066c\u200fd\u061ce`},
		"Invisible":    {"names that look the same are the same", "a\u200bb\ufeffc\u00add\u3164e\ufe0ff\u034fg", `a\u200bb\ufeffc\xadd\u3164e\ufe0ff\u034fg`},
		"Tags":         {"invisible letters are shown", "a\U000e0061\U000e0100", `a\U000e0061\U000e0100`},
		"InvalidBytes": {"Kubernetes replaces invalid bytes, so that the status would differ in each pass", "a\xffb\xc3", "a\uFFFDb\uFFFD"},
		"Surrogate":    {"half of a UTF-16 character is invalid", "\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := text.Line(tc.in, text.Message); got != tc.want {
				t.Errorf("%s:\n got %q\nwant %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 400 * time.Millisecond: "0s", 59 * time.Second: "59s", time.Minute: "1m", 200 * time.Second: "3m20s", 599 * time.Second: "9m59s",
		10*time.Minute + 5*time.Second: "10m", time.Hour - time.Second/2: "1h", time.Hour: "1h", 65 * time.Minute: "1h5m", 47*time.Hour + 59*time.Minute: "47h59m", 48 * time.Hour: "2d", 80 * time.Hour: "3d",
	} {
		if got := text.Duration(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

// Line cuts a text between characters.
func TestCut(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		limit  int
		want   string
	}{
		"Fits":       {"a text with limit bytes is kept", strings.Repeat("x", 40), 40, strings.Repeat("x", 40)},
		"TooLong":    {"the mark has the number of missing bytes", strings.Repeat("x", 12385), 63, strings.Repeat("x", 40) + "... (12,345 bytes more)"},
		"InsideRune": {"a character is not cut", strings.Repeat("ü", 40), 40, strings.Repeat("ü", 10) + "... (60 bytes more)"},
		"InsideMark": {"an escape is not cut", strings.Repeat("x", 19) + strings.Repeat("\x1b", 30), 40, strings.Repeat("x", 19) + "... (30 bytes more)"},
		"Secret":     {"a replaced secret is not cut, and counts as missing", "x?sig=" + strings.Repeat("s", 500), 34, "x?sig=REDACTED"},
		"AtSecret":   {"the cut is before a secret", "xxxxxxxxxx?sig=" + strings.Repeat("s", 40) + " " + strings.Repeat("x", 99), 40, "xxxxxxxxxx?sig=... (140 bytes more)"},
		"NoRoom":     {"without room for a mark, there is no mark", strings.Repeat("x", 99), 5, "xxxxx"},
		"Zero":       {"a limit of 0 leaves no text", "x", 0, ""},
		"Negative":   {"a negative limit leaves no text", "x", -1, ""},
		"Again":      {"a cut text that is cut again gets one mark", strings.Repeat("x", 40) + "... (12,345 bytes more)", 60, strings.Repeat("x", 40) + "... (23 bytes more)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := text.Line(tc.in, tc.limit); got != tc.want {
				t.Errorf("%s:\n got %q\nwant %q", tc.reason, got, tc.want)
			}
		})
	}
}

// Line redacts secrets, and nothing else.
func TestSecrets(t *testing.T) {
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"
	cases := map[string]struct {
		reason   string
		in, want string
	}{
		"SAS": {"the signature of a shared access signature",
			"GET https://a.blob.core.windows.net/c?sv=2020-08-04&sig=Ab%2Bc%3D&se=2030: 403", "GET https://a.blob.core.windows.net/c?sv=2020-08-04&sig=REDACTED&se=2030: 403"},
		"SASAlone":      {"a signature without a question mark", "SharedAccessSignature sr=a&sig=Ab%2Bc%3D&se=1", "SharedAccessSignature sr=a&sig=REDACTED&se=1"},
		"SASInQuery":    {"a URL in a query", "?to=https%3A%2F%2Fa%2Fc%3Fsv%3D1%26sig%3DAb%252B x", "?to=https%3A%2F%2Fa%2Fc%3Fsv%3D1%26sig%3DREDACTED x"},
		"SASInJSON":     {"Go escapes & in JSON", `{"url":"https://a/c?sv=1\u0026sig=Abc"}`, `{"url":"https://a/c?sv=1\u0026sig=REDACTED"}`},
		"SASAtTheEnd":   {"the punctuation after a secret is kept", "(see https://a/c?sig=Abc).", "(see https://a/c?sig=REDACTED)."},
		"AmzSignature":  {"a signed URL of AWS", "https://s3/b?X-Amz-Signature=abc&X-Amz-Expires=60", "https://s3/b?X-Amz-Signature=REDACTED&X-Amz-Expires=60"},
		"AmzCredential": {"a signed URL of AWS", "https://s3/b?X-Amz-Credential=AKIA%2Fx&a=b", "https://s3/b?X-Amz-Credential=REDACTED&a=b"},
		"AmzToken":      {"a signed URL of AWS", "https://s3/b?X-Amz-Security-Token=abc", "https://s3/b?X-Amz-Security-Token=REDACTED"},
		"GoogSignature": {"a signed URL of Google", "https://gs/b?X-Goog-Signature=abc&X-Goog-Date=1", "https://gs/b?X-Goog-Signature=REDACTED&X-Goog-Date=1"},
		"AccessToken":   {"a token in a query", "https://a/b?access_token=" + jwt, "https://a/b?access_token=REDACTED"},
		"Code":          {"the code of a login, and the key of a function", "https://a/b?code=abc&key=def https://a/b#code=ghi", "https://a/b?code=REDACTED&key=REDACTED https://a/b#code=REDACTED"},
		"ClientSecret":  {"a form", "grant_type=x&client_secret=s~cret&scope=y", "grant_type=x&client_secret=REDACTED&scope=y"},
		"Password":      {"a connection string", "Server=db;User=u;Password=p,w;Encrypt=1", "Server=db;User=u;Password=REDACTED;Encrypt=1"},
		"Spaced":        {"spaces around the sign", "adminPassword = hunter2 rejected", "adminPassword = REDACTED rejected"},
		"Quoted":        {"spaces inside quotes", `password="a b" user=u`, `password="REDACTED" user=u`},
		"AccountKey":    {"a storage account", "AccountName=a;AccountKey=Zm9v/+==;EndpointSuffix=x", "AccountName=a;AccountKey=REDACTED;EndpointSuffix=x"},
		"SharedAccessKey": {"a service bus; the name of the key is kept",
			"Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=Zm9v=", "Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=REDACTED"},
		"JSON":          {"an answer of a login", `{"access_token": "abc", "expires_in": 1}`, `{"access_token": "REDACTED", "expires_in": 1}`},
		"JSONInJSON":    {"an answer in an answer", `{"m":"{\"client_secret\":\"a\",\"b\":1}"}`, `{"m":"{\"client_secret\":\"REDACTED\",\"b\":1}"}`},
		"JSONQuote":     {"a quote in a secret", `{"password":"a\"b","c":1}`, `{"password":"REDACTED","c":1}`},
		"APIToken":      {"a setting of a client", "api_token=abc AUTH_TOKEN=def x", "api_token=REDACTED AUTH_TOKEN=REDACTED x"},
		"DBPass":        {"a setting of a database", "DB_PASS=abc pass=def bypass=1", "DB_PASS=REDACTED pass=REDACTED bypass=1"},
		"Authorization": {"a header", "Authorization: Negotiate abc== failed", "Authorization: REDACTED failed"},
		"Header":        {"a map of headers", "map[Authorization:[Bearer abc def] Accept:[x]]", "map[Authorization:[REDACTED] Accept:[x]]"},
		"ApiKey":        {"a header", "Ocp-Apim-Subscription-Key: abc", "Ocp-Apim-Subscription-Key: REDACTED"},
		"Bearer":        {"a token without its header", "sent Bearer " + jwt + ", got 401", "sent Bearer REDACTED, got 401"},
		"BearerLine":    {"a token on a line of its own", "Authorization:\n  Bearer\n  " + jwt, "Authorization: REDACTED"},
		"Basic":         {"a user and a password", "sent Basic dXNlcjpwYXNz", "sent Basic REDACTED"},
		"URL":           {"a password in a URL", "https://user:p@ss@host/x: refused", "https://user:REDACTED@host/x: refused"},
		"URLNotEscaped": {"a password that is not escaped", `parse "postgres://u:p/w?x#y@h:5432/db": bad`, `parse "postgres://u:REDACTED@h:5432/db": bad`},
		"Several":       {"several secrets", "sig=a sig=b\nsig=c", "sig=REDACTED sig=REDACTED; sig=REDACTED"},
		"Invisible":     {"control characters do not hide a secret", "\x1bsig=a\x00b", `\x1bsig=REDACTED`},

		"ColorBefore":  {"a color before a key", "\x1b[31msig=abc x", "sig=REDACTED x"},
		"ColorBetween": {"a color between a key and its value", "token\x1b[0m=\x1b[1m\"a b\"\x1b[0m x", `token="REDACTED" x`},
		"ColorBearer":  {"a color before a token", "Bearer \x1b[32m" + jwt + "\x1b[0m x", "Bearer REDACTED x"},
		"YAML":         {"a manifest", "user: u\n  password: hunter2\n- token: abc # old\nport: 1", "user: u; password: REDACTED; - token: REDACTED # old; port: 1"},
		"YAMLFlow":     {"a manifest on one line", "{user: u, clientSecret: a, password: b}", "{user: u, clientSecret: REDACTED, password: REDACTED}"},
		"YAMLInText":   {"a value after the text of an error", "bad values: password: hunter2", "bad values: password: REDACTED"},
		"YAMLSentence": {"it is unclear whether the first word is a secret", "password: must not be empty", "password: REDACTED not be empty"},
		"YAMLBlock":    {"a value on the next line", "password: |-\n  hunter2\nport: 1", "password: |-; REDACTED; port: 1"},
		"PEM":          {"a private key", "tls.key: -----BEGIN RSA PRIVATE KEY-----\nMIIB+/=\nabc\n-----END RSA PRIVATE KEY-----\nx", "tls.key: -----BEGIN RSA PRIVATE KEY-----REDACTED-----END RSA PRIVATE KEY-----; x"},
		"PEMInJSON":    {"a private key with escaped line breaks", `{"key":"-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"}`, `{"key":"-----BEGIN PRIVATE KEY-----REDACTED-----END PRIVATE KEY-----\n"}`},
		"PEMOfKey":     {"the key of a private key", "privateKey: |\n  -----BEGIN PRIVATE KEY-----\n  MIIB\nprivate_key=-----BEGIN PRIVATE KEY-----\nMIIB", "privateKey: |; -----BEGIN PRIVATE KEY-----REDACTED-----BEGIN PRIVATE KEY-----REDACTED"},
		"PEMCut":       {"the end of a private key is missing", "-----BEGIN EC PRIVATE KEY-----\nMIIB", "-----BEGIN EC PRIVATE KEY-----REDACTED"},
		"Cookie":       {"each cookie of a header, and no other line", "Cookie: a=b; sid=\"c d\"\nHost: x\nSet-Cookie: sid=a; Path=/", "Cookie: REDACTED; Host: x; Set-Cookie: REDACTED"},
		"Cookies":      {"a map of headers", "map[Cookie:[a=b; c=d] Accept:[x]]", "map[Cookie:[REDACTED] Accept:[x]]"},
		"Ampersand":    {"only in a query does & end a value", "Password=p&w;Encrypt=1 DB_PASS=a&b=c x?a=b&password=c&d=e", "Password=REDACTED;Encrypt=1 DB_PASS=REDACTED x?a=b&password=REDACTED&d=e"},

		"NoSecret":        {"words that end like a key are kept", "design=x assign=y resig=z", "design=x assign=y resig=z"},
		"RPC":             {"a code of gRPC is kept", "rpc error: code = NotFound desc = no such key", "rpc error: code = NotFound desc = no such key"},
		"Error":           {"a code of an error is kept", `Code="Conflict" StatusCode=409 key: x`, `Code="Conflict" StatusCode=409 key: x`},
		"Field":           {"the name of an invalid field is kept", `spec.password: Required value; spec.token: unset`, `spec.password: Required value; spec.token: unset`},
		"Sentence":        {"a sentence about a secret is kept", "get secret: EOF\nno cookie: not found", "get secret: EOF; no cookie: not found"},
		"Certificate":     {"a certificate is no secret", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----; MIIB; -----END CERTIFICATE-----"},
		"Port":            {"a port is kept", "https://host:8080/x@y http://[::1]:80/a@b", "https://host:8080/x@y http://[::1]:80/a@b"},
		"User":            {"a user is kept", "ssh://git@host:22/x", "ssh://git@host:22/x"},
		"BasicTier":       {"a tier is kept", "SKU Basic is not allowed, nor Basic authentication", "SKU Basic is not allowed, nor Basic authentication"},
		"Challenge":       {"the challenge of a server is kept", `Bearer realm="x", error="y": the Bearer token expired`, `Bearer realm="x", error="y": the Bearer token expired`},
		"NoValue":         {"a key without a value is kept", "?sig=&a=b password=", "?sig=&a=b password="},
		"AlreadyRedacted": {"a redacted text is kept", "https://a?sig=REDACTED&b Authorization: REDACTED for x", "https://a?sig=REDACTED&b Authorization: REDACTED for x"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := text.Line(tc.in, text.Message); got != tc.want {
				t.Errorf("%s:\n got %q\nwant %q", tc.reason, got, tc.want)
			}
		})
	}
}

// A safe text is returned without an allocation.
func TestLineAllocates(t *testing.T) {
	for _, s := range []string{
		"owner Cluster prod/c is not ready: QuotaExceeded: größer than 集群, see https://aka.ms/x?y=z (SKU Basic is full)",
		"https://a/c?sig=REDACTED: 403",
		strings.Repeat("x", 40) + "... (12,345 bytes more)",
	} {
		if n := testing.AllocsPerRun(100, func() { text.Line(s, text.Message) }); n != 0 {
			t.Errorf("%g allocations for %q", n, s)
		}
	}
}

// The time depends on the limit, not on the length of the text.
func TestLineRatio(t *testing.T) {
	ratio.InVerify(t)
	short, long := strings.Repeat("x", 1<<10), strings.Repeat("x", 1<<20)
	if r := ratio.Of(func() { text.Line(long, text.Word) }, func() { text.Line(short, text.Word) }, ratio.Options{}); r > 20 {
		t.Errorf("a text of 1 MiB takes %.0f times as long as one of 1 KiB", r)
	}
}

// The laws of Line hold for texts of signs, secrets and marks.
func TestLaws(t *testing.T) {
	pieces := []string{
		"a", "ü", " ", "  ", "\n", "\u2028", "\u00a0", "\x1b", "\u202e", "\xff", ":", "=", "%3D", "%26", "://", "/", "@", "?", "&", "#", ";", "\"", "'", "\\", "[", "]", ".", ",", "1",
		"sig", "code", "key", "password", "Authorization", "Bearer", "Basic", "dXNlcjpwYXNz", "realm=", "token", "https://user:", "u0026", "cookie", "\x1b[1m", "- ", "{", "}", "|", "-----BEGIN ", "PRIVATE KEY-----", "-----END", text.Redacted, "... (", "12", " bytes more)",
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
		laws(t, s, rapid.IntRange(0, 120).Draw(t, "limit"))
		laws(t, s, text.Message)
	})
}

// laws checks the laws of Line: the limit, valid UTF-8, visible characters, and
// no change by a second call.
func laws(t rapid.TB, s string, limit int) {
	line := text.Line(s, limit)
	if len(line) > max(limit, 0) {
		t.Errorf("%d bytes, with a limit of %d", len(line), limit)
	}
	if !utf8.ValidString(line) {
		t.Errorf("invalid UTF-8: %q", line)
	}
	if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) || unicode.Is(unicode.Cf, r) }); i >= 0 {
		t.Errorf("invisible: %q", line[i:])
	}
	if again := text.Line(line, limit); again != line {
		t.Errorf("%q becomes\n%q, and then\n%q", s, line, again)
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{
		"", "a\n> b", "\x1b\x9b\u202e\ufeff\xff", "https://u:p@h?sig=a&code=b%26sig%3Dc", "Authorization:\nBasic dXNlcjpwYXNz",
		"a: b\npassword: |\n c", "Cookie: a=b\nc", "\x1b[1mpassword=\x1b[0ma&b", "-----BEGIN PRIVATE KEY-----\na\n-----END PRIVATE KEY-----",
		`{"password":"a\"b"}`, "Bearer realm=\"x\" abc", strings.Repeat("xü\x1b", 30), "sig=" + strings.Repeat("s", 90) + " x... (9 bytes more)",
	} {
		f.Add(s, 64)
		f.Add(s, text.Message)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		laws(t, s, limit)
	})
}
