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
	after := func(n int) bool {
		return n > 0 && w.Objects[objects[n]].priority != w.Objects[objects[n-1]].priority
	}
	return w.system.parallel(len(objects), after, func(n int) error { return do(objects[n]) })
}

// parallel calls do for the numbers from 0 to n-1, several at once
// ([WithConcurrency]), and returns the errors in this order. A number for which
// after returns true waits for all before it.
func (o *options) parallel(n int, after func(i int) bool, do func(i int) error) []error {
	errs := make([]error, n)
	var running sync.WaitGroup
	room := make(chan struct{}, o.concurrency)
	for i := range n {
		if after(i) {
			running.Wait()
		}
		room <- struct{}{}
		running.Go(func() {
			defer func() {
				if v := recover(); v != nil { // outside of the links, which recover
					errs[i] = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
				}
				<-room
			}()
			errs[i] = do(i)
		})
	}
	running.Wait()
	return errs
}
