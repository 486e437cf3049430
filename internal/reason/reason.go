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

// Of returns s if it is valid, or a valid reason made from s. It removes known
// secrets, replaces each invalid character with "_", and cuts s to [Max]. If s
// does not start with a letter, it adds the prefix "Code". It returns "" if s
// has no letters and digits.
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

// OfWords joins the words of a phrase: "RedisIsBusy" for "Redis is busy". It
// returns "" if the phrase has no letters and digits.
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

// Alphanumeric reports whether r is an ASCII letter or digit.
func Alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
