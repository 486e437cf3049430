package memoryserver

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// bookmarkEvery is the interval of bookmarks. API servers confirm a watch about
// once a minute.
const bookmarkEvery = time.Minute

// stream is the body of a watch. It has the changes of the log, each when it is
// due.
type stream struct {
	call
	selects func(*unstructured.Unstructured) bool
	first   []*unstructured.Unstructured // the list, which the stream begins with
	initial bool                         // a bookmark follows the list
	next    int                          // index of the next change in the log
	seen    int64                        // version of the last event
	marked  int64                        // version of the last bookmark
	marks   time.Time                    // time of the last bookmark
	expired bool                         // it ends with 410 Gone
	rest    bytes.Buffer
	wake    chan struct{}
	closed  chan struct{}
}

// watch opens a stream. It is called with the lock held.
func (c *call) watch() (any, error) {
	selects, err := c.selector()
	if err != nil {
		return nil, err
	}
	s := &stream{call: *c, selects: selects, marks: time.Now(), wake: make(chan struct{}, 1), closed: make(chan struct{})}
	from, _ := strconv.ParseInt(c.query.Get("resourceVersion"), 10, 64)
	if s.initial = c.query.Get("sendInitialEvents") == "true"; s.initial || from == 0 {
		all, err := c.selected()
		if err != nil {
			return nil, err
		}
		s.first, from = all, c.version
	}
	for s.next < len(c.log) && c.log[s.next].version <= from {
		s.next++
	}
	s.seen = from
	c.streams[s] = true
	return s, nil
}

// Expire ends the watches of a kind with 410 Gone, before the events that they have
// not read yet. Clients list again.
func (s *Server) Expire(kind schema.GroupKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.streams {
		if w.at.GroupKind() == kind {
			w.expired = true
			gone := apierrors.NewResourceExpired("the version is too old").Status()
			gone.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
			w.add("ERROR", gone)
			w.notify()
		}
	}
}

// notify tells a stream that the log has grown.
func (s *stream) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[s] {
		delete(s.streams, s)
		close(s.closed)
	}
	return nil
}

// Read implements io.Reader. It waits for the next event.
func (s *stream) Read(p []byte) (int, error) {
	for {
		wait, n := s.fill(time.Now(), p)
		if n > 0 {
			return n, nil
		}
		if wait < 0 {
			return 0, io.EOF
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.wake:
		case <-s.closed:
			return 0, io.EOF
		case <-s.http.Context().Done():
			// Not its error: a client that has ended would leave a goroutine with
			// it, and the bubble could not end.
			return 0, io.EOF
		}
		timer.Stop()
	}
}

// fill reads the events that are due, and returns the time until the next one. It is
// negative after the last one.
func (s *stream) fill(now time.Time, p []byte) (wait time.Duration, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rest.Len() == 0 && !s.expired {
		wait = s.due(now)
	} else if s.expired {
		wait = -1
	}
	n, _ = s.rest.Read(p)
	return wait, n
}

// due adds the events that are due. It is called with the lock held.
func (s *stream) due(now time.Time) (wait time.Duration) {
	for _, o := range s.first {
		s.add("ADDED", s.shown(o))
	}
	s.first = nil
	if s.initial {
		s.initial = false
		s.mark(map[string]any{"k8s.io/initial-events-end": "true"})
	}
	for ; s.next < len(s.log); s.next++ {
		c := s.log[s.next]
		before, after := s.selects(c.was), s.selects(c.object)
		if c.kind != s.at.Kind || !before && !after {
			continue
		}
		if c.due.After(now) {
			return c.due.Sub(now)
		}
		event := c.event
		switch {
		case !after: // it is deleted for this watch
			event = "DELETED"
		case !before && event == "MODIFIED":
			event = "ADDED"
		}
		s.add(event, s.shown(c.object))
		s.Arrived(s.agent, event, c.object)
		s.seen = c.version
	}
	s.seen = max(s.seen, s.version)
	if left := s.marks.Add(bookmarkEvery).Sub(now); left > 0 {
		return left
	}
	s.marks = now
	if s.marked != s.seen && s.query.Get("allowWatchBookmarks") == "true" {
		s.mark(nil)
	}
	return bookmarkEvery
}

// mark adds a bookmark.
func (s *stream) mark(annotations map[string]any) {
	s.marked = s.seen
	meta := map[string]any{"resourceVersion": strconv.FormatInt(s.seen, 10)}
	if annotations != nil {
		meta["annotations"] = annotations
	}
	kind, version := s.at.Kind.Kind, s.at.GroupVersion().String()
	if s.metadata() {
		kind, version = "PartialObjectMetadata", "meta.k8s.io/v1"
	}
	s.add("BOOKMARK", map[string]any{"kind": kind, "apiVersion": version, "metadata": meta})
}

func (s *stream) add(event string, object any) {
	data, err := json.Marshal(map[string]any{"type": event, "object": object})
	if err != nil {
		panic(err) // the server made it of JSON
	}
	s.rest.Write(data)
	s.rest.WriteByte('\n')
}
