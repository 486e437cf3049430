// Package style checks the texts of the project against its style guide:
// comments and strings of Go files, and Markdown pages. A text names the actor
// and the noun, uses one term for one thing, and keeps sentences short.
//
// A quotation of another system is exempt: code and quotation marks in comments
// and Markdown, blockquotes in Markdown, and Go code under the directive
//
//	//style:quote
//
// which covers the declaration, statement or element that follows it, or the
// rest of its own line.
package style

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Rule bans a construction.
type Rule struct {
	Name    string         // the rule of the style guide
	Words   []string       // in lower case; only a sentence with one of them can match Banned
	Banned  *regexp.Regexp // is matched in one sentence
	Rewrite string         // says what to write instead
}

// finds returns the place of the banned construction in a sentence, or nil.
// lower is the sentence in lower case. Regular expressions take most of the
// time, so few sentences reach them.
func (r Rule) finds(sentence, lower string) []int {
	for _, word := range r.Words {
		if strings.Contains(lower, word) {
			return r.Banned.FindStringIndex(sentence)
		}
	}
	return nil
}

// MaxWords is the number of words in the longest allowed sentence.
const MaxWords = 40

// Rules are the banned constructions.
//
//style:quote
var Rules = []Rule{
	{"name the noun", []string{"what"}, regexp.MustCompile(
		`(?i)\b(of|for|to|from|by|with|in|on|is|are|and|or|as|that|than|if|but|about|,) what (is|was|are|were|it|they|has|have|had|stands|comes|goes|says|said|cannot|can|does|did|this|the|a|an|users|others|people|only|no)\b`),
		`the thing: "the awaited object" for "what is waited for", "the cause" for "what stopped it"`},
	{"name the noun", []string{"what"}, regexp.MustCompile(`(^|[^\w ] |\b[Aa]nd )What (is|was|it|they|has|stands|comes|goes|says|cannot|can|the|this|a) [^?]*[^?]$`),
		`the thing first: "An object without conditions" for "What has no conditions"`},
	{"name the noun", []string{"which", "whom", "what"}, regexp.MustCompile(`(?i)\b(that|those|ones?) of (which|whom)\b|\bof (which|whom)\b|\bwhat (it|they) (is|are|was|were) (asked|waited|told|made)\b`),
		`the noun again, or two sentences`},
	{"name the actor", []string{"body", "who", "no one"}, regexp.MustCompile(`(?i)\b(nobody|somebody|anybody|whoever|whomever|no one|those who|anyone who)\b`),
		`the actor (the engine, the caller, the user, the API server, the link): "no link" for "nobody", "each waiter that" for "whoever"`},
	{"verb first", []string{"tell"}, regexp.MustCompile(`(?i)\btells? (whether|of|what|how)\b`),
		`"reports whether", "describes", "says how"`},
	{"outer and inner", []string{"in front of", "behind", "beside"}, regexp.MustCompile(`(?i)\b(in front of|behind|beside)\b`),
		`"before", "after", "outer", "inner", "stale", "next to"`},
	{"one term", []string{"go on", "goes on", "going on", "went on"}, regexp.MustCompile(`(?i)\b(goes|go|going|went) on\b`),
		`"proceeds", "continues"`},
	{"one term", []string{"come to", "comes to"}, regexp.MustCompile(`(?i)\bcomes? to (be|a|an|the|it|that|nothing)\b`),
		`"reaches", "becomes", "ends in"`},
	{"one term", []string{"back", "again", "anew"}, regexp.MustCompile(`(?i)\b(come|comes|came|look|looks|looked) (back|again)\b|\bask(s|ed)? anew\b`),
		`"is requeued", "reads again", "retries"`},
	{"no metaphors", []string{"herd", "audience", "desk", "seat", "tape"}, regexp.MustCompile(`(?i)\b(herd|audience|desk|seat|tape)s?\b`),
		`the standard term: "waiters", "observers", "record"`},
}

// Names are the words that no identifier has, each with what to write instead.
//
//style:quote
var Names = map[string]string{
	"behind": "stale, inner, after", "told": "reported, reason", "untold": "unreported", "said": "reported, result", "unsaid": "unreported",
	"seat": "slot", "judge": "check, decide", "judged": "checked, decided", "judges": "checks", "desk": "recorder, observer",
	"herd": "waiters", "tape": "record", "twin": "copy", "audience": "observers", "nobody": "none", "whoever": "waiter",
}

// Check returns what is wrong with text, a line for each problem, or nothing.
func Check(text string) []string {
	var problems []string
	for _, s := range sentences(text) {
		if n := words(s); n > MaxWords {
			problems = append(problems, fmt.Sprintf("a sentence has %d words, at most %d are allowed: split it: %s", n, MaxWords, quote(s)))
		}
		lower := strings.ToLower(s)
		for _, r := range Rules {
			if at := r.finds(s, lower); at != nil {
				problems = append(problems, fmt.Sprintf("%s: %q: write %s: in %s", r.Name, strings.TrimSpace(s[at[0]:at[1]]), r.Rewrite, quote(s)))
			}
		}
	}
	return problems
}

// CheckName returns what is wrong with an identifier, or "".
func CheckName(name string) string {
	for _, word := range camel(name) {
		if instead := Names[strings.ToLower(word)]; instead != "" {
			return fmt.Sprintf("the name %s contains %q: use a standard term, such as %s", name, word, instead)
		}
	}
	return ""
}

// sentences splits a text at the end of sentences, at blank lines, and at the
// lines of lists, headings and tables. Quotations and code are left out.
func sentences(text string) []string {
	var all []string
	for _, paragraph := range paragraphs(text) {
		paragraph = quoted.ReplaceAllString(paragraph, "X")
		start := 0
		for _, end := range sentenceEnd.FindAllStringIndex(paragraph, -1) {
			all = append(all, strings.TrimSpace(paragraph[start:end[0]+1]))
			start = end[1]
		}
		if rest := strings.TrimSpace(paragraph[start:]); rest != "" {
			all = append(all, rest)
		}
	}
	return all
}

var (
	quoted      = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|“[^”]*”|\\]\\([^)]*\\)|https?://\\S+")
	sentenceEnd = regexp.MustCompile(`[.!?:][)*_]*\s+`)
	listItem    = regexp.MustCompile(`^\s*([-*+]|\d+[.)]|#+|\|)\s+`)
)

// paragraphs joins the lines that belong together. Indented code is left out.
func paragraphs(text string) []string {
	var all []string
	var open []string
	flush := func() {
		if len(open) > 0 {
			all = append(all, strings.Join(open, " "))
		}
		open = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.TrimSpace(line) == "":
			flush()
		case strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "> "):
			flush()
		case strings.HasPrefix(line, "|"):
			flush()
			all = append(all, strings.Split(line, "|")...)
		case listItem.MatchString(line):
			flush()
			open = append(open, listItem.ReplaceAllString(line, ""))
		default:
			open = append(open, strings.TrimSpace(line))
		}
	}
	flush()
	return all
}

// words counts the words of s that have a letter or a digit.
func words(s string) int {
	n := 0
	for word := range strings.FieldsSeq(s) {
		if strings.IndexFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
			n++
		}
	}
	return n
}

// camel splits an identifier at underscores and before capital letters.
func camel(name string) []string {
	var all []string
	start := 0
	for i, r := range name {
		if r == '_' || unicode.IsUpper(r) {
			all = append(all, strings.Trim(name[start:i], "_"))
			start = i
		}
	}
	return append(all, strings.Trim(name[start:], "_"))
}

func quote(s string) string {
	if runes := []rune(s); len(runes) > 160 {
		s = string(runes[:160]) + "..."
	}
	return fmt.Sprintf("%q", s)
}
