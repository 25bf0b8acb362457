package drain

import "sync"

// lastMinute counts events of the last 60 seconds. Its methods may be called concurrently.
type lastMinute struct {
	mu     sync.Mutex
	counts [60]int // by second
	newest int64   // second of the newest count
}

// add counts an event in a second of Unix time.
func (m *lastMinute) add(second int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(second)
	m.counts[second%60]++
}

// count returns the number of events in the minute that ends with a second of Unix time.
func (m *lastMinute) count(second int64) (sum int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(second)
	for _, n := range m.counts {
		sum += n
	}
	return sum
}

// forget removes what is older than a minute at a second of Unix time.
func (m *lastMinute) forget(second int64) {
	for s := max(m.newest, second-60) + 1; s <= second; s++ {
		m.counts[s%60] = 0
	}
	m.newest = max(m.newest, second)
}
