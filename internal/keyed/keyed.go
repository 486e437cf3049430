// Package keyed holds values by key.
package keyed

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// Map holds values by key, in the order of their last Put. It is safe for
// concurrent use. The zero Map is empty. Len, and Get and Delete of an empty
// Map, take no lock.
type Map[K comparable, V any] struct {
	n     atomic.Int64 // the length of at
	mu    sync.RWMutex // never held while a user's function runs
	at    map[K]*list.Element
	order list.List // of *entry[K, V], oldest first
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// Len returns the number of keys.
func (m *Map[K, V]) Len() int { return int(m.n.Load()) }

// Get returns the value of key; ok is false if there is none.
func (m *Map[K, V]) Get(key K) (v V, ok bool) {
	if m.Len() == 0 {
		return v, false
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	e, ok := m.at[key]
	if !ok {
		return v, false
	}
	return e.Value.(*entry[K, V]).value, true
}

// Put calls change with the value of key, or with the zero value for a new key,
// and makes the key the newest. Then it calls drop with the number of keys and
// the oldest other value, and removes that value, until drop returns false. A
// nil drop removes none. Put calls both functions under a lock, so they must
// not call functions of users.
func (m *Map[K, V]) Put(key K, change func(*V), drop func(n int, oldest *V) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.at[key]
	if !ok {
		if m.at == nil {
			m.at = map[K]*list.Element{}
		}
		e = m.order.PushBack(&entry[K, V]{key: key})
		m.at[key] = e
	}
	m.order.MoveToBack(e)
	change(&e.Value.(*entry[K, V]).value)
	for oldest := m.order.Front(); drop != nil && oldest != e; oldest = m.order.Front() {
		if !drop(len(m.at), &oldest.Value.(*entry[K, V]).value) {
			break
		}
		m.remove(oldest)
	}
	m.n.Store(int64(len(m.at)))
}

// Delete removes key.
func (m *Map[K, V]) Delete(key K) {
	if m.Len() == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.at[key]; ok {
		m.remove(e)
	}
	m.n.Store(int64(len(m.at)))
}

func (m *Map[K, V]) remove(e *list.Element) {
	delete(m.at, e.Value.(*entry[K, V]).key)
	m.order.Remove(e)
}
