package flow

import (
	"fmt"

	"github.com/windlass-go/windlass/checks"
)

// Convert makes extensions that were written for one version of an API, To, serve another one, From, so that a kind keeps
// its customisations when a new version of it appears: owner checks and rules for errors as they are, checks of the
// resource by [checks.Convert]. What it needs besides is behind them by [Extensions.Extend]; what the old version needs
// alone is a [classify.Rule] with APIVersions.
//
// If convert gives an error, or nil, or panics, the pass has failed with a [*checks.ConversionError], which names the kind
// and both types. A nil convert panics here, and so do links on Pass, Get, Apply and Delete: they act on the resource
// itself, and what they did to a converted one would be lost.
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
	return Extensions[From]{
		OwnerCheck:  ext.OwnerCheck,
		PreCheck:    checks.Convert(ext.PreCheck, convert),
		PostCheck:   checks.Convert(ext.PostCheck, convert),
		DeleteCheck: checks.Convert(ext.DeleteCheck, convert),
		Classify:    ext.Classify,
	}
}
