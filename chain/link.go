package chain

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/windlass-go/windlass/internal/probe"
)

// Kind says what a [Link] stands for.
type Kind uint8

const (
	// LinkKind is a link of a chain, which is what chains themselves report.
	LinkKind Kind = iota
	// Point is a whole extension point: a chain together with its end.
	Point
	// Pass is a whole pass of a reconciler through its points.
	Pass
)

// String is "link", "point" or "pass".
func (k Kind) String() string {
	switch k {
	case LinkKind:
		return "link"
	case Point:
		return "point"
	case Pass:
		return "pass"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Link describes a link to those who list, print or observe chains.
type Link struct {
	// Kind is LinkKind for what a chain lists.
	Kind Kind
	// Point is the extension point that the link customises (see [Chain.At]); empty for a chain that stands alone.
	Point string
	// Name is what [Named] gave, or else is derived from the function that made the link, as in "audit.New". It need
	// not be unique.
	Name string
	// Source is where the user made the link, as "folder/file.go:12"; empty if it is not known.
	Source string
	// Derived says that nobody named the link. Such a name may change when the code around it does, even when the
	// compiler inlines differently; editing by it is possible, but naming the link is better.
	Derived bool
}

// String is the name, followed by the source if the name is a derived one.
func (l *Link) String() string {
	if l.Derived && l.Source != "" {
		return l.Name + " (" + l.Source + ")"
	}
	return l.Name
}

// Named gives a link its name, by which it is listed, printed, observed and edited. Naming a link again replaces the
// name. A nil link and a blank name are errors of set-up and panic.
//
//go:noinline
func Named[Req, Res any](name string, link Middleware[Req, Res]) Middleware[Req, Res] {
	// Not inlined, since the closure below is recognised by the name of the function that made it.
	source := probe.Caller()
	if strings.TrimSpace(name) == "" {
		panic(fmt.Sprintf("chain: Named: the name of the link at %s is empty", source))
	}
	if link == nil {
		panic(fmt.Sprintf("chain: Named: link %s at %s is nil", name, source))
	}
	return func(next Handler[Req, Res]) Handler[Req, Res] {
		if next == nil {
			answer := &probe.Answer{Name: name, Source: source, Inner: link}
			return func(context.Context, Req) (res Res, err error) { return res, answer }
		}
		return link(next)
	}
}

// NameOf is the name by which a chain would list link; see [Link.Name]. It is for those who write links that wrap
// links. A nil link has the name "nil".
func NameOf[Req, Res any](link Middleware[Req, Res]) string {
	if link == nil {
		return "nil"
	}
	return describe(link).Name
}

// Unnamed gives the link that [Named] was given, and whether link was made by Named at all. It is for those who look
// into links, and calls none but named ones.
func Unnamed[Req, Res any](link Middleware[Req, Res]) (Middleware[Req, Res], bool) {
	if answer := ask(link); answer != nil {
		inner, ok := answer.Inner.(Middleware[Req, Res])
		return inner, ok
	}
	return nil, false
}

// ask asks a link that was made by Named what it is; any other is left alone, and gives nil.
func ask[Req, Res any](link Middleware[Req, Res]) *probe.Answer {
	if !probe.MadeBy(link, "chain.Named") {
		return nil
	}
	var req Req
	var answer *probe.Answer
	_, err := link(nil)(context.Background(), req)
	errors.As(err, &answer)
	return answer
}

// describe finds the name of a link without composing or calling it, unless it was made by Named.
func describe[Req, Res any](link Middleware[Req, Res]) *Link {
	if answer := ask(link); answer != nil {
		return &Link{Name: answer.Name, Source: answer.Source}
	}
	name, source := funcName(link)
	if probe.Is(link, "chain.Recover") {
		return &Link{Name: "Recover", Source: source}
	}
	return &Link{Name: name, Source: source, Derived: true}
}

// funcName derives a name for a function value from the function that made it, and finds the user's line.
func funcName(fn any) (name, source string) {
	f := probe.Func(fn)
	if f == nil {
		return "unknown", probe.Caller()
	}
	file, line := f.FileLine(f.Entry())
	if probe.Own(f.Name(), file) {
		source = probe.Caller()
	} else {
		source = probe.Place(file, line)
	}
	return shortName(f.Name(), file), source
}

// shortName makes "audit.New" of a function's full name and file, however the compiler inlined it: a closure that
// audit.New made is "x.y/audit.New.func1", and where New was inlined into main "main.main.New.func2", but its file is
// still the one of New.
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
	if file == "<autogenerated>" { // of a method value; its import path says the folder too
		file = path.Join(path.Dir(full), pkg, "x.go")
	}
	if dir := folder(file); dir != "." {
		pkg = dir
	}
	return pkg + "." + name
}

// isClosure tells the parts of a name that the compiler makes up: func1, 1, func1-range2, gowrap1, and empty ones.
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

// folder is the name of a file's folder without its version, "audit" for both ".../audit@v1.2.0/x.go" and
// ".../audit/v2/x.go", and "." for a file of no folder, as go run -trimpath makes.
func folder(file string) string {
	dir := path.Dir(file)
	name, _, _ := strings.Cut(path.Base(dir), "@")
	if v, ok := strings.CutPrefix(name, "v"); ok && v != "" && strings.Trim(v, "0123456789") == "" {
		name, _, _ = strings.Cut(path.Base(path.Dir(dir)), "@")
	}
	return name
}
