package style

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/internal/testing/race"
)

//style:quote
func TestCheck(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   []string // the rules that are broken, in order
	}{
		"Plain":           {"a plain sentence passes", "Found reports whether the object exists.", nil},
		"HeadlessStart":   {"the same at the start", "It is small. What has no conditions is not ready.", []string{"name the noun"}},
		"Question":        {"a question may begin so", "What is a link?", nil},
		"TwoRules":        {"each rule is reported", "Nobody waits for what is missing.", []string{"name the noun", "name the actor"}},
		"Wrapped":         {"a line break is a space", "the links\nbehind it", []string{"outer and inner"}},
		"Quotation":       {"another system's words", `ASO says "nobody knows", with one cause.`, nil},
		"Code":            {"a name in code", "call `goes on` twice", nil},
		"IndentedCode":    {"code in a comment", "It is called so:\n\n\tx := behind(what is it)\n", nil},
		"Blockquote":      {"a quotation in a page", "> nobody knows\n", nil},
		"Link":            {"an address", "see [the page](docs/behind/nobody.md)", nil},
		"Table":           {"each cell is a text", "| a cell | behind it |", []string{"outer and inner"}},
		"LongSentence":    {"41 words", strings.Repeat("word ", MaxWords) + "end.", []string{"a sentence has 41 words, at most 40 are allowed"}},
		"AllowedLength":   {"40 words", strings.Repeat("word ", MaxWords-1) + "end.", nil},
		"TwoSentences":    {"each has its own length", strings.Repeat("word ", 30) + "end. " + strings.Repeat("word ", 30) + "end.", nil},
		"List":            {"an item is a sentence", "- " + strings.Repeat("word ", 30) + "\n- " + strings.Repeat("word ", 30), nil},
		"SentenceOfSigns": {"signs are no words", strings.Repeat("- ", 60) + "end", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range Check(c.text) {
				rule, _, _ := strings.Cut(p, ": ")
				got = append(got, rule)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: rules (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// Each alternative of a rule is found, although Words selects the sentences.
//
//style:quote
func TestWords(t *testing.T) {
	for rule, texts := range map[string][]string{
		"name the noun": {"A pass waits for what is missing.", "What is missing stays.", "one of whom", "those of which",
			"an object of which the cache has a copy", "what it is told"},
		"name the actor": {"Anybody calls it.", "somebody calls it", "whoever calls", "whomever it calls",
			"No one calls.", "those who call", "anyone who calls"},
		"verb first":      {"tell how", "tells of it", "IsDone tells whether the operation ended."},
		"outer and inner": {"in front of it", "beside it", "behind it"},
		"one term": {"it goes on", "they go on", "going on", "it went on", "Comes to nothing.",
			"come to be", "look again", "came back", "asks anew"},
		"no metaphors": {"herds", "the audience", "a desk", "seats", "TAPE"},
	} {
		for _, text := range texts {
			if problems := Check(text); len(problems) != 1 || !strings.HasPrefix(problems[0], rule+": ") {
				t.Errorf("%q breaks the rule %q: got %q", text, rule, problems)
			}
		}
	}
}

func TestCheckName(t *testing.T) {
	cases := map[string]struct {
		reason string
		name   string
		banned bool
	}{
		"Plain":    {"a standard term", "observedGeneration", false},
		"Word":     {"the whole name", "behind", true},
		"Part":     {"a part of the name", "errToldTwice", true},
		"First":    {"the first part", "SeatOf", true},
		"Snake":    {"parts between underscores", "Test_desk_x", true},
		"InWord":   {"no part of its own", "deskew", false},
		"Foretold": {"no part of its own", "foretold", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := CheckName(c.name); (got != "") != c.banned {
				t.Errorf("%s: CheckName(%q) = %q", c.reason, c.name, got)
			}
		})
	}
}

//style:quote
func TestGo(t *testing.T) {
	const source = `package p

// Nobody calls it.
func f(told int) {
	a := "the links behind it"
	//style:quote
	b := "the links behind it"
	c := "behind" // two words at most: a key
	d := "nobody knows it" //style:quote
	// The message is a quotation:
	//style:quote
	g(a, b, c,
		"nobody knows it")
	type desk struct { seat int ` + "`json:\"nobody knows this\"`" + ` }
}

//style:quote
var quotation = []string{
	"nobody knows it",
}
`
	problems, err := Go([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, p := range problems {
		got = append(got, p.Line)
	}
	if diff := cmp.Diff([]int{3, 4, 5, 14, 14}, got); diff != "" {
		t.Errorf("lines of problems (-want +got):\n%s\n%+v", diff, problems)
	}
}

//style:quote
func TestMarkdown(t *testing.T) {
	const page = "# Title\n\nNobody calls\nit.\n\n```go\nx := nobody(knows, it)\n```\n\nThe links behind it.\n"
	var got []int
	for _, p := range Markdown(page) {
		got = append(got, p.Line)
	}
	if diff := cmp.Diff([]int{3, 10}, got); diff != "" {
		t.Errorf("lines of problems (-want +got):\n%s", diff)
	}
}

// leftovers are the endings of files that editors, merges and patches make and
// the tree does not need.
var leftovers = []string{".orig", ".rej", ".bak", "~"}

// TestTree checks every Go file and every page of all modules. It refuses the
// leftovers of editors, merges and patches.
func TestTree(t *testing.T) {
	if race.Enabled {
		t.Skip("regular expressions are slow under the race detector, and the test starts no goroutine; make test runs it")
	}
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if slices.Contains([]string{".git", "bin", "testdata", "vendor"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if slices.ContainsFunc(leftovers, func(end string) bool { return strings.HasSuffix(name, end) }) {
			t.Errorf("%s: an editor, a merge or a patch left this file: delete it", name)
		}
		markdown, goFile := strings.HasSuffix(name, ".md"), strings.HasSuffix(name, ".go")
		if !markdown && !goFile {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		problems := Markdown(string(text))
		if goFile {
			if problems, err = Go(text); err != nil {
				return err
			}
		}
		for _, p := range problems {
			t.Errorf("%s:%d: %s", name, p.Line, p.Text)
		}
		if problem := CheckName(strings.TrimSuffix(strings.TrimSuffix(d.Name(), ".go"), ".md")); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Fatalf("only %d files were found", files)
	}
}
