package seal

import (
	"bytes"
	"encoding/binary"
	"sync"
)

// MaxRemembered bounds what is remembered of a call, with its id, in bytes: more is not remembered.
const MaxRemembered = 64 << 10

// maxGeneration bounds a generation of a memory, in bytes.
const maxGeneration = 4 << 20

// memory contains signatures by their contexts and ids. When the newer generation is full, it
// replaces the older one, whose signatures are forgotten. The zero value is ready to use.
type memory struct {
	mu           sync.Mutex
	newer, older map[string][]byte
	size         int // of the newer generation
}

func (m *memory) set(key string, signature []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size += len(key) + len(signature); m.newer == nil || m.size > maxGeneration {
		m.newer, m.older, m.size = make(map[string][]byte), m.newer, len(key)+len(signature)
	}
	m.newer[key] = bytes.Clone(signature)
}

func (m *memory) get(key []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if signature, ok := m.newer[string(key)]; ok {
		return signature
	}
	return m.older[string(key)]
}

// Remember keeps what the provider wants back with a call, such as its signature, for clients that drop it. Other
// calls of the id replace it. A nil Sealer, and an id without bytes, remember nothing.
func (s *Sealer) Remember(id, signature []byte) {
	if s != nil && len(id) > 0 && len(id)+len(signature) <= MaxRemembered {
		s.ring.memory.set(string(s.key(id)), signature)
	}
}

// Recall returns the signature of the call with an id of the same provider and tenant, nil if
// it is not known. It must not be changed.
func (s *Sealer) Recall(id []byte) (signature []byte) {
	if s == nil || s.sealOnly || len(id) == 0 {
		return nil
	}
	return s.ring.memory.get(s.key(id))
}

// key returns the key of a call in the memory.
func (s *Sealer) key(id []byte) []byte {
	key := binary.AppendUvarint(make([]byte, 0, 128), uint64(len(s.context)))
	return append(append(key, s.context...), id...)
}
