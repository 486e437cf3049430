package style

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Problem is a text that breaks a rule.
type Problem struct {
	Line int    // the first line of the paragraph, comment or string
	Text string // says which rule, and how to rewrite
}

// Markdown returns the problems of a page. Fenced code is left out.
func Markdown(page string) []Problem {
	var problems []Problem
	var open []string
	first, fence := 0, ""
	flush := func() {
		problems = appendProblems(problems, first, strings.Join(open, "\n"))
		open = nil
	}
	for i, line := range strings.Split(page, "\n") {
		start := strings.TrimSpace(line)
		start = start[:min(3, len(start))]
		switch {
		case fence != "":
			if start == fence {
				fence = ""
			}
		case start == "```" || start == "~~~":
			flush()
			fence = start
		case start == "":
			flush()
		default:
			if len(open) == 0 {
				first = i + 1
			}
			open = append(open, line)
		}
	}
	flush()
	return problems
}

// Go returns the problems of a Go file: of its comments, its strings of more
// than two words, and the names that it declares.
func Go(source []byte) ([]Problem, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	line := func(p token.Pos) int { return files.Position(p).Line }
	exempt := quotations(file, line)
	var problems []Problem
	for _, group := range file.Comments {
		text := group.Text()
		if !exempt(line(group.Pos())) && !strings.HasPrefix(text, "Output:") && !strings.HasPrefix(text, "Unordered output:") {
			problems = appendProblems(problems, line(group.Pos()), text)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field: // without its tag
			for _, name := range n.Names {
				problems = appendName(problems, line(name.Pos()), name.Name)
			}
			if n.Tag != nil {
				n.Tag = nil
			}
		case *ast.FuncDecl:
			problems = appendName(problems, line(n.Name.Pos()), n.Name.Name)
		case *ast.TypeSpec:
			problems = appendName(problems, line(n.Name.Pos()), n.Name.Name)
		case *ast.ValueSpec:
			for _, name := range n.Names {
				problems = appendName(problems, line(name.Pos()), name.Name)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					if name, ok := left.(*ast.Ident); ok {
						problems = appendName(problems, line(name.Pos()), name.Name)
					}
				}
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING || exempt(line(n.Pos())) {
				return true
			}
			text, err := strconv.Unquote(n.Value)
			if err != nil {
				return true
			}
			for i, l := range strings.Split(text, "\n") { // lines of output are no paragraph
				if words(l) > 2 {
					problems = appendProblems(problems, line(n.Pos())+i, strings.TrimSpace(l))
				}
			}
		}
		return true
	})
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	return problems, nil
}

// quotations reports for a line whether a directive exempts it.
func quotations(file *ast.File, line func(token.Pos) int) func(int) bool {
	begins := map[int]bool{} // lines on which an exempt node begins
	lines := map[int]bool{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Text == "//style:quote" {
				lines[line(c.Pos())] = true
				begins[line(group.End())+1] = true
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil || !begins[line(n.Pos())] {
			return true
		}
		for l := line(n.Pos()); l <= line(n.End()); l++ {
			lines[l] = true
		}
		return false
	})
	return func(l int) bool { return lines[l] }
}

func appendProblems(to []Problem, line int, text string) []Problem {
	for _, p := range Check(text) {
		to = append(to, Problem{line, p})
	}
	return to
}

func appendName(to []Problem, line int, name string) []Problem {
	if p := CheckName(name); p != "" {
		to = append(to, Problem{line, p})
	}
	return to
}
