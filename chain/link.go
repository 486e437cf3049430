package chain

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/text"
)

// Handler does one piece of work: it takes a request and returns a result or an
// error.
//
// A request should be a pointer or a small value: Go passes up to about twelve
// words in registers. A result should have at most four words: each link copies
// a larger one through memory.
type Handler[Req, Res any] func(ctx context.Context, req Req) (Res, error)

// Middleware is a link: it returns a handler that may act before next, after
// it, or instead of it. [Chain.Then] calls the Middleware once for each
// composition, and callers call the returned handler once for each request,
// also from several goroutines at once. So a variable that the Middleware
// declares outside the returned handler is shared by all requests and must be
// safe for concurrent use.
//
// Middleware is an alias, so functions and slices of functions of this shape
// need no conversion.
type Middleware[Req, Res any] = func(next Handler[Req, Res]) Handler[Req, Res]

// Link describes one link of a chain.
type Link struct {
	// Point is the extension point that the link customises. It is empty unless
	// [Chain.At] set it.
	Point string
	// Within is the link that contains this one: a [When], or a check of
	// package checks that is made of other checks. Observers see both links.
	// Within is nil for every link that [Chain.Links] lists.
	Within *Link
	// Name is the name given to [Named]. Without one it is derived from the
	// function that made the link, as in "audit.New". It is one line of at most
	// 200 bytes without control characters and known secrets, so an observer may
	// show it as it is. Names need not be unique.
	Name string
	// Source is the place where the user made the link, as "folder/file.go:12".
	// It is empty if unknown.
	Source string
	// Derived reports that Name was derived from a function. Such a name may
	// change with the surrounding code or the compiler. Editing by it works,
	// but a name given by [Named] is safer.
	Derived bool
	// Tag carries facts from the function that made the link to the package
	// that runs the chain. It is nil for most links. A link that stands for a
	// whole extension point, or for a whole pass, is marked by its Tag.
	Tag any
}

// String returns the name, followed by the source if the name is derived. The
// text is one line of at most 200 bytes.
func (l *Link) String() string {
	name := l.Name
	if l.Derived && l.Source != "" {
		name += " (" + l.Source + ")"
	}
	return text.Line(name, text.Name)
}

// Named returns link with a name, for listing, printing, observing and editing.
// Naming a link again replaces its name. Named panics on a nil link and on a
// blank name.
func Named[Req, Res any](name string, link Middleware[Req, Res]) Middleware[Req, Res] {
	source := probe.Caller()
	if strings.TrimSpace(name) == "" {
		panic(fmt.Sprintf("chain: Named: the name of the link at %s is empty", source))
	}
	if link == nil {
		panic(fmt.Sprintf("chain: Named: link %s at %s is nil", name, source))
	}
	answer := probe.Answer{Name: name, Source: source}
	if inner := probe.Ask(link); inner != nil {
		answer.Tag, answer.Inside = inner.Tag, inner.Inside
	}
	return probe.Named(answer, link)
}

// describe returns the description of link. It calls no code of the user.
func describe[Req, Res any](link Middleware[Req, Res]) *Link {
	if answer := probe.Ask(link); answer != nil {
		return &Link{Name: safeName(answer.Name), Source: answer.Source, Tag: answer.Tag}
	}
	name, source := funcName(link)
	if name == "chain.Recover" {
		return &Link{Name: "Recover", Source: source}
	}
	return &Link{Name: safeName(name), Source: source, Derived: true}
}

// safeName returns the name that a link has if a user names it name.
func safeName(name string) string { return text.Line(name, text.Name) }

// funcNames caches the results of funcName by the entry point of the function.
// A program has a bounded number of functions.
var funcNames sync.Map // uintptr: foundName

type foundName struct {
	name, source string
	own          bool // a function of this library
}

// funcName derives a name for a function value from the function that made it.
// The source is the user's line.
func funcName(fn any) (name, source string) {
	f := probe.Func(fn)
	if f == nil {
		return "unknown", probe.Caller()
	}
	known, ok := funcNames.Load(f.Entry())
	if !ok {
		file, line := f.FileLine(f.Entry())
		known, _ = funcNames.LoadOrStore(f.Entry(), foundName{shortName(f.Name(), file), probe.Place(file, line), probe.Own(f.Name(), file)})
	}
	found := known.(foundName)
	if found.own {
		return found.name, probe.Caller()
	}
	return found.name, found.source
}

// shortName shortens the full name of a function to a name such as "audit.New".
// A closure made by audit.New has the full name "x.y/audit.New.func1". If the
// compiler inlined New into main, the full name is "main.main.New.func2", but
// the file is still the file of New.
func shortName(full, file string) string {
	full = strings.ReplaceAll(full, "[...]", "")
	pkg, rest, _ := strings.Cut(path.Base(full), ".")
	method := strings.HasSuffix(rest, "-fm")
	parts := strings.Split(strings.TrimSuffix(rest, "-fm"), ".")
	for len(parts) > 1 && isClosure(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	n := len(parts)
	name, _, _ := strings.Cut(parts[n-1], "-range") // the body of a range over a function
	if n > 1 && (method || strings.HasPrefix(parts[n-2], "(*")) {
		name = parts[n-2] + "." + name
	}
	if file == "<autogenerated>" { // a method value: the import path contains the folder too
		file = path.Join(path.Dir(full), pkg, "x.go")
	}
	if dir := folder(file); dir != "." {
		pkg = dir
	}
	return pkg + "." + name
}

// isClosure reports whether the compiler generated this part of a name: func1,
// 1, func1-range2, gowrap1, or an empty part.
func isClosure(part string) bool {
	part, _, _ = strings.Cut(part, "-range")
	for _, prefix := range [...]string{"func", "gowrap", "deferwrap"} {
		if rest, ok := strings.CutPrefix(part, prefix); ok && rest != "" {
			part = rest
			break
		}
	}
	return strings.Trim(part, "0123456789") == ""
}

// folder returns the name of a file's folder without its version: "audit" for
// both ".../audit@v1.2.0/x.go" and ".../audit/v2/x.go". It returns "." for a
// file without a folder, such as those of go run -trimpath.
func folder(file string) string {
	dir := path.Dir(file)
	name, _, _ := strings.Cut(path.Base(dir), "@")
	if v, ok := strings.CutPrefix(name, "v"); ok && v != "" && strings.Trim(v, "0123456789") == "" {
		name, _, _ = strings.Cut(path.Base(path.Dir(dir)), "@")
	}
	return name
}
