package cache

import (
	"container/list"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"hash"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// Memory has answers in the memory of the process. Its methods may be called concurrently.
type Memory struct {
	bounds  Bounds
	secret  [sha256.Size]byte // of the keys
	flights exchange.Flights

	mu      sync.Mutex // guards the following fields
	size    int64      // of all answers
	entries map[exchange.CacheKey]*list.Element
	used    *list.List // of *entry, the one that was used last at the front
}

// entry is an answer with all that is known of it.
type entry struct {
	key    exchange.CacheKey
	answer *exchange.CachedAnswer
	kept   time.Time
	ttl    time.Duration
}

// size returns the memory that an entry takes, in bytes, with its places in the list and the map.
func (e *entry) size() int64 {
	const overhead = 512
	return int64(len(e.answer.Body)+len(e.answer.ContentType)) + overhead
}

// pool contains the memories in use, by their bounds. Caddy provisions a new configuration before
// it cleans up the old one, so that answers survive a reload.
var pool = caddy.NewUsagePool()

// loadMemory returns the memory with these bounds until ctx ends.
func loadMemory(ctx caddy.Context, bounds Bounds) (*Memory, error) {
	loaded, _, err := pool.LoadOrNew(bounds, func() (caddy.Destructor, error) { return newMemory(bounds), nil })
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _, _ = pool.Delete(bounds) })
	return loaded.(*Memory), nil
}

func newMemory(b Bounds) *Memory {
	m := &Memory{bounds: b, entries: make(map[exchange.CacheKey]*list.Element), used: list.New()}
	_, _ = rand.Read(m.secret[:]) // never fails
	return m
}

// Destruct implements caddy.Destructor.
func (m *Memory) Destruct() error { return nil }

// MAC implements exchange.CachedAnswers.
func (m *Memory) MAC() hash.Hash { return hmac.New(sha256.New, m.secret[:]) }

// Largest implements exchange.CachedAnswers.
func (m *Memory) Largest() int64 { return m.bounds.Entry }

// Flights implements exchange.CachedAnswers.
func (m *Memory) Flights() *exchange.Flights { return &m.flights }

// Get implements exchange.CachedAnswers.
func (m *Memory) Get(key exchange.CacheKey, maxAge time.Duration) (*exchange.CachedAnswer, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	element, ok := m.entries[key]
	if !ok {
		return nil, 0
	}
	e := element.Value.(*entry)
	age := time.Since(e.kept)
	if age >= e.ttl {
		m.remove(element)
		return nil, 0
	}
	if age >= maxAge {
		return nil, 0
	}
	m.used.MoveToFront(element)
	return e.answer, age
}

// Put implements exchange.CachedAnswers.
func (m *Memory) Put(key exchange.CacheKey, answer *exchange.CachedAnswer, ttl time.Duration) {
	e := &entry{key, answer, time.Now(), ttl}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.entries[key]; ok {
		replaced := old.Value.(*entry)
		e.ttl = max(ttl, replaced.ttl-e.kept.Sub(replaced.kept))
		m.remove(old)
	}
	m.entries[key] = m.used.PushFront(e)
	for m.size += e.size(); m.size > m.bounds.Max; {
		m.remove(m.used.Back())
	}
}

// Clear implements exchange.CachedAnswers. It never fails.
func (m *Memory) Clear(scopes ...exchange.CacheScope) (removed int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, element := range m.entries {
		if len(scopes) == 0 || slices.Contains(scopes, key.Scope) {
			m.remove(element)
			removed++
		}
	}
	return removed, nil
}

func (m *Memory) remove(element *list.Element) {
	e := m.used.Remove(element).(*entry)
	delete(m.entries, e.key)
	m.size -= e.size()
}

// Interface guards
var (
	_ exchange.CachedAnswers = (*Memory)(nil)
	_ caddy.Destructor       = (*Memory)(nil)
)
