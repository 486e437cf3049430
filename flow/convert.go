package flow

import (
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Convert makes extensions for From of extensions for To, another version of
// the same API. It keeps owner checks and error rules as they are, and converts
// checks of the resource with [checks.Convert]. Add the links of the new
// version with [Extensions.Extend]. To limit an error rule to some versions,
// set its APIVersions.
//
// If convert returns an error, returns nil, or panics, the check that needed it
// fails, and with it the pass. The error is a [*checks.ConversionError], which
// names the kind and both types. The pass calls convert only for a check, and
// for the objects that a check follows although the pass leaves it out. If only
// a PostCheck converts, the PUT happens before convert can fail: add a PreCheck
// that converts too.
//
// Convert panics on:
//
//   - a nil convert;
//   - links on Pass, Get, Apply and Delete, and gates ([checks.Gate]), because
//     their changes to the converted resource would be lost; write them for the
//     new type;
//   - checks of the resource with decorations or observers, which would be lost
//     as well.
func Convert[From, To any](ext Extensions[To], convert func(From) (To, error)) Extensions[From] {
	if convert == nil {
		panic("flow: Convert: the function is nil")
	}
	noLinks(PointPass, ext.Pass)
	noLinks(PointGet, ext.Get)
	noLinks(PointApply, ext.Apply)
	noLinks(PointDelete, ext.Delete)
	undecorated("Convert", PointEntryCheck, ext.EntryCheck)
	undecorated("Convert", PointPreCheck, ext.PreCheck)
	undecorated("Convert", PointPostCheck, ext.PostCheck)
	undecorated("Convert", PointDeleteCheck, ext.DeleteCheck)
	return Extensions[From]{
		EntryCheck:  checks.Convert(ext.EntryCheck, convert),
		OwnerCheck:  ext.OwnerCheck,
		PreCheck:    checks.Convert(ext.PreCheck, convert),
		PostCheck:   checks.Convert(ext.PostCheck, convert),
		DeleteCheck: checks.Convert(ext.DeleteCheck, convert),
		Classify:    ext.Classify,
	}
}

func noLinks[Req, Res any](point string, c chain.Chain[Req, Res]) {
	if c.Len() > 0 {
		panic(fmt.Sprintf("flow: Convert: links on %s (%s) act on the resource and cannot be converted: leave them out, and write them for the new type", point, c))
	}
}
