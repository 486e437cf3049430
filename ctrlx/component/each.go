package component

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// each calls do for objects of a wave, several at once ([WithConcurrency]), and
// returns the errors in the order of the objects. An object waits for those of
// kinds that come before its own.
func (w *Wave) each(objects []int, do func(i int) error) []error {
	errs := make([]error, len(objects))
	var running sync.WaitGroup
	room := make(chan struct{}, w.system.concurrency)
	for n, i := range objects {
		if n > 0 && w.Objects[i].priority() != w.Objects[objects[n-1]].priority() {
			running.Wait()
		}
		room <- struct{}{}
		running.Go(func() {
			defer func() {
				if v := recover(); v != nil { // outside of the links, which recover
					errs[n] = fmt.Errorf("%s: panic: %v\n%s", w.Objects[i].Ref, v, debug.Stack())
				}
				<-room
			}()
			errs[n] = do(i)
		})
	}
	running.Wait()
	return errs
}
