package figures_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// footprint is the use of resources of a process.
type footprint struct{ goroutines, descriptors, heap, rss int }

// footprintOf reads the footprint of a gateway, the heap after a collection.
func footprintOf(t assert.TestingT, p *site.Process) (f footprint) {
	f.goroutines = number(t, read(t, p.AdminURL("/debug/pprof/goroutine?debug=1")), "goroutine profile: total ")
	f.heap = number(t, read(t, p.AdminURL("/debug/pprof/heap?gc=1&debug=1")), "# HeapAlloc = ")
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID()))
	assert.NoError(t, err)
	f.descriptors = len(open)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	assert.NoError(t, err)
	f.rss = number(t, string(status), "VmRSS:") << 10
	return f
}

func read(t assert.TestingT, url string) string {
	response, err := http.Get(url)
	if !assert.NoError(t, err) {
		return ""
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	assert.NoError(t, err)
	return string(raw)
}

// number returns the number behind a label.
func number(t assert.TestingT, text, label string) int {
	_, rest, _ := strings.Cut(text, label)
	fields := strings.Fields(rest)
	if !assert.NotEmpty(t, fields, label) {
		return 0
	}
	n, err := strconv.Atoi(fields[0])
	assert.NoError(t, err)
	return n
}

// waitBack waits until a process has an earlier footprint again: the same goroutines and
// descriptors, and the heap within a tenth and 4 MiB.
func waitBack(t *testing.T, p *site.Process, before footprint) footprint {
	t.Helper()
	var now footprint
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		now = footprintOf(c, p)
		assert.LessOrEqual(c, now.goroutines, before.goroutines+2)
		assert.LessOrEqual(c, now.descriptors, before.descriptors+2)
		assert.LessOrEqual(c, now.heap, before.heap*11/10+4<<20)
	}, 2*site.Patience, 10*site.PollEvery)
	return now
}
