package flow

import (
	"fmt"

	"github.com/windlass-go/windlass/checks"
)

// Convert makes extensions that were written for one version of an API, To, serve another one, From, so that a kind keeps
// its customisations when a new version of it appears: owner checks and rules for errors as they are, checks of the
// resource by [checks.Convert]. What the new version needs besides stands behind them by [Extensions.Extend]; a rule for
// errors that is for some versions only says so in its APIVersions.
//
// If convert gives an error, or nil, or panics, the check that was asked has failed with a [*checks.ConversionError], which
// names the kind and both types, and so has the pass. Where no check asks, convert is not called; so let a check at
// PreCheck convert, too, if others do at PostCheck, which is asked after the PUT.
//
// It panics on a nil convert, and on what acts on the resource itself, since what it did to a converted one would be lost:
// links on Pass, Get, Apply and Delete, and gates ([checks.Gate]). They are written for the new type.
func Convert[From, To any](ext Extensions[To], convert func(From) (To, error)) Extensions[From] {
	if convert == nil {
		panic("flow: Convert: the function is nil")
	}
	for _, acting := range []struct {
		point string
		links fmt.Stringer
		n     int
	}{
		{PointPass, ext.Pass, ext.Pass.Len()},
		{PointGet, ext.Get, ext.Get.Len()},
		{PointApply, ext.Apply, ext.Apply.Len()},
		{PointDelete, ext.Delete, ext.Delete.Len()},
	} {
		if acting.n > 0 {
			panic(fmt.Sprintf("flow: Convert: links on %s (%s) act on the resource and cannot be converted: leave them out, and write them for the new type", acting.point, acting.links))
		}
	}
	undecorated("Convert", PointPreCheck, ext.PreCheck)
	undecorated("Convert", PointPostCheck, ext.PostCheck)
	undecorated("Convert", PointDeleteCheck, ext.DeleteCheck)
	return Extensions[From]{
		OwnerCheck:  ext.OwnerCheck,
		PreCheck:    checks.Convert(ext.PreCheck, convert),
		PostCheck:   checks.Convert(ext.PostCheck, convert),
		DeleteCheck: checks.Convert(ext.DeleteCheck, convert),
		Classify:    ext.Classify,
	}
}
