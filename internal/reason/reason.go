// Package reason checks and makes reasons of Kubernetes conditions.
package reason

import (
	"strings"

	"github.com/windlass-go/windlass/internal/text"
)

// Max is the maximum number of characters of a reason.
const Max = 1024

// Valid reports whether s has 1 to [Max] characters and matches the pattern of
// metav1.Condition: ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$
func Valid(s string) bool {
	if s == "" || len(s) > Max || !letter(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		c := s[i]
		word := Alphanumeric(rune(c)) || c == '_'
		if !word && (c != ',' && c != ':' || i == len(s)-1) {
			return false
		}
	}
	return true
}

// Of returns s if it is valid. Otherwise it returns s without known secrets,
// with "_" for each invalid character, cut to [Max], and with the prefix "Code"
// if s does not start with a letter. It returns "" for an s without letters and
// digits.
func Of(s string) string {
	if Valid(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if Alphanumeric(r) || r == ',' || r == ':' {
			return r
		}
		return '_'
	}, text.Line(s, 4*Max))
	if s = cut(s); !strings.ContainsFunc(s, Alphanumeric) {
		return ""
	}
	if !letter(s[0]) {
		s = cut("Code" + s)
	}
	if last := len(s) - 1; s[last] == ',' || s[last] == ':' {
		s = s[:last] + "_"
	}
	return s
}

// OfWords returns the words of a phrase as one word: "RedisIsBusy" for "Redis is
// busy". It returns "" for a phrase without letters and digits.
func OfWords(phrase string) string {
	words := strings.FieldsFunc(text.Line(phrase, 4*Max), func(r rune) bool { return !Alphanumeric(r) })
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	s := strings.Join(words, "")
	if s != "" && !letter(s[0]) {
		s = "Rule" + s
	}
	return cut(s)
}

func cut(s string) string { return s[:min(len(s), Max)] }

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// Alphanumeric reports whether r is a letter or a digit of ASCII.
func Alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
