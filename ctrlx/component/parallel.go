package component

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// parallel calls do for the numbers from 0 to n-1, several at once
// ([WithConcurrency]), and returns the errors in this order. A number waits for
// all before it if its priority differs from that of the one before.
func (o *options) parallel(n int, priority func(i int) int, do func(i int) error) []error {
	errs := make([]error, n)
	var running sync.WaitGroup
	room := make(chan struct{}, o.concurrency)
	for i := range n {
		if i > 0 && priority(i) != priority(i-1) {
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
