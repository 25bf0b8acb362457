package gatewaytest

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Canaries are secrets for which tests search logs, files and answers: one for each place
// in which a test uses one, such as a client key or a prompt. Each has a random core, so
// that shortened and prefixed copies are found, too. Canaries are safe for concurrent use.
type Canaries struct {
	mu    sync.Mutex // guards cores
	cores map[string]string
}

// NewCanaries returns an empty set.
func NewCanaries() *Canaries { return &Canaries{cores: make(map[string]string)} }

// Secret returns the secret of a place, such as "sk-canary-client-key-7d0c...". The first
// call creates it.
func (c *Canaries) Secret(place string) string {
	return "sk-canary-" + place + "-" + c.core(place)
}

func (c *Canaries) core(place string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	core, there := c.cores[place]
	if !there {
		var random [10]byte
		_, _ = rand.Read(random[:]) // never fails
		core = hex.EncodeToString(random[:])
		c.cores[place] = core
	}
	return core
}

// Find returns the sorted places whose secret, or only its core, is in data: as plain
// text in any letter case, in base64 or in hexadecimal.
func (c *Canaries) Find(data []byte) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lower := bytes.ToLower(data)
	var places []string
	for place, core := range c.cores {
		if containsCore(data, lower, core) {
			places = append(places, place)
		}
	}
	slices.Sort(places)
	return places
}

// containsCore reports whether data contains a core. In base64, a text has three forms,
// which depend on its position in a group of three bytes. The search leaves out the outer
// characters, which depend on the text around it.
func containsCore(data, lower []byte, core string) bool {
	if bytes.Contains(lower, []byte(core)) || bytes.Contains(lower, []byte(hex.EncodeToString([]byte(core)))) {
		return true
	}
	for shift := range 3 {
		padded := append(make([]byte, shift), core...)
		encoded := base64.RawStdEncoding.EncodeToString(padded)
		if bytes.Contains(data, []byte(encoded[4:len(encoded)-4])) {
			return true
		}
	}
	return false
}

// AssertAbsent fails the test if the sink, a []byte, a string or an io.Reader, contains the
// canary of a place that is not allowed. name is the name of the sink.
func (c *Canaries) AssertAbsent(t testing.TB, name string, sink any, allowed ...string) {
	t.Helper()
	for _, place := range c.Find(contents(t, sink)) {
		if !slices.Contains(allowed, place) {
			assert.Failf(t, "canary found", "%s contains the secret of %q", name, place)
		}
	}
}

// AssertPresent fails the test unless the sink contains the canary of the place. It proves
// that AssertAbsent would find a canary in this sink.
func (c *Canaries) AssertPresent(t testing.TB, name string, sink any, place string) {
	t.Helper()
	assert.Contains(t, c.Find(contents(t, sink)), place, "%s lacks the secret of %q", name, place)
}

func contents(t testing.TB, sink any) []byte {
	t.Helper()
	switch s := sink.(type) {
	case []byte:
		return s
	case string:
		return []byte(s)
	case io.Reader:
		data, err := io.ReadAll(s)
		require.NoError(t, err)
		return data
	default:
		return fmt.Append(nil, sink)
	}
}
